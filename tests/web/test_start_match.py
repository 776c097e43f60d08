"""The form that starts a match: by mouse, by keyboard, by one click; and what is wrong with it."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browser import Complaints, check_accessibility

PHONE = {"width": 360, "height": 740}
MATCH = re.compile(r"/matches/([0-9a-f-]{36})$")
#: White mates with the next move.
MATING = "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"
MATED = "7k/6Q1/5K2/8/8/8/8/8 b - - 0 1"


@pytest.fixture
def form(page: Page) -> Page:
    """The form, ready to be filled in."""
    page.goto("/new")
    expect(page.get_by_role("button", name="Start the match")).to_be_visible()
    return page


def started(page: Page, client: httpx.Client) -> Any:
    """Return the match whose page is shown, and end it."""
    expect(page).to_have_url(MATCH)
    found = MATCH.search(page.url)
    assert found is not None
    match = client.get(f"/api/matches/{found[1]}").json()
    client.post(f"/api/matches/{found[1]}/abort")
    return match


def submit(page: Page) -> None:
    page.get_by_role("button", name="Start the match").click()


def check_wrong(control: Locator, words: str) -> None:
    """See that a control is at fault, is told so to everybody, and has the cursor."""
    expect(control).to_be_focused()
    expect(control).to_have_attribute("aria-invalid", "true")
    expect(control).to_have_accessible_description(re.compile(words))


# --- starting ---


def test_a_match_is_started_by_mouse(form: Page, client: httpx.Client) -> None:
    form.get_by_label("White", exact=True).select_option("human")
    form.get_by_label("Black", exact=True).select_option("thinker")
    form.get_by_role("radio", name="5+3").check()
    form.get_by_role("radio", name="A known one").check()
    form.get_by_label("Known opening").fill("c65")
    expect(form.get_by_text("C65: e4 e5 Nf3 Nc6 Bb5 Nf6 d3 Bc5")).to_be_visible()
    expect(form.get_by_text("Ruy Lopez: Anti-Berlin · White to move")).to_be_visible()
    form.get_by_text("Advanced").click()
    form.get_by_label("Most plies").fill("60")
    form.get_by_label("Tags").fill("by mouse, fun")
    form.get_by_label("A side that is far behind loses").check()
    form.get_by_label("Centipawns behind").fill("700")
    with form.expect_request("**/api/matches") as sent:
        submit(form)
    assert sent.value.headers["idempotency-key"]
    match = started(form, client)
    assert (match["white"]["name"], match["black"]["name"]) == ("human", "thinker")
    assert (match["time_control"], match["opening"]) == ("300+3", "Ruy Lopez: Anti-Berlin")
    assert (match["max_plies"], match["tags"]) == (60, ["by mouse", "fun"])
    assert match["adjudication"] == {"resign": {"centipawns": 700, "moves": 4}, "draw": None}
    assert match["analysis"]["nodes"] == 50_000
    kept = json.loads(form.evaluate("localStorage.getItem('kibitz.seats')"))
    assert list(kept[match["id"]]) == ["white"]
    # It is remembered for the next match.
    form.get_by_role("link", name="New match").click()
    expect(form.get_by_role("button", name="Start the match")).to_be_visible()
    expect(form.get_by_label("Black", exact=True)).to_have_value("thinker")
    expect(form.get_by_role("radio", name="5+3")).to_be_checked()
    expect(form.get_by_label("Most plies")).to_be_visible()
    expect(form.get_by_label("Most plies")).to_have_value("60")
    form.get_by_role("button", name="Back to the defaults").click()
    expect(form.get_by_role("radio", name="5+3")).not_to_be_checked()
    expect(form.get_by_label("Most plies")).to_have_value("")


def test_a_match_is_started_by_keyboard(form: Page, client: httpx.Client) -> None:
    def tab_to(control: Locator) -> None:
        for _ in range(40):
            form.keyboard.press("Tab")
            if control.evaluate("control => control === document.activeElement"):
                return
        raise AssertionError("the key does not lead there")

    tab_to(form.get_by_label("White", exact=True))
    form.keyboard.type("thinker")
    tab_to(form.get_by_label("Black", exact=True))
    form.keyboard.type("Human")
    tab_to(form.get_by_role("radio", name=re.compile("^Chess The game")))
    form.keyboard.press("ArrowRight")
    tab_to(form.get_by_role("radio", name="None").first)
    form.keyboard.press("ArrowLeft")
    tab_to(form.get_by_label("Your own time control"))
    form.keyboard.type("40/5400+30:1800")
    form.keyboard.press("Enter")
    match = started(form, client)
    assert (match["white"]["name"], match["black"]["name"]) == ("thinker", "human")
    assert (match["variant"], match["time_control"]) == ("chess960", "40/5400+30:1800")


def test_quick_starts_take_one_click(form: Page, client: httpx.Client) -> None:
    form.get_by_role("slider", name="Level").fill("2")
    form.get_by_label("You are").select_option("Black")
    for name, white, black, variant in (
        ("Play Stockfish", "stockfish:2", "human", "standard"),
        ("Watch classical against Stockfish", "classical", "stockfish:4", "standard"),
        ("Play King's Cooking against the solver", "human", "solver", "kings-cooking"),
    ):
        form.get_by_role("button", name=name).click()
        match = started(form, client)
        assert (match["white"]["name"], match["black"]["name"]) == (white, black)
        assert match["variant"] == variant
        form.get_by_role("link", name="New match").click()


# --- what is filled in ---


def test_the_address_fills_it_in_and_nothing_else_does(page: Page, client: httpx.Client) -> None:
    asked = "white=thinker&black=human&time_control=300%2B3&opening=e4+e5+Ke2"
    page.goto(f"/new?{asked}")
    expect(page.get_by_label("White", exact=True)).to_have_value("thinker")
    expect(page.get_by_role("radio", name="5+3")).to_be_checked()
    expect(page.get_by_role("textbox", name="Your own moves")).to_have_value("e4 e5 Ke2")
    page.get_by_role("button", name="Swap colours").click()
    expect(page.get_by_label("White", exact=True)).to_have_value("human")
    submit(page)
    match = started(page, client)
    assert (match["black"]["name"], match["opening"]) == ("thinker", "e4 e5 Ke2")


def test_only_those_are_offered_who_can_play(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    page.goto("/new")
    option = page.get_by_label("White", exact=True).locator("option[value='team:default']")
    expect(option).to_be_disabled()
    expect(option).to_have_text("Default team – cannot be seated")
    expect(page.get_by_text("OPENAI_API_KEY is not set").first).to_be_visible()
    black = page.get_by_label("Black", exact=True)
    black.select_option("stockfish:5")
    expect(page.get_by_text(re.compile(r"Elo 985 \(\d+ to \d+, by \d+ games\)\."))).to_be_visible()
    page.get_by_role("radio", name="King's Cooking").check()
    expect(black).to_have_value("solver")
    expect(page.get_by_text("Solver takes the seat.")).to_be_visible()
    expect(black.locator("option[value='stockfish:5']")).to_have_text(
        re.compile("does not play King's Cooking")
    )
    expect(black.locator("option[value='stockfish:5']")).to_be_disabled()
    page.get_by_text("Advanced").click()
    expect(page.get_by_label("Let Stockfish analyse each ply")).to_be_disabled()


# --- what is wrong ---


def test_a_mistake_is_told_before_anything_is_sent(form: Page) -> None:
    requests: list[str] = []
    form.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    form.get_by_text("Advanced").click()
    form.get_by_label("Most plies").fill("0")
    form.get_by_label("US dollars").fill("-1")
    form.get_by_text("Advanced").click()
    submit(form)
    check_wrong(form.get_by_label("Most plies"), "whole number from 1 to 2,000")
    expect(form.get_by_label("US dollars")).to_have_attribute("aria-invalid", "true")
    assert not [each for each in requests if each.endswith("/api/matches")]
    form.get_by_label("Most plies").fill("80")
    expect(form.get_by_label("Most plies")).not_to_have_attribute("aria-invalid", "true")


def test_what_the_service_refuses_is_told_at_the_field(
    form: Page, complaints: Complaints, client: httpx.Client
) -> None:
    complaints.expect("422")
    form.get_by_role("radio", name="Your own", exact=True).check()
    form.get_by_label("Your own time control").fill("soon")
    submit(form)
    check_wrong(form.get_by_label("Your own time control"), "soon")
    form.get_by_label("Your own time control").fill("10s")
    form.get_by_label("Black", exact=True).select_option("classical")
    form.locator(".seat-field").nth(1).get_by_text("Name and limits").click()
    form.get_by_label("Nodes").locator("visible=true").fill("900000000")
    submit(form)
    expect(form.locator("[data-field='black'] > .wrong")).to_contain_text("nodes")
    expect(form.get_by_label("Black", exact=True)).to_be_focused()


def test_the_board_shows_the_initial_position_and_what_is_wrong_with_it(
    form: Page, complaints: Complaints
) -> None:
    complaints.expect("422")
    form.get_by_text("Advanced").click()
    fen = form.get_by_label("Initial position (FEN)")
    pieces = form.locator(".start-preview .pieces .piece")
    expect(pieces).to_have_count(32)
    fen.fill(MATING)
    expect(pieces).to_have_count(3)
    fen.fill("nonsense")
    expect(fen).to_have_accessible_description(re.compile("nonsense"))
    expect(fen).to_have_attribute("aria-invalid", "true")
    fen.fill(MATED)
    expect(fen).to_have_accessible_description(re.compile("The game is over there: White wins"))
    form.get_by_role("radio", name="Your own moves").check()
    form.get_by_role("textbox", name="Your own moves").fill("Ke2")
    submit(form)
    check_wrong(form.get_by_role("textbox", name="Your own moves"), "not both")


def test_what_belongs_to_no_field_is_told_and_can_be_tried_again(
    form: Page, complaints: Complaints, client: httpx.Client
) -> None:
    complaints.expect("429")
    keys: list[str] = []
    refused = {"type": "/problems/too-many-matches", "status": 429, "detail": "wait a minute"}

    def refuse(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.fulfill(status=429, json=refused)

    form.route("**/api/matches", refuse)
    submit(form)
    expect(form.get_by_role("alert")).to_have_text("Wait a minute.")
    form.get_by_role("button", name="Play Stockfish").click()
    expect(form.locator(".quick-starts + .notice")).to_have_text("Wait a minute.")
    form.unroute("**/api/matches")
    # It may have arrived, for all that is known here: the same request has the same key.
    with form.expect_request("**/api/matches") as sent:
        form.get_by_role("button", name="Play Stockfish").click()
    assert sent.value.headers["idempotency-key"] == keys[1] != keys[0]
    started(form, client)


# --- for everybody ---


def test_everybody_can_use_it(page: Page) -> None:
    page.goto("/new?black=stockfish:3&time_control=7&opening=C65")
    expect(page.locator(".start-preview .mark.moved")).to_have_count(2)
    for summary in page.locator("main summary").all():
        summary.click()
    page.get_by_label("Most plies").fill("0")
    submit(page)
    expect(page.get_by_label("Most plies")).to_be_focused()
    check_accessibility(page)
    page.emulate_media(color_scheme="dark")
    check_accessibility(page)
    page.set_viewport_size(PHONE)
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_seat_whose_token_got_lost_is_not_left_to_nobody(
    form: Page, client: httpx.Client
) -> None:
    """The first answer got lost over a restart: the second one tells no secret any more."""
    answers: list[str] = []

    def forget(route: Route) -> None:
        response = route.fetch()
        told = response.json()
        answers.append(told["id"])
        if len(answers) == 1:
            told["seats"]["white"]["token"] = None
        route.fulfill(response=response, json=told)

    form.route("**/api/matches", forget)
    form.get_by_role("button", name="Start the match").click()
    expect(form.locator(".player-bar.white")).to_contain_text("you")
    first, second = (client.get(f"/api/matches/{each}").json()["status"] for each in answers)
    assert (first, second) == ("aborted", "running")
