"""MatchService: everything that can be done with matches, for whoever speaks HTTP or anything."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from uuid_utils.compat import uuid7

from agents.catalogue import Catalogue
from agents.timekeeping import now
from app.matches.commands import Command, Resume
from app.matches.errors import (
    CannotDo,
    KeyReused,
    MatchError,
    MatchNotFound,
    TooManyMatches,
    WrongSeatToken,
)
from app.matches.events import dumps, timestamp
from app.matches.match import UNFINISHED, Match
from app.matches.runner import Runner
from app.matches.seat_tokens import digest_of, new_token
from app.matches.seating import check_budget, check_settings
from app.matches.settings import MatchSettings
from app.matches.storing import new_record, read_match, settings_of
from app.persistence import plies as ply_table
from app.persistence.database import Database
from app.persistence.errors import LostEvaluation, StorageRefused
from app.persistence.events import events_of, last_position
from app.persistence.ledger import calls_of, ledger_of
from app.persistence.matches import (
    MatchFilter,
    find_by_key,
    find_match,
    insert_match,
    list_matches,
    unfinished_of,
)
from app.persistence.records import (
    EventRecord,
    LedgerTotals,
    MatchRecord,
    ModelCallRecord,
    PlyRecord,
)
from engine import Color, Move, Position

_ALL = 2**31 - 1
#: How many matches are told of to those who watch all of them.
_OVERVIEW = 200


@dataclass(frozen=True)
class Created:
    """A match that was started, and the secrets of its human seats, shown this once."""

    record: MatchRecord
    tokens: dict[Color, str]
    #: Whether the same request had started it before.
    is_repeated: bool = False


@dataclass(frozen=True)
class Snapshot:
    """Where a match stood at a sequence number, or all matches at a position."""

    sequence: int
    is_over: bool
    data: str


class MatchService:
    """Starts, finds and commands matches."""

    def __init__(
        self,
        database: Database,
        runner: Runner,
        catalogue: Catalogue,
        announce: Callable[[], None],
        *,
        matches_per_client: int,
    ) -> None:
        """After each start `announce` is called, since nothing else tells of its first event."""
        self._database = database
        self._runner = runner
        self._catalogue = catalogue
        self._announce = announce
        self._matches_per_client = matches_per_client

    # --- starting ---

    async def create(
        self,
        settings: MatchSettings,
        *,
        client: str,
        idempotency_key: str | None = None,
        request_digest: str | None = None,
        evaluation_id: str | None = None,
        also: Callable[[Connection, MatchRecord], None] | None = None,
    ) -> Created:
        """Start a match, or find the one that the same request started before.

        `also` writes more in the transaction that stores the match, such as its place in an
        evaluation; what it raises keeps the match from being started. Raises `UnplayableSettings`,
        `KeyReused`, `TooManyMatches`, or what `Catalogue.seat` raises.
        """
        if idempotency_key is not None:
            found = await self._find_by_key(client, idempotency_key, request_digest)
            if found is not None:
                return found
        check_settings(settings, self._catalogue)
        settings = settings.with_start()
        match = Match.create(str(uuid7()), settings, now())
        tokens = {color: new_token() for color in Color if settings.player(color).is_human}
        # With room for it, it is ours from the start; else it waits for whoever has.
        is_ours = self._runner.reserve(settings)
        record, events, plies = new_record(
            match,
            client=client,
            owner=self._runner.worker if is_ours else None,
            epoch=1 if is_ours else 0,
            evaluation_id=evaluation_id,
            idempotency_key=idempotency_key,
            request_digest=request_digest,
            white_token_hash=digest_of(tokens.get(Color.WHITE)),
            black_token_hash=digest_of(tokens.get(Color.BLACK)),
        )

        def insert(connection: Connection) -> None:
            if unfinished_of(connection, client) >= self._matches_per_client:
                raise TooManyMatches(self._matches_per_client)
            insert_match(connection, record, events)
            ply_table.append(connection, plies)
            if also is not None:
                also(connection, record)

        try:
            await self._database.write(insert)
        except BaseException as error:
            if is_ours:
                is_refused = isinstance(error, StorageRefused | LostEvaluation | MatchError)
                self._runner.release(match, may_be_stored=not is_refused)
            if isinstance(error, StorageRefused) and idempotency_key is not None:
                # The same request came twice at the same time.
                found = await self._find_by_key(client, idempotency_key, request_digest)
                if found is not None:
                    return found
            raise
        self._announce()
        if is_ours:
            self._runner.begin(match, 1)
        else:
            self._runner.wake()
        return Created(record, tokens)

    async def _find_by_key(self, client: str, key: str, digest: str | None) -> Created | None:
        record = await self._database.read(lambda connection: find_by_key(connection, client, key))
        if record is None:
            return None
        if record.request_digest != digest:
            raise KeyReused
        return Created(record, {}, is_repeated=True)

    # --- finding ---

    @property
    def has_room(self) -> bool:
        """Whether one more match may be run in this process."""
        return self._runner.has_room

    async def find(self, match_id: str) -> MatchRecord:
        """Return a match by its id, or raise `MatchNotFound`."""
        record = await self._database.read(lambda connection: find_match(connection, match_id))
        if record is None:
            raise MatchNotFound(match_id)
        return record

    async def find_with_ledger(self, match_id: str) -> tuple[MatchRecord, LedgerTotals]:
        """Return a match and what its model calls cost, or raise `MatchNotFound`."""

        def query(connection: Connection) -> tuple[MatchRecord | None, LedgerTotals]:
            return find_match(connection, match_id), ledger_of(connection, match_id)

        record, ledger = await self._database.read(query)
        if record is None:
            raise MatchNotFound(match_id)
        return record, ledger

    async def list(
        self, wanted: MatchFilter, before: str | None, limit: int
    ) -> Sequence[MatchRecord]:
        """Return matches, the newest first, from before an id on."""
        return await self._database.read(
            lambda connection: list_matches(connection, wanted, before, limit)
        )

    async def plies(
        self, match_id: str, after: int = 0, limit: int | None = None
    ) -> tuple[MatchRecord, Sequence[PlyRecord]]:
        """Return a match and its plies that follow a number, or raise `MatchNotFound`."""

        def query(connection: Connection) -> tuple[MatchRecord | None, Sequence[PlyRecord]]:
            found = ply_table.plies_of(connection, match_id, after, limit)
            return find_match(connection, match_id), found

        record, plies = await self._database.read(query)
        if record is None:
            raise MatchNotFound(match_id)
        return record, plies

    async def calls(
        self, match_id: str, after: str = "", limit: int = 1000
    ) -> Sequence[ModelCallRecord]:
        """Return the model calls of a match that follow an id, or raise `MatchNotFound`."""

        def query(connection: Connection) -> Sequence[ModelCallRecord] | None:
            found = calls_of(connection, match_id, after, limit)
            return found if found or find_match(connection, match_id) is not None else None

        calls = await self._database.read(query)
        if calls is None:
            raise MatchNotFound(match_id)
        return calls

    async def ply(self, match_id: str, number: int) -> tuple[MatchRecord, PlyRecord | None]:
        """Return a match and its ply of that number, if it has one, or raise `MatchNotFound`."""

        def query(connection: Connection) -> tuple[MatchRecord | None, PlyRecord | None]:
            ply = ply_table.ply_of(connection, match_id, number)
            return find_match(connection, match_id), ply

        record, ply = await self._database.read(query)
        if record is None:
            raise MatchNotFound(match_id)
        return record, ply

    async def load(self, match_id: str) -> Match:
        """Return a match as its log tells it, or raise `MatchNotFound`."""

        def query(connection: Connection) -> tuple[MatchRecord | None, list[EventRecord]]:
            return find_match(connection, match_id), events_of(connection, match_id, 0, _ALL)

        record, events = await self._database.read(query)
        if record is None:
            raise MatchNotFound(match_id)
        return await asyncio.to_thread(read_match, record, events)

    async def snapshot(self, match_id: str) -> Snapshot:
        """Return where a match stands, for those who begin to watch, or raise `MatchNotFound`."""
        record = await self.find(match_id)
        return Snapshot(
            record.last_sequence, record.status not in UNFINISHED, dumps(state_of(record))
        )

    async def overview(self) -> Snapshot:
        """Return the unfinished matches, the newest first, for those who watch all of them."""

        def query(connection: Connection) -> tuple[int, list[MatchRecord]]:
            position = last_position(connection)
            found: list[MatchRecord] = []
            for status in UNFINISHED:
                wanted = MatchFilter(status=status.value)
                found += list_matches(connection, wanted, None, _OVERVIEW)
            return position, found

        position, found = await self._database.read(query)
        found.sort(key=lambda record: record.id, reverse=True)
        shown = [state_of(record, with_moves=False) for record in found[:_OVERVIEW]]
        return Snapshot(position, False, dumps({"matches": shown}))

    # --- commanding ---

    async def color_of(self, match_id: str, token: str) -> Color:
        """Return the seat that a token opens; raises `MatchNotFound` or `WrongSeatToken`."""
        record = await self.find(match_id)
        given = digest_of(token) or ""
        found = None
        for color, stored in (
            (Color.WHITE, record.white_token_hash),
            (Color.BLACK, record.black_token_hash),
        ):
            # Both are compared, and whole, so that the time tells nothing.
            if hmac.compare_digest(given, stored or "") and stored is not None:
                found = color
        if found is None:
            raise WrongSeatToken
        return found

    async def command(
        self, match_id: str, command: Command, *, for_evaluation: bool = False
    ) -> MatchRecord:
        """Have a command performed and return the match as it stands then.

        A match of an evaluation has another budget only for its evaluation. Raises `MatchNotFound`,
        `MatchIsOver`, what the command raises, or `UnplayableSettings` for a new budget that nobody
        could keep.
        """
        if isinstance(command, Resume) and command.budget is not None:
            record = await self.find(match_id)
            if record.evaluation_id is not None and not for_evaluation:
                raise CannotDo("another budget", "the match has its budget from its evaluation")
            check_budget(settings_of(record), command.budget, self._catalogue)
        await self._runner.command(match_id, command)
        return await self.find(match_id)


def state_of(record: MatchRecord, *, with_moves: bool = True) -> dict[str, Any]:
    """Return a match as everybody may see it: what was asked for, and where it stands."""
    settings, state = json.loads(record.settings), json.loads(record.state)
    shown: dict[str, Any] = {
        "id": record.id,
        "status": record.status,
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
        "sequence": record.last_sequence,
        **settings,
        "fen": record.fen,
        "ply_count": record.ply_count,
        "result": record.result,
        "evaluation_id": record.evaluation_id,
        **state,
    }
    if with_moves:
        moves: list[dict[str, str]] = []
        if record.status in UNFINISHED:
            position = Position.from_fen(record.fen, record.variant)
            moves = [
                {"uci": move.uci(), "san": position.san(move)}
                for move in sorted(position.legal_moves(), key=Move.uci)
            ]
        shown["legal_moves"] = moves
    return shown
