"""The eight levels of Stockfish: how each plays, and that a seed repeats what is ours to repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from agents.player import Decision, Player, Turn
from agents.uci.errors import InvalidLevel
from agents.uci.levels import LEVELS, Level, find_level
from agents.uci.limits import Limit
from agents.uci.pool import UciPool
from agents.uci.program import UciProgram, find_stockfish
from engine import Color, Game, Move
from tests.support.processes import MARK, program, run, told

#: Beyond so many standard deviations it is no bad luck any more.
Z = 5


def stockfish() -> UciProgram:
    return replace(find_stockfish(), environment={"UCI_MARK": MARK})


# --- the ladder ---

#: Level, chance of any legal move, skill and depth, as they were measured.
LADDER = [
    (1, 0.60, 0, 1),
    (2, 0.45, 0, 1),
    (3, 0.30, 0, 1),
    (4, 0.20, 0, 1),
    (5, 0.10, 0, 1),
    (6, 0.00, 0, 1),
    (7, 0.00, 4, 5),
    (8, 0.00, None, None),
]


@pytest.mark.parametrize(
    ("number", "epsilon", "skill", "depth"), LADDER, ids=[str(row[0]) for row in LADDER]
)
def test_what_each_level_is(number, epsilon, skill, depth):
    level = LEVELS[number - 1]
    assert (level.number, level.name) == (number, f"stockfish:{number}")
    assert level.epsilon == epsilon
    assert level.options == ({} if skill is None else {"Skill Level": skill})
    assert level.limit == (None if depth is None else Limit(depth=depth))


@pytest.mark.parametrize(
    ("number", "epsilon", "skill", "depth"), LADDER, ids=[str(row[0]) for row in LADDER]
)
def test_people_are_told_how_it_plays(number, epsilon, skill, depth):
    how = LEVELS[number - 1].how
    assert ("random" in how) == (f"{epsilon:.0%}" in how) == bool(epsilon)
    assert (f"skill {skill}, depth {depth}" in how) == (skill is not None)
    assert ("full strength" in how) == (skill is None)


def test_there_are_eight():
    assert [level.number for level in LEVELS] == [row[0] for row in LADDER]


#: What Stockfish is told when a level thinks, with a clock and without.
TOLD = {
    6: ("setoption name Skill Level value 0", "go depth 1", "depth 1"),
    7: ("setoption name Skill Level value 4", "go depth 5", "depth 5"),
    8: (None, "go nodes 100000", "wtime"),
}


@pytest.mark.parametrize("control", [None, "60"], ids=["untimed", "by the clock"])
@pytest.mark.parametrize("number", TOLD)
def test_what_stockfish_is_told(number, control, tmp_path):
    log = tmp_path / "log"
    option, untimed, timed = TOLD[number]

    async def main():
        async with UciPool(program(log=log)) as pool:
            turn = Turn.of(Game(time_control=control))
            await LEVELS[number - 1].player(pool).decide(turn)

    run(main())
    skill = [line for line in told(log) if "Skill" in line]
    assert skill == ([] if option is None else [option])
    go = next(line for line in told(log) if line.startswith("go "))
    assert go == untimed if control is None else timed in go
    assert ("wtime" in go) == (control is not None)


def test_a_limit_holds_instead_of_the_levels_own(tmp_path):
    log = tmp_path / "log"

    async def main():
        async with UciPool(program(log=log)) as pool:
            for level in (LEVELS[6], LEVELS[7]):
                player = level.player(pool, limit=Limit(time=timedelta(seconds=2)))
                await player.decide(Turn.of(Game()))

    run(main())
    gone = [line for line in told(log) if line.startswith("go ")]
    assert gone == ["go movetime 2000"] * 2


# --- finding one ---


@pytest.mark.parametrize("number", range(1, 9))
def test_a_level_is_found_by_its_number(number):
    assert find_level(number) is find_level(str(number)) is LEVELS[number - 1]


NO_LEVELS = [
    0, 9, -1, 10, 100, 10**30, "0", "9", "-1", "+1", "x", "", " ", " 1", "1 ", "1.5", "1.0", 1.0,
    "٣", "²", "１", "1_0", "0x1", "1e0", "one", "1:2", True, False, None, (), "8\n", "\x00",
    "9" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("number", NO_LEVELS, ids=lambda number: ascii(number)[:12])
def test_any_other_is_refused(number):
    with pytest.raises(InvalidLevel) as caught:
        find_level(number)
    sentence = str(caught.value)
    assert sentence.startswith("level must be between 1 and 8, not '")
    assert sentence.isprintable()
    assert len(sentence) < 150


# --- random moves ---


def shuffle(plies: int) -> list[Turn]:
    """Return so many turns of one game, in which pieces go to and fro."""
    game = Game("r3k3/pppppppp/8/8/8/8/PPPPPPPP/3QK2R w - - 0 1")
    for number in range(plies):
        # By itself a game would end with the fifth repetition.
        move = Move.from_uci(("h1g1", "a8b8", "g1h1", "b8a8")[number % 4])
        game.line.append(move, game.position.play(move))
    return [Turn(game.start, game.plies[:number]) for number in range(plies)]


TURNS = shuffle(240)
EPSILON_LEVELS = LEVELS[:5]


async def decisions(player: Player, turns: Sequence[Turn]) -> list[Decision]:
    return [await player.decide(turn) for turn in turns]


def at_random(turns: Sequence[Turn], found: Sequence[Decision]) -> dict[int, Move]:
    """Return the plies that were played at random, and what was."""
    pairs = zip(turns, found, strict=True)
    return {
        len(turn.plies): each.move
        for turn, each in pairs
        if each.advice[0].candidates[0].reason == "at random"
    }


def ids(level: Level) -> str:
    return level.name


@pytest.mark.parametrize("level", EPSILON_LEVELS, ids=ids)
def test_a_level_plays_its_share_at_random_and_a_seed_repeats_it(level):
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            once = await decisions(level.player(pool, seed=11), TURNS)
            # Some of them again are enough, and out of order: nothing depends on it.
            some = TURNS[::-3]
            again = await decisions(level.player(pool, seed=11), some)
            other = await decisions(level.player(pool, seed=12), some)
            return once, at_random(some, again), at_random(some, other), some

    once, again, other, some = run(main(), debug=False)
    randoms = at_random(TURNS, once)
    expected = level.epsilon * len(TURNS)
    assert abs(len(randoms) - expected) <= Z * math.sqrt(expected * (1 - level.epsilon))
    asked = {len(turn.plies) for turn in some}
    assert again == {ply: move for ply, move in randoms.items() if ply in asked}
    assert other != again
    by = {advice.by for decision in once for advice in decision.advice}
    assert by == {level.name}


def test_a_retried_turn_is_random_again_or_stockfishs_again():
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            player = LEVELS[0].player(pool, seed=5)
            once = at_random(TURNS[:30], await decisions(player, TURNS[:30]))
            often = [turn for turn in TURNS[:30] for _ in range(3)]
            return once, at_random(often, await decisions(player, often))

    once, often = run(main())
    assert once == often
    assert 0 < len(once) < 30


@pytest.mark.parametrize("level", LEVELS[5:], ids=ids)
def test_the_upper_levels_play_nothing_at_random(level):
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            player = level.player(pool, seed=1, limit=Limit(depth=1))
            return await decisions(player, TURNS[:60])

    assert at_random(TURNS[:60], run(main())) == {}


# --- whole games ---


@pytest.mark.parametrize("variant", ["standard", "chess960"])
def test_every_level_plays_whole_games(variant):
    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            results = []
            for white, black in zip(LEVELS, reversed(LEVELS), strict=True):
                # Full strength has no limit of its own, and would take its time.
                players = {
                    color: level.player(pool, 7, level.limit or Limit(nodes=500))
                    for color, level in ((Color.WHITE, white), (Color.BLACK, black))
                }
                game = Game(variant=variant, claims_draws=True)
                while not game.is_over:
                    game.play((await players[game.turn].decide(Turn.of(game))).move)
                results.append(game)
            return results

    games = run(main(), debug=False)
    # The first and the last are level 1 against level 8, a thousand Elo apart and more.
    assert (games[0].winner, games[-1].winner) == (Color.BLACK, Color.WHITE)
