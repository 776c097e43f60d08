"""Whoever can fill a seat. Knows the rules (`engine`), but nothing of HTTP or databases."""

from agents.team.reply import read_reply

__all__ = ["read_reply"]
