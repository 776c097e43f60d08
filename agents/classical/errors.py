"""Everything that can go wrong with the offline team, as types.

    AgentError
    └── ClassicalError
        ├── WorkerFault          the process misbehaved; it is replaced, and the turn can be retried
        │   ├── WorkerDied
        │   └── WorkerTimedOut
        ├── WorkerWontStart      the system cannot run it
        ├── WorkersClosed
        └── InvalidThinking      no time or no nodes to think with

Fields are for code, `str(error)` is one sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from agents.errors import AgentError
from engine.errors import shown


class ClassicalError(AgentError):
    """The root of all errors of the offline team."""


class WorkerFault(ClassicalError):
    """A worker process that misbehaved. It has been killed; another one may do better."""


@dataclass(eq=False)
class WorkerDied(WorkerFault):
    """A worker process that ended, by itself or by somebody else."""

    #: As `subprocess` has it: negative for the signal that killed it, None if it never told.
    exit_code: int | None = None
    #: The last line that it wrote to standard error.
    last_words: str = ""

    def __str__(self) -> str:
        code = self.exit_code
        how = "" if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
        words = f", saying {shown(self.last_words)}" if self.last_words else ""
        return f"the worker of the classical team died{how}{words}"


@dataclass(eq=False)
class WorkerTimedOut(WorkerFault):
    """A worker process that did not answer in time."""

    waited: timedelta

    def __str__(self) -> str:
        return f"the worker of the classical team took over {self.waited.total_seconds():g} s"


@dataclass(eq=False)
class WorkerWontStart(ClassicalError):
    """A worker process that cannot be started."""

    reason: str

    def __str__(self) -> str:
        return f"the worker of the classical team cannot be started: {self.reason}"


@dataclass(eq=False)
class WorkersClosed(ClassicalError):
    """A turn was given to workers that are closed."""

    def __str__(self) -> str:
        return "the workers of the classical team are closed"


@dataclass(eq=False)
class InvalidThinking(ClassicalError):
    """A limit under which nothing can be thought."""

    reason: str

    def __str__(self) -> str:
        return self.reason
