"""King's Cooking on the page: a small board, and courts beyond its edges."""

from __future__ import annotations

import httpx
from playwright.sync_api import expect

from tests.app.http.match_service import Match, look, play, start
from tests.support.browser import Visitor, check_accessibility
from tests.web.match_page import PHONE, MatchPage

START = "rnb/3/RNB w - - - - 1"
#: White's rook takes Black's and leaves; so does the knight, and so on to the end.
GAME = ["Rxa3", "Nxc1", "Roff", "Nxb3"]


def cooking(client: httpx.Client, **body: object) -> Match:
    return start(client, variant="kings-cooking", **body)


def court(shown: MatchPage, color: str, kind: str) -> int:
    """Return how many pieces of a kind, `scored` or `captured`, lie in a court."""
    tops = shown.page.evaluate(
        """([color, kind]) => {
             const floor = document.querySelector(`kibitz-board .court[data-square=${color}]`);
             const y = floor.getAttribute("y");
             return [...document.querySelectorAll(`.court-pieces .${kind}`)]
               .filter((each) => each.style.transform.endsWith(`, ${y}px)`)).length;
           }""",
        [color, kind],
    )
    return int(tops)
