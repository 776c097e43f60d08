"""A game's analysis: what each move cost, what was on the table, and what it takes to find out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from agents.player import Turn
from agents.uci.analyser import Analyser, Analysis, Variation
from agents.uci.info import Score
from agents.uci.limits import Limit
from agents.uci.pool import UciPool
from agents.uci.program import UciProgram, find_stockfish
from app.evaluations.accuracy import Judgement, centipawns, game_accuracy, win_percent
from app.evaluations.analysis.analysed_ply import Proposal
from app.evaluations.analysis.game_analysis import (
    GameAnalysis,
    InvalidGameAnalysis,
    NoEvaluation,
    TooManyNodes,
    analyse_game,
    cost_of,
    noted_analysis,
)
from app.evaluations.analysis.phases import Phase
from app.evaluations.analysis.quality import summarise
from app.evaluations.analysis.questions import CannotAnalyseVariant
from app.evaluations.analysis.table import stored_advice
from engine import (
    Color,
    Evaluation,
    Game,
    IllegalMove,
    Move,
    Position,
    read_games,
)
from tests.support.model_server import ModelServer
from tests.support.processes import MARK, program, run
from tests.support.team_matches import advice as advises
from tests.support.team_matches import by_role, furnish, hurry, playing
from tests.support.team_matches import move as decides

WHITE, BLACK = Color.WHITE, Color.BLACK
NODES = 500
FOOLS_MATE = "f3 e5 g4 Qh4#"
SCHOLARS_MATE = "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#"


def played(moves: str, *start: str, **options: object) -> Game:
    game = Game(*start, **options)
    for move in moves.split():
        game.play(move)
    return game


def said(**moves: str) -> list[dict[str, object]]:
    """Return advice as matches store it: names, and moves in UCI, best first."""
    return [
        {"by": by, "candidates": [{"uci": uci, "san": "", "reason": ""} for uci in ucis.split()],
         "words": "", "abstained": "" if ucis else "it had nothing to say"}
        for by, ucis in moves.items()
    ]  # fmt: skip


def stockfish(game: Game, advice: dict = {}, **options: object) -> GameAnalysis:  # noqa: B006
    """Return what the real Stockfish thinks."""

    async def main() -> GameAnalysis:
        our = replace(find_stockfish(), environment={"UCI_MARK": MARK})
        async with UciPool(our, size=2) as pool:
            return await analyse_game(Analyser(pool), game, advice, **({"nodes": NODES} | options))

    return run(main())


class Scripted(Analyser):
    """Says of every position what a function says, from White's side; tells what it was asked."""

    def __init__(self, worth: Callable[[Position], int]) -> None:
        super().__init__(UciPool(UciProgram("Scripted", ("nothing",))))
        self.worth = worth
        self.asked: list[Turn] = []

    async def analyse_all(
        self, turns: Sequence[Turn], limit: Limit | None = None, **_: object
    ) -> list[Analysis]:
        self.asked += turns
        return [self._analysis(turn.position) for turn in turns]

    def _analysis(self, position: Position) -> Analysis:
        sign = 1 if position.turn is WHITE else -1
        move = min(position.legal_moves(), key=Move.uci)
        score = Score(centipawns=sign * self.worth(position))
        line = Variation(1, score, None, 9, 9, 10, None, (move,), (position.san(move),))
        return Analysis(position, (line,))


def material(position: Position) -> int:
    """Return the difference of material in centipawns, from White's side."""
    worth = {"p": 100, "n": 300, "b": 300, "r": 500, "q": 900, "k": 0, "/": 0}
    placement = position.fen().split()[0]
    return sum(
        worth.get(letter.lower(), 0) * (1 if letter.isupper() else -1) for letter in placement
    )


def scripted(
    game: Game,
    advice: dict = {},  # noqa: B006
    worth: Callable[[Position], int] = material,
    **options: object,
) -> GameAnalysis:
    return run(analyse_game(Scripted(worth), game, advice, **({"nodes": NODES} | options)))


# --- Stockfish's view of a game ---


