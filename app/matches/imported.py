"""Imported: matches that were played elsewhere, made of games of a PGN, each with a whole log.

The log tells what the PGN does, and nothing more: times, clocks and evaluations that it does not
tell are null, and no turn begins, since no clock runs here. Its last event holds the game as it was
read, so that everything in it comes back: tags, comments, glyphs and variations. Whoever played is
called `pgn:` and their name, which nobody of ours is: such a match is over from the start, and
nobody can be seated in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from uuid_utils.compat import uuid7

from app.matches.events import (
    IMPORTED,
    Event,
    EventType,
    evaluation_json,
    milliseconds,
    outcome_json,
)
from app.matches.match import Match, MatchStatus
from app.matches.settings import ELSEWHERE, MatchSettings, PlayerSettings
from app.matches.storing import new_record
from app.persistence.records import WholeMatch
from engine import Clock, Color, Game, Outcome, Ply, Position, Termination, TimeControl
from engine.clock import Bonus, ClockFace
from engine.errors import InvalidTimeControl

#: Whose matches they are, and the tag by which they are told apart.
CLIENT = "kibitz import"
TAG = "imported"
UNFINISHED = "the game was not finished"
#: As long as names and titles may be over HTTP.
_LONGEST_NAME, _LONGEST_TITLE = 100, 200
#: Longer than that nobody thought.
_LONGEST_TURN = timedelta(days=366)
_ZERO = timedelta(0)
_FIRST = datetime.min.replace(tzinfo=UTC)
_ELAPSED = re.compile(r"\[%emt\s+(\d{1,6}):([0-5]?\d):([0-5]?\d(?:\.\d{1,6})?)\s*\]")
_DATE = re.compile(r"(\d{4})[.-](\d\d|\?\?)[.-](\d\d|\?\?)")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)")

#: Both, in milliseconds, as events have them; None if the game is not timed, or nobody told.
Clocks: TypeAlias = dict[str, int | None] | None


def key_of(pgn: str) -> str:
    """Return the key of a game as it is written: the same one has it whenever it comes."""
    return hashlib.sha256(pgn.encode()).hexdigest()


def import_game(
    game: Game, at: datetime, tags: Iterable[str] = (), *, pgn: str | None = None
) -> WholeMatch:
    """Return a game that was read from a PGN as a match, which comes to us at some time.

    It has further tags besides `TAG`. It has happened when the PGN says; or, if it does not say,
    just now. Its idempotency key is that of `pgn`, the game as it is written. Raises `InvalidPgn`
    for one that, once written, could not be read again.
    """
    pgn = game.pgn() if pgn is None else pgn
    settings = _settings(game, tuple(dict.fromkeys((TAG, *tags))))
    match = Match.retell(settings, _log_of(game, settings, at, pgn))
    return WholeMatch(*new_record(match, client=CLIENT, idempotency_key=key_of(pgn)))


def name_of(told: str) -> str:
    """Return what a player is called here that a PGN calls so."""
    return (ELSEWHERE + _legible(told))[:_LONGEST_NAME]


# --- settings ---


def _settings(game: Game, tags: tuple[str, ...]) -> MatchSettings:
    standard = Position.start()
    control = _control(game)
    return MatchSettings(
        white=_player(game.tags.get("White", "")),
        black=_player(game.tags.get("Black", "")),
        variant=game.variant,
        initial_fen=None if game.start == standard else game.start.fen(),
        time_control=None if control is None else str(control),
        seed=0,
        tags=tags,
    )


def _player(told: str) -> PlayerSettings:
    return PlayerSettings(name_of(told), title=_legible(told)[:_LONGEST_TITLE])


def _legible(told: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in told)
    return " ".join(printable.split()) or "?"


def _control(game: Game) -> TimeControl | None:
    """Return the time control, if it is told and one that we know."""
    try:
        control = TimeControl.parse(game.tags.get("TimeControl", "-"))
    except InvalidTimeControl:
        return None
    return control if control.is_timed else None


# --- the log ---


class _Log:
    """Events that are told one after the other."""

    def __init__(self, match_id: str, at: datetime) -> None:
        self.events: list[Event] = []
        self.at = at
        self._match_id = match_id

    def tell(self, kind: EventType, **fields: Any) -> None:  # noqa: ANN401 - as events have them
        """Add an event that happens now."""
        number = len(self.events) + 1
        self.events.append(Event(self._match_id, number, kind, self.at, IMPORTED | fields))


def _log_of(game: Game, settings: MatchSettings, at: datetime, pgn: str) -> list[Event]:
    """Return what happened in a game, and when, as far as that is told."""
    times = _times(game, settings.control)
    began = _began_at(game.tags)
    if began is None or began > at:  # nobody has played in the future
        began = at - min(sum((each.elapsed or _ZERO for each in times), _ZERO), at - _FIRST)
    log = _Log(str(uuid7()), began)
    fen = game.start.fen()
    log.tell(EventType.CREATED, settings=settings.to_json(), fen=fen, opening=[])
    log.tell(EventType.STARTED, fen=fen)
    for ply, time in zip(game.plies, times, strict=True):
        log.at = min(log.at + (time.elapsed or _ZERO), at)
        log.tell(
            EventType.PLY,
            ply=ply.number,
            color=ply.color.value,
            uci=ply.uci,
            san=ply.san,
            fen=ply.after.fen(),
            elapsed_ms=None if time.elapsed is None else milliseconds(time.elapsed),
            clocks=time.clocks,
            evaluation=evaluation_json(ply.evaluation),
            source=settings.player(ply.color).name,
            decision={},
        )
    outcome = _outcome(game)
    log.tell(
        EventType.ENDED,
        status=(MatchStatus.ABORTED if outcome is None else MatchStatus.ENDED).value,
        outcome=outcome_json(outcome),
        detail=UNFINISHED if outcome is None else str(outcome),
        spent_ms=0,
        pgn=pgn,
    )
    return log.events


def _outcome(game: Game) -> Outcome | None:
    """Return how a game ended; more of the servers' words are understood than PGN prescribes."""
    outcome, told = game.outcome, game.tags.get("Termination", "").lower()
    if outcome is None or outcome.termination is not Termination.UNKNOWN:
        return outcome
    if "resign" in told and outcome.winner is not None:
        return Outcome(outcome.winner, Termination.RESIGNATION)
    if "agree" in told and outcome.winner is None:
        return Outcome(None, Termination.AGREEMENT)
    return outcome


