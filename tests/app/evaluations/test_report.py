"""What a report tells of conduct, money and quality, of whatever kind the evaluation is."""

import inspect
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from agents.models.budget import Spending
from app.cli.evaluations.texts import print_summary
from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.games import SideRecord
from app.evaluations.reports import notes
from app.evaluations.reports.leaderboard import leaderboard
from app.evaluations.reports.measured import results_of
from app.evaluations.reports.tables import ANSWER_COLUMNS, GAME_COLUMNS
from app.evaluations.scores import Score, expected_score, wilson
from engine import Color, Evaluation, Termination
from tests.app.evaluations.reporting import (
    EXAMPLE_ANCHORS,
    agent_of,
    codes,
    example_games,
    paired,
    reported,
)
from tests.support.evaluation_data import (
    ANCHORS,
    EVERY_KIND,
    analysed_ply,
    answer,
    evaluation,
    game,
    games_of,
    ladder,
    pool,
)


def test_money_is_exact_and_unknown_money_is_not_zero():
    paid = SideRecord(
        plies=3, calls=3, prompt_tokens=600, completion_tokens=60, cost_usd=Decimal("0.10"),
        think_ms=600, latency_ms=900, illegal=1, unreadable=2,
    )  # fmt: skip
    games = games_of("a", "y", 2, white_side=paid)
    agent = agent_of(evaluation(games=games, anchors=EXAMPLE_ANCHORS))
    assert agent["usage"]["cost_usd"] == "0.20"
    assert agent["usage"]["per_move"] == {
        "calls": 1, "tokens": 220, "cost_usd": "0.0333333", "latency_ms": 300, "think_ms": 200,
    }  # fmt: skip
    assert agent["usage"]["latency_ms_per_call"] == 300
    assert agent["legality"]["illegal_per_1000"] == pytest.approx(1000 / 3)
    assert agent["legality"]["unreadable_per_1000"] == pytest.approx(2000 / 3)
    unpaid = games_of("a", "y", 1, first=3, white_side=replace(paid, cost_usd=None))
    report = reported(evaluation(games=[*games, *unpaid], anchors=EXAMPLE_ANCHORS))
    usage = report["agents"][0]["usage"]
    assert usage["cost_usd"] is usage["per_move"]["cost_usd"] is None
    assert "unknown_price" in codes(report, "a")
    row = report["rating_against_cost"][0]
    assert (row["cost_usd_per_move"], row["tokens_per_move"]) == (None, 220)


def test_who_forfeits_on_the_first_turn_has_its_illegal_attempts_counted():
    """Nothing was played, so there is no ply to count them by; there were four turns."""
    side = SideRecord(illegal=4, unreadable=1)
    games = games_of("a", "y", 0, 0, 4, white_side=side, termination=Termination.RULES_INFRACTION)
    legality = agent_of(evaluation(games=games, anchors=EXAMPLE_ANCHORS))["legality"]
    assert (legality["plies"], legality["turns"], legality["illegal"]) == (0, 4, 16)
    assert (legality["illegal_per_1000"], legality["unreadable_per_1000"]) == (4000, 1000)
    # Who wins so has had no such turn, and who loses on time had one that was legal or none.
    won = games_of("y", "a", 0, 0, 2, termination=Termination.RULES_INFRACTION)
    late = games_of("a", "y", 0, 0, 1, first=3, termination=Termination.TIME_FORFEIT)
    legality = agent_of(evaluation(games=[*won, *late], anchors=EXAMPLE_ANCHORS))["legality"]
    assert legality["turns"] == legality["plies"] == 108


def test_what_the_whole_evaluation_took_is_told():
    spent, void = Spending(Decimal("1.386"), 9000, 70), Spending(Decimal("0.216"), 1000, 10)
    data = evaluation(spent=spent, void_spent=void)
    assert reported(data)["spent"] == {
        "calls": 70, "tokens": 9000, "cost_usd": "1.386",
        "void": {"calls": 10, "tokens": 1000, "cost_usd": "0.216"},
    }  # fmt: skip
    unknown = reported(replace(data, spent=replace(spent, usd=None)))["spent"]
    assert (unknown["cost_usd"], unknown["void"]["cost_usd"]) == (None, "0.216")


# --- in the terminal ---


def summary_of(data, capsys):
    print_summary(reported(data))
    return capsys.readouterr().out


