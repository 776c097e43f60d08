"""`kibitz demo`: the whole service at work: it starts, plays a match, and shows it live."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.child_service import ChildService
from app.cli.running import run
from app.errors import AppError

if TYPE_CHECKING:
    import httpx

    from app.cli.live_board import Show

EXAMPLES = (
    "Examples: [bold]kibitz demo[/bold] | "
    "[bold]kibitz demo --white stockfish:3 --black stockfish:5[/bold] | "
    "[bold]kibitz demo --port 8000 --keep[/bold]"
)

_WHITE, _BLACK = "classical", "stockfish:5"
#: So that every match ends soon.
_MAX_PLIES = 400
_HUMAN = "human"
#: In seconds.
_PATIENCE = 30.0


class DemoFailed(AppError):
    """The demonstration could not go on."""


def demo(
    white: Annotated[str, typer.Option(help="Who plays White.")] = _WHITE,
    black: Annotated[str, typer.Option(help="Who plays Black.")] = _BLACK,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the service; 0 is any that is free.")
    ] = 0,
    keep: Annotated[
        bool, typer.Option("--keep", help="Let the service run on until Ctrl-C, to look at it.")
    ] = False,
) -> None:
    """Start the service, play a match over HTTP, and show it live; under two minutes.

    The service runs on this machine only, keeps all in a temporary folder, and stops at the end.
    It does not touch your own matches and settings.
    """
    for name in (white, black):
        if name == _HUMAN:
            raise DemoFailed("nobody moves for a human here: play in a match of `kibitz serve`")
    # What still uses its files when we are interrupted twice must not bother anybody.
    with tempfile.TemporaryDirectory(prefix="kibitz-", ignore_cleanup_errors=True) as folder:
        service = ChildService(Path(folder), port)
        try:
            run(_demonstrate(service, white, black, keep=keep))
        finally:
            service.kill()


async def _demonstrate(service: ChildService, white: str, black: str, *, keep: bool) -> None:
    import httpx

    typer.echo("Starting the service ...")
    async with service.running() as address:
        typer.echo(f"Kibitz serves {address}")
        # Never through a proxy, whatever the environment says: it is this machine.
        async with httpx.AsyncClient(
            base_url=address, timeout=_PATIENCE, trust_env=False
        ) as client:
            await _unless_ended(service, _play(client, white, black))
        if keep:
            typer.echo(f"\nThe service runs on at {address} until you press Ctrl-C.")
            await _unless_ended(service, _interrupted())


async def _unless_ended(service: ChildService, work: Coroutine[Any, Any, None]) -> None:
    """Do some work, but not for longer than the service lives."""
    task, ended = asyncio.ensure_future(work), asyncio.ensure_future(service.ended())
    try:
        await asyncio.wait((task, ended), return_when=asyncio.FIRST_COMPLETED)
        decisive = ended if ended.done() else task
    finally:
        for each in (task, ended):
            each.cancel()
        await asyncio.gather(task, ended, return_exceptions=True)
    decisive.result()


async def _play(client: httpx.AsyncClient, white: str, black: str) -> None:
    """Start a match, show it until its end, and print the result."""
    from app.cli.event_stream import watch
    from app.cli.live_board import Scene

    body = {"white": white, "black": black, "max_plies": _MAX_PLIES, "tags": ["demo"]}
    match = await _start(client, body)
    path = f"/api/matches/{match['id']}"
    page = f"{str(client.base_url).rstrip('/')}/matches/{match['id']}"
    scene = Scene(white, black)
    typer.echo(f"{white} (White) plays {black} (Black): {page}\n")
    pgn = ""
    with _show() as show:
        async for event in watch(client, f"{path}/events"):
            if event.type == "match.paused":
                raise DemoFailed(f"the match cannot go on: {event.data['reason']}")
            pgn = event.data.get("pgn", pgn)
            scene = scene.after(event)
            await show.show(scene, event)
    typer.echo(f"\n{scene.ending}\n\n{pgn}")


def _show() -> Show:
    """Return a board for a terminal, or lines for what is none."""
    from app.cli.live_board import Board, Lines

    if not sys.stdout.isatty():
        return Lines()
    from rich.console import Console

    console = Console(highlight=False)
    return Lines() if console.is_dumb_terminal else Board(console)


async def _start(client: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    """Start a match, or raise `DemoFailed` with the words of the service."""
    import httpx

    try:
        response = await client.post("/api/matches", json=body)
    except httpx.TransportError as error:
        raise DemoFailed(f"the service does not answer: {error or type(error).__name__}") from None
    answer: dict[str, Any] = response.json()
    if not response.is_success:
        raise DemoFailed(str(answer.get("detail", f"the service answers {response.status_code}")))
    return answer


async def _interrupted() -> None:
    """Wait for Ctrl-C, which is then the way to end, and no failure."""
    pressed = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        before = signal.getsignal(signal.SIGINT)
        loop.add_signal_handler(signal.SIGINT, pressed.set)
        stack.callback(signal.signal, signal.SIGINT, before)
        stack.callback(loop.remove_signal_handler, signal.SIGINT)
        await pressed.wait()
