"""A wire to Postgres that can be cut at the worst moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from psycopg.conninfo import conninfo_to_dict


class Wire:
    """Passes bytes on between clients and the server."""

    def __init__(self, url: str) -> None:
        options = conninfo_to_dict(url)
        self._host, self._port = options.get("host", "localhost"), int(options.get("port", 5432))
        self._login = f"{options['user']}:{options.get('password', '')}"
        self._database = options["dbname"]
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._cut_at: bytes | None = None
        self._answers = True
        self._flows = asyncio.Event()
        self._flows.set()
        self.cuts = 0

    @property
    def url(self) -> str:
        """Where clients connect."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"postgresql://{self._login}@127.0.0.1:{port}/{self._database}"

    def cut(self, at: bytes, *, after: bool) -> None:
        """Cut the connection over which these bytes come next, before or after they are obeyed."""
        self._cut_at, self._answers = at, after

    def freeze(self) -> None:
        """Be silent: connections stay, and new ones are accepted, but nothing passes."""
        self._flows = asyncio.Event()

    def thaw(self) -> None:
        """Pass on what comes from now on. What was stuck stays so."""
        self._flows = asyncio.Event()
        self._flows.set()

    async def open(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)

    async def close(self) -> None:
        """Be gone: connections are cut, and no new ones are accepted."""
        assert self._server is not None
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if self._host.startswith("/"):
                path = f"{self._host}/.s.PGSQL.{self._port}"
                server = await asyncio.open_unix_connection(path)
            else:
                server = await asyncio.open_connection(self._host, self._port)
            try:
                await self._pass_on(reader, writer, *server)
            finally:
                server[1].close()
        except asyncio.CancelledError:
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _pass_on(
        self,
        from_client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        from_server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        async def answers() -> None:
            while data := await from_server.read(65536):
                await self._flows.wait()
                to_client.write(data)
            to_client.close()

        answering = asyncio.ensure_future(answers())
        try:
            while data := await from_client.read(65536):
                await self._flows.wait()
                if self._cut_at is not None and self._cut_at in data:
                    self._cut_at = None
                    self.cuts += 1
                    answering.cancel()
                    await asyncio.wait([answering])
                    if self._answers:
                        to_server.write(data)
                        await from_server.read(65536)  # it was obeyed, but nobody is told
                    return
                to_server.write(data)
        except ConnectionError:
            pass
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await answering


@asynccontextmanager
async def wire_to(url: str) -> AsyncIterator[Wire]:
    """Open a wire to the database of a URL."""
    wire = Wire(url)
    await wire.open()
    try:
        yield wire
    finally:
        await wire.close()
