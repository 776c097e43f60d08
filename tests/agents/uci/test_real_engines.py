"""Stockfish and five other engines, for real: they differ in what they know, heed and get wrong.

`scripts/install-test-engines` installs them. Who is not installed is skipped, but not where CI is
set: there all of them have to be.
"""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from agents.catalogue import Catalogue
from agents.errors import CannotPlayVariant
from agents.player import Player, Turn
from agents.uci.analyser import Analyser
from agents.uci.errors import InvalidOption, UciDied, UciFault, UciIllegalAnswer, UciNotFound
from agents.uci.limits import Limit
from agents.uci.player import UciPlayer
from agents.uci.pool import UciPool
from agents.uci.process import SearchResult
from agents.uci.program import UciProgram, find_stockfish, find_well_known
from agents.uci.protocol import position_command
from engine import Clock, Color, Game, Move, Position, TimeControl
from tests.agents.test_players import play
from tests.support.processes import MARK, run

pytestmark = pytest.mark.usefixtures("without_coverage")  # others cover these lines

#: By the name to seat it by; how it introduces itself, and which options it has.
ENGINES = {
    "stockfish": ("Stockfish", {"UCI_Chess960", "MultiPV", "UCI_ShowWDL"}),
    "fairy-stockfish": ("Fairy-Stockfish", {"UCI_Chess960", "MultiPV"}),
    "ethereal": ("Ethereal", {"UCI_Chess960", "MultiPV"}),
    "glaurung": ("Glaurung", {"UCI_Chess960", "MultiPV"}),
    "gnuchess": ("GNU Chess", set()),
    "toga2": ("Toga II", {"MultiPV"}),
}
WITH_CHESS960 = [name for name, (_, options) in ENGINES.items() if "UCI_Chess960" in options]
WITH_LINES = [name for name, (_, options) in ENGINES.items() if "MultiPV" in options]
#: Those that ignore `go nodes`, and would think for ever.
WITHOUT_NODES = {"gnuchess", "toga2"}

DEPTH = Limit(depth=3)
#: Ethereal overlooks some mates in one unless it looks this deep.
MATING = Limit(depth=14)
LONG = Limit(time=timedelta(minutes=10))
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def installed(name: str) -> UciProgram:
    """Return an engine, or skip the test; fail it where all engines should be there."""
    try:
        program = find_stockfish() if name == "stockfish" else find_well_known()[name]
    except (KeyError, UciNotFound):
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed: run scripts/install-test-engines")
        pytest.skip(f"{name} is not installed")
    return replace(program, environment={"UCI_MARK": MARK})


def catalogue(name: str) -> Catalogue:
    """Return a catalogue of an engine, and of Stockfish, which plays it."""
    programs = {} if name == "stockfish" else {name: installed(name)}
    return Catalogue(programs, stockfish=installed("stockfish"))


def seat(found: Catalogue, name: str, variant: str = "standard", limit: Limit = DEPTH) -> Player:
    full_name = "stockfish:8" if name == "stockfish" else f"uci:{name}"
    return found.seat(full_name, variant, limit=limit)


def turn_of(fen: str, variant: str = "standard", *moves: str) -> Turn:
    game = Game(fen, variant=variant)
    for move in moves:
        game.play(move)
    return Turn.of(game)


def searched(name: str, turn: Turn, limit: Limit = DEPTH) -> SearchResult:
    """Return what an engine thinks of a turn."""

    async def main() -> SearchResult:
        async with UciPool(installed(name), size=1) as pool:
            return await pool.search(turn, limit)

    return run(main())


@pytest.mark.parametrize(
    ("ci", "exception"),
    [("", pytest.skip.Exception), ("true", pytest.fail.Exception)],
    ids=["elsewhere", "in CI"],
)
def test_a_missing_engine_is_skipped_but_not_in_ci(monkeypatch, ci, exception):
    monkeypatch.setenv("CI", ci)
    with pytest.raises(exception, match="crafty is not installed"):
        installed("crafty")


# --- who they are ---


