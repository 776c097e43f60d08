"""A match of a thousand plies is shown, leafed through, and goes on."""

from __future__ import annotations

import random

import httpx
import pytest
from playwright.sync_api import expect

from engine import Game
from tests.app.http.match_service import Match, start, wait_until
from tests.support.browser import Visitor
from tests.web.match_page import PHONE, MatchPage
from tests.web.prompting import PROMPTED, Prompted, Stage

PLIES = 1_000
#: More than that for each ply would not stay fast.
NODES_PER_PLY = 12


def long_game(plies: int) -> list[tuple[str, str]]:
    """Return the moves of a game that does not end, each with the FEN after it.

    Pieces walk about by lots, and little is taken; now and then a pawn moves, or fifty moves would
    be too many.
    """
    lots, game = random.Random(960), Game()
    played: list[tuple[str, str]] = []
    while len(played) < plies:
        position = game.position
        moves = [position.san(move) for move in position.legal_moves()]
        quiet = [san for san in moves if "x" not in san and "=" not in san]
        is_late = int(position.fen().split()[4]) > 80
        wished = [san for san in quiet if san[0].islower() is is_late]
        san = lots.choice(wished or quiet or moves)
        game.play(san)
        if game.is_over or game.claimable_draws():
            game.undo()
        else:
            played.append((san, game.position.fen()))
    return played


GAME = long_game(PLIES + 3)


@pytest.fixture(scope="module")
def played(client: httpx.Client, stage: Stage) -> tuple[Match, list[Prompted]]:
    """A match in which a thousand plies have been played, and who plays it."""
    match = start(client, PROMPTED, PROMPTED)
    players = []
    for color in (0, 1):
        players.append(stage.asked())
        for san, _ in GAME[color:PLIES:2]:
            players[color].plays(san)
    wait_until(client, match, lambda event: event.get("ply") == PLIES + 1)
    return match, players


def test_all_of_it_is_shown_and_it_goes_on(
    visitor: Visitor, played: tuple[Match, list[Prompted]]
) -> None:
    match, (white, black) = played
    shown = MatchPage.open(visitor, match)
    expect(shown.moves).to_have_count(PLIES)
    assert shown.moves.all_text_contents() == [san for san, _ in GAME[:PLIES]]
    expect(shown.page.locator(".move-number").last).to_have_text("500.")
    shown.expect_position(GAME[PLIES - 1][1])
    expect(shown.current).to_be_in_viewport()  # the list has been scrolled to it
    assert shown.page.evaluate("scrollY") == 0  # and not the page

    white.plays(GAME[PLIES][0])
    shown.expect_position(GAME[PLIES][1])
    expect(shown.moves).to_have_count(PLIES + 1)
    assert shown.speaker.locator("p").count() <= 5  # most of it is not news
    for key, ply in [("Home", 0), ("ArrowRight", 1), ("End", PLIES + 1), ("ArrowLeft", PLIES)]:
        shown.press(key)
        if ply:
            expect(shown.current).to_have_text(GAME[ply - 1][0])
            shown.expect_position(GAME[ply - 1][1])
    shown.moves.nth(499).click()
    shown.expect_position(GAME[499][1])
    black.plays(GAME[PLIES + 1][0])
    expect(shown.moves).to_have_count(PLIES + 2)
    shown.expect_position(GAME[499][1])  # still where it was
    nodes = shown.page.evaluate("document.querySelectorAll('*').length")
    assert nodes < NODES_PER_PLY * PLIES


def test_it_is_shown_on_a_phone(visitor: Visitor, played: tuple[Match, list[Prompted]]) -> None:
    match, _ = played
    shown = MatchPage.open(visitor, match, viewport=PHONE)
    expect(shown.moves.nth(PLIES - 1)).to_be_attached()
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.button("First position").click()
    shown.button("Forward").click()
    shown.expect_position(GAME[0][1])
