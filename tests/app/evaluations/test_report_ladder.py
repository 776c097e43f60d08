"""What a report tells of a ladder: ratings, forfeits, what to keep in mind."""

import math
from dataclasses import replace

import pytest

from app.evaluations.adaptive import Anchor
from app.evaluations.games import VoidCause, VoidGame
from engine import Termination
from tests.app.evaluations.reporting import (
    EXAMPLE_ANCHORS,
    agent_of,
    codes,
    example_games,
    reported,
)
from tests.support.evaluation_data import (
    evaluation,
    game,
    games_of,
    ladder,
)


def test_a_ladder_is_rated_as_the_published_example():
    agent = agent_of(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS))
    rating = agent["rating"]["as_played"]
    assert rating["elo"] == pytest.approx(1028.276, abs=5e-4)
    assert rating["low"] == pytest.approx(890.59, abs=5e-3)
    assert rating["high"] == pytest.approx(1167.54, abs=5e-3)
    assert rating["margin"] == pytest.approx((1167.54 - 890.59) / 2, abs=5e-3)
    assert agent["rating"]["without_forfeits"] == rating
    assert agent["score"]["points"] == 16
    # At the likeliest rating as much is expected as was scored.
    assert agent["score"]["expected"] == pytest.approx(16)


def test_the_interval_that_is_printed_is_the_one_by_which_a_ladder_stops():
    report = reported(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS))
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["text"] == f"1028 ± {rating['draw_aware_margin']:.0f}" != "1028 ± 138"
    row = report["rating_against_cost"][0]
    for name in ("low", "high", "draw_aware_low", "draw_aware_high"):
        assert row[name] == rating[name] is not None
    pooled = reported(evaluation("pool", games=example_games(), anchors=EXAMPLE_ANCHORS))
    assert pooled["agents"][0]["rating"]["as_played"]["text"] == "1028 ± 138"


def test_scores_stand_beside_what_is_expected():
    agent = agent_of(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS))
    assert [row["opponent"] for row in agent["by_opponent"]] == ["x", "y", "z"]
    first = agent["by_opponent"][0]
    assert (first["wins"], first["draws"], first["losses"]) == (7, 1, 2)
    assert first["expected"] == pytest.approx(10 / (1 + 10 ** ((800 - 1028.276) / 400)), abs=1e-4)
    assert first["share"] == 0.75
    assert agent["by_color"]["white"]["games"] == 30
    assert agent["by_color"]["black"] == {
        "games": 0, "wins": 0, "draws": 0, "losses": 0, "points": 0, "share": None,
        "low": 0, "high": 1, "expected": None, "expected_share": None,
    }  # fmt: skip


def test_having_white_is_worth_what_the_plan_says():
    games = [*games_of("a", "y", 5, 0, 5), *games_of("y", "a", 5, 0, 5, first=11)]
    data = evaluation(games=games, anchors=EXAMPLE_ANCHORS, white_advantage=40.0)
    agent = agent_of(data)
    assert agent["rating"]["as_played"]["elo"] == pytest.approx(1000.0)
    white, black = (agent["by_color"][color]["expected_share"] for color in ("white", "black"))
    assert white == pytest.approx(1 / (1 + 10 ** (-40 / 400)))
    assert white + black == pytest.approx(1)


def test_who_wins_everything_has_a_bound_and_a_note():
    anchors = (Anchor("y", 1200.0),)
    report = reported(evaluation(games=games_of("a", "y", 10), anchors=anchors))
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["elo"] == rating["low"] == pytest.approx(1535.6, abs=0.05)
    assert (rating["high"], rating["bound"], rating["text"]) == (None, "lower", "> 1536")
    assert "one_sided" in codes(report, "a")
    assert "few_games" in codes(report, "a")


def test_who_loses_everything_has_a_bound_too():
    report = reported(
        evaluation(games=games_of("a", "y", 0, 0, 10), anchors=(Anchor("y", 1200.0),))
    )
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["elo"] == pytest.approx(1200 - 335.6, abs=0.05)
    assert rating["text"].startswith("< ")


def test_forfeits_are_counted_and_left_out_of_the_second_rating():
    games = [
        *games_of("a", "y", 5, 0, 5),
        *games_of("a", "y", 0, 0, 6, first=11, termination=Termination.RULES_INFRACTION),
        *games_of("a", "y", 0, 0, 3, first=17, termination=Termination.TIME_FORFEIT),
        *games_of("a", "y", 1, first=20, termination=Termination.TIME_FORFEIT),
    ]
    report = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))
    agent = report["agents"][0]
    assert agent["rating"]["forfeits"] == 10
    assert agent["rating"]["as_played"]["elo"] == pytest.approx(1000 + 400 * math.log10(6 / 14))
    assert agent["rating"]["without_forfeits"]["elo"] == pytest.approx(1000)
    assert agent["legality"]["forfeits"] == {
        "rules_infraction": 6,
        "time_forfeit": 3,
        "no_answer": 0,
    }
    assert agent["legality"]["won_by_forfeit"] == 1
    assert "forfeits" in codes(report, "a")
    assert agent["terminations"][0] == {
        "termination": "checkmate", "games": 10, "wins": 5, "draws": 0, "losses": 5,
    }  # fmt: skip


