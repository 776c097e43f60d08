"""King's Cooking on the page: a small board, and courts beyond its edges."""

from __future__ import annotations

import httpx
from playwright.sync_api import expect

from tests.app.http.match_service import Match, look, play, start
from tests.support.browser import Visitor, check_accessibility
from tests.web.match_page import PHONE, MatchPage

START = "rnb/3/RNB w - - - - 1"
#: Where from and where to, in writing, and what is there after it. Both sides take and leave.
GAME = [
    ("b1", "c3", "Nxc3", "rnN/3/R1B b - - - b 1"),
    ("b3", "c1", "Nxc1", "r1N/3/R1n w - - B b 2"),
    ("a1", "a3", "Rxa3", "R1N/3/2n b - - B rb 2"),
    ("c1", "white", "Noff", "R1N/3/3 w n - B rb 3"),
    ("c3", "black", "Noff", "R2/3/3 b n N B rb 3"),
]


def cooking(client: httpx.Client, white: str = "human", black: str = "human") -> Match:
    return start(client, white, black, variant="kings-cooking")


def expect_courts(shown: MatchPage, fen: str) -> None:
    """See what lies in the courts: what scored there, and a captor's own captures."""
    _, _, in_whites, in_blacks, captured_white, captured_black, _ = fen.replace("-", "").split(" ")
    wanted = {
        "white": {"scored": len(in_whites), "captured": len(captured_black)},
        "black": {"scored": len(in_blacks), "captured": len(captured_white)},
    }
    for color, kinds in wanted.items():
        for kind, count in kinds.items():
            row = shown.board.locator("g").filter(has=shown.page.locator(f"[data-square={color}]"))
            expect(row.last.locator(f".court-pieces .{kind}")).to_have_count(count)


def expect_shown(shown: MatchPage, fen: str) -> None:
    shown.expect_position(fen)
    expect_courts(shown, fen)


def test_a_game_by_mouse(visitor: Visitor, client: httpx.Client) -> None:
    match = cooking(client)
    pages = [MatchPage.open(visitor, match, color) for color in ("white", "black")]
    watcher = MatchPage.open(visitor, match)
    expect(watcher.page.locator(".match-facts")).to_contain_text("King's Cooking")
    for number, (origin, target, _, fen) in enumerate(GAME):
        hand = pages[number % 2]
        if number % 2:
            hand.click(origin, target)
        else:
            hand.drag(origin, target)
        for each in (*pages, watcher):
            each.expect_moves(*(san for _, _, san, _ in GAME[: number + 1]))
            expect_shown(each, fen)
    for each in (*pages, watcher):
        expect(each.status).to_contain_text("½–½")
    expect(watcher.speaker).to_contain_text("Black: knight leaves the board.")
    assert look(client, match)["outcome"]["termination"] == "no_moves"
    watcher.press("Home")
    expect_shown(watcher, START)
    watcher.press("f")
    expect_shown(watcher, START)
    watcher.press("End")
    expect_shown(watcher, GAME[-1][3])


def test_a_court_is_a_hint(visitor: Visitor, client: httpx.Client) -> None:
    match = cooking(client)
    play(client, match, "Nxc3 Nxc1 Rxa3")
    shown = MatchPage.open(visitor, match, "black")
    shown.expect_moves("Nxc3", "Nxc1", "Rxa3")
    shown.click("c1")
    shown.expect_marked("hint", "a2", "b3", "white")
    shown.click("black")
    expect(shown.message).to_have_text(
        "Pieces leave the board over the opponent's edge, never over their own."
    )
    shown.expect_position(GAME[2][3])


def test_what_may_not_leave_is_told(visitor: Visitor, client: httpx.Client) -> None:
    match = cooking(client)
    shown = MatchPage.open(visitor, match, "white")
    shown.drag("b1", "black")
    expect(shown.message).to_have_text(
        "b1–off is illegal: the piece may not leave the board from there."
    )
    shown.drag("a1", "b2")
    expect(shown.message).to_have_text("a1–b2 is illegal: the piece does not move like that.")
    shown.expect_position(START)
    expect(shown.button("Claim a draw")).to_have_count(0)
    shown.type_move("Ra2")
    shown.expect_moves("Ra2")


def test_a_game_by_keyboard(visitor: Visitor, client: httpx.Client) -> None:
    match = cooking(client)
    white, black = (MatchPage.open(visitor, match, color) for color in ("white", "black"))
    keys = [
        (white, ["ArrowRight", "Enter", "ArrowRight", "ArrowUp", "ArrowUp", "Enter"]),
        # Who has Black sees the board from the other side.
        (black, ["ArrowRight", "Enter", "ArrowLeft", "ArrowUp", "ArrowUp", "Enter"]),
        (
            white,
            [
                "ArrowDown",
                "ArrowDown",
                "ArrowLeft",
                "ArrowLeft",
                "Enter",
                "ArrowUp",
                "ArrowUp",
                "Enter",
            ],
        ),
        (black, ["Enter", "ArrowUp", "Enter"]),
        (white, ["ArrowRight", "ArrowRight", "Enter", "ArrowUp", "Enter"]),
    ]
    white.square("a1").focus()
    black.square("c3").focus()
    for (shown, pressed), (_, target, san, fen), number in zip(
        keys, GAME, range(1, 6), strict=True
    ):
        shown.press(*pressed)
        for each in (white, black):
            expect(each.moves).to_have_count(number)
            expect(each.moves.last).to_have_text(san)
            expect_shown(each, fen)
        if number < len(GAME):
            assert shown.focused() == target
    expect(white.status).to_contain_text("½–½")
    assert white.focused().startswith("½–½")


def test_a_small_board_on_a_phone(visitor: Visitor, client: httpx.Client) -> None:
    match = cooking(client)
    shown = MatchPage.open(visitor, match, "white", viewport=PHONE, has_touch=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.board.scroll_into_view_if_needed()
    shown.tap("a1", "a3")
    shown.expect_moves("Rxa3")
    check_accessibility(shown.page)


def test_a_program_is_played_against(visitor: Visitor, client: httpx.Client) -> None:
    match = cooking(client, black="random")
    shown = MatchPage.open(visitor, match, "white")
    shown.drag("a1", "a3")
    expect(shown.moves).to_have_count(2)
    shown.expect_position(look(client, match)["fen"])
