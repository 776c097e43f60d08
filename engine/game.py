"""Game: a position with its history. It knows repetitions, claims, clocks and undo."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from engine.clock import Clock, TimeControl
from engine.errors import DrawNotClaimable, GameOver, IllegalMove, NothingToUndo
from engine.line import Evaluation, Line, Note, Ply
from engine.moves import Move
from engine.outcome import Outcome, Termination
from engine.pgn_writer import write_game
from engine.pieces import Color
from engine.position import Position


class Status(StrEnum):
    """Where a game stands, in a word."""

    ACTIVE = "active"
    CHECK = "check"
    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    DRAW = "draw"
    RESIGNATION = "resignation"
    TIME_FORFEIT = "time_forfeit"
    ENDED = "ended"


def _in_utc(time: datetime) -> datetime:
    if not isinstance(time, datetime) or time.utcoffset() is None:
        raise ValueError("played_at must be a time that knows its zone")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError("played_at is out of all times that UTC can tell") from None


class Game:
    """A game from its first position to its end.

    A draw by threefold repetition or fifty moves is there for a player to claim; with
    `claims_draws` it is taken as soon as it can be, as matches between engines do. The draws the
    Laws give by themselves (fivefold repetition, 75 moves, dead positions) always end the game.
    """

    def __init__(
        self,
        start: Position | str | None = None,
        *,
        variant: str = "standard",
        claims_draws: bool = False,
        time_control: TimeControl | str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        if start is None:
            start = Position.start(variant)
        elif isinstance(start, str):
            start = Position.from_fen(start, variant)
        if isinstance(time_control, str):
            time_control = TimeControl.parse(time_control)
        self.line = Line(start)
        self.claims_draws = claims_draws
        self.tags: dict[str, str] = dict(tags or {})
        #: Remarks before the first move.
        self.comment = ""
        self._ended: Outcome | None = None
        self._fallen: Clock | None = None  # the clock once a flag has fallen
        self._clocks = [Clock.start(time_control)] if time_control is not None else []
        # Occurrences of each position. Counted only when somebody asks, and then only what is new.
        self._occurrences: dict[Hashable, int] = {}
        self._repeated: set[Hashable] = set()  # those that occurred at least twice
        self._counted = 0

    # --- what it is ---

    @property
    def start(self) -> Position:
        """The first position."""
        return self.line.positions[0]

    @property
    def position(self) -> Position:
        """The position now."""
        return self.line.positions[-1]

    @property
    def turn(self) -> Color:
        """The side to move."""
        return self.position.turn

    @property
    def variant(self) -> str:
        """The name of the variant."""
        return self.start.variant

    @property
    def plies(self) -> tuple[Ply, ...]:
        """Every ply played, in order."""
        return self.line.plies

    @property
    def clock(self) -> Clock | None:
        """Both sides' time, when the game has a time control."""
        return self._fallen or (self._clocks[-1] if self._clocks else None)

    # --- playing ---

    def start_clock(self, control: TimeControl) -> None:
        """Let time run from here on: what was played before, such as an opening, took none."""
        self._clocks = [Clock.start(control)]

    def play(
        self,
        move: Move | str,
        *,
        elapsed: timedelta | None = None,
        clock: timedelta | None = None,
        evaluation: Evaluation | None = None,
        source: str | None = None,
        played_at: datetime | None = None,
    ) -> Move:
        """Play a move, given as a `Move` or in any notation, and return it.

        `elapsed` is charged to the mover's clock, if the game has one, and what is left is noted;
        else `clock` is. `elapsed`, `evaluation` and `source` are noted as they are, and `played_at`
        in UTC (it must know its zone, else ValueError). Raises `GameOver`, or what `Position.play`
        raises; then nothing has changed, except that a mover whose time had run out has lost.
        """
        if played_at is not None:
            played_at = _in_utc(played_at)
        line = self.line
        position = line.positions[-1]
        if self._ended is not None or (
            position.may_end_early() and self._early_outcome(position) is not None
        ):
            self._refuse_if_over()
        try:
            if not isinstance(move, Move):
                move = position.parse(move)
            after = position.play(move)
        except IllegalMove:
            self._refuse_if_over()  # after mate or stalemate, that is the better answer
            raise
        if self._clocks:
            clock = self._charge(position.turn, elapsed or timedelta(0))
        if (
            clock is not None
            or elapsed is not None
            or evaluation is not None
            or source is not None
            or played_at is not None
        ):
            line.notes[len(line.moves)] = Note(
                clock=clock,
                evaluation=evaluation,
                source=source,
                elapsed=elapsed,
                played_at=played_at,
            )
        line.append(move, after)
        return move

    def undo(self) -> Move:
        """Take back the last ply, and with it an ending by resignation, agreement or the like."""
        line = self.line
        if not line.moves:
            raise NothingToUndo
        position = line.positions.pop()
        played = len(line.positions)
        if self._counted > played:
            self._counted = played
            key = position.key()
            self._occurrences[key] -= 1
            if self._occurrences[key] < 2:
                self._repeated.discard(key)
        if line.notes:
            line.notes.pop(played - 1, None)
        if len(self._clocks) > 1:
            self._clocks.pop()
        self.reopen()
        return line.moves.pop()

    def reopen(self) -> None:
        """Take back an ending by resignation, agreement, claim or time, and keep all plies."""
        self._ended = self._fallen = None

    def _charge(self, color: Color, elapsed: timedelta) -> timedelta | None:
        """Charge thinking time and return what is left; end the game if there is nothing."""
        clock = self._clocks[-1]
        after = clock.after_move(color, elapsed)
        if after.is_flagged(color):
            self._fallen = after
            raise GameOver(self.forfeit_on_time(color))
        self._clocks.append(after)
        return after.remaining(color)

    def _early_outcome(self, position: Position) -> Outcome | None:
        """Return how the game has ended though a move could be made, or None."""
        outcome = position.early_outcome(self.repetitions)
        if outcome is None and self.claims_draws and (claims := self.claimable_draws()):
            return Outcome(None, claims[0])
        return outcome

    def _refuse_if_over(self) -> None:
        outcome = self.outcome
        if outcome is not None:
            raise GameOver(outcome)

    # --- ending ---

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it goes on."""
        if self._ended is not None:
            return self._ended
        position = self.position
        return position.outcome() or self._early_outcome(position)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.outcome is not None

    @property
    def winner(self) -> Color | None:
        """Who won, if somebody did."""
        outcome = self.outcome
        return outcome.winner if outcome else None

    @property
    def result(self) -> str:
        """`1-0`, `0-1`, `1/2-1/2`, or `*` while the game goes on."""
        outcome = self.outcome
        return outcome.result if outcome else "*"

    @property
    def status(self) -> Status:
        """Where the game stands, in a word."""
        outcome = self.outcome
        if outcome is None:
            return Status.CHECK if self.position.is_check() else Status.ACTIVE
        match outcome.termination:
            case Termination.CHECKMATE:
                return Status.CHECKMATE
            case Termination.STALEMATE:
                return Status.STALEMATE
            case _ if outcome.winner is None:
                return Status.DRAW
            case Termination.RESIGNATION:
                return Status.RESIGNATION
            case Termination.TIME_FORFEIT:
                return Status.TIME_FORFEIT
        return Status.ENDED

    def describe(self) -> str:
        """Say where the game stands, in a sentence."""
        outcome = self.outcome
        if outcome is not None:
            return str(outcome)
        mover = self.turn.value.capitalize()
        return f"{mover} is in check" if self.position.is_check() else f"{mover} to move"

    def repetitions(self) -> int:
        """Return how often the position now has occurred, this time included."""
        positions = self.line.positions
        occurrences = self._occurrences
        for position in positions[self._counted :]:
            key = position.key()
            seen = occurrences[key] = occurrences.get(key, 0) + 1
            if seen == 2:
                self._repeated.add(key)
        self._counted = len(positions)
        return occurrences[positions[-1].key()]

    def claimable_draws(self, intended: Move | str | None = None) -> list[Termination]:
        """Return the draws that the side to move can claim now, or with a move it intends."""
        if intended is None:
            position = self.position
            claims = position.claims(self.repetitions)
        else:
            position = self.position.play(intended)
            claims = position.claims(lambda: self._occurrences_of(position) + 1)
        if claims and (self._ended is not None or not position.can_move()):
            return []  # mate and stalemate come first
        return claims

    def _occurrences_of(self, position: Position) -> int:
        self.repetitions()  # which counts what is new
        return self._occurrences.get(position.key(), 0)

    def claiming_moves(self) -> list[Move]:
        """Return the legal moves with which, intended and not yet made, a draw can be claimed."""
        self.repetitions()
        candidates = self.position.moves_that_may_claim(self._repeated)
        return [move for move in candidates if self.claimable_draws(move)]

    def claim_draw(self, intended: Move | str | None = None) -> Outcome:
        """End the game with a draw that can be claimed, or raise `DrawNotClaimable`."""
        self._refuse_if_over()
        claims = self.claimable_draws(intended)
        if not claims:
            raise DrawNotClaimable(self.position.fen())
        return self._end(Outcome(None, claims[0]))

    def resign(self, color: Color | str | None = None) -> Outcome:
        """Let a side resign: the one to move unless told otherwise."""
        self._refuse_if_over()
        loser = self.turn if color is None else Color(color)
        return self._end(Outcome(loser.opponent, Termination.RESIGNATION))

    def agree_draw(self) -> Outcome:
        """End the game as a draw by agreement."""
        self._refuse_if_over()
        return self._end(Outcome(None, Termination.AGREEMENT))

    def forfeit_on_time(self, color: Color | str | None = None) -> Outcome:
        """Let a side run out of time; a draw if the opponent could never win."""
        self._refuse_if_over()
        loser = self.turn if color is None else Color(color)
        winner = loser.opponent if self.position.can_win(loser.opponent) else None
        return self._end(Outcome(winner, Termination.TIME_FORFEIT))

    def end(self, outcome: Outcome) -> Outcome:
        """End the game for a reason outside the rules, such as a referee's decision."""
        self._refuse_if_over()
        return self._end(outcome)

    def record_outcome(self, outcome: Outcome) -> None:
        """Note how a game ended that was played elsewhere, whatever its moves say."""
        self._ended = outcome

    def _end(self, outcome: Outcome) -> Outcome:
        self._ended = outcome
        return outcome

    # --- notation ---

    def pgn(self) -> str:
        """Return the game as PGN, with everything noted about it."""
        return write_game(self)

    def __repr__(self) -> str:
        return f"<Game {self.variant}, {len(self.line)} plies, {self.describe()}>"
