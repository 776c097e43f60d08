"""Secrecy: what a server says, without the secrets that it was told. A server knows the key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: What stands where a secret was.
HIDDEN = "***"


def without(secrets: Sequence[str], text: str) -> str:
    """Return a text with secrets taken out; give the longest first, if one is part of another."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


class Overheard:
    """Passes words on as they come, but no secret, in however many pieces it comes.

    What may be the beginning of one waits for what follows.
    """

    def __init__(self, secrets: Sequence[str], heard: Callable[[str], None]) -> None:
        self._secrets = secrets
        self._heard = heard
        self._held = ""
        self._has_begun = False

    def feed(self, words: str) -> None:
        """Take the next words; if there are none at first, that something comes is passed on."""
        if not words:
            if not self._has_begun:
                self._has_begun = True
                self._heard("")
            return
        self._has_begun = True
        text = without(self._secrets, self._held + words)
        held = max((_begun(secret, text) for secret in self._secrets), default=0)
        self._held = text[len(text) - held :]
        if said := text[: len(text) - held]:
            self._heard(said)

    def end(self) -> None:
        """Pass on what was held back: nothing follows, so it was no secret."""
        said, self._held = self._held, ""
        if said:
            self._heard(said)


def _begun(secret: str, text: str) -> int:
    """Return how many of the last characters of a text begin a secret."""
    start = text.find(secret[0], max(0, len(text) - len(secret) + 1))
    while start >= 0:
        if secret.startswith(text[start:]):
            return len(text) - start
        start = text.find(secret[0], start + 1)
    return 0
