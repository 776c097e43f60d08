"""Seat tokens: what opens a human seat. Only a digest of each is stored."""

from __future__ import annotations

import hashlib
import secrets


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)


def digest_of(token: str | None) -> str | None:
    """Return what is stored of a token; None, if there is none."""
    return None if token is None else hashlib.sha256(token.encode()).hexdigest()
