"""Remote service: asking a service of Kibitz over HTTP, and saying in a sentence why it fails."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from app.cli.boards.talk import printable
from app.errors import AppError
from engine.errors import shown as quoted

if TYPE_CHECKING:
    import httpx

TOKEN_VARIABLE = "KIBITZ_TOKEN"  # noqa: S105 - the name of it
#: In seconds.
_PATIENCE = 30.0
_CONNECT = 10.0
#: The largest answer that is read: a page of 200 matches has a few hundred KB.
_MOST_BYTES = 16 * 1024 * 1024
_MOST_WORDS = 300
#: As the service itself has it.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{8,200}")
_LARGEST_TOKEN_FILE = 4096
_LOOPBACK = re.compile(r"https?://(?:localhost|127\.[0-9.]+|\[::1\])(?::|/|$)")


class ServiceFailed(AppError):
    """The service cannot be reached, or does not answer as one of Kibitz."""


class ServiceRefused(AppError):
    """The service answers that it does not give what was asked for."""


class NotThere(ServiceRefused):
    """The service has no such thing."""


class UnusableToken(AppError):
    """A token that cannot be read, or that no service would take. It is never printed."""


@dataclass(frozen=True)
class Token:
    """What a service knows us by, and where it is from. It is never printed."""

    secret: str = field(repr=False)
    source: str
    #: The address of the service that it is for; whichever is asked, if that is not said.
    service: str = ""

    @classmethod
    def find(
        cls,
        file: Path | None,
        service: str = "",
        environment: Mapping[str, str] = os.environ,
    ) -> Self | None:
        """Return the token of a file, or else of the environment, if there is one.

        That of the environment is for the service that is named beside it, and not for any whose
        address somebody pastes. Raises `UnusableToken`.
        """
        if file is not None:
            return cls(_checked(_read(file), str(file)), str(file))
        secret = environment.get(TOKEN_VARIABLE, "").strip()
        return cls(_checked(secret, TOKEN_VARIABLE), TOKEN_VARIABLE, service) if secret else None

    def is_for(self, address: str) -> bool:
        """Return whether it may be shown at an address."""
        return not self.service or origin(address) == origin(self.service)


class RemoteService:
    """A service at an address, and what it is asked."""

    def __init__(self, address: str, client: httpx.AsyncClient, token: Token | None) -> None:
        self.address = address
        self.client = client
        self._token = token

    @classmethod
    @asynccontextmanager
    async def open(cls, address: str, token: Token | None = None) -> AsyncIterator[Self]:
        """Have it for a while."""
        import httpx

        shown = token if token is not None and token.is_for(address) else None
        async with httpx.AsyncClient(
            # With a slash, so that what is asked for is below it.
            base_url=f"{address}/",
            headers={} if shown is None else {"Authorization": f"Bearer {shown.secret}"},
            timeout=httpx.Timeout(_PATIENCE, connect=_CONNECT),
            follow_redirects=True,  # it takes the token along to the same origin only
            # Never through a proxy to this machine, whatever the environment says.
            trust_env=not _LOOPBACK.match(address),
            verify=httpx.create_ssl_context() if address.startswith("https:") else True,
        ) as client:
            yield cls(address, client, token)

    async def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """Return what the service answers. Raises `ServiceFailed` or `ServiceRefused`."""
        import httpx

        from app.cli.remote.connection_faults import why

        try:
            async with self.client.stream("GET", path, params=query) as response:
                if not response.is_success:
                    raise await self.refusal(response)
                body = await _body(response)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise ServiceFailed(f"{self.address} cannot be reached: {why(error)}") from None
        answer = _decoded(body)
        if answer is None:
            raise self.is_another()
        return answer

    def is_another(self) -> ServiceFailed:
        """Return the error for an answer that no service of Kibitz would give."""
        return ServiceFailed(f"what answers at {self.address} is no service of Kibitz")

    async def refusal(self, response: httpx.Response) -> AppError:
        """Return the error for a response that is none of success."""
        status, problem = response.status_code, _decoded(await _body(response))
        if status == 401:
            return ServiceRefused(self._wants_token())
        # Of Kibitz, all of them have a type and a detail.
        if problem is None or not isinstance(problem.get("type"), str):
            if status < 500:
                return self.is_another()
            return ServiceFailed(f"{self.address} answers {status}")
        detail = printable(str(problem.get("detail") or problem.get("title")))[:_MOST_WORDS]
        if status == 404:
            return NotThere(detail)
        kind = ServiceRefused if status < 500 and status != 429 else ServiceFailed
        return kind(f"{self.address} refuses: {detail}")

    def _wants_token(self) -> str:
        if self._token is None:
            return f"{self.address} wants a token: set {TOKEN_VARIABLE}, or name a --token-file"
        source = self._token.source
        if not self._token.is_for(self.address):
            own = self._token.service
            return (
                f"{self.address} wants a token, and that of {source} is for {own}: name a "
                "--token-file"
            )
        return f"{self.address} does not know the token of {source}"


def origin(address: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address, alike for all ways to write them."""
    from httpx import URL

    url = URL(address)
    return url.scheme, url.host, url.port


async def _body(response: httpx.Response) -> bytes:
    """Return the body of a response, as far as anybody wants to read it, and wait for it."""
    import httpx

    pieces, size = [], 0
    try:
        async with asyncio.timeout(_PATIENCE):  # it may come byte by byte
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > _MOST_BYTES:
                    break
    except TimeoutError:
        raise httpx.ReadTimeout("it does not come to an end") from None
    return b"".join(pieces)


def _decoded(body: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_LARGEST_TOKEN_FILE + 1).decode("ascii").strip()
    except UnicodeDecodeError:
        return ""  # no token is like that
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise UnusableToken(f"the token file {quoted(str(file))} cannot be read: {why}") from None


def _checked(secret: str, source: str) -> str:
    if not _TOKEN.fullmatch(secret):
        rule = "8 to 200 letters, digits or any of ._~+/=-"
        raise UnusableToken(f"there is no token in {source}: one has {rule}, and no others")
    return secret
