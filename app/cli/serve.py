"""`kibitz serve`: the service, until somebody stops it."""

from __future__ import annotations

import asyncio
import math
import os
import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.completion.values import complete_log_level
from app.cli.db import Url
from app.errors import AppError
from app.garbage import postpone, settle

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.services import Services
    from app.settings import Settings

EXAMPLES = (
    "Examples: [bold]kibitz serve[/bold] | "
    "[bold]kibitz serve --port 9000 --database postgresql://kibitz@localhost/kibitz[/bold] | "
    "[bold]KIBITZ_API_TOKENS=read:...,write:... kibitz serve --host 0.0.0.0[/bold]"
)

#: In seconds: how long requests may take to end once the service is told to stop.
_FAREWELL = 3.0
#: How many connections the kernel may keep until we come to them.
_BACKLOG = 128
#: How many files and sockets there must be room for besides connections, at least: the database,
#: engines, and connections on their way in and out.
_RESERVE = 64
#: What counts as the limit of files where there is none.
_UNBOUNDED = 1 << 20


class CannotListen(AppError):
    """The address is taken, or not ours."""


def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; 0 is any that is free.")
    ] = None,
    database: Url = None,
    log_level: Annotated[
        str | None,
        typer.Option(
            help="debug, info, warning, error or critical.", autocompletion=complete_log_level
        ),
    ] = None,
) -> None:
    """Serve matches over HTTP until stopped.

    What is not over then can be resumed by the next start. Without options, what kibitz.toml and
    the environment say holds: 127.0.0.1, port 8000, and a file of SQLite in your data folder.
    """
    postpone()
    from app.settings import load_settings

    given = {"host": host, "port": port, "database": database, "log_level": log_level}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    from app.http.security import check_binding

    check_binding(settings, settings.host)
    listener = _listen(settings)
    try:
        _run(settings, listener)
    finally:
        listener.close()


def _listen(settings: Settings) -> socket.socket:
    """Return a socket that listens; raises `CannotListen`."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        raise CannotListen(f"cannot listen on {where}: {error.strerror}") from None
    return listener


def _run(settings: Settings, listener: socket.socket) -> None:
    from app.http.requests import RequestIds
    from app.logs import configure

    secrets = (token.secret.get_secret_value() for token in settings.api_tokens)
    configure(settings.log_level, secrets=secrets, filters=(RequestIds(),))
    asyncio.run(_serve(settings, listener))


async def _serve(settings: Settings, listener: socket.socket) -> None:
    from app.services import open_services

    async with open_services(settings) as services:
        from app.main import make_application  # while Stockfish starts

        await _answer(make_application(services), services, listener)


async def _answer(app: FastAPI, services: Services, listener: socket.socket) -> None:
    """Answer requests until a signal comes; then let those in hand end."""
    import uvicorn

    from app.http.protocol import BoundedProtocol

    files = _raise_file_limit()
    reserve = max(files // 5, _RESERVE)

    class Protocol(BoundedProtocol):
        most_connections = max(files - reserve, 1)

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # Its own way ends the process at once when it has answered the last request, and
            # nothing else would be closed.
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self.handle_exit, number, None)
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            listener.listen(_BACKLOG)
            typer.echo(f"Kibitz serves {_address(listener)}")
            settle()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await services.stop_playing()  # nobody loses on time while nobody can move
            await services.feed.aclose()  # or it would wait for those who watch
            asyncio.get_running_loop().call_later(_FAREWELL, self.break_off)
            await super().shutdown(sockets)

        def break_off(self) -> None:
            """End what is still there. Requests without an answer are told why."""
            for connection in list(self.server_state.connections):
                if isinstance(connection, Protocol):
                    connection.break_off()
            for task in self.server_state.tasks:
                task.cancel()

    config = uvicorn.Config(
        app,
        loop="none",
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Who sends `X-Forwarded-For` is believed only where the operator says so.
        proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
        # Before it learns that there are too many, asyncio accepts so many at a time, up to four
        # times.
        backlog=min(reserve // 8, _BACKLOG),
        timeout_graceful_shutdown=math.ceil(_FAREWELL) + 2,
    )
    await Server(config).serve([listener])


def _raise_file_limit() -> int:
    """Have as many files and sockets as we may, and return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):  # as on macOS, where the kernel allows less
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return _UNBOUNDED if soft == resource.RLIM_INFINITY else soft


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
