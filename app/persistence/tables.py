"""The tables. `migrations/` makes them; a test sees to it that the two agree.

The constraints state what must hold whatever the code does: the primary key of events means that a
second writer of a match fails there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: What a match can be. One that is unfinished counts for its client, and can be resumed.
UNFINISHED = ("created", "running", "paused")
STATUSES = (*UNFINISHED, "ended", "aborted")

_PICO_USD = Decimal("1e-12")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time in UTC: on Postgres a timestamp with time zone, on SQLite text that sorts."""

    impl = String(32)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:  # noqa: ANN401 - as SQLAlchemy has it
        """Say how the database keeps it."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(DateTime(timezone=True))
        return dialect.type_descriptor(String(32))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ANN401
        """Turn a time into what is stored; one without a time zone is a mistake."""
        if value is None:
            return None
        text = stored_time(value)
        return value if dialect.name == "postgresql" else text

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ANN401
        """Turn what is stored into a time."""
        if value is None:
            return None
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        time: datetime = value
        return time.astimezone(UTC)


def stored_time(time: datetime) -> str:
    """Return a time as SQLite keeps it: always with microseconds, so that text sorts as time."""
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone")
    return time.astimezone(UTC).isoformat(timespec="microseconds")


class Usd(TypeDecorator[Decimal]):
    """Dollars as a whole number of millionths of a millionth: SQLite has no decimals."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """Turn dollars into what is stored."""
        return pico_usd(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Decimal | None:  # noqa: ANN401
        """Turn what is stored, or the sum of it, into dollars."""
        return None if value is None else (int(value) * _PICO_USD).normalize()


def pico_usd(value: Decimal | None) -> int | None:
    """Return dollars as they are kept."""
    return None if value is None else round(value / _PICO_USD)


class Table(DeclarativeBase):
    """The root of the tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: Text, datetime: UtcDateTime, Decimal: Usd}  # noqa: RUF012


#: UUIDv7 as text: sorted by id is sorted by time.
Id = Annotated[str, mapped_column(String(36))]