def test_every_move_of_a_game_is_judged():
    analysis = stockfish(played(SCHOLARS_MATE), nodes=5000)
    assert analysis.engine.startswith("Stockfish ")
    assert (analysis.nodes_per_position, analysis.searches) == (5000, 7)
    assert 0 < analysis.nodes <= 8 * 5000
    plies = analysis.plies
    assert [each.number for each in plies] == list(range(1, 8))
    assert " ".join(each.san for each in plies) == SCHOLARS_MATE
    assert [each.uci for each in plies[-2:]] == ["g8f6", "h5f7"]
    assert [each.color for each in plies[:3]] == [WHITE, BLACK, WHITE]
    for before, after in pairwise(plies):
        assert after.win_before == pytest.approx(100 - before.win_after)
    for each in plies:
        cp = centipawns(each.evaluation, each.color)
        assert each.win_after == win_percent(cp if each.color is WHITE else -cp)
        assert each.fall == max(0, each.win_before - each.win_after)
        assert (each.accuracy == 100) == (each.fall < 0.22)
        assert each.best is not None
        assert (each.decider, each.candidates, each.regret) == (None, (), None)
    blunder, mate = plies[-2:]
    assert (blunder.judgement, blunder.evaluation) == (Judgement.BLUNDER, Evaluation(mate=1))
    assert blunder.centipawn_loss > 900
    # Mate is a win for whoever gave it, and the best there was.
    assert (mate.evaluation, mate.best) == (Evaluation(mate=0), mate.uci)
    assert (mate.judgement, mate.accuracy, mate.centipawn_loss) == (None, 100, 0)
    assert mate.win_before == mate.win_after == win_percent(1000)


def test_black_gives_mate():
    mate = stockfish(played(FOOLS_MATE)).plies[-1]
    assert (mate.color, mate.evaluation, mate.accuracy) == (BLACK, Evaluation(mate=0), 100)
    assert mate.win_after == win_percent(1000)


def test_a_move_that_mates_is_not_weighed():
    analysis = scripted(played(SCHOLARS_MATE))
    assert (len(analysis.played), list(analysis.weighed)) == (7, list(range(1, 7)))
    assert analysis.counted == analysis.plies[:-1]
    assert GameAnalysis.from_json(analysis.to_json()).weighed == analysis.weighed
    unmated = scripted(played(SCHOLARS_MATE.rsplit(" ", 1)[0]))
    assert unmated.weighed == analysis.weighed
    assert len(unmated.counted) == 6


def test_a_stalemate_is_weighed():
    game = played("Qf7", "7k/8/6K1/8/8/8/5Q2/8 w - - 0 1")
    assert list(scripted(game).weighed) == [1]


def test_the_same_game_is_analysed_in_the_same_way():
    advice = {2: said(tactical="e7e5 d7d5", selector="e7e5")}
    first, second = (stockfish(played(FOOLS_MATE), advice) for _ in range(2))
    assert first == second


def test_progress_is_told():
    heard: list[tuple[int, int]] = []
    advice = {1: said(tactical="e2e4", selector="f2f3")}
    stockfish(played(FOOLS_MATE), advice, progress=lambda *each: heard.append(each))
    assert heard == [(done, 5) for done in range(1, 6)]


