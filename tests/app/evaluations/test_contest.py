"""What a plan comes to: opponents, starts, settings, estimates."""

import json

import pytest

from agents.catalogue import Catalogue
from agents.uci.levels import LEVELS
from app.evaluations.contest import Contest, derived, settled
from app.evaluations.costs import MOVES
from app.evaluations.errors import InvalidPlan, UnplayablePlan
from app.evaluations.estimate import estimate_plan
from app.evaluations.plan import plan_json, read_plan
from app.evaluations.preparation import prepare
from app.evaluations.schedules.schedule import Standing
from app.evaluations.suites.suite import InvalidSuite
from engine import Color, Position


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue()


def contest_of(catalogue, **plan):
    return Contest.of(settled(read_plan(plan), catalogue))


#: The first 64 bits of SHA-256 of `1/match/1`, within what JSON readers keep.
SEED = 295728976264607
MATE = '6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id "back rank";'
BLACK_MATES = 'r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - bm Ra1#; id "other back rank";'


def test_a_ladder_without_anchors_takes_everybody_who_was_calibrated(catalogue):
    contest = contest_of(catalogue, kind="ladder", agents=["classical"])
    elos = {anchor.label: anchor.elo for anchor in contest.anchors}
    assert {level.name for level in LEVELS} <= elos.keys()
    assert "stockfish:8 at 100 nodes" in elos
    assert "random" in elos
    assert not any(label.startswith("uci:") for label in elos)
    assert list(elos.values()) == sorted(elos.values())
    known = catalogue.ratings.players["stockfish:5"]
    assert elos["stockfish:5"] == known.elo
    anchor = next(each for each in contest.anchors if each.label == "stockfish:5")
    assert anchor.se == pytest.approx((known.high - known.low) / 2 / 1.96, abs=0.1)
    assert prepare(contest.plan, catalogue) == contest


def test_what_a_plan_was_settled_to_stays_so(catalogue):
    """A calibration, or another version of a suite, does not change what is under way."""
    for plan in (
        {"kind": "ladder", "agents": ["classical"]},
        {"kind": "pool", "agents": ["classical"], "anchors": ["stockfish:1"]},
        {"kind": "positions", "agents": ["classical"], "positions": [MATE]},
    ):
        once = settled(read_plan(plan), catalogue)
        stored = read_plan(json.loads(json.dumps(plan_json(once))))
        assert Contest.of(stored) == Contest.of(once)
        assert settled(stored, catalogue) == stored


def test_anchors_may_be_given_their_rating(catalogue):
    anchors = [
        {"name": "stockfish:8", "nodes": 77, "elo": 1234.5, "elo_se": 10},
        {"name": "stockfish:8", "nodes": 100, "title": "Rung"},
        {"name": "random", "elo": 0},
    ]
    contest = contest_of(catalogue, kind="ladder", agents=["classical"], anchors=anchors)
    found = {each.label: (each.elo, each.se) for each in contest.anchors}
    assert found["stockfish:8 at 77 nodes"] == (1234.5, 10)
    assert found["random"] == (0, 0)
    assert found["Rung"][0] == catalogue.ratings.players["stockfish:8 at 100 nodes"].elo


def test_whoever_is_measured_is_nobodys_anchor(catalogue):
    """Else a game would count for both, and one of them would meet a player without a rating."""
    agents = ["random", "classical", "stockfish:3"]
    contest = contest_of(catalogue, kind="ladder", agents=agents)
    labels = {anchor.label for anchor in contest.anchors}
    assert "stockfish:4" in labels
    assert not labels & set(agents)
    named = contest_of(
        catalogue, kind="ladder", agents=agents, anchors=["stockfish:2", "stockfish:3"]
    )
    assert [anchor.label for anchor in named.anchors] == ["stockfish:2"]


