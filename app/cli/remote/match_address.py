"""Match address: which match, and at which service, somebody means by what they typed or pasted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import SplitResult, urlsplit

from app.errors import AppError
from engine.errors import shown

_ID = re.compile(r"[0-9a-f-]{1,36}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MATCHES = "matches"
_WHOLE_ID = 36
#: Where to reach what listens on all addresses.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nobody listens here


@dataclass(eq=False)
class NoSuchAddress(AppError):
    """A text that says neither which match nor where."""

    text: str
    reason: str

    def __str__(self) -> str:
        return f"{shown(self.text)} is no match and no address of one: {self.reason}"


@dataclass(eq=False)
class NoServiceAddress(NoSuchAddress):
    """A text that does not say where a service is."""

    def __str__(self) -> str:
        return f"{shown(self.text)} is no address of a service: {self.reason}"


@dataclass(frozen=True)
class MatchAddress:
    """The address of a service, and the id of a match or its beginning; empty, if none is named."""

    service: str
    match: str = ""

    @classmethod
    def parse(cls, text: str, service: str) -> Self:
        """Read an id, its beginning, or any URL of a match; ids are those of a service.

        Raises `NoSuchAddress`.
        """
        if not _SCHEME.match(text) and "/" not in text:
            return cls(service, _id(text, text))
        url = _split(text if _SCHEME.match(text) else f"http://{text}")
        before, found, after = f"{url.path}/".partition(f"/{_MATCHES}/")
        match = after.partition("/")[0] if found else ""
        base = before.removesuffix("/").removesuffix("/api").rstrip("/")
        return cls(f"{url.scheme}://{url.netloc}{base}", _id(match, text) if match else "")


def is_whole_id(match: str) -> bool:
    """Return whether a text is an id, and no mere beginning of one."""
    return len(match) == _WHOLE_ID and _ID.fullmatch(match) is not None


def service_address(text: str) -> str:
    """Return the address of a service without a slash at its end, or raise `NoServiceAddress`."""
    try:
        url = _split(text if _SCHEME.match(text) else f"http://{text}")
    except NoSuchAddress as error:
        raise NoServiceAddress(error.text, error.reason) from None
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/').removesuffix('/api')}"


def own_address(host: str, port: int) -> str:
    """Return where a service is reached on this machine that is set up like that."""
    host = _EVERYWHERE.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _split(text: str) -> SplitResult:
    if not text.isprintable() or " " in text:
        raise NoSuchAddress(text, "an address has no spaces")
    from httpx import URL, InvalidURL

    try:
        url = urlsplit(text)
        named, _ = url.hostname, url.port  # which raises if that is no number
        if url.scheme in ("http", "https"):
            _ = URL(text).host  # which raises for what is the name of no host
    except (ValueError, InvalidURL) as error:
        raise NoSuchAddress(text, str(error)) from None
    if url.scheme not in ("http", "https"):
        raise NoSuchAddress(text, "it should begin with http:// or https://")
    if not named:
        raise NoSuchAddress(text, "it names no host")
    if url.username is not None:
        # Whoever lists the processes of this machine sees it.
        raise NoSuchAddress(
            f"{url.scheme}://...@{named}", "a name or password does not belong into an address"
        )
    return url


def _id(match: str, text: str) -> str:
    match = match.lower()
    if not _ID.fullmatch(match):
        raise NoSuchAddress(text, "an id is of hexadecimal digits, as 01980a4e-6a8c-7d3e-...")
    return match
