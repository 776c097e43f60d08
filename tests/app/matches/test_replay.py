"""The log is the match: whatever is done to one, its events rebuild it, and all is stored."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agents.player import Advice, Candidate
from app.matches.commands import (
    Abort,
    Command,
    Draw,
    DrawAction,
    Pause,
    Resign,
    Resume,
    Takeback,
    TakebackAction,
)
from app.matches.errors import MatchError
from app.matches.events import Event, EventType, timestamp
from app.matches.match import Match, MatchStatus
from app.matches.settings import Adjudication, DrawScore, MatchSettings, ResignScore
from app.matches.storing import ending_of, new_record, read_match, settings_of, take_change
from app.persistence.records import EventRecord, PlyRecord
from engine import Color, Evaluation, Move, MoveError
from tests.app.matches.telling import T0, after, everything, match_settings, new_match, running

STARTS: list[dict[str, Any]] = [
    {},
    {"opening": "C54", "max_plies": 30},
    {"variant": "kings-cooking"},
    {"variant": "chess960", "initial_fen": "1rk5/8/8/8/8/8/8/1RK4R w KQq - 0 1"},
    {"initial_fen": "7k/8/8/8/8/8/R7/K7 w - - 0 1"},
    {"initial_fen": "6nk/8/8/8/8/8/8/KN6 b - - 97 90", "opening": None},
    {"initial_fen": "8/P6k/8/8/8/8/p6K/8 w - - 0 1"},
]
CONTROLS = [None, "60+1", "20d5", "20b3", "3/20+1:10", "5s"]
MILLISECONDS = st.integers(0, 4000)
COLORS = st.sampled_from(Color)
SCORES = st.none() | st.builds(Evaluation, centipawns=st.integers(-50, 50))


class AnyMatch(RuleBasedStateMachine):
    """A match to which anything is done at any time, and which is stored at some of them."""

    @initialize(
        start=st.sampled_from(STARTS),
        control=st.sampled_from(CONTROLS),
        humans=st.booleans(),
        scored=st.booleans(),
        waiting=st.integers(0, 9),
    )
    def create(
        self,
        start: dict[str, Any],
        control: str | None,
        humans: bool,
        scored: bool,
        waiting: int,
    ) -> None:
        rules = Adjudication(ResignScore(40, 2), DrawScore(3, 1, 3)) if scored else Adjudication()
        seats = ("human", "human") if humans else ("random", "human")
        chosen = match_settings(*seats, time_control=control, adjudication=rules, **start)
        self.at = T0
        self.match = Match.create("any", chosen, T0)
        self.record, self.events, plies = new_record(self.match, client="me")
        self.plies: list[PlyRecord] = list(plies)
        self.log: list[EventRecord] = list(self.events)
        if waiting < 9:
            self.match.start(T0)

    # --- what may happen ---

    @rule(wait=MILLISECONDS)
    def start(self, wait: int) -> None:
        with suppress(MatchError):
            self.match.start(self._later(wait))

    @precondition(lambda self: self.match.status is MatchStatus.RUNNING)
    @rule(
        wait=MILLISECONDS,
        pause=st.integers(0, 50),
        lot=st.integers(0, 10**6),
        offers=st.booleans(),
        score=SCORES,
    )
    def play(self, wait: int, pause: int, lot: int, offers: bool, score: Evaluation | None) -> None:
        at = self._later(wait)
        self.match.play(
            self._some_move(lot),
            at,
            source="dice",
            evaluation=score,
            offers_draw=offers,
            decision={"lot": lot},
            turn_at=self._later(pause),
        )

    @precondition(lambda self: self.match.status is MatchStatus.RUNNING)
    @rule(wait=MILLISECONDS, lot=st.integers(0, 10**6))
    def play_twice(self, wait: int, lot: int) -> None:
        """Going there and back, so that positions come again."""
        for _ in range(2):
            if self.match.status is MatchStatus.RUNNING:
                self.play(wait, 0, lot, False, None)

    @rule(
        wait=MILLISECONDS,
        command=st.one_of(
            st.builds(Resign, COLORS),
            st.builds(Draw, COLORS, st.sampled_from(DrawAction), st.none() | st.just("Nf3")),
            st.builds(Takeback, COLORS, st.sampled_from(TakebackAction)),
            st.just(Pause("why")),
            st.just(Resume()),
            st.just(Abort()),
        ),
        meant=st.integers(0, 9),
    )
    def command(self, wait: int, command: Command, meant: int) -> None:
        if isinstance(command, Resign | Abort) and meant:
            return  # or hardly a match would be long
        before = everything(self.match)
        at = self._later(wait)
        try:
            command.perform(self.match, at)
        except (MatchError, MoveError):
            assert everything(self.match) == before

    @rule(color=COLORS)
    def take_back(self, color: Color) -> None:
        """Ask and agree, which chance alone seldom does."""
        with suppress(MatchError):
            self.match.ask_takeback(color, self._later(1))
            self.match.grant_takeback(color.opponent, self._later(1))

    @precondition(lambda self: self.match.status is MatchStatus.RUNNING)
    @rule(wait=MILLISECONDS, spent=MILLISECONDS)
    def begin_again(self, wait: int, spent: int) -> None:
        """As after a restart."""
        self.match.begin_turn(self._later(wait), timedelta(milliseconds=spent))

    @precondition(lambda self: self.match.status is MatchStatus.RUNNING)
    @rule(lot=st.integers(0, 10**6), text=st.text(max_size=5))
    def talk(self, lot: int, text: str) -> None:
        at = self._later(0)
        self.match.advise(Advice("a", (Candidate(self._some_move(lot), text),)), at)
        self.match.reject(len(self.match.attempts) + 1, text, None, at)

    @precondition(lambda self: self.match.status is MatchStatus.RUNNING)
    @rule(lot=st.integers(0, 19))
    def referee(self, lot: int) -> None:
        if lot == 0:
            self.match.forfeit(self._later(0))
        elif lot == 1:
            self.match.lose_on_time(self._later(0))

    @rule()
    def store(self) -> None:
        change = take_change(self.match, 1, None)
        assert change.base_sequence == len(self.log)
        self.log += change.events
        assert change.last_sequence == len(self.log)
        if change.keep_plies is not None:
            self.plies = [ply for ply in self.plies if ply.number <= change.keep_plies]
        self.plies += change.plies

    # --- what always holds ---

    @invariant()
    def log_rebuilds_the_match(self) -> None:
        texts = [record.data for record in self.log]
        texts += [event.encode() for event in self.match.new_events]
        events = [Event.decode(text) for text in texts]
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert [event.encode() for event in events] == texts
        again = Match.replay(settings_of(self.record), events)
        assert everything(again) == everything(self.match)
        assert (again.new_events, again.new_plies, again.keep_plies) == ([], [], None)

    @invariant()
    def what_is_stored_is_the_match(self) -> None:
        if self.match.new_events:
            return
        game = self.match.game
        assert [ply.number for ply in self.plies] == list(range(1, len(game.line) + 1))
        assert [ply.uci for ply in self.plies] == [move.uci() for move in game.line.moves]
        assert [ply.fen for ply in self.plies] == [each.after.fen() for each in game.plies]
        again = read_match(self.record, self.log)
        assert everything(again) == everything(self.match)

    @invariant()
    def endings_are_whole(self) -> None:
        match = self.match
        assert match.is_over == (match.ended_at is not None)
        assert (match.outcome is not None) == (match.status is MatchStatus.ENDED)
        if match.is_over:
            assert match.new_events == [] or match.new_events[-1].type is EventType.ENDED
            assert (match.draw_offer, match.takeback) == (None, None)

    def _later(self, milliseconds: int) -> Any:
        self.at += timedelta(milliseconds=milliseconds)
        return self.at

    def _some_move(self, lot: int) -> Move:
        moves = sorted(self.match.game.position.legal_moves(), key=Move.uci)
        return moves[lot % len(moves)]


TestAnyMatch = pytest.mark.usefixtures("without_coverage")(AnyMatch.TestCase)
TestAnyMatch.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


# --- what is stored ---


def test_the_state_that_everybody_may_see() -> None:
    match = running("e4", time_control="60+1")
    match.offer_draw(Color.WHITE, after(2))
    match.ask_takeback(Color.WHITE, after(2))
    match.pause(after(2.001), "for tea")
    change = take_change(match, 4, "worker")
    assert json.loads(change.state) == {
        "turn": "black",
        "check": False,
        "last_move": {"uci": "e2e4", "san": "e4"},
        "clocks": {"white_ms": 60_000, "black_ms": 60_000},
        "turn_started_at": None,
        "spent_ms": 1001,  # which floats would make 1000
        "draw_offer": "white",
        "takeback": "white",
        "outcome": None,
        "detail": "for tea",
        "pause_cause": "command",
        "started_at": "2026-03-01T12:00:00.000Z",
        "ended_at": None,
    }
    assert (change.status, change.winner, change.termination, change.result) == (
        "paused",
        None,
        None,
        "*",
    )
    assert (change.match_id, change.epoch, change.owner) == (match.id, 4, "worker")
    assert change.base_sequence == match.sequence - 3
    assert change.updated_at == after(2.001)
    assert match.new_events == []


def test_the_state_after_the_end() -> None:
    match = running("f3", "e5", "g4")
    match.play("Qh4#", after(4), source="x")
    change = take_change(match, 1, None)
    state = json.loads(change.state)
    assert state["outcome"] == {
        "winner": "black",
        "result": "0-1",
        "termination": "checkmate",
        "detail": "Black wins by checkmate",
    }
    assert state["pause_cause"] is None
    assert state["detail"] == "Black wins by checkmate"
    assert state["check"]
    assert state["ended_at"] == timestamp(after(4))
    assert (change.winner, change.termination, change.result) == ("black", "checkmate", "0-1")
    assert (change.status, change.ply_count, change.fen) == (
        "ended",
        4,
        match.game.position.fen(),
    )


def test_the_record_of_a_new_match() -> None:
    match = new_match("random", "human", opening="e4 e5", time_control="60", tags=("b", "a"))
    record, events, plies = new_record(
        match, client="me", owner="w", epoch=1, idempotency_key="k", black_token_hash="h"
    )
    assert settings_of(record) == match.settings
    assert (record.white, record.black, record.variant) == ("random", "human", "standard")
    assert (record.status, record.result, record.last_sequence) == ("created", "*", 1)
    assert (record.owner, record.epoch, record.client) == ("w", 1, "me")
    assert (record.idempotency_key, record.white_token_hash, record.black_token_hash) == (
        "k",
        None,
        "h",
    )
    assert record.tags == ("b", "a")
    assert record.ply_count == 2
    assert [event.type for event in events] == ["match.created"]
    assert [(ply.number, ply.color, ply.san, ply.source) for ply in plies] == [
        (1, "white", "e4", "opening"),
        (2, "black", "e5", "opening"),
    ]
    assert plies[1].fen == record.fen
    assert match.new_events == []
    assert ending_of(record) == ""


def test_the_record_of_a_ply() -> None:
    match = running("e4", time_control="60")
    match.advise(Advice("a", (Candidate(Move.from_uci("e7e5"), "ü"),)), after(2))
    match.reject(1, "x", None, after(2))
    match.play("e5", after(3), source="s", evaluation=Evaluation(mate=-3))
    (ply,) = take_change(match, 1, None).plies
    assert ply == PlyRecord(
        match_id=match.id,
        number=2,
        color="black",
        uci="e7e5",
        san="e5",
        fen=match.game.position.fen(),
        elapsed_ms=2000,
        clock_ms=58_000,
        evaluation='{"mate":-3}',
        source="s",
        played_at=after(3),
        advice='[{"by":"a","candidates":[{"uci":"e7e5","san":"e5","reason":"ü"}],"words":"","abstained":""}]',
        attempts='[{"attempt":1,"move":"x","kind":"missing","detail":"there was no move"}]',
    )


@pytest.mark.parametrize("chosen", STARTS)
def test_a_game_of_any_kind_is_replayed_move_by_move(chosen: dict[str, Any]) -> None:
    settings_: MatchSettings = match_settings("random", "random", **chosen)
    match = Match.create("id", settings_, T0)
    match.start(T0)
    for number in range(60):
        if match.is_over:
            break
        moves = sorted(match.game.position.legal_moves(), key=Move.uci)
        match.play(moves[number * 7 % len(moves)], after(number), source="x")
    again = Match.replay(settings_, (Event.decode(each.encode()) for each in match.new_events))
    assert everything(again) == everything(match)
    assert again.game.repetitions() == match.game.repetitions()