def test_games_that_are_all_forfeits_tell_nothing_of_chess():
    games = games_of("a", "y", 0, 0, 4, termination=Termination.RULES_INFRACTION)
    report = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))
    assert report["agents"][0]["rating"]["without_forfeits"] is None
    (note,) = (note for note in report["notes"] if note["code"] == "forfeits")
    assert "nothing of chess" in note["text"]


def test_the_course_of_a_ladder_ends_where_its_rating_is():
    data = ladder(pairs=30, analysed=0)
    agent = agent_of(data)
    last = agent["course"][-1]
    assert last["games"] == 60
    assert last["elo"] == agent["rating"]["as_played"]["elo"]
    assert last["draw_aware_margin"] == agent["rating"]["as_played"]["draw_aware_margin"]
    assert [point["games"] for point in agent["course"]] == list(range(2, 61, 2))


@pytest.mark.parametrize("count", [0, 1, 81])
def test_the_course_of_any_number_of_games_is_short(count):
    data = evaluation(games=games_of("a", "y", count), anchors=EXAMPLE_ANCHORS)
    course = agent_of(data)["course"]
    assert len(course) <= 41
    assert [point["games"] for point in course][-1:] == ([count] if count else [])


def test_most_of_an_interval_may_be_the_anchors_own():
    games = [*games_of("a", "y", 200, 0, 200), *games_of("y", "a", 200, 0, 200, first=401)]
    sure = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))
    unsure = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0, 60.0),)))
    assert "anchor_uncertainty" not in codes(sure)
    assert "anchor_uncertainty" in codes(unsure, "a")
    assert unsure["agents"][0]["rating"]["as_played"]["margin"] > 110


def test_a_rating_beyond_all_anchors_is_noted():
    data = evaluation(games=games_of("a", "y", 9, 0, 1), anchors=(Anchor("y", 1000.0),))
    assert "extrapolated" in codes(reported(data), "a")


def test_a_score_that_does_not_fit_one_rating_is_noted():
    anchors = (Anchor("weak", 500.0), Anchor("strong", 1500.0))
    odd = [*games_of("a", "weak", 0, 0, 20), *games_of("a", "strong", 20, first=21)]
    report = reported(evaluation(games=odd, anchors=anchors))
    assert codes(report, "a").count("misfit") == 2
    even = [*games_of("a", "weak", 20), *games_of("a", "strong", 0, 0, 20, first=21)]
    assert "misfit" not in codes(reported(evaluation(games=even, anchors=anchors)))


FAULT, AGAIN = VoidGame(is_replayed=False), VoidGame()
BUDGET = VoidGame(VoidCause.BUDGET, is_replayed=False)
CANCELLED = VoidGame(VoidCause.CANCELLED, is_replayed=False)
LOST = "lost to faults of the infrastructure, and not scored"


@pytest.mark.parametrize(
    ("void", "is_over", "texts"),
    [
        ([AGAIN], True, [f"1 game was {LOST}; it was played again."]),
        ([AGAIN] * 2, False, [f"2 games were {LOST}; they were played again."]),
        ([FAULT], False, [f"1 game was {LOST}; it will be played again."]),
        ([AGAIN, FAULT], False, [f"2 games were {LOST}; 1 of them will be played again."]),
        ([FAULT] * 2, True, [f"2 games were {LOST}; they were not played again."]),
        (
            [AGAIN, BUDGET, BUDGET],
            True,
            [
                f"1 game was {LOST}; it was played again.",
                "2 games were broken off since the budget was spent, and not scored.",
            ],
        ),
        (
            [replace(BUDGET, is_replayed=True)],
            True,
            [
                "1 game was broken off since the budget was spent, and not scored; it was played "
                "again."
            ],
        ),
        (
            [CANCELLED],
            True,
            ["1 game was broken off as the evaluation was cancelled, and not scored."],
        ),
    ],
)
@pytest.mark.parametrize("games", [[], [game(1, "a", "y")]])
def test_games_that_do_not_count_are_told_with_their_causes(void, is_over, texts, games):
    data = evaluation(games=games, anchors=EXAMPLE_ANCHORS, void_games=tuple(void))
    if not is_over:
        data = replace(data, ended_at=None)
    report = reported(data)
    told = [note for note in report["notes"] if note["code"] in ("void_games", "broken_off")]
    assert [note["text"] for note in told] == texts
    assert report["counts"]["void_games"] == len(void)


def test_notes_tell_of_the_whole_evaluation():
    data = ladder(analysed=0.5, ended_at=None, status="running", plan={"adaptive": True})
    assert codes(reported(data))[:4] == ["unfinished", "void_games", "not_analysed", "adaptive"]
    quiet = ladder(analysed=1.0, void_games=(), plan={"adaptive": False})
    assert not {"unfinished", "void_games", "not_analysed", "adaptive"} & set(
        codes(reported(quiet))
    )


@pytest.mark.parametrize(("most", "is_noted"), [(160, True), (300, False), (None, False)])
def test_games_that_were_cut_short_are_noted(most, is_noted):
    games = games_of("a", "y", 3, 2, 3)
    cut = [replace(each, termination=Termination.MAX_PLIES) for each in games if not each.winner]
    plan = {"kind": "ladder", "match": {"max_plies": most}}
    data = evaluation(games=[*games, *cut], anchors=EXAMPLE_ANCHORS[1:2], plan=plan)
    assert ("short_games" in codes(reported(data))) == is_noted
    assert "short_games" not in codes(reported(replace(data, games=tuple(games))))