@pytest.mark.parametrize(
    ("plan", "field", "words"),
    [
        ({"anchors": [{"name": "stockfish:8", "nodes": 77}]}, "anchors", "give its elo"),
        ({"anchors": ["classical"]}, "anchors", "nobody knows how strong classical is"),
        ({"anchors": ["random"], "agents": ["random"]}, "anchors", "nobody is left to meet"),
        ({"anchors": ["random", "random"]}, "anchors", "twice"),
        ({"variant": "chess960"}, "anchors", "chess960"),
        ({"variant": "chess960", "anchors": ["stockfish:1"]}, "anchors", "standard chess"),
        ({"kind": "pool", "agents": ["random"], "anchors": ["random"]}, "anchors", "twice"),
    ],
)
def test_anchors_that_nobody_can_be_measured_by_are_refused(catalogue, plan, field, words):
    plan = {"kind": "ladder", "agents": ["classical"], **plan}
    with pytest.raises(UnplayablePlan, match=words) as caught:
        settled(read_plan(plan), catalogue)
    assert caught.value.field == field


def test_a_suite_is_never_a_file_of_the_service(catalogue, tmp_path):
    file = tmp_path / "own.epd"
    file.write_text(f"{MATE}\n")
    plan = {"kind": "positions", "agents": ["classical"], "suite": str(file)}
    with pytest.raises(UnplayablePlan, match="no such suite"):
        settled(read_plan(plan), catalogue)
    with pytest.raises(InvalidSuite):
        settled(read_plan({**plan, "positions": ["nonsense"]}), catalogue)


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"agents": ["nobody"]}, "agents"),
        ({"agents": ["stockfish:9"]}, "agents"),
        ({"agents": ["team:default"]}, "agents"),  # there is no key
        ({"agents": [{"name": "classical", "depth": 3}]}, "agents"),
        ({"agents": ["classical"], "anchors": [{"name": "uci:nothing", "elo": 5}]}, "anchors"),
    ],
)
def test_who_cannot_be_seated_is_found_out_before_anything_is_played(catalogue, plan, field):
    with pytest.raises(UnplayablePlan) as caught:
        prepare(read_plan({"kind": "ladder", **plan}), catalogue)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"kind": "pool", "agents": ["random", "classical"], "rounds": 10_000}, None),
        ({"kind": "pool", "agents": ["random", "classical"], "rounds": 10_001}, "rounds"),
        ({"kind": "pool", "agents": ["random", "classical", "solver"], "rounds": 4_000}, "rounds"),
        ({"kind": "ladder", "agents": ["random", "classical"], "games": 10_002}, "games"),
    ],
)
def test_more_games_than_anybody_waits_for_are_refused(catalogue, plan, field):
    if field is None:
        assert prepare(read_plan(plan), catalogue).most_games == 20_000
        return
    with pytest.raises((UnplayablePlan, InvalidPlan)) as caught:
        prepare(read_plan(plan), catalogue)
    assert caught.value.field == field


def test_games_that_nobody_can_analyse_are_refused(monkeypatch):
    monkeypatch.setenv("STOCKFISH_PATH", "/nowhere/stockfish")
    plan = {"kind": "duel", "agents": ["random", {"name": "random", "title": "other"}]}
    with pytest.raises(UnplayablePlan, match="cannot be analysed") as caught:
        prepare(read_plan(plan), Catalogue())
    assert caught.value.field == "analysis"
    assert prepare(read_plan({**plan, "analysis": {"nodes": 0}}), Catalogue()).most_games == 100


def test_both_games_of_a_pair_start_alike_and_have_dice_of_their_own(catalogue):
    contest = contest_of(catalogue, kind="duel", agents=["random", "classical"], seed=7)
    first = contest.schedule.next_slot(())
    second = contest.schedule.next_slot([Standing(first, "playing")])
    settings = [
        contest.settings_of(slot, contest.known_opening(slot.round), contest.known_start(slot))
        for slot in (first, second)
    ]
    assert settings[0].opening == settings[1].opening
    assert settings[0].known_opening is not None
    assert settings[0].seed != settings[1].seed
    assert (settings[0].white, settings[0].black) == (settings[1].black, settings[1].white)
    others = {contest.known_opening(number) for number in range(1, 60)}
    assert len(others) == 59
    again = contest_of(catalogue, kind="duel", agents=["random", "classical"], seed=8)
    assert again.known_opening(1) != contest.known_opening(1)


def test_games_of_chess960_start_from_a_position_that_the_seed_draws(catalogue):
    contest = contest_of(catalogue, kind="duel", agents=["random", "classical"], variant="chess960")
    first = contest.schedule.next_slot(())
    start = contest.known_start(first)
    assert start == contest.known_start(first.returned())
    settings = contest.settings_of(first, contest.known_opening(1), start)
    assert settings.initial_fen == start
    assert settings.variant == "chess960"
    assert Position.from_fen(start, "chess960").fullmove_number == 1


