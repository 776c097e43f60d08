"""Everything that keeps a model from answering, as types.

    AgentError
    └── ModelError
        ├── ProviderFault         the provider's doing, and likely to pass: the call is tried again
        │   ├── RateLimited       429, or our own limit
        │   ├── ServerFault       an answer of 5xx
        │   ├── ProviderSilent    no answer, or not a whole one, in time
        │   ├── ConnectionLost    no connection, or it was cut in the middle of a reply
        │   ├── BrokenReply       what came is not what the protocol says
        │   └── CircuitOpen       too many faults of late: the provider is left alone for a while
        ├── RequestRefused        the provider will not have this request, however often it is made
        ├── ModelNotConfigured    no such provider, no key, no price where one is needed
        ├── BudgetSpent           the call could cost more than is left
        ├── InvalidPrices         a table of prices that cannot be used
        ├── GivenUp               nobody waited for the reply any longer when it was recorded
        ├── RecordingMismatch     the recording has no reply to this request
        └── RecordingBroken       the recording cannot be read or written

Fields are for code, `str(error)` is one sentence for people. No message holds a key, nor what was
asked.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from agents.errors import AgentError
from agents.models.model import ModelReply, Usage
from engine.errors import shown


class ModelError(AgentError):
    """The root of all errors of models."""

    #: What was spent nevertheless: part of a reply came, or nobody knows whether one was written.
    usage: Usage | None = None


class ProviderFault(ModelError):
    """What is the provider's doing and likely to pass."""

    #: Whether we waited for less than a call may take, since there was no more time.
    is_hurried: bool = False


@dataclass(eq=False)
class RateLimited(ProviderFault):
    """Too many requests; perhaps the provider says how long to wait."""

    provider: str
    retry_after: timedelta | None = None
    #: What it says itself.
    detail: str = ""

    def __str__(self) -> str:
        after = self.retry_after
        when = "" if after is None else f"; try again in {after.total_seconds():.0f} s"
        return f"{self.provider} takes no more requests just now{when}{_told(self.detail)}"


@dataclass(eq=False)
class ServerFault(ProviderFault):
    """An answer that says that the provider itself is at fault."""

    provider: str
    status: int
    retry_after: timedelta | None = None
    #: What it says itself.
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.provider} answered {self.status}{_told(self.detail)}"


@dataclass(eq=False)
class ProviderSilent(ProviderFault):
    """No whole reply came in time."""

    provider: str
    after: timedelta
    #: Whether it had the request and had said nothing: a model may be thinking, and be billed.
    may_be_thinking: bool = False

    def __str__(self) -> str:
        all_there_was = ", and the clock left no more" if self.is_hurried else ""
        return f"{self.provider} timed out after {self.after.total_seconds():.1f} s{all_there_was}"


@dataclass(eq=False)
class ConnectionLost(ProviderFault):
    """There is no connection, or it was cut in the middle of a reply."""

    provider: str
    detail: str

    def __str__(self) -> str:
        return f"the connection to {self.provider} was lost: {self.detail}"


@dataclass(eq=False)
class BrokenReply(ProviderFault):
    """What came is not what the protocol says."""

    provider: str
    detail: str

    def __str__(self) -> str:
        return f"{self.provider} sent what is no reply: {self.detail}"


@dataclass(eq=False)
class CircuitOpen(ProviderFault):
    """The provider failed so often that it is left alone for a while."""

    provider: str
    retry_after: timedelta
    #: The last fault, in words.
    because: str = ""

    def __str__(self) -> str:
        wait = self.retry_after.total_seconds()
        last = f" (last: {self.because})" if self.because else ""
        return f"{self.provider} failed too often of late{last}, and is not asked for {wait:.0f} s"


@dataclass(eq=False)
class RequestRefused(ModelError):
    """The provider will not have the request, however often it is made."""

    provider: str
    status: int
    detail: str

    is_lasting = True

    def __str__(self) -> str:
        return f"{self.provider} refuses the request ({self.status}): {shown(self.detail, 200)}"


@dataclass(eq=False)
class ModelNotConfigured(ModelError):
    """The operator has not set up what the model needs."""

    model: str
    reason: str

    is_lasting = True

    def __str__(self) -> str:
        return f"the model {shown(self.model)} cannot be asked: {self.reason}"


@dataclass(eq=False)
class BudgetSpent(ModelError):
    """The call could cost more than is left, so it was not made."""

    #: `usd`, `tokens` or `calls`.
    what: str
    left: str
    wanted: str
    #: Whether it is that of the player itself, such as a team's in its file, or of the match.
    is_own: bool = False

    is_lasting = True

    def __str__(self) -> str:
        return (
            f"the {'player' if self.is_own else 'match'}'s budget is spent:"
            f" {self.left} of its {self.what} are left, and the next call could take {self.wanted}"
        )


@dataclass(eq=False)
class GivenUp(ModelError):
    """Nobody waited for the reply any longer, when it was recorded."""

    #: Whether a request was under way then, and not a pause between two of them.
    in_flight: bool

    def __str__(self) -> str:
        return "it was given up"


@dataclass(eq=False)
class RecordingMismatch(ModelError):
    """The recording has no reply to this request."""

    file: str
    digest: str
    detail: str

    is_lasting = True

    def __str__(self) -> str:
        return f"the recording {self.file} does not fit: {self.detail} (digest {self.digest[:12]})"


@dataclass(eq=False)
class RecordingBroken(ModelError):
    """The recording cannot be read or written."""

    file: str
    reason: str
    #: Which line is wrong, counted from 1; 0: none in particular.
    line: int = 0
    #: What came, and was paid for, but could not be recorded.
    reply: ModelReply | None = field(default=None, repr=False)

    is_lasting = True

    def __str__(self) -> str:
        where = f" in line {self.line}" if self.line else ""
        return f"the recording {self.file} cannot be used: {self.reason}{where}"


@dataclass(eq=False)
class InvalidPrices(ModelError):
    """A table of prices that cannot be used."""

    file: str
    reason: str

    is_lasting = True

    def __str__(self) -> str:
        return f"the prices of {self.file} cannot be used: {self.reason}"


def _told(detail: str) -> str:
    return f": {detail}" if detail else ""


def mark_unsent(cancelled: asyncio.CancelledError) -> None:
    """Have it known that a call was given up before anything of it went out to a provider."""
    # A type of its own would not do: `asyncio.timeout` makes a TimeoutError of the bare one only.
    vars(cancelled)["is_unsent"] = True


def is_unsent(cancelled: asyncio.CancelledError) -> bool:
    """Return whether it was marked so: such a call has cost nothing."""
    return "is_unsent" in vars(cancelled)
