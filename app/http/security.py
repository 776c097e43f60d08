"""Who may do what: tokens with scopes, and what an open service refuses to browsers.

Without tokens the service is open, and so only meant for its own machine. A page in a browser on
that machine can reach it too: by a name of its own that it lets point to 127.0.0.1 (DNS rebinding),
or by sending a form across sites. `SiteGuard` refuses both.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from app.errors import AppError
from app.http.errors import Kind, Refusal
from app.settings import ApiToken, Scope, Settings
from engine.errors import shown

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as Connection

_UNAUTHENTICATED = Kind(401, "unauthenticated", "A token is needed")
_FORBIDDEN = Kind(403, "insufficient-scope", "The token does not allow this")
_WRONG_HOST = Kind(403, "wrong-host", "The service is not known by that name")
_CROSS_SITE = Kind(403, "cross-site", "Pages of other sites may not do this")
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
_REALM = 'Bearer realm="kibitz"'


@dataclass(eq=False)
class OpenToAll(AppError):
    """The service would listen where others reach it, and let them do everything."""

    host: str

    def __str__(self) -> str:
        return (
            f"on {shown(self.host)} others can reach the service: set KIBITZ_API_TOKENS, or "
            "KIBITZ_ALLOW_OPEN=true if all of them may do everything"
        )


def check_binding(settings: Settings, host: str) -> None:
    """Raise `OpenToAll` if nobody would be asked for a token on an address others can reach."""
    if not (settings.api_tokens or settings.allow_open or is_loopback(host)):
        raise OpenToAll(host)


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is of this machine only."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks. What is bounded per client is counted by its name."""

    name: str
    #: What it may do; None if it has no token where one is needed.
    scope: Scope | None
    #: Whether it showed a token, be it a known one or not.
    has_token: bool = False

    def require(self, scope: Scope) -> None:
        """Raise the `Refusal` of a client that may not do something."""
        if self.scope is None and self.has_token:
            headers = {"WWW-Authenticate": f'{_REALM}, error="invalid_token"'}
            raise Refusal(_UNAUTHENTICATED, "the token is not known here", headers=headers)
        if self.scope is None:
            detail = "this needs a token, as in `Authorization: Bearer TOKEN`"
            raise Refusal(_UNAUTHENTICATED, detail, headers={"WWW-Authenticate": _REALM})
        if scope is Scope.WRITE and self.scope is not Scope.WRITE:
            headers = {"WWW-Authenticate": f'{_REALM}, error="insufficient_scope", scope="{scope}"'}
            raise Refusal(_FORBIDDEN, "the token may only read", headers=headers)


class Access:
    """Tells clients apart. It keeps digests of the tokens, and never the tokens."""

    def __init__(self, tokens: Iterable[ApiToken]) -> None:
        self._known = tuple(
            (_digest(token.secret.get_secret_value()), token.scope) for token in tokens
        )

    @property
    def is_open(self) -> bool:
        """Whether everyone may do everything."""
        return not self._known

    def client(self, connection: Connection) -> Client:
        """Return who asks, by its token or else by its address."""
        if self.is_open:
            return Client(_address(connection), Scope.WRITE)
        shown_token = bearer(Headers(scope=connection))
        digest = _digest(shown_token or "")
        found: Scope | None = None
        for known, scope in self._known:  # all of them, so that the time tells nothing
            if hmac.compare_digest(known, digest):
                found = scope
        if shown_token is None or found is None:
            return Client(_address(connection), None, shown_token is not None)
        return Client(f"token:{hashlib.sha256(digest).hexdigest()[:12]}", found, True)


def bearer(headers: Headers) -> str | None:
    """Return the token of `Authorization: Bearer`, if there is exactly one."""
    values = headers.getlist("authorization")
    scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return token.strip() or None if scheme.lower() == "bearer" else None


class SiteGuard:
    """Middleware: refuses what only a page of another site would ask of an open service."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._names = frozenset(settings.allowed_hosts)
        self._is_open = not settings.api_tokens
        # Who opens it to a network, and names no hosts, is reached by names that nobody told us.
        is_public = settings.allow_open and not is_loopback(settings.host)
        self._checks_host = self._is_open and (bool(self._names) or not is_public)

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and self._is_open:
            try:
                self._check(scope["method"], Headers(scope=scope))
            except Refusal as refusal:
                await refusal.response()(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, method: str, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if self._checks_host and not (hosts and all(map(self._is_ours, hosts))):
            detail = "the Host header names none of the hosts in KIBITZ_ALLOWED_HOSTS or loopback"
            raise Refusal(_WRONG_HOST, detail)
        if method in _READING:
            return
        if headers.get("sec-fetch-site") == "cross-site":
            raise Refusal(_CROSS_SITE, "a page of another site may not do this")
        for origin in headers.getlist("origin"):
            authority = _authority(origin)
            if authority not in hosts and _name(authority) not in self._names:
                raise Refusal(_CROSS_SITE, f"a page of {shown(origin)} may not do this")

    def _is_ours(self, host: str) -> bool:
        name = _name(host)
        return is_loopback(name) or name in self._names


def _authority(origin: str) -> str:
    """Return the host and port of an origin; nothing, if it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _name(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[").lower()
    return host.partition(":")[0].lower()


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _address(connection: Connection) -> str:
    """Return the name of a client that is known by its address only."""
    peer = connection.get("client")
    try:
        address = ip_address(peer[0].partition("%")[0] if peer else "")
    except ValueError:
        return "local"  # such as a Unix socket
    if not isinstance(address, IPv6Address):
        return f"address:{address}"
    if address.ipv4_mapped:
        return f"address:{address.ipv4_mapped}"
    # Whoever has one address of IPv6 has at least 2^64 of them.
    return f"address:{ip_network((address, 64), strict=False)}"