def test_positions_in_which_the_game_is_over_are_not_searched():
    stalemate = Game("7k/8/6K1/8/8/8/5Q2/8 w - - 0 1")
    stalemate.play("Qf7")
    bare = Game("7k/8/8/8/8/8/6r1/7K w - - 0 1")
    bare.play("Kxg2")
    for game in (stalemate, bare):
        asked = Scripted(lambda _: -50)
        analysis = run(analyse_game(asked, game, nodes=NODES))
        assert len(asked.asked) == analysis.searches == 1
        assert analysis.plies[-1].evaluation == Evaluation(centipawns=0)
    start = Game("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    assert scripted(start) == GameAnalysis("Scripted", NODES, 0, 0, Evaluation(centipawns=0))


# --- where a game begins ---


def test_the_usual_first_position_is_worth_what_lichess_says():
    analysis = scripted(played("e4 e5"), worth=lambda _: 200)
    assert analysis.initial == Evaluation(centipawns=15)
    assert analysis.plies[0].win_before == win_percent(15)
    assert analysis.plies[0].best == "a2a3"
    assert analysis.plies[1].win_before == win_percent(-200)


@pytest.mark.parametrize("fen", ["4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", "4k3/4p3/8/8/8/8/8/4K3 b - -"])
def test_another_first_position_is_worth_what_the_engine_says_and_black_may_begin(fen):
    game = Game(fen)
    for move in ("Kd7", "Kd1"):
        game.play(move)
    analysis = scripted(game)
    worth = material(game.start)
    assert analysis.initial == Evaluation(centipawns=worth)
    assert [each.color for each in analysis.plies] == [BLACK, WHITE]
    assert [each.accuracy for each in analysis.plies] == [100, 100]
    assert [each.win_before for each in analysis.plies] == [win_percent(-worth), win_percent(worth)]


def test_a_game_without_moves():
    analysis = scripted(Game())
    assert (analysis.plies, analysis.searches, analysis.weighed) == ((), 1, {})
    assert summarise([(analysis, WHITE)]).overall.accuracy is None


def test_the_opening_of_a_match_is_nobodys_doing():
    worth = {"e4": -400, "e5": -500, "Nf3": -520, "Nc6": -300, "Bb5": -480}
    game = played(" ".join(worth))
    by_key = {ply.after.key(): worth[ply.san] for ply in game.plies}

    def told(position: Position) -> int:
        return by_key.get(position.key(), 15)

    analysis = scripted(game, worth=told, opening_plies=2)
    assert [each.is_opening for each in analysis.plies] == [True, True, False, False, False]
    assert [each.judgement for each in analysis.plies[:2]] == [None, None]
    assert [each.number for each in analysis.played] == list(analysis.weighed) == [3, 4, 5]
    expected = game_accuracy([-520, -300, -480], WHITE, initial=-500)
    for color in Color:
        overall = summarise([(analysis, color)]).overall
        assert overall.accuracy == pytest.approx(expected[color])
    assert summarise([(analysis, WHITE)]).overall.acpl == pytest.approx((20 + 180) / 2)
    whole = scripted(game, worth=told)
    assert whole.plies[0].judgement is Judgement.BLUNDER
    assert summarise([(whole, WHITE)]).overall.moves == 3


# --- what was on the table ---

#: After 1. e4 d5 White can take a pawn, or lose one.
CENTRE = "e4 d5 Nc3"
TABLES = {
    "a better one was passed over": (
        said(tactical="e4d5 b1c3", positional="b1c3", selector="b1c3"), "selector",
        {"e4d5": [("tactical", 1)],
         "b1c3": [("tactical", 2), ("positional", 1), ("selector", 1)]},
        (), win_percent(100) - win_percent(0),
    ),
    "the best one was taken": (
        said(tactical="b1c3 e4e5", selector="b1c3"), "selector",
        {"b1c3": [("tactical", 1), ("selector", 1)], "e4e5": [("tactical", 2)]}, (), 0.0,
    ),
    "the selector had an idea of its own": (
        said(tactical="e4d5", positional="a2a3", chief="b1c3"), "chief",
        {"e4d5": [("tactical", 1)], "a2a3": [("positional", 1)], "b1c3": [("chief", 1)]},
        (), win_percent(100) - win_percent(0),
    ),
    "one of two abstained": (
        said(tactical="", positional="e4d5", selector="b1c3"), "selector",
        {"e4d5": [("positional", 1)], "b1c3": [("selector", 1)]},
        ("tactical",), win_percent(100) - win_percent(0),
    ),
    "all abstained": (
        said(tactical="", positional="", selector="b1c3"), "selector",
        {"b1c3": [("selector", 1)]}, ("tactical", "positional"), None,
    ),
    "somebody alone": (said(solo="b1c3"), "solo", {"b1c3": [("solo", 1)]}, (), None),
    "a vote": (
        said(**{"solo 1": "b1c3", "solo 2": "e4d5", "solo 3": "b1c3", "solo": "b1c3"}), "solo",
        {"b1c3": [("solo 1", 1), ("solo 3", 1), ("solo", 1)], "e4d5": [("solo 2", 1)]},
        (), win_percent(100) - win_percent(0),
    ),
    "the selector was not understood at first": (
        [*said(tactical="e4d5"), *said(selector=""), *said(selector="b1c3")], "selector",
        {"e4d5": [("tactical", 1)], "b1c3": [("selector", 1)]},
        (), win_percent(100) - win_percent(0),
    ),
    "the selector was never understood, and somebody else decided": (
        [*said(tactical="e4d5"), *said(selector="")], "selector",
        {"e4d5": [("tactical", 1)]}, ("selector",), win_percent(100) - win_percent(0),
    ),
    "a specialist was asked again": (
        [*said(tactical="a2a4 e4d5"), *said(tactical="e4d5"), *said(selector="b1c3")], "selector",
        {"e4d5": [("tactical", 1)], "b1c3": [("selector", 1)]},
        (), win_percent(100) - win_percent(0),
    ),
    "one move was named twice": (
        said(tactical="e4d5 e4d5 b1c3", selector="b1c3"), "selector",
        {"e4d5": [("tactical", 1)], "b1c3": [("tactical", 2), ("selector", 1)]},
        (), win_percent(100) - win_percent(0),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("advice", "decider", "candidates", "abstained", "regret"), TABLES.values(), ids=TABLES
)
def test_what_was_on_the_table(advice, decider, candidates, abstained, regret):
    analysis = scripted(played(CENTRE), {3: advice})
    assert [each.decider for each in analysis.plies] == [None, None, decider]
    ply = analysis.plies[2]
    assert {each.uci: each.proposals for each in ply.candidates} == {
        uci: tuple(Proposal(*each) for each in proposals) for uci, proposals in candidates.items()
    }
    assert ply.abstained == abstained
    assert ply.regret == (None if regret is None else pytest.approx(regret))
    others = set(candidates) - {"b1c3"}
    assert analysis.searches == 4 + len(others)
    for each in ply.candidates:
        assert each.win == win_percent(100 if each.uci == "e4d5" else 0)
        assert each.san == played("e4 d5").position.san(Move.from_uci(each.uci))


def test_candidates_of_black_are_seen_from_blacks_side():
    game = played("e4 d5 Nc3 a6")
    analysis = scripted(game, {4: said(tactical="d5e4 a7a6", selector="a7a6")})
    taken, quiet = analysis.plies[3].candidates
    assert (taken.evaluation, taken.win) == (Evaluation(centipawns=-100), win_percent(100))
    assert (quiet.evaluation, quiet.win) == (Evaluation(centipawns=0), win_percent(0))
    assert analysis.plies[3].regret == pytest.approx(win_percent(100) - win_percent(0))


def test_a_mate_that_was_passed_over_is_known_without_a_search():
    game = played("f3 e5 g4 a6")
    advice = {4: said(tactical="d8h4", selector="a7a6")}
    asked = Scripted(material)
    ply = run(analyse_game(asked, game, advice, nodes=NODES)).plies[3]
    assert len(asked.asked) == 5
    assert (ply.candidates[0].evaluation, ply.candidates[0].win) == (
        Evaluation(mate=0), win_percent(1000),
    )  # fmt: skip
    assert ply.regret == pytest.approx(win_percent(1000) - win_percent(0))


def test_advice_of_a_ply_that_was_not_played_costs_nothing():
    advice = {1: said(tactical="d2d4", selector="e2e4"), 2: said(tactical="e7e5 d7d5")}
    analysis = scripted(played("e4"), advice)
    assert (analysis.searches, cost_of(played("e4"), advice, nodes=7)) == (3, 21)


def test_advice_that_does_not_fit_the_game_is_refused():
    with pytest.raises(IllegalMove):
        scripted(played("e4"), {1: said(tactical="e2e5", selector="e2e4")})


def test_stockfish_sees_what_was_passed_over():
    # Black could have parried: 3... g6 or 3... Qe7, and played 3... Nf6 instead.
    advice = {6: said(tactical="g8f6 d8e7", positional="g7g6", selector="g8f6")}
    ply = stockfish(played(SCHOLARS_MATE), advice).plies[5]
    assert [each.uci for each in ply.candidates] == ["g8f6", "d8e7", "g7g6"]
    assert ply.candidates[0].win == ply.win_after == win_percent(-1000)
    assert ply.regret > 30
    assert ply.regret == max(each.win for each in ply.candidates) - ply.win_after
    assert ply.favourite_of("positional").san == "g6"
    assert ply.favourite_of("nobody") is None
    assert ply.specialists == ("tactical", "positional")


def test_castling_and_candidates_in_chess960():
    game = Game(Position.from_fen("4k3/8/8/8/8/8/8/1RK4R w HB - 0 1", "chess960"))
    game.play("O-O")
    game.play("Ke7")
    assert game.plies[0].uci == "c1h1"
    advice = {1: said(tactical="c1b1 c1d1", selector="c1h1")}
    analysis = stockfish(game, advice)
    assert [each.san for each in analysis.plies[0].candidates] == ["O-O-O", "Kd1", "O-O"]
    assert (analysis.searches, len(analysis.plies)) == (5, 2)
    assert analysis.initial != Evaluation(centipawns=15)


def test_a_variant_without_engines_is_refused():
    game = Game(variant="kings-cooking")
    for refused in (lambda: scripted(game), lambda: cost_of(game, nodes=1),
                    lambda: noted_analysis(game)):  # fmt: skip
        with pytest.raises(CannotAnalyseVariant, match="no UCI engine plays it"):
            refused()


# --- the history of a game ---

#: A position is there for the third time after these, and for the fifth after as many again.
THRICE = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"


def claimed() -> Game:
    game = played(THRICE)
    game.claim_draw()
    return game


def agreed() -> Game:
    game = played(THRICE)
    game.agree_draw()
    return game


def claimed_later() -> Game:
    game = played(f"{THRICE} Nf3 Nf6")
    game.claim_draw()
    return game


HISTORIES = {
    # A game, and which of its positions are not searched.
    "nobody claims": (lambda: played(THRICE), set()),
    "a draw is agreed": (agreed, set()),
    "somebody claims": (claimed, {8}),
    "somebody claims, but not at the first chance": (claimed_later, {10}),
    "it is claimed at once": (lambda: played(THRICE, claims_draws=True), {8}),
    "five times": (lambda: played(f"{THRICE} {THRICE}"), {16}),
}


@pytest.mark.parametrize(("game", "known"), HISTORIES.values(), ids=HISTORIES)
def test_draws_by_repetition(game, known):
    asked = Scripted(lambda _: 333)
    analysis = run(analyse_game(asked, game(), nodes=NODES))
    drawn = {each.number for each in analysis.plies if each.evaluation == Evaluation(centipawns=0)}
    assert drawn == known
    assert len(asked.asked) == len(analysis.plies) + 1 - len(known)


def test_a_candidate_that_repeats_is_a_draw_where_draws_are_claimed_at_once():
    moves = THRICE.rsplit(" ", 1)[0] + " d5"
    advice = {8: said(tactical="f6g8", selector="d7d5")}
    for claims_draws, worth in ((True, 0), (False, 333)):
        game = played(moves, claims_draws=claims_draws)
        ply = scripted(game, advice, lambda _: 333).plies[7]
        assert ply.candidates[0].evaluation == Evaluation(centipawns=worth)


def test_the_engine_is_told_the_history():
    asked = Scripted(material)
    game = played(THRICE)
    run(analyse_game(asked, game, {3: said(tactical="a2a3", selector="f3g1")}, nodes=NODES))
    *positions, candidate = asked.asked
    assert [each.positions for each in positions] == [
        tuple(game.line.positions[: number + 1]) for number in range(9)
    ]
    assert [ply.san for ply in candidate.plies] == ["Nf3", "Nf6", "a3"]
    assert candidate.position == played("Nf3 Nf6 a3").position


def test_a_draw_that_stockfish_sees_only_with_the_history():
    # White is lost but for the repetition, which its only move brings about.
    moves = " ".join(["Kg1", "Qe3+", "Kh1", "Qe2"] * 2)
    game = played(moves, "k7/8/8/8/8/8/4q3/7K w - - 0 1")
    analysis = stockfish(game, nodes=3000)
    assert analysis.plies[-1].evaluation == Evaluation(centipawns=0)
    assert analysis.plies[-1].judgement is Judgement.BLUNDER
    assert analysis.plies[2].judgement is None


# --- what it may cost ---


def test_the_cost_is_known_before_and_bounds_the_analysis():
    game = played(SCHOLARS_MATE)
    advice = {5: said(tactical="g1f3 d1h5", positional="b1c3", selector="d1h5")}
    assert cost_of(game, nodes=NODES) == 7 * NODES
    assert cost_of(game, advice, nodes=NODES) == 9 * NODES
    assert scripted(game, advice, most_nodes=9 * NODES).searches == 9
    assert stockfish(game, advice).searches == 9

    async def main() -> None:
        async with UciPool(program("DiesAtStart")) as pool:  # so nothing can be searched
            limits = {"nodes": NODES, "most_nodes": 9 * NODES - 1}
            await analyse_game(Analyser(pool), game, advice, **limits)

    with pytest.raises(TooManyNodes, match="would search 4,500 nodes, and 4,499 are left") as error:
        run(main())
    assert (error.value.cost, error.value.most) == (4500, 4499)


def test_an_engine_that_says_no_score_is_no_use():
    async def main() -> None:
        async with UciPool(program("Remarks")) as pool:
            await analyse_game(Analyser(pool), played(""), nodes=NODES)

    with pytest.raises(NoEvaluation, match=r"does not say what rnbqkbnr.* is worth"):
        run(main())


# --- as data ---


def test_json_and_back():
    advice = {6: said(tactical="g8f6 d8e7", positional="", selector="g8f6"), 7: said(solo="h5f7")}
    for analysis in (
        stockfish(played(SCHOLARS_MATE), advice, opening_plies=2),
        noted_analysis(played("")),
    ):
        text = json.dumps(analysis.to_json(), allow_nan=False)
        again = GameAnalysis.from_json(json.loads(text))
        assert again == analysis
        assert again.to_json() == analysis.to_json()
        assert again.weighed == analysis.weighed


def broken(change: Callable[[dict], object]) -> object:
    data = scripted(played("e4"), {1: said(tactical="d2d4", selector="e2e4")}).to_json()
    change(data)
    return data


BROKEN = {
    "nothing": lambda data: data.clear(),
    "no plies": lambda data: data.pop("plies"),
    "more than there is": lambda data: data.update(more=1),
    "no evaluation": lambda data: data["plies"][0].update(evaluation={}),
    "two evaluations": lambda data: data["initial"].update(mate=1),
    "no colour": lambda data: data["plies"][0].update(color="green"),
    "no phase": lambda data: data["plies"][0].pop("phase"),
    "no judgement": lambda data: data["plies"][0].update(judgement="brilliant"),
    "no candidate": lambda data: data["plies"][0]["candidates"][0].pop("win"),
    "no ply": lambda data: data.update(plies=[None]),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_what_is_no_analysis_is_refused(change):
    with pytest.raises(InvalidGameAnalysis, match="this is no analysis of a game: "):
        GameAnalysis.from_json(broken(change))


# --- evaluations that are noted in the game ---


def test_what_was_noted_gives_the_same_as_the_search_that_it_was_noted_from():
    for moves in (SCHOLARS_MATE, FOOLS_MATE, "e4 e5 Nf3 Nc6"):
        game = played(moves)
        searched = stockfish(game)
        for number, ply in enumerate(searched.plies):
            if ply.evaluation.mate != 0:
                game.line.note(number).evaluation = ply.evaluation
        (read,) = read_games(game.pgn())
        noted = noted_analysis(read)
        assert (noted.engine, noted.nodes_per_position, noted.searches) == (None, None, 0)
        assert noted.plies == tuple(replace(each, best=None) for each in searched.plies)
        assert noted.weighed == searched.weighed


def test_the_published_example_from_a_pgn():
    cps = [20, 25, 10, 60, -80, -75, -150, -140, -300, -280]
    moves = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 d4 exd4"
    game = played(moves)
    for number, cp in enumerate(cps):
        game.line.note(number).evaluation = Evaluation(centipawns=cp)
    (read,) = read_games(game.pgn())
    analysis = noted_analysis(read)
    white, black = (summarise([(analysis, color)]).overall for color in Color)
    assert (round(white.accuracy, 4), round(black.accuracy, 4)) == (68.1181, 91.8448)
    assert (white.acpl, black.acpl) == (78, 18)
    assert (white.inaccuracies, white.mistakes, white.blunders) == (1, 2, 0)


NOTED = {
    "all": ("1. e4 {[%eval 0.2]} e5 {[%eval 0.3,20]} *", True),
    "one is missing": ("1. e4 {[%eval 0.2]} e5 *", False),
    "the first is missing": ("1. e4 e5 {[%eval 0.3]} *", False),
    "there is no move": ("*", True),
    "mate needs none": ("1. f3 {[%eval -1]} e5 {[%eval -1]} 2. g4 {[%eval #-1]} Qh4# 0-1", True),
    "mate in a variation": ("1. f3 {[%eval -1]} (1. e4 {[%eval 0.2]}) e5 *", False),
}


@pytest.mark.parametrize(("pgn", "is_complete"), NOTED.values(), ids=NOTED)
def test_every_move_has_to_be_noted(pgn, is_complete):
    (game,) = read_games(pgn)
    assert (noted_analysis(game) is not None) is is_complete


def test_what_was_noted_of_the_last_move_does_not_count_if_the_rules_know_better():
    (game,) = read_games("1. f3 {[%eval -1]} e5 {[%eval -1]} 2. g4 {[%eval #-1]} Qh4# {[%eval 5]}")
    assert noted_analysis(game).plies[-1].evaluation == Evaluation(mate=0)


def test_a_mate_in_none_is_that_of_whoever_moved():
    (game,) = read_games("1. e4 {[%eval #0]} e5 {[%eval #0]} 2. Nf3 {[%eval 0.2]} *")
    first, second, third = noted_analysis(game).plies
    assert (first.win_after, second.win_before) == (win_percent(1000), win_percent(-1000))
    assert (second.win_after, third.win_before) == (win_percent(1000), win_percent(-1000))


# --- advice of real matches ---


@pytest.fixture(name="folder")
def furnished(tmp_path, sqlite_template, monkeypatch):
    """A folder for the services."""
    hurry(monkeypatch)
    return furnish(tmp_path, sqlite_template)


async def analysed(play, match_id: str) -> GameAnalysis:
    """Return the analysis of a match, as it is stored."""
    matches = play.services.matches
    match = await matches.load(match_id)
    _, plies = await matches.plies(match_id)
    advice = stored_advice(plies)
    opening = match.opening_plies
    return await analyse_game(
        Scripted(material), match.game, advice, nodes=9, opening_plies=opening
    )


def test_a_match_of_the_classical_team(folder):
    async def main() -> GameAnalysis:
        async with playing(None, folder) as play:
            match_id = await play.start("classical", max_plies=4, opening="1. e4 e5")
            await play.ended(match_id)
            return await analysed(play, match_id)

    analysis = run(main())
    assert [each.is_opening for each in analysis.plies] == [True, True, False, False]
    ply, reply = analysis.played
    assert (ply.decider, reply.decider) == ("selector", None)
    assert ply.specialists == ("tactical", "positional")
    assert ply.uci in {each.uci for each in ply.candidates}
    assert ply.regret is not None


def test_a_match_of_a_team_of_models(folder):
    behaviour = by_role(
        tactical=advises("e2e4", "d2d4"), positional=advises("c2c4"), selector=decides("g1f3")
    )

    async def main() -> GameAnalysis:
        async with ModelServer(behaviour) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", max_plies=1)
            await play.ended(match_id)
            return await analysed(play, match_id)

    (ply,) = run(main()).plies
    assert {each.uci: [one.by for one in each.proposals] for each in ply.candidates} == {
        "e2e4": ["tactical"], "d2d4": ["tactical"], "c2c4": ["positional"], "g1f3": ["selector"],
    }  # fmt: skip
    assert (ply.uci, ply.decider, ply.regret) == ("g1f3", "selector", 0)


def test_phases_are_of_the_position_before_the_move():
    # Seven pieces are left until White takes one of them.
    game = played("Rxa8+ Ke7 Rh7+", "r3k1n1/1ppp4/8/8/8/8/1PPP4/RNBQK2R w - - 0 30")
    phases = [each.phase for each in scripted(game).plies]
    assert phases == [Phase.MIDDLEGAME, Phase.ENDGAME, Phase.ENDGAME]
