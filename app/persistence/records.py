"""What is kept, as frozen records: a match, its events, plies and model calls, and a change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match: what was asked for, and where it stands."""

    id: str
    created_at: datetime
    updated_at: datetime
    status: str
    variant: str
    white: str
    black: str
    #: JSON: what was asked for, and never changes.
    settings: str
    #: JSON: what the rest of the row does not say about where the match stands.
    state: str
    fen: str
    ply_count: int
    last_sequence: int
    winner: str | None
    termination: str | None
    #: As in PGN: `*` until it is over.
    result: str
    #: The worker that runs it; with every new one the epoch is one more.
    owner: str | None
    epoch: int
    evaluation_id: str | None
    client: str
    idempotency_key: str | None
    request_digest: str | None
    white_token_hash: str | None
    black_token_hash: str | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event of a match. Its data is JSON, sent as it is stored, byte for byte."""

    match_id: str
    sequence: int
    type: str
    data: str
    at: datetime
    #: Its place among the events of all matches, in the order of commits; 0 until it is stored.
    position: int = 0


@dataclass(frozen=True, slots=True)
class PlyRecord:
    """A move that was played, with its number, clock and source."""

    match_id: str
    number: int
    color: str
    uci: str
    san: str
    fen: str
    elapsed_ms: int | None
    clock_ms: int | None
    #: JSON, as are advice and attempts.
    evaluation: str | None
    source: str
    played_at: datetime
    advice: str | None
    attempts: str | None


@dataclass(frozen=True, slots=True)
class WholeMatch:
    """A match of which nothing is stored yet, with all that has happened in it."""

    record: MatchRecord
    events: tuple[EventRecord, ...]
    plies: tuple[PlyRecord, ...]


@dataclass(frozen=True, slots=True)
class ModelCallRecord:
    """One call of a model: what it cost, and how it went."""

    id: str
    match_id: str | None
    evaluation_id: str | None
    ply_number: int | None
    role: str
    model: str
    attempt: int
    prompt_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    completion_tokens: int
    latency_ms: int
    #: None if nobody knows the price.
    cost_usd: Decimal | None
    request_digest: str
    outcome: str
    at: datetime
    color: str | None = None
    #: How often the call was tried before.
    retry: int = 0
    prompt_digest: str = ""
    #: Whether nobody counted the tokens.
    is_estimated: bool = False
    #: JSON: what the model said, if it said anything.
    reply: str | None = None
    #: What went wrong, in a sentence.
    error: str = ""


@dataclass(frozen=True, slots=True)
class LedgerTotals:
    """The sums over model calls; the cost is None if the price of no call is known."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal | None
    #: Of how many calls that took tokens nobody knows the price.
    unpriced_calls: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What one step of a match writes: all of it, or nothing if it has another owner by now."""

    match_id: str
    epoch: int
    #: The last sequence number before this change. Its events go on from there.
    base_sequence: int
    status: str
    state: str
    fen: str
    ply_count: int
    winner: str | None
    termination: str | None
    result: str
    updated_at: datetime
    owner: str | None
    events: tuple[EventRecord, ...]
    plies: tuple[PlyRecord, ...] = ()
    #: A takeback keeps so many plies: those above are deleted before new ones are inserted.
    keep_plies: int | None = None

    @property
    def last_sequence(self) -> int:
        """The last sequence number after this change."""
        return self.base_sequence + len(self.events)