def test_the_terminal_tells_the_interval_by_which_a_ladder_stops(capsys):
    told = summary_of(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS), capsys)
    assert "1028 ± 128" in told
    assert "1028 ± 138" not in told
    assert "± is half the 95 % interval, draws taken into account." in told
    decisive = evaluation(games=games_of("a", "y", 5, 0, 5), anchors=EXAMPLE_ANCHORS)
    assert "± is half the 95 % interval, by the likelihood ratio." in summary_of(decisive, capsys)
    won = evaluation(games=games_of("a", "y", 5), anchors=EXAMPLE_ANCHORS)
    assert "±" not in summary_of(won, capsys)


def test_the_terminal_tells_what_was_spent_in_all(capsys):
    data = evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS)
    assert "Spent" not in summary_of(data, capsys)
    data = replace(data, spent=Spending(Decimal("1.386"), 9000, 70))
    assert "Spent in all: $1.39, 70 calls, 9,000 tokens.\n" in summary_of(data, capsys)
    data = replace(data, void_spent=Spending(None, 1000, 10))
    assert (
        "9,000 tokens; of it in games that do not count: $?, 10 calls, 1,000 tokens.\n"
        in summary_of(data, capsys)
    )


def test_the_terminal_says_of_a_sweep_what_the_table_says(capsys):
    told = summary_of(evaluation("duel", ("a", "b"), paired([(1, 1)] * 2)), capsys)
    assert "> 158" in told
    assert "a against b: > +158 Elo; all results" in told
    assert "1161" not in told
    assert "100.0 %" not in told


@pytest.mark.parametrize(
    ("cost", "plies", "told"), [("100", 1, "100"), ("0", 7, "0"), ("0.0000001", 4, "0.000000025")]
)
def test_the_cost_of_a_move_has_no_exponent(cost, plies, told):
    side = SideRecord(plies=plies, calls=1, cost_usd=Decimal(cost))
    data = evaluation(games=games_of("a", "y", 1, white_side=side), anchors=EXAMPLE_ANCHORS)
    assert agent_of(data)["usage"]["per_move"]["cost_usd"] == told


def test_anchors_stand_among_the_costs_with_their_own_errors():
    report = reported(evaluation(games=example_games(), anchors=(*EXAMPLE_ANCHORS, ANCHORS[0])))
    rows = report["rating_against_cost"]
    assert [row["label"] for row in rows] == ["a", "x", "y", "z", "stockfish:2"]
    assert [row["is_anchor"] for row in rows] == [False, True, True, True, True]
    assert rows[4]["high"] == pytest.approx(358 + 1.96 * 50)
    assert rows[4]["think_ms_per_move"] is None


# --- quality ---


def test_quality_is_told_of_the_games_that_were_analysed():
    plies = [analysed_ply(1, 15, 20), analysed_ply(2, 20, 320), analysed_ply(3, 320, 20)]
    analysis = GameAnalysis(None, None, 0, 0, Evaluation(15), tuple(plies))
    games = [*games_of("a", "y", 1), *games_of("y", "a", 1, first=2)]
    data = evaluation(
        games=games, anchors=EXAMPLE_ANCHORS, analyses={"match-1": analysis, "other": analysis}
    )
    quality = agent_of(data)["quality"]
    assert (quality["analysed_games"], quality["of_games"], quality["moves"]) == (1, 2, 2)
    assert quality["acpl"] == 150
    assert quality["blunders"] == 1
    black = agent_of(replace(data, analyses={"match-2": analysis}))["quality"]
    assert (black["moves"], black["acpl"]) == (1, 300)


def test_regret_and_specialists_are_told_of_teams():
    quality = agent_of(ladder(), "team:default")["quality"]
    assert quality["regret"]["plies"] == quality["moves"] > 0
    assert [each["name"] for each in quality["specialists"]] == ["positional", "tactical"]


def test_answers_to_positions_are_judged_for_the_side_to_move():
    """The moves of a position's match are the agent's, whichever colour it has."""
    plies = (analysed_ply(2, 20, 320),)
    analysis = GameAnalysis(None, None, 0, 0, Evaluation(20), plies)
    own = answer(1, fen="6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1")
    data = evaluation("positions", ("a",), answers=(own,), analyses={"match-1": analysis})
    assert agent_of(data)["quality"]["moves"] == 1


