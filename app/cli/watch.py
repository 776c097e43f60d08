"""`kibitz watch`: a match of the service, live: its board, its clocks, and what is said."""

from __future__ import annotations

import json
import math
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.completion.values import complete_match_id
from app.cli.processes.running import run
from app.errors import AppError

if TYPE_CHECKING:
    from app.cli.remote.match_address import MatchAddress
    from app.cli.remote.matches import RemoteMatch
    from app.cli.remote.service import Token
    from app.cli.remote.watching import Wish

EXAMPLES = (
    "Examples: [bold]kibitz watch[/bold] | "
    "[bold]kibitz watch 01980a4e[/bold] | "
    "[bold]kibitz watch http://localhost:8000/matches/01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10[/bold]"
    " | [bold]kibitz watch 01980a4e --json | jq .san[/bold]"
)

SERVER_VARIABLE = "KIBITZ_SERVER"
#: There is no list of so many matches that its numbers were longer.
_LONGEST_NUMBER = 3
#: How long a move stays in a replay at speed 1, and how fast it may be.
_EACH_MOVE = timedelta(seconds=1)
_LEAST_SPEED, _MOST_SPEED = 0.01, 1000.0


class CannotWatch(AppError):
    """What was asked for contradicts itself."""


def watch(
    match: Annotated[
        str,
        typer.Argument(
            help="The id of a match, its beginning, or a URL of it; a list to choose from, if not "
            "given.",
            autocompletion=complete_match_id,
            show_default=False,
        ),
    ] = "",
    server: Annotated[
        str | None,
        typer.Option(
            envvar=SERVER_VARIABLE,
            help="Where the service is, unless a URL says so; on this machine, if not given.",
            metavar="URL",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with a token that may read; instead of the variable KIBITZ_TOKEN.",
            metavar="FILE",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every event as it is sent, as a line of JSON.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Show where the match stands, and stop.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Play it from its first move, one move a second.")
    ] = False,
    speed: Annotated[
        float | None, typer.Option(help="With --replay: how many moves a second.")
    ] = None,
    flip: Annotated[bool, typer.Option("--flip", help="Let Black be below.")] = False,
    wants_ascii: Annotated[
        bool, typer.Option("--ascii", help="Draw with nothing but ASCII.")
    ] = False,
    give_up: Annotated[
        float | None,
        typer.Option(
            help="For how many seconds to try again when the connection is lost; for ever, if not "
            "given.",
            metavar="SECONDS",
        ),
    ] = None,
) -> None:
    """Watch a match of the service, and what specialists say.

    On a terminal it is a live board, on which f flips it and q leaves; elsewhere a line for
    everything that happens. A lost connection is resumed without a gap, also when the service is
    started again. It ends with the match; Ctrl-C ends it before, with exit code 130. The exit code
    is 1 if the service fails, 2 if it refuses.
    """
    from app.cli.remote.watching import Wish

    pace, patience = _pace(replay=replay, speed=speed), _patience(give_up)
    wish = Wish(as_json, once, pace, flip, wants_ascii, patience)
    if once and replay:
        raise CannotWatch("--once shows where a match stands, and --replay how it came about")
    if as_json and replay:
        raise CannotWatch("--json prints every event at once, so there is nothing to --replay")
    address, token = _wanted(match, server, token_file)
    try:
        if address.match:
            run(_watch(address, token, wish))
            return
        matches = run(_list(address, token, wish))
        if chosen := _chosen(matches) if _can_choose() and not as_json else "":
            run(_watch(type(address)(address.service, chosen), token, wish))
    except _failures() as error:
        typer.echo(f"kibitz: {error}", err=True)
        raise typer.Exit(1) from None


def _failures() -> tuple[type[AppError], ...]:
    """Return what is no mistake of the user's."""
    from app.cli.boards.scene import UnreadableEvent
    from app.cli.remote.event_stream import StreamBroken
    from app.cli.remote.service import ServiceFailed

    return StreamBroken, ServiceFailed, UnreadableEvent


# --- what is wanted ---


def _pace(*, replay: bool, speed: float | None) -> timedelta | None:
    if speed is None:
        return _EACH_MOVE if replay else None
    if not replay:
        raise CannotWatch("--speed is for a --replay")
    if not _LEAST_SPEED <= speed <= _MOST_SPEED:  # false for what is no number, too
        raise CannotWatch(f"a --speed is from {_LEAST_SPEED:g} to {_MOST_SPEED:g}")
    return _EACH_MOVE / speed


def _patience(seconds: float | None) -> timedelta | None:
    if seconds is None or seconds == math.inf:
        return None
    if not 0 <= seconds <= timedelta(days=365).total_seconds():
        raise CannotWatch("--give-up is a number of seconds, from 0 to those of a year")
    return timedelta(seconds=seconds)


def _wanted(
    match: str, server: str | None, token_file: Path | None
) -> tuple[MatchAddress, Token | None]:
    """Return which match is meant, and the token for its service."""
    from app.cli.remote.match_address import MatchAddress, service_address
    from app.cli.remote.service import Token

    own = service_address(server) if server else _own_address(match)
    address = MatchAddress.parse(match, own) if match else MatchAddress(own)
    return address, Token.find(token_file, own if server else "")


def _own_address(match: str) -> str:
    """Return where the service of this machine is; nothing, if that is not needed."""
    if "/" in match:
        return ""
    from app.cli.remote.match_address import own_address
    from app.settings import load_settings

    settings = load_settings()
    if not settings.port:
        raise CannotWatch(
            f"the settings let the service choose its port: say where it is by --server or "
            f"{SERVER_VARIABLE}"
        )
    return own_address(settings.host, settings.port)


# --- choosing ---


async def _list(address: MatchAddress, token: Token | None, wish: Wish) -> list[RemoteMatch]:
    """Print the matches that are not over, and return them."""
    from app.cli.remote.matches import live_matches, read_matches, told_matches
    from app.cli.remote.service import RemoteService

    async with RemoteService.open(address.service, token) as service:
        answers = await live_matches(service)
        matches = read_matches(service, answers)
    if wish.as_json:
        typer.echo(json.dumps({"matches": answers}))
        return matches
    if not matches:
        typer.echo(f"No match is being played at {address.service}.")
    for line in told_matches(matches, short=sys.stdout.isatty()):
        typer.echo(line)
    return matches


def _can_choose() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _chosen(matches: list[RemoteMatch]) -> str:
    """Ask for one of them, and return its id; nothing, if nobody wants to see any."""
    while matches:
        try:
            answer = input("Which one? (Enter for the first, q for none) ").strip()
        except EOFError:
            typer.echo()
            return ""
        if answer.lower() in ("q", "quit", "none"):
            return ""
        if not answer:
            return matches[0].id
        if (
            answer.isdecimal()
            and len(answer) <= _LONGEST_NUMBER
            and 1 <= int(answer) <= len(matches)
        ):
            return matches[int(answer) - 1].id
        begun = [each.id for each in matches if each.id.startswith(answer.lower())]
        if len(begun) == 1 and len(answer) > _LONGEST_NUMBER:
            return begun[0]
        typer.echo(f"Type a number from 1 to {len(matches)}.")
    return ""


# --- watching ---


async def _watch(address: MatchAddress, token: Token | None, wish: Wish) -> None:
    from app.cli.remote.matches import find_match
    from app.cli.remote.service import RemoteService
    from app.cli.remote.watching import Watching

    async with RemoteService.open(address.service, token) as service:
        watching = Watching(service, await find_match(service, address), wish)
        if wish.as_json:
            await watching.print_events()
        elif wish.once:
            await watching.draw_once()
        else:
            await watching.show()
