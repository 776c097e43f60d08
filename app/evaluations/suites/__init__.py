"""Suites of positions: read, mined, rated and asked; some that come along."""
