"""Runner: takes matches up, hands them over, and resumes them, on both databases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, update
from uuid_utils.compat import uuid7

import app.matches.owner
import app.matches.runner
from agents.catalogue import Catalogue
from agents.player import Decision, Player, Turn
from agents.timekeeping import now
from app.matches.commands import (
    Abort,
    Pause,
    PlayMove,
    Resign,
    Resume,
    Takeback,
    TakebackAction,
)
from app.matches.errors import CannotDo, MatchError, MatchIsOver, MatchNotFound
from app.matches.events import Event
from app.matches.match import Match
from app.matches.runner import Runner
from app.matches.service import MatchService
from app.matches.settings import MatchSettings
from app.matches.storing import new_record, read_match
from app.persistence.database import Database
from app.persistence.errors import StorageRefused, StorageUnavailable
from app.persistence.events import events_of
from app.persistence.matches import claim, find_match, insert_match
from app.persistence.notifications import Notifications
from app.persistence.plies import plies_of
from app.persistence.records import Change, MatchRecord
from app.persistence.tables import Worker
from app.persistence.workers import Workers
from app.persistence.writer import Writer
from app.services import _Presence
from engine import Color
from tests.app.matches.owning import Counts, run
from tests.app.matches.telling import BLACK, WHITE, match_settings
from tests.support.players import NEVER, ScriptedPlayer, Waits, scripted_pair
from tests.support.processes import until

FOOLS_MATE = "f3 e5 g4 Qh4#"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for matches often, and do not wait after faults."""
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", timedelta(milliseconds=1))
    monkeypatch.setattr(app.matches.runner, "LOOK_EVERY", timedelta(milliseconds=20))


