"""Roster: the games of an evaluation, as whoever conducts it keeps them in mind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from app.evaluations.schedules.schedule import Slot, Standing
from app.matches.match import MatchStatus
from app.persistence.evaluations import GameRecord
from engine import Color, Termination


@dataclass(frozen=True, slots=True)
class Entry:
    """A game in its place: its latest attempt, and what has become of it."""

    slot: Slot
    attempt: int
    match_id: str
    status: Literal["playing", "scored", "void"]
    winner: Color | None = None
    termination: Termination | None = None
    #: Why it is void.
    detail: str = ""

    @classmethod
    def of(cls, record: GameRecord) -> Entry:
        """Return the game of a record; what its match has come to counts once it is scored."""
        is_scored = record.status == "scored"
        winner, why = record.winner, record.termination
        return cls(
            Slot.from_json(json.loads(record.slot)),
            record.attempt,
            record.match_id,
            record.status,  # type: ignore[arg-type]  # the table has a rule for it
            Color(winner) if is_scored and winner is not None else None,
            Termination(why) if is_scored and why is not None else None,
            record.detail,
        )

    @classmethod
    def settled(cls, record: GameRecord) -> Entry | None:
        """Return what has become of a game that was being played; None if its match is not over."""
        if record.match_status == MatchStatus.ENDED:
            return cls.of(replace(record, status="scored"))
        if record.match_status == MatchStatus.ABORTED:
            why = str(json.loads(record.match_state)["detail"])
            return cls.of(replace(record, status="void", detail=why))
        return None

    @property
    def standing(self) -> Standing:
        """Return how it stands; one that is void will be played again."""
        status: Literal["playing", "scored"] = "scored" if self.status == "scored" else "playing"
        return Standing(self.slot, status, self.winner, self.termination)


class Roster:
    """Every game once, in the order of their numbers."""

    def __init__(self, records: Iterable[GameRecord] = ()) -> None:
        self._entries: list[Entry] = []
        #: By match.
        self._places: dict[str, int] = {}
        #: How many attempts at all games came to nothing.
        self.voids = 0
        #: How often it has changed.
        self.revision = 0
        for record in records:
            self.add(Entry.of(record))

    def add(self, entry: Entry) -> None:
        """Take a game in, or another attempt at one."""
        place = entry.slot.number - 1
        if place == len(self._entries):
            self._entries.append(entry)
        else:
            self._entries[place] = entry
        self._places[entry.match_id] = place
        self.voids += entry.status == "void"
        self.revision += 1

    def settle(self, entry: Entry) -> None:
        """Note what has become of a game that was being played."""
        self._entries[self._places[entry.match_id]] = entry
        self.voids += entry.status == "void"
        self.revision += 1

    @property
    def standings(self) -> list[Standing]:
        """How the games stand, for a schedule."""
        return [entry.standing for entry in self._entries]

    @property
    def playing(self) -> list[Entry]:
        """The games that are being played."""
        return [entry for entry in self._entries if entry.status == "playing"]

    @property
    def scored(self) -> list[Entry]:
        """The games that count."""
        return [entry for entry in self._entries if entry.status == "scored"]

    @property
    def void(self) -> list[Entry]:
        """The games that have to be played again."""
        return [entry for entry in self._entries if entry.status == "void"]

    def counts(self) -> Counter[str]:
        """Return how many games there are of each status."""
        return Counter(entry.status for entry in self._entries)
