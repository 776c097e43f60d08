"""Matches, events, plies and the ledger, kept in SQLite or in Postgres."""
