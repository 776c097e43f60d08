"""Runner: takes matches that nobody runs, and gives each an owner of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from sqlalchemy import Connection

from agents.catalogue import Catalogue
from agents.errors import AgentError
from agents.player import Decision, Player, Turn
from agents.timekeeping import now
from agents.uci.analyser import Analyser
from app.errors import AppError
from app.matches.commands import Command, Pause
from app.matches.errors import MatchError, MatchIsOver, MatchNotFound
from app.matches.hearing import Say
from app.matches.ledger import MatchLedger
from app.matches.match import UNFINISHED, Match, MatchStatus, PauseCause
from app.matches.owner import Observer, Owner, OwnerGone, Writer
from app.matches.seating import seat_player, warm
from app.matches.settings import MatchSettings
from app.matches.storing import ending_of, read_match, turn_began_at
from app.persistence.database import Database
from app.persistence.errors import StorageUnavailable
from app.persistence.events import events_of
from app.persistence.matches import claim, claimable, find_match
from app.persistence.records import EventRecord, MatchRecord
from engine import Color, RulesError

_log = structlog.get_logger(__name__)

#: How often to look for matches whose owner has died, where nothing tells of it.
LOOK_EVERY = timedelta(seconds=2)
#: How often a match is taken up again that broke for no known reason.
_TRIES = 3
_ALL = 2**31 - 1


class Workers(Protocol):
    """Who runs matches on the same database."""

    @property
    def id(self) -> str:
        """Our own id."""

    def answered_at(self) -> datetime:
        """Return when the database last answered."""

    def charged_until(
        self, connection: Connection, worker: str | None, turn_at: datetime
    ) -> datetime | None:
        """Return until when the clock of a worker's match ran in a turn; None if it still does."""


class AbsentPlayer:
    """Fills the seat of a player that cannot be seated, so that its match can be commanded."""

    def __init__(self, name: str, error: AgentError) -> None:
        self.name = name
        self._error = error

    async def decide(self, turn: Turn) -> Decision:
        """Raise what kept the player from its seat."""
        raise self._error


