"""Child service: `kibitz serve` as a process of our own, which never outlives us."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.errors import AppError

#: What `kibitz serve` prints before its address once it is ready.
READY = "Kibitz serves "
#: In seconds: what a slow machine may need to start, and what the service may need to stop.
_START, _STOP = 60.0, 20.0
_PREFIX = "KIBITZ_"


class ServiceFailed(AppError):
    """The service did not start, or ended by itself."""


class ChildService:
    """The service on a free port of loopback, with the settings it comes with.

    All that it keeps is in a folder; what is configured on this machine does not matter.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        self._folder = folder
        self._port = port
        self._errors = folder / "errors.log"
        self._process: asyncio.subprocess.Process | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Start it, give its address, and stop it. Raises `ServiceFailed`."""
        try:
            yield await self._start()
        finally:
            await self._stop()

    async def ended(self) -> None:
        """Wait until it ends by itself, and raise `ServiceFailed`."""
        if self._process is not None:
            await self._process.wait()
        raise ServiceFailed(f"the service has ended: {self._last_words()}")

    def kill(self) -> None:
        """End it now if it still runs, without waiting: for when there was no time to stop it."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _start(self) -> str:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(_PREFIX)
        }
        environment[f"{_PREFIX}DATA_FOLDER"] = str(self._folder)
        serve = ("serve", "--host", "127.0.0.1", "--port", str(self._port))
        with self._errors.open("wb") as errors:
            self._process = await asyncio.create_subprocess_exec(
                # Not what happens to lie where we were started.
                *(sys.executable, "-P", "-m", "app.cli.processes.child_service"),
                *(*serve, "--log-level", "warning"),
                stdin=asyncio.subprocess.PIPE,  # it ends when this is closed: see below
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                cwd=self._folder,
                env=environment,
                start_new_session=True,  # Ctrl-C is for us, who stop it in order
            )
        output = self._process.stdout
        assert output is not None  # noqa: S101 - it is a pipe
        try:
            async with asyncio.timeout(_START):
                while line := (await output.readline()).decode():
                    if line.startswith(READY):
                        return line.removeprefix(READY).strip()
        except TimeoutError:
            raise ServiceFailed(f"the service was not ready after {_START:.0f} s") from None
        await self._process.wait()
        raise ServiceFailed(f"the service did not start: {self._last_words()}")

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(_STOP):
                await process.wait()
        except TimeoutError:
            self.kill()
            await process.wait()

    def _last_words(self) -> str:
        """Return the last line that it wrote to standard error, as it is."""
        lines = self._errors.read_text(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("kibitz: ") if lines else "it did not say why"


def main() -> None:
    """Run `kibitz`, until whoever started it has gone, in whatever way."""
    from app.cli import main as kibitz

    threading.Thread(target=_end_with_parent, daemon=True).start()
    kibitz()


def _end_with_parent() -> None:
    while os.read(0, 1):  # standard input is a pipe, whose other end the parent holds
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
