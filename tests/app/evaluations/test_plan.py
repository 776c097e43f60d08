"""Plans: what is read, what is refused, and that nothing is lost on the way."""

import json

import pytest

from app.evaluations.errors import InvalidPlan
from app.evaluations.plan import (
    DuelPlan,
    LadderPlan,
    PoolPlan,
    PositionsPlan,
    label_of,
    load_plan,
    plan_json,
    read_plan,
)
from app.matches.settings import PlayerSettings

LADDER = {"kind": "ladder", "agents": ["random"]}
DUEL = {"kind": "duel", "agents": ["random", "classical"]}
#: With one more, as many as there may be.
CROWD = [{"name": "random", "title": str(number)} for number in range(63)]
POOL = {"kind": "pool", "agents": ["random", "classical"]}
POSITIONS = {"kind": "positions", "agents": ["random"], "suite": "kibitz"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [(LADDER, LadderPlan), (DUEL, DuelPlan), (POOL, PoolPlan), (POSITIONS, PositionsPlan)],
)
def test_a_plan_that_is_stored_is_the_same_when_it_is_read_again(data, kind):
    plan = read_plan(data)
    assert isinstance(plan, kind)
    stored = json.loads(json.dumps(plan_json(plan)))
    assert read_plan(stored) == plan


def test_what_is_not_said_has_sensible_defaults():
    plan = read_plan(LADDER)
    assert (plan.margin, plan.games, plan.adaptive, plan.control) == (100, 200, True, False)
    assert plan.openings.source == "table"
    assert plan.match.max_plies == 300
    assert plan.match.illegal_moves.then == "forfeit"
    assert plan.analysis.nodes == 20_000
    assert plan.whole_budget.usd is None


def test_a_control_is_measured_beside_every_team():
    agents = ["team:default", "team:vote", "solo:vote", "classical"]
    plan = read_plan({"kind": "ladder", "agents": agents, "control": True})
    assert [each.name for each in plan.agents] == [*agents, "solo:default"]
    assert read_plan(plan_json(plan)) == plan


def test_budgets_and_limits_come_as_matches_have_them():
    plan = read_plan(
        {
            **LADDER,
            "agents": [{"name": "classical", "nodes": 500, "title": "Quick"}],
            "budget": {"usd": 1.5, "calls": 7},
            "match": {"budget": {"tokens": 9}, "time_control": "60+1", "max_plies": 80},
            "openings": {"source": "balanced", "plies": 6},
        }
    )
    assert str(plan.whole_budget.usd) == "1.5"
    assert plan.whole_budget.calls == 7
    assert plan.match.budget.settings().tokens == 9
    assert plan.players == (PlayerSettings("classical", "Quick", None, 500),)
    assert plan.openings.plies == 6


@pytest.mark.parametrize(
    ("player", "label"),
    [
        (PlayerSettings("stockfish:5"), "stockfish:5"),
        (PlayerSettings("stockfish:8", nodes=100), "stockfish:8 at 100 nodes"),
        (PlayerSettings("uci:toga2", depth=3, time_ms=50), "uci:toga2 at depth 3, 50 ms"),
        (PlayerSettings("classical", "Tal", nodes=9), "Tal"),
    ],
)
def test_players_are_called_by_what_tells_them_apart(player, label):
    assert label_of(player) == label