class Runner:
    """Runs matches: at most `concurrent` at a time, besides those in which a human plays.

    `run` is a task of the service. Whoever commands a match that another process runs takes it over
    first: the other notices by its epoch, and stops.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        workers: Workers,
        catalogue: Catalogue,
        observer: Observer,
        *,
        concurrent: int,
        ledger: Callable[[Match], MatchLedger] | None = None,
        say: Callable[[str, dict[str, object]], None] | None = None,
        among: Sequence[str] | None = None,
    ) -> None:
        """`ledger` makes the ledger of a match; `say` passes on words of players in a match.

        With `among`, only matches of those evaluations are taken up, unless they are commanded.
        """
        self._among = among
        self._ledger = ledger
        self._say = say
        self._database = database
        self._writer = writer
        self._workers = workers
        self._catalogue = catalogue
        self._observer = observer
        self._concurrent = concurrent
        self._owners: dict[str, Owner] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._taking = asyncio.Lock()  # or two would take the same match
        self._occupied = 0
        self._broken: dict[str, int] = {}
        self._woken = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    # --- what it is doing ---

    @property
    def worker(self) -> str:
        """The id under which it owns matches."""
        return self._workers.id

    @property
    def running(self) -> int:
        """How many matches have an owner here."""
        return len(self._owners)

    def reserve(self, settings: MatchSettings) -> bool:
        """Return whether a new match can be run here at once; if so, `begin` or `release` it."""
        if self._group is None or not (settings.has_human or self.has_room):
            return False
        self._occupied += _room(settings)
        return True

    def release(self, match: Match, *, may_be_stored: bool) -> None:
        """Give back what was reserved for a match that did not come about, as far as is known."""
        self._occupied -= _room(match.settings)
        self.wake()
        if may_be_stored and self._group is not None:  # and then nobody else would run it
            self._group.create_task(self._look_after(match.id))

    async def _look_after(self, match_id: str) -> None:
        """Run a match, if it is there at all."""
        while True:
            try:
                await self._take(match_id, by_force=True)
            except MatchNotFound:
                return
            except StorageUnavailable:
                await asyncio.sleep(LOOK_EVERY.total_seconds())
            else:
                return

    @property
    def has_room(self) -> bool:
        """Whether one more match may be run here."""
        return self._occupied < self._concurrent

    @property
    def is_running(self) -> bool:
        """Whether matches are taken up."""
        return self._group is not None

    def wake(self) -> None:
        """Look for matches that nobody runs."""
        self._woken.set()

    # --- the task ---

    async def run(self) -> None:
        """Take up matches until cancelled; then every owner stops, and its match can be resumed."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                while True:
                    self._woken.clear()
                    try:
                        await self._take_up()
                    except StorageUnavailable as error:
                        _log.error("no matches can be taken up", error=str(error))
                        self._observer.storage_failed(error)
                    try:
                        async with asyncio.timeout(LOOK_EVERY.total_seconds()):
                            await self._woken.wait()
                    except TimeoutError:
                        pass
            finally:
                self._group = None
                for task in self._tasks.values():
                    task.cancel()

    async def _take_up(self) -> None:
        """Take matches that nobody runs, oldest first, as far as there is room."""
        worker, room, among = self._workers.id, self._concurrent - self._occupied, self._among

        def find(connection: Connection) -> tuple[list[str], list[str]]:
            found = claimable(connection, worker, room, among=among) if room > 0 else []
            return found, claimable(connection, worker, 100, humans=True, among=among)

        found, with_humans = await self._database.read(find)
        for match_id in found:
            if not self.has_room:
                break  # those that were created meanwhile have the room
            self._occupied += 1  # until it is counted with its owner
            try:
                await self._take_one_up(match_id)
            finally:
                self._occupied -= 1
        for match_id in with_humans:
            await self._take_one_up(match_id)

    async def _take_one_up(self, match_id: str) -> None:
        try:
            await self._drop_former(match_id)
            await self._take(match_id, by_force=False)
        except StorageUnavailable:
            raise
        except Exception:  # one that cannot be read must not keep others from being run
            _log.exception("match cannot be taken up", match_id=match_id)

    async def _drop_former(self, match_id: str) -> None:
        """Stop an owner here of a match that another process has taken, and left, since then."""
        owner = self._owners.get(match_id)
        if owner is not None and not await self._is_ours(match_id):
            await self._let_go(owner)

    async def _take(self, match_id: str, *, by_force: bool) -> Owner | None:
        """Become the owner of a match; None if it is over, or another's and not taken by force."""
        async with self._taking:
            return self._owners.get(match_id) or await self._claim(match_id, by_force=by_force)

    async def _claim(self, match_id: str, *, by_force: bool) -> Owner | None:
        workers = self._workers
        if self._group is None:
            return None

        def take(
            connection: Connection,
        ) -> tuple[MatchRecord, int, list[EventRecord], datetime | None] | None:
            record = find_match(connection, match_id)
            if record is None:
                raise MatchNotFound(match_id)
            began = turn_began_at(record)
            until = began and workers.charged_until(connection, record.owner, began)
            epoch = claim(connection, match_id, workers.id, by_force=by_force)
            if epoch is None:
                return None
            return record, epoch, events_of(connection, match_id, 0, _ALL), until

        taken = await self._database.write(take)
        if taken is None:
            return None
        record, epoch, events, until = taken
        match = await asyncio.to_thread(read_match, record, events)
        return self._own(match, epoch, match.elapsed(until or now()))

    # --- owners ---

    def begin(self, match: Match, epoch: int) -> None:
        """Run a match that was just created, that is ours, and for which room was reserved."""
        self._occupied -= _room(match.settings)  # it is counted with its owner
        self._own(match, epoch, timedelta(0))

    def _own(self, match: Match, epoch: int, spent: timedelta) -> Owner | None:
        if self._group is None:
            return None  # shutting down: who comes next takes it up
        owner = Owner(
            match,
            epoch,
            self._workers.id,
            players=self._seat(match.settings),
            writer=self._writer,
            observer=self._observer,
            analyser=self._analyser(match.settings),
            spent=spent,
            answered_at=self._workers.answered_at,
            ledger=None if self._ledger is None else self._ledger(match),
            say=self._say_in(match),
        )
        self._occupied += _room(match.settings)
        self._owners[match.id] = owner
        # In a context of its own: whoever asked for the match has nothing to do with its course.
        task = self._group.create_task(self._run_owner(owner), context=Context())
        self._tasks[match.id] = task
        return owner

    def _say_in(self, match: Match) -> Say:
        """Return what passes on words of the players of a match."""
        say = self._say

        def say_in(by: str, words: str) -> None:
            if say is not None:
                told = {"ply": len(match.game.line) + 1, "color": match.color.value}
                say(match.id, {**told, "by": by, "words": words})

        return say_in

    def _seat(self, settings: MatchSettings) -> dict[Color, Player]:
        players: dict[Color, Player] = {}
        for color in Color:
            if not settings.player(color).is_human:
                try:
                    players[color] = seat_player(self._catalogue, settings, color)
                except AgentError as error:  # such as an engine that was there once
                    players[color] = AbsentPlayer(settings.player(color).name, error)
        return players

    def _analyser(self, settings: MatchSettings) -> Analyser | None:
        if settings.analysis is None:
            return None
        try:
            return self._catalogue.analyser()
        except AgentError as error:
            _log.warning("no analysis", error=str(error))
            return None

    async def _run_owner(self, owner: Owner) -> None:
        match = owner.match
        log = _log.bind(match_id=match.id)
        broke = False
        try:
            await warm(self._catalogue, match.settings)
            await owner.run()
        except Exception:
            broke = True
            log.exception("match broke")
        finally:
            self._occupied -= _room(match.settings)
            del self._owners[match.id], self._tasks[match.id]
            self.wake()
        if broke and self._group is not None:
            self._group.create_task(self._mend(match.id))
            return
        self._broken.pop(match.id, None)
        if match.is_over:
            log.info("match over", status=match.status.value, how=match.ending)

    async def _mend(self, match_id: str) -> None:
        """Take up a match again that broke for no known reason, or else pause it."""
        await asyncio.sleep(LOOK_EVERY.total_seconds())
        self._broken[match_id] = self._broken.get(match_id, 0) + 1
        try:
            if self._broken[match_id] < _TRIES:
                await self._take(match_id, by_force=True)
            else:
                why = "it broke; the log of the service says why"
                await self.command(match_id, Pause(why, PauseCause.FAULT))
        except (AppError, AgentError) as error:
            _log.error("match cannot be mended", match_id=match_id, error=str(error))

    # --- commands ---

    async def command(self, match_id: str, command: Command) -> Match:
        """Have a command performed, wherever the match runs, and return the match.

        Raises `MatchNotFound`, `MatchIsOver`, what the command raises, or `StorageUnavailable`.
        """
        while True:
            owner = self._owners.get(match_id)
            if owner is None:
                # Who is refused anyway should not take a match from the process that runs it.
                await self._try(match_id, command)
                owner = await self._take(match_id, by_force=True)
            if owner is None:
                raise await self._refusal(match_id)
            try:
                return await owner.ask(command)
            except OwnerGone:
                await asyncio.sleep(0)  # its task is about to go, too
            except (MatchError, RulesError):
                # It may not know yet that another process has taken the match, and moved on.
                if await self._is_ours(match_id):
                    raise
                await self._let_go(owner)

    async def _try(self, match_id: str, command: Command) -> None:
        """Perform a command on a copy, and raise what keeps it from being performed."""
        record, events = await self._database.read(
            lambda connection: (
                find_match(connection, match_id),
                events_of(connection, match_id, 0, _ALL),
            )
        )
        if record is None:
            raise MatchNotFound(match_id)
        match = await asyncio.to_thread(read_match, record, events)
        if match.status is MatchStatus.CREATED and match.settings.has_human:
            match.start(now())  # as it will as soon as it has an owner
        command.perform(match, now())

    async def _is_ours(self, match_id: str) -> bool:
        record = await self._database.read(lambda connection: find_match(connection, match_id))
        return record is not None and record.owner == self._workers.id

    async def _let_go(self, owner: Owner) -> None:
        """Stop an owner whose match is another's."""
        match_id = owner.match.id
        if self._owners.get(match_id) is owner:
            task = self._tasks[match_id]
            task.cancel()
            await asyncio.wait((task,))

    async def _refusal(self, match_id: str) -> Exception:
        """Return why a match takes no commands."""
        record = await self._database.read(lambda connection: find_match(connection, match_id))
        if record is None:
            return MatchNotFound(match_id)
        if record.status in UNFINISHED:
            return StorageUnavailable("the service takes no commands just now; try again")
        return MatchIsOver(match_id, ending_of(record))


def _room(settings: MatchSettings) -> int:
    """Return how much a match counts: nothing where a human plays, since that is mostly waiting."""
    return 0 if settings.has_human else 1
