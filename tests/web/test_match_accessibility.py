"""Everybody can use the page of a match: axe finds nothing, in any light and at any size."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from agents.player import Advice, Candidate
from engine import Evaluation, Move
from tests.app.http.match_service import Match, start
from tests.support.browser import Visitor, check_accessibility
from tests.web.match_page import PHONE, MatchPage, box_of
from tests.web.prompting import PROMPTED, Stage

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "light phone": {"color_scheme": "light", "viewport": PHONE, "has_touch": True},
    "dark phone": {"color_scheme": "dark", "viewport": PHONE, "has_touch": True},
    "narrow": {"viewport": {"width": 360, "height": 640}},
}


@pytest.fixture(scope="module")
def match(client: httpx.Client, stage: Stage) -> Match:
    """A match with all there is to see: clocks, advice, refusals, evaluations, captures."""
    match = start(client, PROMPTED, "human", time_control="600+5", tags=["shown"])
    player = stage.asked()
    candidates = (
        Candidate(Move.from_uci("e2e4"), "opens lines"),
        Candidate(Move.from_uci("g1f3"), "develops"),
    )
    advice = (
        Advice("tactical", candidates, "All that was said of it."),
        Advice("positional", abstained="it ran out of time"),
        Advice("selector", candidates[:1], "I agree."),
        Advice("somebody", candidates[1:], "I do not."),
    )
    player.plays("e2e5")
    player.plays("e4", advice=advice, evaluation=Evaluation(centipawns=35))
    player.plays("exd5", advice=advice, evaluation=Evaluation(centipawns=-70))
    headers = {"X-Seat-Token": match["seats"]["black"]["token"]}
    for path, body in [("moves", {"move": "d5"}), ("moves", {"move": "Qxd5"})]:
        answer = client.post(f"/api/matches/{match['id']}/{path}", json=body, headers=headers)
        while answer.status_code == 409:  # White has not decided yet
            answer = client.post(f"/api/matches/{match['id']}/{path}", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
    return match


def expect_to_fit(shown: MatchPage) -> None:
    """See that nothing is wider than the page."""
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_who_watches(visitor: Visitor, match: Match, look: dict[str, Any]) -> None:
    shown = MatchPage.open(visitor, match, reduced_motion="reduce", **look)
    expect(shown.moves).to_have_count(4)
    shown.page.get_by_text("Manage this match").click()
    check_accessibility(shown.page)
    expect_to_fit(shown)
    shown.press("ArrowLeft")
    expect(shown.advice.locator(".advice")).to_have_count(4)
    shown.press("Home", "ArrowRight")
    expect(shown.advice.locator(".advice")).to_have_count(5)
    shown.advice.get_by_text("All that was said").first.click()
    shown.advice.locator(".candidate").first.focus()
    check_accessibility(shown.page)
    expect_to_fit(shown)


@pytest.mark.parametrize("look", ["light", "dark phone"])
def test_who_plays(visitor: Visitor, client: httpx.Client, look: str) -> None:
    match = start(client, initial_fen="7k/P6p/8/8/8/8/7P/K7 w - - 0 1")
    shown = MatchPage.open(visitor, match, "white", **LOOKS[look])
    other = MatchPage.open(visitor, match, "black")
    other.button("Offer a draw").click()
    expect(shown.page.get_by_role("group", name="Black offers a draw.")).to_be_visible()
    shown.square("a1").focus()
    shown.press("Enter")
    expect(shown.message).to_have_text(re.compile("picked up"))
    check_accessibility(shown.page)
    expect_to_fit(shown)
    shown.press("Escape")
    shown.button("Resign").click()
    check_accessibility(shown.page)
    shown.button("No").click()
    shown.square("a7").focus()
    shown.press("Enter", "ArrowUp", "Enter")
    expect(shown.page.get_by_role("dialog", name="Promote to")).to_be_visible()
    check_accessibility(shown.page)
    expect_to_fit(shown)


def test_a_match_that_is_not_there(visitor: Visitor) -> None:
    visitor.complaints.expect("404")
    page = visitor.open("/matches/nowhere")
    expect(page.get_by_role("alert")).to_be_visible()
    check_accessibility(page)


def test_nothing_moves_for_who_wants_that(visitor: Visitor, match: Match) -> None:
    for reduced, transition in [("reduce", "0s"), ("no-preference", "0.18s")]:
        shown = MatchPage.open(visitor, match, reduced_motion=reduced)
        piece = shown.board.locator(".pieces .piece").first
        shown.press("ArrowLeft")
        expect(piece).to_have_css("transition-duration", transition)


def test_the_page_can_be_enlarged(visitor: Visitor, match: Match) -> None:
    """At 200 % of a small window everything is still there, and nothing is beside it."""
    shown = MatchPage.open(visitor, match, viewport={"width": 640, "height": 400})
    shown.page.evaluate("document.documentElement.style.fontSize = '200%'")
    expect(shown.button("Forward")).to_be_visible()
    expect_to_fit(shown)


#: How well what is written and marked on squares stands out from each of them, by the least ratio.
LEAST_CONTRASTS = """
() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const fillOf = (selector) => getComputedStyle(document.querySelector(selector)).fill;
  const squares = ["light", "dark"].map((shade) => fillOf(`.square.${shade}`));
  return [".labels text", ".mark.hint"].map((selector) => {
    const found = squares.map((square) => {
      const [low, high] = [luminance(fillOf(selector)), luminance(square)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    });
    return Math.min(...found);
  });
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_on_the_board_stands_out(
    visitor: Visitor, client: httpx.Client, scheme: str
) -> None:
    """axe does not look at what is drawn: text needs 4.5 to 1, and other marks 3 to 1."""
    shown = MatchPage.open(visitor, start(client), "white", color_scheme=scheme)
    shown.click("e2")
    shown.expect_marked("hint", "e3", "e4")
    text, mark = shown.page.evaluate(LEAST_CONTRASTS)
    assert text >= 4.5
    assert mark >= 3


#: Portrait, landscape, and two windows.
WINDOWS = {
    "phone": PHONE,
    "small phone": {"width": 360, "height": 640},
    "phone on its side": {"width": 844, "height": 390},
    "tablet": {"width": 768, "height": 1024},
    "low window": {"width": 900, "height": 560},
    "laptop": {"width": 1280, "height": 720},
}


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("variant", ["standard", "kings-cooking"])
def test_board_and_both_clocks_fit_into_a_window(
    visitor: Visitor, client: httpx.Client, window: dict[str, int], variant: str
) -> None:
    match = start(client, variant=variant, time_control="300+3")
    shown = MatchPage.open(visitor, match, "white", viewport=window)
    upper, lower = (box_of(shown.bar(color)) for color in ("black", "white"))
    assert lower["y"] + lower["height"] - upper["y"] <= window["height"]
    board = box_of(shown.page.locator("kibitz-board"))
    assert board["width"] >= (110 if variant == "kings-cooking" else 220)
    wide = shown.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    nav = shown.page.get_by_role("navigation", name="Pages")
    assert nav.evaluate("(each) => each.scrollWidth <= each.clientWidth")


def test_nothing_that_comes_and_goes_moves_the_board(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    shown = MatchPage.open(visitor, start(client, "human", PROMPTED), "white")
    board = shown.page.locator("kibitz-board")
    before = box_of(board)
    shown.drag("e2", "e5")  # which is explained
    expect(shown.message).to_contain_text("illegal")
    assert box_of(board) == before
    shown.drag("e2", "e4")
    shown.expect_moves("e4")
    shown.page.get_by_label("Show evaluations and advice while I play").check()
    expect(shown.bar("black").get_by_role("timer")).to_be_visible()  # it has thought for a second
    assert box_of(board) == before
    stage.asked().plays("e5", evaluation=Evaluation(centipawns=35))
    expect(shown.page.locator(".evaluation-bar")).to_be_visible()
    assert box_of(board) == before
