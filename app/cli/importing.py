"""`kibitz import`: games of PGN files become matches of the service."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from app.cli.complaints import complain
from app.cli.db import Url
from app.cli.files.game_files import STANDARD_INPUT, CannotReadGames
from app.cli.processes.signals import Interrupted, Signals
from app.cli.progress import progress_bar
from engine.errors import shown

if TYPE_CHECKING:
    from app.matches.importing import Importer, KnownKeys, PgnSource, Tally
    from app.persistence.database import Database

EXAMPLES = (
    "Examples: [bold]kibitz import games.pgn[/bold] | "
    "[bold]kibitz import club/*.pgn --tag club --tag 2025[/bold] | "
    "[bold]zstd -dc lichess.pgn.zst | kibitz import -[/bold] | "
    "[bold]kibitz import games.pgn --dry-run[/bold]"
)

_MOST_TAGS = 19  # a match has up to twenty, and one is ours


def import_games(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="PGN files; - is standard input.", allow_dash=True),
    ],
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Give the matches this tag, besides `imported`; may be repeated."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and compare everything, and store nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    database: Url = None,
) -> None:
    """Import games from PGN files.

    They keep their tags, comments, glyphs, variations, clocks and evaluations. Each becomes a match
    that is over, which the service shows at once, also while it runs. Its players are called
    pgn:NAME, and it has the tag `imported`. A game that is there already is not stored twice. Files
    may be of any size.

    A game that cannot be read is left out, with a sentence on standard error; the exit code is then
    1. Ctrl-C keeps what was imported, and what is imported again goes on from there.
    """
    from app.cli.evaluations.archive import settings_with
    from app.logs import configure
    from app.matches.importing import Importer, KnownKeys

    importer = Importer(_checked(tag or ()))
    for file in files:
        _require_readable(file)
    url = settings_with(database).database_url
    configure("error")
    with asyncio.Runner() as runner, _opened(runner, url, dry_run) as opened, KnownKeys() as known:
        with Signals() as signals:
            work = _Import(runner, opened, importer, known if dry_run else None, signals)
            try:
                work.run(files)
            finally:
                _tell(importer.tally, dry_run, as_json)
        if (code := signals.exit_code) is not None:
            complain("it was interrupted; import the same again, and it goes on from here")
            raise typer.Exit(code)
    if work.has_failed or importer.tally.unreadable:
        raise typer.Exit(1)


class _Import:
    """Reads one file after the other, and stores what is in them."""

    def __init__(
        self,
        runner: asyncio.Runner,
        database: Database | None,
        importer: Importer,
        known: KnownKeys | None,
        signals: Signals,
    ) -> None:
        """With `known` keys all is only compared to what is there, if there is any database."""
        self.has_failed = False
        self._runner = runner
        self._database = database
        self._importer = importer
        self._known = known
        self._signals = signals

    def run(self, files: Iterable[Path]) -> None:
        """Import all files; what cannot be read or stored is said on standard error."""
        from app.persistence.errors import StorageError

        files = list(files)
        sizes = [_size_of(file) for file in files]
        total = None if None in sizes else sum(filter(None, sizes))
        try:
            with progress_bar() as bar:
                task = bar.add_task("0 games", total=total)
                before = 0

                def show(source: PgnSource) -> None:
                    games = f"{self._games:,} games"
                    bar.update(task, completed=before + source.read, description=games)

                try:
                    for file, size in zip(files, sizes, strict=True):
                        self._read(file, show)
                        before += size or 0
                except Interrupted:
                    pass
                self._store()
        except StorageError as error:
            self._fail(str(error))

    @property
    def _games(self) -> int:
        tally = self._importer.tally
        return tally.imported + tally.there + tally.unreadable

    def _read(self, file: Path, show: Callable[[PgnSource], None]) -> None:
        from app.matches.importing import NotPgn, PgnSource, Unreadable

        name = _name(file)

        def leave_out(game: Unreadable) -> None:
            self._importer.tally.unreadable += 1
            complain(f"{name}: {game}")

        try:
            with _reading(file) as stream:
                source = PgnSource(stream, leave_out)
                games = iter(source)
                while True:
                    with self._signals.allowed():
                        game = next(games, None)
                    if game is None:
                        break
                    self._importer.add(game, partial(source.refuse, source.games))
                    if self._importer.has_enough:
                        self._store()
                        show(source)
        except NotPgn as error:
            self._fail(f"{name}: {error}")
        except OSError as error:
            self._fail(f"{name} cannot be read: {error.strerror}")
        else:
            if not source.games:
                self._fail(f"{name} has no game")

    def _store(self) -> None:
        if self._known is not None:
            self._runner.run(self._importer.compare(self._database, self._known))
        elif self._database is not None:
            self._runner.run(self._importer.store(self._database))

    def _fail(self, sentence: str) -> None:
        self.has_failed = True
        complain(sentence)


# --- what is given ---


def _checked(tags: Iterable[str]) -> list[str]:
    from pydantic import TypeAdapter, ValidationError

    from app.matches import saves
    from app.matches.schemas import Tag

    tags = list(dict.fromkeys(tags))
    if len(tags) > _MOST_TAGS:
        raise typer.BadParameter(f"a match has at most {_MOST_TAGS} tags besides `imported`")
    for tag in tags:
        try:
            TypeAdapter(Tag).validate_python(tag)
        except ValidationError:
            raise typer.BadParameter(f"{shown(tag)} is no tag: it has 1 to 50 letters") from None
        if tag.startswith(saves.TAG):
            raise typer.BadParameter(f"{shown(tag)} is no tag: so those of saved games begin")
    return tags


def _require_readable(file: Path) -> None:
    """Raise `CannotReadGames` for what is not there, before anything is imported."""
    if str(file) == STANDARD_INPUT:
        if sys.stdin is None:
            raise CannotReadGames("standard input is closed")
        return
    try:
        is_folder = stat.S_ISDIR(file.stat().st_mode)
        if is_folder or not os.access(file, os.R_OK):
            raise OSError(0, "it is a folder" if is_folder else "Permission denied")
    except OSError as error:
        raise CannotReadGames(f"{_name(file)} cannot be read: {error.strerror}") from None


def _size_of(file: Path) -> int | None:
    """Return how long a file is, if that is known."""
    if str(file) == STANDARD_INPUT:
        return None
    status = file.stat()
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextmanager
def _reading(file: Path) -> Iterator[BinaryIO]:
    if str(file) == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with file.open("rb") as stream:
        yield stream


def _name(file: Path) -> str:
    return "standard input" if str(file) == STANDARD_INPUT else str(file)


@contextmanager
def _opened(runner: asyncio.Runner, url: str, is_dry: bool) -> Iterator[Database | None]:
    """Give the database; None where there is none, and none is to be made."""
    from app.persistence.address import Address
    from app.persistence.database import Database

    address = Address.parse(url)
    if is_dry and address.dialect == "sqlite" and not address.path.exists():
        yield None
        return
    database = runner.run(Database.open(url, exclusive=False))
    try:
        yield database
    finally:
        runner.run(database.aclose())


# --- what is told ---


def _tell(tally: Tally, is_dry: bool, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"dry_run": is_dry, **asdict(tally)}))
        return
    is_one = tally.there == 1
    told = [f"{tally.imported:,} {'would be imported' if is_dry else 'imported'}"]
    if tally.there:
        told.append(
            f"{tally.there:,} {'is' if is_one else 'are'} there already"
            if is_dry
            else f"{tally.there:,} {'was' if is_one else 'were'} there already"
        )
    if tally.unreadable:
        told.append(f"{tally.unreadable:,} {'cannot' if is_dry else 'could not'} be read")
    typer.echo(f"{', '.join(told)}.")
