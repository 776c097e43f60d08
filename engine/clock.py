"""Time controls and the clocks that keep them.

A time control may be written in any case and with spaces around its parts; it is printed in
seconds, in the first spelling of its row.

    300+3, 5m+3s, 0.5+0.1     base time and increment; a number without unit is in seconds
    300, 90m, 1h30m           sudden death
    40/5400+30:1800           periods as in PGN, each with a bonus of its own; a last period
                              that names a number of moves repeats
    10s, 0.5s, 1m/move        for each move: only seconds *with* their unit, standing alone,
                              mean this; `300` and `5m` are sudden death, `1/10` is a period
    300d3, 300+3 delay        the first three seconds of each move are not charged
    300b3, 300+3 bronstein    what a move took is given back, at most three seconds
    -, none, unlimited, ∞     untimed
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from engine.errors import InvalidTimeControl, shown
from engine.pieces import Color

MAX_TEXT, MAX_PERIODS, MAX_MOVES, MAX_HOURS = 100, 8, 1000, 1000

_ZERO = timedelta(0)
_MICROSECOND = timedelta(microseconds=1)
_MAX_TIME = timedelta(hours=MAX_HOURS)
# Far above any real clock, and far enough below timedelta.max that a bonus cannot overflow it.
_MAX_SAVED_US = timedelta.max // _MICROSECOND // 2
_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_TIME = re.compile(rf"({_NUMBER})|(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?")
_SECONDS_ALONE = re.compile(rf"{_NUMBER}s")
_PERIOD = re.compile(
    r"(?:(?P<moves>[0-9]+) */ *)?(?P<time>[0-9.hms]+)"
    r"(?: *(?:\+ *(?P<added>[0-9.hms]+)(?: *(?P<name>delay|bronstein))?"
    r"|(?P<letter>[db]) *(?P<lettered>[0-9.hms]+)))?"
)
_UNTIMED = ("-", "none", "unlimited", "∞")
_FORMS = "write 300+3, 40/5400+30:1800, 10s (each move), 300d3 (delay), 300b3 (Bronstein) or -"


class Bonus(StrEnum):
    """What a period gives for each move; the value is the sign before its seconds."""

    INCREMENT = "+"
    DELAY = "d"
    BRONSTEIN = "b"


@dataclass(frozen=True, slots=True)
class Period:
    """Moves (None: all the rest) to make in a time; raises InvalidTimeControl out of bounds."""

    moves: int | None
    time: timedelta
    bonus: timedelta = _ZERO
    kind: Bonus = Bonus.INCREMENT

    def __post_init__(self) -> None:
        if not self.bonus:
            # A bonus of nothing is the same control whatever its name: let it compare equal.
            object.__setattr__(self, "kind", Bonus.INCREMENT)
        if self.moves is not None and not 1 <= self.moves <= MAX_MOVES:
            raise InvalidTimeControl(str(self), f"a period has 1 to {MAX_MOVES} moves")
        _check_times(self.time, self.bonus)

    def __str__(self) -> str:
        moves = "" if self.moves is None else f"{self.moves}/"
        bonus = f"{self.kind.value}{_seconds(self.bonus)}" if self.bonus else ""
        return f"{moves}{_seconds(self.time)}{bonus}"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Periods, or a time for each move, or neither; raises InvalidTimeControl out of bounds."""

    periods: tuple[Period, ...] = ()
    per_move: timedelta | None = None

    def __post_init__(self) -> None:
        if self.per_move is not None:
            _check_times(self.per_move)
            if self.periods:
                raise InvalidTimeControl(str(self), "it has periods and a time for each move")
        if len(self.periods) > MAX_PERIODS:
            raise InvalidTimeControl(str(self), f"it has more than {MAX_PERIODS} periods")
        if any(period.moves is None for period in self.periods[:-1]):
            raise InvalidTimeControl(str(self), "only the last period may leave out its moves")
        if len(str(self)) > MAX_TEXT:
            # Without this, a control could be printed that `parse` refuses to read.
            raise InvalidTimeControl(str(self), f"it takes over {MAX_TEXT} characters to print")

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read any form shown at the top of this module, or raise InvalidTimeControl."""
        if not isinstance(text, str):
            raise InvalidTimeControl(repr(text), "it is not text")
        if len(text) > MAX_TEXT:
            raise InvalidTimeControl(text, f"it is longer than {MAX_TEXT} characters")
        body = text.strip().lower()
        each = body.removesuffix("/move").rstrip()
        try:
            if body in _UNTIMED:
                return cls()
            if each != body or _SECONDS_ALONE.fullmatch(body):
                return cls(per_move=_read_time(each))
            return cls(tuple(_read_period(part.strip()) for part in body.split(":")))
        except InvalidTimeControl as error:
            # The parts complain about themselves; the caller knows only the whole text.
            raise InvalidTimeControl(text, error.reason) from None

    def __str__(self) -> str:
        if self.per_move is not None:
            return f"{_seconds(self.per_move)}s"
        return ":".join(map(str, self.periods)) or "-"

    @property
    def is_timed(self) -> bool:
        """Whether time can run out at all."""
        return self.is_per_move or bool(self.periods)

    @property
    def is_per_move(self) -> bool:
        """Whether each move has the same time, and what is left of it is lost."""
        return self.per_move is not None

    @property
    def opening_time(self) -> timedelta | None:
        """What stands on the clock before the first move; None when untimed."""
        if not self.periods:
            return self.per_move
        first = self.periods[0]
        # `0+3` would lose before the first move; such games open with one bonus.
        return first.time if first.time or first.kind is Bonus.DELAY else first.bonus

    def after_moves(self, moves: int) -> tuple[Period | None, int | None]:
        """The period that a player is in after so many moves, and the moves left in it."""
        for index, period in enumerate(self.periods):
            if period.moves is None:
                return period, None
            if index == len(self.periods) - 1:
                moves %= period.moves  # as in PGN, a last period that counts moves repeats
            if moves < period.moves:
                return period, period.moves - moves
            moves -= period.moves
        return None, None


@dataclass(frozen=True, slots=True)
class ClockFace:
    """One player's half of a clock: the rest (None: untimed), moves made in time, the flag."""

    remaining: timedelta | None
    moves: int = 0
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """Both players' time as a value: it never looks at a watch, it is told what a move took."""

    control: TimeControl
    white: ClockFace
    black: ClockFace

    @classmethod
    def start(cls, control: TimeControl) -> Clock:
        """The clock before the first move."""
        face = ClockFace(control.opening_time)
        return cls(control, face, face)

    def remaining(self, color: Color) -> timedelta | None:
        """The time that stands on the clock, zero after the flag fell; None when untimed."""
        return self._face(color).remaining

    def period(self, color: Color) -> Period | None:
        """The period that the player is in; None when untimed or timed for each move."""
        return self.control.after_moves(self._face(color).moves)[0]

    def moves_to_go(self, color: Color) -> int | None:
        """The moves left in the period, as UCI's `movestogo`; None if they are not counted."""
        return self.control.after_moves(self._face(color).moves)[1]

    def budget(self, color: Color) -> timedelta | None:
        """How long the player may think on this move before the flag falls; None when untimed."""
        face, period = self._face(color), self.period(color)
        if face.flagged or face.remaining is None or period is None:
            return face.remaining
        return face.remaining + (period.bonus if period.kind is Bonus.DELAY else _ZERO)

    def is_flagged(self, color: Color, elapsed: timedelta = _ZERO) -> bool:
        """Whether thinking that long on this move uses up the budget; ValueError if negative."""
        if elapsed < _ZERO:
            raise ValueError(f"a move cannot take {elapsed.total_seconds()} seconds")
        budget = self.budget(color)
        return budget is not None and elapsed >= budget

    def after_move(self, color: Color, elapsed: timedelta) -> Clock:
        """The clock after a move, with bonus and new period if in time; ValueError if negative."""
        face = self._face(color)
        if self.is_flagged(color, elapsed):
            return self._with_face(color, replace(face, remaining=_ZERO, flagged=True))
        remaining = self.control.per_move  # without periods, every move starts afresh
        period, to_go = self.control.after_moves(face.moves)
        if period is not None and face.remaining is not None:
            # What a delay leaves uncharged is what Bronstein gives back: only `budget` differs.
            given = period.bonus if period.kind is Bonus.INCREMENT else min(elapsed, period.bonus)
            remaining = face.remaining - elapsed + given
            upcoming, _ = self.control.after_moves(face.moves + 1)
            remaining += upcoming.time if to_go == 1 and upcoming is not None else _ZERO
        return self._with_face(color, ClockFace(remaining, face.moves + 1))

    def to_json(self) -> dict[str, object]:
        """All of the clock as JSON, exact to the microsecond."""
        white, black = _face_to_json(self.white), _face_to_json(self.black)
        return {"control": str(self.control), "white": white, "black": black}

    @classmethod
    def from_json(cls, data: object) -> Clock:
        """The clock that `to_json` wrote; raises InvalidTimeControl for damaged data."""
        if not isinstance(data, dict) or not isinstance(data.get("control"), str):
            raise InvalidTimeControl("", "the saved clock does not name its time control")
        control = TimeControl.parse(data["control"])
        white, black = (_face_from_json(data.get(side), control) for side in ("white", "black"))
        return cls(control, white, black)

    def _face(self, color: Color) -> ClockFace:
        return self.white if Color(color) is Color.WHITE else self.black

    def _with_face(self, color: Color, face: ClockFace) -> Clock:
        if Color(color) is Color.WHITE:
            return replace(self, white=face)
        return replace(self, black=face)