def _one_of(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


class Evaluation(Table):
    """A batch of matches that measures strength, with its owner and epoch as a match has them."""

    __tablename__ = "evaluations"
    __table_args__ = (
        CheckConstraint(
            _one_of("status", ("created", "running", "paused", "finished", "cancelled")),
            name="status",
        ),
        UniqueConstraint("client", "idempotency_key"),
        Index(None, "status", "id"),
    )

    id: Mapped[Id] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    status: Mapped[str]
    plan: Mapped[str]
    report: Mapped[str | None]
    client: Mapped[str]
    idempotency_key: Mapped[str | None]
    name: Mapped[str] = mapped_column(server_default="")
    kind: Mapped[str] = mapped_column(server_default="")
    #: Why it is paused, or has ended, in a sentence.
    detail: Mapped[str] = mapped_column(server_default="")
    #: JSON: what a report says of how it was made.
    manifest: Mapped[str] = mapped_column(server_default="{}")
    #: JSON: how far it has come.
    progress: Mapped[str] = mapped_column(server_default="{}")
    #: How often status or progress has changed.
    revision: Mapped[int] = mapped_column(server_default="0")
    request_digest: Mapped[str | None]
    ended_at: Mapped[datetime | None]
    owner: Mapped[Id | None]
    epoch: Mapped[int] = mapped_column(server_default="0")


class Match(Table):
    """A match, with its owner and epoch. Every write of a match names both epoch and sequence."""

    __tablename__ = "matches"
    __table_args__ = (
        CheckConstraint(_one_of("status", STATUSES), name="status"),
        CheckConstraint(_one_of("result", ("*", "1-0", "0-1", "1/2-1/2")), name="result"),
        CheckConstraint(_one_of("winner", ("white", "black")), name="winner"),
        CheckConstraint("ply_count >= 0", name="ply_count"),
        CheckConstraint("last_sequence >= 0", name="last_sequence"),
        CheckConstraint("epoch >= 0", name="epoch"),
        # It has come to its end exactly when it is said why; and who wins, wins for a reason.
        CheckConstraint("(status = 'ended') = (termination IS NOT NULL)", name="ended"),
        CheckConstraint("winner IS NULL OR termination IS NOT NULL", name="won"),
        UniqueConstraint("client", "idempotency_key"),
        # With the client, so that its unfinished matches are counted in the index alone.
        Index(None, "status", "id", "client"),
        Index(None, "white", "id"),
        Index(None, "black", "id"),
        Index(None, "variant", "id"),
        Index(None, "evaluation_id", "id"),
    )

    id: Mapped[Id] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    status: Mapped[str]
    variant: Mapped[str]
    white: Mapped[str]
    black: Mapped[str]
    settings: Mapped[str]
    state: Mapped[str]
    fen: Mapped[str]
    ply_count: Mapped[int]
    last_sequence: Mapped[int]
    winner: Mapped[str | None]
    termination: Mapped[str | None]
    result: Mapped[str]
    #: No foreign key: a worker that is long gone may be forgotten, and its matches not.
    owner: Mapped[Id | None]
    epoch: Mapped[int]
    evaluation_id: Mapped[Id | None] = mapped_column(ForeignKey(Evaluation.id))
    client: Mapped[str]
    idempotency_key: Mapped[str | None]
    request_digest: Mapped[str | None]
    white_token_hash: Mapped[str | None]
    black_token_hash: Mapped[str | None]


class EvaluationGame(Table):
    """A match in its place in an evaluation; a game that is void is played again."""

    __tablename__ = "evaluation_games"
    __table_args__ = (
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("attempt >= 1", name="attempt"),
        CheckConstraint(_one_of("status", ("playing", "scored", "void")), name="status"),
        UniqueConstraint("match_id"),
    )

    evaluation_id: Mapped[Id] = mapped_column(ForeignKey(Evaluation.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempt: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    match_id: Mapped[Id] = mapped_column(ForeignKey(Match.id))
    status: Mapped[str]
    #: JSON: who meets whom, and where they start.
    slot: Mapped[str]
    #: Why it is void, in a sentence.
    detail: Mapped[str] = mapped_column(server_default="")


class GameAnalysis(Table):
    """What Stockfish thinks of every ply of a match."""

    __tablename__ = "game_analyses"
    __table_args__ = (
        CheckConstraint("nodes >= 0", name="nodes"),
        Index(None, "evaluation_id"),
    )

    match_id: Mapped[Id] = mapped_column(ForeignKey(Match.id), primary_key=True)
    evaluation_id: Mapped[Id] = mapped_column(ForeignKey(Evaluation.id))
    #: What was searched for it.
    nodes: Mapped[int] = mapped_column(BigInteger)
    #: JSON.
    data: Mapped[str]
    at: Mapped[datetime]


class MatchTag(Table):
    """A tag of a match, with its place among the tags."""

    __tablename__ = "match_tags"
    __table_args__ = (
        CheckConstraint("number >= 1", name="number"),
        Index(None, "tag", "match_id"),
    )

    match_id: Mapped[Id] = mapped_column(ForeignKey(Match.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tag: Mapped[str]


class Event(Table):
    """An event. Its position counts the events of all matches, without a gap."""

    __tablename__ = "events"
    __table_args__ = (
        CheckConstraint("sequence >= 1", name="sequence"),
        CheckConstraint("position >= 1", name="position"),
        UniqueConstraint("position"),
    )

    match_id: Mapped[Id] = mapped_column(ForeignKey(Match.id), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    type: Mapped[str]
    data: Mapped[str]
    at: Mapped[datetime]
    position: Mapped[int] = mapped_column(BigInteger)


class Ply(Table):
    """A move that was played."""

    __tablename__ = "plies"
    __table_args__ = (
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint(_one_of("color", ("white", "black")), name="color"),
        CheckConstraint("elapsed_ms >= 0", name="elapsed_ms"),
    )

    match_id: Mapped[Id] = mapped_column(ForeignKey(Match.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    color: Mapped[str]
    uci: Mapped[str]
    san: Mapped[str]
    fen: Mapped[str]
    elapsed_ms: Mapped[int | None] = mapped_column(BigInteger)
    clock_ms: Mapped[int | None] = mapped_column(BigInteger)
    evaluation: Mapped[str | None]
    source: Mapped[str]
    played_at: Mapped[datetime]
    advice: Mapped[str | None]
    attempts: Mapped[str | None]


class ModelCall(Table):
    """One call of a model, for a match or for an evaluation."""

    __tablename__ = "model_calls"
    __table_args__ = (
        CheckConstraint("ply_number >= 1", name="ply_number"),
        CheckConstraint("attempt >= 1", name="attempt"),
        CheckConstraint(
            "prompt_tokens >= 0 AND cached_tokens >= 0"
            " AND reasoning_tokens >= 0 AND completion_tokens >= 0",
            name="tokens",
        ),
        CheckConstraint("latency_ms >= 0", name="latency_ms"),
        CheckConstraint("cost_usd >= 0", name="cost_usd"),
        Index(None, "match_id"),
        Index(None, "evaluation_id"),
    )

    id: Mapped[Id] = mapped_column(primary_key=True)
    match_id: Mapped[Id | None] = mapped_column(ForeignKey(Match.id))
    evaluation_id: Mapped[Id | None] = mapped_column(ForeignKey(Evaluation.id))
    ply_number: Mapped[int | None]
    role: Mapped[str]
    model: Mapped[str]
    attempt: Mapped[int]
    prompt_tokens: Mapped[int]
    cached_tokens: Mapped[int]
    reasoning_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    latency_ms: Mapped[int] = mapped_column(BigInteger)
    cost_usd: Mapped[Decimal | None]
    request_digest: Mapped[str]
    outcome: Mapped[str]
    at: Mapped[datetime]
    color: Mapped[str | None]
    #: How often the call was tried before.
    retry: Mapped[int] = mapped_column(server_default="0")
    prompt_digest: Mapped[str] = mapped_column(server_default="")
    #: Whether nobody counted the tokens.
    is_estimated: Mapped[bool] = mapped_column(server_default=false())
    #: JSON: what the model said, if it said anything.
    reply: Mapped[str | None]
    #: What went wrong, in a sentence.
    error: Mapped[str] = mapped_column(server_default="")


class Worker(Table):
    """A process that runs matches, or ran them."""

    __tablename__ = "workers"

    id: Mapped[Id] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
