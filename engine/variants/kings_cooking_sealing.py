"""What saved games of King's Cooking are sealed with: digests, strict JSON, bytes for a link."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import zlib
from contextlib import suppress
from typing import TypeAlias

from engine.errors import InvalidSavedGame, SavedGameFault

#: In bytes, and in characters, which are as many in a token.
MAX_JSON, MAX_TOKEN = 1_000_000, 64_000
#: In bytes, of what a token holds: a few of its own may stand for gigabytes.
MAX_CONTENT = 256_000

Secret: TypeAlias = str | bytes | None

#: Digits and sign; enough for any time there is.
_MAX_DIGITS = 21


# --- checksums ---


def digest(content: bytes, secret: Secret) -> bytes:
    """Return the digest of some content, keyed if there is a secret; an empty one is refused."""
    if secret is None:
        return hashlib.sha256(content).digest()
    # Any text will do; an error about its letters would tell the secret.
    key = secret.encode("utf-8", "surrogatepass") if isinstance(secret, str) else secret
    if not key:
        raise ValueError("a secret cannot be empty: anybody could sign with it")
    return hmac.digest(key, content, "sha256")


def verify(content: bytes, given: bytes, *, is_keyed: bool, secret: Secret) -> None:
    """Refuse content that does not fit its digest, or is not signed as it should be."""
    expected = digest(content, secret)  # first of all: it refuses an empty secret
    if is_keyed and secret is None:
        raise InvalidSavedGame(SavedGameFault.NO_KEY)
    if secret is not None and not is_keyed:
        raise InvalidSavedGame(SavedGameFault.UNSIGNED)
    # A token has room for half a digest; its reader has made sure that it is there.
    if not hmac.compare_digest(given, expected[: len(given)]):
        fault = SavedGameFault.WRONG_SIGNATURE if is_keyed else SavedGameFault.WRONG_CHECKSUM
        raise InvalidSavedGame(fault)


# --- JSON ---


def dumped(value: object, *, sort_keys: bool = False) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


def canonical(value: object) -> bytes:
    """Return the one way to write a value: what is hashed, and what tells true from 1."""
    try:
        return dumped(value, sort_keys=True).encode()
    except UnicodeEncodeError:
        raise InvalidSavedGame(SavedGameFault.NOT_UTF8) from None
    except RecursionError:
        raise InvalidSavedGame(SavedGameFault.NOT_JSON) from None


def parsed(text: str | bytes) -> object:
    """Read JSON that has no number but small integers, and no key twice."""
    if not isinstance(text, str | bytes):
        raise InvalidSavedGame(SavedGameFault.NOT_JSON)
    if len(text) > MAX_JSON or len(raw := _utf8(text)) > MAX_JSON:
        raise InvalidSavedGame(SavedGameFault.TOO_LARGE)
    try:
        return json.loads(
            raw.decode(),
            object_pairs_hook=_object,
            parse_int=_small_integer,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except UnicodeDecodeError:
        raise InvalidSavedGame(SavedGameFault.NOT_UTF8) from None
    except (ValueError, RecursionError):
        raise InvalidSavedGame(SavedGameFault.NOT_JSON) from None


def _utf8(text: str | bytes) -> bytes:
    try:
        return text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        raise InvalidSavedGame(SavedGameFault.NOT_UTF8) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is there twice")
    return fields


def _small_integer(digits: str) -> int:
    return int(digits) if len(digits) <= _MAX_DIGITS else _no_number(digits)


def _no_number(text: str) -> int:
    raise ValueError("no field holds such a number")


# --- bytes of a token ---


def encoded(raw: bytes) -> str:
    """Return bytes as base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(token: str) -> bytes:
    """Return the bytes of a token, written in the one way there is."""
    if not isinstance(token, str):
        raise InvalidSavedGame(SavedGameFault.NOT_ENCODED)
    if len(token) > MAX_TOKEN:
        raise InvalidSavedGame(SavedGameFault.TOO_LARGE)
    with suppress(ValueError):
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        # Python skips what is not base64 and drops bits at the end: another token, the same bytes.
        if encoded(raw) == token:
            return raw
    raise InvalidSavedGame(SavedGameFault.NOT_ENCODED)


def deflated(content: bytes) -> bytes:
    """Return content in fewer bytes, if it can be had."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflate.compress(content) + deflate.flush()


def inflated(body: bytes) -> bytes:
    """Return what `deflated` was given."""
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflate.decompress(body, MAX_CONTENT + 1)
    except zlib.error:
        raise InvalidSavedGame(SavedGameFault.NOT_ENCODED) from None
    if len(content) > MAX_CONTENT:
        raise InvalidSavedGame(SavedGameFault.TOO_LARGE)
    if not inflate.eof or inflate.unused_data:
        raise InvalidSavedGame(SavedGameFault.NOT_ENCODED)
    return content
