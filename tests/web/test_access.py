"""A service with tokens: what its page asks for, and what it lets people do."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from tests.app.http.match_service import Match, look, start
from tests.support.browser import Complaints, Visitor, check_accessibility
from tests.support.servers import Served
from tests.web.match_page import MatchPage, address
from tests.web.page_service import serving_page

READER = "reader-of-matches"
WRITER = "writer-of-matches"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("service")
    with serving_page(folder, api_tokens=f"read:{READER},write:{WRITER}") as served:
        yield served


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[httpx.Client]:
    with service.client(headers={"Authorization": f"Bearer {WRITER}"}) as client:
        yield client


@pytest.fixture
def match(client: httpx.Client) -> Match:
    return start(client, "mating", "thinker")


def dialog_of(page: Page) -> Locator:
    return page.get_by_role("dialog", name="This service asks for a token")


def give(page: Page, token: str) -> None:
    """Give a token to the dialog that asks for one."""
    dialog = dialog_of(page)
    expect(dialog).to_have_count(1)
    dialog.get_by_label("Token", exact=True).fill(token)
    page.keyboard.press("Enter")


def test_a_token_is_asked_for_until_it_is_the_right_one(
    page: Page, match: Match, complaints: Complaints
) -> None:
    complaints.expect("401", at_least=2)
    page.goto(address(match))
    expect(dialog_of(page)).to_contain_text("It said: ")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    check_accessibility(page)
    give(page, "not-the-right-token")
    expect(page.get_by_label("Token", exact=True)).to_have_value("")
    expect(dialog_of(page)).to_be_visible()
    give(page, READER)
    expect(dialog_of(page)).to_have_count(0)
    shown = MatchPage(page)
    shown.expect_moves("e4")
    expect(shown.connection).to_have_text("live")
    page.reload()  # it is kept
    shown.expect_moves("e4")
    assert READER not in page.url
    # A plain link would send no token, and a picture on another page neither.
    expect(shown.button("Copy embed code")).to_have_count(0)
    with page.expect_download() as saving:
        shown.button("Download board.svg").click()
    assert saving.value.path().read_text("utf-8").startswith("<svg")


def test_a_kept_token_that_is_no_good_any_more_is_replaced(
    page: Page, match: Match, complaints: Complaints
) -> None:
    complaints.expect("401")
    page.add_init_script(
        "localStorage['kibitz.token'] ??= 'of-last-year'"  # not again when it was replaced
    )
    page.goto(address(match))
    give(page, READER)
    MatchPage(page).expect_moves("e4")
    expect(dialog_of(page)).to_have_count(0)


def test_without_a_token_it_is_told_what_is_wrong(
    page: Page, match: Match, complaints: Complaints
) -> None:
    complaints.expect("401")
    page.goto(address(match))
    dialog_of(page).get_by_role("button", name="Not now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("This match cannot be shown")
    expect(page.get_by_role("alert")).to_contain_text("token")
    page.get_by_role("button", name="Enter a token").click()  # on second thoughts
    give(page, READER)
    MatchPage(page).expect_moves("e4")


def test_escape_is_not_now(page: Page, match: Match, complaints: Complaints) -> None:
    complaints.expect("401")
    page.goto(address(match))
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", level=1)).to_have_text("This match cannot be shown")
    expect(dialog_of(page)).to_have_count(0)


def test_who_may_only_read_is_told_why_they_cannot_pause(
    visitor: Visitor, client: httpx.Client, match: Match, complaints: Complaints
) -> None:
    complaints.expect("403", at_least=2)
    page = visitor.open()
    page.add_init_script(f"localStorage.setItem('kibitz.token', '{READER}')")
    page.goto(address(match))
    shown = MatchPage(page)
    shown.expect_moves("e4")
    page.get_by_text("Manage this match").click()
    shown.button("Pause").click()
    expect(dialog_of(page)).to_contain_text("may only read")
    shown.button("Not now").click()
    wrong = page.locator(".manage-panel").get_by_role("alert")
    expect(wrong).to_contain_text("may only read")
    assert look(client, match)["status"] == "running"
    shown.button("Pause").click()
    give(page, WRITER)
    expect(shown.status).to_have_text("Paused.")
    expect(wrong).to_be_empty()


def test_who_may_only_read_is_told_why_they_cannot_start(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expect("403")
    page = visitor.open()
    page.add_init_script(f"localStorage.setItem('kibitz.token', '{READER}')")
    page.goto("/new")
    page.get_by_role("button", name="Start the match").click()
    expect(dialog_of(page)).to_contain_text("may only read")
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_role("alert").filter(has_text="may only read")).to_be_visible()


def test_a_seat_is_played_with_its_own_token(
    visitor: Visitor, client: httpx.Client, complaints: Complaints
) -> None:
    """The stream needs a token of the service, and a move needs none."""
    complaints.expect("401", at_least=0)
    match = start(client)
    page = visitor.open(address(match, "white"))
    give(page, READER)
    shown = MatchPage(page)
    shown.drag("e2", "e4")
    shown.expect_moves("e4")
    assert page.url.endswith(address(match))


def test_hostile_reasons_are_texts(page: Page, match: Match, complaints: Complaints) -> None:
    complaints.expect("401")
    reason = "<img src=x onerror='window.hacked = true'>"
    page.on("dialog", _no_dialog)
    page.route(
        "**/events*",
        lambda route: route.fulfill(
            status=401,
            content_type="application/problem+json",
            json={"type": "/problems/unauthenticated", "detail": reason},
        ),
    )
    page.goto(address(match))
    expect(dialog_of(page)).to_contain_text(reason)
    assert page.evaluate("window.hacked") is None


def _no_dialog(dialog: Dialog) -> None:
    raise AssertionError(dialog.message)