class Worked:
    """A process that runs matches, or what the tests need of one."""

    def __init__(self, database: Database, catalogue: Catalogue, concurrent: int) -> None:
        self.database = database
        self.presence = _Presence(Workers())
        self.counts = Counts()
        self.writer = Writer(database, lambda changes: None)
        self.runner = Runner(
            database, self.writer, self.presence, catalogue, self.counts, concurrent=concurrent
        )
        self.matches = MatchService(
            database, self.runner, catalogue, lambda: None, matches_per_client=1000
        )
        self.task: asyncio.Task[None] | None = None

    async def stop(self) -> None:
        """Stop running matches, as at the end of the service."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait([self.task])
        assert self.task.cancelled()

    async def until(self, match_id: str, condition: Callable[[MatchRecord], object]) -> MatchRecord:
        """Return a match once it is so."""
        while True:
            record = await self.matches.find(match_id)
            if condition(record):
                return record
            await asyncio.sleep(0.002)

    async def log(self, match_id: str) -> list[Event]:
        """Return the log of a match, which has no gap, and of which its record is the sum."""

        def query(connection: Connection) -> tuple[MatchRecord | None, Any, Any]:
            return (
                find_match(connection, match_id),
                events_of(connection, match_id, 0, 10**6),
                plies_of(connection, match_id),
            )

        record, records, plies = await self.database.read(query)
        assert record is not None
        assert [each.sequence for each in records] == list(range(1, len(records) + 1))
        assert record.last_sequence == len(records)
        match = read_match(record, records)
        assert [ply.uci for ply in plies] == [move.uci() for move in match.game.line.moves]
        assert (match.status.value, match.game.position.fen()) == (record.status, record.fen)
        return [Event.decode(each.data) for each in records]

    async def moves(self, match_id: str) -> str:
        log = await self.log(match_id)
        return " ".join(each.fields["san"] for each in log if each.type.value == "ply.played")


@asynccontextmanager
async def process(
    url: str,
    players: Mapping[str, Player] | None = None,
    *,
    concurrent: int = 10,
) -> AsyncIterator[Worked]:
    """Be a process that runs matches, with players by name; it dies without a farewell."""
    makers = {name: lambda seed, player=player: player for name, player in (players or {}).items()}
    async with Catalogue(players=makers) as catalogue, await Database.open(url) as database:
        worked = Worked(database, catalogue, concurrent)
        await database.write(worked.presence.workers.register)
        others = [asyncio.create_task(worked.writer.run())]
        if database.dialect == "postgresql":
            notifications = Notifications(database, worked.presence.id, worked.runner.wake)
            others.append(asyncio.create_task(notifications.run()))
            await notifications.ready()
        worked.task = asyncio.create_task(worked.runner.run())
        await until(lambda: worked.runner.is_running)
        try:
            yield worked
        finally:
            for task in (worked.task, *others):
                task.cancel()
                await asyncio.wait([task])
            if not worked.task.cancelled() and (error := worked.task.exception()) is not None:
                raise error
            assert worked.runner.running == 0


async def store(database: Database, settings: MatchSettings, /, **fields: Any) -> str:
    """Store a new match that nobody runs, and return its id."""
    match = Match.create(str(uuid7()), settings, now())
    record, events, _ = new_record(match, client="test")
    record = replace(record, **fields)
    await database.write(lambda connection: insert_match(connection, record, events))
    return match.id


def _pair(white: Player, black: Player) -> dict[str, Player]:
    return {"white": white, "black": black}


def _is(status: str) -> Callable[[MatchRecord], bool]:
    return lambda record: record.status == status


# --- taking matches up ---


def test_a_match_that_nobody_runs_is_taken_up_and_played(database_url: str) -> None:
    async def main() -> None:
        players = _pair(*scripted_pair(FOOLS_MATE))
        async with process(database_url, players) as worked:
            match_id = await store(worked.database, match_settings("white", "black"))
            worked.runner.wake()
            record = await worked.until(match_id, _is("ended"))
            assert (record.winner, record.termination, record.result) == (
                "black",
                "checkmate",
                "0-1",
            )
            assert (record.owner, record.epoch) == (None, 1)
            assert await worked.moves(match_id) == FOOLS_MATE
            await until(lambda: worked.runner.running == 0)
            with pytest.raises(MatchIsOver, match="Black wins by checkmate"):
                await worked.runner.command(match_id, Resign(WHITE))

    run(main())


def test_a_created_match_is_ours_at_once(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url, _pair(*scripted_pair(FOOLS_MATE))) as worked:
            created = await worked.matches.create(match_settings("white", "black"), client="me")
            assert created.record.owner == worked.runner.worker
            record = await worked.until(created.record.id, _is("ended"))
            assert record.epoch == 1
            assert await worked.moves(record.id) == FOOLS_MATE

    run(main())


def test_a_match_goes_on_where_a_stopped_runner_left_it(database_url: str) -> None:
    async def main() -> None:
        white, black = ScriptedPlayer("f3", NEVER), ScriptedPlayer("e5")
        async with process(database_url, _pair(white, black)) as worked:
            created = await worked.matches.create(match_settings("white", "black"), client="me")
            match_id = created.record.id
            await white.asked(2)
            await worked.stop()
            assert white.cancelled == 1
            with pytest.raises(StorageUnavailable):
                await worked.runner.command(match_id, Resign(WHITE))
        white, black = ScriptedPlayer("g4"), ScriptedPlayer("Qh4#")
        async with process(database_url, _pair(white, black)) as worked:
            record = await worked.until(match_id, _is("ended"))
            assert record.epoch == 2
            assert await worked.moves(match_id) == FOOLS_MATE
            assert [ply.move.uci() for ply in white.turns[0].plies] == ["f2f3", "e7e5"]

    run(main())


def test_a_match_goes_on_after_any_number_of_restarts(database_url: str) -> None:
    async def main() -> None:
        line = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"]
        match_id = ""
        for number, move in enumerate(line):
            mover = ScriptedPlayer(move)
            seats = (mover, ScriptedPlayer()) if number % 2 == 0 else (ScriptedPlayer(), mover)
            async with process(database_url, _pair(*seats)) as worked:
                if not match_id:
                    settings = match_settings("white", "black", time_control="600+1")
                    match_id = (await worked.matches.create(settings, client="me")).record.id
                await worked.until(
                    match_id, lambda record, wanted=number: record.ply_count > wanted
                )
        async with process(database_url, _pair(ScriptedPlayer(), ScriptedPlayer())) as worked:
            assert await worked.moves(match_id) == " ".join(line)

    run(main())


# --- how many ---


def test_no_more_matches_are_run_than_may_be_besides_those_of_humans(database_url: str) -> None:
    async def main() -> None:
        go = asyncio.Event()
        deciding = 0

        class Slow:
            name = "slow"

            async def decide(self, turn: Turn) -> Decision:
                nonlocal deciding
                deciding += 1
                await go.wait()
                return Decision(None, resigns=True)

        async with process(database_url, {"slow": Slow()}, concurrent=2) as worked:
            stored = [
                await store(worked.database, match_settings("slow", "slow")) for _ in range(3)
            ]
            humans = [
                await store(worked.database, match_settings("human", "slow")) for _ in range(3)
            ]
            worked.runner.wake()
            await until(lambda: worked.runner.running == 5 and deciding == 2)
            made = await worked.matches.create(match_settings("slow", "slow"), client="me")
            human = await worked.matches.create(match_settings("human", "human"), client="me")
            stored.append(made.record.id)
            assert made.record.owner is None
            assert human.record.owner == worked.runner.worker
            for match_id in humans:
                record = await worked.until(match_id, _is("running"))
            # The oldest go first, and the others wait for their turn.
            statuses = [(await worked.matches.find(each)).status for each in stored]
            assert statuses == ["running", "running", "created", "created"]
            assert worked.runner.running == 6
            go.set()
            for match_id in stored:
                record = await worked.until(match_id, _is("ended"))
                assert record.termination == "resignation"

    run(main())


def test_matches_created_at_the_same_moment_keep_to_the_limit(database_url: str) -> None:
    async def main() -> None:
        player = ScriptedPlayer(name="slow")
        async with process(database_url, {"slow": player}, concurrent=2) as worked:
            settings = match_settings("slow", "slow")
            await asyncio.gather(*(worked.matches.create(settings, client="me") for _ in range(6)))
            await player.asked(2)
            assert worked.runner.running == 2

    run(main())


def test_matches_created_while_others_are_looked_for_keep_to_the_limit(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        player = ScriptedPlayer(name="slow")
        looks, created = asyncio.Event(), asyncio.Event()
        async with process(database_url, {"slow": player}, concurrent=2) as worked:
            read = worked.database.read

            async def read_late(query: Callable[[Connection], Any]) -> Any:
                if query.__name__ == "find":  # the runner's, which has counted its room before
                    looks.set()
                    await created.wait()
                return await read(query)

            monkeypatch.setattr(worked.database, "read", read_late)
            worked.runner.wake()
            await looks.wait()
            settings = match_settings("slow", "slow")
            await asyncio.gather(*(worked.matches.create(settings, client="me") for _ in range(6)))
            looks.clear()
            worked.runner.wake()
            created.set()
            await looks.wait()  # once more, so what was found the first time has been taken up
            await player.asked(2)
            assert worked.runner.running == 2

    run(main())


def test_two_processes_share_many_matches(postgres_url: str) -> None:
    async def main() -> None:
        settings = match_settings("random", "random", variant="kings-cooking", time_control="60")
        async with process(postgres_url) as one, process(postgres_url) as other:
            ids = []
            for number in range(8):
                if number % 2:
                    ids.append(await store(one.database, settings))
                else:
                    made = await (one, other)[number % 4 // 2].matches.create(settings, client="me")
                    ids.append(made.record.id)
                one.runner.wake()
                other.runner.wake()
            logs = []
            for match_id in ids:
                record = await one.until(match_id, _is("ended"))
                assert record.epoch == 1  # nobody took it twice
                logs.append([event.fields for event in await other.log(match_id)][-1]["outcome"])
            assert all(logs)

    run(main())


# --- commands, and taking over ---


def test_commands_reach_a_match_wherever_it_stands(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url, {"white": ScriptedPlayer("e4", NEVER)}) as worked:
            command = worked.runner.command
            with pytest.raises(MatchNotFound):
                await command(str(uuid7()), Pause())
            made = await worked.matches.create(match_settings("white", "human"), client="me")
            match_id = made.record.id
            await worked.until(match_id, lambda record: record.ply_count == 1)
            record = await worked.matches.command(match_id, PlayMove(BLACK, "e5"))
            assert record.ply_count == 2
            record = await worked.matches.command(match_id, Pause("tea"))
            assert record.status == "paused"
            await until(lambda: worked.runner.running == 0)
            with pytest.raises(CannotDo):
                await command(match_id, Pause())
            record = await worked.matches.command(match_id, Resume())
            assert record.status == "running"
            record = await worked.matches.command(match_id, Abort("enough"))
            assert (record.status, record.owner) == ("aborted", None)
            with pytest.raises(MatchIsOver, match="enough"):
                await command(match_id, Resume())
            assert await worked.moves(match_id) == "e4 e5"

    run(main())


def test_commands_at_the_same_moment_are_all_answered(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url) as worked:
            made = await worked.matches.create(match_settings(), client="me")
            match_id = made.record.id
            answers = await asyncio.gather(
                *(worked.runner.command(match_id, each) for each in (Pause(), Resume()) * 5),
                return_exceptions=True,
            )
            assert all(isinstance(each, Match | CannotDo) for each in answers)
            log = await worked.log(match_id)
            done = [event for event in log if event.type.value in ("match.paused", "match.resumed")]
            assert len(done) == sum(isinstance(each, Match) for each in answers)

    run(main())


def test_a_paused_match_stays_paused_after_a_restart(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url) as worked:
            made = await worked.matches.create(match_settings(time_control="60"), client="me")
            match_id = made.record.id
            await worked.matches.command(match_id, Pause())
        async with process(database_url) as worked:
            other = await worked.matches.create(match_settings(), client="me")
            await worked.until(other.record.id, _is("running"))
            assert worked.runner.running == 1
            record = await worked.matches.command(match_id, Resume())
            assert record.status == "running"
            record = await worked.matches.command(match_id, PlayMove(WHITE, "e4"))
            assert record.ply_count == 1

    run(main())


def test_a_match_is_taken_over_by_force_and_its_former_owner_can_write_nothing(
    postgres_url: str,
) -> None:
    async def main() -> None:
        go = asyncio.Event()
        former = ScriptedPlayer("f3", Waits(go, "h4"), name="white")
        new = ScriptedPlayer("g4", name="white")
        async with (
            process(postgres_url, _pair(former, ScriptedPlayer())) as one,
            process(postgres_url, _pair(new, ScriptedPlayer())) as other,
        ):
            made = await one.matches.create(match_settings("white", "human"), client="me")
            match_id = made.record.id
            await one.until(match_id, lambda record: record.ply_count == 1)
            record = await other.matches.command(match_id, PlayMove(BLACK, "e5"))
            assert (record.owner, record.epoch) == (other.runner.worker, 2)
            # The former does not know of it. What it does is refused, and it goes quietly.
            await other.until(match_id, lambda record: record.ply_count == 3)
            await other.matches.command(match_id, Resign(BLACK))
            with pytest.raises(MatchIsOver):
                await one.matches.command(match_id, Resign(WHITE))
            await until(lambda: one.runner.running == 0)
            assert await one.moves(match_id) == "f3 e5 g4"
            assert (await one.matches.find(match_id)).winner == "white"

    run(main())


def test_a_former_owners_decision_is_not_written(postgres_url: str) -> None:
    async def main() -> None:
        go = asyncio.Event()
        former = ScriptedPlayer(Waits(go, "h4"))
        new = ScriptedPlayer("e4")
        async with (
            process(postgres_url, _pair(former, ScriptedPlayer())) as one,
            process(postgres_url, _pair(new, ScriptedPlayer())) as other,
        ):
            made = await one.matches.create(match_settings("white", "black"), client="me")
            match_id = made.record.id
            await former.asked()
            await other.matches.command(match_id, Pause())
            await other.matches.command(match_id, Resume())
            await other.until(match_id, lambda record: record.ply_count == 1)
            go.set()
            await until(lambda: one.runner.running == 0)
            assert await other.moves(match_id) == "e4"
            # And it can take the match back, with what the other did.
            record = await one.matches.command(match_id, Pause())
            assert record.ply_count == 1
            await until(lambda: other.runner.running == 1)
            await one.matches.command(match_id, Abort())
            assert await other.moves(match_id) == "e4"

    run(main())


def test_a_living_processs_match_is_not_taken_without_force(postgres_url: str) -> None:
    async def main() -> None:
        player = ScriptedPlayer()
        async with process(postgres_url, _pair(player, player)) as one:
            made = await one.matches.create(match_settings("white", "black"), client="me")
            await player.asked()
            async with process(postgres_url, _pair(player, player)) as other:
                second = await other.matches.create(match_settings("white", "black"), client="me")
                await other.until(second.record.id, _is("running"))
                for _ in range(3):
                    other.runner.wake()
                    await asyncio.sleep(0.03)
                assert other.runner.running == 1
                assert (await other.matches.find(made.record.id)).owner == one.runner.worker

    run(main())


# --- clocks across restarts ---


def test_nobody_pays_for_the_time_in_which_nobody_ran_the_match(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url) as worked:
            made = await worked.matches.create(match_settings(time_control="600"), client="me")
            match_id = made.record.id
            await worked.until(match_id, _is("running"))
            await worked.matches.command(match_id, PlayMove(WHITE, "e4"))
            begun = (await worked.log(match_id))[-1].at
            await worked.stop()
            # It was last seen seven seconds after that; then it died.
            await _see(worked, begun + timedelta(seconds=7))
        async with process(database_url) as worked:
            await worked.until(match_id, lambda record: record.epoch == 2)
            await worked.until(match_id, lambda record: record.last_sequence > 5)
            turn = (await worked.log(match_id))[5]
            assert turn.type.value == "turn.started"
            assert turn.fields["spent_ms"] == 7000
            record = await worked.matches.command(match_id, PlayMove(BLACK, "e5"))
            clocks = json.loads(record.state)["clocks"]
            assert 590_000 < clocks["black_ms"] <= 593_000
            assert clocks["white_ms"] > 590_000

    run(main())


def test_who_took_a_match_and_died_at_once_ran_no_clock(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url) as worked:
            made = await worked.matches.create(match_settings(time_control="600"), client="me")
            match_id = made.record.id
            await worked.until(match_id, _is("running"))
            begun = (await worked.log(match_id))[-1].at
            await worked.stop()
            await _see(worked, begun + timedelta(seconds=7))
            second = Workers()  # says that it is there, takes the match, and is no more
            await worked.database.write(second.register)
            await worked.database.write(
                lambda connection: claim(connection, match_id, second.id, by_force=True)
            )
        async with process(database_url) as worked:
            await worked.until(match_id, lambda record: record.last_sequence > 3)
            turn = (await worked.log(match_id))[3]
            assert (turn.type.value, turn.fields["spent_ms"]) == ("turn.started", 7000)

    run(main())


async def _see(worked: Worked, at: datetime) -> None:
    await worked.database.write(
        lambda connection: connection.execute(
            update(Worker).where(Worker.id == worked.runner.worker).values(seen_at=at)
        )
    )


def test_a_flag_that_fell_before_the_restart_is_noticed(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url) as worked:
            made = await worked.matches.create(match_settings(time_control="60"), client="me")
            match_id = made.record.id
            await worked.until(match_id, _is("running"))
            await worked.stop()
            await _see(worked, now() + timedelta(seconds=61))
        async with process(database_url) as worked:
            record = await worked.until(match_id, _is("ended"))
            assert (record.winner, record.termination) == ("black", "time_forfeit")

    run(main())


def test_a_turn_goes_on_while_a_match_is_taken_over(postgres_url: str) -> None:
    async def main() -> None:
        async with process(postgres_url) as one, process(postgres_url) as other:
            made = await one.matches.create(match_settings(time_control="600"), client="me")
            match_id = made.record.id
            await one.until(match_id, _is("running"))
            begun = (await one.log(match_id))[-1].at
            await asyncio.sleep(0.05)
            before = now()
            record = await other.matches.command(match_id, PlayMove(WHITE, "e4"))
            assert record.owner == other.runner.worker
            (ply,) = [e for e in await one.log(match_id) if e.type.value == "ply.played"]
            assert timedelta(milliseconds=ply.fields["elapsed_ms"]) >= before - begun

    run(main())


# --- what goes wrong ---


def test_an_absent_engine_pauses_its_match_with_a_sentence(database_url: str) -> None:
    async def main() -> None:
        async with process(database_url) as worked:
            match_id = await store(worked.database, match_settings("uci:gone", "random"))
            worked.runner.wake()
            await worked.until(match_id, _is("paused"))
            paused = (await worked.log(match_id))[-1]
            reason = paused.fields["reason"]
            assert reason.startswith("uci:gone could not decide: ")
            assert "'uci:gone' is not a player" in reason
            record = await worked.matches.command(match_id, Abort())
            assert record.status == "aborted"

    run(main())


class Breaking:
    """Gives back what is no decision, some times."""

    name = "white"

    def __init__(self, times: int) -> None:
        self.times = times

    async def decide(self, turn: Turn) -> Decision:
        if self.times:
            self.times -= 1
            return "e4"  # type: ignore[return-value]
        return Decision("e4")


@pytest.mark.parametrize(("times", "status"), [(1, "running"), (9, "paused")])
def test_a_match_that_breaks_is_taken_up_again(database_url: str, times: int, status: str) -> None:
    async def main() -> None:
        player = Breaking(times)
        async with process(database_url, _pair(player, ScriptedPlayer())) as worked:
            made = await worked.matches.create(match_settings("white", "black"), client="me")
            match_id = made.record.id
            if status == "running":
                record = await worked.until(match_id, lambda record: record.ply_count == 1)
                assert (record.status, record.epoch) == ("running", 2)
                assert await worked.moves(match_id) == "e4"
                return
            await worked.until(match_id, _is("paused"))
            assert (await worked.log(match_id))[-1].fields["reason"].startswith("it broke")
            record = await worked.matches.command(match_id, Abort())
            assert record.status == "aborted"

    run(main())


def test_a_match_that_nobody_can_write_disturbs_no_other(database_url: str) -> None:
    async def main() -> None:
        players = _pair(*scripted_pair(FOOLS_MATE))
        async with process(database_url, players) as worked:
            refused = await store(worked.database, match_settings("random", "random"))
            commit, refusals = worked.writer.commit, 0

            async def refuse(change: Change) -> None:
                nonlocal refusals
                if change.match_id != refused:
                    await commit(change)
                    return
                refusals += 1
                raise StorageRefused("it breaks a rule")

            worked.writer.commit = refuse  # type: ignore[method-assign]
            worked.runner.wake()
            await until(lambda: refusals > 2)  # as often as it is taken up again
            with pytest.raises((StorageRefused, StorageUnavailable)):
                await worked.runner.command(refused, Abort())
            other = await worked.matches.create(match_settings("white", "black"), client="me")
            await worked.until(other.record.id, _is("ended"))
            assert await worked.moves(other.record.id) == FOOLS_MATE
            assert worked.runner.is_running

    run(main())


@dataclass(frozen=True)
class Unreadable:
    """How a match may be damaged, so that nobody can read it."""

    name: str
    fields: dict[str, Any]


@pytest.mark.parametrize(
    "damage",
    [
        Unreadable("settings of another version", {"settings": '{"white": 1}'}),
        Unreadable("no JSON", {"settings": "{"}),
    ],
    ids=lambda damage: damage.name,
)
def test_a_match_that_cannot_be_read_disturbs_no_other(
    database_url: str, damage: Unreadable
) -> None:
    async def main() -> None:
        players = _pair(*scripted_pair(FOOLS_MATE))
        async with process(database_url, players) as worked:
            await store(worked.database, match_settings("white", "black"), **damage.fields)
            match_id = await store(worked.database, match_settings("white", "black"))
            worked.runner.wake()
            async with asyncio.timeout(5):
                await worked.until(match_id, _is("ended"))

    run(main())


def test_who_is_refused_takes_no_match_from_its_owner(postgres_url: str) -> None:
    async def main() -> None:
        thinking = ScriptedPlayer(name="slow")
        players: dict[str, Player] = {"slow": thinking}
        async with process(postgres_url, players) as one, process(postgres_url, players) as other:
            settings = match_settings("slow", "human", time_control="60")
            made = await one.matches.create(settings, client="me")
            await thinking.asked()
            for command in (
                Takeback(Color.BLACK, TakebackAction.DECLINE),
                PlayMove(Color.BLACK, "e5"),
                Resume(),
            ):
                with pytest.raises(MatchError):
                    await other.runner.command(made.record.id, command)
            record = await one.matches.find(made.record.id)
            assert (record.owner, record.epoch) == (one.runner.worker, 1)
            assert other.runner.running == 0
            assert thinking.cancelled == 0
            await other.runner.command(made.record.id, Resign(Color.BLACK))
            assert (await one.matches.find(made.record.id)).termination == "resignation"

    run(main())
