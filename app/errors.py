"""The root of the errors of this room. Each is one sentence for people, and never a traceback."""

from __future__ import annotations

from engine import RulesError


class AppError(Exception):
    """Something that a user or an operator can put right."""

    __reduce__ = RulesError.__reduce__  # for the same reason