@pytest.mark.parametrize("name", ENGINES)
def test_what_it_says_of_itself(name):
    async def main():
        async with UciPool(installed(name), size=1) as pool, pool.lease() as process:
            return process

    process = run(main())
    title, options = ENGINES[name]
    assert process.name.startswith(title)
    assert process.author
    known = {"UCI_Chess960", "MultiPV", "UCI_ShowWDL"}
    assert {each.name for each in process.options} & known == options


#: Options of an engine, and what is said if they will not do.
OPTIONS = [
    ("stockfish", {"Hash": 32, "skill level": "5", "Use NNUE": True, "Clear Hash": None}, None),
    ("stockfish", {"Skill Level": 21}, "'21' is no whole number from 0 to 20"),
    ("stockfish", {"UCI_Elo": 1000}, "'1000' is no whole number from 1350 to 2850"),
    ("stockfish", {"Use NNUE": "perhaps"}, "'perhaps' is neither true nor false"),
    ("stockfish", {"Contempt": 1}, "there is none of that name"),
    ("fairy-stockfish", {"Skill Level": -20, "Analysis Contempt": "off"}, None),
    ("fairy-stockfish", {"Analysis Contempt": "Red"}, "'Red' is none of Both, Off, White, Black"),
    ("ethereal", {"Hash": 2, "MoveOverhead": 0}, None),
    ("ethereal", {"MoveOverhead": -1}, "'-1' is no whole number from 0 to 10000"),
    ("glaurung", {"King Safety Curve": "linear", "Mobility (Endgame)": 50}, None),
    ("glaurung", {"King Safety Curve": "Cubic"}, "'Cubic' is none of Quadratic, Linear"),
    ("gnuchess", {"NullMove Pruning": "fail high", "BookFile": "my book.bin"}, None),
    ("gnuchess", {"NullMove Pruning": "Sometimes"}, "is none of Always, Fail High, Never"),
    ("gnuchess", {"MultiPV": 2}, "there is none of that name"),
    ("toga2", {"Number of Threads": 1, "Hash": 4}, None),
    ("toga2", {"MultiPV": 11}, "'11' is no whole number from 1 to 10"),
]


@pytest.mark.parametrize(
    ("name", "options", "sentence"), OPTIONS, ids=[f"{row[0]} {row[1]}" for row in OPTIONS]
)
def test_options_are_as_the_engine_declared_them(name, options, sentence):
    async def main():
        async with UciPool(installed(name), size=1) as pool:
            player = UciPlayer("x", pool, limit=DEPTH, options=options)
            if sentence is None:
                return await player.decide(Turn.of(Game()))
            with pytest.raises(InvalidOption) as caught:
                await player.decide(Turn.of(Game()))
            assert sentence in str(caught.value)
            return await UciPlayer("x", pool, limit=DEPTH).decide(Turn.of(Game()))

    assert Game().position.is_legal(run(main()).move)


# --- limits ---


def clock(control: str) -> Clock:
    return Clock.start(TimeControl.parse(control))


LIMITS = {
    "depth": Limit(depth=4),
    "nodes": Limit(nodes=3000),
    "time": Limit(time=timedelta(milliseconds=20)),
    "sudden death": Limit(clock=clock("1")),
    "increment": Limit(clock=clock("0.5+0.05")),
    "moves to go": Limit(clock=clock("20/0.5:10/0.5")),
    "moves to go and increment": Limit(clock=clock("40/0.5+0.02:0.5")),
    "time for each move": Limit(clock=clock("0.1s")),
    "hardly any time": Limit(clock=clock("0.002")),
    "all at once": Limit(4, 3000, timedelta(milliseconds=20), clock("1+1")),
}


