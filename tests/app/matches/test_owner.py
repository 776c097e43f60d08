"""Owner: runs a match, whatever players, people and the database do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

import app.matches.owner
from agents.errors import AgentError
from agents.models.errors import ServerFault
from agents.player import Advice, Candidate, Decision, Rejection, Turn
from agents.uci.analyser import Analysis, Variation
from agents.uci.info import Score
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
from app.matches.events import Event
from app.matches.match import Match, MatchStatus
from app.matches.owner import FAULTS, Owner, OwnerGone
from app.matches.saying import printable
from app.matches.settings import AnalysisSettings, Feedback, IllegalMoves, LastResort
from app.persistence.errors import StorageUnavailable
from engine import (
    Color,
    Evaluation,
    IllegalMove,
    Move,
    Outcome,
    Position,
    Termination,
    UnreadableMove,
)
from tests.app.matches.owning import (
    EPOCH,
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
    ACCEPTS,
    CLAIMS,
    NEVER,
    RESIGNS,
    Fault,
    ScriptedPlayer,
    Waits,
    offers,
    scripted_pair,
)
from tests.support.processes import until

FOOLS_MATE = "f3 e5 g4 Qh4#"
SHUFFLE = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fault the owner waits, but tests do not; nor do they wait for time to pass."""
    monkeypatch.setattr(app.matches.owner, "now", now)
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", timedelta(milliseconds=1))


def _types(events: list[Event]) -> list[str]:
    return [event.type.value for event in events]


# --- a match of players ---


def test_players_play_a_match_to_its_end() -> None:
    async def main() -> None:
        white, black = scripted_pair(FOOLS_MATE)
        async with table(white, black, time_control="60+1") as at:
            await at.finish()
            assert at.match.outcome == Outcome(BLACK, Termination.CHECKMATE)
            assert at.notebook.moves == FOOLS_MATE
            ply = ["ply.played", "turn.started"]
            assert _types(at.notebook.events) == [
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
            assert _types(at.notebook.events)[2:5] == ["advice.given", "advice.given", "ply.played"]
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
            assert _types(at.notebook.events)[:2] == ["match.resumed", "turn.started"]
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
            assert _types(at.notebook.events) == ["draw.offered"]

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
