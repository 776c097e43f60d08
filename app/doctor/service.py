"""Check of the service: whether it runs, or could, at the address of the settings."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from app.doctor.examination import in_thread
from app.doctor.findings import Finding, failure, fine, note, warning

if TYPE_CHECKING:
    from app.settings import Settings

SUBJECT = "Service"
ADVICE = "set `host` and `port` in the settings to where it may listen"
_MOST_BYTES = 64_000
_ELSEWHERE = "choose another port, as in `kibitz serve --port 8001`, or set `port`"
_START = "kibitz serve"


@dataclass(frozen=True)
class _Answer:
    status: int
    body: Mapping[str, Any]


async def look_at_service(settings: Settings, patience: timedelta) -> Sequence[Finding]:
    """Say whether we, or somebody else, listen where the settings say. Raises `OpenToAll`."""
    from app.http.security import check_binding

    check_binding(settings, settings.host)
    if not settings.port:
        return [note(SUBJECT, "it takes any port that is free, so nobody knows where it runs")]
    import httpx

    url = f"http://{_reached(settings.host)}:{settings.port}"
    figures = {"url": url}
    try:
        answer = await _ask(f"{url}/readyz", patience)
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return [await in_thread(lambda: _not_running(settings, url))]
    except (httpx.TimeoutException, TimeoutError):
        case = f"something listens at {url} and says nothing"
        return [warning(SUBJECT, case, f"end it, or {_ELSEWHERE}", **figures)]
    except httpx.HTTPError:
        answer = None  # it speaks something else
    match answer:
        case _Answer(200, {"status": "ready"}):
            return [fine(SUBJECT, f"it runs at {url}, and is ready", running=True, **figures)]
        case _Answer(_, {"type": "/problems/not-ready", "failed": [*failed]}):
            which = ", ".join(map(str, failed))
            case = f"it runs at {url}, and cannot use: {which}"
            advice = "see what is wrong with that above, and what its log says"
            return [warning(SUBJECT, case, advice, running=True, **figures)]
        case _Answer(_, {"type": str(kind)}) if kind.startswith("/problems/"):
            case = f"it runs at {url}, and does not say whether it is ready"
            return [note(SUBJECT, case, running=True, **figures)]
    return [warning(SUBJECT, f"another program listens at {url}", _ELSEWHERE, **figures)]


async def _ask(url: str, patience: timedelta) -> _Answer | None:
    """Return the answer, as far as it is JSON; raises what httpx does, or `TimeoutError`."""
    import httpx

    body = b""
    seconds = patience.total_seconds()
    async with (
        asyncio.timeout(seconds),  # of all; the client's own is for each piece of it
        httpx.AsyncClient(timeout=seconds, trust_env=False) as client,
        client.stream("GET", url) as response,
    ):
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > _MOST_BYTES:
                return None
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return _Answer(response.status_code, told) if isinstance(told, dict) else None


def _not_running(settings: Settings, url: str) -> Finding:
    """Say that nobody answers, and whether we could."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        case = f"it cannot listen on {where}: {error.strerror}"
        advice = f"{_ELSEWHERE}; or set `host` to an address of this machine"
        return failure(SUBJECT, case, advice, url=url, running=False)
    case = f"it does not run; {url} is free for it"
    return note(SUBJECT, case, _START, url=url, running=False)


def _reached(host: str) -> str:
    """Return how we reach whoever listens on an address, as it is in a URL."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return str(address) if address.version == 4 else f"[{address}]"
