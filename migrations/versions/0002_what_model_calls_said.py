"""What model calls said, for whom, and by which prompt: a reply that is paid for is found again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLE = "model_calls"
_NEW = ("color", "retry", "prompt_digest", "is_estimated", "reply", "error")


def upgrade() -> None:
    """Add the columns."""
    op.add_column(_TABLE, sa.Column("color", sa.Text, nullable=True))
    op.add_column(_TABLE, sa.Column("retry", sa.Integer, nullable=False, server_default="0"))
    op.add_column(_TABLE, sa.Column("prompt_digest", sa.Text, nullable=False, server_default=""))
    op.add_column(
        _TABLE, sa.Column("is_estimated", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.add_column(_TABLE, sa.Column("reply", sa.Text, nullable=True))
    op.add_column(_TABLE, sa.Column("error", sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Drop them."""
    for name in reversed(_NEW):
        op.drop_column(_TABLE, name)