def test_a_position_is_a_match_of_one_ply(catalogue):
    contest = contest_of(
        catalogue, kind="positions", agents=["classical"], positions=[MATE, BLACK_MATES]
    )
    first = contest.schedule.next_slot(())
    second = contest.schedule.next_slot([Standing(first, "scored")])
    for slot, color in ((first, Color.WHITE), (second, Color.BLACK)):
        settings = contest.settings_of(slot, None, contest.known_start(slot))
        assert settings.max_plies == 1
        assert settings.player(color).name == "classical"
        assert settings.start.turn is color


def test_seeds_are_the_same_everywhere():
    assert derived(1, "match", 1) == SEED
    assert len({derived(1, "match", number) for number in range(100)}) == 100


# --- estimates ---


def test_an_estimate_tells_games_calls_tokens_and_dollars(catalogue):
    plan = {"kind": "ladder", "agents": ["team:default", "classical"], "games": 60, "margin": 100}
    contest = contest_of(catalogue, **plan)
    estimate = estimate_plan(contest, catalogue)
    assert estimate.most_games == 120
    assert 80 <= estimate.games <= 100
    team, classical = estimate.players[:2]
    decision = catalogue.appraise("team:default")
    assert (decision.calls, decision.completion_tokens) == (3, 6000)
    assert team.likely.calls == pytest.approx(estimate.games / 2 * MOVES * 3)
    assert team.likely.usd == decision.usd * MOVES * (estimate.games // 2)
    assert team.most.usd > team.likely.usd
    assert classical.likely.calls == 0
    data = json.loads(json.dumps(estimate.to_json()))
    assert float(data["likely"]["cost_usd"]) == pytest.approx(float(estimate.likely.usd), abs=1e-3)
    assert data["players"][0]["player"] == "team:default"


def test_a_short_game_costs_less(catalogue):
    plan = {"kind": "duel", "agents": ["team:default", "random"], "games": 2}
    costs = [
        estimate_plan(contest_of(catalogue, **plan, match={"max_plies": plies}), catalogue).likely
        for plies in (10, 300)
    ]
    assert [cost.calls for cost in costs] == [2 * 5 * 3, 2 * MOVES * 3]


def test_an_estimate_says_that_a_budget_pays_for_no_game(catalogue):
    plan = {"kind": "duel", "agents": ["team:default", "random"], "budget": {"calls": 5}}
    notes = estimate_plan(contest_of(catalogue, **plan), catalogue).notes
    assert any("does not pay for a single game" in note for note in notes)
    plan["budget"] = {"calls": 500}
    notes = estimate_plan(contest_of(catalogue, **plan), catalogue).notes
    assert not any("single game" in note for note in notes)


def test_an_estimate_says_when_no_number_of_games_would_do(catalogue):
    anchors = [{"name": "random", "elo": 0, "elo_se": 100}]
    plan = {"kind": "ladder", "agents": ["classical"], "anchors": anchors, "margin": 50}
    notes = estimate_plan(contest_of(catalogue, **plan), catalogue).notes
    assert any("±196" in note and "cannot be reached" in note for note in notes)
    plan["margin"] = 250
    assert not estimate_plan(contest_of(catalogue, **plan), catalogue).notes


@pytest.mark.parametrize(
    ("plan", "games", "each"),
    [
        ({"kind": "duel", "agents": ["random", "classical"], "games": 10}, 10, [10, 10]),
        ({"kind": "pool", "agents": ["random", "classical"], "rounds": 3}, 6, [6, 6]),
        (
            {
                "kind": "pool",
                "agents": ["random", "classical"],
                "anchors": ["stockfish:1"],
                "rounds": 2,
            },
            12,
            [8, 8, 8],
        ),
        ({"kind": "positions", "agents": ["random", "classical"], "positions": [MATE]}, 2, [1, 1]),
    ],
)
def test_every_player_is_told_its_games(catalogue, plan, games, each):
    estimate = estimate_plan(contest_of(catalogue, **plan), catalogue)
    assert estimate.games == games
    assert [player.games for player in estimate.players] == each