WRONG = [
    (7, "", "object"),
    ({}, "", "kind"),
    ({"kind": "tournament", "agents": ["random"]}, "", "tournament"),
    ({"kind": "ladder"}, "agents", "required"),
    ({"kind": "ladder", "agent": ["random"]}, "agent", "not permitted (and 1 more)"),
    ({**LADDER, "agents": []}, "agents", "at least 1"),
    ({**LADDER, "agents": ["random"] * 2}, "", "same name"),
    ({**LADDER, "agents": ["human"]}, "", "human"),
    ({**LADDER, "agents": [{"name": "random", "tilte": "x"}]}, "agents.0.tilte", "not permitted"),
    ({**LADDER, "margn": 50}, "margn", "not permitted"),
    ({**LADDER, "margin": "50"}, "margin", "number"),
    ({**LADDER, "margin": 1}, "margin", "greater than or equal to 5"),
    ({**LADDER, "margin": float("nan")}, "", "JSON"),
    ({**LADDER, "games": 0}, "games", "greater"),
    ({**LADDER, "games": 3}, "games", "multiple of 2"),
    ({**LADDER, "agents": [*CROWD, "team:default"], "control": True}, "", "more than 64 agents"),
    (
        {**LADDER, "agents": ["team:a", {"name": "random", "title": "solo:a"}], "control": True},
        "",
        "same name",
    ),
    ({**LADDER, "anchors": [{"name": "random", "elo_se": 3}]}, "anchors.0", "elo_se"),
    ({**LADDER, "seed": -1}, "seed", "greater"),
    ({**LADDER, "concurrency": 0}, "concurrency", "greater"),
    ({**LADDER, "openings": "book"}, "openings.source", "table"),
    ({**LADDER, "openings": {"plies": 7}}, "openings.plies", "multiple of 2"),
    ({**LADDER, "variant": "suicide"}, "variant", "suicide"),
    ({**LADDER, "match": {"time_control": "soon"}}, "match.time_control", "soon"),
    ({**LADDER, "match": {"adjudication": {"draw": {}}}}, "match", "analysis"),
    ({**LADDER, "budget": {"usd": -1}}, "budget.usd", "greater"),
    ({**LADDER, "name": "a\0b"}, "name", ""),
    ({**DUEL, "agents": ["random"]}, "agents", "at least 2"),
    ({**DUEL, "games": 5}, "games", "multiple of 2"),
    ({**DUEL, "sprt": {"bounds": [50, 0]}}, "sprt", "less"),
    ({**DUEL, "sprt": {"bounds": [0]}}, "sprt.bounds", "at least 2"),
    ({**DUEL, "sprt": {"alpha": 0.7}}, "sprt.alpha", "less"),
    ({**DUEL, "sprt": {"beta": 1e-320}}, "sprt.beta", "greater"),
    ({**POOL, "agents": ["random"]}, "", "two players"),
    ({"kind": "positions", "agents": ["random"]}, "", "suite"),
    ({**POSITIONS, "positions": ["one\ntwo"]}, "positions.0", "pattern"),
]


@pytest.mark.parametrize(("data", "field", "words"), WRONG)
def test_a_wrong_plan_gets_one_sentence_that_names_the_field(data, field, words):
    with pytest.raises(InvalidPlan) as caught:
        read_plan(data)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_plans_come_from_toml_and_from_json(tmp_path):
    toml = tmp_path / "plan.toml"
    toml.write_text('kind = "duel"\nagents = ["random", { name = "classical", nodes = 9 }]\n')
    same = tmp_path / "plan.json"
    same.write_text(
        json.dumps({"kind": "duel", "agents": ["random", {"name": "classical", "nodes": 9}]})
    )
    assert load_plan(toml) == load_plan(same)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.toml", b"kind = ladder", "is not TOML"),
        ("a.json", b"{", "is not JSON"),
        ("a.toml", b"\xff\xfe", "is not text"),
        ("a.toml", b'kind = "ladder"\nagents = ["random"]\nmargin = nan\n', "JSON"),
        ("a.json", b"[" * 100_000, "is not JSON"),
        ("a.toml", b"", "kind"),
    ],
)
def test_a_file_that_is_no_plan_gets_one_sentence(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidPlan, match=words):
        load_plan(path)


def test_a_file_that_is_not_there_gets_one_sentence(tmp_path):
    with pytest.raises(InvalidPlan, match="cannot be read"):
        load_plan(tmp_path / "none.toml")
    with pytest.raises(InvalidPlan, match="cannot be read"):
        load_plan(tmp_path)
