"""Who has a seat, and what they do besides moving: offer, wish, resign, run out of time."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.app.http.match_service import Match, look, play, start
from tests.support.browser import Complaints, Visitor
from tests.web.match_page import MatchPage, address, both_seats, box_of
from tests.web.short_game import START


def at_both(visitor: Visitor, match: Match, **options: Any) -> MatchPage:
    """Return the page of somebody who sits at both sides."""
    shown = MatchPage.open(visitor, match, "white", **options)
    shown.page.goto(address(match, "black"))  # only the fragment is another
    expect(shown.bar("black")).to_contain_text("you")
    return shown


# --- invitations ---


def test_both_seats_in_one_browser(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    shown = at_both(visitor, match)
    expect(shown.page).to_have_url(re.compile(f"{address(match)}$"))
    shown.drag("e2", "e4")
    shown.expect_moves("e4")
    shown.drag("e7", "e5")
    shown.expect_moves("e4", "e5")
    expect(shown.button("Offer a draw")).to_have_count(0)  # nobody asks themselves
    shown.button("Take back").click()
    shown.expect_moves("e4")
    shown.button("Agree a draw").click()
    shown.button("Yes, a draw").click()
    expect(shown.status).to_have_text(re.compile("^½–½ "))


def test_invitations_are_handed_on(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    permissions = ["clipboard-read", "clipboard-write"]
    shown = MatchPage.open(visitor, match, "white", permissions=permissions)
    expect(shown.button("Copy Black's seat")).to_have_count(0)
    shown.button("Copy White's seat").click()
    expect(shown.page.get_by_text("The link to White's seat is copied.")).to_be_visible()
    link = shown.page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(address(match, "white"))
    other = MatchPage(visitor.open(link))
    other.drag("e2", "e4")
    shown.expect_moves("e4")


def test_a_made_up_invitation(
    visitor: Visitor, client: httpx.Client, complaints: Complaints
) -> None:
    match = start(client)
    page = visitor.open(address(match, "white"))
    shown = MatchPage(page)
    expect(shown.bar("white")).to_contain_text("you")
    page.goto(f"{address(match)}#seat=white:somebody-made-this-up")
    expect(page).to_have_url(re.compile(f"{address(match)}$"))
    shown.drag("e2", "e4")  # the seat is ours still
    shown.expect_moves("e4")

    complaints.expect("403")
    other = MatchPage(visitor.open(f"{address(match)}#seat=black:somebody-made-this-up"))
    other.drag("e7", "e5")
    expect(other.page.get_by_role("alert").filter(has_text="token")).to_be_visible()
    expect(other.page.locator(".play-controls")).to_be_hidden()
    other.page.goto(address(match, "black"))  # and now with the right one
    expect(other.bar("black")).to_contain_text("you")
    other.drag("e7", "e5")
    other.expect_moves("e4", "e5")


@pytest.mark.parametrize("fragment", ["#seat=green:0123456789", "#seat=white:<script>", "#seat="])
def test_other_fragments_do_nothing(visitor: Visitor, client: httpx.Client, fragment: str) -> None:
    match = start(client)
    shown = MatchPage(visitor.open(address(match) + fragment))
    expect(shown.status).to_have_text("White to move.")
    expect(shown.page.locator(".play-controls")).to_be_hidden()


# --- besides moves ---


def test_draws_are_offered_declined_and_accepted(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    white, black = both_seats(visitor, match)
    white.button("Offer a draw").click()
    expect(white.page.get_by_text("Your offer of a draw stands.")).to_be_visible()
    expect(white.button("Offer a draw")).to_be_disabled()
    offer = black.page.get_by_role("group", name="White offers a draw.")
    expect(black.speaker).to_contain_text("White offers a draw.")
    offer.get_by_role("button", name="Decline").click()
    expect(offer).to_have_count(0)
    expect(white.speaker).to_contain_text("Black declines the draw.")
    expect(white.page.get_by_text("Your offer of a draw stands.")).to_have_count(0)
    white.button("Offer a draw").click()
    offer.get_by_role("button", name="Accept").click()
    for each in (white, black):
        expect(each.status).to_have_text(re.compile("^½–½ Draw by agreement"))
        expect(each.bar("white").locator(".player-result")).to_have_text("½")
        expect(each.page.locator(".play-notices .notice")).to_have_count(0)  # nothing to answer


def test_an_offer_lapses_with_the_move_of_who_got_it(
    visitor: Visitor, client: httpx.Client
) -> None:
    match = start(client)
    white, black = both_seats(visitor, match)
    white.button("Offer a draw").click()
    expect(white.page.get_by_text("Your offer of a draw stands.")).to_be_visible()
    white.drag("e2", "e4")  # which keeps it
    offer = black.page.get_by_role("group", name="White offers a draw.")
    black.expect_moves("e4")
    expect(offer).to_be_visible()
    black.drag("e7", "e5")
    expect(offer).to_have_count(0)
    white.expect_moves("e4", "e5")
    expect(white.page.get_by_text("Your offer of a draw stands.")).to_have_count(0)
    assert look(client, match)["draw_offer"] is None


def test_a_draw_is_claimed(visitor: Visitor, client: httpx.Client, complaints: Complaints) -> None:
    complaints.expect("409")
    match = start(client)
    white, _ = both_seats(visitor, match)
    white.button("Claim a draw").click()
    expect(white.message).to_contain_text("the position has not occurred three times")
    play(client, match, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8")
    expect(white.moves).to_have_count(8)
    white.button("Claim a draw").click()
    expect(white.status).to_have_text(re.compile("^½–½ Draw: the position occurred three times"))


def test_a_move_is_taken_back(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    white, black = both_seats(visitor, match)
    expect(white.button("Take back")).to_be_disabled()
    white.drag("e2", "e4")
    black.expect_moves("e4")
    black.drag("e7", "e5")
    white.expect_moves("e4", "e5")
    white.button("Take back").click()
    wish = black.page.get_by_role("group", name="White asks to take back.")
    wish.get_by_role("button", name="Decline").click()
    expect(white.speaker).to_contain_text("Black does not let it be taken back.")
    white.button("Take back").click()
    expect(white.page.get_by_text("You have asked to take back.")).to_be_visible()
    wish.get_by_role("button", name="Accept").click()
    for each in (white, black):
        each.expect_moves()
        each.expect_position(START)
    white.drag("d2", "d4")
    for each in (white, black):
        each.expect_moves("d4")


def test_a_program_agrees_at_once(visitor: Visitor, client: httpx.Client) -> None:
    shown = MatchPage.open(visitor, match := start(client, "human", "mated"), "white")
    shown.drag("d2", "d4")
    shown.expect_moves("d4", "e5")
    shown.button("Take back").click()
    shown.expect_moves()
    shown.expect_position(START)
    shown.drag("e2", "e4")
    shown.expect_moves("e4", "Nc6")
    assert look(client, match)["ply_count"] == 2


def test_resigning_is_confirmed(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    white, black = both_seats(visitor, match)
    black.button("Resign").click()
    black.button("No").click()
    assert look(client, match)["status"] == "running"
    black.button("Resign").click()
    expect(black.page.get_by_text("Resign as Black?")).to_be_visible()
    black.button("Offer a draw").wait_for(state="detached")
    black.button("Yes, resign").click()
    for each in (white, black):
        expect(each.status).to_have_text("1–0 White wins: Black resigned.")


def test_a_flag_falls(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, time_control="2")
    white, black = both_seats(visitor, match)
    clock = white.bar("white").get_by_role("timer")
    expect(clock).to_have_text(re.compile(r"^00:0\d\.\d$"))
    for each in (white, black):
        expect(each.status).to_have_text(re.compile("^0–1 Black wins on time"))
    expect(clock).to_have_text("00:00.0")
    expect(white.bar("black").get_by_role("timer")).to_have_text("00:02.0")
    expect(white.page.locator(".play-controls")).to_be_hidden()


def test_who_plays_is_not_helped_unless_they_wish(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, {"name": "classical", "nodes": 1000}, "human")
    shown = MatchPage.open(visitor, match, "black")
    watcher = MatchPage.open(visitor, match)
    for each in (shown, watcher):
        expect(each.moves).to_have_count(1)
    expect(watcher.advice).to_be_visible()
    expect(shown.advice).to_be_hidden()
    expect(shown.page.locator(".evaluation-bar")).to_be_hidden()
    shown.page.get_by_label("Show evaluations and advice while I play").check()
    expect(shown.advice).to_be_visible()
    shown.button("Resign").click()
    shown.button("Yes, resign").click()
    expect(shown.status).to_contain_text("Black resigned")
    expect(shown.advice).to_be_visible()


def test_a_seat_is_left_to_somebody_else(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    permissions = ["clipboard-read", "clipboard-write"]
    shown = at_both(visitor, match, permissions=permissions)
    shown.button("Copy Black's seat").click()
    shown.button("Leave Black to them").click()
    expect(shown.bar("black")).not_to_contain_text("you")
    expect(shown.button("Offer a draw")).to_be_visible()
    other = MatchPage(visitor.open(shown.page.evaluate("navigator.clipboard.readText()")))
    shown.drag("e2", "e4")
    other.expect_moves("e4")
    other.drag("e7", "e5")
    shown.expect_moves("e4", "e5")


def test_both_sides_are_one_persons(visitor: Visitor, client: httpx.Client) -> None:
    """Who sits at both need not agree with themselves."""
    match = start(client)
    shown = at_both(visitor, match)
    shown.drag("e2", "e4")
    shown.expect_moves("e4")
    shown.button("Take back").click()
    shown.expect_moves()
    shown.expect_position(START)


def test_whoever_has_both_seats_is_asked_by_the_one_they_gave_away(
    visitor: Visitor, client: httpx.Client
) -> None:
    match = start(client)
    host, guest = at_both(visitor, match), MatchPage.open(visitor, match, "black")
    host.drag("e2", "e4")
    guest.drag("e7", "e5")
    guest.button("Offer a draw").click()
    offer = host.page.get_by_role("group", name="Black offers a draw.")
    offer.get_by_role("button", name="Decline").click()
    expect(offer).to_have_count(0)
    guest.button("Take back").click()
    host.page.get_by_role("group", name="Black asks to take back.").get_by_role(
        "button", name="Accept"
    ).click()
    guest.expect_moves("e4")
    guest.button("Offer a draw").click()
    expect(offer).to_be_visible()
    host.button("Agree a draw").click()  # there is half of it already
    host.button("Yes, a draw").click()
    expect(guest.status).to_have_text(re.compile("^½–½ Draw by agreement"))


def test_a_seat_can_be_left_where_there_is_no_clipboard(
    visitor: Visitor, client: httpx.Client
) -> None:
    match = start(client)
    page = visitor.open()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(address(match, "white"))
    shown = MatchPage(page)
    expect(shown.bar("white")).to_contain_text("you")
    page.goto(address(match, "black"))
    shown.button("Copy Black's seat").click()
    link = page.get_by_label("To be copied").input_value()
    assert link.endswith(address(match, "black"))
    shown.button("Leave Black to them").click()
    expect(shown.bar("black")).not_to_contain_text("you")


def test_a_second_click_where_one_resigns_hits_nothing_else(
    visitor: Visitor, client: httpx.Client
) -> None:
    shown = MatchPage.open(visitor, start(client), "white")
    button = box_of(shown.button("Resign"))
    checkbox = shown.page.get_by_label("Show evaluations and advice while I play")
    before = box_of(checkbox)
    middle = (button["x"] + button["width"] / 2, button["y"] + button["height"] / 2)
    shown.page.mouse.dblclick(*middle)
    expect(checkbox).not_to_be_checked()
    expect(shown.status).to_have_text("Your move: white to play.")
    assert box_of(checkbox) == before


def test_a_declined_draw_is_told(visitor: Visitor, client: httpx.Client) -> None:
    """A player that is no human declines by playing on."""
    shown = MatchPage.open(visitor, start(client, "human", "mated"), "white")
    shown.drag("e2", "e4")
    shown.expect_moves("e4", "e5")
    shown.button("Offer a draw").click()
    expect(shown.page.get_by_text("Your offer of a draw stands.")).to_be_visible()
    shown.drag("d2", "d4")
    expect(shown.page.get_by_text("Black declined the draw.")).to_be_visible()
    shown.drag("g1", "f3")
    expect(shown.page.get_by_text("Black declined the draw.")).to_have_count(0)
