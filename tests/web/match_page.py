"""The page of a match, as a person sees it and as a hand moves on it.

    shown = MatchPage.open(visitor, match)
    shown.expect_position(fen)
    shown.drag("e2", "e4")
    expect(shown.status).to_have_text("Black to move.")

Pieces are read from the drawing: which outline lies over which square.
"""

from __future__ import annotations

import re
from typing import Any, Self

from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.app.http.match_service import Match
from tests.support.browser import Visitor
from tests.support.processes import HANGS_AFTER

PHONE = {"width": 390, "height": 844}

#: Reads what is drawn: pieces by square, or the squares that have a mark.
_DRAWN = """
async ([assets, kind, wanted, patience]) => {
  const { OUTLINES } = await import(`${assets}/board/outlines.js`);
  const kinds = new Map(Object.entries(OUTLINES).map(([letter, each]) => [each.outline, letter]));
  const place = (each) => ["x", "y", "width"].map((name) => each.getAttribute(name)).join(" ");
  const places = () => {
    const squares = document.querySelectorAll("kibitz-board [data-square]");
    return new Map([...squares].map((each) => [place(each), each.dataset.square]));
  };
  const pieces = () => {
    const named = places();
    return [...document.querySelectorAll("kibitz-board .pieces .piece")].map((each) => {
      const [, x, y] = /translate\\((.+)px, (.+)px\\)/.exec(each.style.transform);
      const letter = kinds.get(each.querySelector(".outline").getAttribute("d"));
      const isWhite = each.classList.contains("white");
      return `${isWhite ? letter.toUpperCase() : letter} ${named.get(`${x} ${y} 45`)}`;
    });
  };
  const marks = () => {
    const named = places();
    const marks = document.querySelectorAll(`kibitz-board .mark.${kind}`);
    return [...marks].map((each) => named.get(place(each)));
  };
  const read = () => (kind === null ? pieces() : marks()).sort();
  // A drawing changes only by mutations.
  return await new Promise((resolve) => {
    const end = () => { observer.disconnect(); clearTimeout(timer); resolve(read()); };
    const look = () => read().join() === wanted.join() && end();
    const observer = new MutationObserver(look);
    const timer = setTimeout(end, patience);
    observer.observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
  });
}
"""


def assets(page: Page) -> str:
    """Return where the files of the page are, which changes with each of them."""
    address = page.locator("script[type=module]").get_attribute("src")
    assert address is not None
    return address.rpartition("/")[0]


def pieces_of(fen: str) -> dict[str, str]:
    """Return the pieces of a FEN by their squares."""
    rows = fen.split()[0].split("/")
    found = {}
    for number, row in enumerate(rows):
        signs = re.sub(r"\d", lambda digits: "." * int(digits[0]), row)
        for file, sign in enumerate(signs):
            if sign != ".":
                found[f"{'abcdefgh'[file]}{len(rows) - number}"] = sign
    return found


def box_of(shown: Locator) -> FloatRect:
    """Return where something is."""
    box = shown.bounding_box()
    assert box is not None
    return box


class MatchPage:
    """A page that shows a match."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.status = page.locator(".match-status")
        self.board = page.locator("kibitz-board")
        self.moves = page.locator(".moves .move")
        #: The move that the board shows.
        self.current = page.locator(".moves [aria-current]")
        self.speaker = page.get_by_role("log")
        #: What is said to a player who cannot do something.
        self.message = page.locator(".play-message")
        self.advice = page.locator(".advice-panel")
        self.connection = page.locator("kibitz-connection")

    @classmethod
    def open(cls, visitor: Visitor, match: Match, seat: str | None = None, **options: Any) -> Self:
        """Open a match, perhaps in a seat of it, and wait until it is shown."""
        page = visitor.open(address(match, seat), **options)
        shown = cls(page)
        expect(shown.status).not_to_be_empty()
        return shown

    # --- what is seen ---

    def bar(self, color: str) -> Locator:
        """Return who sits on a side."""
        return self.page.locator(f".player-bar.{color}")

    def button(self, name: str) -> Locator:
        """Return a button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def expect_position(self, fen: str) -> None:
        """See that the pieces of a FEN are drawn, each over its square."""
        self._expect_drawn(
            None, {f"{letter} {square}" for square, letter in pieces_of(fen).items()}
        )

    def expect_marked(self, kind: str, *squares: str) -> None:
        """See which squares are marked: `moved`, `check`, `selected`, `hint`, `cursor`."""
        self._expect_drawn(kind, set(squares))

    def _expect_drawn(self, kind: str | None, wanted: set[str]) -> None:
        """See that this is drawn, and no more, or wait for it."""
        arguments = [assets(self.page), kind, sorted(wanted), HANGS_AFTER * 1000 / 3]
        assert self.page.evaluate(_DRAWN, arguments) == sorted(wanted)

    def expect_moves(self, *moves: str) -> None:
        """See that the list has these moves and no others."""
        expect(self.moves).to_have_count(len(moves))
        for number, move in enumerate(moves):
            expect(self.moves.nth(number)).to_contain_text(re.compile(rf"^{re.escape(move)}(?!\w)"))

    def focused(self) -> str:
        """Return what has the focus: its name, its text, or what kind of thing it is."""
        found: str = self.page.evaluate(
            """() => {
                 const each = document.activeElement;
                 if (each === document.body) return "";
                 const text = each.id || each.textContent.trim();
                 return each.dataset.square ?? each.ariaLabel ?? text;
               }"""
        )
        return found

    # --- what a hand does ---

    def square(self, name: str) -> Locator:
        """Return a square, or the court of `white` or `black`."""
        return self.board.locator(f'[data-square="{name}"]')

    def _middle(self, square: str) -> tuple[float, float]:
        expect(self.square(square)).to_be_visible()
        box = box_of(self.square(square))
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def click(self, *squares: str) -> None:
        """Click squares, one after the other."""
        for square in squares:
            self.page.mouse.click(*self._middle(square))

    def tap(self, *squares: str) -> None:
        """Tap squares, one after the other."""
        for square in squares:
            self.page.touchscreen.tap(*self._middle(square))

    def drag(self, origin: str, target: str) -> None:
        """Drag what is on a square to another."""
        self.page.mouse.move(*self._middle(origin))
        self.page.mouse.down()
        self.page.mouse.move(*self._middle(target), steps=4)
        self.page.mouse.up()

    def type_move(self, move: str) -> None:
        """Type a move, and play it."""
        self.page.get_by_label("Your move").fill(move)
        self.page.keyboard.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)


def address(match: Match, seat: str | None = None) -> str:
    """Return where a match is shown; with the invitation to a seat of it."""
    invited = "" if seat is None else f"#seat={seat}:{match['seats'][seat]['token']}"
    return f"/matches/{match['id']}{invited}"


def both_seats(visitor: Visitor, match: Match) -> tuple[MatchPage, MatchPage]:
    """Return the pages of both sides, in browsers of their own."""
    return MatchPage.open(visitor, match, "white"), MatchPage.open(visitor, match, "black")
