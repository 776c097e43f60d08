"""Saves: games of this process that are kept under a name, where the service keeps its matches.

A save is a whole match, paused or over, with its log, its plies and its model calls, and a tag that
names it. So the service can open it, too: its page shows it, and whoever has the token of a seat
plays on there. To save again under the same name adds what has happened since; under another name,
it is another match from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from uuid_utils.compat import uuid7

from agents.models.budget import Account, Spending
from app.errors import AppError
from app.matches.errors import CannotDo, MatchError
from app.matches.events import Event, EventType
from app.matches.match import Match, MatchStatus
from app.matches.private import PrivateMatch
from app.matches.seat_tokens import digest_of, new_token
from app.matches.storing import new_record, read_match
from app.persistence import batch, ledger
from app.persistence import plies as ply_table
from app.persistence.address import Address
from app.persistence.database import Database
from app.persistence.errors import LostOwnership
from app.persistence.events import events_of, take_turn
from app.persistence.matches import insert_match, list_tagged, reseat, untag
from app.persistence.records import Change, EventRecord, LedgerTotals, MatchRecord
from engine import Color

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from agents.catalogue import Catalogue

#: How the tag of a save begins; its name follows.
TAG = "save:"
#: Of a name; the tag is as long as a tag may be.
MAX_NAME = 50 - len(TAG)
#: Who started a match that was played in a terminal.
CLIENT = "terminal"
_NEWEST = 1000
_ALL = 2**31 - 1
#: What comes of data that are not what was written.
_MISREADINGS = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, AppError,
)  # fmt: skip
_KEEPABLE = (MatchStatus.PAUSED, MatchStatus.ENDED, MatchStatus.ABORTED)


@dataclass(eq=False)
class InvalidName(MatchError):
    """A name that no save can have."""

    why: str

    def __str__(self) -> str:
        return f"a save cannot be called that: {self.why}"


@dataclass(eq=False)
class NameTaken(MatchError):
    """There is a save with that name, of another game or of a game that went on elsewhere."""

    name: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.name!r} is not free: {self.why}; choose another name,"
            f" or write `save {self.name}!` to put this game in its place"
        )


@dataclass(eq=False)
class NoSuchSave(MatchError):
    """There is no save with that name."""

    name: str
    nearest: str = ""

    def __str__(self) -> str:
        hint = f"; is it {self.nearest!r}?" if self.nearest else ""
        return f"nothing is saved as {self.name!r}{hint}"


@dataclass(eq=False)
class DamagedSave(MatchError):
    """A save whose log does not tell its game any more."""

    name: str

    def __str__(self) -> str:
        return f"{self.name!r} cannot be read: its log is damaged"


@dataclass(frozen=True, slots=True)
class Save:
    """A save, and its match as it stands in the database."""

    name: str
    record: MatchRecord


@dataclass(frozen=True, slots=True)
class Kept:
    """How far a game was written under a name, to be written on from there."""

    name: str
    match_id: str
    epoch: int
    last_sequence: int
    #: The tokens that open the seats of people from now on.
    tokens: Mapping[Color, str] = field(default_factory=dict)


def check_name(text: str) -> str:
    """Return the name of a save, or raise `InvalidName`."""
    name = text.strip()
    if not name:
        raise InvalidName("a name is missing")
    if len(name) > MAX_NAME:
        raise InvalidName(f"a name has at most {MAX_NAME} letters")
    if not name.isprintable() or "/" in name:
        raise InvalidName("a name has letters, digits, spaces and signs, but no slash")
    if name.isdecimal():
        raise InvalidName("a number alone means a place in the list")
    return name


class Saves:
    """The saves of one database. It is opened for each of them, beside whoever serves it."""

    def __init__(self, url: str) -> None:
        """Raises `InvalidDatabaseUrl`."""
        Address.parse(url)
        self._url = url

    async def list(self) -> Sequence[Save]:
        """Return all saves, the one first that was played on last.

        Of several with the same name it is only the newest.
        """

        def query(connection: Connection) -> list[tuple[str, MatchRecord]]:
            return list_tagged(connection, TAG, _NEWEST)

        async with await Database.open(self._url, exclusive=False) as database:
            found = await database.read(query)
        return sorted(
            _by_name(found).values(), key=lambda save: save.record.updated_at, reverse=True
        )

    async def keep(
        self, name: str, private: PrivateMatch, before: Kept | None, *, replaces: bool = False
    ) -> Kept:
        """Store a game that is paused or over; `before` is how far it was stored under the name.

        What it `replaces` loses the name, and nobody's token opens it any more. Raises
        `InvalidName`, `NameTaken` unless it replaces what has the name, `CannotDo`, or what
        `Database.write` raises.
        """
        name = check_name(name)
        match = private.match
        if match.status not in _KEEPABLE:
            raise CannotDo("to save", f"the match is {match.status.value}")
        seats = [color for color in Color if match.settings.player(color).is_human]
        tokens = {color: new_token() for color in seats}
        hashes = [digest_of(tokens.get(color)) for color in Color]
        match_id = str(uuid7()) if before is None or replaces else before.match_id
        told = _copy(private, name, match_id)
        record, events, plies = new_record(
            told, client=CLIENT, white_token_hash=hashes[0], black_token_hash=hashes[1]
        )
        calls = private.ledger.records(match_id)

        def work(connection: Connection) -> None:
            take_turn(connection)  # or another might take the name at the same time
            holder = _by_name(list_tagged(connection, TAG, _NEWEST)).get(name)
            if replaces and holder is not None:
                _put_aside(connection, holder)
            elif not replaces:
                _refuse_if_taken(name, holder, before)
            if before is None or replaces:
                insert_match(connection, record, events)
                ply_table.append(connection, plies)
            else:
                new = events[before.last_sequence :]
                change = Change(
                    match_id=match_id,
                    epoch=before.epoch,
                    base_sequence=before.last_sequence,
                    status=record.status,
                    state=record.state,
                    fen=record.fen,
                    ply_count=record.ply_count,
                    winner=record.winner,
                    termination=record.termination,
                    result=record.result,
                    updated_at=record.updated_at,
                    owner=None,
                    events=new,
                    plies=plies,
                    keep_plies=0,
                )
                batch.store(connection, [change])
                reseat(connection, match_id, *hashes)
            for call in calls:  # one that another save has already stays there
                ledger.append(connection, call)

        async with await Database.open(self._url, exclusive=False) as database:
            try:
                await database.write(work)
            except LostOwnership:
                raise NameTaken(name, "the saved game was played on elsewhere") from None
        epoch = 0 if before is None or replaces else before.epoch
        return Kept(name, match_id, epoch, len(private.log), tokens)

    async def open(
        self,
        name: str,
        catalogue: Catalogue,
        *,
        told: Callable[[Event], None],
        say: Callable[[str, str], None],
        stumbled: Callable[[str], None] | None = None,
    ) -> tuple[PrivateMatch, Kept]:
        """Return the game that is saved under a name, to be played on.

        Raises `NoSuchSave`, `DamagedSave`, `CannotDo` if the service plays it just now, what
        `seat_player` raises, or what `Database.read` raises.
        """

        def query(connection: Connection) -> tuple[MatchRecord, list[EventRecord], LedgerTotals]:
            saves = _by_name(list_tagged(connection, TAG, _NEWEST))
            if name not in saves:
                raise NoSuchSave(name, nearest(name, saves))
            record = saves[name].record
            return (
                record,
                events_of(connection, record.id, 0, _ALL),
                ledger.ledger_of(connection, record.id),
            )

        async with await Database.open(self._url, exclusive=False) as database:
            record, stored, totals = await database.read(query)
        if record.status not in _KEEPABLE:
            raise CannotDo(f"to load {name!r}", "the service is playing this game just now")
        match, log = _read(name, record, stored)
        account = Account(match.budget)
        tokens = totals.prompt_tokens + totals.completion_tokens
        account.spend(Spending(totals.cost_usd, tokens, totals.calls))
        private = PrivateMatch(
            match,
            catalogue,
            log=log,
            account=account,
            told=told,
            say=say,
            stumbled=stumbled,
        )
        return private, Kept(name, record.id, record.epoch, record.last_sequence)


def _read(
    name: str, record: MatchRecord, stored: list[EventRecord]
) -> tuple[Match, Sequence[Event]]:
    """Return a match as its log tells it, and the log; raises `DamagedSave`."""
    try:
        log = [Event.decode(each.data) for each in stored]
        match = read_match(record, stored) if _is_whole(record, stored, log) else None
    except _MISREADINGS:
        match = None
    # What is told in the end has to be what was stored.
    if match is None or match.game.position.fen() != record.fen or match.status != record.status:
        raise DamagedSave(name)
    return match, log


def _is_whole(record: MatchRecord, stored: Sequence[EventRecord], log: Sequence[Event]) -> bool:
    """Return whether nothing of a log is missing, and every event is what it was stored as."""
    known = [(record.id, number) for number in range(1, record.last_sequence + 1)]
    is_as_stored = all(
        (event.sequence, event.type) == (each.sequence, each.type)
        for event, each in zip(log, stored, strict=True)
    )
    is_begun = bool(log) and log[0].type is EventType.CREATED
    return is_begun and is_as_stored and [(each.match_id, each.sequence) for each in log] == known


def _copy(private: PrivateMatch, name: str, match_id: str) -> Match:
    """Return the match under an id and a name of its own, with all of it still to be stored."""
    settings = private.match.settings
    tags = [tag for tag in settings.tags if not tag.startswith(TAG)]
    settings = replace(settings, tags=(*tags, f"{TAG}{name}"))
    events = [replace(event, match_id=match_id) for event in private.log]
    first = events[0]
    fields = {**first.fields, "settings": settings.to_json()}
    return Match.retell(settings, [replace(first, fields=fields), *events[1:]])


def _refuse_if_taken(name: str, holder: Save | None, before: Kept | None) -> None:
    """Raise `NameTaken` unless a name still means what was stored under it before, if it was."""
    if before is None and holder is not None:
        record = holder.record
        raise NameTaken(name, f"{record.white} - {record.black} is saved as that")
    if before is not None and (holder is None or holder.record.id != before.match_id):
        raise NameTaken(name, "another game has taken the name since")


def _put_aside(connection: Connection, save: Save) -> None:
    """Take the name off a save, and close its seats, unless the service plays it just now."""
    untag(connection, save.record.id, f"{TAG}{save.name}")
    if save.record.status == MatchStatus.PAUSED:
        reseat(connection, save.record.id, None, None)


def _by_name(found: Sequence[tuple[str, MatchRecord]]) -> dict[str, Save]:
    saves: dict[str, Save] = {}
    for tag, record in found:  # the newest first
        name = tag.removeprefix(TAG)
        saves.setdefault(name, Save(name, record))
    return saves


def nearest(name: str, saves: Iterable[str]) -> str:
    """Return the name that is most like one that no save has, or nothing."""
    return next(iter(get_close_matches(name, list(saves), 1)), "")
