"""Plots: which there are, that they are whole and quiet, and that names do no harm."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from functools import cache
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from app.evaluations.adaptive import Anchor
from app.evaluations.games import SideRecord
from app.evaluations.reports.palette import DARK, LIGHT
from app.evaluations.reports.plots import plots_of
from app.evaluations.reports.report import build_report
from engine import Termination
from tests.support.evaluation_data import (
    EVERY_KIND,
    HOSTILE,
    duel,
    evaluation,
    games_of,
    ladder,
    positions,
)
from tests.support.markup import assert_stands_alone, read_markup

SVG = "{http://www.w3.org/2000/svg}"


@cache
def drawn_of_kind(name):
    return drawn(EVERY_KIND[name]())


def drawn(data):
    return {plot.key: plot for plot in plots_of(build_report(data))}


@pytest.fixture(scope="module")
def of_ladder():
    return drawn(ladder(forfeits=0.1, plan={"margin": 100}))


def texts(plot):
    return [text.text for text in ElementTree.fromstring(plot.svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ladder", ["rating", "score", "accuracy", "legality", "cost", "margin"]),
        ("duel", ["rating", "sprt", "legality", "cost"]),
        ("pool with anchors", ["rating", "score", "legality", "cost"]),
        ("positions", ["rating", "solved", "cost"]),
        ("empty ladder", []),
        ("empty duel", []),
        ("empty positions", []),
        ("one game", ["rating", "score", "cost"]),
    ],
)
def test_there_is_a_plot_of_all_that_there_is_to_show(name, keys):
    assert list(drawn_of_kind(name)) == keys


@pytest.mark.parametrize("name", EVERY_KIND)
def test_plots_are_whole_and_fetch_nothing(name):
    for plot in drawn_of_kind(name).values():
        root = ElementTree.fromstring(plot.svg)  # it is XML
        page = read_markup(plot.svg)  # and HTML
        assert_stands_alone(page)
        assert root.get("role") == "img"
        title, description = (root.find(f"{SVG}{tag}") for tag in ("title", "desc"))
        assert title.text
        assert description.text
        assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert len(page.ids()) == len(set(page.ids()))
        assert all(identity.startswith(f"{plot.key}-") for identity in page.ids())
        used = set(re.findall(r"#([\w-]+)[\")]", plot.svg)) - {c[1:] for c in LIGHT.values()}
        assert used <= set(page.ids())


def test_text_stays_text(of_ladder):
    assert {"rating, Elo", "team:default", "stockfish:6"} <= set(texts(of_ladder["rating"]))
    assert "goal: ±100" in texts(of_ladder["margin"])
    assert {"opening", "middlegame", "endgame"} <= set(texts(of_ladder["accuracy"]))


def test_colours_are_those_of_the_palette(of_ladder):
    """So that a page can put others in their place."""
    for plot in of_ladder.values():
        used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', plot.svg))
        assert used - {"none"} <= set(LIGHT.values())
        assert "style=" not in plot.svg
        assert "#000000" not in plot.svg


def test_every_colour_has_one_for_the_dark_and_no_two_are_the_same():
    assert list(LIGHT) == list(DARK)
    assert len(set(LIGHT.values())) == len(LIGHT)


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_colours_can_be_told_from_the_paper(colors):
    """Text needs a contrast of 4.5, marks one of 2 at least, since their shapes differ, too."""
    for name, color in colors.items():
        if name in ("ink", "muted"):
            assert contrast(color, colors["paper"]) > 4.5
            assert contrast(color, colors["panel"]) > 4.5
        elif name.startswith("series"):
            assert contrast(color, colors["paper"]) > 2


def contrast(one, other):
    """Return the contrast of two colours as the guidelines for web content define it."""

    def luminance(color):
        parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return sum(
            share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_same_report_gives_the_same_plots(of_ladder):
    assert drawn(ladder(forfeits=0.1, plan={"margin": 100})) == of_ladder
    assert not any("2026" in plot.svg for plot in of_ladder.values())


def test_plots_can_be_drawn_in_several_threads(of_ladder):
    report = build_report(ladder(forfeits=0.1, plan={"margin": 100}))
    before = dict(mpl.rcParams)
    with ThreadPoolExecutor(4) as threads:
        for plots in threads.map(lambda _: plots_of(report), range(4)):
            assert {plot.key: plot for plot in plots} == of_ladder
    assert dict(mpl.rcParams) == before


def test_a_hostile_name_is_shown_as_it_is_as_far_as_it_fits():
    plots = drawn(ladder({HOSTILE: 1000}, pairs=4))
    shown = [text for text in texts(plots["score"]) if "<script>" in text]
    (name,) = shown
    assert HOSTILE.startswith(name.removesuffix("…"))
    assert len(name) == 44
    described = ElementTree.fromstring(plots["rating"].svg).find(f"{SVG}desc").text
    assert "$\\frac{$" in described
    assert "\x00" not in described


def test_many_agents_are_all_rated_and_the_first_ones_drawn_apart():
    agents = {f"agent {number}": 300 + 40 * number for number in range(20)}
    plots = drawn(ladder(agents, pairs=3, analysed=0.1))
    assert sum(text.startswith("agent") for text in texts(plots["rating"])) == 20
    assert sum(text.startswith("agent") for text in texts(plots["score"])) == 6


def test_only_the_nearest_of_many_anchors_are_drawn():
    anchors = tuple(Anchor(f"anchor {n}", 100.0 * n) for n in range(40))
    games = games_of("a", "anchor 10", 5, 0, 5)
    drawn_names = texts(drawn(evaluation(games=games, anchors=anchors))["rating"])
    names = [name for name in drawn_names if name.startswith("anchor")]
    assert len(names) == 16
    assert names[0] in ("anchor 17", "anchor 18")
    assert "anchor 10" in names


def cost_of(side, **other):
    games = [*games_of("a", "y", 5, 0, 5, white_side=side)]
    data = evaluation(games=games, anchors=(Anchor("y", 1000.0),), **other)
    return drawn(data)["cost"]


def test_without_a_price_ratings_stand_against_tokens_and_without_tokens_against_time():
    paid = SideRecord(plies=10, calls=10, prompt_tokens=900, think_ms=70)
    assert "tokens a move" in texts(cost_of(replace(paid, cost_usd=None)))
    assert "tokens a move" in texts(cost_of(paid))
    assert "milliseconds of thinking a move" in texts(cost_of(SideRecord(plies=10, think_ms=70)))


def test_who_costs_nothing_stands_apart_and_who_costs_nobody_knows_what_is_named():
    plots = drawn(ladder({"team:x": 1000, "classical": 1100}, pairs=3))
    assert "dollars a move" in texts(plots["cost"])
    assert "none" in texts(plots["cost"])
    data = ladder({"team:x": 1000, "team:y": 1000}, pairs=3)
    unpriced = replace(SideRecord(plies=3, calls=3, prompt_tokens=99), cost_usd=None)
    games = [
        replace(each, white_side=unpriced) if each.white == "team:y" else each
        for each in data.games
    ]
    caption = drawn(replace(data, games=tuple(games)))["cost"].caption
    assert "Left out, since that is not known: team:y." in caption


def test_numbers_on_logarithmic_axes_are_plain(of_ladder):
    """Matplotlib writes powers as formulas, which would be shown as they are."""
    for plot in of_ladder.values():
        assert not any("$" in text or "\\" in text for text in texts(plot))
    tiny = SideRecord(plies=10, calls=1, prompt_tokens=9, cost_usd=Decimal("0.00001"))
    assert "0.000001" in texts(cost_of(tiny))


def test_nobody_who_kept_to_the_rules_has_a_plot_of_it():
    assert "legality" not in drawn(ladder({"classical": 1000}, pairs=2))


def test_bounds_are_drawn_as_arrows():
    won = drawn(evaluation(games=games_of("a", "y", 9), anchors=(Anchor("y", 1000.0),)))
    assert "> 1" in ElementTree.fromstring(won["rating"].svg).find(f"{SVG}desc").text
    assert "stroke-dasharray" in won["rating"].svg


def test_a_rating_is_drawn_with_the_interval_that_is_printed():
    data = evaluation(games=games_of("a", "y", 5, 10, 5), anchors=(Anchor("y", 1000.0),))
    report = build_report(data)
    rating = report["agents"][0]["rating"]["as_played"]
    narrow = (rating["draw_aware_low"], rating["draw_aware_high"])
    assert narrow != (rating["low"], rating["high"])
    moved = json.loads(json.dumps(report))
    told = moved["agents"][0]["rating"]
    for each in (told["as_played"], told["without_forfeits"], moved["rating_against_cost"][0]):
        each["low"], each["high"] = narrow
    before, after = ({plot.key: plot for plot in plots_of(each)} for each in (report, moved))
    for key in ("rating", "cost"):
        assert before[key].svg == after[key].svg
        assert "draws taken into account" in before[key].caption
    assert rating["text"] == f"1000 ± {rating['draw_aware_margin']:.0f}"
    described = ElementTree.fromstring(before["rating"].svg).find(f"{SVG}desc").text
    assert described.replace("\xa0", " ") == f"a: {rating['text']}"


@pytest.mark.parametrize("pairs", [1, 2, 3, 5, 60])
def test_pairs_come_in_whole_numbers(pairs):
    ticks = texts(drawn(duel(pairs=pairs))["sprt"])
    across = ticks[: ticks.index("complete pairs")]
    assert "1" in across or pairs > 9
    assert not any("." in tick for tick in across)


def test_who_forfeits_on_the_first_turn_is_in_the_plot_of_legality():
    side = SideRecord(illegal=4)
    games = games_of("a", "y", 0, 0, 4, white_side=side, termination=Termination.RULES_INFRACTION)
    plot = drawn(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))["legality"]
    described = ElementTree.fromstring(plot.svg).find(f"{SVG}desc").text
    assert described == "a: 4000.0 illegal and 0.0 unreadable"


def test_positions_are_drawn_by_difficulty():
    plot = drawn(positions())["solved"]
    assert "difficulty of the position, Elo" in texts(plot)
    described = ElementTree.fromstring(plot.svg).find(f"{SVG}desc").text
    assert re.fullmatch(r"team:default: \d+ of 60; solo:default: \d+ of 60", described)
