"""Serving any ASGI application over real HTTP on a free port of loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from tests.support.processes import HANGS_AFTER


@dataclass(frozen=True)
class Served:
    """An application that is being served."""

    host: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def client(self, **options: Any) -> httpx.Client:
        """Return a client of it, which is patient, and knows nothing of proxies."""
        # Without certificates, which take longer to read than most requests take.
        defaults: dict[str, Any] = {"timeout": HANGS_AFTER, "trust_env": False, "verify": False}
        return httpx.Client(base_url=self.url, **(defaults | options))

    def connect(self) -> socket.socket:
        """Return a connection, for what no decent client would send."""
        return socket.create_connection((self.host, self.port), timeout=HANGS_AFTER)

    def exchange(self, request: bytes) -> bytes:
        """Send bytes as they are, and return all that comes back until the end."""
        with self.connect() as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))


def listening() -> socket.socket:
    """Return a socket that listens on a free port, and sends what it is given at once.

    Of one that does not say that it speaks TCP asyncio does not know that either, and lets it wait
    with the body of each answer for 40 ms: until it was heard that the head has come.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


class _Server(uvicorn.Server):
    """Tells when it has started, or failed to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.settled.set()


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[Served]:
    """Serve an application in a thread, lifespan and all, and close it in the end."""
    listener = listening()
    defaults: dict[str, Any] = {
        "log_config": None,
        "access_log": False,
        "lifespan": "on",
        "ws": "none",
        "loop": "asyncio",
        "proxy_headers": False,
        "timeout_graceful_shutdown": 5,
    }
    server = _Server(uvicorn.Config(app, **(defaults | options)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert server.settled.wait(HANGS_AFTER)
        assert server.started, "the application failed to start"
        yield Served(*listener.getsockname())
    finally:
        server.should_exit = True
        thread.join(HANGS_AFTER)
        listener.close()
        assert not thread.is_alive()
