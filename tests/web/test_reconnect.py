"""A page that was cut off comes back by itself, and has missed nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from tests.app.http.match_service import Match, play, start, wait_until
from tests.support.browser import Visitor
from tests.web.match_page import MatchPage, address
from tests.web.page_service import PageProcess

#: A page whose connection was cut complains of every try.
CUT = (
    "ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE"
)


@pytest.fixture
def running(process: PageProcess) -> Iterator[httpx.Client]:
    """A client of the process, which runs."""
    process.start()
    with process.served.client() as client:
        yield client


class Streams:
    """The streams that a page has asked for."""

    def __init__(self, page: Page) -> None:
        self.last_ids: list[str | None] = []
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if request.url.endswith("/events"):
            self.last_ids.append(request.headers.get("last-event-id"))


def expect_plies_of(shown: MatchPage, client: httpx.Client, match: Match) -> None:
    """See that a page shows the plies that the service has, each once."""
    plies = client.get(f"/api/matches/{match['id']}/plies", params={"limit": 2000}).json()["plies"]
    expect(shown.moves).to_have_count(len(plies))
    shown.expect_moves(*(each["san"] for each in plies))
    shown.expect_position(plies[-1]["fen"])


def heard(page: Page, client: httpx.Client, match: Match, turns: int) -> int:
    """Return the number of the event with which a turn began, once the page has heard it, too."""
    begun = count(1)

    def is_last(event: dict[str, Any]) -> bool:
        return event["type"] == "turn.started" and next(begun) == turns

    number: int = wait_until(client, match, is_last)["sequence"]
    is_heard = "number => document.querySelector('match-view').log.sequence === number"
    page.wait_for_function(is_heard, arg=number, polling=50)
    return number


def test_a_killed_service_comes_back_and_nothing_was_missed(
    visitor_of_process: Visitor, process: PageProcess, running: httpx.Client
) -> None:
    visitor_of_process.complaints.expect(CUT)
    match = start(running, "uci:slow", "uci:slow", max_plies=60)
    page = visitor_of_process.open()
    streams = Streams(page)
    page.goto(address(match))
    shown = MatchPage(page)
    expect(shown.moves.nth(7)).to_be_attached()

    process.kill()
    notice = page.locator(".connection-notice")
    expect(notice).to_be_visible()
    expect(notice).to_contain_text("Connection lost; trying again …")
    expect(notice).to_have_attribute("role", "status")
    expect(shown.connection).to_have_text("connection lost")
    seen = page.evaluate("document.querySelector('match-view').log.sequence")
    plies = shown.moves.count()
    process.start()

    expect(notice).to_have_text("Connected again. Nothing was missed.")
    expect(shown.status).to_contain_text("½–½")
    expect(shown.connection).to_have_text("complete")
    assert plies < shown.moves.count()
    expect_plies_of(shown, running, match)
    # The tries of an open page ask for what it has not seen; the first asked for everything.
    assert streams.last_ids[0] == "0"
    assert set(streams.last_ids[1:]) == {str(seen)}
    logged = [
        each["sequence"]
        for each in page.evaluate(
            """async (path) => {
                 const headers = { Accept: "application/x-ndjson", "Last-Event-ID": "0" };
                 const lines = (await (await fetch(path, { headers })).text()).split("\\n");
                 return lines.filter(Boolean).map((line) => JSON.parse(line));
               }""",
            f"/api/matches/{match['id']}/events",
        )
    ]
    assert page.evaluate("document.querySelector('match-view').log.sequence") == logged[-1]
    assert logged == list(range(1, len(logged) + 1))


def test_a_player_comes_back_to_the_board(
    visitor_of_process: Visitor, process: PageProcess, running: httpx.Client
) -> None:
    visitor_of_process.complaints.expect(CUT)
    match = start(running)
    shown = MatchPage.open(visitor_of_process, match, "white")
    shown.drag("e2", "e4")
    shown.expect_moves("e4")
    play(running, match, "e5")
    shown.expect_moves("e4", "e5")
    process.kill()
    expect(shown.connection).to_have_text("connection lost")
    shown.type_move("Nf3")
    expect(shown.message).to_have_text("The service cannot be reached just now.")
    expect(shown.page.get_by_label("Your move")).to_have_value("Nf3")
    process.start()
    expect(shown.connection).to_have_text("live")
    shown.press("Enter")
    shown.expect_moves("e4", "e5", "Nf3")
    expect(shown.message).to_be_empty()
    expect_plies_of(shown, running, match)


def test_a_service_that_stops_in_good_order_is_come_back_to(
    visitor_of_process: Visitor, process: PageProcess, running: httpx.Client
) -> None:
    visitor_of_process.complaints.expect(CUT, at_least=0)  # it may be back before it is missed
    match = start(running, time_control="600")
    play(running, match, "e4")
    page = visitor_of_process.open()
    streams = Streams(page)
    page.clock.install()
    page.goto(address(match))
    shown = MatchPage(page)
    shown.expect_moves("e4")
    process.stop()
    expect(shown.connection).to_have_text("connection lost")
    clock = shown.bar("black").get_by_role("timer")
    before = clock.inner_text()
    page.clock.run_for(7_000)
    assert clock.inner_text() == before  # it stands while nobody plays
    process.start()
    play(running, match, "e5")
    shown.expect_moves("e4", "e5")
    expect(shown.connection).to_have_text("live")
    assert None not in streams.last_ids


# --- pages that nobody looks at ---

HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def hide_for_long(shown: MatchPage, client: httpx.Client, match: Match) -> int:
    """Look away for more than a minute, in which something happens: silence would be a loss.

    Returns the number of the last event that the page has heard then.
    """
    page = shown.page
    expect(shown.connection).to_have_text("live")
    page.evaluate(HIDE, True)
    page.clock.fast_forward(35_000)
    play(client, match, "e4")
    shown.expect_moves("e4")
    seen = heard(page, client, match, 2)
    page.clock.fast_forward(26_000)
    return seen


def test_a_hidden_page_rests_and_catches_up(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    page = visitor.open()
    streams = Streams(page)
    page.clock.install()
    page.goto(address(match))
    shown = MatchPage(page)
    seen = hide_for_long(shown, client, match)
    expect(shown.connection).to_have_text("resting")
    play(client, match, "e5 Nf3 Nc6 Bb5")
    assert streams.last_ids == ["0"]
    page.evaluate(HIDE, False)
    page.clock.run_for(1_000)
    shown.expect_moves("e4", "e5", "Nf3", "Nc6", "Bb5")
    expect(shown.connection).to_have_text("live")
    assert streams.last_ids == ["0", str(seen)]
    expect_plies_of(shown, client, match)
    expect(page.locator(".connection-notice")).to_be_hidden()


def test_who_plays_does_not_rest(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    page = visitor.open()
    streams = Streams(page)
    page.clock.install()
    page.goto(address(match, "black"))
    shown = MatchPage(page)
    hide_for_long(shown, client, match)
    page.clock.run_for(1_000)
    expect(page).to_have_title("● Your move · human – human – Kibitz")
    expect(shown.connection).to_have_text("live")
    assert streams.last_ids == ["0"]


def test_a_short_absence_changes_nothing(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    page = visitor.open()
    streams = Streams(page)
    page.clock.install()
    page.goto(address(match))
    shown = MatchPage(page)
    expect(shown.connection).to_have_text("live")
    page.evaluate(HIDE, True)
    page.clock.fast_forward(30_000)
    page.evaluate(HIDE, False)
    page.clock.fast_forward(9_000)
    play(client, match, "e4")
    page.clock.run_for(1_000)
    shown.expect_moves("e4")
    assert streams.last_ids == ["0"]


def test_a_silent_connection_is_dead(visitor: Visitor, client: httpx.Client) -> None:
    """A service that is there says so every 15 s."""
    match = start(client)
    page = visitor.open()
    streams = Streams(page)
    page.clock.install()
    page.goto(address(match))
    shown = MatchPage(page)
    expect(shown.connection).to_have_text("live")
    seen = heard(page, client, match, 1)
    page.clock.fast_forward(41_000)
    page.clock.run_for(2_000)
    expect(shown.connection).to_have_text("live")
    expect(page.locator(".connection-notice")).to_have_text("Connected again. Nothing was missed.")
    assert streams.last_ids == ["0", str(seen)]