# --- all kinds ---


@pytest.mark.parametrize("name", EVERY_KIND)
def test_every_evaluation_has_a_report_with_the_same_keys(name):
    report = reported(EVERY_KIND[name]())
    full = reported(ladder(pairs=4))
    assert list(report) == list(full)
    for agent in report["agents"]:
        assert list(agent) == list(full["agents"][0])
        for key in ("rating", "score", "by_color", "quality", "legality", "usage"):
            assert list(agent[key]) == list(full["agents"][0][key]), key
        rating = agent["rating"]["as_played"]
        if rating is not None:
            assert rating["elo"] is not None
            assert {rating["low"], rating["high"]} != {None}
    assert all(note["text"] and note["code"] for note in report["notes"])


@pytest.mark.parametrize("kind", ["ladder", "duel", "pool", "positions"])
def test_an_evaluation_without_anything_says_so(kind):
    report = reported(evaluation(kind, ("team:x", "solo:x"), anchors=()))
    assert "nothing_played" in codes(report)
    assert all(agent["rating"]["as_played"] is None for agent in report["agents"])
    assert "do not tell yet" in report["controls"][0]["text"]


def test_plan_and_manifest_are_included_as_they_are():
    manifest = {"seeds": [1, 2], "deep": {"er": None}}
    report = reported(evaluation(manifest=manifest, plan={"kind": "ladder"}))
    assert report["manifest"] == manifest
    assert report["plan"] == {"kind": "ladder"}


def test_the_order_of_games_changes_no_rating():
    data = pool(anchors=ANCHORS[2:5])
    turned = replace(data, games=tuple(reversed(data.games)))
    for one, other in zip(reported(data)["agents"], reported(turned)["agents"], strict=True):
        assert one["rating"] == other["rating"]


# --- scores ---


@pytest.mark.parametrize(
    ("points", "games", "low", "high"),
    [  # as published tables of Wilson's interval have them
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilsons_interval(points, games, low, high):
    assert wilson(points, games) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_score_is_counted_from_the_players_side():
    games = [game(1, "a", "b", 1.0), game(2, "b", "a", 1.0), game(3, "b", "a", 0.5)]
    assert str(Score.of("a", games)) == "1-1-1"
    assert Score.of("b", games).points == 1.5
    with pytest.raises(KeyError):
        Score.of("c", games)


def test_expected_scores_are_finite_and_add_up():
    assert expected_score(1400, 1000) == pytest.approx(10 / 11)
    assert expected_score(1e9, -1e9) == 1
    assert expected_score(0, 0, Color.BLACK, 100) + expected_score(
        0, 0, Color.WHITE, 100
    ) == pytest.approx(1)


# --- the reference is complete ---


def keys_in(data):
    """Return all keys of plain data but those of the plan and the manifest, which are free."""
    if isinstance(data, list):
        return {key for each in data for key in keys_in(each)}
    if not isinstance(data, dict):
        return set()
    inner = (keys_in(each) for key, each in data.items() if key not in ("plan", "manifest"))
    return set(data).union(*inner)


def told_on_the_page():
    page = (Path(__file__).parents[3] / "docs/reference/reports.md").read_text()
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", page))))


def test_every_key_and_note_is_told():
    reports = [reported(make()) for make in EVERY_KIND.values()]
    quality = (Path(__file__).parents[3] / "docs/reference/move-quality.md").read_text()
    keys = set().union(*map(keys_in, reports))
    of_quality = keys_in(agent_of(ladder())["quality"])
    assert keys - told_on_the_page() - {key for key in of_quality if key in quality} == set()
    codes_seen = {note["code"] for report in reports for note in report["notes"]}
    source = inspect.getsource(notes)
    codes_there_are = set(re.findall(r'Note\(\s*"(\w+)"', source))
    assert codes_seen <= codes_there_are <= told_on_the_page()


def test_every_column_and_plot_is_told():
    told = told_on_the_page()
    sides = {f"{color.value}_" for color in Color}
    for column in (*GAME_COLUMNS, *ANSWER_COLUMNS):
        bare = column.removeprefix("white_").removeprefix("black_")
        assert bare in told, column
    assert sides <= told
    board = leaderboard([results_of(make()) for make in EVERY_KIND.values()]).to_json()
    assert keys_in(board) <= told
