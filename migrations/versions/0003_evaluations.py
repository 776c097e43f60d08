"""Evaluations: how far they have come, who conducts them, their games and what became of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ID = sa.String(36)
_TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")
_TEXTS = {"name": "", "kind": "", "detail": "", "manifest": "{}", "progress": "{}"}
_NUMBERS = ("revision", "epoch")
_NEW = (*_TEXTS, *_NUMBERS, "request_digest", "ended_at", "owner")
_INDEX = "ix_evaluations_status_id"


def upgrade() -> None:
    """Add columns and tables."""
    for name, default in _TEXTS.items():
        op.add_column(
            "evaluations", sa.Column(name, sa.Text, nullable=False, server_default=default)
        )
    for name in _NUMBERS:
        op.add_column(
            "evaluations", sa.Column(name, sa.Integer, nullable=False, server_default="0")
        )
    op.add_column("evaluations", sa.Column("request_digest", sa.Text, nullable=True))
    op.add_column("evaluations", sa.Column("ended_at", _TIME, nullable=True))
    op.add_column("evaluations", sa.Column("owner", _ID, nullable=True))
    op.create_index(_INDEX, "evaluations", ["status", "id"])
    op.create_table(
        "evaluation_games",
        sa.Column("evaluation_id", _ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("match_id", _ID, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("slot", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("evaluation_id", "number", "attempt", name="pk_evaluation_games"),
        sa.CheckConstraint("number >= 1", name=op.f("ck_evaluation_games_number")),
        sa.CheckConstraint("attempt >= 1", name=op.f("ck_evaluation_games_attempt")),
        sa.CheckConstraint(
            "status IN ('playing', 'scored', 'void')", name=op.f("ck_evaluation_games_status")
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name="fk_evaluation_games_evaluation_id"
        ),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_evaluation_games_match_id"),
        sa.UniqueConstraint("match_id", name="uq_evaluation_games_match_id"),
    )
    op.create_table(
        "game_analyses",
        sa.Column("match_id", _ID, nullable=False),
        sa.Column("evaluation_id", _ID, nullable=False),
        sa.Column("nodes", sa.BigInteger, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("match_id", name="pk_game_analyses"),
        sa.CheckConstraint("nodes >= 0", name=op.f("ck_game_analyses_nodes")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_game_analyses_match_id"),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name="fk_game_analyses_evaluation_id"
        ),
    )
    op.create_index("ix_game_analyses_evaluation_id", "game_analyses", ["evaluation_id"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("game_analyses")
    op.drop_table("evaluation_games")
    op.drop_index(_INDEX, "evaluations")
    for name in reversed(_NEW):
        op.drop_column("evaluations", name)
