"""`kibitz demo`: the whole service at work: it starts, plays a match, and shows it live."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.completion.values import complete_player
from app.cli.processes.child_service import ChildService
from app.cli.processes.running import run
from app.errors import AppError

if TYPE_CHECKING:
    import httpx

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
    white: Annotated[
        str, typer.Option(help="Who plays White.", autocompletion=complete_player)
    ] = _WHITE,
    black: Annotated[
        str, typer.Option(help="Who plays Black.", autocompletion=complete_player)
    ] = _BLACK,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the service; 0 is any that is free.")
    ] = 0,
    keep: Annotated[
        bool, typer.Option("--keep", help="Let the service run on until Ctrl-C, to look at it.")
    ] = False,
) -> None:
    """Start the service, play a match over HTTP, and show it live.

    It takes less than two minutes. The service runs on this machine only, keeps all in a temporary
    folder, and stops at the end. It does not touch your own matches and settings.
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
    from app.cli.boards.live_board import live_show, pace
    from app.cli.boards.scene import Scene
    from app.cli.remote.event_stream import watch

    body = {"white": white, "black": black, "max_plies": _MAX_PLIES, "tags": ["demo"]}
    match = await _start(client, body)
    path = f"/api/matches/{match['id']}"
    page = f"{str(client.base_url).rstrip('/')}/matches/{match['id']}"
    scene = Scene()
    typer.echo(f"{white} (White) plays {black} (Black): {page}\n")
    pgn = ""
    async with live_show(pace=pace) as show:
        async for event in watch(client, f"{path}/events"):
            scene = scene.after(event.data)
            if scene.paused:
                raise DemoFailed(f"the match cannot go on: {scene.paused}")
            pgn = event.data.get("pgn", pgn)
            await show.show(scene, event.data)
    typer.echo(f"\n{pgn}")


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
