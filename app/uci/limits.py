"""Limits: what `go` asks for, as players understand it, and when an answer is due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from agents.catalogue import takes_limit
from agents.classical.allowance import LONGEST as CLASSICAL_LONGEST
from agents.classical.allowance import MOST_NODES as CLASSICAL_NODES
from agents.classical.player import ClassicalPlayer
from agents.uci.levels import LEVELS
from agents.uci.limits import MAX_DEPTH, MAX_NODES, MAX_TIME, Limit
from app.uci.commands import Go
from engine import Clock, Color, TimeControl
from engine.clock import MAX_HOURS, MAX_MOVES, ClockFace, Period

_NOTHING = timedelta(0)
_MILLISECOND = timedelta(milliseconds=1)
_LONGEST_CLOCK = timedelta(hours=MAX_HOURS)
#: Of what is left on its clock, the part that a player may use up on one move who does not manage
#: its time itself: else a server that hangs once would leave nothing for the rest of the game.
_SHARE = 4

_LEVELS = {level.name: level.limit for level in LEVELS}


@dataclass(frozen=True)
class Bounds:
    """How far a player may think on one move."""

    #: What it is seated with; None: it keeps its own.
    limit: Limit | None = None
    #: What it is told of the time.
    clock: Clock | None = None
    #: After how long an answer is due, whoever gives it; None: whenever there is one.
    due: timedelta | None = None
    #: What of all that was asked has no meaning to the player, in a sentence.
    ignored: str = ""


def bounds_of(
    go: Go,
    turn: Color,
    *,
    player: str,
    own: Limit,
    overhead: timedelta,
) -> Bounds:
    """Return how far a player may think; `own` is what it may at most, whatever is asked."""
    clock, due = _clock_and_due(go, turn, overhead, takes_limit(player))
    if not takes_limit(player):
        asked = [word for word, value in (("depth", go.depth), ("nodes", go.nodes)) if value]
        ignored = f"{player} thinks neither to a depth nor by nodes" if asked else ""
        return Bounds(None, clock, due, ignored)
    if player == ClassicalPlayer.name:
        return _of_classical(go, own, clock, due, overhead)
    # A level is what it is: it may be told to think less, but not more.
    whole = own if own.is_set else _LEVELS.get(player) or Limit()
    depth = 2 * go.mate if go.mate is not None else None
    for each in (whole.depth, go.depth):
        depth = each if depth is None else min(depth, each or depth)
    limit = Limit(
        depth=None if depth is None else min(depth, MAX_DEPTH),
        nodes=_least(whole.nodes, go.nodes, MAX_NODES),
        time=whole.time,
    )
    if go.infinite and not limit.is_set:
        limit = Limit(time=MAX_TIME)
    return Bounds(limit if limit.is_set else None, clock, due)


def _of_classical(
    go: Go, own: Limit, clock: Clock | None, due: timedelta | None, overhead: timedelta
) -> Bounds:
    """It thinks for a moment, however much time there is, unless it is told to think longer."""
    time = own.time
    if go.move_time is not None:
        asked = max(_less(go.move_time, overhead), _MILLISECOND)
        time = min(asked, CLASSICAL_LONGEST) if time is None else min(asked, time)
    limit = Limit(nodes=_least(own.nodes, go.nodes, CLASSICAL_NODES), time=time)
    ignored = f"{ClassicalPlayer.name} thinks by nodes or time, not to a depth"
    told = ignored if go.depth is not None or go.mate is not None else ""
    return Bounds(limit if limit.is_set else None, clock, due, told)


def _clock_and_due(
    go: Go, turn: Color, overhead: timedelta, keeps_time: bool
) -> tuple[Clock | None, timedelta | None]:
    """Return the clock that a player is shown, and when an answer is due."""
    if go.infinite:
        return None, None
    times = {Color.WHITE: go.white_time, Color.BLACK: go.black_time}
    increments = {Color.WHITE: go.white_increment, Color.BLACK: go.black_increment}
    clock, due = None, None
    left, bonus = times[turn], increments[turn] or _NOTHING
    if left is not None:
        rest = _less(left, overhead)
        due = rest if keeps_time else _share(rest, bonus, go.moves_to_go)
        clock = _clock(rest, times[turn.opponent], turn, bonus, go.moves_to_go)
    if go.move_time is not None:
        each = _less(go.move_time, overhead)
        due = each if due is None else min(due, each)
        clock = Clock.start(TimeControl(per_move=min(due, _LONGEST_CLOCK)))
    return clock, due


def _share(rest: timedelta, bonus: timedelta, to_go: int | None) -> timedelta:
    """Return what may be used up of a clock: half of it at most, unless this is the last move."""
    if to_go == 1:
        return rest
    return min(rest / min(_SHARE, to_go or _SHARE) + bonus, rest / 2)


def _clock(
    rest: timedelta, theirs: timedelta | None, turn: Color, bonus: timedelta, to_go: int | None
) -> Clock:
    """Return a clock on which so much is left; of two increments, ours holds for both sides."""
    rest = min(rest, _LONGEST_CLOCK)
    moves = None if to_go is None else min(to_go, MAX_MOVES)
    control = TimeControl((Period(moves, rest, min(bonus, _LONGEST_CLOCK)),))
    ours = ClockFace(rest)
    other = ClockFace(min(max(theirs or rest, _MILLISECOND), _LONGEST_CLOCK))
    white, black = (ours, other) if turn is Color.WHITE else (other, ours)
    return Clock(control, white, black)


def _less(time: timedelta, overhead: timedelta) -> timedelta:
    """Return a time without what handing the move over may cost: half of it at most."""
    return max(time - overhead, time / 2, _MILLISECOND)


def _least(own: int | None, asked: int | None, most: int) -> int | None:
    given = [each for each in (own, asked) if each is not None]
    return min(*given, most) if given else None
