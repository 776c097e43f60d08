"""Calibration, for real: Stockfish's levels play each other, and broken engines are left out."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.uci.errors import UciFault, UciNotFound
from agents.uci.limits import Limit
from agents.uci.program import UciProgram
from agents.uci.ratings import Ratings
from app.evaluations.bradley_terry import UnconnectedPlayers
from app.evaluations.calibration import (
    ANCHOR,
    ANCHOR_ELO,
    Calibration,
    Calibrator,
    Contestant,
    contestants,
    other_engines,
)
from tests.support.processes import TITLE, program

FOREVER = timedelta(hours=1)


def run(
    names: tuple[str, ...] | None = None,
    *,
    games: int,
    programs: dict[str, UciProgram] | None = None,
    stockfish: UciProgram | None = None,
    others: tuple[str, ...] = (),
    watcher=None,
) -> Calibration:
    async def play() -> Calibration:
        async with Catalogue(programs, stockfish=stockfish, processes=4) as catalogue:
            ladder = contestants(catalogue, others)
            chosen = [each for each in ladder if names is None or each.name in (*names, *others)]
            return await Calibrator(catalogue, chosen, seed=7).run(FOREVER, games, watcher)

    return asyncio.run(play())


def test_a_short_ladder_comes_out_in_order():
    names = ("random", "stockfish:2", "stockfish:4", ANCHOR)
    seen: list[int] = []
    result = run(names, games=80, watcher=lambda played: seen.append(played.games))
    elos = [result.ratings[name].elo or result.ratings[name].high for name in names]
    assert None not in elos
    assert elos == sorted(elos)
    assert elos[-1] == ANCHOR_ELO
    assert result.played.games >= 80
    assert seen == list(range(1, result.played.games + 1))
    assert sum(sum(counts.values()) for counts in result.results.values()) == 2 * len(seen)
    assert not result.is_ordered  # not all levels took part
    assert result.engine.startswith("Stockfish")


def test_the_file_reads_back():
    result = run(("stockfish:5", ANCHOR, "random"), games=40)
    ratings = result.to_ratings()
    again = Ratings.from_json(ratings.to_json())
    assert again.players == ratings.players
    assert again.players[ANCHOR].elo == ANCHOR_ELO
    assert again.anchors == {ANCHOR: ANCHOR_ELO}


def test_every_contestant_is_linked_to_the_anchor_soon():
    async def names() -> list[Contestant]:
        async with Catalogue() as catalogue:
            return contestants(catalogue, ())

    cheap = ("random", *(f"stockfish:{level}" for level in range(1, 7)))
    assert len(asyncio.run(names())) == 14
    result = run(cheap, games=2 * (len(cheap) - 1))
    assert set(result.ratings) == set(cheap)


def test_too_few_games_are_no_calibration():
    with pytest.raises(UnconnectedPlayers):
        run(("random", "stockfish:1", "stockfish:2", ANCHOR), games=1)


@pytest.mark.parametrize(
    ("mode", "why"),
    [("DiesThinking", "died"), ("Engine", "no legal move"), ("IgnoresStop", "timed out")],
)
def test_an_engine_that_breaks_is_left_out_and_its_games_do_not_count(mode, why):
    bad = program(mode, "a1a1", search=0.05, stop=0.05)
    result = run(("stockfish:5", ANCHOR), games=12, programs={"bad": bad}, others=("uci:bad",))
    assert list(result.played.left_out) == ["uci:bad"]
    assert result.played.left_out["uci:bad"].startswith(TITLE)
    assert why in result.played.left_out["uci:bad"]
    assert "uci:bad" not in result.results
    assert result.ratings["stockfish:5"].games >= 12


def test_a_program_that_is_not_there_is_left_out_at_once():
    missing = {"gone": UciProgram("Gone", ("/nowhere/gone",))}
    result = run(("stockfish:5", ANCHOR), games=4, programs=missing, others=("uci:gone",))
    assert "was not found" in result.played.left_out["uci:gone"]


def test_without_stockfish_there_is_nothing_to_calibrate():
    with pytest.raises(UciNotFound):
        run(games=2, stockfish=UciProgram("Stockfish", ("/nowhere/stockfish",)))


def test_stockfish_that_keeps_breaking_ends_it():
    with pytest.raises(UciFault):
        run(("stockfish:5", ANCHOR), games=4, stockfish=program("DiesThinking"))


def test_told_to_stop_it_finishes_the_games_under_way():
    async def play() -> Calibration:
        async with Catalogue(processes=4) as catalogue:
            ladder = [
                each for each in contestants(catalogue, ()) if each.name in (ANCHOR, "random")
            ]
            calibrator = Calibrator(catalogue, ladder)
            return await calibrator.run(FOREVER, watcher=lambda played: calibrator.stop())

    result = asyncio.run(play())
    assert 1 <= result.played.games <= 4
    assert result.ratings[ANCHOR].games == result.played.games


def test_other_engines_are_those_of_the_catalogue():
    catalogue = Catalogue({"mine": UciProgram("Mine", ("mine",), limit=Limit(depth=2))})
    assert "uci:mine" in other_engines(catalogue)
    (mine,) = [each for each in contestants(catalogue, ("uci:mine",)) if each.name == "uci:mine"]
    assert mine.how == "depth 2"
