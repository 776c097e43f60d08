"""What must be so of every log, whatever happened to the processes that wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from app.matches.events import Event, EventType
from app.matches.match import Match
from app.matches.storing import read_match, settings_of, state_json
from app.persistence.database import Database
from app.persistence.events import events_after
from app.persistence.matches import MatchFilter, list_matches
from app.persistence.plies import plies_of
from app.persistence.records import EventRecord, MatchRecord, PlyRecord
from app.streaming.feed import is_of_all
from tests.e2e.watching import Seen, Watcher

_MANY = 2**31 - 1
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class StoredMatch:
    """A match as the database has it."""

    record: MatchRecord
    log: list[EventRecord]
    plies: list[PlyRecord]

    @property
    def events(self) -> list[Event]:
        """The log, read."""
        return [Event.decode(each.data) for each in self.log]

    def state_at(self, sequence: int) -> dict[str, Any]:
        """Return what watchers are told of the state after an event."""
        settings = settings_of(self.record)
        match = Match.replay(settings, self.events[:sequence])
        line = {"fen": match.game.position.fen(), "ply_count": len(match.game.line)}
        return json.loads(state_json(match)) | line


@dataclass(frozen=True)
class Stored:
    """Everything that is in a database."""

    matches: dict[str, StoredMatch]
    #: In the order of commits.
    log: list[EventRecord]


async def read_all(url: str) -> Stored:
    """Read a database that nobody serves any more."""

    def query(connection: Connection) -> Stored:
        log = events_after(connection, 0, _MANY)
        matches = {}
        for record in list_matches(connection, MatchFilter(), None, _MANY):
            own = [event for event in log if event.match_id == record.id]
            matches[record.id] = StoredMatch(record, own, plies_of(connection, record.id))
        return Stored(matches, log)

    async with await Database.open(url) as database:
        return await database.read(query)


def check_stored(stored: Stored) -> None:
    """Check everything in a database of which all matches are over."""
    assert [event.position for event in stored.log] == list(range(1, len(stored.log) + 1))
    assert {event.match_id for event in stored.log} == set(stored.matches)
    for match in stored.matches.values():
        _check_log(match)
        _check_plies(match)
        _check_replay(match)
        _check_clocks(match)


def _check_log(match: StoredMatch) -> None:
    record, log, events = match.record, match.log, match.events
    assert [each.sequence for each in log] == list(range(1, record.last_sequence + 1))
    for stored, event in zip(log, events, strict=True):
        assert (stored.match_id, stored.sequence) == (event.match_id, event.sequence)
        assert (stored.type, stored.at) == (event.type, event.at)
        assert event.encode() == stored.data
    types = [event.type for event in events]
    assert types[0] is EventType.CREATED
    assert types.count(EventType.CREATED) == types.count(EventType.ENDED) == 1
    assert types.count(EventType.STARTED) <= 1
    assert types[-1] is EventType.ENDED
    assert record.status in ("ended", "aborted")
    assert record.owner is None


def _check_plies(match: StoredMatch) -> None:
    """The plies are those that were played and not taken back: none missing, none twice."""
    played: list[Event] = []
    for event in match.events:
        if event.type is EventType.PLY:
            assert event.fields["ply"] == len(played) + 1
            played.append(event)
        elif event.type is EventType.TAKEN_BACK:
            del played[event.fields["keep"] :]
    assert [_told(event) for event in played] == [_kept(ply) for ply in match.plies]
    assert match.record.ply_count == len(played)


def _told(event: Event) -> tuple[object, ...]:
    names = ("ply", "color", "uci", "san", "fen", "elapsed_ms", "evaluation", "source")
    return (*(event.fields[name] for name in names), event.at)


def _kept(ply: PlyRecord) -> tuple[object, ...]:
    evaluation = json.loads(ply.evaluation or "null")
    kept = (ply.number, ply.color, ply.uci, ply.san, ply.fen, ply.elapsed_ms, evaluation)
    return (*kept, ply.source, ply.played_at)


def _check_replay(match: StoredMatch) -> None:
    """The rules engine plays the log to what is stored."""
    record = match.record
    replayed = read_match(record, match.log)
    assert replayed.status.value == record.status
    assert replayed.game.position.fen() == record.fen
    assert state_json(replayed) == record.state
    assert replayed.game.pgn() == match.events[-1].fields["pgn"]
    outcome = replayed.outcome
    assert record.result == ("*" if outcome is None else outcome.result)
    assert record.termination == (None if outcome is None else outcome.termination.value)


def _check_clocks(match: StoredMatch) -> None:
    """What a ply took is what its turn had taken before, and since it was last begun."""
    control = settings_of(match.record).control
    clocks: dict[str, int] | None = None
    turn: Event | None = None
    for event in match.events:
        fields = event.fields
        if event.type is EventType.TURN:
            turn = event
            if control is None:
                assert fields["clocks"] is None
            elif clocks is None:
                clocks = dict(fields["clocks"])
            assert fields["clocks"] == clocks
        elif event.type is EventType.PLY:
            assert turn is not None
            took = turn.fields["spent_ms"] + (event.at - turn.at) // _MILLISECOND
            assert fields["elapsed_ms"] == max(took, turn.fields["spent_ms"])
            if clocks is not None:
                clocks[f"{fields['color']}_ms"] += _increment(match) - fields["elapsed_ms"]
                assert min(clocks.values()) >= 0
            assert fields["clocks"] == clocks


def _increment(match: StoredMatch) -> int:
    """Return what each ply adds to a clock, in milliseconds."""
    text = json.loads(match.record.settings)["time_control"]
    return round(float(text.partition("+")[2] or 0) * 1000)


def check_downtime(match: StoredMatch, deaths: Iterable[datetime]) -> None:
    """No turn was charged for the time between the death of a process and the next one."""
    deaths = sorted(deaths)
    before: Event | None = None
    for event in match.events:
        if event.type is EventType.TURN:
            if before is not None and before.fields["ply"] == event.fields["ply"]:
                died = next((each for each in deaths if each > before.at), event.at)
                most = before.fields["spent_ms"] + (died - before.at) // _MILLISECOND
                spent = event.fields["spent_ms"]
                assert spent <= most + 1, (before, died, event)
            before = event
        elif event.type is EventType.TAKEN_BACK:
            before = None


def check_watcher(watcher: Watcher, match: StoredMatch) -> None:
    """A watcher saw exactly the log, from where it began."""
    began = watcher.states[0].id if watcher.states else 0
    seen = [(each.id, each.type, each.data) for each in watcher.events]
    assert seen == [(e.sequence, e.type, e.data.encode()) for e in match.log[began:]]
    for state in watcher.states:
        check_state(json.loads(state.data), match)
        assert json.loads(state.data)["sequence"] == state.id


def check_state(state: dict[str, Any], match: StoredMatch) -> None:
    """A state that was told is that of the log at its sequence number."""
    assert state["id"] == match.record.id
    known = match.state_at(state["sequence"])
    assert {name: state[name] for name in known} == known


def check_global(watcher: Watcher, stored: Stored) -> None:
    """Whoever watches all matches saw exactly those events of the log that are for them."""
    wanted = [event for event in stored.log if is_of_all(event)]
    expected = [Seen(each.position, each.type, each.data.encode()) for each in wanted]
    assert watcher.events == expected
