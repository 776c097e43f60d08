"""What every address of the page has in common: header, theme, phone, labels, and the way back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Complaints, Visitor, check_accessibility

ADDRESSES = {
    "/": "Matches",
    "/new": "New match",
    "/evaluations": "Evaluations",
    "/evaluations/new": "New evaluation",
    "/leaderboard": "Leaderboard",
    "/compare": "Compare",
}
NOWHERE = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"
PHONE = {"width": 360, "height": 740}
#: The colours of `--page` in `styles/base.css`.
LIGHT, DARK = "rgb(246, 245, 240)", "rgb(23, 26, 22)"


def expect_heading(page: Page, text: str) -> None:
    """See that a view is shown, and that it has one heading of the first order."""
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


@pytest.mark.parametrize(("address", "heading"), ADDRESSES.items())
@pytest.mark.parametrize("look", ["in the light", "on a phone in the dark"])
def test_every_view_is_for_everybody(
    visitor: Visitor, address: str, heading: str, look: str
) -> None:
    is_dark = look.endswith("dark")
    size = {"viewport": PHONE} if "phone" in look else {}
    page = visitor.open(address, color_scheme="dark" if is_dark else "light", **size)
    expect_heading(page, heading)
    expect(page).to_have_title(f"{heading} – Kibitz")
    expect(page.locator("body")).to_have_css("background-color", DARK if is_dark else LIGHT)
    page.wait_for_load_state()
    check_accessibility(page)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"it has to be scrolled sideways by {wide} pixels"


def test_the_theme_can_be_chosen_and_is_kept(visitor: Visitor) -> None:
    page = visitor.open("/leaderboard", color_scheme="dark")
    body = page.locator("body")
    button = page.get_by_role("button", name="Theme")
    expect(body).to_have_css("background-color", DARK)
    button.click()
    expect(button).to_have_accessible_name("Theme: light")
    expect(body).to_have_css("background-color", LIGHT)
    page.reload()
    expect(body).to_have_css("background-color", LIGHT)
    button.click()
    expect(button).to_have_accessible_name("Theme: dark")
    button.click()
    expect(button).to_have_accessible_name("Theme: as the system")
    expect(body).to_have_css("background-color", DARK)


@pytest.mark.parametrize(
    ("wish", "duration"), [("reduce", "0s"), ("no-preference", "0.18s")], ids=["less", "any"]
)
def test_whoever_wants_less_motion_gets_none(visitor: Visitor, wish: str, duration: str) -> None:
    page = visitor.open("/new", reduced_motion=wish)
    page.locator("kibitz-board .board").evaluate("(drawn) => drawn.classList.remove('still')")
    piece = page.locator("kibitz-board .pieces .piece").first
    expect(piece).to_have_css("transition-duration", duration)


def test_links_are_followed_without_loading_and_the_way_back_works(page: Page) -> None:
    page.goto("/")
    page.evaluate("window.isTheSame = true")
    navigation = page.get_by_role("navigation", name="Pages")
    for name in ("Evaluations", "Leaderboard", "Compare"):
        navigation.get_by_role("link", name=name).click()
        expect_heading(page, name)
        expect(navigation.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
        expect(page.get_by_role("main")).to_be_focused()
    page.go_back()
    expect_heading(page, "Leaderboard")
    page.go_back()
    page.go_back()
    expect_heading(page, "Matches")
    page.go_forward()
    expect_heading(page, "Evaluations")
    assert page.evaluate("window.isTheSame")


def test_the_keyboard_skips_what_is_on_every_page(page: Page) -> None:
    page.goto("/leaderboard")
    expect_heading(page, "Leaderboard")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


@pytest.mark.parametrize("room", ["matches", "evaluations"])
def test_what_is_not_there_is_said(page: Page, complaints: Complaints, room: str) -> None:
    complaints.expect("404")
    page.goto(f"/{room}/{NOWHERE}")
    expect(page.get_by_role("alert").filter(has_text="there is no")).to_be_visible()
    check_accessibility(page)


def test_nothing_that_a_page_does_breaks_its_policy(page: Page) -> None:
    page.add_init_script(
        "window.broken = []; document.addEventListener('securitypolicyviolation',"
        " (event) => window.broken.push(event.violatedDirective));"
    )
    for address, heading in ADDRESSES.items():
        page.goto(address)
        expect_heading(page, heading)
        page.wait_for_load_state()
        assert page.evaluate("window.broken") == []


@pytest.mark.parametrize("address", ["/matches/", "/nowhere", "/evaluations/a/b"])
def test_where_there_is_nothing_the_page_says_so(
    page: Page, complaints: Complaints, address: str
) -> None:
    complaints.expect("404")
    page.goto(address)
    expect_heading(page, "There is nothing here")
    page.get_by_role("link", name="To the matches").click()
    expect_heading(page, "Matches")
