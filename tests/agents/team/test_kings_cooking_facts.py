"""What the rules of King's Cooking tell of a position."""

from __future__ import annotations

from random import Random

import pytest

from agents.team.facts import facts_of
from agents.team.kings_cooking_facts import KingsCookingFacts
from engine import Game, Move, Position

COOKING = {
    "the start": (
        "rnb/3/RNB w - - - - 1",
        [
            "- White has scored 0; Black has scored 0.",
            "- White can capture: Rxa3 (a1a3) takes the rook a3, and cannot be taken back;"
            " Nxa3 (b1a3) takes the rook a3, and cannot be taken back;"
            " Nxc3 (b1c3) takes the bishop c3, and cannot be taken back;"
            " Bxa3 (c1a3) takes the rook a3, and cannot be taken back.",
            "- Black, were it to move, could capture: Rxa1 (a3a1) takes the rook a1, and cannot"
            " be taken back; Nxa1 (b3a1) takes the rook a1, and cannot be taken back; Nxc1 (b3c1)"
            " takes the bishop c1, and cannot be taken back; Bxa1 (c3a1) takes the rook a1, and"
            " cannot be taken back.",
        ],
    ),
    "what can be taken back": (
        "rb1/3/R1N w - B - n 4",
        [
            "- White has scored 1 (bishop); Black has scored 0, lost knight.",
            "- White can capture: Rxa3 (a1a3) takes the rook a3, and cannot be taken back;"
            " Nxb3 (c1b3) takes the bishop b3, and Rxb3 (a3b3) takes back.",
            "- Black, were it to move, could capture:"
            " Rxa1 (a3a1) takes the rook a1, and cannot be taken back.",
        ],
    ),
    "what ends the game": (
        "3/2n/R2 w b B N r 9",
        [
            "- White has scored 1 (bishop), lost knight; Black has scored 1 (bishop), lost rook.",
            "- White can score: Roff (a1off).",
            "- Black, were it to move, could end the game:"
            " Nxa1 (c2a1): draw with as many pieces off the board: no move is left.",
            "- Black, were it to move, could score: Noff (c2off).",
            "- Black, were it to move, could capture:"
            " Nxa1 (c2a1) takes the rook a1, and cannot be taken back.",
        ],
    ),
    "one legal move": (
        "1r1/1N1/3 w nb - RB - 9",
        [
            "- White has scored 0, lost rook, bishop; Black has scored 2 (knight, bishop).",
            "- The only legal move: Noff (b2off).",
            "- White can score: Noff (b2off).",
            "- Black, were it to move, could end the game:"
            " Rxb2 (b3b2): Black wins with more pieces off the board: no move is left.",
            "- Black, were it to move, could capture:"
            " Rxb2 (b3b2) takes the knight b2, and cannot be taken back.",
        ],
    ),
    "nothing to say": (
        "3/1b1/1B1 w rn R N - 9",
        [
            "- White has scored 1 (rook), lost knight; Black has scored 2 (rook, knight).",
            "- Nothing to take or to score at once, for either side.",
        ],
    ),
    "the game is over": (
        "3/3/R2 b rb - NB n 9",
        [
            "- White has scored 0, lost knight, bishop; Black has scored 2 (rook, bishop), lost"
            " knight.",
            "- The game is over: Black wins with more pieces off the board: no move is left.",
        ],
    ),
    "scoring, and what was lost": (
        "R1b/3/1Nn w - - B r 2",
        [
            "- White has scored 0, lost bishop; Black has scored 0, lost rook.",
            "- White can score: Roff (a3off).",
            "- White can capture: Rxc3 (a3c3) takes the bishop c3, and cannot be taken back;"
            " Nxc3 (b1c3) takes the bishop c3, and cannot be taken back.",
            "- Black, were it to move, could score: Noff (c1off).",
        ],
    ),
}


@pytest.mark.parametrize(("line", "lines"), COOKING.values(), ids=COOKING)
def test_words_of_kings_cooking(line: str, lines: list[str]):
    facts = facts_of(Position.from_fen(line, "kings-cooking"))
    assert facts.text().splitlines() == lines


def random_cooking(seed: str) -> list[Position]:
    rng = Random(seed)
    game = Game(variant="kings-cooking")
    positions = [game.position]
    while not game.is_over:
        game.play(rng.choice(sorted(game.position.legal_moves(), key=Move.uci)))
        positions.append(game.position)
    return positions


def test_random_games_of_kings_cooking():
    ended = 0
    for number in range(12):
        for position in random_cooking(f"cooking {number}"):
            facts = facts_of(position)
            assert isinstance(facts, KingsCookingFacts)
            moves = position.legal_moves()
            after = {move: position.play(move) for move in moves}
            lead = {move: each.score(position.turn) for move, each in after.items()}
            scoring = {move for move in moves if lead[move] > position.score(position.turn)}
            assert {each.move for each in facts.scoring} == scoring
            opponent = position.turn.opponent
            assert {each.written.move for each in facts.captures} == {
                move for move in moves
                if len(after[move].captured(opponent)) > len(position.captured(opponent))
            }  # fmt: skip
            for capture in facts.captures:
                there = capture.written.move.to_square
                assert position.piece_at(there) == (capture.taken.color, capture.taken.piece)
                assert {each.move for each in capture.taken_back_by} == {
                    reply
                    for reply in after[capture.written.move].legal_moves()
                    if reply.to_square == there
                }
            assert {each.written.move: each.outcome for each in facts.last_moves} == {
                move: end for move, each in after.items() if (end := each.outcome())
            }
            ended += bool(facts.last_moves)
            compare_threats_of_kings_cooking(position, facts)
    assert ended > 5


def compare_threats_of_kings_cooking(position: Position, facts: KingsCookingFacts) -> None:
    fields = position.fen().split()
    fields[1] = "b" if fields[1] == "w" else "w"
    passed = facts_of(Position.from_fen(" ".join(fields), "kings-cooking"))
    assert isinstance(passed, KingsCookingFacts)
    assert facts.threatened_scoring == passed.scoring
    assert facts.threatened_captures == passed.captures
    assert facts.threatened_ends == passed.last_moves
