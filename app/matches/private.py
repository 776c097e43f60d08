"""Private match: a match that this process plays by itself, with nobody who serves it.

The same owner runs it as in the service, with the same clocks, refusals and commands, and its log
is the same. It is kept in memory: whoever wants to keep it longer stores it (see `saves`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Self

from uuid_utils.compat import uuid7

from agents.catalogue import Catalogue
from agents.models.budget import Account
from agents.player import Player
from agents.timekeeping import now
from app.matches.commands import Command
from app.matches.events import Event
from app.matches.hearing import Say
from app.matches.match import Match, MatchStatus
from app.matches.owner import Owner, OwnerGone
from app.matches.private_ledger import PrivateLedger
from app.matches.seating import check_settings, seat_player, warm
from app.matches.settings import MatchSettings
from app.matches.storing import take_change
from app.persistence.records import Change
from engine import Color

#: Under which name it is run, where workers of the service have an id.
_WORKER = "private"


def _nobody(by: str, words: str) -> None:
    """Hear nothing."""


class PrivateMatch:
    """A match, its players, and its whole log.

    `told` hears every event once it has happened, `say` the words of players who still speak, and
    `stumbled` of a player that could not decide, by its name.
    """

    def __init__(
        self,
        match: Match,
        catalogue: Catalogue,
        *,
        log: Sequence[Event] = (),
        account: Account | None = None,
        told: Callable[[Event], None] | None = None,
        say: Say = _nobody,
        stumbled: Callable[[str], None] | None = None,
    ) -> None:
        """Seat the players; `log` is what has happened before. Raises what `seat_player` does."""
        self.match = match
        self.log = list(log)
        self.ledger = PrivateLedger(account or Account(match.budget))
        self._catalogue = catalogue
        self._told = told
        self._say = say
        self._stumbled = stumbled
        self._owner: Owner | None = None
        self._players: dict[Color, Player] = {
            color: seat_player(catalogue, match.settings, color)
            for color in Color
            if not match.settings.player(color).is_human
        }
        settings = match.settings
        self._analyser = None if settings.analysis is None else catalogue.analyser()

    @classmethod
    def create(
        cls,
        settings: MatchSettings,
        catalogue: Catalogue,
        *,
        account: Account | None = None,
        told: Callable[[Event], None] | None = None,
        say: Say = _nobody,
        stumbled: Callable[[str], None] | None = None,
    ) -> Self:
        """Return a new match. Raises `UnplayableSettings`, or what `Catalogue.seat` raises."""
        check_settings(settings, catalogue)
        match = Match.create(str(uuid7()), settings.with_start(), now())
        private = cls(match, catalogue, account=account, told=told, say=say, stumbled=stumbled)
        private._take_note(take_change(match, 0, None))
        return private

    async def play(self) -> None:
        """Play until the match is over or paused. Whoever cancels this may play on later."""
        match = self.match
        if match.status is MatchStatus.CREATED:
            await warm(self._catalogue, match.settings)
        spent = match.elapsed(now()) if match.status is MatchStatus.RUNNING else timedelta(0)
        self._owner = Owner(
            match,
            0,
            _WORKER,
            players=self._players,
            writer=self,
            observer=self,
            analyser=self._analyser,
            spent=spent,
            ledger=self.ledger,
            say=self._say,
        )
        try:
            await self._owner.run()
        finally:
            self._owner = None

    async def command(self, command: Command) -> None:
        """Have a command performed. Raises what `Command.perform` raises."""
        if self._owner is not None:
            try:
                await self._owner.ask(command)
            except OwnerGone:  # it was paused, or ended, at the same time
                pass
            else:
                return
        budget = self.match.budget
        command.perform(self.match, now())
        if self.match.budget != budget:
            self.ledger.rebudget(self.match.budget)
        self._take_note(take_change(self.match, 0, None))

    # --- what its owner tells ---

    async def commit(self, change: Change) -> None:
        """Take what has happened into the log."""
        self._take_note(change)

    def decided(self, player: str, took: timedelta) -> None:
        """Let a decision pass: it is in the log."""

    def failed(self, player: str) -> None:
        """Pass on that a player could not decide: what comes of it is in the log."""
        if self._stumbled is not None:
            self._stumbled(player)

    def rejected(self, player: str) -> None:
        """Let a refusal pass: it is in the log."""

    def storage_failed(self, error: Exception) -> None:
        """Let it pass: nothing is stored."""

    def _take_note(self, change: Change) -> None:
        for record in change.events:
            event = Event.decode(record.data)
            self.log.append(event)
            if self._told is not None:
                self._told(event)
