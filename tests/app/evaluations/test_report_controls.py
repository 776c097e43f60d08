"""What a report tells of a team beside its control."""

import math
from dataclasses import replace

import pytest

from app.evaluations.adaptive import Anchor
from app.evaluations.games import SideRecord
from tests.app.evaluations.reporting import EXAMPLE_ANCHORS, agent_of, control_of, reported
from tests.support.evaluation_data import (
    evaluation,
    games_of,
)


def test_a_team_without_its_control_claims_nothing():
    data = evaluation(
        agents=("team:x",), games=games_of("team:x", "y", 5, 0, 5), anchors=EXAMPLE_ANCHORS
    )
    (row,) = reported(data)["controls"]
    assert (row["is_measured"], row["difference"]) == (False, None)
    assert "No control was measured: solo:x did not take part." in row["text"]
    assert "nothing is claimed" in row["text"]


def two_against(anchor, label="solo:x", **changes):
    games = [*games_of("team:x", "y", 30, 0, 10), *games_of(label, "y", 10, 0, 30, first=41)]
    return evaluation(agents=("team:x", label), games=games, anchors=(anchor,), **changes)


def test_a_team_stands_beside_its_control():
    row = control_of(two_against(Anchor("y", 1000.0)))
    assert row["difference"]["elo"] == pytest.approx(800 * math.log10(3))
    data = two_against(Anchor("y", 1000.0))
    team, solo = (each["rating"]["as_played"] for each in reported(data)["agents"])
    down = math.hypot(team["elo"] - team["low"], solo["high"] - solo["elo"])
    assert row["difference"]["low"] == pytest.approx(row["difference"]["elo"] - down)
    assert "better than its control" in row["text"]


def test_the_error_of_an_anchor_that_both_met_cancels_out():
    sure = control_of(two_against(Anchor("y", 1000.0)))["difference"]
    unsure = control_of(two_against(Anchor("y", 1000.0, 80.0)))["difference"]
    width = sure["high"] - sure["low"]
    assert unsure["high"] - unsure["low"] == pytest.approx(width)


def test_the_errors_of_different_anchors_do_not():
    anchors = tuple(Anchor(name, 1000.0, 60.0) for name in ("y", "z"))
    games = [*games_of("team:x", "y", 20, 0, 20), *games_of("solo:x", "z", 20, 0, 20, first=41)]
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=anchors)
    difference = control_of(data)["difference"]
    sure = replace(data, anchors=tuple(replace(anchor, se=0.0) for anchor in anchors))
    plain = control_of(sure)["difference"]
    assert difference["high"] == pytest.approx(
        math.hypot(plain["high"], 1.96 * math.hypot(60, 60)), rel=1e-6
    )
    assert "no difference is shown" in control_of(data)["text"]


def test_a_control_is_found_behind_a_title():
    plan = {"agents": [{"name": "team:x", "title": "ours"}, {"name": "solo:x", "title": "alone"}]}
    games = [*games_of("ours", "y", 5, 0, 5), *games_of("alone", "y", 5, 0, 5, first=11)]
    data = evaluation(agents=("ours", "alone"), games=games, anchors=EXAMPLE_ANCHORS, plan=plan)
    row = control_of(data)
    assert (row["team"], row["control"], row["is_measured"]) == ("ours", "alone", True)


def test_a_duel_with_the_control_is_the_difference_itself():
    row = control_of(
        evaluation("duel", ("solo:x", "team:x"), games_of("team:x", "solo:x", 30, 0, 10))
    )
    assert row["difference"]["elo"] == pytest.approx(400 * math.log10(3))


def test_in_a_pool_without_anchors_the_control_is_the_reference():
    games = [*games_of("a", "solo:x", 5, 0, 5), *games_of("team:x", "solo:x", 30, 0, 10, first=11)]
    data = evaluation("pool", ("a", "team:x", "solo:x"), games)
    turned = replace(data, agents=("solo:x", "team:x", "a"))
    expected = agent_of(turned, "team:x")["rating"]["as_played"]
    difference = control_of(data)["difference"]
    assert difference["elo"] == pytest.approx(400 * math.log10(3), abs=1e-6)
    assert (difference["low"], difference["high"]) == (expected["low"], expected["high"])


def test_a_difference_may_be_a_bound_or_unknown():
    games = [*games_of("team:x", "y", 10), *games_of("solo:x", "y", 0, 0, 10, first=11)]
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=(Anchor("y", 1000.0),))
    difference = control_of(data)["difference"]
    assert (difference["bound"], difference["high"]) == ("lower", None)
    assert difference["low"] == pytest.approx(2 * 335.6, abs=0.1)
    both = [*games_of("team:x", "y", 10), *games_of("solo:x", "y", 10, first=11)]
    row = control_of(replace(data, games=tuple(both)))
    assert row["difference"] is None
    assert "do not tell yet" in row["text"]


def test_a_bound_of_a_difference_is_wider_by_what_anchors_leave_open():
    games = [*games_of("team:x", "y", 0, 0, 10), *games_of("solo:x", "z", 30, 0, 10, first=11)]
    anchors = (Anchor("y", 1000.0, 60.0), Anchor("z", 1000.0))
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=anchors)
    row = control_of(data)
    sure = replace(data, anchors=(Anchor("y", 1000.0), Anchor("z", 1000.0)))
    plain = control_of(sure)["difference"]
    assert (row["difference"]["bound"], row["difference"]["low"]) == ("upper", None)
    assert row["difference"]["high"] - plain["high"] == pytest.approx(1.645 * 60, abs=0.1)
    assert "worse than its control" in row["text"]


def test_a_control_that_has_not_played_in_a_pool_tells_nothing():
    data = evaluation("pool", ("team:x", "solo:x", "a"), games_of("team:x", "a", 3, 0, 1))
    row = control_of(data)
    assert (row["is_measured"], row["difference"]) == (True, None)


def test_a_control_with_other_tokens_is_called_no_equal_match():
    side = SideRecord(plies=10, calls=10, prompt_tokens=900, completion_tokens=100)
    twice = replace(side, prompt_tokens=1900)
    games = [
        *games_of("team:x", "y", 5, 0, 5, white_side=side),
        *games_of("solo:x", "y", 5, 0, 5, first=11, white_side=twice),
    ]
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=EXAMPLE_ANCHORS)
    row = control_of(data)
    assert row["token_ratio"] == 2
    assert "no equal match" in row["text"]
