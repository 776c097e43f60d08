"""A game of seven plies that ends in mate, played by players of tests."""

from __future__ import annotations

import httpx

from tests.app.http.match_service import Match, start, wait_until
from tests.web.prompting import PROMPTED, Prompted, Stage

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#: White's moves and Black's, and the position after each.
MATE = {
    "e4": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "e5": "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "Qh5": "rnbqkbnr/pppp1ppp/8/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 2",
    "Nc6": "r1bqkbnr/pppp1ppp/2n5/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR w KQkq - 2 3",
    "Bc4": "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3",
    "Nf6": "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
    "Qxf7#": "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4",
}
FENS = list(MATE.values())
SANS = list(MATE)


def both(client: httpx.Client, stage: Stage, **body: object) -> tuple[Match, Prompted, Prompted]:
    """Start a match whose players do what the test tells them."""
    match = start(client, PROMPTED, PROMPTED, **body)
    white = stage.asked()
    white.plays("e4")
    return match, white, stage.asked()


def mated(client: httpx.Client, **body: object) -> Match:
    """Return a match that has ended in mate."""
    match = start(client, "mating", "mated", **body)
    wait_until(client, match, lambda event: event["type"] == "match.ended")
    return match
