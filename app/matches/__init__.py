"""Matches: games between two seats, with their settings, event log and owner."""
