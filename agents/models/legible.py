"""Legible: words as every database, socket and terminal takes them."""

from __future__ import annotations


def legible(words: str) -> str:
    """Return words without half characters and NUL, which not everybody takes."""
    if "\0" in words:
        words = words.replace("\0", "\ufffd")
    if words.isascii():
        return words
    try:
        words.encode()
    except UnicodeEncodeError:
        return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return words
