"""The team: what its specialists say, and whom the selector follows."""

from __future__ import annotations

import io
import json
import time
from dataclasses import replace
from random import Random

import pytest

from agents.classical import specialists
from agents.classical.search import Findings, Line, Search
from agents.classical.selector import MARGIN, select
from agents.classical.thinking import Answer, Question, think
from agents.classical.worker import Worker
from agents.player import Advice, Candidate, Turn
from engine import Evaluation, Game, Move, Position
from engine.pieces import Color
from tests.agents.classical.test_search import CROWDED

QUEEN_HANGS = "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/RNBQKB1R w KQkq -"
WORDS = {
    "mates": ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - -", "mates in 1: Rd8#"),
    "is mated": ("k7/8/1K6/8/8/8/8/7R b - -", "is mated in 1: Kb8 Rh8#"),
    "wins a queen": (QUEEN_HANGS, "wins a queen: Nxh4"),
    "wins the exchange": ("6k1/5pp1/7p/8/8/7b/5P1P/R4RK1 b - -", "wins the exchange: Bxf1"),
    "wins a pawn": ("4k3/8/8/3p4/4P3/3K4/8/8 w - -", "wins a pawn: exd5"),
    "keeps the advantage": ("4k3/8/8/8/8/8/8/R3K3 w - -", "keeps the advantage: "),
    "holds on": ("4k3/7r/8/8/8/8/8/4K3 w - -", "holds on: K"),
    "loses a rook": ("4k3/8/8/8/8/2b5/8/R3K3 w - -", "loses a rook: K"),
}


@pytest.mark.parametrize(("fen", "words"), WORDS.values(), ids=WORDS)
def test_the_tactical_specialist_says_what_a_line_wins(fen, words):
    position = Position.from_fen(fen)
    found = Search(position.state, nodes=3_000).run()
    (first, *_) = specialists.tactical(position, found).candidates
    assert first.reason.startswith(words)
    assert first.move is found.best.move


def test_the_positional_specialist_names_safe_quiet_moves_and_terms():
    position = Position.from_fen("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -")
    advice = specialists.positional(position, Search(position.state))
    assert advice.by == "positional"
    assert len(advice.candidates) == 3
    assert "better placed pieces" in advice.candidates[0].reason
    taken = {"f3e5", "f3g5", "f3d4"}
    assert not taken & {candidate.move.uci() for candidate in advice.candidates}
    # Attacked twice, it can only take; and where that loses too, it has nothing to say.
    taking = Position.from_fen("4k3/8/8/3p1p2/4N3/8/8/4K3 w - -")
    moved = specialists.positional(taking, Search(taking.state)).candidates
    assert moved[0].move.uci() in {"e4c3", "e4d2", "e4f2", "e4g3", "e4f6", "e4d6", "e4c5", "e4g5"}
    lost = Position.from_fen("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -")
    advice = specialists.positional(lost, Search(lost.state))
    assert (advice.candidates, advice.abstained) == ((), "no move is safe from captures")


def test_who_is_stopped_says_so():
    # One node for each of the best moves: the third is not known to be safe.
    advice = specialists.positional(Position.start(), Search(Position.start().state, nodes=3))
    assert len(advice.candidates) == 2
    crowded = Position.from_fen(CROWDED)
    search = Search(crowded.state, nodes=100)
    advice = specialists.positional(crowded, search)
    assert (advice.candidates, advice.abstained[:14]) == ((), "it was stopped")
    advice = specialists.tactical(crowded, search.run())
    assert (advice.candidates, advice.abstained[:14]) == ((), "it was stopped")


def line(uci: str, score: int) -> Line:
    return Line(Move.from_uci(uci), score, (Move.from_uci(uci),))


def advised(uci: str) -> Advice:
    return Advice("positional", (Candidate(Move.from_uci(uci), ""),))


CHOSEN = {
    "agreement": ([("e2e4", 30)], "e2e4", "e2e4", "both specialists"),
    "sound": ([("e2e4", 30), ("d2d4", 25)], "d2d4", "d2d4", "0.05 behind"),
    "not sound": ([("e2e4", 30), ("d2d4", 25)], "g2g4", "e2e4", "g4, the positional one"),
}


@pytest.mark.parametrize(("lines", "favourite", "move", "words"), CHOSEN.values(), ids=CHOSEN)
def test_whom_the_selector_follows(lines, favourite, move, words):
    findings = Findings(tuple(line(*each) for each in lines), 5, 100)
    choice = select(Position.start(), findings, advised(favourite))
    assert choice.line.move.uci() == move
    (candidate,) = choice.advice.candidates
    assert (candidate.move.uci(), choice.advice.by) == (move, "selector")
    assert words in candidate.reason


