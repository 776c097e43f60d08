"""A match as a value: what may be done to it when, and what it then tells."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from agents.models.budget import Budget
from agents.player import Advice, Candidate
from app.matches.commands import (
    Abort,
    Command,
    Draw,
    DrawAction,
    Hold,
    Pause,
    PlayMove,
    Resign,
    Resume,
    Takeback,
    TakebackAction,
)
from app.matches.errors import CannotDo, MatchIsOver, NotYourTurn
from app.matches.match import Match, MatchStatus, PauseCause
from app.matches.storing import take_change
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
from tests.app.matches.telling import (
    BLACK,
    T0,
    WHITE,
    after,
    everything,
    forget,
    new_match,
    running,
    told,
    types,
)

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
#: Two knights there and back, twice: the starting position for the third time.
SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6", "Ng1", "Ng8")


def _created() -> Match:
    return new_match(time_control="60+1")


def _running() -> Match:
    return running(time_control="60+1")


def _paused() -> Match:
    match = _running()
    match.pause(after(1))
    return match


def _ended() -> Match:
    match = _running()
    match.resign(WHITE, after(1))
    return match


def _aborted() -> Match:
    match = _running()
    match.abort(after(1))
    return match


IN_EACH_STATUS = {
    "created": _created,
    "running": _running,
    "paused": _paused,
    "ended": _ended,
    "aborted": _aborted,
}
#: What becomes of each command in a match of each unfinished status: None if it is done.
DOES = dict[str, type[Exception] | None]


def _does(
    created: type[Exception] | None,
    running: type[Exception] | None,
    paused: type[Exception] | None,
) -> DOES:
    over = {"ended": MatchIsOver, "aborted": MatchIsOver}
    return {"created": created, "running": running, "paused": paused, **over}


COMMANDS: list[tuple[Command, DOES]] = [
    (PlayMove(WHITE, "e4"), _does(CannotDo, None, CannotDo)),
    (PlayMove(BLACK, "e5"), _does(CannotDo, NotYourTurn, CannotDo)),
    (PlayMove(WHITE, "e5"), _does(CannotDo, IllegalMove, CannotDo)),
    (PlayMove(WHITE, "hello"), _does(CannotDo, UnreadableMove, CannotDo)),
    (Hold("x"), _does(None, None, CannotDo)),
    (Hold("x", also_paused=True), _does(None, None, None)),
    (Hold("x", budget=Budget(calls=1)), _does(None, None, None)),
    (Resign(WHITE), _does(None, None, None)),
    (Resign(BLACK), _does(None, None, None)),
    (Draw(WHITE, DrawAction.OFFER), _does(None, None, None)),
    (Draw(BLACK, DrawAction.OFFER), _does(None, None, None)),
    (Draw(WHITE, DrawAction.ACCEPT), _does(CannotDo, CannotDo, CannotDo)),
    (Draw(WHITE, DrawAction.DECLINE), _does(CannotDo, CannotDo, CannotDo)),
    (Draw(WHITE, DrawAction.CLAIM), _does(CannotDo, CannotDo, CannotDo)),
    (Draw(WHITE, DrawAction.CLAIM, "e4"), _does(CannotDo, CannotDo, CannotDo)),
    (Draw(WHITE, DrawAction.CLAIM, "e5"), _does(CannotDo, IllegalMove, CannotDo)),
    (Draw(BLACK, DrawAction.CLAIM), _does(CannotDo, NotYourTurn, CannotDo)),
    (Takeback(WHITE), _does(CannotDo, CannotDo, CannotDo)),
    (Takeback(WHITE, TakebackAction.ACCEPT), _does(CannotDo, CannotDo, CannotDo)),
    (Takeback(WHITE, TakebackAction.DECLINE), _does(CannotDo, CannotDo, CannotDo)),
    (Pause(), _does(CannotDo, None, CannotDo)),
    (Resume(), _does(CannotDo, CannotDo, None)),
    (Abort(), _does(None, None, None)),
]


@pytest.mark.parametrize("status", IN_EACH_STATUS)
@pytest.mark.parametrize(("command", "does"), COMMANDS, ids=[str(each) for each, _ in COMMANDS])
def test_every_command_in_every_status(command: Command, does: DOES, status: str) -> None:
    match = IN_EACH_STATUS[status]()
    assert match.status.value == status
    forget(match)
    before = everything(match)
    expected = does[status]
    if expected is None:
        command.perform(match, after(2))
        assert match.new_events
        assert everything(match) != before
        return
    with pytest.raises(expected):
        command.perform(match, after(2))
    assert match.new_events == []
    assert everything(match) == before  # nothing has changed


@pytest.mark.parametrize("status", IN_EACH_STATUS)
@pytest.mark.parametrize(
    ("do", "does"),
    [
        (lambda match: match.start(after(2)), _does(None, CannotDo, CannotDo)),
        (lambda match: match.begin_turn(after(2)), _does(CannotDo, None, CannotDo)),
        (lambda match: match.lose_on_time(after(2)), _does(CannotDo, None, CannotDo)),
        (lambda match: match.forfeit(after(2)), _does(CannotDo, None, CannotDo)),
        (lambda match: match.advise(Advice("a", ()), after(2)), _does(CannotDo, None, CannotDo)),
        (lambda match: match.reject(1, "x", None, after(2)), _does(CannotDo, None, CannotDo)),
        (
            lambda match: match.play("e4", after(2), source="x"),
            _does(CannotDo, None, CannotDo),
        ),
    ],
    ids=["start", "begin_turn", "lose_on_time", "forfeit", "advise", "reject", "play"],
)
def test_what_owners_do_in_every_status(
    do: Callable[[Match], None], does: DOES, status: str
) -> None:
    match = IN_EACH_STATUS[status]()
    forget(match)
    expected = does[status]
    if expected is None:
        do(match)
        assert match.new_events
        return
    with pytest.raises(expected):
        do(match)
    assert match.new_events == []


def test_refusals_are_sentences() -> None:
    for do, sentence in (
        (lambda: _ended().resign(WHITE, T0), "the match is over: Black wins: White resigned"),
        (lambda: _aborted().resign(WHITE, T0), "the match is over: it was aborted"),
        (lambda: _paused().start(T0), "to start is not possible: the match is paused"),
        (lambda: _paused().pause(T0), "to pause is not possible: the match is paused"),
        (lambda: _running().resume(T0), "to resume is not possible: the match is running"),
        (
            lambda: _running().refuse_unless_may_move(BLACK),
            "it is not Black's turn: White is to move",
        ),
        (
            lambda: _running().ask_takeback(BLACK, T0),
            "to take back is not possible: Black has not moved yet",
        ),
    ):
        with pytest.raises((MatchIsOver, CannotDo, NotYourTurn)) as caught:
            do()
        assert str(caught.value) == sentence


# --- events ---


def test_creation_and_start_are_told() -> None:
    match = new_match(time_control="60+1", opening="e4 e5", tags=("a", "b"))
    match.start(after(2))
    created, started, turn = match.new_events
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2"
    assert told([created, started, turn]) == [
        (
            "match.created",
            {"settings": match.settings.to_json(), "fen": fen, "opening": ["e2e4", "e7e5"]},
        ),
        ("match.started", {"fen": fen}),
        (
            "turn.started",
            {
                "ply": 3,
                "color": "white",
                "spent_ms": 0,
                "clocks": {"white_ms": 60_000, "black_ms": 60_000},
            },
        ),
    ]
    assert [event.sequence for event in match.new_events] == [1, 2, 3]
    assert [event.at for event in match.new_events] == [T0, after(2), after(2)]
    assert {event.match_id for event in match.new_events} == {"match-1"}
    assert (match.created_at, match.started_at, match.updated_at) == (T0, after(2), after(2))


def test_a_ply_is_told_with_clocks_evaluation_and_decision() -> None:
    match = running(time_control="60+1")
    match.play(
        "e2-e4",
        after(2.5),
        source="deep",
        evaluation=Evaluation(centipawns=35),
        decision={"reason": "space", "attempts": 1},
        turn_at=after(4),
    )
    ply, turn = match.new_events
    clocks = {"white_ms": 58_500, "black_ms": 60_000}
    assert told([ply, turn]) == [
        (
            "ply.played",
            {
                "ply": 1,
                "color": "white",
                "uci": "e2e4",
                "san": "e4",
                "fen": AFTER_E4,
                "elapsed_ms": 2500,
                "clocks": clocks,
                "evaluation": {"centipawns": 35},
                "source": "deep",
                "decision": {"reason": "space", "attempts": 1},
            },
        ),
        ("turn.started", {"ply": 2, "color": "black", "spent_ms": 0, "clocks": clocks}),
    ]
    assert (ply.at, turn.at) == (after(2.5), after(4))
    assert match.elapsed(after(4.25)) == timedelta(milliseconds=250)
    note = match.game.line.notes[0]
    assert (note.source, note.played_at, note.elapsed) == ("deep", after(2.5), after(2.5) - T0)


def test_an_untimed_match_has_no_clocks_yet_knows_what_a_move_took() -> None:
    match = running()
    match.play("e4", after(2), source="x")
    ply = match.new_events[0].fields
    assert ply["clocks"] is None
    assert ply["elapsed_ms"] == 2000
    assert ply["decision"] == {}
    assert ply["evaluation"] is None
    assert match.time_left(after(100_000)) is None
    assert match.clocks() is None


def test_advice_keeps_what_is_legal_and_goes_with_the_ply() -> None:
    match = running("e4")
    legal, illegal = Move.from_uci("e7e5"), Move.from_uci("e2e4")
    candidates = Candidate(illegal, "?"), Candidate(legal, "open")
    match.advise(Advice("tactics", candidates, "Let us see."), after(1.5))
    said = {
        "by": "tactics",
        "candidates": [{"uci": "e7e5", "san": "e5", "reason": "open"}],
        "words": "Let us see.",
        "abstained": "",
    }
    assert told(match.new_events) == [
        (
            "advice.given",
            {
                "ply": 2,
                "color": "black",
                **said,
            },
        )
    ]
    assert match.advice == [said]
    match.play("e5", after(2), source="x")
    assert match.advice == []
    assert match.new_plies[0].advice == [said]


def test_refused_attempts_are_told_and_go_with_the_ply() -> None:
    match = running("e4")
    error = _illegal("e5", START)
    match.reject(1, "e5", error, after(1.5))
    match.reject(2, "", None, after(1.6))
    assert told(match.new_events) == [
        (
            "attempt.rejected",
            {
                "ply": 2,
                "color": "black",
                "attempt": 1,
                "move": "e5",
                "kind": "IllegalMove",
                "detail": str(error),
            },
        ),
        (
            "attempt.rejected",
            {
                "ply": 2,
                "color": "black",
                "attempt": 2,
                "move": "",
                "kind": "missing",
                "detail": "there was no move",
            },
        ),
    ]
    kept = [
        {"attempt": 1, "move": "e5", "kind": "IllegalMove", "detail": str(error)},
        {"attempt": 2, "move": "", "kind": "missing", "detail": "there was no move"},
    ]
    assert match.attempts == kept
    match.play("e5", after(2), source="x")
    assert match.attempts == []
    assert match.new_plies[0].attempts == kept


def _illegal(text: str, fen: str) -> IllegalMove:
    with pytest.raises(IllegalMove) as caught:
        Position.from_fen(fen).parse(text)
    return caught.value


def test_the_end_is_told_with_its_outcome_and_game() -> None:
    match = running("f3", "e5", "g4", time_control="60")
    match.play("Qh4#", after(5), source="x")
    ply, ended = match.new_events
    assert ply.fields["san"] == "Qh4#"
    pgn = ended.fields.pop("pgn")
    assert told([ended]) == [
        (
            "match.ended",
            {
                "status": "ended",
                "outcome": {
                    "winner": "black",
                    "result": "0-1",
                    "termination": "checkmate",
                    "detail": "Black wins by checkmate",
                },
                "detail": "Black wins by checkmate",
                "spent_ms": 0,  # White's turn never began
            },
        )
    ]
    assert pgn == match.game.pgn()
    assert '[Result "0-1"]' in pgn
    assert "2. g4" in pgn
    assert pgn.rstrip().endswith("0-1")
    assert match.status is MatchStatus.ENDED
    assert match.is_over
    assert match.outcome == Outcome(BLACK, Termination.CHECKMATE)
    assert (match.ended_at, match.ending) == (after(5), "Black wins by checkmate")
    assert match.spent == timedelta(0)


def test_an_aborted_match_has_no_outcome() -> None:
    match = running("e4")
    match.abort(after(3), "nobody came")
    fields = match.new_events[0].fields
    pgn = fields.pop("pgn")
    assert fields == {
        "status": "aborted",
        "outcome": None,
        "detail": "nobody came",
        "spent_ms": 2000,
    }
    assert '[Termination "abandoned"]' in pgn
    assert '[Result "*"]' in pgn
    assert match.outcome is None
    assert match.ending == "nobody came"


def test_tags_of_the_game() -> None:
    match = new_match("stockfish:5", "human", opening="Italian Game: Classical")
    tags = match.game.tags
    assert tags["White"] == "stockfish:5"
    assert tags["Black"] == "human"
    assert tags["Date"] == tags["UTCDate"] == "2026.03.01"
    assert tags["UTCTime"] == "12:00:00"
    assert (tags["ECO"], tags["Opening"]) == ("C54", "Italian Game: Classical")


@pytest.mark.parametrize("loser", Color)
def test_resigning(loser: Color) -> None:
    match = running("e4")
    match.resign(loser, after(3))
    assert match.outcome == Outcome(loser.opponent, Termination.RESIGNATION)


def test_forfeiting() -> None:
    match = running("e4")
    match.forfeit(after(3))
    assert match.outcome == Outcome(WHITE, Termination.RULES_INFRACTION)


# --- clocks ---


def test_time_is_kept_in_whole_milliseconds() -> None:
    match = running(time_control="60")
    late = after(1) + timedelta(microseconds=1900)
    assert match.elapsed(late) == timedelta(milliseconds=1001)
    assert match.time_left(late) == timedelta(milliseconds=58_999)
    assert match.elapsed(T0 - timedelta(seconds=1)) == timedelta(0)


@pytest.mark.parametrize(
    ("control", "seconds", "flagged"),
    [
        ("10", 9.999, False),
        ("10", 10, True),
        ("10+5", 10, True),
        ("10d5", 14.999, False),
        ("10d5", 15, True),
        ("3s", 2.999, False),
        ("3s", 3, True),
        ("-", 100_000, False),
    ],
)
def test_a_move_after_the_time_loses_instead(control: str, seconds: float, flagged: bool) -> None:
    match = running(time_control=control)
    left = match.time_left(after(seconds))
    match.play("e4", after(seconds), source="x")
    if not flagged:
        assert types(match.new_events) == ["ply.played", "turn.started"]
        assert left is None or left > timedelta(0)
        return
    assert left is not None
    assert left <= timedelta(0)
    assert types(match.new_events) == ["match.ended"]
    assert match.outcome == Outcome(BLACK, Termination.TIME_FORFEIT)
    assert len(match.game.line) == 0
    assert match.new_plies == []


def test_an_illegal_move_is_refused_before_the_flag_is_looked_at() -> None:
    match = running(time_control="10")
    with pytest.raises(IllegalMove):
        match.play("e5", after(11), source="x")
    with pytest.raises(IllegalMove):
        match.play(Move.from_uci("e2e5"), after(1), source="x")
    assert match.new_events == []


@pytest.mark.parametrize(
    ("fen", "winner"),
    [
        ("8/8/8/4k3/8/8/4K3/4R3 b - - 0 1", WHITE),
        ("8/8/8/4k3/8/8/4K3/4R3 w - - 0 1", None),  # a bare king wins nothing
    ],
)
def test_a_fallen_flag(fen: str, winner: Color | None) -> None:
    match = running(time_control="10", initial_fen=fen)
    match.lose_on_time(after(10))
    assert match.outcome == Outcome(winner, Termination.TIME_FORFEIT)
    assert match.new_events[0].fields["spent_ms"] == 10_000


@pytest.mark.parametrize("status", ["created", "running", "paused"])
def test_a_match_is_held_with_another_budget(status) -> None:
    match = IN_EACH_STATUS[status]()
    Hold("tea", budget=Budget(calls=7)).perform(match, after(5))
    assert match.status is MatchStatus.PAUSED
    assert (match.pause_cause, match.pause_reason) == (PauseCause.EVALUATION, "tea")
    assert match.budget == Budget(calls=7)
    with pytest.raises(CannotDo):  # it is held
        Hold("tea", also_paused=True).perform(match, after(6))
    match.resume(after(7))
    assert match.status is MatchStatus.RUNNING
    assert match.started_at is not None


def test_a_pause_keeps_what_the_turn_had_taken() -> None:
    match = running("e4", time_control="60")
    match.pause(after(3.5), "tea")
    fields = {"spent_ms": 2500, "reason": "tea", "cause": "command"}
    assert told(match.new_events) == [("match.paused", fields)]
    assert match.pause_cause is PauseCause.COMMAND
    assert match.elapsed(after(1000)) == timedelta(seconds=2.5)
    assert match.time_left(after(1000)) == timedelta(seconds=57.5)
    forget(match)
    match.resume(after(1000))
    clocks = {"white_ms": 59_000, "black_ms": 60_000}
    assert told(match.new_events) == [
        ("match.resumed", {}),
        ("turn.started", {"ply": 2, "color": "black", "spent_ms": 2500, "clocks": clocks}),
    ]
    assert match.elapsed(after(1001)) == timedelta(seconds=3.5)
    match.pause(after(1002))
    match.resume(after(2000))
    match.play("e5", after(2000.5), source="x")
    assert match.new_events[-2].fields["elapsed_ms"] == 5000
    assert match.clocks() == {"white_ms": 59_000, "black_ms": 55_000}


def test_a_match_is_resumed_with_another_budget() -> None:
    match = running("e4", budget=Budget(Decimal("0.10"), 5, 6))
    match.pause(after(2))
    forget(match)
    match.resume(after(3), Budget(Decimal("2.50"), calls=9))
    resumed = match.new_events[0].fields
    assert resumed == {"budget": {"usd": "2.50", "tokens": None, "calls": 9}}
    assert match.budget == Budget(Decimal("2.50"), calls=9)
    match.pause(after(4))
    match.resume(after(5))
    assert match.budget == Budget(Decimal("2.50"), calls=9)


def test_a_turn_begins_with_what_was_spent_before() -> None:
    match = running(time_control="60")
    match.begin_turn(after(100), timedelta(seconds=7))
    assert match.elapsed(after(101)) == timedelta(seconds=8)
    assert match.turn(after(101)).spent == timedelta(seconds=8)


def test_the_turn_that_a_player_is_given() -> None:
    match = running("e4", time_control="60")
    turn = match.turn(after(3))
    assert turn.position.fen() == AFTER_E4
    assert turn.start.fen() == START
    assert [ply.move.uci() for ply in turn.plies] == ["e2e4"]
    assert turn.clock == match.game.clock
    assert turn.spent == timedelta(seconds=2)
    assert not turn.draw_offered
    match.offer_draw(BLACK, after(3))
    assert not match.turn(after(3)).draw_offered  # one's own
    match.decline_draw(WHITE, after(3))
    match.offer_draw(WHITE, after(3))
    assert match.turn(after(3)).draw_offered


# --- draws ---


def test_an_offer_stands_until_the_opponent_moves() -> None:
    match = running()
    match.offer_draw(WHITE, after(1))
    assert told(match.new_events) == [("draw.offered", {"color": "white"})]
    match.play("e4", after(2), source="x")
    assert match.draw_offer is WHITE  # one's own move leaves it
    forget(match)
    match.play("e5", after(3), source="x")
    assert types(match.new_events) == ["ply.played", "draw.declined", "turn.started"]
    assert match.new_events[1].fields == {"color": "black"}
    assert match.draw_offer is None
    with pytest.raises(CannotDo, match="none was offered"):
        match.accept_draw(BLACK, after(4))


def test_an_offer_comes_with_a_move() -> None:
    match = running()
    match.play("e4", after(1), source="x", offers_draw=True)
    assert types(match.new_events) == ["ply.played", "draw.offered", "turn.started"]
    assert match.new_events[1].fields == {"color": "white"}
    assert match.draw_offer is WHITE
    match.play("e5", after(2), source="x", offers_draw=True)  # declines, and offers one's own
    assert types(match.new_events)[3:] == [
        "ply.played",
        "draw.declined",
        "draw.offered",
        "turn.started",
    ]
    assert match.draw_offer is BLACK


def test_an_offer_that_stands_is_not_made_again_by_a_move() -> None:
    match = running()
    match.offer_draw(WHITE, after(1))
    match.play("e4", after(2), source="x", offers_draw=True)
    assert types(match.new_events) == ["draw.offered", "ply.played", "turn.started"]


def test_a_move_that_ends_the_match_answers_no_offer() -> None:
    match = running("f3", "e5", "g4")
    match.offer_draw(WHITE, after(4))
    match.play("Qh4#", after(5), source="x", offers_draw=True)
    assert types(match.new_events) == ["draw.offered", "ply.played", "match.ended"]
    assert match.draw_offer is None


@pytest.mark.parametrize("agree", [Match.accept_draw, Match.offer_draw])
@pytest.mark.parametrize("offerer", Color)
def test_agreeing(offerer: Color, agree: Callable[..., None]) -> None:
    match = running("e4")
    match.offer_draw(offerer, after(2))
    with pytest.raises(CannotDo):
        agree(match, offerer, after(2))  # one cannot take one's own
    agree(match, offerer.opponent, after(3))
    assert match.outcome == Outcome(None, Termination.AGREEMENT)
    assert match.draw_offer is None


def test_declining() -> None:
    match = running("e4")
    match.offer_draw(WHITE, after(2))
    with pytest.raises(CannotDo, match="none was offered"):
        match.decline_draw(WHITE, after(2))
    match.decline_draw(BLACK, after(3))
    assert match.new_events[-1].fields == {"color": "black"}
    assert match.draw_offer is None
    match.offer_draw(WHITE, after(4))  # and may be offered again
    assert match.draw_offer is WHITE


def test_claiming_now() -> None:
    match = running(*SHUFFLE)
    with pytest.raises(NotYourTurn):
        match.claim_draw(BLACK, None, after(10))
    match.claim_draw(WHITE, None, after(10))
    assert match.outcome == Outcome(None, Termination.THREEFOLD_REPETITION)


@pytest.mark.parametrize("intended", ["Ng8", "f6g8", Move.from_uci("f6g8")])
def test_claiming_with_an_intended_move(intended: Move | str) -> None:
    match = running(*SHUFFLE[:-1])
    with pytest.raises(CannotDo, match="three times"):
        match.claim_draw(BLACK, None, after(10))
    with pytest.raises(CannotDo):
        match.claim_draw(BLACK, "e5", after(10))
    match.claim_draw(BLACK, intended, after(10))
    assert match.outcome == Outcome(None, Termination.THREEFOLD_REPETITION)
    assert len(match.game.line) == 7  # the move is not played
    assert match.game.result == "1/2-1/2"


def test_claiming_fifty_moves() -> None:
    match = running(initial_fen="3k4/8/8/8/8/8/4R3/4K3 w - - 99 80")
    with pytest.raises(CannotDo):
        match.claim_draw(WHITE, None, after(1))
    match.claim_draw(WHITE, "Kf2", after(1))
    assert match.outcome == Outcome(None, Termination.FIFTY_MOVES)


def test_players_claim_by_themselves_and_humans_do_not() -> None:
    without = running(*SHUFFLE[:-1], white="random", black="random")
    without.play(SHUFFLE[-1], after(10), source="x")
    assert without.outcome == Outcome(None, Termination.THREEFOLD_REPETITION)
    assert not running(*SHUFFLE, white="random", black="human").is_over


# --- taking back ---


def test_taking_back_needs_a_human_opponent_to_agree() -> None:
    match = running("e4", "e5", "Nf3", time_control="60")
    Takeback(WHITE).perform(match, after(5))
    assert told(match.new_events) == [("takeback.asked", {"color": "white"})]
    assert match.takeback is WHITE
    assert len(match.game.line) == 3
    with pytest.raises(CannotDo, match="asked already"):
        Takeback(WHITE).perform(match, after(5))
    with pytest.raises(CannotDo, match="nobody asked"):
        Takeback(WHITE, TakebackAction.ACCEPT).perform(match, after(5))
    forget(match)
    Takeback(BLACK, TakebackAction.ACCEPT).perform(match, after(6))
    clocks = {"white_ms": 59_000, "black_ms": 59_000}
    assert told(match.new_events) == [
        ("takeback.taken", {"color": "white", "keep": 2}),
        ("turn.started", {"ply": 3, "color": "white", "spent_ms": 0, "clocks": clocks}),
    ]
    assert match.takeback is None
    assert match.color is WHITE
    assert match.clocks() == clocks
    assert match.elapsed(after(7)) == timedelta(seconds=1)


def test_asking_back_agrees() -> None:
    match = running("e4", "e5")
    match.ask_takeback(WHITE, after(5))
    match.ask_takeback(BLACK, after(6))
    assert match.new_events[1].fields == {"color": "white", "keep": 0}
    assert len(match.game.line) == 0


def test_declining_a_takeback() -> None:
    match = running("e4", "e5")
    match.ask_takeback(WHITE, after(5))
    with pytest.raises(CannotDo, match="nobody asked"):
        match.decline_takeback(WHITE, after(5))
    Takeback(BLACK, TakebackAction.DECLINE).perform(match, after(6))
    assert told(match.new_events)[1:] == [("takeback.declined", {"color": "black"})]
    assert match.takeback is None
    assert len(match.game.line) == 2


def test_a_move_forgets_the_wish_to_take_back() -> None:
    match = running("e4")
    match.ask_takeback(WHITE, after(2))
    match.play("e5", after(3), source="x")
    assert match.takeback is None


@pytest.mark.parametrize(
    ("moves", "color", "left"),
    [
        ("e4 e5", WHITE, ""),  # the opponent has answered: both go
        ("e4 e5 Nf3", WHITE, "e4 e5"),  # not yet
        ("e4 e5 Nf3 Nc6", WHITE, "e4 e5"),
        ("e4 e5 Nf3", BLACK, "e4"),
        ("e4 e5", BLACK, "e4"),
        ("e4", BLACK, None),
        ("", WHITE, None),
    ],
)
def test_a_player_always_lets_take_back(moves: str, color: Color, left: str | None) -> None:
    seats = ("human", "random") if color is WHITE else ("random", "human")
    match = running(*moves.split(), white=seats[0], black=seats[1])
    if left is None:
        with pytest.raises(CannotDo, match="has not moved yet"):
            Takeback(color).perform(match, after(20))
        assert match.new_events == []
        return
    Takeback(color).perform(match, after(20))
    assert types(match.new_events) == ["takeback.asked", "takeback.taken", "turn.started"]
    assert len(match.game.line) == len(left.split())
    assert match.color is color


def test_nothing_is_taken_back_into_the_opening() -> None:
    match = running(opening="e4 e5")
    with pytest.raises(CannotDo, match="has not moved yet"):
        match.ask_takeback(BLACK, after(1))
    match.play("Nf3", after(1), source="x")
    with pytest.raises(CannotDo):
        match.ask_takeback(BLACK, after(1))
    match.ask_takeback(WHITE, after(2))
    match.grant_takeback(BLACK, after(2))
    assert len(match.game.line) == 2


def test_taking_back_restores_the_clocks_and_forgets_the_turn() -> None:
    match = running("e4", "e5", time_control="60+2")
    match.offer_draw(WHITE, after(2.5))
    match.reject(1, "x", None, after(3))
    match.advise(Advice("a", ()), after(3))
    Takeback(WHITE).perform(match, after(8))
    Takeback(BLACK, TakebackAction.ACCEPT).perform(match, after(9))
    assert match.clocks() == {"white_ms": 60_000, "black_ms": 60_000}
    assert (match.draw_offer, match.advice, match.attempts) == (None, [], [])
    assert match.game.line.notes == {}


def test_taking_back_while_paused_leaves_the_clock_alone() -> None:
    match = running("e4", "e5", time_control="60")
    match.pause(after(4))
    forget(match)
    Takeback(WHITE).perform(match, after(8))
    Takeback(BLACK, TakebackAction.ACCEPT).perform(match, after(9))
    assert types(match.new_events) == ["takeback.asked", "takeback.taken"]
    assert match.status is MatchStatus.PAUSED
    assert match.turn_at is None
    assert match.elapsed(after(100)) == timedelta(0)
    match.resume(after(200))
    assert match.time_left(after(201)) == timedelta(seconds=59)


def test_no_time_is_won_by_taking_back_where_nobody_can_refuse() -> None:
    match = running("e4", "e5", time_control="60", black="random")
    with pytest.raises(CannotDo, match="the match is timed"):
        Takeback(WHITE).perform(match, after(9))
    assert match.takeback is None


def test_what_was_taken_back_is_not_stored() -> None:
    match = running("e4", "e5", black="random")
    match.play("Nf3", after(3), source="x")
    match.play("Nc6", after(4), source="x")
    Takeback(WHITE).perform(match, after(5))  # Nf3
    Takeback(WHITE).perform(match, after(6))  # e4
    for move in ("d4", "d5", "c4"):
        match.play(move, after(7), source="x")
    Takeback(WHITE).perform(match, after(8))  # c4, which leaves more than is stored
    change = take_change(match, 3, "me")
    assert change.keep_plies == 0
    assert [(ply.number, ply.san) for ply in change.plies] == [(1, "d4"), (2, "d5")]
    assert change.ply_count == 2
    assert take_change(match, 3, "me").keep_plies is None
