"""Owner: runs a match, whatever players do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.player import Advice, Candidate, Decision, Rejection
from app.matches.commands import (
    Draw,
    DrawAction,
    Pause,
    PlayMove,
    Resume,
)
from app.matches.events import Event
from app.matches.match import Match
from app.matches.saying import printable
from app.matches.settings import Feedback, IllegalMoves, LastResort
from engine import (
    Evaluation,
    Move,
    Outcome,
    Termination,
    UnreadableMove,
)
from tests.app.matches.owning import (
    FOOLS_MATE,
    SHUFFLE,
    WORKER,
    run,
    table,
    types_of,
)
from tests.app.matches.telling import BLACK, WHITE
from tests.support.players import (
    ACCEPTS,
    CLAIMS,
    NEVER,
    RESIGNS,
    ScriptedPlayer,
    Waits,
    offers,
    scripted_pair,
)

pytestmark = pytest.mark.usefixtures("short_pauses")


# --- a match of players ---


def test_players_play_a_match_to_its_end() -> None:
    async def main() -> None:
        white, black = scripted_pair(FOOLS_MATE)
        async with table(white, black, time_control="60+1") as at:
            await at.finish()
            assert at.match.outcome == Outcome(BLACK, Termination.CHECKMATE)
            assert at.notebook.moves == FOOLS_MATE
            ply = ["ply.played", "turn.started"]
            assert types_of(at.notebook.events) == [
                "match.started",
                "turn.started",
                *3 * ply,
                "ply.played",
                "match.ended",
            ]
            # One change for the start and one for each ply, durable before the next is thought of.
            assert [len(change.plies) for change in at.notebook.changes] == [0, 1, 1, 1, 1]
            assert [change.owner for change in at.notebook.changes] == [WORKER] * 4 + [None]
            sources = [event.fields["source"] for event in at.notebook.of("ply.played")]
            assert sources == ["white", "black"] * 2
            assert at.counts.all == {("decided", "white"): 2, ("decided", "black"): 2}
            assert min(at.counts.took) >= timedelta(0)

    run(main())


def test_a_player_is_asked_only_when_the_last_ply_is_durable() -> None:
    async def main() -> None:
        white, black = scripted_pair("e4 e5")
        async with table(white, black) as at:
            await black.asked()
            await white.asked(2)
            at.notebook.gate.clear()
        white, black = ScriptedPlayer(Waits(go := asyncio.Event(), "e4")), ScriptedPlayer()
        async with table(white, black) as at:
            await white.asked()
            at.notebook.gate.clear()
            go.set()
            await at.notebook.until_blocked()
            assert black.turns == []
            at.notebook.gate.set()
            await black.asked()
            assert len(at.notebook.of("ply.played")) == 1

    run(main())


@pytest.mark.parametrize("text", ["e4", "e2e4", "e2-e4", "E2E4", "1. e4", "e4!", "♙e4"])
def test_moves_are_read_in_many_notations(text: str) -> None:
    async def main() -> None:
        async with table(ScriptedPlayer(text), ScriptedPlayer()) as at:
            await at.notebook.until_played(1)
            assert at.notebook.of("ply.played")[0].fields["uci"] == "e2e4"

    run(main())


def test_a_move_may_be_given_as_it_is() -> None:
    async def main() -> None:
        good, bad = Move.from_uci("e2e4"), Move.from_uci("e2e5")
        async with table(ScriptedPlayer(bad, good), ScriptedPlayer()) as at:
            await at.notebook.until_played(1)
            (rejected,) = at.notebook.of("attempt.rejected")
            assert rejected.fields["move"] == "e2e5"
            assert rejected.fields["kind"] == "IllegalMove"

    run(main())


def test_what_a_player_thinks_of_its_own_move_is_told_with_the_ply() -> None:
    async def main() -> None:
        own = Decision(
            "e4",
            (Advice("me", (Candidate(Move.from_uci("e2e4"), "space \ud800"),)),),
            evaluation=Evaluation(centipawns=20),
        )
        async with table(ScriptedPlayer(own), ScriptedPlayer()) as at:
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            assert ply.fields["decision"] == {"reason": "space ?", "attempts": 1}
            assert ply.fields["evaluation"] == {"centipawns": 20}
            assert at.notebook.of("advice.given") == []

    run(main())


def test_what_a_team_says_is_told_before_the_ply() -> None:
    async def main() -> None:
        two = (Candidate(Move.from_uci("e2e4"), "a"), Candidate(Move.from_uci("d2d4"), "\udfff"))
        advised = Decision("e4", (Advice("tactics", two), Advice("plans", two[:1])))
        async with table(ScriptedPlayer(advised), ScriptedPlayer()) as at:
            await at.notebook.until_played(1)
            assert types_of(at.notebook.events)[2:5] == [
                "advice.given",
                "advice.given",
                "ply.played",
            ]
            given = [event.fields for event in at.notebook.of("advice.given")]
            assert [fields["by"] for fields in given] == ["tactics", "plans"]
            assert given[0]["candidates"][1] == {"uci": "d2d4", "san": "d4", "reason": "?"}
            assert (
                at.notebook.of("ply.played")[0].fields["decision"]["reason"] == "a"
            )  # whoever chose it last

    run(main())


def test_words_are_bounded_and_can_be_written() -> None:
    assert printable("a\ud800b") == "a?b"
    assert printable("x" * 5000) == "x" * 2000
    assert printable("äö", 1) == "ä"


# --- refused moves ---


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_player_that_brings_forth_no_legal_move_forfeits(retries: int) -> None:
    async def main() -> None:
        white = ScriptedPlayer(*["e5"] * 9, name="white")
        policy = IllegalMoves(retries=retries)
        async with table(white, ScriptedPlayer(), illegal_moves=policy) as at:
            await at.finish()
            assert at.match.outcome == Outcome(BLACK, Termination.RULES_INFRACTION)
            rejected = at.notebook.of("attempt.rejected")
            assert [event.fields["attempt"] for event in rejected] == [*range(1, retries + 2)]
            assert len(white.turns) == retries + 1
            assert at.counts.all["rejected", "white"] == retries + 1

    run(main())


def test_the_last_retry_may_save_it() -> None:
    async def main() -> None:
        white = ScriptedPlayer("e5", "e5", "e4", "e5", "e5", "d4")
        black = ScriptedPlayer("e5")
        async with table(white, black, illegal_moves=IllegalMoves(retries=2)) as at:
            await at.notebook.until_played(3)
            assert at.notebook.moves == "e4 e5 d4"
            plies = [ply for change in at.notebook.changes for ply in change.plies]
            assert [ply.attempts is None for ply in plies] == [False, True, False]
            first, second, third = at.notebook.of("ply.played")
            assert first.fields["decision"]["attempts"] == 3
            assert second.fields["decision"]["attempts"] == 1
            assert third.fields["decision"]["attempts"] == 3  # each turn counts anew

    run(main())


WHY = (
    "'e5' in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 is illegal: "
    "the piece does not move like that"
)


@pytest.mark.parametrize(
    ("feedback", "told", "of_nothing"),
    [
        (Feedback.NONE, "", ""),
        (Feedback.ILLEGAL, "it is illegal", "it is illegal"),
        (Feedback.WHY, WHY, "there was no move"),
    ],
)
def test_what_a_player_is_told_of_refused_moves(
    feedback: Feedback, told: str, of_nothing: str
) -> None:
    async def main() -> None:
        white = ScriptedPlayer("e5", None, "e4")
        policy = IllegalMoves(feedback=feedback)
        async with table(white, ScriptedPlayer(), illegal_moves=policy) as at:
            await at.notebook.until_played(1)
            assert [turn.rejections for turn in white.turns] == [
                (),
                (Rejection("e5", told),),
                (Rejection("e5", told), Rejection("", of_nothing)),
            ]
            # Watchers are told why, whatever the player is.
            details = [event.fields["detail"] for event in at.notebook.of("attempt.rejected")]
            assert details == [WHY, "there was no move"]

    run(main())


@pytest.mark.parametrize(
    ("said", "kind", "move"),
    [
        ("e5", "IllegalMove", "e5"),
        ("I would castle, I think", "UnreadableMove", "I would castle, I think"),
        ("", "UnreadableMove", ""),
        (None, "missing", ""),
        ("N3", "UnreadableMove", "N3"),
        ("x" * 500, "UnreadableMove", "x" * 200),
        ("e\ud8005", "UnreadableMove", "e?5"),
    ],
)
def test_refusals_are_counted_by_kind(said: str | None, kind: str, move: str) -> None:
    async def main() -> None:
        policy = IllegalMoves(retries=0)
        async with table(ScriptedPlayer(said), ScriptedPlayer(), illegal_moves=policy) as at:
            await at.finish()
            (rejected,) = at.notebook.of("attempt.rejected")
            assert (rejected.fields["kind"], rejected.fields["move"]) == (kind, move)
            rejected.encode().encode()  # whatever was said can be stored

    run(main())


def _advised(said: str, *candidates: str) -> Decision:
    listed = tuple(Candidate(Move.from_uci(each), "") for each in candidates)
    return Decision(said, (Advice("one", ()), Advice("two", listed)))


OWN = Decision("e5", (Advice("me", (Candidate(Move.from_uci("a2a3"), ""),)),))


@pytest.mark.parametrize(
    ("script", "played"),
    [
        ([_advised("e5", "e2e5", "d2d4", "g1f3")], "d2d4"),
        ([_advised("e5", "d2d4", "c2c4"), _advised("e5", "g1f3")], "g1f3"),
        ([_advised("e5", "d2d4"), Decision("e5")], "d2d4"),  # it is still on the table
        ([_advised("e5", "d2d4"), _advised("e5", "e2e5")], "d2d4"),
        ([OWN], "a2a3"),
        ([OWN, Decision("e5")], "a2a3"),  # its own words are not lost with its move
    ],
)
def test_the_best_candidate_is_the_last_resort(script: list[Decision], played: str) -> None:
    async def main() -> None:
        policy = IllegalMoves(len(script) - 1, then=LastResort.CANDIDATE)
        white = ScriptedPlayer(*script, name="white")
        async with table(white, ScriptedPlayer(), illegal_moves=policy) as at:
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            assert ply.fields["uci"] == played
            assert ply.fields["source"] == "white (candidate)"
            assert ply.fields["decision"] == {"reason": "candidate", "attempts": len(script)}

    run(main())


@pytest.mark.parametrize("resort", [LastResort.RANDOM, LastResort.CANDIDATE])
def test_a_random_move_is_the_last_resort(resort: LastResort) -> None:
    async def played(seed: int) -> str:
        policy = IllegalMoves(0, then=resort)
        white = ScriptedPlayer("e5", name="white")
        async with table(white, ScriptedPlayer(), illegal_moves=policy, seed=seed) as at:
            await at.notebook.until_played(1)
            (ply,) = at.notebook.of("ply.played")
            assert ply.fields["source"] == "white (random)"  # which it is, without a candidate
            return str(ply.fields["uci"])

    async def main() -> None:
        moves = [await played(seed) for seed in (1, 1, 2, 3, 4, 5, 6, 7)]
        assert moves[0] == moves[1]
        assert len(set(moves)) > 1

    run(main())


def test_refused_attempts_are_remembered_by_the_next_owner() -> None:
    async def main() -> None:
        policy = IllegalMoves(retries=2, feedback=Feedback.ILLEGAL)
        white = ScriptedPlayer("e5", name="white")
        async with table(white, ScriptedPlayer(name="black"), illegal_moves=policy) as at:
            await white.asked(2)
            events = [Event.decode(each.encode()) for each in at.notebook.events]
            created = Match.create("match-1", at.match.settings, at.match.created_at)
            match = Match.replay(at.match.settings, [*created.new_events, *events])
        again = ScriptedPlayer("e5", "e5", name="white")
        async with table(again, ScriptedPlayer(name="black"), match=match) as at:
            await at.finish()
            assert again.turns[0].rejections == (Rejection("e5", "it is illegal"),)
            assert len(again.turns) == 2
            assert at.match.outcome == Outcome(BLACK, Termination.RULES_INFRACTION)

    run(main())


def test_a_pause_does_not_make_refused_attempts_good() -> None:
    async def main() -> None:
        white = ScriptedPlayer("e5", NEVER, name="white")
        async with table(white, ScriptedPlayer(), illegal_moves=IllegalMoves(1)) as at:
            await white.asked(2)
            pausing = asyncio.create_task(at.owner.ask(Pause()))
            resuming = asyncio.create_task(at.owner.ask(Resume()))
            await asyncio.gather(pausing, resuming)
            turn = await white.asked(3)
            assert len(turn.rejections) == 1

    run(main())


# --- resigning, draws ---


@pytest.mark.parametrize(
    ("white", "black", "outcome", "moves"),
    [
        ([RESIGNS], [], Outcome(BLACK, Termination.RESIGNATION), ""),
        (["e4"], [RESIGNS], Outcome(WHITE, Termination.RESIGNATION), "e4"),
        ([offers("e4")], [ACCEPTS], Outcome(None, Termination.AGREEMENT), "e4"),
        ([offers("e4")], [offers("e5")], Outcome(None, Termination.AGREEMENT), "e4"),
        (
            [offers("e4")],
            [replace(ACCEPTS, move="e5")],
            Outcome(None, Termination.AGREEMENT),
            "e4",
        ),
        (
            [offers("e4")],
            [replace(ACCEPTS, move="none", fault=UnreadableMove("none"))],
            Outcome(None, Termination.AGREEMENT),
            "e4",
        ),
        ([offers("e4"), RESIGNS], ["e5"], Outcome(BLACK, Termination.RESIGNATION), "e4 e5"),
        # To accept what nobody offered is to make the move it came with.
        (
            [replace(ACCEPTS, move="e4"), RESIGNS],
            ["e5"],
            Outcome(BLACK, Termination.RESIGNATION),
            "e4 e5",
        ),
        # So is a claim that does not hold.
        (
            [replace(CLAIMS, move="e4"), RESIGNS],
            ["e5"],
            Outcome(BLACK, Termination.RESIGNATION),
            "e4 e5",
        ),
    ],
)
def test_ends_without_a_last_move(
    white: list[Any], black: list[Any], outcome: Outcome, moves: str
) -> None:
    async def main() -> None:
        async with table(ScriptedPlayer(*white), ScriptedPlayer(*black)) as at:
            await at.finish()
            assert at.match.outcome == outcome
            assert at.notebook.moves == moves
            assert at.notebook.of("attempt.rejected") == []
            assert len(at.notebook.of("match.ended")) == 1

    run(main())


def test_a_claim_without_a_move_that_does_not_hold_is_no_move() -> None:
    async def main() -> None:
        white = ScriptedPlayer(CLAIMS, name="white")
        policy = IllegalMoves(0)
        async with table(white, ScriptedPlayer(), illegal_moves=policy) as at:
            await at.finish()
            assert at.notebook.of("attempt.rejected")[0].fields["kind"] == "missing"

    run(main())


@pytest.mark.parametrize(
    ("plies", "claim"),
    [
        (8, CLAIMS),
        (8, replace(CLAIMS, move="a3")),  # as it stands, whatever the move
        (7, replace(CLAIMS, move="Ng8")),
        (7, replace(CLAIMS, move=Move.from_uci("f6g8"))),
    ],
)
def test_claims_that_hold(plies: int, claim: Decision) -> None:
    async def main() -> None:
        moves = SHUFFLE.split()[:plies]
        # A human plays, so that the draw is there to be claimed; the claimant is a player.
        claimant = ScriptedPlayer(*moves[plies % 2 :: 2], claim)
        seats = (claimant, None) if plies % 2 == 0 else (None, claimant)
        async with table(*seats) as at:
            for number, move in enumerate(moves):
                await at.notebook.until_played(number)
                if number % 2 != plies % 2:
                    await at.owner.ask(PlayMove(at.match.color, move))
            await at.finish()
            assert at.match.outcome == Outcome(None, Termination.THREEFOLD_REPETITION)
            assert at.notebook.moves == " ".join(moves)

    run(main())


def test_a_player_sees_the_offer_of_a_human() -> None:
    async def main() -> None:
        black = ScriptedPlayer(ACCEPTS)
        async with table(None, black) as at:
            await at.owner.ask(Draw(WHITE, DrawAction.OFFER))
            await at.owner.ask(PlayMove(WHITE, "e4"))
            await at.finish()
            assert black.turns[0].draw_offered
            assert at.match.outcome == Outcome(None, Termination.AGREEMENT)

    run(main())
