"""The leaderboard and comparisons in the page: ratings are shown with their intervals."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.app.http.evaluation_service import QUICK, Evaluation, begin, finished
from tests.support.browser import Complaints, Visitor, check_accessibility

LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark, on a phone": {
        "viewport": {"width": 360, "height": 740},
        "color_scheme": "dark",
        "reduced_motion": "reduce",
    },
}
#: `resigning` loses every game, so that no more than a bound is known of it.
LADDER = {
    "kind": "ladder",
    "name": "a ladder",
    "agents": ["random", "stockfish:2", "resigning"],
    "anchors": [{"name": "stockfish:1", "elo": 140}, {"name": "stockfish:3", "elo": 620}],
    "games": 4,
    **QUICK,
    "analysis": {"nodes": 50},
}
#: Nobody in it has met an anchor.
APART = {
    "kind": "duel",
    "name": "far from every anchor",
    "agents": [{"name": "random", "title": "Drifter"}, {"name": "resigning", "title": "Quitter"}],
    "games": 2,
    **QUICK,
}
POOL = {"kind": "pool", "name": "a pool", "agents": ["random", "stockfish:2"], **QUICK}


@pytest.fixture(scope="module")
def measured(client: httpx.Client) -> dict[str, Evaluation]:
    """Evaluations that are over, by name."""
    plans = (LADDER, APART, POOL)
    return {str(plan["name"]): finished(client, begin(client, plan)) for plan in plans}


def agents(page: Page) -> list[str]:
    """Return who is on the leaderboard, from the top down."""
    return page.get_by_role("rowheader").locator("span.agent-name").all_inner_texts()


def fits(page: Page) -> bool:
    """Whether nothing of the page lies beside the window."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return wide


# --- the leaderboard ---


def test_an_empty_leaderboard_tells_how_to_get_a_rating(page: Page) -> None:
    page.goto("/leaderboard?variant=chess960")
    expect(page.get_by_label("Variant")).to_have_value("chess960")
    expect(page.get_by_role("heading", name="Nobody is rated here yet")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Start a ladder").click()
    expect(page.get_by_label("Ladder")).to_be_checked()


@pytest.mark.usefixtures("measured")
def test_ratings_are_drawn_with_their_intervals(page: Page, client: httpx.Client) -> None:
    page.goto("/leaderboard")
    rows = {row["label"]: row for row in client.get("/api/ratings").json()["rows"]}
    random = page.get_by_role("row").filter(has=page.get_by_label("Compare random", exact=True))
    rating = rows["random"]["rating"]
    expect(random).to_contain_text(re.compile(rf"−?\d+\s±\s{rating['margin']:.0f}"))
    drawn = random.get_by_role("img", name="random: ")
    expect(drawn).to_be_visible()
    low, high = (drawn.locator("line.reach").first.get_attribute(end) for end in ("x1", "x2"))
    point = drawn.locator("svg:has(.mark)").get_attribute("x")
    places = [float((place or "").rstrip("%")) for place in (low, point, high)]
    assert places == sorted(places)
    assert places[0] < places[2]
    bound = page.get_by_role("img", name="resigning: <")
    expect(bound.locator("path.arrow")).to_have_count(1)
    expect(page.locator(".anchor-line").first).to_be_attached()
    expect(page.get_by_text("Dashed lines are anchors: stockfish:1 140")).to_be_visible()
    unrated = page.get_by_role("row").filter(has_text="Drifter")
    expect(unrated).to_contain_text("not rated")
    expect(unrated).to_contain_text("no chain of games leads to an anchor")


@pytest.mark.usefixtures("measured")
def test_it_can_be_sorted_by_every_column(page: Page) -> None:
    page.goto("/leaderboard")
    rating = page.get_by_role("columnheader", name="Rating")
    expect(rating).to_have_attribute("aria-sort", "descending")
    assert set(agents(page)[3:]) == {"Drifter", "Quitter"}  # who is not rated comes last
    page.get_by_role("button", name="Agent").click()
    agent = page.get_by_role("columnheader", name="Agent")
    expect(agent).to_have_attribute("aria-sort", "ascending")
    expect(rating).to_have_attribute("aria-sort", "none")
    assert agents(page) == ["Drifter", "Quitter", "random", "resigning", "stockfish:2"]
    expect(page.get_by_role("button", name="Agent")).to_be_focused()
    page.keyboard.press("Enter")
    expect(agent).to_have_attribute("aria-sort", "descending")
    assert agents(page)[0] == "stockfish:2"
    page.reload()
    expect(agent).to_have_attribute("aria-sort", "descending")
    for name in ("Games", "Won", "Accuracy", "Cost", "Tokens", "Latency", "Thinking"):
        page.get_by_role("columnheader", name=name).get_by_role("button").click()
        sorted_by = page.get_by_role("columnheader", name=name)
        expect(sorted_by).to_have_attribute("aria-sort", re.compile("^(a|de)scending$"))


def test_two_are_chosen_and_compared(page: Page, measured: dict[str, Evaluation]) -> None:
    page.goto("/leaderboard")
    compare = page.get_by_role("button", name="Compare")
    expect(compare).to_be_disabled()
    page.get_by_label("Compare stockfish:2").check()
    expect(page.get_by_text("Tick 1 agent more to compare.")).to_be_visible()
    page.get_by_label("Compare random").check()
    compare.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare")
    expect(page.get_by_label("First agent").locator("option:checked")).to_have_text("stockfish:2")
    expect(page.get_by_label("Second agent").locator("option:checked")).to_have_text("random")
    expect(page.get_by_role("link", name="a pool")).to_have_attribute(
        "href", f"/evaluations/{measured['a pool']['id']}"
    )


def test_an_agent_leads_to_its_evaluations(page: Page, measured: dict[str, Evaluation]) -> None:
    page.goto("/leaderboard")
    page.get_by_role("row").filter(has_text="Drifter").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("far from every anchor")
    page.go_back()
    row = page.get_by_role("row").filter(has=page.get_by_label("Compare random", exact=True))
    row.get_by_text("2 evaluations").click()
    row.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(measured["a pool"]["id"]))


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS)
def test_the_leaderboard_can_be_read_by_everybody(
    visitor: Visitor, options: dict[str, Any]
) -> None:
    page = visitor.open("/leaderboard", **options)
    expect(page.get_by_role("img", name="random: ")).to_be_visible()
    if "viewport" in options:
        page.get_by_label("Sort by").focus()
        page.get_by_label("Sort by").select_option("label")
        expect(page.get_by_role("rowheader").first).to_contain_text("Drifter")
        expect(page.get_by_label("Sort by")).to_be_focused()
    check_accessibility(page)
    assert fits(page)