#: What engines answer that are told to stop, since their time is over, before they have finished
#: looking at their first move: Ethereal about once in a hundred times where all cores are busy.
GIVES_UP = {"glaurung": "(none)", "ethereal": "a1a1"}


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_it_answers_under_every_limit(name, limit):
    turn = turn_of(KIWIPETE)

    async def main():
        async with UciPool(installed(name), size=1) as pool:
            async with pool.lease() as process:
                result = await process.search(turn, limit)
            assert process.is_alive
            return result

    try:
        result = run(main())
    except UciIllegalAnswer as error:
        if error.answer != GIVES_UP.get(name) or limit.is_effort:
            raise
        return
    assert turn.position.is_legal(result.move)
    if result.infos or limit.is_effort:
        best = result.infos[0]
        assert best.score is not None
        assert best.depth >= 1
        assert best.nodes > 0
        assert limit.depth is None or best.depth <= limit.depth


@pytest.mark.parametrize("name", ENGINES)
def test_who_ignores_nodes_is_told_to_stop(name):
    result = searched(name, turn_of(KIWIPETE), Limit(nodes=500))
    assert result.overran == (name in WITHOUT_NODES)


@pytest.mark.parametrize("name", ENGINES)
def test_a_long_search_can_be_stopped_and_ended(name):
    async def think(pool: UciPool, thinking: asyncio.Event) -> SearchResult:
        async with pool.lease() as process:
            return await process.search(turn_of(KIWIPETE), LONG, listener=lambda _: thinking.set())

    async def main():
        async with UciPool(installed(name), size=1) as pool:
            for _ in range(2):
                thinking = asyncio.Event()
                search = asyncio.create_task(think(pool, thinking))
                await thinking.wait()
                (process,) = pool.processes
                search.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await search
                assert process.is_alive
            thinking = asyncio.Event()
            search = asyncio.create_task(think(pool, thinking))
            await thinking.wait()
            assert pool.processes == (process,)
            await pool.aclose()
            # Some answer when they are told to quit.
            (outcome,) = await asyncio.gather(search, return_exceptions=True)
            assert isinstance(outcome, SearchResult | UciDied)

    run(main())


# --- whole games ---


async def play_both_ways(game: Game, engine: Player, other: Player, color: Color) -> Game:
    return await (play(game, engine, other) if color is Color.WHITE else play(game, other, engine))


@pytest.mark.parametrize("color", Color)
@pytest.mark.parametrize("name", ENGINES)
def test_it_beats_random_or_draws(name, color):
    async def main():
        async with catalogue(name) as found:
            # With seed 1 Ethereal makes seven queens, and takes minutes to depth 3 with them.
            engine, other = seat(found, name), found.seat("random", seed=2)
            return await play_both_ways(Game(claims_draws=True), engine, other, color)

    game = run(main(), debug=False)
    assert game.is_over
    assert game.winner is not color.opponent


@pytest.mark.parametrize("color", Color)
@pytest.mark.parametrize("name", ENGINES)
def test_it_plays_stockfish_to_the_end(name, color):
    async def main():
        async with catalogue(name) as found:
            engine, other = seat(found, name), found.seat("stockfish:8", limit=Limit(nodes=100))
            return await play_both_ways(Game(claims_draws=True), engine, other, color)

    game = run(main(), debug=False)
    assert game.is_over
    assert len({ply.source for ply in game.plies}) == (1 if name == "stockfish" else 2)


# --- Chess960 ---

#: Who is played from which start.
STARTS = {0: "stockfish:8", 211: "random", 959: "stockfish:8"}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", WITH_CHESS960)
def test_it_plays_chess960_to_the_end(name, start):
    async def main():
        async with catalogue(name) as found:
            engine = seat(found, name, "chess960")
            other = found.seat(STARTS[start], "chess960", seed=1, limit=Limit(nodes=100))
            game = Game(Position.start("chess960", start), claims_draws=True)
            return await play_both_ways(game, engine, other, Color.WHITE)

    game = run(main(), debug=False)
    assert game.is_over
    assert game.variant == "chess960"


@pytest.mark.parametrize("name", sorted(ENGINES.keys() - set(WITH_CHESS960)))
def test_who_does_not_know_chess960_says_so(name):
    async def main():
        async with catalogue(name) as found:
            with pytest.raises(CannotPlayVariant) as caught:
                await seat(found, name, "chess960").decide(Turn.of(Game(variant="chess960")))
            # And it is still there for other games.
            await seat(found, name).decide(Turn.of(Game()))
            return caught.value

    error = run(main())
    assert str(error) == f"'{ENGINES[name][0]}' cannot play chess960: it plays standard only"


