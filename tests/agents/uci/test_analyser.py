"""What Stockfish thinks of positions and games, as Kibitz tells it: scores, lines, and the end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import chess
import pytest

from agents.errors import CannotPlayVariant
from agents.player import Turn
from agents.uci.analyser import Analyser, Analysis
from agents.uci.errors import InvalidLimit, InvalidOption, PoolClosed, UciDied, UciIllegalAnswer
from agents.uci.info import Score
from agents.uci.limits import Limit
from agents.uci.pool import UciPool
from agents.uci.program import UciProgram, find_stockfish
from engine import Color, Evaluation, Game, Position, Termination
from tests.support.processes import MARK, program, run, told

NODES = Limit(nodes=3000)
START = Position.start()
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
#: Two queens up, and so for each side in turn.
QUEENS = {
    Color.WHITE: "4k3/pppp4/8/8/8/8/PPPP4/QQ2K3 {} - - 0 1",
    Color.BLACK: "qq2k3/pppp4/8/8/8/8/PPPP4/4K3 {} - - 0 1",
}


def stockfish() -> UciProgram:
    return replace(find_stockfish(), environment={"UCI_MARK": MARK})


def analyse(*positions: Position | Turn, limit: Limit = NODES, lines: int = 1) -> list[Analysis]:
    """Return what Stockfish thinks of some positions."""

    async def main() -> list[Analysis]:
        async with UciPool(stockfish(), size=1) as pool:
            analyser = Analyser(pool, limit)
            return [await analyser.analyse(each, lines=lines) for each in positions]

    return run(main())


def check_lines(analysis: Analysis, chess960: bool = False) -> None:
    """See that python-chess would write the lines in the same way."""
    board = chess.Board(analysis.position.fen(), chess960=chess960)
    for variation in analysis.variations:
        there = board.copy()
        assert len(variation.san) == len(variation.moves) > 0
        for move, san in zip(variation.moves, variation.san, strict=True):
            assert there.san(there.parse_uci(move.uci())) == san
            there.push_uci(move.uci())


# --- what a position is worth ---

MATES = {
    "in one": ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1, ["Ra8#"]),
    "in one, by Black": ("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", 1, ["Ra1#"]),
    "in two": ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 2, ["Ra7", "Kg8", "Rb8#"]),
    "by castling": ("8/8/8/8/8/2R5/1Q6/R3K1k1 w Q - 0 1", 1, ["O-O-O#"]),
    "of oneself": ("7k/R7/8/8/8/8/8/1R4K1 b - - 0 1", -1, ["Kg8", "Rb8#"]),
}


@pytest.mark.parametrize(("fen", "moves", "line"), MATES.values(), ids=MATES)
def test_a_mate_is_found(fen, moves, line):
    (analysis,) = analyse(Position.from_fen(fen))
    assert analysis.score == Score(mate=moves)
    assert analysis.best is analysis.variations[0]
    assert (analysis.best.score, analysis.outcome) == (Score(mate=moves), None)
    assert len(analysis.best.san) == len(line)
    assert analysis.best.san[-1].endswith("#")
    if moves == 1:
        assert list(analysis.best.san) == line
    check_lines(analysis)


@pytest.mark.parametrize("turn", Color)
@pytest.mark.parametrize("stronger", Color)
def test_a_score_is_the_movers_and_an_evaluation_whites(turn, stronger):
    position = Position.from_fen(QUEENS[stronger].format(turn.value[0]))
    (analysis,) = analyse(position, limit=Limit(depth=1))
    score = analysis.score
    assert score is not None
    assert score.mate is None
    centipawns = score.centipawns
    assert (centipawns > 500) == (turn is stronger)
    assert (centipawns < -500) == (turn is not stronger)
    whites = centipawns if turn is Color.WHITE else -centipawns
    assert score.evaluation(turn) == Evaluation(centipawns=whites)
    assert (whites > 0) == (stronger is Color.WHITE)


CHANCES = {
    "the start": (START.fen(), lambda wdl: wdl.draw > 500),
    "ahead": (QUEENS[Color.WHITE].format("w"), lambda wdl: wdl.win > 900),
    "behind": (QUEENS[Color.WHITE].format("b"), lambda wdl: wdl.loss > 900),
    "Black ahead": (QUEENS[Color.BLACK].format("b"), lambda wdl: wdl.win > 900),
    "a drawn ending": ("8/8/4k1p1/6P1/8/4K3/8/8 w - - 0 1", lambda wdl: wdl.draw > 500),
    "mate": (MATES["in one"][0], lambda wdl: wdl.win == 1000),
}


@pytest.mark.parametrize(("fen", "holds"), CHANCES.values(), ids=CHANCES)
def test_the_movers_chances(fen, holds):
    (analysis,) = analyse(Position.from_fen(fen))
    wdl = analysis.best.wdl
    assert wdl is not None
    assert wdl.win + wdl.draw + wdl.loss == 1000
    assert holds(wdl)


def test_how_deep_and_how_long_it_searched():
    (analysis,) = analyse(START)
    best = analysis.best
    assert best.depth > 1
    assert best.selective_depth > 1
    assert 0 < best.nodes <= 2 * NODES.nodes
    assert best.time >= timedelta(0)


def test_an_engine_that_says_no_score_has_no_variations():
    async def main():
        async with UciPool(program("Remarks")) as pool:
            return await Analyser(pool).analyse(START)

    analysis = run(main())
    assert (analysis.variations, analysis.best, analysis.score) == ((), None, None)


# --- several lines ---

SEVERAL = {
    "two of the start": (START.fen(), 2),
    "five of the start": (START.fen(), 5),
    "castlings and captures": (KIWIPETE, 8),
    "Black to move": ("r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3", 4),
    "promotions": ("3n3k/2P1P3/8/8/8/8/6p1/K7 w - - 0 1", 6),
    "many of a kind": ("k7/8/8/3N1N2/2N3N1/8/2N3N1/K2N1N2 w - - 0 1", 6),
}


@pytest.mark.parametrize(("fen", "lines"), SEVERAL.values(), ids=SEVERAL)
def test_lines_are_ranked_distinct_and_legal(fen, lines):
    (analysis,) = analyse(Position.from_fen(fen), lines=lines, limit=Limit(depth=6))
    variations = analysis.variations
    assert [each.rank for each in variations] == list(range(1, lines + 1))
    assert len({each.moves[0] for each in variations}) == lines
    worth = [
        each.score.centipawns if each.score.mate is None else 10**6 - each.score.mate
        for each in variations
    ]
    assert worth == sorted(worth, reverse=True)
    assert {each.depth for each in variations} == {6}
    assert analysis.score == variations[0].score
    check_lines(analysis)


FEW = {
    "one move": ("7k/8/8/8/8/8/1r6/K7 w - - 0 1", 1),
    "four ways to promote": ("7k/P7/8/8/8/6q1/8/7K w - - 0 1", 4),
    "in check": ("4k3/8/8/8/8/3b4/4r3/4K3 w - - 0 1", 2),
}


@pytest.mark.parametrize(("fen", "moves"), FEW.values(), ids=FEW)
def test_there_are_no_more_lines_than_moves(fen, moves):
    position = Position.from_fen(fen)
    assert len(position.legal_moves()) == moves
    (analysis,) = analyse(position, lines=10)
    assert len(analysis.variations) == moves
    assert {each.moves[0] for each in analysis.variations} == set(position.legal_moves())


@pytest.mark.parametrize("lines", [0, -1, 501, 10**9])
def test_so_many_lines_are_refused(lines):
    with pytest.raises(InvalidOption, match="MultiPV"):
        analyse(START, lines=lines)


def test_lines_of_one_question_are_not_the_next_ones():
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            analyser = Analyser(pool, NODES)
            return [
                len((await analyser.analyse(START, lines=lines)).variations)
                for lines in (1, 3, 1, 2, 1)
            ]

    assert run(main()) == [1, 3, 1, 2, 1]


# --- games that are over, and repetitions ---

OVER = {
    "checkmate": ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", Termination.CHECKMATE, Score(mate=0)),
    "stalemate": ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Termination.STALEMATE, Score(centipawns=0)),
    "bare kings": (
        "4k3/8/4K3/8/8/8/8/8 w - - 0 1", Termination.INSUFFICIENT_MATERIAL, Score(centipawns=0)
    ),
    "75 moves": (
        "4k3/8/4K3/8/8/8/8/7R w - - 150 150", Termination.SEVENTY_FIVE_MOVES, Score(centipawns=0)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("fen", "termination", "score"), OVER.values(), ids=OVER)
def test_when_the_game_is_over_no_engine_is_asked(fen, termination, score):
    async def main():
        async with UciPool(program("DiesAtStart")) as pool:
            heard: list[Analysis] = []
            position = Position.from_fen(fen)
            analysis = await Analyser(pool).analyse(position, lines=3, watcher=heard.append)
            return analysis, heard, pool.processes

    analysis, heard, processes = run(main())
    assert (analysis.outcome.termination, analysis.score) == (termination, score)
    assert (analysis.variations, analysis.best, heard, processes) == ((), None, [], ())


def test_the_fifty_moves_count():
    alone, late = analyse(
        Position.from_fen("8/8/8/3k4/8/3K4/8/R7 w - - 0 1"),
        Position.from_fen("8/8/8/3k4/8/3K4/8/R7 w - - 99 150"),
    )
    assert alone.score.mate or alone.score.centipawns > 300
    assert late.score == Score(centipawns=0)


def test_the_repetitions_of_a_game_count():
    # White is lost, but has only one move, after which a draw can be claimed.
    game = Game("k7/8/8/8/8/8/4q3/7K w - - 0 1")
    for move in ["Kg1", "Qe3+", "Kh1", "Qe2"] * 2:
        game.play(move)
    alone, of_the_game = analyse(game.position, Turn.of(game))
    assert alone.score.mate or alone.score.centipawns < -300
    assert of_the_game.score == Score(centipawns=0)

    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            return await Analyser(pool, NODES).analyse_game(game)

    assert run(main())[-1].score == Score(centipawns=0)


# --- the same again ---


@pytest.mark.parametrize("limit", [Limit(nodes=2000), Limit(depth=6)], ids=["nodes", "depth"])
def test_the_same_work_gives_the_same_analysis(limit):
    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            analyser = Analyser(pool, limit)
            positions = [Position.from_fen(KIWIPETE), START] * 3
            first = [_timeless(await analyser.analyse(each, lines=2)) for each in positions]
            together = await asyncio.gather(
                *(analyser.analyse(each, lines=2) for each in positions)
            )
            return first, [_timeless(each) for each in together]

    first, together = run(main())
    assert first == together
    assert first[:2] == first[2:4] == first[4:]


def _timeless(analysis: Analysis) -> Analysis:
    variations = tuple(replace(each, time=None) for each in analysis.variations)
    return replace(analysis, variations=variations)


# --- whole games ---

MOVES = ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"]


def scholars_mate() -> Game:
    game = Game()
    for move in MOVES:
        game.play(move)
    return game


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_game_is_analysed_from_the_first_position_to_the_last(size):
    game = scholars_mate()
    progress: list[tuple[int, int]] = []

    async def main():
        async with UciPool(stockfish(), size) as pool:
            analyses = await Analyser(pool, NODES).analyse_game(
                game, progress=lambda *numbers: progress.append(numbers)
            )
            assert len(pool.processes) == size
            return analyses

    analyses = run(main())
    total = len(MOVES) + 1
    assert [each.position for each in analyses] == list(game.line.positions)
    assert progress == [(done, total) for done in range(1, total + 1)]
    assert analyses[-1].outcome.termination is Termination.CHECKMATE
    assert (analyses[-2].score, analyses[-2].best.san) == (Score(mate=1), ("Qxf7#",))


def test_a_game_without_moves_has_one_position():
    async def main():
        async with UciPool(program(), size=8) as pool:
            analyses = await Analyser(pool).analyse_game(Game())
            assert len(pool.processes) == 1
            return analyses

    assert [each.position for each in run(main())] == [START]


def test_each_position_of_a_game_is_analysed_as_if_alone():
    game = scholars_mate()

    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            analyser = Analyser(pool)
            together = await analyser.analyse_game(game, NODES, lines=2)
            turns = [Turn(game.start, game.plies[:number]) for number in range(len(MOVES) + 1)]
            alone = [await analyser.analyse(turn, NODES, lines=2) for turn in turns]
            return together, alone

    together, alone = run(main())
    assert [_timeless(each) for each in together] == [_timeless(each) for each in alone]


def test_turns_of_several_games_are_analysed_in_their_order():
    turns = [Turn(Position.from_fen(fen)) for fen, *_ in MATES.values()]

    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            analyser = Analyser(pool, NODES)
            return await analyser.analyse_all(turns), await analyser.analyse_all([])

    analyses, none = run(main())
    assert [each.score.mate for each in analyses] == [moves for _, moves, _ in MATES.values()]
    assert none == []


def test_the_engine_says_its_name_once_it_runs():
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            analyser = Analyser(pool, NODES)
            before = analyser.engine
            await analyser.analyse(START)
            return before, analyser.engine

    before, after = run(main())
    assert before == "Stockfish"
    assert after.startswith("Stockfish ")  # and its version


def test_a_game_that_cannot_be_analysed_says_why():
    async def main():
        async with UciPool(program("DiesThinking"), size=2) as pool:
            await Analyser(pool).analyse_game(scholars_mate())

    with pytest.raises(UciDied):
        run(main())


# --- Chess960 ---

CASTLINGS = {
    "short": ("8/8/8/3p4/8/8/7Q/2k3KR w H - 0 1", "O-O#"),
    "long": ("8/3k4/8/4R3/2Q5/8/8/RK6 w A - 0 1", "O-O-O#"),
    "short, by Black": ("3K1kr1/7q/8/8/8/8/8/8 b g - 0 1", "O-O#"),
    "long, by Black": ("r1k3K1/1r6/8/p7/8/6b1/8/1q6 b a - 0 1", "O-O-O#"),
}


@pytest.mark.parametrize(("fen", "san"), CASTLINGS.values(), ids=CASTLINGS)
def test_castling_in_chess960(fen, san):
    (analysis,) = analyse(Position.from_fen(fen, "chess960"))
    assert (analysis.score, analysis.best.san) == (Score(mate=1), (san,))


def test_games_of_both_kinds_share_a_process():
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            analyser = Analyser(pool, Limit(nodes=10_000))
            numbers = (0, 518, 959)
            return [
                await analyser.analyse(position, lines=3)
                for number in numbers
                for position in (START, Position.start("chess960", number))
            ]

    for number, analysis in enumerate(run(main())):
        check_lines(analysis, chess960=number % 2 == 1)


def test_no_engine_analyses_kings_cooking():
    with pytest.raises(CannotPlayVariant):
        analyse(Position.start("kings-cooking"))


# --- while it thinks ---


@pytest.mark.parametrize("lines", [1, 3])
def test_the_watcher_sees_it_get_deeper(lines):
    heard: list[Analysis] = []

    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            return await Analyser(pool).analyse(
                START, Limit(depth=8), lines=lines, watcher=heard.append
            )

    final = run(main())
    depths = [max(each.depth for each in analysis.variations) for analysis in heard]
    assert depths == sorted(depths)
    assert depths[0] == 1
    assert depths[-1] == 8
    assert {len(each.variations) for each in heard} == {lines}
    assert all(each.position is START for each in heard)
    assert heard[-1] == final
    for analysis in heard:
        check_lines(analysis)


def test_the_watcher_may_see_fewer_lines_than_were_asked_for():
    heard: list[Analysis] = []

    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            position = Position.from_fen(FEW["four ways to promote"][0])
            await Analyser(pool).analyse(position, NODES, lines=9, watcher=heard.append)

    run(main())
    assert {len(each.variations) for each in heard} == {4}


def test_a_watchers_own_mistake_is_told_and_the_process_is_fine():
    def stumble(_: Analysis) -> None:
        raise ZeroDivisionError

    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            analyser = Analyser(pool, NODES)
            before = await analyser.analyse(START)
            (process,) = pool.processes
            with pytest.raises(ZeroDivisionError):
                await analyser.analyse(START, watcher=stumble)
            after = await analyser.analyse(START)
            assert pool.processes == (process,)
            assert _timeless(after) == _timeless(before)

    run(main())


def test_cancelling_in_the_middle_leaves_the_pool_as_it_was():
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            analyser = Analyser(pool, NODES)
            before = await analyser.analyse(START)
            (process,) = pool.processes
            for _ in range(3):
                thinking = asyncio.Event()
                endless = analyser.analyse(
                    Position.from_fen(KIWIPETE),
                    Limit(time=timedelta(minutes=10)),
                    watcher=lambda _, thinking=thinking: thinking.set(),
                )
                task = asyncio.create_task(endless)
                await thinking.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert _timeless(await analyser.analyse(START)) == _timeless(before)
            assert pool.processes == (process,)

    run(main())


def test_cancelling_a_game_in_the_middle_leaves_the_pool_as_it_was():
    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            analyser = Analyser(pool, NODES)
            some = asyncio.Event()
            game = analyser.analyse_game(scholars_mate(), progress=lambda *_: some.set())
            task = asyncio.create_task(game)
            await some.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(await analyser.analyse_game(scholars_mate())) == len(MOVES) + 1
            assert len(pool.processes) == 2

    run(main())


# --- what goes wrong ---


def test_one_fault_is_nobodys_business(tmp_path):
    log = tmp_path / "log"

    async def main():
        flawed = program("DiesThinking", "e2e4", log=log, once=tmp_path / "once")
        async with UciPool(flawed, size=1) as pool:
            return await Analyser(pool).analyse(START)

    assert run(main()).best.san == ("e4",)
    assert told(log).count("started") == 2


def test_an_illegal_answer_is_told():
    async def main():
        async with UciPool(program(moves="a1a1"), size=1) as pool:
            await Analyser(pool).analyse(START)

    with pytest.raises(UciIllegalAnswer, match="'a1a1', which is no legal move"):
        run(main())


def test_a_line_is_told_as_far_as_it_is_legal():
    async def main():
        # It answers well, but what it says of its thoughts is of another position.
        async with UciPool(program(moves="e8e7"), size=1) as pool:
            return await Analyser(pool).analyse(
                Position.from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")
            )

    best = run(main()).best
    assert (best.moves, best.san, best.score) == ((), (), Score(centipawns=13))


def test_without_a_limit_nothing_is_analysed():
    with pytest.raises(InvalidLimit):
        analyse(START, limit=Limit())


def test_a_closed_pool_analyses_nothing():
    async def main():
        pool = UciPool(program())
        await pool.aclose()
        await Analyser(pool).analyse(START)

    with pytest.raises(PoolClosed):
        run(main())