# --- comparisons ---


@pytest.mark.usefixtures("measured")
def test_a_difference_is_told_with_its_interval(page: Page, client: httpx.Client) -> None:
    rows = {row["label"]: row for row in client.get("/api/ratings").json()["rows"]}
    first, second = rows["random"], rows["stockfish:2"]
    page.goto(f"/compare?a={first['identity']}&b={second['identity']}")
    difference = first["rating"]["elo"] - second["rating"]["elo"]
    below = (
        (first["rating"]["elo"] - first["rating"]["low"]) ** 2
        + (second["rating"]["high"] - second["rating"]["elo"]) ** 2
    ) ** 0.5
    signed = f"{difference - below:+.0f}".replace("-", "−")
    expect(page.get_by_text("random against stockfish:2: ")).to_contain_text(f"interval {signed}")
    expect(page.get_by_text("Expected score of the first")).to_be_visible()
    expect(page.get_by_text("Half-widths were added as squares")).to_be_visible()
    for label in ("random", "stockfish:2"):
        expect(page.get_by_role("img", name=f"{label}: ")).to_be_visible()
    thinking = page.get_by_role("row", name="Thinking / move")
    expect(thinking.get_by_text("(better)")).to_have_count(1)
    page.get_by_role("link", name="Let them play a duel").click()
    expect(page.get_by_label("Duel")).to_be_checked()
    expect(page.get_by_label("First agent")).to_have_value("random")
    expect(page.get_by_label("Second agent")).to_have_value("stockfish:2")


@pytest.mark.usefixtures("measured")
def test_what_cannot_be_told_is_not_told(page: Page) -> None:
    page.goto("/compare")
    page.get_by_label("First agent").select_option("resigning")
    page.get_by_label("Second agent").select_option("random")
    expect(page.get_by_text("resigning against random: ")).to_contain_text("interval under ")
    page.get_by_label("First agent").select_option("Drifter")
    expect(page.get_by_text("Drifter is not rated")).to_be_visible()
    page.get_by_label("First agent").select_option("random")
    expect(page.get_by_text("Choose two agents that are not the same")).to_be_visible()
    page.get_by_label("Variant").select_option("kings-cooking")
    expect(page.get_by_role("heading", name="There are not two agents")).to_be_visible()


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS)
def test_a_comparison_can_be_read_by_everybody(visitor: Visitor, options: dict[str, Any]) -> None:
    page = visitor.open("/compare", **options)
    expect(page.get_by_role("link", name="Let them play a duel")).to_be_visible()
    check_accessibility(page)
    assert fits(page)


def test_a_leaderboard_that_cannot_be_had_says_why(page: Page, complaints: Complaints) -> None:
    complaints.expect("503", at_least=2)
    problem = {"type": "/problems/ratings-unavailable", "detail": "the file is damaged"}
    page.route("**/api/ratings*", lambda route: route.fulfill(status=503, json=problem))
    for path in ("/leaderboard", "/compare"):
        page.goto(path)
        expect(page.get_by_role("alert")).to_have_text("The file is damaged.")
