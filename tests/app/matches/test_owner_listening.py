"""What an owner does with what a player lets it know before it has decided."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

import app.matches.hearing
import app.matches.owner
from agents.errors import AgentError
from agents.player import Advice, Candidate, Decision, Turn
from app.matches.commands import Resign
from app.matches.match import Match, MatchStatus
from app.matches.owner import FAULTS
from engine import Color, Move, UnreadableMove
from tests.app.matches.owning import now, pass_seconds, run, table
from tests.app.matches.telling import match_settings
from tests.support.players import Fault, ScriptedPlayer, Step, Waits

E4 = Candidate(Move.from_uci("e2e4"), "space")
TACTICAL = Advice("tactical", (E4,), "I like space.")
SILENT = Advice("positional", abstained="it did not answer in time")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (app.matches.owner, app.matches.hearing):
        monkeypatch.setattr(module, "now", now)
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", timedelta(milliseconds=1))


@dataclass(eq=False)
class LastingFault(AgentError):
    """What somebody has to mend."""

    is_lasting = True

    def __str__(self) -> str:
        return "the key is wrong"


def test_advice_is_told_as_soon_as_it_is_whole_and_once() -> None:
    async def main() -> None:
        go = asyncio.Event()

        def advise(turn: Turn) -> Step:
            turn.listener.advised(TACTICAL)
            turn.listener.advised(SILENT)
            return Waits(go, Decision("e4", (TACTICAL, SILENT, Advice("selector", (E4,)))))

        async with table(ScriptedPlayer(advise), ScriptedPlayer()) as at:
            await at.notebook.until(lambda: len(at.notebook.of("advice.given")) == 2)
            assert at.notebook.of("ply.played") == []
            go.set()
            await at.notebook.until_played(1)
            given = [event.fields for event in at.notebook.of("advice.given")]
            assert [each["by"] for each in given] == ["tactical", "positional", "selector"]
            assert given[0]["words"] == "I like space."
            assert given[1]["abstained"] == "it did not answer in time"
            (ply,) = at.notebook.of("ply.played")
            assert ply.fields["decision"]["reason"] == "space"

    run(main())


def test_advice_from_before_a_restart_is_not_told_again() -> None:
    async def main() -> None:
        match = Match.create("m", match_settings("a", "b"), now())
        match.start(now())
        match.advise(TACTICAL, now())
        events = list(match.new_events)
        again = Match.replay(match.settings, events)
        player = ScriptedPlayer(Decision("e4", (TACTICAL, SILENT)))
        async with table(player, ScriptedPlayer(), match=again) as at:
            await at.notebook.until_played(1)
            (given,) = at.notebook.of("advice.given")
            assert given.fields["by"] == "positional"

    run(main())


def test_words_are_passed_on() -> None:
    async def main() -> None:
        said: list[tuple[str, str]] = []

        def speak(turn: Turn) -> Step:
            turn.listener.said("tactical", "Look")
            return "e4"

        player = ScriptedPlayer(speak)
        async with table(player, ScriptedPlayer(), say=lambda *words: said.append(words)) as at:
            await at.notebook.until_played(1)
            assert said == [("tactical", "Look")]
            assert b"Look" not in "".join(each.encode() for each in at.notebook.events).encode()

    run(main())


def test_what_is_excused_costs_no_time() -> None:
    async def main() -> None:
        go = asyncio.Event()

        def stall(turn: Turn) -> Step:
            since = now()
            pass_seconds(50)
            turn.listener.excuse(since, now())
            return Waits(go, "e4")

        async with table(ScriptedPlayer(stall), ScriptedPlayer(), time_control="60") as at:
            await at.notebook.until(lambda: len(at.notebook.of("turn.started")) == 2)
            pass_seconds(20)  # its own
            go.set()
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            assert 20_000 <= ply.fields["elapsed_ms"] < 50_000

    run(main())


def test_what_is_excused_with_the_decision_itself_costs_no_time() -> None:
    async def main() -> None:
        def stall(turn: Turn) -> Step:
            since = now()
            pass_seconds(100)
            turn.listener.excuse(since, now())
            return "e4"

        async with table(ScriptedPlayer(stall), ScriptedPlayer(), time_control="60") as at:
            await at.notebook.until_played(1)
            assert at.match.status is MatchStatus.RUNNING

    run(main())


def test_no_flag_falls_in_a_time_that_is_excused_ahead() -> None:
    async def main() -> None:
        go = asyncio.Event()

        def stall(turn: Turn) -> Step:
            turn.listener.excuse(now(), now() + timedelta(seconds=100))
            return Waits(go, "e4")

        async with table(ScriptedPlayer(stall), ScriptedPlayer(), time_control="60") as at:
            await at.notebook.until(lambda: len(at.notebook.of("turn.started")) == 2)
            pass_seconds(99)
            go.set()
            await at.notebook.until_played(1)

    run(main())


def test_what_a_cancelled_player_said_counts_no_more() -> None:
    async def main() -> None:
        white = ScriptedPlayer(name="white")
        async with table(white, None) as at:
            await white.asked()
            await at.owner.ask(Resign(Color.BLACK))
            white.turns[0].listener.advised(TACTICAL)
            await at.finish()
            assert at.notebook.of("advice.given") == []

    run(main())


def test_a_lasting_fault_pauses_at_once() -> None:
    async def main() -> None:
        white = ScriptedPlayer(LastingFault(), name="white")
        async with table(white, ScriptedPlayer()) as at:
            await at.finish()
            assert at.match.status is MatchStatus.PAUSED
            assert len(white.turns) == 1
            (paused,) = at.notebook.of("match.paused")
            assert paused.fields["reason"] == "white could not decide: the key is wrong"

    run(main())


def test_whoever_says_how_long_to_wait_is_obeyed() -> None:
    async def main() -> None:
        fault = Fault()
        fault.retry_after = timedelta(milliseconds=40)
        white = ScriptedPlayer(fault, "e4")
        async with table(white, ScriptedPlayer(), time_control="60") as at:
            await at.notebook.until_played(1)
            first, second = at.notebook.of("turn.started")[:2]
            assert second.at - first.at >= fault.retry_after

    run(main())


def test_faults_without_an_end_still_pause() -> None:
    async def main() -> None:
        fault = Fault()
        fault.retry_after = timedelta(milliseconds=2)
        white = ScriptedPlayer(*[fault] * 9)
        async with table(white, ScriptedPlayer()) as at:
            await at.finish()
            assert len(white.turns) == FAULTS

    run(main())


def test_a_player_may_know_itself_that_its_words_are_no_move() -> None:
    async def main() -> None:
        fault = UnreadableMove("I like d4 and e4")
        unreadable = Decision("e4 or d4", fault=fault)
        async with table(ScriptedPlayer(unreadable, "e4"), ScriptedPlayer()) as at:
            await at.notebook.until_played(1)
            (rejected,) = at.notebook.of("attempt.rejected")
            assert rejected.fields["kind"] == "UnreadableMove"
            assert rejected.fields["move"] == "e4 or d4"
            assert rejected.fields["detail"] == str(fault)

    run(main())
