"""Owner: players that fail, and the clock."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

import app.matches.owner
from agents.player import Decision
from app.matches.commands import (
    Draw,
    DrawAction,
    Pause,
    PlayMove,
    Resign,
)
from app.matches.match import Match, MatchStatus
from app.matches.owner import FAULTS, OwnerGone
from app.matches.settings import IllegalMoves
from engine import (
    Outcome,
    Termination,
)
from tests.app.matches.owning import (
    WORKER,
    now,
    pass_seconds,
    run,
    table,
)
from tests.app.matches.telling import BLACK, WHITE, match_settings
from tests.support.players import (
    ACCEPTS,
    RESIGNS,
    Fault,
    ScriptedPlayer,
    Waits,
)
from tests.support.processes import until

pytestmark = pytest.mark.usefixtures("short_pauses")


# --- faults ---


def test_a_fault_is_tried_again_and_scored_against_nobody() -> None:
    async def main() -> None:
        white = ScriptedPlayer(Fault(), Fault(), "e4", name="white")
        async with table(white, ScriptedPlayer()) as at:
            await at.notebook.until_played(1)
            assert at.notebook.of("attempt.rejected") == []
            assert at.counts.all["failed", "white"] == 2
            assert at.counts.all["decided", "white"] == 1
            assert [turn.rejections for turn in white.turns] == [()] * 3

    run(main())


@pytest.mark.parametrize(
    "error", [Fault("no \ud800 answer"), RuntimeError("a bug"), TimeoutError("late")]
)
def test_after_some_faults_the_match_is_paused(error: Exception) -> None:
    async def main() -> None:
        white = ScriptedPlayer(*[error] * 9, name="white")
        async with table(white, ScriptedPlayer(), time_control="60") as at:
            with capture_logs() as logs:
                await at.finish()
            # Only what nobody expects is logged with its traceback.
            broke = [each for each in logs if each["event"] == "player broke"]
            assert len(broke) == (FAULTS if isinstance(error, RuntimeError) else 0)
            assert at.match.status is MatchStatus.PAUSED
            assert len(white.turns) == FAULTS
            (paused,) = at.notebook.of("match.paused")
            assert paused.fields["reason"].startswith("white could not decide: ")
            assert paused.fields["cause"] == "fault"
            paused.encode().encode()
            assert at.notebook.changes[-1].owner == WORKER

    run(main())


def test_faults_are_counted_by_the_turn() -> None:
    async def main() -> None:
        white = ScriptedPlayer(*[Fault()] * (FAULTS - 1), "e4", *[Fault()] * (FAULTS - 1), "d4")
        async with table(white, ScriptedPlayer("e5")) as at:
            await at.notebook.until_played(3)
            assert at.match.status is MatchStatus.RUNNING

    run(main())


def test_a_fault_costs_no_time_but_what_was_thought_before_does() -> None:
    async def main() -> None:
        think, fail = asyncio.Event(), asyncio.Event()
        white = ScriptedPlayer(Waits(think, "e5"), Waits(fail, Fault()), "e4", name="white")
        async with table(white, ScriptedPlayer(), time_control="600") as at:
            await white.asked()
            pass_seconds(40)
            think.set()  # an illegal move after 40 s, which were its own
            await white.asked(2)
            thought = now() - at.match.started_at
            pass_seconds(200)
            fail.set()
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            began = at.notebook.of("turn.started")
            spent = timedelta(milliseconds=began[1].fields["spent_ms"])
            assert timedelta(seconds=40) <= spent <= thought
            # The last try began after the fault and its pause, which are not charged.
            most = spent + (ply.at - began[1].at)
            assert spent <= white.turns[2].spent <= most
            assert timedelta(milliseconds=ply.fields["elapsed_ms"]) <= most

    run(main())


def test_the_pause_after_a_fault_is_not_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", timedelta(milliseconds=800))

    async def main() -> None:
        white = ScriptedPlayer(Fault(), "e4")
        async with table(white, ScriptedPlayer(), time_control="0.7") as at:
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            assert ply.fields["elapsed_ms"] < 700

    run(main())


def test_a_player_that_takes_for_ever_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.matches.owner, "PATIENCE", timedelta(milliseconds=5))

    async def main() -> None:
        white = ScriptedPlayer(name="white")
        async with table(white, ScriptedPlayer()) as at:
            await at.finish()
            assert at.match.status is MatchStatus.PAUSED
            assert white.cancelled == FAULTS

    run(main())


# --- time ---


def test_the_flag_of_a_player_falls_while_it_thinks() -> None:
    async def main() -> None:
        white = ScriptedPlayer(name="white")
        async with table(white, ScriptedPlayer(), time_control="0.05") as at:
            await at.finish()
            assert at.match.outcome == Outcome(BLACK, Termination.TIME_FORFEIT)
            assert white.cancelled == 1
            assert at.notebook.of("match.ended")[0].fields["spent_ms"] >= 50
            assert at.notebook.changes[-1].owner is None

    run(main())


def test_the_flag_of_a_human_falls() -> None:
    async def main() -> None:
        async with table(None, ScriptedPlayer(), time_control="0.05") as at:
            await at.finish()
            assert at.match.outcome == Outcome(BLACK, Termination.TIME_FORFEIT)
            with pytest.raises(OwnerGone):
                await at.owner.ask(PlayMove(WHITE, "e4"))

    run(main())


def test_a_turn_that_another_owner_began_goes_on() -> None:
    async def main() -> None:
        match = Match.create("match-1", match_settings("white", "black", time_control="60"), now())
        match.start(now())
        match.new_events.clear()
        white = ScriptedPlayer(name="white")
        spent = timedelta(seconds=59.98)
        async with table(white, ScriptedPlayer(name="black"), match=match, spent=spent) as at:
            await at.finish()
            assert white.turns == [] or white.turns[0].spent >= spent
            begun = at.notebook.of("turn.started")[0]
            assert begun.fields["spent_ms"] == 59_980
            assert at.match.outcome == Outcome(BLACK, Termination.TIME_FORFEIT)

    run(main())


def test_a_decision_counts_from_when_it_was_made() -> None:
    async def main() -> None:
        go = asyncio.Event()
        black = ScriptedPlayer(Waits(go, "e5"))
        async with table(None, black, time_control="600") as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            at.notebook.gate.clear()
            offering = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            go.set()
            await until(lambda: ("decided", black.name) in at.counts.all)
            decided = now()
            pass_seconds(60)
            at.notebook.gate.set()
            await offering
            await at.notebook.until_played(2)
            ply = at.notebook.of("ply.played")[1]
            assert ply.at <= decided
            assert ply.fields["elapsed_ms"] <= (decided - at.notebook.events[3].at) / timedelta(
                milliseconds=1
            )
            # Nor does the next to move pay for the delay.
            assert at.notebook.of("turn.started")[-1].at >= decided + timedelta(seconds=60)

    run(main())


def test_a_decision_in_time_is_no_loss_though_it_is_noticed_late() -> None:
    async def main() -> None:
        go = asyncio.Event()
        black = ScriptedPlayer(Waits(go, "e5"))
        async with table(None, black, time_control="300") as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            at.notebook.gate.clear()
            offering = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            go.set()
            await until(lambda: ("decided", black.name) in at.counts.all)
            pass_seconds(300)
            at.notebook.gate.set()
            await offering
            await at.notebook.until_played(2)

    run(main())


@pytest.mark.parametrize("late", [RESIGNS, ACCEPTS, Decision("e5"), Decision("e4"), Decision(None)])
def test_a_decision_after_the_flag_is_too_late(
    late: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.matches.owner, "SLOW", timedelta(hours=1))  # here the database is not

    async def main() -> None:
        go = asyncio.Event()
        black = ScriptedPlayer(Waits(go, late))
        async with table(None, black, time_control="200", illegal_moves=IllegalMoves(0)) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            at.notebook.gate.clear()
            offering = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            pass_seconds(200)
            go.set()
            await until(lambda: ("decided", black.name) in at.counts.all)
            at.notebook.gate.set()
            await offering
            await at.finish()
            assert at.match.outcome == Outcome(WHITE, Termination.TIME_FORFEIT)
            assert at.notebook.of("attempt.rejected") == []

    run(main())


@pytest.mark.parametrize(
    ("command", "done"), [(PlayMove(WHITE, "e4"), "ply.played"), (Pause(), "match.paused")]
)
def test_a_command_counts_from_when_it_was_asked(command: Any, done: str) -> None:
    async def main() -> None:
        async with table(None, None, time_control="300") as at:
            await at.notebook.until(lambda: at.notebook.changes)
            at.notebook.gate.clear()
            offering = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            asking = asyncio.create_task(at.owner.ask(command))
            await asyncio.sleep(0)
            asked = now()
            pass_seconds(300)
            at.notebook.gate.set()
            await asyncio.gather(offering, asking)
            (event,) = at.notebook.of(done)
            assert event.at <= asked

    run(main())


@pytest.mark.parametrize(
    "command", [PlayMove(WHITE, "e4"), Draw(WHITE, DrawAction.ACCEPT), Resign(WHITE)]
)
def test_a_command_after_the_flag_is_too_late(
    command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.matches.owner, "SLOW", timedelta(hours=1))  # here the database is not

    async def main() -> None:
        async with table(None, None, time_control="100") as at:
            await at.notebook.until(lambda: at.notebook.changes)
            at.notebook.gate.clear()
            offering = asyncio.create_task(at.owner.ask(Draw(BLACK, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            pass_seconds(100)
            late = asyncio.create_task(at.owner.ask(command))
            await asyncio.sleep(0)
            at.notebook.gate.set()
            await offering
            with pytest.raises(OwnerGone):
                await late
            assert at.match.outcome == Outcome(BLACK, Termination.TIME_FORFEIT)
            assert len(at.notebook.of("match.ended")) == 1

    run(main())
