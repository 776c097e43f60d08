"""Everything that can go wrong with UCI engines, as types.

    AgentError
    └── UciError
        ├── UciNotFound        the program is not installed, or not where it was said to be
        ├── UciWontStart       the program is there, but the system cannot run it
        ├── UciFault           the process misbehaved; it is replaced, and the turn can be retried
        │   ├── UciDied
        │   ├── UciTimedOut    no answer in time, not even to `stop`
        │   ├── UciGarbled     output that no UCI engine would print
        │   └── UciIllegalAnswer
        ├── InvalidOption      an option that the engine does not have, or a value it does not take
        ├── InvalidLimit
        ├── InvalidLevel
        ├── InvalidRatings     the file of a calibration cannot be read
        └── PoolClosed

Fields are for code, `str(error)` is one sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from agents.errors import AgentError
from engine.errors import shown

MIN_LEVEL, MAX_LEVEL = 1, 8

_LONGEST_REASON = 200


class UciError(AgentError):
    """The root of all errors of UCI engines."""


@dataclass(eq=False)
class UciNotFound(UciError):
    """A program that is not there."""

    engine: str
    program: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f"; {self.advice}" if self.advice else ""
        return f"{self.engine} was not found at {shown(self.program)}{advice}"


@dataclass(eq=False)
class UciWontStart(UciError):
    """A program that the system cannot run."""

    engine: str
    program: str
    reason: str

    def __str__(self) -> str:
        return f"{self.engine} cannot be started from {shown(self.program)}: {_brief(self.reason)}"


@dataclass(eq=False)
class UciFault(UciError):
    """A process that misbehaved. It has been killed; another one may do better."""

    engine: str


@dataclass(eq=False)
class UciDied(UciFault):
    """A process that ended by itself, or that somebody else ended."""

    doing: str
    #: As `subprocess` has it: negative for the signal that killed it, None if it never told.
    exit_code: int | None = None
    #: The last line that it wrote to standard error.
    last_words: str = ""

    def __str__(self) -> str:
        how = _exit(self.exit_code)
        words = f", saying {shown(self.last_words)}" if self.last_words else ""
        return f"{self.engine} process died while {self.doing}{how}{words}"


@dataclass(eq=False)
class UciTimedOut(UciFault):
    """A process that did not answer in time."""

    doing: str
    waited: timedelta

    def __str__(self) -> str:
        return f"{self.engine} timed out: {self.doing} took over {self.waited.total_seconds():g} s"


@dataclass(eq=False)
class UciGarbled(UciFault):
    """A process that prints what no UCI engine would."""

    reason: str
    sample: str = ""

    def __str__(self) -> str:
        sample = f", as in {shown(self.sample)}" if self.sample else ""
        return f"{self.engine} does not speak UCI: {self.reason}{sample}"


@dataclass(eq=False)
class UciIllegalAnswer(UciFault):
    """A best move that the rules forbid, or that is no move at all."""

    answer: str
    fen: str

    def __str__(self) -> str:
        return f"{self.engine} answered {shown(self.answer)}, which is no legal move in {self.fen}"


@dataclass(eq=False)
class InvalidOption(UciError):
    """An option that an engine did not declare, or a value outside of what it declared."""

    engine: str
    option: str
    reason: str

    def __str__(self) -> str:
        return f"{self.engine}'s option {shown(self.option)}: {_brief(self.reason)}"


@dataclass(eq=False)
class InvalidLimit(UciError):
    """A limit under which nothing can be searched."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(eq=False)
class InvalidLevel(UciError):
    """A level that there is not."""

    level: str

    def __str__(self) -> str:
        return f"level must be between {MIN_LEVEL} and {MAX_LEVEL}, not {shown(self.level)}"


@dataclass(eq=False)
class InvalidRatings(UciError):
    """A file of ratings that cannot be read."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"the ratings in {shown(self.path)} cannot be read: {_brief(self.reason)}"


@dataclass(eq=False)
class PoolClosed(UciError):
    """A process was asked of a pool that is closed."""

    engine: str

    def __str__(self) -> str:
        return f"the pool of {self.engine} is closed"


def _brief(reason: str) -> str:
    """Return a reason, which may list what an engine declared, on one line and not too long."""
    line = reason if reason.isprintable() else ascii(reason)[1:-1]
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}..."


def _exit(code: int | None) -> str:
    if code is None:
        return ""
    return f" (signal {-code})" if code < 0 else f" (exit code {code})"