# --- times ---


@dataclass(frozen=True, slots=True)
class _Time:
    """What a ply took, and the clocks after it; None is what nobody told."""

    elapsed: timedelta | None
    clocks: Clocks


def _times(game: Game, control: TimeControl | None) -> list[_Time]:
    """Return the times of each ply."""
    clock = _Shown(control, is_shown=any(ply.clock is not None for ply in game.plies))
    return [_Time(clock.move(ply), clock.told()) for ply in game.plies]


class _Shown:
    """What both clocks show. They need not go as ours do: an arbiter may have set them."""

    def __init__(self, control: TimeControl | None, *, is_shown: bool) -> None:
        opening = None if control is None else control.opening_time
        self._control = control
        self._is_shown = is_shown
        self._left: dict[Color, timedelta | None] = dict.fromkeys(Color, opening)
        self._moves = dict.fromkeys(Color, 0)

    def told(self) -> Clocks:
        """Return both, as events have them."""
        if not self._is_shown:
            return None
        return {
            f"{color.value}_ms": None if left is None else milliseconds(left)
            for color, left in self._left.items()
        }

    def move(self, ply: Ply) -> timedelta | None:
        """Take note of a ply, and return what it took, if that is told."""
        elapsed = _told_elapsed(ply)
        if elapsed is None and ply.clock is not None:
            elapsed = self._between(ply.color, ply.clock)
        self._left[ply.color] = ply.clock
        self._moves[ply.color] += 1
        return elapsed if elapsed is not None and elapsed <= _LONGEST_TURN else None

    def _between(self, color: Color, after: timedelta) -> timedelta | None:
        """Return what was thought from one time on a clock to the next, if that can be known."""
        left, control = self._left[color], self._control
        if not left or control is None or control.is_per_move:
            return None
        face = ClockFace(left, self._moves[color])
        clock = Clock(control, face, face)
        full, period = clock.after_move(color, _ZERO).remaining(color), clock.period(color)
        if full is None or period is None or full < after:
            return None
        if period.kind is Bonus.INCREMENT:
            return full - after
        # Of what is not charged nobody knows how much was thought.
        return full - after + period.bonus if full > after else None


def _told_elapsed(ply: Ply) -> timedelta | None:
    found = _ELAPSED.search(ply.comment)
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    return timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))


def _began_at(tags: Mapping[str, str]) -> datetime | None:
    """Return when a game began, if that is told: of a year or a month alone, the first day."""
    day = _DATE.fullmatch(tags.get("UTCDate", "")) or _DATE.fullmatch(tags.get("Date", ""))
    time = _TIME.fullmatch(tags.get("UTCTime", ""))
    if day is None:
        return None
    year, month, date = (1 if part == "??" else int(part) for part in day.groups())
    hour, minute, second = (0, 0, 0) if time is None else map(int, time.groups())
    try:
        return datetime(year, month, date, hour, minute, second, tzinfo=UTC)
    except ValueError:  # the 31st of June
        return None
