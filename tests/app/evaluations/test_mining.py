"""Mining, with the real Stockfish and few nodes: what is found is what was looked for."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import chess
import chess.engine
import pytest

from agents.catalogue import Catalogue
from agents.player import Decision, Turn
from agents.random_player import RandomPlayer
from agents.uci.analyser import Analyser, Analysis, Variation
from agents.uci.errors import UciError
from agents.uci.info import Bound, Score
from agents.uci.program import find_stockfish
from app.evaluations.accuracy import win_percent
from app.evaluations.suites.difficulty import (
    BOUND_ERROR,
    NoRespondents,
    Respondent,
    rate_position,
    respondents,
)
from app.evaluations.suites.mining import InvalidRules, MinedSoFar, Miner, MiningRules
from app.evaluations.suites.solving import solving_chance
from app.evaluations.suites.suite import SuitePosition
from engine import Game, Move, Position, read_games
from tests.support.processes import program

T = TypeVar("T")
FEW = MiningRules(nodes=4_000, skip=4)
#: A piece hangs, and both sides look away, twice.
BLIND = """[White "A"]
[Black "B"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. a3 h6 5. h3 g6 6. c3 axb5 *
"""
#: White takes a pawn that is pinned, and is pinned itself in the end.
TRAP = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Nbd7 5. cxd5 exd5 6. Nxd5 Nxd5 7. Bxd8 Bb4+ *"


def run(question: Callable[[Catalogue], Awaitable[T]], processes: int = 2) -> T:
    async def ask() -> T:
        async with Catalogue(processes=processes) as catalogue:
            return await question(catalogue)

    return asyncio.run(ask())


def mine(
    *games: Game, rules: MiningRules = FEW, processes: int = 2
) -> tuple[list[SuitePosition], MinedSoFar]:
    async def look(catalogue: Catalogue) -> tuple[list[SuitePosition], MinedSoFar]:
        miner = Miner(catalogue.analyser(), rules)
        found = [each for game in games for each in await miner.mine(game)]
        return found, miner.so_far

    return run(look, processes)


def game_of(text: str) -> Game:
    (game,) = read_games(text)
    return game


def test_a_bishop_that_hangs_three_times_is_found_once():
    found, so_far = mine(game_of(BLIND))
    (taking,) = [each for each in found if each.san == ("axb5",)]
    board = "r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/P4N2/1PPP1PPP/RNBQK2R b KQkq -"
    assert taking.fen == f"{board} 0 4"
    assert taking.source == "A - B, ply 7"
    assert taking.gap is not None
    assert taking.gap >= 20
    assert taking.id == "kibitz-" + hashlib.sha256(board.encode()).hexdigest()[:10]
    assert (so_far.games, so_far.found, so_far.screened) == (1, len(found), 9)
    assert 3 <= so_far.verified < so_far.screened


def test_what_is_found_is_far_ahead_for_another_program_too():
    found, _ = mine(game_of(BLIND), game_of(TRAP), rules=MiningRules(nodes=40_000, skip=4))
    assert len(found) >= 2
    with chess.engine.SimpleEngine.popen_uci(find_stockfish().command[0]) as stockfish:
        for each in found:
            lines = stockfish.analyse(
                chess.Board(each.fen), chess.engine.Limit(nodes=100_000), multipv=2
            )
            assert lines[0]["pv"][0].uci() == each.uci[0]
            wins = [win_percent(line["score"].relative.score(mate_score=9_999)) for line in lines]
            assert wins[0] - wins[1] >= 12
            assert each.gap is not None
            assert each.gap >= 20


def test_the_same_games_give_the_same_on_any_number_of_processes():
    games = [game_of(BLIND), game_of(TRAP)]
    found, _ = mine(*games)
    assert {("axb5",), ("Bb4+",)} <= {each.san for each in found}
    assert mine(*games, processes=1)[0] == found


def test_the_same_position_is_looked_at_once_in_all_games():
    game = game_of(BLIND)
    found, so_far = mine(game, game)
    assert (so_far.games, so_far.screened) == (2, 9)
    assert len(found) == so_far.found > 0


def test_games_of_other_variants_are_passed_over():
    found, so_far = mine(Game(variant="chess960"), Game(variant="kings-cooking"))
    assert (found, so_far) == ([], MinedSoFar(games=2, passed_over=2))


def test_where_there_is_nothing_to_decide_nobody_looks():
    start = Position.from_fen("k7/8/1K6/8/8/8/8/7R b - - 0 1")
    game = Game(start)
    game.play("Kb8")
    game.play("Rh8#")
    _, so_far = mine(game, rules=MiningRules(nodes=200, skip=0))
    assert so_far.screened == 1  # White's turn: before it one move is legal, after it none


def line(score: Score, move: int = 0, depth: int = 9) -> tuple[Score, int, int]:
    return score, move, depth


FILTERS = {
    "far ahead": ([line(Score(100)), line(Score(-200), 1)], True),
    "not far ahead": ([line(Score(100)), line(Score(0), 1)], False),
    "lost anyway": ([line(Score(-250)), line(Score(mate=-3), 1)], False),
    "just not lost": ([line(Score(-220)), line(Score(-900), 1)], True),
    "won anyway": ([line(Score(mate=3)), line(Score(240), 1)], False),
    "just not won": ([line(Score(mate=3)), line(Score(220), 1)], True),
    "two mates": ([line(Score(mate=2)), line(Score(mate=5), 1)], False),
    "saved from mate": ([line(Score(0)), line(Score(mate=-2), 1)], True),
    "ahead of a bound": ([line(Score(100)), line(Score(-200, bound=Bound.UPPER), 1)], False),
    "a bound ahead": ([line(Score(100, bound=Bound.LOWER)), line(Score(-200), 1)], False),
    "alone": ([line(Score(100))], False),
    "of two depths": ([line(Score(100), 0, 9), line(Score(-200), 1, 8)], False),
    "the same move twice": ([line(Score(100)), line(Score(-200), 0)], False),
}


def analysis_of(position: Position, lines: list[tuple[Score, int, int]]) -> Analysis:
    moves = sorted(position.legal_moves(), key=Move.uci)
    return Analysis(
        position,
        tuple(
            Variation(rank, score, None, depth, 9, 9, None, (moves[move],), ())
            for rank, (score, move, depth) in enumerate(lines, 1)
        ),
    )


@pytest.mark.parametrize(("lines", "is_kept"), FILTERS.values(), ids=FILTERS)
def test_filters(monkeypatch, lines, is_kept):
    async def analyse(_: Analyser, position: Position, *_a: object, watcher, **_b: object) -> None:
        watcher(analysis_of(position, lines))

    monkeypatch.setattr(Analyser, "analyse", analyse)
    found, _ = mine(Game(), rules=MiningRules(skip=0))
    assert [each.uci for each in found] == ([("a2a3",)] if is_kept else [])


def test_the_last_whole_depth_counts(monkeypatch):
    async def analyse(_: Analyser, position: Position, *_a: object, watcher, **_b: object) -> None:
        watcher(analysis_of(position, [line(Score(0), 4, 7), line(Score(-300), 1, 7)]))
        watcher(analysis_of(position, [line(Score(90), 2, 8), line(Score(-300), 3, 8)]))
        watcher(analysis_of(position, [line(Score(95), 3, 9), line(Score(-300), 3, 8)]))

    monkeypatch.setattr(Analyser, "analyse", analyse)
    (found,), _ = mine(Game(), rules=MiningRules(skip=0))
    assert found.uci == ("b1a3",)
    assert found.gap == pytest.approx(win_percent(90) - win_percent(-300))


def test_both_searches_have_to_agree(monkeypatch):
    async def analyse(_: Analyser, position: Position, limit, *, watcher, **_b: object) -> None:
        best = 2 if limit.nodes > 10_000 else 3
        watcher(analysis_of(position, [line(Score(100), best), line(Score(-300), 0)]))

    monkeypatch.setattr(Analyser, "analyse", analyse)
    found, so_far = mine(Game(), rules=MiningRules(skip=0))
    assert (found, so_far.screened, so_far.verified) == ([], 1, 1)


def test_the_watcher_is_told_after_every_search():
    seen: list[tuple[int, int]] = []

    async def look(catalogue: Catalogue) -> MinedSoFar:
        def watch(so_far: MinedSoFar) -> None:
            seen.append((so_far.screened, so_far.verified))

        miner = Miner(catalogue.analyser(), FEW, watch)
        await miner.mine(game_of(BLIND))
        return miner.so_far

    so_far = run(look)
    assert len(seen) == so_far.screened + so_far.verified
    assert seen == sorted(seen)


def test_an_engine_that_breaks_is_an_error():
    async def look() -> None:
        async with Catalogue(stockfish=program("DiesAtStart")) as catalogue:
            await Miner(catalogue.analyser(), FEW).mine(game_of(BLIND))

    with pytest.raises(UciError):
        asyncio.run(look())


def test_mining_can_be_cancelled():
    async def look(catalogue: Catalogue) -> int:
        miner = Miner(catalogue.analyser(), MiningRules(nodes=10**9))
        task = asyncio.create_task(miner.mine(game_of(BLIND)))
        await catalogue.warm("stockfish")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = await Miner(catalogue.analyser(), FEW).mine(game_of(BLIND))
        return len(again)

    assert run(look) > 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"gap": 0.5}, "the gap must be from 1 to 90"),
        ({"gap": float("nan")}, "the gap must be from 1 to 90"),
        ({"nodes": 99}, "the nodes must be from 100"),
        ({"nodes": 10**16}, "the nodes must be from 100"),
        ({"skip": -1}, "the plies to pass over"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused(fields, why):
    with pytest.raises(InvalidRules, match=why):
        MiningRules(**fields)


# --- difficulty ---


MATE = SuitePosition(
    "scholar",
    "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
    (Move.from_uci("h5f7"),),
)


class Says:
    """Says the same whatever it is asked."""

    name = "says"

    def __init__(self, move: Move | str | None) -> None:
        self._move = move

    async def decide(self, _turn: Turn) -> Decision:
        return Decision(self._move)


def respondent(name: str, elo: float, answers: list[Move | str | None]) -> Respondent:
    waiting = iter(answers)
    return Respondent(name, elo, 0.0, lambda _seed: Says(next(waiting)), len(answers))


RIGHT, WRONG = Move.from_uci("h5f7"), Move.from_uci("a2a3")


def rated(*asked: Respondent) -> SuitePosition:
    return asyncio.run(rate_position(MATE, asked))


def test_what_half_of_the_equals_solve_is_as_hard_as_they_are_strong():
    position = rated(respondent("one", 1000.0, [RIGHT, WRONG] * 50))
    assert position.difficulty == pytest.approx(1000.0)
    # 100 even games give 34.7; on a curve a third as steep it is three times as much.
    assert position.difficulty_se == pytest.approx(3 * 34.74, rel=0.02)
    assert (position.id, position.fen, position.best) == (MATE.id, MATE.fen, MATE.best)


def test_difficulty_is_where_the_curve_fits():
    for share in (0.2, 0.7):
        right = round(200 * share)
        position = rated(respondent("one", 800.0, [RIGHT] * right + [WRONG] * (200 - right)))
        assert position.difficulty is not None
        assert solving_chance(800.0, position.difficulty) == pytest.approx(share)


def test_answers_in_words_count_and_nonsense_or_none_are_wrong():
    right = ["Qxf7", "Qh5xf7#", "h5f7"]
    wrong = ["Qxe5", "nonsense", None]
    position = rated(respondent("one", 500.0, [*right, *wrong]))
    assert position.difficulty == pytest.approx(500.0)


@pytest.mark.parametrize(("answer", "is_hard"), [(RIGHT, False), (WRONG, True)])
def test_what_all_or_none_solve_has_a_bound_of_little_weight(answer, is_hard):
    position = rated(respondent("one", 500.0, [answer] * 20))
    assert position.difficulty is not None
    assert (position.difficulty > 500.0) is is_hard
    assert position.difficulty_se == BOUND_ERROR


def test_a_curve_that_does_not_fit_has_a_larger_error():
    fits = rated(
        respondent("weak", 0.0, [RIGHT] * 3 + [WRONG] * 17),
        respondent("strong", 2000.0, [RIGHT] * 17 + [WRONG] * 3),
    )
    turned = rated(
        respondent("weak", 0.0, [RIGHT] * 17 + [WRONG] * 3),
        respondent("strong", 2000.0, [RIGHT] * 3 + [WRONG] * 17),
    )
    assert fits.difficulty == pytest.approx(turned.difficulty or 0.0)
    assert (turned.difficulty_se or 0.0) > 1.3 * (fits.difficulty_se or 0.0)


def test_real_players_find_a_mate_in_one_easier_than_a_wasted_move():
    """Those who throw no dice: all of them find the one, and none the other."""
    wasted = replace(MATE, id="wasted", best=(WRONG,))

    async def ask(catalogue: Catalogue) -> list[SuitePosition]:
        asked = [each for each in respondents(catalogue) if each.answers == 1]
        return [await rate_position(each, asked, 1, 2) for each in (MATE, wasted)]

    mate, other = run(ask)
    assert (mate.difficulty or 0.0) < (other.difficulty or 0.0)
    assert mate.difficulty_se == other.difficulty_se == BOUND_ERROR


def test_dice_depend_on_the_seed_the_position_and_the_number():
    seeds: list[int] = []

    def seat(seed: int) -> RandomPlayer:
        seeds.append(seed)
        return RandomPlayer(seed)

    asked = [Respondent("random", -400.0, 50.0, seat, 5)]
    for seed in (1, 1, 2):
        asyncio.run(rate_position(MATE, asked, seed))
    assert seeds[:5] == seeds[5:10]
    assert len(set(seeds)) == 10


def test_those_who_are_asked_have_ratings_and_dice_or_one_answer():
    async def ask(catalogue: Catalogue) -> tuple[Respondent, ...]:
        return respondents(catalogue, 7)

    asked = {each.name: each for each in run(ask)}
    assert {"random", "stockfish:1", "stockfish:7"} <= set(asked)
    assert asked["stockfish:3"].answers == 7
    assert asked["stockfish:8 at 500 nodes"].answers == 1
    assert all(each.elo <= 3000 for each in asked.values())
    assert asked["stockfish:1"].elo_se > 10


def test_without_ratings_there_is_nobody_to_ask(tmp_path):
    ratings = tmp_path / "ratings.json"
    ratings.write_text(
        '{"kibitz_ratings": 1, "engine": "Stockfish", "measured_at": "2030-01-01T00:00:00Z",'
        ' "anchors": {}, "players": {}}'
    )
    with pytest.raises(NoRespondents, match="players of known rating"):
        respondents(Catalogue(ratings_file=ratings))
