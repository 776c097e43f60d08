"""Runs the migrations on the connection that `app.persistence.schema` hands over."""

from __future__ import annotations

from alembic import context

from app.persistence.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,
)
# The connection is in a transaction, on SQLite, too: who is killed halfway leaves all as it was.
context.run_migrations()
