"""Calibration, for real: Stockfish's levels play each other, and broken engines are left out."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.player import Decision, Turn
from agents.random_player import RandomPlayer
from agents.uci.errors import UciFault, UciNotFound
from agents.uci.limits import Limit
from agents.uci.program import UciProgram
from agents.uci.ratings import Ratings
from app.evaluations.bradley_terry import Rating
from app.evaluations.calibration import (
    ANCHOR,
    ANCHOR_ELO,
    Calibration,
    Calibrator,
    Contestant,
    PlayedSoFar,
    TooFewGames,
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


@pytest.mark.usefixtures("without_coverage")
def test_a_short_ladder_comes_out_in_order():
    names = ("random", "stockfish:2", "stockfish:4", ANCHOR)
    seen: list[int] = []
    result = run(names, games=80, watcher=lambda played: seen.append(played.games))
    elos = [result.ratings[name].elo or result.ratings[name].high for name in names]
    assert None not in elos
    assert elos == sorted(elos)
    assert elos[-1] == ANCHOR_ELO
    assert result.played.games == 80
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


def test_there_are_no_more_games_than_asked_for():
    result = run(("random", "stockfish:1", ANCHOR), games=3)
    assert result.played.games == 3


def test_games_go_outward_from_the_anchor():
    result = run(games=2)
    assert {ANCHOR} < set(result.ratings) <= {"stockfish:5", ANCHOR, "stockfish:7"}


class Hanging:
    """Never decides."""

    name = "hanging"

    async def decide(self, _turn: Turn) -> Decision:
        await asyncio.Event().wait()
        raise AssertionError


def play_ladder(ladder: list[Contestant], *, until: int, seed: int = 1) -> Calibration:
    """Let contestants play so many games, and then stop without waiting for anybody."""

    async def play() -> Calibration:
        async with Catalogue() as catalogue:
            calibrator = Calibrator(catalogue, ladder, seed=seed)

            def watch(played: PlayedSoFar) -> None:
                if played.games == until:
                    calibrator.stop()
                    calibrator.stop()

            return await calibrator.run(FOREVER, watcher=watch)

    return asyncio.run(play())


def test_told_to_stop_twice_it_waits_for_nobody_and_rates_what_is_finished():
    anchor = Contestant(ANCHOR, ANCHOR_ELO, "", RandomPlayer)
    above = Contestant("above", 1400.0, "", RandomPlayer)
    # It hangs in its game against the anchor only, so that "lowest" is linked to nobody else.
    seats = iter([Hanging()])
    below = Contestant("below", 400.0, "", lambda seed: next(seats, RandomPlayer(seed)))
    lowest = Contestant("lowest", 0.0, "", RandomPlayer)
    result = play_ladder([lowest, below, anchor, above], until=4)
    assert result.played.games == 4
    assert set(result.ratings) == {ANCHOR, "above"}
    assert set(result.results) == {ANCHOR, "above", "below", "lowest"}


def test_without_games_against_the_anchor_there_is_no_calibration():
    anchor = Contestant(ANCHOR, ANCHOR_ELO, "", lambda _seed: Hanging())
    others = [Contestant(name, 0.0, "", RandomPlayer) for name in ("one", "two")]
    with pytest.raises(TooFewGames, match="too few games were played to rate anybody"):
        play_ladder([*others, anchor], until=2)


def test_runs_share_no_seeds():
    seen: dict[int, list[int]] = {1: [], 2: [], 3: []}
    for run_seed, seeds in seen.items():

        def seat(seed: int, seeds: list[int] = seeds) -> RandomPlayer:
            seeds.append(seed)
            return RandomPlayer(seed)

        ladder = [Contestant(ANCHOR, ANCHOR_ELO, "", seat), Contestant("one", 0.0, "", seat)]
        play_ladder(ladder, until=4, seed=run_seed)
    together = [seed for seeds in seen.values() for seed in seeds]
    assert len(together) == 3 * 8
    assert len(set(together)) == len(together)


@pytest.mark.parametrize(
    ("elos", "is_ordered"),
    [
        ((-100.0, 0.0, 10.0, 20.0, 30.0, 1320.0, 1700.0, None), True),
        ((0.0, 0.0, 10.0, 20.0, 30.0, 1320.0, 1700.0, 3000.0), False),
        ((0.0, -100.0, 10.0, 20.0, 30.0, 1320.0, 1700.0, 3000.0), False),
    ],
)
def test_levels_are_in_order_if_each_is_above_the_one_below(elos, is_ordered):
    ratings = {
        f"stockfish:{level}": Rating("", elo, 2000.0 if elo is None else elo - 300, elo, 9)
        for level, elo in enumerate(elos, 1)
    }
    result = Calibration("Stockfish", ratings, {}, (), PlayedSoFar())
    assert result.has_all_levels
    assert result.is_ordered is is_ordered
    del ratings["stockfish:3"]
    assert not result.has_all_levels
    assert not result.is_ordered


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
    assert result.ratings["stockfish:5"].games == 12


def test_what_cannot_be_started_is_left_out_before_the_first_game():
    bad = {"gone": UciProgram("Gone", ("/nowhere/gone",)), "odd": program(options={"Odd": 1})}
    first: list[set[str]] = []
    result = run(
        ("stockfish:5", ANCHOR), games=1, programs=bad, others=("uci:gone", "uci:odd"),
        watcher=lambda played: first.append(set(played.left_out)),
    )  # fmt: skip
    assert first == [{"uci:gone", "uci:odd"}]
    assert "was not found" in result.played.left_out["uci:gone"]
    assert "option 'odd'" in result.played.left_out["uci:odd"]


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
    assert 1 <= result.played.games <= 2
    assert result.ratings[ANCHOR].games == result.played.games


def test_other_engines_are_those_of_the_catalogue():
    catalogue = Catalogue({"mine": UciProgram("Mine", ("mine",), limit=Limit(depth=2))})
    assert "uci:mine" in other_engines(catalogue)
    (mine,) = [each for each in contestants(catalogue, ("uci:mine",)) if each.name == "uci:mine"]
    assert mine.how == "depth 2"