#: Castling is the only mate in one.
CASTLING_MATES = {
    "short": ("standard", "5B2/3P4/8/7P/8/8/6R1/k3K2R w K - 0 1", "e1g1"),
    "long": ("standard", "8/8/8/8/8/2R5/1Q6/R3K1k1 w Q - 0 1", "e1c1"),
    "short, Black": ("standard", "1K2k2r/7r/6p1/8/8/8/r7/8 b k - 0 1", "e8g8"),
    "long, Black": ("standard", "r3k1K1/1q6/8/8/8/7b/8/8 b q - 0 1", "e8c8"),
    "960 short": ("chess960", "8/8/8/3p4/8/8/7Q/2k3KR w H - 0 1", "g1h1"),
    "960 long": ("chess960", "8/3k4/8/4R3/2Q5/8/8/RK6 w A - 0 1", "b1a1"),
    "960 short, Black": ("chess960", "3K1kr1/7q/8/8/8/8/8/8 b g - 0 1", "f8g8"),
    "960 long, Black": ("chess960", "r1k3K1/1r6/8/p7/8/6b1/8/1q6 b a - 0 1", "c8a8"),
}
#: After a castling and an answer, the rook that has castled is the one that mates.
CASTLED = {
    "short": ("standard", "8/8/8/8/R7/6k1/8/4K2R w K - 0 1", "e1g1 g3h3", "f1f3"),
    "long": ("standard", "1k6/7R/B7/8/1B6/8/8/R3K3 w Q - 0 1", "e1c1 b8a8", "d1d8"),
    "short, Black": ("standard", "4k2r/2p5/2b5/8/4r3/1P4K1/4r3/8 b k - 0 1", "e8g8 g3h3", "f8f3"),
    "long, Black": ("standard", "r3kb2/8/4K3/7q/8/8/5p2/8 b q - 0 1", "e8c8 e6f6", "d8d6"),
    "960 short": ("chess960", "k7/1p6/1P6/8/8/2R5/4P3/5K1R w H - 0 1", "f1h1 a8b8", "f1f8"),
    "960 long": ("chess960", "8/6R1/8/8/8/7k/1P6/1R1K4 w B - 0 1", "d1b1 h3h4", "d1h1"),
    "960 short, Black": (
        "chess960", "2kr4/8/6r1/2K5/r3r3/4p3/8/8 b d - 0 1", "c8d8 c5d5", "f8f5"
    ),
    "960 long, Black": (
        "chess960", "1r3k2/8/7K/3bp3/7p/8/3p2r1/8 b b - 0 1", "f8b8 h6h5", "d8h8"
    ),
}  # fmt: skip


def knows(name: str, variant: str) -> bool:
    return variant == "standard" or name in WITH_CHESS960


@pytest.mark.parametrize("name", ENGINES)
def test_it_castles(name):
    async def main():
        async with UciPool(installed(name), size=1) as pool:
            player = UciPlayer("x", pool, limit=MATING)
            return {
                case: (await player.decide(turn_of(fen, variant))).move.uci()
                for case, (variant, fen, _) in CASTLING_MATES.items()
                if knows(name, variant)
            }

    found = run(main())
    assert found == {case: row[2] for case, row in CASTLING_MATES.items() if case in found}
    assert len(found) == (8 if name in WITH_CHESS960 else 4)


@pytest.mark.parametrize("name", ENGINES)
def test_it_understands_that_somebody_has_castled(name):
    turns = {
        case: turn_of(fen, variant, *moves.split())
        for case, (variant, fen, moves, _) in CASTLED.items()
        if knows(name, variant)
    }
    assert all(" moves " in position_command(turn) for turn in turns.values())

    async def main():
        async with UciPool(installed(name), size=1) as pool:
            player = UciPlayer("x", pool, limit=MATING)
            return {case: (await player.decide(turn)).move.uci() for case, turn in turns.items()}

    assert run(main()) == {case: CASTLED[case][3] for case in turns}


