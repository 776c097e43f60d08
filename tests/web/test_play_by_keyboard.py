"""Games are played on the page without a mouse: by walking the board, and by typing moves."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.app.http.match_service import look, play, start
from tests.support.browser import Visitor
from tests.web.match_page import MatchPage
from tests.web.short_game import SANS, START


def walk(shown: MatchPage, target: str) -> None:
    """Go to a square by arrow keys, from where the focus is on the board."""
    here = shown.focused()
    files, ranks = ord(target[0]) - ord(here[0]), int(target[1]) - int(here[1])
    shown.press(*["ArrowRight" if files > 0 else "ArrowLeft"] * abs(files))
    shown.press(*["ArrowUp" if ranks > 0 else "ArrowDown"] * abs(ranks))
    assert shown.focused() == target


def tab_to(shown: MatchPage, wanted: str) -> list[str]:
    """Press Tab until something has the focus; return all that had it on the way."""
    passed = []
    for _ in range(80):
        shown.press("Tab")
        passed.append(shown.focused())
        if passed[-1] == wanted:
            return passed
    raise AssertionError(f"no {wanted} among {passed}")


def move(shown: MatchPage, origin: str, target: str) -> None:
    """Pick a piece up, and put it down."""
    walk(shown, origin)
    shown.press("Enter")
    shown.expect_marked("selected", origin)
    walk(shown, target)
    shown.press("Enter")
    assert shown.focused() == target


def test_a_whole_game_by_arrow_keys(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "human", "mated")
    shown = MatchPage.open(visitor, match, "white")
    expect(shown.board.get_by_role("grid")).to_have_attribute(
        "aria-label", re.compile("Arrow keys walk, Enter picks up and puts down")
    )
    tab_to(shown, "a1")
    shown.expect_marked("cursor", "a1")
    shown.press("ArrowLeft", "ArrowDown")  # there is nothing beyond
    assert shown.focused() == "a1"
    expect(shown.square("a1")).to_have_attribute("aria-label", "a1, white rook")
    expect(shown.square("e4")).to_have_attribute("aria-label", "e4, empty")

    walk(shown, "e2")
    shown.press("Enter")
    expect(shown.message).to_have_text("White pawn e2 picked up; it can go to e3, e4.")
    shown.expect_marked("hint", "e3", "e4")
    shown.press("Escape")
    expect(shown.message).to_have_text("Put back.")
    shown.expect_marked("selected")
    shown.press("Enter")
    walk(shown, "e5")
    shown.press("Enter")
    expect(shown.message).to_have_text("e2–e5 is illegal: the piece does not move like that.")
    shown.press("Enter")
    expect(shown.message).to_have_text("There is no piece on e5.")
    shown.press("ArrowUp", "ArrowUp", "Enter")
    expect(shown.message).to_have_text("That piece is Black's, and it is White's turn.")

    for origin, target, moves in [("e2", "e4", 2), ("d1", "h5", 4), ("f1", "c4", 6)]:
        move(shown, origin, target)
        shown.expect_moves(*SANS[:moves])
        assert shown.focused() == target  # also when the answer has come
        expect(shown.square("e4")).to_have_attribute("aria-label", "e4, white pawn")
    walk(shown, "h5")
    shown.press(" ")
    walk(shown, "f7")
    shown.press(" ")
    expect(shown.status).to_have_text("1–0 White wins by checkmate.")
    shown.expect_moves(*SANS)
    assert shown.focused() == "1–0 White wins by checkmate."  # the board is a picture now
    shown.press("ArrowLeft")  # and arrow keys leaf
    expect(shown.current).to_have_text("Nf6")


def test_keys_on_the_board_of_black(visitor: Visitor, client: httpx.Client) -> None:
    """What is to the right for the eye is to the right for the key."""
    match = start(client, "mating", "human")
    shown = MatchPage.open(visitor, match, "black")
    shown.expect_moves("e4")
    tab_to(shown, "h8")
    shown.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp")
    assert shown.focused() == "e7"
    shown.press("Enter", "ArrowUp", "ArrowUp")
    assert shown.focused() == "e5"
    shown.press("Enter")
    shown.expect_moves("e4", "e5", "Qh5")
    assert shown.focused() == "e5"


def test_keys_out_of_turn(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    shown = MatchPage.open(visitor, match, "black")
    shown.square("e7").focus()
    shown.press("Enter")
    expect(shown.message).to_have_text("It is White's turn: wait for the move.")
    shown.expect_marked("selected", "e7")
    shown.press("ArrowUp", "Enter")
    expect(shown.message).to_have_text("It is White's turn: wait for the move.")
    shown.expect_marked("selected")
    state = play(client, match, "e4")
    shown.expect_position(state["fen"])
    assert shown.focused() != ""


@pytest.mark.parametrize(
    ("keys", "san"),
    [
        (["Enter"], "a8=Q+"),
        (["ArrowDown", "Enter"], "a8=N"),
        (["ArrowRight", "ArrowRight", "Enter"], "a8=R+"),
        (["ArrowUp", "Enter"], "a8=B"),
        (["Tab", "Enter"], "a8=N"),
    ],
)
def test_a_promotion_by_keys(
    visitor: Visitor, client: httpx.Client, keys: list[str], san: str
) -> None:
    match = start(client, initial_fen="7k/P6p/8/8/8/8/7P/K7 w - - 0 1")
    shown = MatchPage.open(visitor, match, "white")
    shown.square("a7").focus()
    shown.press("Enter", "ArrowUp", "Enter")
    choice = shown.page.get_by_role("dialog", name="Promote to")
    expect(choice.get_by_role("button", name="Promote to queen")).to_be_focused()
    shown.press("Escape")
    expect(choice).to_have_count(0)
    assert shown.focused() == "a8"
    shown.press("ArrowDown", "Enter", "ArrowUp", "Enter")
    expect(choice).to_be_visible()
    shown.press(*keys)
    shown.expect_moves(san)
    assert shown.focused() == "a8"


def test_a_whole_game_by_typing(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "human", "mated")
    shown = MatchPage.open(visitor, match, "white")
    field = shown.page.get_by_label("Your move")
    field.focus()
    wrong = {
        "": "Type a move, such as Nf3 or e2e4.",
        "e5": "e5 is illegal: ",
        "nonsense": "'nonsense' cannot be read as a move.",
        "Ke2": "Ke2 is illegal: a piece of the same side stands on the target square.",
        "<b>e4</b>": "cannot be read as a move.",
    }
    for text, why in wrong.items():
        field.fill(text)
        shown.press("Enter")
        expect(shown.message).to_contain_text(why)
        assert shown.message.inner_text().count(". ") == 0  # one sentence
        expect(field).to_have_value(text)
        assert shown.focused() == "typed-move"
    moves = {"1. e4": 2, "d1h5": 4, "Bf1-c4": 6}
    for text, plies in moves.items():
        field.fill(text)
        shown.press("Enter")
        shown.expect_moves(*SANS[:plies])
        expect(field).to_have_value("")
        expect(shown.message).to_be_empty()
        assert shown.focused() == "typed-move"
    field.fill("queen takes f7")
    shown.press("Enter")
    expect(shown.message).to_contain_text("cannot be read as a move.")
    field.fill("♕xf7")
    shown.press("Enter")
    expect(shown.status).to_have_text("1–0 White wins by checkmate.")
    assert shown.focused() == "1–0 White wins by checkmate."
    assert look(client, match)["ply_count"] == 7


def test_typing_out_of_turn_and_while_leafing(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    shown = MatchPage.open(visitor, match, "white")
    shown.type_move("e4")
    shown.expect_moves("e4")
    shown.type_move("d4")
    expect(shown.message).to_have_text("It is Black's turn: wait for the move.")
    play(client, match, "e5")
    shown.expect_moves("e4", "e5")
    shown.moves.first.focus()
    shown.press("Home")
    shown.expect_position(START)
    shown.type_move("Nf3")  # which is meant for the latest position
    shown.expect_moves("e4", "e5", "Nf3")
    expect(shown.current).to_have_text("Nf3")


def test_an_ambiguous_move_is_explained(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, initial_fen="4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    shown = MatchPage.open(visitor, match, "white")
    shown.type_move("Rd1")
    expect(shown.message).to_contain_text("ambiguous")
    shown.type_move("Rhd1")
    shown.expect_moves("Rhd1")


def test_everything_is_reached_by_tab(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, opening="e4 e5")
    shown = MatchPage.open(visitor, match, "white")
    shown.expect_moves("e4", "e5")
    passed = tab_to(shown, "Manage this match")
    assert "" not in passed
    assert not any(each.startswith("Board") for each in passed)  # only one square is a stop
    wanted = [
        "Skip to content", "Kibitz", "Matches", "a1", "First position", "Back", "Forward",
        "Latest position", "Flip the board", "typed-move", "Play", "Offer a draw", "Claim a draw",
        "Resign", "Moves", "e4", "e5", "Copy White's seat", "Copy link", "Copy PGN",
        "Download PGN", "Copy FEN", "Copy embed code", "board.svg",
    ]  # fmt: skip
    assert [each for each in passed if each in wanted] == wanted
    shown.press("Enter")
    assert tab_to(shown, "Abort") == ["manage-reason", "Pause", "Abort"]


def test_skipping_to_the_content_changes_nothing(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, opening="e4 e5")
    shown = MatchPage.open(visitor, match, "white")
    shown.expect_moves("e4", "e5")
    shown.press("ArrowLeft")
    expect(shown.current).to_have_text("e4")
    with shown.page.expect_event("framenavigated"):
        shown.press("Tab", "Enter")
    assert shown.focused() == "main"
    expect(shown.current).to_have_text("e4")
    play(client, match, "Nf3")
    shown.expect_moves("e4", "e5", "Nf3")
    expect(shown.current).to_have_text("e4")  # the same page, where it was


def test_the_focus_stays_at_what_is_done(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client)
    white = MatchPage.open(visitor, match, "white")
    black = MatchPage.open(visitor, match, "black")
    white.button("Offer a draw").focus()
    white.press("Enter")
    expect(white.page.get_by_text("Your offer of a draw stands.")).to_be_visible()
    assert white.focused() != ""
    black.button("Decline").focus()
    black.press("Enter")
    expect(black.page.get_by_role("group", name="White offers a draw.")).to_have_count(0)
    assert black.focused() != ""
    white.button("Resign").focus()
    white.press("Enter")
    assert white.focused() == "Yes, resign"
    white.press("Tab", "Enter")  # no
    assert white.focused() != ""
    white.button("Flip the board").focus()
    white.press("Enter")
    assert white.focused() == "Flip the board"
    black.square("e7").focus()
    play(client, match, "e4")
    black.expect_moves("e4")
    assert black.focused() == "e7"
    white.button("Resign").focus()
    white.press("Enter", "Enter")
    expect(white.status).to_have_text("0–1 Black wins: White resigned.")
    assert white.focused() == "0–1 Black wins: White resigned."
    expect(black.status).to_have_text("0–1 Black wins: White resigned.")
    assert black.focused() == "0–1 Black wins: White resigned."


def test_flipping_keeps_the_square(visitor: Visitor, client: httpx.Client) -> None:
    shown = MatchPage.open(visitor, start(client), "white")
    shown.square("a1").focus()
    shown.press("ArrowRight", "ArrowUp")
    assert shown.focused() == "b2"
    shown.press("f")
    assert shown.focused() == "b2"
    shown.press("ArrowRight")
    assert shown.focused() == "a2"