def test_without_a_search_the_selector_takes_what_there_is():
    findings = Findings((line("e2e4", 10),), 0, 1)
    silent = Advice("positional", abstained="it was stopped before it knew of a safe move")
    for advice, whose in ((advised("e2e4"), "the positional favourite"), (silent, "the first")):
        for lot in (None, Random(1)):
            choice = select(Position.start(), findings, advice, lot)
            (candidate,) = choice.advice.candidates
            assert candidate.move.uci() == "e2e4"
            assert candidate.reason.startswith(whose)
            assert "no time to search (+0.10)" in candidate.reason


def test_a_lot_is_drawn_among_sound_moves_only():
    findings = Findings((line("e2e4", 30), line("d2d4", 25)), 5, 100)
    drawn = {
        select(Position.start(), findings, advised("g2g4"), Random(seed)).line.move.uci()
        for seed in range(20)
    }
    assert drawn == {"e2e4", "d2d4"}
    # With but one there is nothing to draw.
    alone = Findings((line("e2e4", 30),), 5, 100)
    silent = Advice("positional", abstained="no move is safe from captures")
    assert (
        "tactical favourite" in select(Position.start(), alone, silent).advice.candidates[0].reason
    )
    choice = select(Position.start(), alone, advised("g2g4"), Random(1))
    assert choice.line.move.uci() == "e2e4"


# --- questions and answers ---


def question(game: Game, seed: int = 1, nodes: int = 600) -> Question:
    return Question.of(1, Turn.of(game), seed, None, nodes)


def test_a_question_has_what_matters_of_a_game():
    game = Game()
    for move in ("e4", "e5", "Nf3", "Nc6", "Ng1", "Nb8"):
        game.play(move)
    asked = question(game)
    assert asked.moves == ("g1f3", "b8c6", "f3g1", "c6b8")
    assert Question.read(json.loads(asked.line())["ask"]) == asked
    positions = asked.positions()
    assert [each.key() for each in positions] == [each.key() for each in game.line.positions[2:]]
    assert asked.plies == 6
    assert question(Game(variant="chess960")).positions()[0] == Position.start("chess960")


def test_an_answer_survives_the_wire():
    lost = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -"
    for fen in (lost, QUEEN_HANGS):
        answer = think(question(Game(fen)), time.monotonic())
        assert Answer.read(answer.line()) == answer
    assert [each.by for each in answer.advice] == ["tactical", "positional", "selector"]
    assert answer.advice[2].candidates[0].move is answer.move
    assert answer.evaluation(Color.WHITE) == Evaluation(centipawns=answer.score)
    mated = replace(answer, score=-29_998)
    assert mated.evaluation(Color.WHITE) == Evaluation(mate=-1)
    assert mated.evaluation(Color.BLACK) == Evaluation(mate=1)


def test_a_decision_depends_on_the_turn_and_the_seed_alone():
    game = Game()
    answers = [think(question(game, seed), time.monotonic()) for seed in range(6)]
    assert answers == [think(question(game, seed), time.monotonic()) for seed in range(6)]
    assert len({answer.move for answer in answers}) > 1  # the lot
    for answer in answers:
        scores = {each.score for each in answers}
        assert max(scores) - answer.score <= MARGIN


@pytest.mark.parametrize(("seconds", "nodes"), [(None, 200), (0.001, None), (0.001, 200)])
def test_a_board_full_of_queens_is_decided_within_the_limits(seconds, nodes):
    game = Game(CROWDED)
    asked = Question.of(1, Turn.of(game), 1, seconds, nodes)
    answer = think(asked, time.monotonic())
    assert game.position.is_legal(answer.move)
    assert answer.nodes <= 200
    assert Answer.read(answer.line()) == answer
    if seconds is None:
        assert answer == think(asked, time.monotonic())


def test_a_worker_answers_line_by_line_and_stops_when_told():
    asked = Question.of(7, Turn.of(Game()), 1, None, None)  # without end
    lines = [asked.line().encode(), b'{"stop": 7}\n']
    output, ended = io.BytesIO(), []
    worker = Worker(output)
    worker.listen(lines, lambda: ended.append(True))
    worker.answer()
    (printed,) = output.getvalue().splitlines()
    assert Answer.read(printed).number == 7
    assert Answer.read(printed).depth == 1
    assert ended == [True]