# --- positions ---

#: What must be played, if anything has to be.
POSITIONS = {
    "one legal move": ("7k/8/8/8/8/8/1r6/K7 w - - 0 1", {"a1b2"}),
    "in check": ("4k3/8/8/8/8/3b4/4r3/4K3 w - - 0 1", {"e1d1", "e1f1"}),
    "in double check": ("4k3/8/8/8/8/3n4/8/r3K3 w - - 0 1", {"e1d2", "e1e2"}),
    "about to promote": ("7k/P7/8/8/8/6q1/8/7K w - - 0 1", {"a7a8q", "a7a8r"}),
    "Black about to promote": ("7k/8/6Q1/8/8/8/p7/7K b - - 0 1", {"a2a1q", "a2a1r"}),
    "mate in one": ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", {"a1a8"}),
    "mate in one for Black": ("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", {"a8a1"}),
    "en passant, out of check": ("8/8/8/2k5/3Pp3/8/8/4K2R b K d3 0 1", None),
    "high move numbers": ("4k3/8/4K3/8/8/8/8/7R w - - 10 5949", {"h1h8"}),
    "the last quiet move": ("4k3/8/4K3/8/8/8/8/7R w - - 99 150", None),
    "a draw to be claimed": ("7k/8/8/8/8/8/8/KQ5R b - - 100 150", {"h8g7", "h8g8"}),
    "long past it": ("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 140 250", None),
    "218 moves": ("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", None),
    "nothing but pawns": ("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", None),
}


@pytest.mark.parametrize("name", ENGINES)
def test_it_finds_its_way_in_odd_positions(name):
    async def main():
        async with UciPool(installed(name), size=1) as pool:
            return {
                case: (await pool.search(turn_of(fen), Limit(depth=5))).move.uci()
                for case, (fen, _) in POSITIONS.items()
            }

    # That a move is legal is seen to by the process, and tried elsewhere.
    found = run(main())
    for case, (_, expected) in POSITIONS.items():
        assert expected is None or found[case] in expected, case


@cache
def shuffled() -> Turn:
    """Return the end of a long game: rooks go to and fro, with a pawn's step now and then."""
    game = Game("r3k3/1ppppppp/8/8/8/8/1PPPPPPP/R3K3 w - - 0 1")
    rooks = {Color.WHITE: ("a1a2", "a2a1"), Color.BLACK: ("a8a7", "a7a8")}
    pawns = [file + rank for ranks in ("36", "45") for file in "bcdefgh" for rank in ranks]
    for pawn in pawns:
        for step in (0, 0, 1, 1) * 3:
            game.play(rooks[game.turn][step])
        game.play(pawn)
    return Turn.of(game)


@cache
def wandered() -> Turn:
    """Return the end of 140 plies without a capture or a pawn's move."""
    game = Game("8/8/3k4/p7/P7/3K4/8/R6r w - - 0 1")
    chance = random.Random(1)
    while len(game.line) < 140:
        moves = sorted(game.position.legal_moves(), key=Move.uci)
        quiet = [move for move in moves if game.position.piece_at(move.uci()[2:]) is None]
        game.play(chance.choice(quiet))
        if game.is_over:
            game.undo()
    return Turn.of(game)


@pytest.mark.parametrize("name", ENGINES)
def test_it_follows_long_games(name):
    turns = [shuffled(), wandered()]
    assert [len(turn.plies) for turn in turns] == [364, 140]
    # Only what can still be repeated is told.
    words = [len(position_command(turn).split()) for turn in turns]
    assert words == [8, 8 + 1 + 140]

    async def main():
        async with UciPool(installed(name), size=1) as pool:
            return [(await pool.search(turn, DEPTH)).move for turn in turns]

    for turn, move in zip(turns, run(main()), strict=True):
        assert turn.position.is_legal(move)


# --- analysis ---


