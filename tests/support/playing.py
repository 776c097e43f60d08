"""Sessions of `app.play` without a terminal: lines go in, and what is said is kept.

async def work(table):
    await table.write("e4")
    assert table.said[-1].startswith("Black plays")

playing(work, tmp_path, black="random")
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.catalogue import Catalogue
from agents.player import Player
from app.matches.saves import Saves
from app.matches.settings import MatchSettings, PlayerSettings
from app.play.session import Manners, Session
from app.play.shelf import Shelf
from engine import Color, Move, Position
from tests.support.processes import run

ADDRESS = "http://127.0.0.1:8000"
QUIET = Manners(asks=False)


@dataclass
class Heard:
    """A screen that keeps what it is shown."""

    said: list[str] = field(default_factory=list)
    boards: list[tuple[Position, Move | None, Color]] = field(default_factory=list)
    refreshed: int = 0

    def say(self, *lines: str) -> None:
        """Keep lines."""
        self.said += lines

    def draw(self, position: Position, last_move: Move | None, perspective: Color) -> None:
        """Keep a board."""
        self.boards.append((position, last_move, perspective))

    def refresh(self) -> None:
        """Count it."""
        self.refreshed += 1


@dataclass
class Table:
    """A session, and what it has shown."""

    session: Session
    screen: Heard

    @property
    def said(self) -> list[str]:
        """All that was said, the oldest first."""
        return self.screen.said

    @property
    def match(self) -> Any:
        """The match that is played."""
        return self.session.sitting.match

    @property
    def played(self) -> list[str]:
        """The moves of the game."""
        return [ply.before.san(ply.move) for ply in self.match.game.plies]

    async def write(self, *lines: str) -> list[str]:
        """Write lines, each when it is somebody's turn; return what was said to the last."""
        before = 0
        for line in lines:
            before = len(self.said)
            await self.session.obey(line)
            await self.session.sitting.settled()
        return self.said[before:]


def told(table: Table, beginning: str) -> str:
    """Return what was said that begins so, the last first."""
    return next(line for line in reversed(table.said) if line.startswith(beginning))


def playing(
    work: Callable[[Table], Awaitable[None]],
    folder: Path,
    *,
    white: str = "human",
    black: str = "human",
    manners: Manners = QUIET,
    players: Mapping[str, Callable[[int | None], Player]] | None = None,
    catalogue: Callable[[], Catalogue] | None = None,
    begins: bool = True,
    **settings: Any,
) -> Table:
    """Have some work done in a session that has begun a game, and return what there was."""
    heard: list[Table] = []

    async def main() -> None:
        make = catalogue or (lambda: Catalogue(players=players))
        async with make() as used:
            screen = Heard()
            shelf = Shelf(Saves(database_in(folder)), ADDRESS)
            wanted = MatchSettings(PlayerSettings(white), PlayerSettings(black), **settings)
            table = Table(Session(used, screen, shelf, wanted, manners), screen)
            heard.append(table)
            async with table.session:
                if begins:
                    await table.session.begin()
                    await table.session.sitting.settled()
                await work(table)

    run(main())
    return heard[0]


def database_in(folder: Path) -> str:
    """Return the address of a database in a folder."""
    return f"sqlite:///{folder / 'kibitz.db'}"
