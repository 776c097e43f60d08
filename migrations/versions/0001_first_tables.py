"""The first tables: matches, their tags, events, plies and model calls; evaluations; workers.

It says what the tables were at this revision, and so takes nothing from `app.persistence.tables`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.String(36)
TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")


def text(name: str, *, null: bool = False) -> sa.Column[str]:
    """Return a column of text."""
    return sa.Column(name, sa.Text, nullable=null)


def integer(name: str, *, null: bool = False) -> sa.Column[int]:
    """Return a column of whole numbers of 32 bits."""
    return sa.Column(name, sa.Integer, nullable=null)


def long(name: str, *, null: bool = False) -> sa.Column[int]:
    """Return a column of whole numbers of 64 bits."""
    return sa.Column(name, sa.BigInteger, nullable=null)


def time(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of times."""
    return sa.Column(name, TIME, nullable=null)


def identity(name: str = "id", *, null: bool = False) -> sa.Column[str]:
    """Return a column of ids."""
    return sa.Column(name, ID, nullable=null)


def primary_key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    """Return a primary key."""
    return sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")


def check(table: str, name: str, rule: str) -> sa.CheckConstraint:
    """Return a rule that every row keeps."""
    return sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}"))


def refers(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    """Return a reference to the id of another table."""
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=f"fk_{table}_{column}")


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    """Return columns of which no two rows have the same."""
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def index(table: str, *columns: str) -> None:
    """Make an index."""
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns))


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "evaluations",
        identity(),
        time("created_at"),
        time("updated_at"),
        text("status"),
        text("plan"),
        text("report", null=True),
        text("client"),
        text("idempotency_key", null=True),
        primary_key("evaluations", "id"),
        check(
            "evaluations",
            "status",
            "status IN ('created', 'running', 'paused', 'finished', 'cancelled')",
        ),
        unique("evaluations", "client", "idempotency_key"),
    )
    op.create_table(
        "workers",
        identity(),
        time("started_at"),
        time("seen_at"),
        time("stopped_at", null=True),
        primary_key("workers", "id"),
    )
    op.create_table(
        "matches",
        identity(),
        time("created_at"),
        time("updated_at"),
        text("status"),
        text("variant"),
        text("white"),
        text("black"),
        text("settings"),
        text("state"),
        text("fen"),
        integer("ply_count"),
        integer("last_sequence"),
        text("winner", null=True),
        text("termination", null=True),
        text("result"),
        identity("owner", null=True),
        integer("epoch"),
        identity("evaluation_id", null=True),
        text("client"),
        text("idempotency_key", null=True),
        text("request_digest", null=True),
        text("white_token_hash", null=True),
        text("black_token_hash", null=True),
        primary_key("matches", "id"),
        refers("matches", "evaluation_id", "evaluations"),
        check(
            "matches",
            "status",
            "status IN ('created', 'running', 'paused', 'ended', 'aborted')",
        ),
        check("matches", "result", "result IN ('*', '1-0', '0-1', '1/2-1/2')"),
        check("matches", "winner", "winner IN ('white', 'black')"),
        check("matches", "ply_count", "ply_count >= 0"),
        check("matches", "last_sequence", "last_sequence >= 0"),
        check("matches", "epoch", "epoch >= 0"),
        check("matches", "ended", "(status = 'ended') = (termination IS NOT NULL)"),
        check("matches", "won", "winner IS NULL OR termination IS NOT NULL"),
        unique("matches", "client", "idempotency_key"),
    )
    for columns in (
        ("status", "id", "client"),
        ("white", "id"),
        ("black", "id"),
        ("variant", "id"),
        ("evaluation_id", "id"),
    ):
        index("matches", *columns)
    op.create_table(
        "match_tags",
        identity("match_id"),
        integer("number"),
        text("tag"),
        primary_key("match_tags", "match_id", "number"),
        refers("match_tags", "match_id", "matches"),
        check("match_tags", "number", "number >= 1"),
    )
    index("match_tags", "tag", "match_id")
    op.create_table(
        "events",
        identity("match_id"),
        integer("sequence"),
        text("type"),
        text("data"),
        time("at"),
        long("position"),
        primary_key("events", "match_id", "sequence"),
        refers("events", "match_id", "matches"),
        check("events", "sequence", "sequence >= 1"),
        check("events", "position", "position >= 1"),
        unique("events", "position"),
    )
    op.create_table(
        "plies",
        identity("match_id"),
        integer("number"),
        text("color"),
        text("uci"),
        text("san"),
        text("fen"),
        long("elapsed_ms", null=True),
        long("clock_ms", null=True),
        text("evaluation", null=True),
        text("source"),
        time("played_at"),
        text("advice", null=True),
        text("attempts", null=True),
        primary_key("plies", "match_id", "number"),
        refers("plies", "match_id", "matches"),
        check("plies", "number", "number >= 1"),
        check("plies", "color", "color IN ('white', 'black')"),
        check("plies", "elapsed_ms", "elapsed_ms >= 0"),
    )
    op.create_table(
        "model_calls",
        identity(),
        identity("match_id", null=True),
        identity("evaluation_id", null=True),
        integer("ply_number", null=True),
        text("role"),
        text("model"),
        integer("attempt"),
        integer("prompt_tokens"),
        integer("cached_tokens"),
        integer("reasoning_tokens"),
        integer("completion_tokens"),
        long("latency_ms"),
        long("cost_usd", null=True),
        text("request_digest"),
        text("outcome"),
        time("at"),
        primary_key("model_calls", "id"),
        refers("model_calls", "match_id", "matches"),
        refers("model_calls", "evaluation_id", "evaluations"),
        check("model_calls", "ply_number", "ply_number >= 1"),
        check("model_calls", "attempt", "attempt >= 1"),
        check(
            "model_calls",
            "tokens",
            "prompt_tokens >= 0 AND cached_tokens >= 0"
            " AND reasoning_tokens >= 0 AND completion_tokens >= 0",
        ),
        check("model_calls", "latency_ms", "latency_ms >= 0"),
        check("model_calls", "cost_usd", "cost_usd >= 0"),
    )
    index("model_calls", "match_id")
    index("model_calls", "evaluation_id")


def downgrade() -> None:
    """Drop the tables, and all that is in them."""
    for table in (
        "model_calls",
        "plies",
        "events",
        "match_tags",
        "matches",
        "workers",
        "evaluations",
    ):
        op.drop_table(table)
