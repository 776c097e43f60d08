"""Games are played on the page, by mouse and by touch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Route, expect

from tests.app.http.match_service import Match, command, done, look, play, start
from tests.support.browser import Complaints, Visitor
from tests.web.match_page import PHONE, MatchPage, address, both_seats, box_of
from tests.web.short_game import START

#: White can castle on both sides; and the same in Chess960, where the king stands elsewhere.
CASTLING = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
CASTLING_960 = "4k3/8/8/8/8/8/8/1R3K1R w HB - 0 1"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROMOTING = "7k/P7/8/8/8/8/8/K7 w - - 0 1"


# --- whole games ---


def test_a_game_to_mate(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "human", "mated")
    shown = MatchPage.open(visitor, match, "white")
    expect(shown.page).to_have_url(re.compile(f"{address(match)}$"))  # without the secret
    assert match["seats"]["white"]["token"] not in shown.page.content()
    expect(shown.status).to_have_text("Your move: white to play.")
    expect(shown.page).to_have_title(re.compile("^● Your move"))
    expect(shown.bar("white")).to_contain_text("you")
    shown.drag("e2", "e4")
    shown.expect_moves("e4", "e5")
    shown.click("d1")
    shown.expect_marked("selected", "d1")
    shown.expect_marked("hint", "e2", "f3", "g4", "h5")
    shown.click("h5")
    shown.expect_moves("e4", "e5", "Qh5", "Nc6")
    shown.expect_marked("selected")
    shown.expect_marked("hint")
    shown.click("f1")
    shown.click("c4")
    shown.expect_moves("e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6")
    shown.click("h5")
    shown.expect_marked("hint.taking", "e5", "f7", "h7")
    shown.click("f7")
    expect(shown.status).to_have_text("1–0 White wins by checkmate.")
    shown.expect_marked("check", "e8")
    assert look(client, match)["outcome"]["termination"] == "checkmate"
    expect(shown.page.locator(".play-controls")).to_be_hidden()
    expect(shown.page.get_by_role("link", name="Rematch with colours swapped")).to_have_attribute(
        "href", "/new?white=mated&black=human&variant=standard"
    )


def test_black_sits_below_and_moves(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "mating", "human")
    shown = MatchPage.open(visitor, match, "black")
    shown.expect_moves("e4")
    assert box_of(shown.square("a8"))["y"] > box_of(shown.square("a1"))["y"]
    shown.drag("e7", "e5")
    shown.expect_moves("e4", "e5", "Qh5")


def test_a_phone(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "human", "mated")
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    shown = MatchPage.open(visitor, match, "white", **phone)
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.board.scroll_into_view_if_needed()
    shown.tap("e2")
    shown.expect_marked("hint", "e3", "e4")
    shown.tap("e4")
    shown.expect_moves("e4", "e5")
    shown.tap("d1", "h5")
    shown.expect_moves("e4", "e5", "Qh5", "Nc6")
    shown.tap("f1", "c4")
    shown.expect_moves("e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6")
    shown.tap("h5", "f7")
    expect(shown.status).to_have_text("1–0 White wins by checkmate.")


# --- what cannot be played ---


def test_what_cannot_be_played_is_explained(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    shown = MatchPage.open(visitor, match, "white")
    shown.drag("e2", "e5")
    expect(shown.message).to_have_text("e2–e5 is illegal: the piece does not move like that.")
    shown.expect_position(START)
    shown.drag("a1", "a3")
    expect(shown.message).to_have_text("a1–a3 is illegal: another piece is in the way.")
    shown.click("e7")
    expect(shown.message).to_have_text("That piece is Black's, and it is White's turn.")
    shown.click("e2", "e2")
    shown.expect_marked("selected")
    shown.click("e2", "d2")  # another piece is picked up instead
    shown.expect_marked("selected", "d2")
    shown.click("d4")
    shown.expect_moves("d4")
    expect(shown.message).to_be_empty()

    shown.drag("e2", "e4")  # out of turn
    expect(shown.message).to_have_text("It is Black's turn: wait for the move.")
    state = play(client, match, "d5")
    shown.expect_position(state["fen"])
    expect(shown.message).to_be_empty()  # it is no longer true
    shown.press("Home")
    shown.drag("e2", "e4")
    expect(shown.message).to_contain_text("You are looking at an earlier position.")
    shown.press("End")
    done(command(client, match, "pause"))
    expect(shown.status).to_have_text("Paused.")
    shown.drag("e2", "e4")
    expect(shown.message).to_have_text("The match is paused.")
    shown.expect_position(state["fen"])


def test_a_king_in_check(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, initial_fen="4k3/8/8/8/8/8/3P4/r3K3 w - - 0 1")
    shown = MatchPage.open(visitor, match, "white")
    shown.drag("d2", "d4")
    expect(shown.message).to_have_text(re.compile("^d2–d4 is illegal: .*king.*check"))
    shown.click("e1")
    shown.expect_marked("hint", "e2", "f2")


def before_the_legal_moves(visitor: Visitor, match: Match, fen: str, *squares: str) -> MatchPage:
    """Open a match and click squares before the legal moves have come; then they come."""
    page = visitor.open()
    waiting: list[Route] = []
    page.route(f"**/api/matches/{match['id']}", lambda route: waiting.append(route))
    page.goto(address(match, "white"))
    shown = MatchPage(page)
    shown.expect_position(fen)
    shown.click(*squares)
    page.evaluate("0")
    assert len(waiting) == 1
    waiting[0].continue_()
    return shown


def test_some_are_faster_than_the_legal_moves(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, initial_fen=PROMOTING)
    shown = before_the_legal_moves(visitor, match, PROMOTING, "a7", "a8")
    shown.button("Promote to queen").click()
    shown.expect_moves("a8=Q+")


@pytest.mark.parametrize(("rights", "moves"), [("HB", ["O-O-O"]), ("H", [])])
def test_some_castle_before_anybody_knows_whether_they_may(
    visitor: Visitor, client: httpx.Client, rights: str, moves: list[str]
) -> None:
    fen = CASTLING_960.replace("HB", rights)
    match = start(client, variant="chess960", initial_fen=fen)
    shown = before_the_legal_moves(visitor, match, fen, "f1", "b1")
    if not moves:  # so the rook was meant
        shown.expect_marked("selected", "b1")
    shown.expect_moves(*moves)


def test_a_drag_that_ends_nowhere(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    shown = MatchPage.open(visitor, match, "white")
    x, y = shown._middle("e2")
    mouse = shown.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 30, y - 30, steps=3)
    mouse.move(5, 300, steps=3)  # beside the board
    mouse.up()
    shown.expect_position(START)
    expect(shown.message).to_be_empty()
    shown.drag("e2", "e4")
    shown.expect_moves("e4")


def test_a_watcher_cannot_move(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    shown = MatchPage.open(visitor, match)
    shown.drag("e2", "e4")
    shown.expect_position(START)
    expect(shown.board.locator("svg")).to_have_attribute("role", "img")
    expect(shown.page.locator(".play-controls")).to_be_hidden()
    assert look(client, match)["ply_count"] == 0


# --- special moves ---


@pytest.mark.parametrize(("piece", "san"), [("queen", "a8=Q+"), ("knight", "a8=N")])
def test_a_pawn_becomes_what_is_chosen(
    visitor: Visitor, client: httpx.Client, piece: str, san: str
) -> None:
    match = start(client, initial_fen=PROMOTING)
    shown = MatchPage.open(visitor, match, "white")
    shown.drag("a7", "a8")
    choice = shown.page.get_by_role("dialog", name="Promote to")
    expect(choice.get_by_role("button")).to_have_count(4)
    choice.get_by_role("button", name=f"Promote to {piece}").click()
    shown.expect_moves(san)
    shown.expect_position(look(client, match)["fen"])


def test_a_promotion_is_thought_better_of(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, initial_fen=PROMOTING)
    shown = MatchPage.open(visitor, match, "white")
    choice = shown.page.get_by_role("dialog", name="Promote to")
    shown.click("a7", "a8")
    expect(choice).to_be_visible()
    shown.press("Escape")
    expect(choice).to_have_count(0)
    shown.expect_position(PROMOTING)
    shown.click("a7", "a8")
    expect(choice).to_be_visible()
    shown.click("e4")  # elsewhere
    expect(choice).to_have_count(0)
    shown.expect_position(PROMOTING)
    shown.click("a1", "b1")
    shown.expect_moves("Kb1")


def test_black_promotes_upside_down(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, initial_fen="7K/8/8/8/8/8/p7/7k b - - 0 1")
    shown = MatchPage.open(visitor, match, "black")
    shown.drag("a2", "a1")
    shown.button("Promote to knight").click()
    shown.expect_moves("a1=N")
    shown.expect_position("7K/8/8/8/8/8/8/n6k w - - 0 1")


@pytest.mark.parametrize(
    ("variant", "fen", "target", "san"),
    [
        ("standard", CASTLING, "g1", "O-O"),
        ("standard", CASTLING, "c1", "O-O-O"),
        ("chess960", CASTLING_960, "h1", "O-O"),
        ("chess960", CASTLING_960, "b1", "O-O-O"),
        ("chess960", CASTLING_960, "c1", "O-O-O"),
    ],
)
def test_castling(
    visitor: Visitor, client: httpx.Client, variant: str, fen: str, target: str, san: str
) -> None:
    match = start(client, variant=variant, initial_fen=fen)
    shown = MatchPage.open(visitor, match, "white")
    king = "e1" if variant == "standard" else "f1"
    if san == "O-O":
        shown.drag(king, target)
    else:
        shown.click(king, target)
    shown.expect_moves(san)
    shown.expect_position(look(client, match)["fen"])


def test_castling_onto_the_g_file(visitor: Visitor, client: httpx.Client) -> None:
    """Where the king cannot go there by a move of its own."""
    fen = "4k3/8/8/8/8/8/8/R2K3R w HA - 0 1"
    match = start(client, variant="chess960", initial_fen=fen)
    shown = MatchPage.open(visitor, match, "white")
    shown.click("d1")
    shown.expect_marked("hint.taking", "a1", "h1")
    shown.click("g1")
    shown.expect_moves("O-O")
    shown.expect_position(look(client, match)["fen"])


def test_en_passant(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, initial_fen="4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1")
    white, black = both_seats(visitor, match)
    black.drag("d7", "d5")
    white.expect_moves("d5")
    white.click("e5")
    white.expect_marked("hint", "d6", "e6")
    white.click("d6")
    for each in (white, black):
        each.expect_moves("d5", "exd6")
        each.expect_position("4k3/8/3P4/8/8/8/8/4K3 b - - 0 1")


@pytest.mark.parametrize("way", ["drag", "click"])
def test_castling_onto_the_rook(visitor: Visitor, client: httpx.Client, way: str) -> None:
    match = start(client, initial_fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    white, black = both_seats(visitor, match)
    getattr(white, way)("e1", "a1")
    white.expect_moves("O-O-O")
    getattr(black, way)("e8", "h8")
    black.expect_moves("O-O-O", "O-O")


def test_a_second_move_before_the_first_one_has_arrived(
    visitor: Visitor, client: httpx.Client
) -> None:
    shown = MatchPage.open(visitor, start(client), "white")
    held: list[Route] = []
    shown.page.route("**/moves", lambda route: held.append(route))
    with shown.page.expect_request("**/moves"):
        shown.drag("e2", "e4")
    shown.type_move("d4")
    expect(shown.message).to_have_text("Your move is on its way.")
    held[0].continue_()
    shown.expect_moves("e4")
    assert len(held) == 1


def test_legal_moves_are_asked_for_until_they_are_had(
    visitor: Visitor, client: httpx.Client, complaints: Complaints
) -> None:
    complaints.expect("503")
    match = start(client, initial_fen="8/4P3/8/8/8/k7/8/K7 w - - 0 1")
    page = visitor.open()
    asked: list[Route] = []

    def answer(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            route.fulfill(status=503, json={"detail": "busy"})
        else:
            route.continue_()

    page.route(f"**/api/matches/{match['id']}", answer)
    # No frame is drawn before they are refused, and nobody asks again before that was seen.
    page.clock.install(time=NOW)
    page.clock.pause_at(NOW + timedelta(seconds=1))
    with page.expect_response(lambda response: response.status == 503):
        page.goto(address(match, "white"))
    page.wait_for_function("document.querySelector('.play-message').textContent", polling=50)
    page.clock.run_for(300)
    shown = MatchPage(page)
    expect(shown.message).to_have_text("Busy.")
    assert len(asked) == 1
    page.clock.resume()
    shown.click("e7")
    shown.expect_marked("hint", "e8")
