"""Owner: what people do in a match that runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from app.matches.commands import (
    Abort,
    Draw,
    DrawAction,
    Pause,
    PlayMove,
    Resign,
    Resume,
    Takeback,
    TakebackAction,
)
from app.matches.errors import CannotDo, MatchIsOver, NotYourTurn
from app.matches.match import Match, MatchStatus
from app.matches.owner import OwnerGone
from engine import (
    IllegalMove,
    Outcome,
    Termination,
)
from tests.app.matches.owning import (
    FOOLS_MATE,
    now,
    pass_seconds,
    run,
    table,
    types_of,
)
from tests.app.matches.telling import BLACK, WHITE, everything, match_settings
from tests.support.players import (
    NEVER,
    ScriptedPlayer,
    Waits,
)
from tests.support.processes import until

pytestmark = pytest.mark.usefixtures("short_pauses")


# --- commands ---


def test_humans_play_a_match() -> None:
    async def main() -> None:
        async with table(time_control="60") as at:
            for number, move in enumerate(FOOLS_MATE.split()):
                match = await at.owner.ask(PlayMove(WHITE if number % 2 == 0 else BLACK, move))
                assert match is at.match
                assert at.notebook.of("ply.played")[-1].fields["san"] == move  # durable by then
            await at.finish()
            assert at.match.outcome == Outcome(BLACK, Termination.CHECKMATE)
            sources = {event.fields["source"] for event in at.notebook.of("ply.played")}
            assert sources == {"human"}

    run(main())


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (PlayMove(WHITE, "e5"), IllegalMove),
        (PlayMove(BLACK, "e5"), NotYourTurn),
        (Resume(), CannotDo),
        (Draw(WHITE, DrawAction.ACCEPT), CannotDo),
        (Draw(WHITE, DrawAction.CLAIM, "e5"), IllegalMove),
    ],
)
def test_a_refused_command_changes_nothing(command: Any, error: type[Exception]) -> None:
    async def main() -> None:
        async with table() as at:
            await at.notebook.until(lambda: at.notebook.changes)
            before = everything(at.match)
            with pytest.raises(error):
                await at.owner.ask(command)
            assert everything(at.match) == before
            assert len(at.notebook.changes) == 1
            await at.owner.ask(PlayMove(WHITE, "e4"))  # and the match goes on

    run(main())


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (Resign(WHITE), MatchStatus.ENDED),
        (Abort("enough"), MatchStatus.ABORTED),
        (Pause("tea"), MatchStatus.PAUSED),
    ],
)
def test_a_search_is_cancelled_by_what_stops_the_match(command: Any, status: MatchStatus) -> None:
    async def main() -> None:
        black = ScriptedPlayer()
        async with table(None, black) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            match = await at.owner.ask(command)
            assert match.status is status
            await at.finish()
            assert black.cancelled == 1

    run(main())


def test_taking_back_cancels_the_search() -> None:
    async def main() -> None:
        black = ScriptedPlayer(NEVER, "c5")
        async with table(None, black) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            await at.owner.ask(Takeback(WHITE))
            assert at.match.color is WHITE
            await until(lambda: black.cancelled == 1)
            assert at.notebook.changes[-1].keep_plies == 0
            await at.owner.ask(PlayMove(WHITE, "d4"))
            await at.notebook.until_played(3)
            assert at.notebook.moves == "e4 d4 c5"
            assert [ply.move.uci() for ply in black.turns[1].plies] == ["d2d4"]

    run(main())


def test_taking_back_after_the_answer_leaves_the_player_alone() -> None:
    async def main() -> None:
        black = ScriptedPlayer("e5", "c5")
        async with table(None, black) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await at.notebook.until_played(2)
            await at.owner.ask(Takeback(WHITE, TakebackAction.ASK))
            assert len(at.match.game.line) == 0
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await at.notebook.until_played(4)
            assert at.notebook.moves == "e4 e5 e4 c5"
            assert black.cancelled == 0

    run(main())


def test_an_offer_does_not_disturb_a_search() -> None:
    async def main() -> None:
        go = asyncio.Event()
        black = ScriptedPlayer(Waits(go, "e5"))
        async with table(None, black) as at:
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await black.asked()
            await at.owner.ask(Draw(WHITE, DrawAction.OFFER))
            go.set()
            await at.notebook.until_played(2)
            assert (black.cancelled, len(black.turns)) == (0, 1)
            assert len(at.notebook.of("draw.declined")) == 1

    run(main())


def test_a_paused_match_is_left_and_resumed_by_another_owner() -> None:
    async def main() -> None:
        white = ScriptedPlayer(name="white")
        async with table(white, ScriptedPlayer(name="black"), time_control="60") as at:
            await white.asked()
            pass_seconds(20)
            await at.owner.ask(Pause())
            await at.finish()
            with pytest.raises(OwnerGone):
                await at.owner.ask(Resume())
            match = at.match
        again = ScriptedPlayer("e4", name="white")
        spent = match.spent
        assert spent >= timedelta(seconds=20)
        async with table(again, ScriptedPlayer(name="black"), match=match) as at:
            await at.owner.ask(Resume())
            await at.notebook.until_played(1)
            assert types_of(at.notebook.events)[:2] == ["match.resumed", "turn.started"]
            assert again.turns[0].spent >= spent
            assert at.notebook.of("ply.played")[0].fields["elapsed_ms"] >= 20_000

    run(main())


def test_a_paused_match_takes_commands_without_running() -> None:
    async def main() -> None:
        white = ScriptedPlayer(name="white")
        match = Match.create("match-1", match_settings("white", "human"), now())
        match.start(now())
        match.pause(now())
        match.new_events.clear()
        async with table(white, None, match=match) as at:
            await at.owner.ask(Draw(BLACK, DrawAction.OFFER))
            await at.finish()
            assert white.turns == []
            assert at.match.status is MatchStatus.PAUSED
            assert types_of(at.notebook.events) == ["draw.offered"]

    run(main())


def test_a_command_of_a_caller_who_went_away_is_not_performed() -> None:
    async def main() -> None:
        async with table() as at:
            await at.notebook.until(lambda: at.notebook.changes)
            at.notebook.gate.clear()
            offering = asyncio.create_task(at.owner.ask(Draw(WHITE, DrawAction.OFFER)))
            await at.notebook.until_blocked()
            gone = asyncio.create_task(at.owner.ask(Resign(WHITE)))
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.wait([gone])
            offering.cancel()  # too late: it is being written
            await asyncio.wait([offering])
            at.notebook.gate.set()
            await at.owner.ask(PlayMove(WHITE, "e4"))
            assert at.match.status is MatchStatus.RUNNING
            assert len(at.notebook.of("draw.offered")) == 1

    run(main())


def test_commands_are_performed_one_by_one_in_their_order() -> None:
    async def main() -> None:
        async with table() as at:
            moves = FOOLS_MATE.split()[:3]
            tasks = [
                asyncio.create_task(at.owner.ask(PlayMove(color, move)))
                for color, move in zip((WHITE, BLACK, WHITE), moves, strict=True)
            ]
            await asyncio.gather(*tasks)
            assert at.notebook.moves == "f3 e5 g4"

    run(main())


def test_what_is_asked_after_the_end_finds_nobody() -> None:
    async def main() -> None:
        async with table() as at:
            resigning = asyncio.create_task(at.owner.ask(Resign(WHITE)))
            moving = asyncio.create_task(at.owner.ask(PlayMove(WHITE, "e4")))
            await resigning
            with pytest.raises((OwnerGone, MatchIsOver)):
                await moving
            await at.finish()
            with pytest.raises(OwnerGone):
                await at.owner.ask(Resign(BLACK))

    run(main())
