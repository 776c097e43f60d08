"""Importing: games of PGN files are read one after the other, and stored many at a time.

Nothing is kept in memory but the game in hand and those that are stored next, however large a file
is. A game that is there already is not stored again: it is known by the digest of its content.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Self

from agents.timekeeping import now
from app.errors import AppError
from app.matches.imported import CLIENT, import_game, key_of
from app.persistence.database import Database
from app.persistence.matches import keys_of
from app.persistence.records import WholeMatch
from app.persistence.whole_matches import store
from engine import Game, InvalidPgn, RulesError, read_games

#: How many bytes a game may have: none has as many, but what is no PGN may.
LONGEST_GAME = 4 * 2**20
#: How many plies a game may have: the rules let none go on for as long.
MOST_PLIES = 20_000
#: How many plies are stored at a time: a service beside us waits for that long.
_PLIES = 4_000
_GAMES = 200

#: How files begin that are no text, and what they are.
_BEGINNINGS = {
    b"\x1f\x8b": "compressed (gzip)",
    b"\x28\xb5\x2f\xfd": "compressed (zstd)",
    b"BZh": "compressed (bzip2)",
    b"\xfd7zXZ\x00": "compressed (xz)",
    b"PK\x03\x04": "a ZIP archive",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
    b"SQLite format 3\x00": "a database",
}


@dataclass(eq=False)
class NotPgn(AppError):
    """A file that cannot be read as PGN, or not to its end."""

    why: str

    def __str__(self) -> str:
        return self.why


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A game of a file, counted from 1, that could not be read."""

    number: int
    reason: str
    #: None if it is the game as a whole.
    line: int | None = None

    def __str__(self) -> str:
        where = "" if self.line is None else f", line {self.line}"
        return f"game {self.number}{where}: {self.reason}"


class PgnSource:
    """The games of one file, with how far it has been read."""

    def __init__(self, file: BinaryIO, on_error: Callable[[Unreadable], None]) -> None:
        """Games that cannot be read are handed to `on_error`."""
        self._file = file
        self._on_error = on_error
        #: In bytes; and how much of that was read when the last game was complete.
        self.read = 0
        self._complete = 0
        #: How many games were found, readable or not.
        self.games = 0

    def __iter__(self) -> Iterator[Game]:
        """Yield every game that can be read.

        Raises `NotPgn` for what is none and for a game without an end, or OSError.
        """
        for game in read_games(self._lines(), on_error=self._fail):
            self._take_note()
            if len(game.line) > MOST_PLIES:
                self.refuse(self.games, f"it has over {MOST_PLIES:,} plies")
            else:
                yield game

    def refuse(self, number: int, reason: object) -> None:
        """Say that a game is none for us."""
        self._on_error(Unreadable(number, str(reason)))

    def _fail(self, error: InvalidPgn) -> None:
        self._take_note()
        self._on_error(Unreadable(self.games, error.reason, error.line))

    def _take_note(self) -> None:
        self.games += 1
        self._complete = self.read

    def _lines(self) -> Iterator[bytes]:
        while line := self._file.readline(LONGEST_GAME + 1):
            if not self.read:
                _refuse_other_files(line)
            self.read += len(line)
            if self.read - self._complete > LONGEST_GAME:
                raise NotPgn(
                    f"game {self.games + 1} has over {LONGEST_GAME >> 20} MiB, as if it never"
                    " ended; what follows was not read"
                )
            yield line


def _refuse_other_files(beginning: bytes) -> None:
    for signature, what in _BEGINNINGS.items():
        if beginning.startswith(signature):
            raise NotPgn(f"it is {what}, and no plain PGN")


@dataclass
class Tally:
    """What has become of the games."""

    imported: int = 0
    there: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A game that is to be stored, as it is written, and whom to tell why it is not."""

    game: Game
    pgn: str
    key: str
    refuse: Callable[[RulesError], None]


@dataclass
class Importer:
    """Takes games, and stores them as matches with tags; what waits is stored when it is enough."""

    tags: Sequence[str] = ()
    tally: Tally = field(default_factory=Tally)
    _waiting: list[_Waiting] = field(default_factory=list)
    _plies: int = 0

    def add(self, game: Game, refuse: Callable[[RulesError], None]) -> None:
        """Let a game wait to be stored; one that cannot be imported is refused then."""
        pgn = game.pgn()
        self._waiting.append(_Waiting(game, pgn, key_of(pgn), refuse))
        self._plies += len(game.line)

    @property
    def has_enough(self) -> bool:
        """Whether what waits should be stored now."""
        return self._plies >= _PLIES or len(self._waiting) >= _GAMES

    async def store(self, database: Database) -> None:
        """Store what waits, all of it or nothing. Raises what `Database.write` raises."""
        new = await self._new(database)
        stored = 0
        if new:
            stored = await database.write(lambda connection: store(connection, CLIENT, new))
        self._count(new, stored)

    async def compare(self, database: Database | None, known: KnownKeys) -> None:
        """Count what would be stored, if there were a database, and store nothing."""
        new = await self._new(database)
        self._count(new, sum(known.add(str(each.record.idempotency_key)) for each in new))

    async def _new(self, database: Database | None) -> Sequence[WholeMatch]:
        """Return matches of the games that wait and are not there yet, which takes a while."""
        waiting, self._waiting, self._plies = self._waiting, [], 0
        there: frozenset[str] = frozenset()
        if database is not None and waiting:
            keys = [each.key for each in waiting]
            there = await database.read(lambda connection: keys_of(connection, CLIENT, keys))
        matches = []
        for each in waiting:
            if each.key in there:
                self.tally.there += 1
                continue
            try:
                matches.append(import_game(each.game, now(), self.tags, pgn=each.pgn))
            except RulesError as error:
                each.refuse(error)
        return matches

    def _count(self, new: Sequence[WholeMatch], stored: int) -> None:
        self.tally.imported += stored
        self.tally.there += len(new) - stored


class KnownKeys:
    """The keys of games that were met before; a great many of them go to the disk."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("")  # a file without a name, which is gone at the end
        self._connection.execute("CREATE TABLE keys (key TEXT PRIMARY KEY) WITHOUT ROWID")

    def add(self, key: str) -> bool:
        """Note a key, and return whether it is new."""
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("INSERT INTO keys VALUES (?) ON CONFLICT DO NOTHING", (key,))
            return cursor.rowcount == 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection.close()