@pytest.mark.parametrize("name", ENGINES)
def test_it_analyses(name):
    lines = 3 if name in WITH_LINES else 1

    async def main():
        async with UciPool(installed(name), size=1) as pool:
            analyser = Analyser(pool, Limit(depth=5))
            mate = Position.from_fen("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
            return (
                await analyser.analyse(Position.from_fen(KIWIPETE), lines=lines),
                await analyser.analyse(mate),
                await analyser.analyse(mate.play("Ra8")),
            )

    several, mate, mated = run(main())
    assert [each.rank for each in several.variations] == list(range(1, lines + 1))
    assert len({each.moves[0] for each in several.variations}) == lines
    assert (several.best.wdl is not None) == ("UCI_ShowWDL" in ENGINES[name][1])
    assert (mate.score.mate, mate.best.san[0]) == (1, "Ra8#")
    # When the game is over, nobody is asked: engines would answer with nonsense.
    assert (mated.score.mate, mated.variations) == (0, ())


@pytest.mark.parametrize("name", sorted(ENGINES.keys() - set(WITH_LINES)))
def test_who_knows_but_one_line_says_so(name):
    async def main():
        async with UciPool(installed(name), size=1) as pool:
            with pytest.raises(InvalidOption, match=r"(?i)'MultiPV': there is none of that name"):
                await Analyser(pool, DEPTH).analyse(Position.start(), lines=2)

    run(main())


# --- what they get wrong ---

#: What an engine plays when there is nothing to play.
NONSENSE = {
    "stockfish": "(none)", "fairy-stockfish": "(none)", "glaurung": "(none)",
    "ethereal": "a1a1", "gnuchess": "a1a1", "toga2": "a1a1",
}  # fmt: skip
NO_MOVES = {
    "mated": "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1",
    "stalemated": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
}


@pytest.mark.parametrize("name", ENGINES)
def test_asked_for_a_move_where_there_is_none_it_answers_nonsense(name):
    async def main():
        async with UciPool(installed(name), size=1) as pool:
            player = UciPlayer("x", pool, limit=DEPTH)
            errors = []
            for fen in NO_MOVES.values():
                with pytest.raises(UciIllegalAnswer) as caught:
                    await player.decide(turn_of(fen))
                errors.append(caught.value)
            await player.decide(Turn.of(Game()))  # nothing is broken by it
            return errors

    found = [(error.answer, error.fen) for error in run(main())]
    assert found == [(NONSENSE[name], fen) for fen in NO_MOVES.values()]


def test_glaurung_gives_up_when_it_has_few_nodes():
    """Once it is warm, it may stop before it has looked at a single move."""
    turn = turn_of(KIWIPETE)

    async def main():
        async with UciPool(installed("glaurung"), size=1) as pool:
            async with pool.lease() as process:
                first = await process.search(turn, Limit(nodes=50))
                with pytest.raises(UciIllegalAnswer) as caught:
                    await process.search(turn, Limit(nodes=50))
                assert not process.is_alive
            # In a seat, another one is asked, which is cold.
            player = UciPlayer("x", pool, limit=Limit(nodes=50))
            return first, caught.value, [await player.decide(turn) for _ in range(4)]

    first, error, decisions = run(main())
    assert error.answer == "(none)"
    assert {each.move for each in decisions} == {first.move}


def test_gnu_chess_may_choke_on_its_own_words():
    """Where it is soon done with all depths, it may print more than it can hand on, and dies."""
    turn = turn_of("4k3/8/4K3/8/8/8/8/7R w - - 100 150")

    async def main():
        outcomes = []
        async with UciPool(installed("gnuchess"), size=1) as pool:
            player = UciPlayer("x", pool, limit=Limit(nodes=500))
            for _ in range(20):
                try:
                    outcomes.append(await player.decide(turn))
                except UciFault as fault:
                    outcomes.append(fault)
        return outcomes

    for outcome in run(main()):
        if isinstance(outcome, UciFault):
            assert isinstance(outcome, UciDied)
        else:
            assert turn.position.is_legal(outcome.move)
