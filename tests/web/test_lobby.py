"""The lobby: boards that move while one looks, matches that have ended, and filters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Complaints, Visitor, check_accessibility
from tests.web.page_service import PageProcess

PHONE = {"width": 360, "height": 740}


def start(client: httpx.Client, white: str = "human", black: str = "human", **more: Any) -> Any:
    response = client.post("/api/matches", json={"white": white, "black": black, **more})
    assert response.status_code == 201, response.text
    return response.json()


def play(client: httpx.Client, match: Any, color: str, move: str) -> None:
    headers = {"X-Seat-Token": match["seats"][color]["token"]}
    path = f"/api/matches/{match['id']}/moves"
    assert client.post(path, json={"move": move}, headers=headers).status_code == 200


def finish(client: httpx.Client, match: Any) -> None:
    """Wait for the end of a match, which is also that of its stream."""
    assert "match.ended" in client.get(f"/api/matches/{match['id']}/events?last_event_id=0").text


def card(page: Page, match: Any) -> Locator:
    return page.locator(f".match-card[data-match='{match['id']}']")


@pytest.fixture
def match(client: httpx.Client) -> Iterator[Any]:
    """Two humans, in a match that is over in the end."""
    match = start(client, tags=["two humans"])
    yield match
    client.post(f"/api/matches/{match['id']}/abort")


# --- what is being played ---


def test_a_match_that_begins_appears_in_front_and_leads_to_its_page(
    page: Page, client: httpx.Client
) -> None:
    page.goto("/")
    expect(page.get_by_text("No match is being played. Start one.")).to_be_visible()
    expect(page.get_by_role("link", name="Start one")).to_have_attribute("href", "/new")
    old = start(client)
    expect(card(page, old)).to_be_visible()
    new = start(client, "mating", "thinker", variant="chess960", tags=["new"], opening="a3 a6")
    expect(page.locator(".match-card").first).to_have_attribute("data-match", new["id"])
    expect(card(page, new)).to_contain_text("Chess960")
    expect(card(page, new)).to_contain_text("new")
    page.get_by_role("link", name="mating against thinker, Chess960").click()
    expect(page).to_have_url(f"/matches/{new['id']}")
    for match in (old, new):
        client.post(f"/api/matches/{match['id']}/abort")


def test_a_board_moves_without_loading_the_page_again(
    page: Page, client: httpx.Client, match: Any
) -> None:
    kept = {match["id"]: {"black": match["seats"]["black"]["token"]}}
    page.add_init_script(f"localStorage.setItem('kibitz.seats', '{json.dumps(kept)}')")
    page.goto("/")
    page.evaluate("window.isTheSame = true")
    board = card(page, match)
    expect(board).to_contain_text("ply 0")
    expect(board).to_contain_text("you")
    expect(board.locator(".mark.moved")).to_have_count(0)
    for color, move in (("white", "e4"), ("black", "e5"), ("white", "Qh5"), ("black", "Nc6")):
        play(client, match, color, move)
        expect(board).to_contain_text("your move" if color == "white" else "ply")
    play(client, match, "white", "Qxf7+")
    expect(board.locator(".mark.check")).to_have_count(1)
    expect(board.locator(".mark.moved")).to_have_count(2)
    expect(board.locator(".pieces .piece")).to_have_count(31)
    assert page.evaluate("window.isTheSame")


def test_what_comes_with_time_is_seen(page: Page, client: httpx.Client) -> None:
    match = start(client, time_control="600+5")
    board = page.locator(".live-grid").locator(card(page, match))
    page.clock.install()
    page.goto("/")
    expect(board.locator(".card-clock")).to_have_text(["10:00", re.compile(r"09:[345]\d")])
    # No event of the stream tells of a pause.
    client.post(f"/api/matches/{match['id']}/pause")
    page.clock.fast_forward(21_000)
    expect(board).to_contain_text("paused")
    client.post(f"/api/matches/{match['id']}/resume")
    page.clock.fast_forward(21_000)
    expect(board).not_to_contain_text("paused")
    # The end is shown on the board, and after a moment among those that are finished.
    headers = {"X-Seat-Token": match["seats"]["white"]["token"]}
    client.post(f"/api/matches/{match['id']}/resign", headers=headers)
    expect(board).to_contain_text("0–1")
    expect(board).to_contain_text("Black wins: White resigned.")
    page.clock.fast_forward(7_000)
    expect(board).to_have_count(0)
    finished = page.locator(".finished-grid .match-card").first
    expect(finished).to_have_attribute("data-match", match["id"])
    expect(finished.locator(".card-points")).to_have_text(["0", "1"])


def test_nothing_is_missed_when_the_service_was_gone(
    visitor_of_process: Visitor, process: PageProcess
) -> None:
    visitor_of_process.complaints.expect(r"ERR_CONNECTION_REFUSED|ERR_INCOMPLETE", at_least=0)
    process.start()
    page = visitor_of_process.open("/")
    with process.served.client() as client:
        match = start(client)
        expect(card(page, match)).to_contain_text("ply 0")
        process.kill()
        expect(page.locator(".connection-notice")).to_contain_text("Connection lost")
        process.start()
        play(client, match, "white", "e4")
        another = start(client)
    expect(card(page, match)).to_contain_text("ply 1")
    expect(card(page, another)).to_be_visible()
    expect(page.locator(".match-card")).to_have_count(2)
    process.stop()


# --- what is over, and filters ---


@pytest.fixture(scope="module")
def ended(client: httpx.Client) -> list[Any]:
    """More matches than are listed at once, all over."""
    settings = {"tags": ["over"]}
    matches = [start(client, "resigning", "thinker", **settings) for _ in range(26)]
    for match in matches:
        finish(client, match)
    return matches


def test_finished_matches_are_listed_page_by_page(page: Page, ended: list[Any]) -> None:
    page.goto("/?tag=over")
    cards = page.locator(".finished-grid .match-card")
    expect(cards).to_have_count(24)
    expect(page.get_by_text("the newest 24 matches")).to_be_visible()
    expect(cards.first).to_contain_text("Black wins: White resigned.")
    expect(cards.first).to_contain_text("just now")
    page.get_by_role("button", name="Show more").click()
    expect(cards).to_have_count(26)
    expect(cards.nth(24).get_by_role("link")).to_be_focused()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    found = cards.evaluate_all("cards => cards.map((card) => card.dataset.match)")
    assert found == [match["id"] for match in reversed(ended)]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"/matches/{ended[0]['id']}")


def test_filters_are_kept_in_the_address_and_hold_for_both_lists(
    page: Page, complaints: Complaints, match: Any, ended: list[Any]
) -> None:
    page.goto("/")
    expect(card(page, match)).to_be_visible()
    page.get_by_label("Player").fill("resigning")
    expect(page).to_have_url("/?player=resigning")
    expect(page.get_by_text("No live match fits the filter.")).to_be_visible()
    expect(page.locator(".finished-grid .match-card")).to_have_count(24)
    page.get_by_label("Tag").fill("none has this")
    expect(page).to_have_url("/?player=resigning&tag=none+has+this")
    expect(page.get_by_text("No finished match fits the filter.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Player")).to_have_value("resigning")
    expect(page.get_by_text("No finished match fits the filter.")).to_be_visible()
    page.get_by_role("button", name="Show all matches").click()
    expect(page).to_have_url("/")
    expect(card(page, match)).to_be_visible()
    page.get_by_label("Variant").select_option("kings-cooking")
    expect(card(page, match)).to_be_hidden()
    complaints.expect("422")
    page.get_by_label("Evaluation").fill(40 * "x")
    expect(page.get_by_role("alert")).to_contain_text("Evaluation: ")


def test_paused_and_aborted_matches_are_found_by_their_status(
    page: Page, client: httpx.Client, ended: list[Any]
) -> None:
    paused, aborted = start(client), start(client)
    client.post(f"/api/matches/{paused['id']}/pause")
    client.post(f"/api/matches/{aborted['id']}/abort", json={"reason": "tea"})
    page.goto("/")
    page.get_by_label("Status").select_option("Paused")
    expect(page.locator(".match-card")).to_have_count(1)
    expect(card(page, paused)).to_contain_text("paused")
    expect(page.get_by_role("heading", name="Finished")).to_be_hidden()
    page.get_by_label("Status").select_option("Aborted")
    expect(card(page, aborted)).to_contain_text("aborted")
    expect(page.get_by_role("heading", name="Being played")).to_be_hidden()
    page.get_by_label("Status").select_option("Ended")
    expect(card(page, ended[-1])).to_be_visible()
    expect(card(page, aborted)).to_have_count(0)
    client.post(f"/api/matches/{paused['id']}/abort")


# --- for everybody ---


def test_everybody_can_use_it(
    page: Page, client: httpx.Client, match: Any, ended: list[Any]
) -> None:
    play(client, match, "white", "e4")
    page.goto("/")
    expect(card(page, match)).to_contain_text("ply 1")
    expect(page.locator(".finished-grid .match-card")).not_to_have_count(0)
    check_accessibility(page)
    page.emulate_media(color_scheme="dark")
    check_accessibility(page)
    page.set_viewport_size(PHONE)
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# --- many at once ---


def test_only_boards_near_to_what_is_seen_are_drawn(page: Page, client: httpx.Client) -> None:
    # They are never over, and the last ones here: others would wait for them.
    matches = [start(client, "thinker", "thinker", tags=["crowd"]) for _ in range(25)]
    page.goto("/?tag=crowd")
    expect(page.locator(".match-card.live")).to_have_count(25)
    expect(page.get_by_text("25 matches")).to_be_visible()
    expect(card(page, matches[-1]).locator("kibitz-board")).to_have_count(1)
    expect(card(page, matches[0]).locator("kibitz-board")).to_have_count(0)
    card(page, matches[0]).scroll_into_view_if_needed()
    expect(card(page, matches[0]).locator("kibitz-board")).to_have_count(1)
    expect(card(page, matches[-1]).locator("kibitz-board")).to_have_count(0)
