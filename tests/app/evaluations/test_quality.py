"""How well a side played: counts, means and margins over games that are made up."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.evaluations.accuracy import (
    Judgement,
    acpl,
    centipawn_loss,
    game_accuracy,
    judgement,
    move_accuracy,
    win_percent,
)
from app.evaluations.analysis.analysed_ply import AnalysedCandidate, AnalysedPly, Proposal
from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.analysis.phases import Phase
from app.evaluations.analysis.quality import summarise
from engine import Color, Evaluation

WHITE, BLACK = Color.WHITE, Color.BLACK
CPS = [20, 25, 10, 60, -80, -75, -150, -140, -300, -280]


def made_up(cps, phases=None, opening=0):
    """Return the analysis of a game of which only the evaluations are known."""
    plies, before, color = [], 15, WHITE
    for number, cp in enumerate(cps, 1):
        sign = 1 if color is WHITE else -1
        wins = win_percent(sign * before), win_percent(sign * cp)
        fall = max(0.0, wins[0] - wins[1])
        is_opening = number <= opening
        plies.append(
            AnalysedPly(
                number, color, "e2e4", "e4", Evaluation(centipawns=cp), None, *wins, fall,
                centipawn_loss(before, cp, color), move_accuracy(*wins),
                None if is_opening else judgement(fall),
                phases[number - 1] if phases else Phase.OPENING, is_opening,
            )
        )  # fmt: skip
        before, color = cp, color.opponent
    return GameAnalysis("Made Up", 1, 1, 1, Evaluation(centipawns=15), tuple(plies))


def advised(analysis, number, regret, win=50.0, played="e2e4", **moves):
    """Return the game with advice at a ply: names, and moves that they name; one is played."""
    proposals = {}
    for by, ucis in moves.items():
        for rank, uci in enumerate(ucis.split(), 1):
            proposals.setdefault(uci, []).append(Proposal(by, rank))
    candidates = tuple(
        AnalysedCandidate(uci, uci, Evaluation(centipawns=0), win, tuple(each))
        for uci, each in proposals.items()
    )
    silent = tuple(by for by, ucis in moves.items() if not ucis)
    ply = replace(
        analysis.plies[number - 1], uci=played, decider="selector", candidates=candidates,
        abstained=silent, regret=regret,
    )  # fmt: skip
    plies = analysis.plies
    return replace(analysis, plies=(*plies[: number - 1], ply, *plies[number:]))


# --- moves ---


def test_one_game():
    analysis = made_up(CPS)
    white, black = (summarise([(analysis, color)]).overall for color in Color)
    assert (white.games, white.moves, black.games, black.moves) == (1, 5, 1, 5)
    assert white.accuracy == pytest.approx(68.1181, abs=5e-5)
    assert black.accuracy == pytest.approx(91.8448, abs=5e-5)
    assert (white.acpl, black.acpl) == (78, 18)
    assert (white.inaccuracies, white.mistakes, white.blunders) == (1, 2, 0)
    assert (black.inaccuracies, black.mistakes, black.blunders) == (0, 0, 0)
    assert [white.rate(each) for each in Judgement] == [20, 40, 0]
    assert white.accuracy_margin is None


def test_a_mean_over_games_and_over_moves():
    long, short = made_up([15] * 20), made_up([-985])
    quality = summarise([(long, WHITE), (short, WHITE), (long, BLACK)]).overall
    alone = game_accuracy([-985])[WHITE]
    assert (quality.games, quality.moves) == (3, 21)
    assert quality.accuracy == pytest.approx((100 + alone + 100) / 3)  # each game counts the same
    assert quality.acpl == pytest.approx(1000 / 21)  # each move counts the same
    assert quality.rate(Judgement.BLUNDER) == pytest.approx(100 / 21)
    deviation = math.sqrt((2 * (100 - quality.accuracy) ** 2 + (alone - quality.accuracy) ** 2) / 2)
    assert quality.accuracy_margin == pytest.approx(1.959964 * deviation / math.sqrt(3))


def test_phases_are_told_apart():
    phases = [Phase.OPENING] * 4 + [Phase.MIDDLEGAME] * 5 + [Phase.ENDGAME]
    quality = summarise([(made_up(CPS, phases), WHITE), (made_up([15, 15]), WHITE)])
    opening, middlegame, endgame = (quality.phases[each] for each in Phase)
    assert (opening.games, middlegame.games, endgame.games) == (2, 1, 0)
    assert (opening.moves, middlegame.moves, endgame.moves) == (3, 3, 0)
    assert (opening.mistakes, middlegame.mistakes, middlegame.inaccuracies) == (0, 2, 1)
    assert middlegame.acpl == pytest.approx((140 + 75 + 160) / 3)
    assert middlegame.accuracy < quality.overall.accuracy < opening.accuracy
    assert (endgame.accuracy, endgame.acpl, endgame.rate(Judgement.BLUNDER)) == (None, None, None)


def test_a_game_of_one_phase_is_as_accurate_as_the_phase():
    quality = summarise([(made_up(CPS, [Phase.ENDGAME] * 10), BLACK)])
    assert quality.phases[Phase.ENDGAME] == quality.overall


def test_the_opening_does_not_count():
    quality = summarise([(made_up(CPS, opening=5), WHITE)]).overall
    assert quality.accuracy == pytest.approx(game_accuracy(CPS[5:], BLACK, CPS[4])[WHITE])
    assert quality.acpl == acpl(CPS[5:], BLACK, CPS[4])[WHITE]
    assert (quality.moves, quality.mistakes) == (2, 1)


def mated(cps, phases=None, opening=0):
    """Return the analysis of a game that ends with a mate after these."""
    *plies, last = made_up([*cps, 1000 if len(cps) % 2 == 0 else -1000], phases, opening).plies
    mate = replace(last, evaluation=Evaluation(mate=0))
    return replace(made_up([]), plies=(*plies, mate))


@pytest.mark.parametrize("opening", [0, 5])
@pytest.mark.parametrize("cps", [CPS, CPS[:-1], CPS * 3], ids=len)
def test_a_move_that_mates_counts_neither_in_accuracy_nor_in_acpl(cps, opening):
    """As on Lichess: it is there, and that is all."""
    first = WHITE if opening % 2 == 0 else BLACK
    start = cps[opening - 1] if opening else 15
    mover = WHITE if len(cps) % 2 == 0 else BLACK
    for color in Color:
        found = summarise([(mated(cps, opening=opening), color)]).overall
        before = summarise([(made_up(cps, opening=opening), color)]).overall
        expected = game_accuracy(cps[opening:], first, start)[color]
        assert found.accuracy == before.accuracy == pytest.approx(expected)
        assert found.acpl == before.acpl == acpl(cps[opening:], first, start)[color]
        assert found.moves == before.moves + (color is mover)


def test_a_side_that_only_mated_has_no_accuracy():
    phases = [Phase.OPENING] * 10 + [Phase.ENDGAME]
    quality = summarise([(mated(CPS, phases), WHITE)])
    endgame = quality.phases[Phase.ENDGAME]
    assert (endgame.games, endgame.moves, endgame.accuracy, endgame.acpl) == (0, 1, None, None)
    assert quality.overall.accuracy == quality.phases[Phase.OPENING].accuracy
    at_once = summarise([(mated([]), WHITE)]).overall
    assert (at_once.games, at_once.moves, at_once.accuracy) == (0, 1, None)


def test_a_mate_that_is_still_to_come_counts():
    *plies, last = made_up(CPS).plies
    coming = replace(made_up([]), plies=(*plies, replace(last, evaluation=Evaluation(mate=1))))
    assert summarise([(coming, BLACK)]).overall.accuracy < 60


def test_nothing_at_all():
    for games in ([], [(made_up([]), WHITE)], [(made_up([15]), BLACK)]):
        quality = summarise(games)
        assert (quality.overall.games, quality.overall.moves) == (0, 0)
        assert (quality.overall.accuracy, quality.overall.acpl) == (None, None)
        assert (quality.regret.plies, quality.regret.mean, quality.specialists) == (0, None, ())
        assert list(quality.phases) == list(Phase)
        json.dumps(quality.to_json(), allow_nan=False)


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(-1200, 1200), st.sampled_from(Phase)), max_size=40),
            st.sampled_from(Color),
        ),
        max_size=4,
    )
)
def test_the_parts_add_up_to_the_whole(games):
    analyses = [
        (made_up([cp for cp, _ in moves], [phase for _, phase in moves]), color)
        for moves, color in games
    ]
    quality = summarise(analyses)
    parts = quality.phases.values()
    for name in ("moves", "inaccuracies", "mistakes", "blunders"):
        assert getattr(quality.overall, name) == sum(getattr(each, name) for each in parts)
    lost = sum(each.acpl * each.moves for each in parts if each.acpl is not None)
    if quality.overall.moves:
        assert quality.overall.acpl * quality.overall.moves == pytest.approx(lost)
        assert 0 <= quality.overall.accuracy <= 100
    assert summarise(reversed(analyses)).overall.moves == quality.overall.moves
    json.dumps(quality.to_json(), allow_nan=False)


# --- regret ---


def test_regret_is_a_mean_over_plies():
    game = made_up([15] * 8)
    for number, regret in ((1, 0.0), (3, 6.0), (5, 5.0), (7, 1.0)):
        game = advised(game, number, regret, tactical="e2e4", selector="e2e4")
    regret = summarise([(game, WHITE)]).regret
    assert (regret.plies, regret.mean, regret.great_share) == (4, 3.0, 0.25)
    deviation = math.sqrt((9 + 9 + 4 + 4) / 3)
    assert regret.margin == pytest.approx(1.959964 * deviation / 2)
    assert (regret.played_accuracy, regret.played_loss) == (100, 0)
    assert summarise([(game, BLACK)]).regret.plies == 0


def test_plies_of_one_game_tell_less_than_plies_of_many():
    def game(*regrets):
        analysis = made_up([15] * 2 * len(regrets))
        for number, regret in enumerate(regrets):
            analysis = advised(analysis, 2 * number + 1, regret, tactical="e2e4", selector="e2e4")
        return analysis

    # The plies of each game are alike: four games tell no more than four plies would.
    alike = summarise([(game(*[each] * 10), WHITE) for each in (0.0, 2.0, 4.0, 6.0)]).regret
    four = summarise([(game(each), WHITE) for each in (0.0, 2.0, 4.0, 6.0)]).regret
    assert alike.margin == pytest.approx(four.margin)
    # Where all games are the same, the plies still differ.
    same = summarise([(game(0.0, 6.0), WHITE) for _ in range(4)]).regret
    assert same.margin == pytest.approx(1.959964 * math.sqrt(72 / 7 / 8))
    assert summarise([(game(3.0), WHITE)]).regret.margin is None


# --- specialists ---


def test_specialists():
    game = made_up([15, 15] * 5)
    win = win_percent(15)
    game = advised(game, 1, 0.0, win, tactical="e2e4", positional="d2d4 e2e4", selector="e2e4")
    game = advised(game, 3, 0.0, win - 10, tactical="g1f3 e2e4", positional="", selector="e2e4")
    game = advised(game, 5, 0.0, win, tactical="a2a3", positional="a2a3", selector="e2e4")
    positional, tactical = summarise([(game, WHITE)]).specialists
    assert (tactical.name, tactical.asked, tactical.abstained) == ("tactical", 3, 0)
    assert tactical.mean_loss == pytest.approx(10 / 3)
    expected = (200 + move_accuracy(win, win - 10)) / 3
    assert tactical.accuracy == pytest.approx(expected)
    assert tactical.chosen_share == pytest.approx(1 / 3)
    assert tactical.followed_share == pytest.approx(2 / 3)
    assert (positional.name, positional.asked, positional.abstained) == ("positional", 3, 1)
    assert (positional.accuracy, positional.mean_loss) == (100, 0)
    assert (positional.chosen_share, positional.followed_share) == (0, 0.5)
    assert summarise([(game, BLACK)]).specialists == ()


def test_a_specialist_who_always_abstains():
    game = advised(made_up([15]), 1, None, tactical="", selector="e2e4")
    quality = summarise([(game, WHITE)])
    (tactical,) = quality.specialists
    assert (tactical.asked, tactical.abstained, tactical.accuracy) == (1, 1, None)
    assert (tactical.chosen_share, quality.regret.plies) == (None, 0)


def test_as_plain_data():
    game = advised(made_up(CPS), 1, 2.0, tactical="d2d4", selector="e2e4")
    data = summarise([(game, WHITE)]).to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["accuracy"] == pytest.approx(68.1181, abs=5e-5)
    assert data["per_100_moves"] == {"inaccuracy": 20, "mistake": 40, "blunder": 0}
    assert set(data["phases"]) == {"opening", "middlegame", "endgame"}
    assert data["phases"]["opening"]["moves"] == 5
    assert (data["regret"]["plies"], data["regret"]["mean"]) == (1, 2)
    assert [each["name"] for each in data["specialists"]] == ["tactical"]