class Stopwatch:
    """Measures how long a move takes, on a clock that no change of the wall time can move."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._measured = _ZERO
        self._started_ns: int | None = None

    def start(self) -> None:
        """Run, or go on after a pause; a running stopwatch just runs on."""
        if self._started_ns is None:
            self._started_ns = self._monotonic_ns()

    def pause(self) -> None:
        """Stop counting until the next start; a paused stopwatch stays paused."""
        self._measured = self.elapsed
        self._started_ns = None

    @property
    def elapsed(self) -> timedelta:
        """The time spent running so far."""
        if self._started_ns is None:
            return self._measured
        return self._measured + (self._monotonic_ns() - self._started_ns) // 1000 * _MICROSECOND


def format_clock(remaining: timedelta) -> str:
    """The time for people: `10:00`, `1:30:00`, and under 20 seconds tenths if not 0: `00:05.3`."""
    if remaining <= _ZERO:
        return "00:00"
    # Rounded down, so that nobody relies on time that is not there; but 00:00 means flagged.
    tenths = max(1, remaining // timedelta(milliseconds=100))
    minutes, seconds = divmod(tenths // 10, 60)
    fraction = f".{tenths % 10}" if tenths < 200 and tenths % 10 else ""
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return f"{minutes:02}:{seconds:02}{fraction}"


def _check_times(*times: timedelta) -> None:
    text = "+".join(map(_seconds, times))
    if not all(_ZERO <= each <= _MAX_TIME for each in times):
        raise InvalidTimeControl(text, f"a time is from 0 to {MAX_HOURS} hours")
    if not any(times):
        raise InvalidTimeControl(text, "it gives no time at all")


def _seconds(duration: timedelta) -> str:
    whole, fraction = divmod(duration // _MICROSECOND, 1_000_000)
    return f"{whole}.{fraction:06}".rstrip("0") if fraction else str(whole)


def _read_period(text: str) -> Period:
    match = _PERIOD.fullmatch(text)
    if match is None:
        raise InvalidTimeControl(text, f"{shown(text)} cannot be read; {_FORMS}")
    moves = None if match["moves"] is None else int(match["moves"])
    bonus = _read_time(match["added"] or match["lettered"] or "0")
    kind = Bonus((match["name"] or match["letter"] or "+")[0])
    return Period(moves, _read_time(match["time"]), bonus, kind)


def _read_time(text: str) -> timedelta:
    match = _TIME.fullmatch(text)
    if match is None or not text:
        raise InvalidTimeControl(text, f"{shown(text)} is no time, as 90, 1.5, 5m or 1h30m are")
    microseconds = 0
    for number, unit in zip(match.groups("0"), (1, 3600, 60, 1), strict=True):
        whole, _, fraction = number.partition(".")
        if len(fraction) > 6:
            raise InvalidTimeControl(text, f"{shown(text)} has more than six decimals")
        microseconds += int(whole + fraction.ljust(6, "0")) * unit
    # Cut to what timedelta can hold; still too long, so the check of the value refuses it.
    return min(microseconds, _MAX_TIME // _MICROSECOND + 1) * _MICROSECOND


def _face_to_json(face: ClockFace) -> dict[str, object]:
    rest = None if face.remaining is None else face.remaining // _MICROSECOND
    return {"remaining_us": rest, "moves": face.moves, "flagged": face.flagged}


def _face_from_json(data: object, control: TimeControl) -> ClockFace:
    fields = data if isinstance(data, dict) else {}
    rest, moves, flagged = (fields.get(key) for key in ("remaining_us", "moves", "flagged"))
    is_rest = type(rest) is int and 0 <= rest <= _MAX_SAVED_US if control.is_timed else rest is None
    # `type` and not `isinstance`: to Python, JSON's true and false would be numbers.
    if is_rest and type(moves) is int and moves >= 0 and type(flagged) is bool:
        face = ClockFace(None if rest is None else rest * _MICROSECOND, moves, flagged)
        # Out of budget and flagged are one thing, and a time for each move is always whole.
        is_out = Clock(control, face, face).is_flagged(Color.WHITE)
        if flagged == is_out and (flagged or control.per_move in (None, face.remaining)):
            return face
    raise InvalidTimeControl(str(control), "the clock saved with it is damaged")
