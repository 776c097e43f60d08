"""A player's hand while other things happen: nothing is dropped, goes back, or is given away."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Route, expect

from engine import Evaluation, Position
from tests.app.http.match_service import start
from tests.support.browser import Visitor
from tests.web.match_page import MatchPage
from tests.web.prompting import PROMPTED, Stage


def test_a_piece_in_the_hand_stays_there_while_the_opponent_moves(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    shown = MatchPage.open(visitor, start(client, "human", PROMPTED), "white")
    mouse = shown.page.mouse
    shown.drag("e2", "e4")
    shown.expect_moves("e4")
    opponent = stage.asked()
    mouse.move(*shown._middle("d2"))
    mouse.down()
    mouse.move(*shown._middle("d3"))
    opponent.plays("e5")
    shown.expect_moves("e4", "e5")
    expect(shown.page.locator(".piece.dragged")).to_have_count(1)
    mouse.move(*shown._middle("d4"))
    mouse.up()
    shown.expect_moves("e4", "e5", "d4")


def test_a_move_stands_until_the_service_tells_of_it(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    shown = MatchPage.open(visitor, start(client, "human", PROMPTED), "white")
    held: list[Route] = []
    shown.page.route("**/moves", lambda route: held.append(route))
    with shown.page.expect_request("**/moves"):
        shown.drag("e2", "e4")
    # What makes the page draw everything anew.
    shown.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    shown.expect_position(Position.start().play("e4").fen())
    expect(shown.page.locator(".move")).to_have_count(0)
    held[0].continue_()
    shown.expect_moves("e4")
    stage.asked()


def test_whoever_plays_is_helped_only_on_demand(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    match = start(client, PROMPTED, "human")
    player = stage.asked()
    player.plays("e4", evaluation=Evaluation(centipawns=35))
    watching = MatchPage.open(visitor, match)
    watching.expect_moves("e4")
    playing = MatchPage.open(visitor, match, "black")
    playing.expect_moves("e4")
    help_of = ".evaluation-bar, .graph-panel, .advice-panel, .move-score"
    for each in watching.page.locator(help_of).all():
        expect(each).to_be_visible()
    for each in playing.page.locator(help_of).all():
        expect(each).to_be_hidden()
    playing.page.get_by_label("Show evaluations and advice while I play").check()
    for each in playing.page.locator(help_of).all():
        expect(each).to_be_visible()


def test_the_list_of_moves_stays_where_somebody_has_scrolled(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    opening = "a3 a6 b3 b6 c3 c6 d3 d6 e3 e6 f3 f6 g3 g6 h3 h6"
    match = start(client, PROMPTED, "human", opening=opening)
    shown = MatchPage.open(visitor, match)
    frame = shown.page.locator(".moves-frame")
    shown.expect_moves(*opening.split())  # as they are written
    shown.page.set_viewport_size({"width": 800, "height": 600})  # where the list is short
    frame.evaluate("(each) => each.scrollTop = 0")
    client.post(f"/api/matches/{match['id']}/pause").raise_for_status()
    expect(shown.status).to_have_text(re.compile("^Paused"))
    assert frame.evaluate("(each) => each.scrollTop") == 0
