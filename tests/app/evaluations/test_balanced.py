"""Balanced openings: legal, level, sane, no two alike, and the same again for the same seed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import chess
import pytest

from agents.catalogue import Catalogue
from agents.uci.analyser import Analyser
from agents.uci.errors import UciFault
from agents.uci.limits import Limit
from app.evaluations.balanced import (
    LIMIT,
    NoBalancedOpening,
    balanced_opening,
    balanced_position,
)
from app.matches.settings import MatchSettings, PlayerSettings
from engine import Color, Position, UnknownVariant
from tests.support.processes import program

FEW = Limit(nodes=500)
RANDOM = PlayerSettings("random")
T = TypeVar("T")


def ask(question: Callable[[Analyser], Awaitable[T]], processes: int = 2) -> T:
    async def run() -> T:
        async with Catalogue(processes=processes) as catalogue:
            return await question(catalogue.analyser())

    return asyncio.run(run())


def positions_of(opening: str) -> list[Position]:
    positions = [Position.start()]
    for san in opening.split():
        positions.append(positions[-1].play(san))
    return positions


def test_they_are_legal_level_and_all_different():
    async def make(analyser: Analyser) -> tuple[list[str], list[int]]:
        openings = [await balanced_opening(analyser, 7, number) for number in range(6)]
        scores = []
        for opening in openings:
            for number, position in enumerate(positions_of(opening)[1:], 1):
                score = (await analyser.analyse(position, LIMIT)).score
                assert score is not None
                assert score.centipawns is not None
                assert abs(score.centipawns) <= (40 if number == 8 else 80)
                scores.append(score.centipawns)
        return openings, scores

    openings, scores = ask(make)
    assert len(scores) == 6 * 8
    for opening in openings:
        board = chess.Board()  # an oracle of what short notation means
        for san in opening.split():
            assert board.san(board.push_san(san) and board.pop()) == san
            board.push_san(san)
        assert board.turn is chess.WHITE
        assert not board.is_check()
        settings = MatchSettings(RANDOM, RANDOM, opening=opening)
        assert settings.game.position.fen() == board.fen(en_passant="fen")
        keys = [position.key() for position in positions_of(opening)]
        assert len(set(keys)) == len(keys)
    assert len({positions_of(opening)[-1].key() for opening in openings}) == 6


def test_the_same_seed_and_number_give_the_same_whoever_asks_and_when():
    async def make(analyser: Analyser) -> list[str]:
        return [await balanced_opening(analyser, 3, number, limit=FEW) for number in (4, 2)]

    later, earlier = ask(make)
    assert later != earlier
    assert ask(lambda each: balanced_opening(each, 3, 2, limit=FEW), 1) == earlier
    assert ask(lambda each: balanced_opening(each, 4, 2, limit=FEW)) != earlier


def test_lots_are_known_by_value():
    # An evaluation's manifest must give the same games years later. Depth 1 and a window without
    # end let any move pass, so that no engine's opinion matters.
    opening = ask(lambda each: balanced_opening(each, 1, 0, window=9_999, limit=Limit(depth=1)))
    assert opening == "c4 f6 b4 g6 g3 h6 Qc2 Bg7"


def test_another_number_of_plies():
    opening = ask(lambda each: balanced_opening(each, 1, 0, plies=4, limit=FEW))
    assert len(opening.split()) == 4


@pytest.mark.parametrize("number", [167, 394, 395])
def test_no_position_comes_twice_in_a_line(number):
    # The first lots of these lead back to a position that was there before.
    wide = {"plies": 20, "window": 9_999, "limit": Limit(depth=1)}
    opening = ask(lambda each: balanced_opening(each, 1, number, **wide))
    keys = [position.key() for position in positions_of(opening)]
    assert len(set(keys)) == len(keys) == 21


def test_chess960_starts_anywhere():
    async def make(analyser: Analyser) -> list[Position]:
        return [await balanced_position(analyser, 1, number, limit=FEW) for number in (0, 1, 0)]

    first, second, again = ask(make)
    assert first == again
    for position in (first, second):
        assert (position.variant, position.turn, position.fullmove_number) == (
            "chess960", Color.WHITE, 5,
        )  # fmt: skip
        settings = MatchSettings(RANDOM, RANDOM, variant="chess960", initial_fen=position.fen())
        assert settings.game.position == position
    assert first != second


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"plies": 7}, "an even number of plies"),
        ({"plies": 0}, "an even number of plies"),
        ({"plies": 42}, "an even number of plies, from 2 to 40"),
        ({"window": 0}, "at least one centipawn"),
        ({"limit": Limit(time=timedelta(seconds=1))}, "nodes or depth"),
        ({"limit": Limit()}, "nodes or depth"),
    ],
)
def test_what_makes_no_opening_is_refused(wanted, why):
    with pytest.raises(NoBalancedOpening, match=why):
        ask(lambda each: balanced_opening(each, 1, 0, **wanted))


def test_a_window_that_nothing_fits_into_ends():
    with pytest.raises(NoBalancedOpening, match="within 1 centipawns"):
        ask(lambda each: balanced_opening(each, 1, 0, plies=40, window=1, limit=Limit(depth=1)))


def test_a_variant_that_is_not_known_is_refused():
    with pytest.raises(UnknownVariant):
        ask(lambda each: balanced_position(each, 1, 0, variant="nonsense"))


def test_an_engine_that_breaks_is_an_error_and_no_opening():
    async def make() -> None:
        async with Catalogue(stockfish=program("DiesThinking")) as catalogue:
            await balanced_opening(catalogue.analyser(), 1, 3)

    with pytest.raises(UciFault):
        asyncio.run(make())
