"""Owner: analysis beside the game, and a database that fails."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agents.errors import AgentError
from agents.models.errors import ServerFault
from agents.player import Decision, Turn
from agents.uci.analyser import Analysis, Variation
from agents.uci.info import Score
from app.matches.commands import (
    Abort,
    Draw,
    DrawAction,
    Pause,
    PlayMove,
    Resign,
    Takeback,
)
from app.matches.match import Match, MatchStatus
from app.matches.owner import Owner, OwnerGone
from app.matches.settings import AnalysisSettings, IllegalMoves, LastResort
from app.persistence.errors import StorageUnavailable
from engine import (
    Color,
    Evaluation,
    Outcome,
    Position,
    Termination,
)
from tests.app.matches.owning import (
    EPOCH,
    FOOLS_MATE,
    WORKER,
    Counts,
    Notebook,
    now,
    pass_seconds,
    run,
    table,
)
from tests.app.matches.telling import BLACK, WHITE, everything, match_settings
from tests.support.players import (
    NEVER,
    Fault,
    ScriptedPlayer,
    Waits,
    offers,
    scripted_pair,
)
from tests.support.processes import until

pytestmark = pytest.mark.usefixtures("short_pauses")


# --- analysis ---


class Opinion:
    """Thinks the same of every position, or fails, or waits."""

    def __init__(self, centipawns: int, error: Exception | None = None) -> None:
        self._score = Score(centipawns=centipawns)
        self._error = error
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def analyse(self, position: Position, limit: Any) -> Analysis:
        assert limit.depth == 4
        self.asked.append(position.fen())
        await self.gate.wait()
        if self._error is not None:
            raise self._error
        variation = Variation(1, self._score, None, 4, None, None, None, (), ())
        return Analysis(position, (variation,))


ANALYSED = {"analysis": AnalysisSettings(depth=4)}


def test_every_ply_is_analysed_from_whites_side() -> None:
    async def main() -> None:
        opinion = Opinion(30)
        white = ScriptedPlayer(Decision("e4", evaluation=Evaluation(centipawns=99)), "e5")
        policy = IllegalMoves(0, then=LastResort.RANDOM)
        async with table(white, None, analyser=opinion, illegal_moves=policy, **ANALYSED) as at:
            await at.notebook.until_played(1)
            await at.owner.ask(PlayMove(BLACK, "c5"))
            await at.notebook.until_played(3)  # the last resort, too
            plies = at.notebook.of("ply.played")
            # The opinion is that of the side to move after the ply.
            assert [ply.fields["evaluation"]["centipawns"] for ply in plies] == [-30, 30, -30]
            assert opinion.asked == [ply.fields["fen"] for ply in plies]

    run(main())


def test_a_failed_analysis_costs_nothing_but_itself() -> None:
    async def main() -> None:
        opinion = Opinion(30, AgentError("Stockfish process died"))
        white = ScriptedPlayer(Decision("e4", evaluation=Evaluation(centipawns=99)))
        async with table(white, ScriptedPlayer(), analyser=opinion, **ANALYSED) as at:
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            assert ply.fields["evaluation"] == {"centipawns": 99}  # what the player thinks

    run(main())


def test_nobody_pays_for_an_analysis() -> None:
    async def main() -> None:
        opinion = Opinion(30)
        opinion.gate.clear()
        async with table(None, None, analyser=opinion, time_control="300", **ANALYSED) as at:
            moving = asyncio.create_task(at.owner.ask(PlayMove(WHITE, "e4")))
            await until(lambda: opinion.asked)
            asked = now()
            pass_seconds(300)
            opinion.gate.set()
            await moving
            (ply,) = at.notebook.of("ply.played")
            assert ply.at <= asked
            assert at.notebook.of("turn.started")[-1].at >= asked + timedelta(seconds=300)

    run(main())


# --- storage ---


def test_nothing_is_lost_while_storage_is_out_of_reach() -> None:
    async def main() -> None:
        white, black = scripted_pair(FOOLS_MATE)
        async with table(white, black, unavailable=3) as at:
            await at.notebook.until_played(1)
            at.notebook.unavailable = 2
            await at.finish()
            assert at.notebook.moves == FOOLS_MATE
            sequences = [event.sequence for event in at.notebook.events]
            assert sequences == list(range(2, len(sequences) + 2))  # one copy of each
            assert len(at.notebook.tried) == len(at.notebook.changes) + 5
            assert at.notebook.tried[0] is at.notebook.tried[3]  # the same change each time

    run(main())


def test_nobody_pays_while_storage_is_out_of_reach() -> None:
    async def main() -> None:
        async with table(time_control="300") as at:
            await at.notebook.until(lambda: at.notebook.changes)
            at.notebook.unavailable, at.notebook.outage = 1, 301
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await at.owner.ask(PlayMove(BLACK, "e5"))
            assert at.notebook.moves == "e4 e5"
            assert at.match.status is MatchStatus.RUNNING

    run(main())


def test_an_owner_that_lost_its_match_ends_quietly() -> None:
    async def main() -> None:
        black = ScriptedPlayer()
        async with table(None, black) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            at.notebook.gate.clear()
            at.notebook.lost = True
            in_hand = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            waiting = asyncio.create_task(at.owner.ask(Resign(WHITE)))
            await asyncio.sleep(0)
            at.notebook.gate.set()
            await at.finish()
            assert black.cancelled == 1
            for task in (in_hand, waiting):
                with pytest.raises(OwnerGone):
                    await task
            with pytest.raises(OwnerGone):
                await at.owner.ask(Resign(WHITE))
            assert at.notebook.of("draw.offered", "match.ended") == []

    run(main())


def test_shutting_down_leaves_no_task_and_answers_everybody() -> None:
    async def main() -> None:
        black = ScriptedPlayer()
        async with table(None, black) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            at.notebook.gate.clear()
            in_hand = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            waiting = asyncio.create_task(at.owner.ask(Resign(WHITE)))
            await asyncio.sleep(0)
            assert at.task is not None
            at.task.cancel()
            for task in (in_hand, waiting):
                with pytest.raises(OwnerGone):
                    await task
            await asyncio.wait([at.task])
            assert at.task.cancelled()
            assert black.cancelled == 1

    run(main())


def test_a_command_that_breaks_the_match_is_told_why() -> None:
    async def main() -> None:
        match = Match.create("match-1", match_settings(), now())
        notebook = Notebook(0)
        owner = Owner(match, EPOCH, WORKER, players={}, writer=notebook, observer=Counts())
        task = asyncio.create_task(owner.run())
        await notebook.until(lambda: notebook.changes)
        notebook.broken = ZeroDivisionError("a bug")
        asked = asyncio.create_task(owner.ask(Resign(WHITE)))
        waiting = asyncio.create_task(owner.ask(Resign(BLACK)))
        with pytest.raises(ZeroDivisionError):
            await asked
        with pytest.raises(StorageUnavailable, match="try again later"):  # but not at once
            await waiting
        with pytest.raises(ExceptionGroup):
            await task

    run(main())


def test_a_database_that_is_slow_costs_nobody_time() -> None:
    async def main() -> None:
        async with table(None, None, time_control="100") as at:
            await at.notebook.until(lambda: at.notebook.changes)
            at.notebook.gate.clear()
            moving = asyncio.create_task(at.owner.ask(PlayMove(WHITE, "e4")))
            await at.notebook.until_blocked()
            pass_seconds(500)
            at.notebook.gate.set()
            await moving
            await at.notebook.until(lambda: len(at.notebook.of("turn.started")) == 3)
            begun = at.notebook.of("turn.started")[-1]
            assert begun.fields["color"] == "black"
            assert begun.fields["spent_ms"] < 100_000
            await at.owner.ask(PlayMove(BLACK, "e5"))
            assert at.match.game.clock is not None
            assert at.match.game.clock.remaining(BLACK) > timedelta(seconds=50)

    run(main())


def test_no_flag_falls_while_the_database_is_away() -> None:
    async def main() -> None:
        answers = now()
        async with table(None, None, time_control="100", answered_at=lambda: answers) as at:
            await at.notebook.until(lambda: at.notebook.changes)
            answers = now()
            pass_seconds(200)
            await at.owner.ask(Draw(BLACK, DrawAction.OFFER))  # which has the clock looked at
            begun = at.notebook.of("turn.started")[-1]
            assert begun.fields["spent_ms"] < 100_000
            assert at.match.outcome is None
            answers = now() + timedelta(days=1)  # it is back
            pass_seconds(101)
            with pytest.raises(OwnerGone):
                await at.owner.ask(Draw(WHITE, DrawAction.DECLINE))
            assert at.match.outcome == Outcome(BLACK, Termination.TIME_FORFEIT)

    run(main())


def test_a_player_thinks_on_while_the_database_is_away() -> None:
    """What it was asked for may be paid for, and would be asked for again."""

    async def main() -> None:
        answers, go = now(), asyncio.Event()
        white = ScriptedPlayer(Waits(go, "e4"), name="white")
        async with table(white, None, time_control="100", answered_at=lambda: answers) as at:
            await white.asked()
            answers = now()
            pass_seconds(200)
            await at.owner.ask(Draw(BLACK, DrawAction.OFFER))  # which has the clock looked at
            await at.notebook.until(lambda: len(at.notebook.of("turn.started")) > 1)
            assert white.cancelled == 0
            answers = now() + timedelta(days=1)  # it is back
            go.set()
            await at.notebook.until_played(1)
            assert len(white.turns) == 1

    run(main())


def test_after_a_fault_of_a_model_what_was_thinking_is_charged() -> None:
    def think(turn: Turn) -> Exception:
        pass_seconds(20)
        turn.listener.excuse(now() - timedelta(seconds=5), now())
        return ServerFault("some", 500)

    async def main() -> None:
        white = ScriptedPlayer(think, NEVER, name="white")
        async with table(white, None, time_control="100"):
            turn = await white.asked(2)
            assert timedelta(seconds=14) < turn.spent < timedelta(seconds=20)

    run(main())


def test_a_match_that_waits_for_its_turn_is_aborted_without_beginning() -> None:
    async def main() -> None:
        async with table(ScriptedPlayer("e4"), ScriptedPlayer("e5"), first=Abort("no")) as at:
            await at.finish()
            assert [event.type for event in at.notebook.events] == ["match.ended"]
            assert at.match.status is MatchStatus.ABORTED

    run(main())


def test_the_log_of_an_owner_rebuilds_its_match() -> None:
    async def main() -> None:
        white = ScriptedPlayer("e5", Fault(), "e4", offers("Nf3"), NEVER, name="white")
        async with table(white, None, unavailable=1) as at:
            await at.notebook.until_played(1)
            await at.owner.ask(PlayMove(BLACK, "e5"))
            await at.notebook.until_played(3)
            await at.owner.ask(Takeback(BLACK))
            await at.owner.ask(PlayMove(BLACK, "c5"))
            await white.asked(5)
            await at.owner.ask(Pause("done"))
            await at.finish()
        created = Match.create("match-1", at.match.settings, at.match.created_at).new_events
        again = Match.replay(at.match.settings, [*created, *at.notebook.events])
        assert everything(again) == everything(at.match)

    run(main())


@pytest.mark.parametrize("color", Color)
def test_whoever_begins_is_asked_first(color: Color) -> None:
    async def main() -> None:
        fen = f"4k3/8/8/8/8/8/4P3/4K3 {color.value[0]} - - 0 1"
        white, black = ScriptedPlayer(), ScriptedPlayer()
        async with table(white, black, initial_fen=fen):
            await (white if color is WHITE else black).asked()
            assert (len(white.turns), len(black.turns)) == ((1, 0) if color is WHITE else (0, 1))

    run(main())
