"""King's Cooking: the engine against an oracle that knows every position."""

from __future__ import annotations

from functools import cache

import pytest

from engine import Color, Outcome, Position, Termination
from tests.support import cooking_oracle as oracle
from tests.support.cooking_positions import engine_position


@cache
def positions() -> list[oracle.Position]:
    return sorted(oracle.reachable())


@pytest.mark.usefixtures("without_coverage")
def test_the_oracle_knows_every_position():
    assert len(positions()) == 391_402


def outcome_of(position: oracle.Position) -> Outcome | None:
    if not oracle.is_over(position):
        return None
    ahead = oracle.score(position)
    winner = None if ahead == 0 else Color.WHITE if ahead > 0 else Color.BLACK
    empty = not position.board.strip(".")
    return Outcome(winner, Termination.EMPTY_BOARD if empty else Termination.NO_MOVES)


def check(theirs: oracle.Position) -> None:
    ours = engine_position(theirs)
    assert ours.outcome() == outcome_of(theirs), theirs
    assert {move.uci() for move in ours.legal_moves()} == oracle.moves(theirs).keys(), theirs


@pytest.mark.usefixtures("without_coverage")
def test_the_engine_agrees_on_the_moves_of_every_board():
    # What became of the pieces that are gone changes no move: every board once, with any of them.
    for theirs in {(p.board, p.white_to_move): p for p in positions()}.values():
        check(theirs)


@pytest.mark.usefixtures("without_coverage")
def test_the_engine_agrees_on_every_end():
    ends = [position for position in positions() if oracle.is_over(position)]
    assert len(ends) == 10_018
    for theirs in ends:
        check(theirs)


@pytest.mark.usefixtures("without_coverage")
def test_the_engine_agrees_on_what_moves_lead_to():
    # All two million moves would take too long.
    for theirs in positions()[::40]:
        fen = f"{oracle.line(theirs)} 7"
        ours = Position.from_fen(fen, "kings-cooking")
        assert ours.fen() == fen
        assert ours == engine_position(theirs, 7)
        number = 7 if theirs.white_to_move else 8
        after = {move.uci(): ours.play(move).fen() for move in ours.legal_moves()}
        expected = oracle.moves(theirs).items()
        assert after == {name: f"{oracle.line(p)} {number}" for name, p in expected}, fen
