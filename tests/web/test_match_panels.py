"""What is beside the board of a match: advice, evaluations, what to share; and hostile texts."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from agents.player import Advice, Candidate, Decision
from engine import Evaluation, Move
from tests.app.http.match_service import command, done, start, wait_until
from tests.support.browser import Complaints, Visitor
from tests.support.servers import Served
from tests.web.match_page import MatchPage, address, box_of
from tests.web.prompting import PROMPTED, Stage
from tests.web.short_game import FENS, both, mated

# --- what is said ---


def test_advice_of_the_classical_team(visitor: Visitor, client: httpx.Client) -> None:
    team = {"name": "classical", "nodes": 2000}
    match = start(client, team, "thinker", max_plies=3)
    wait_until(client, match, lambda event: event["type"] == "ply.played")
    advice = client.get(f"/api/matches/{match['id']}/plies").json()["plies"][0]
    shown = MatchPage.open(visitor, match)
    shown.expect_moves(advice["san"])
    expect(shown.advice.get_by_role("heading", level=2)).to_have_text(f"Before {advice['san']}")
    for given in advice["advice"]:
        card = shown.advice.get_by_role("article").filter(
            has=shown.page.get_by_role("heading", name=given["by"])
        )
        for number, candidate in enumerate(given["candidates"]):
            item = card.get_by_role("listitem").nth(number)
            expect(item).to_contain_text(f"{candidate['san']} {candidate['reason']}")
            is_played = candidate["uci"] == advice["uci"]
            expect(item.get_by_text("✓ played")).to_have_count(1 if is_played else 0)
    arrows = shown.board.locator(".arrow")
    expect(arrows).to_have_count(0)
    candidate = shown.advice.locator(".candidate").first
    candidate.hover()
    expect(arrows).to_have_count(1)
    shown.status.hover()
    expect(arrows).to_have_count(0)
    candidate.focus()
    expect(arrows).to_have_count(1)
    candidate.blur()
    expect(arrows).to_have_count(0)
    candidate.hover()
    expect(arrows).to_have_count(1)
    shown.press("Home")  # the panel tells of something else now
    expect(arrows).to_have_count(0)


def test_advice_arrives_while_a_team_thinks(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    match = start(client, PROMPTED, "thinker")
    player = stage.asked()
    shown = MatchPage.open(visitor, match)
    expect(shown.advice).to_contain_text("What is said of the next move appears here.")
    player.does(lambda turn: turn.listener.said("tactical", "The square f7 "))
    tactical = shown.advice.locator(".advice.tactical")
    expect(tactical).to_contain_text("speaking …")
    expect(tactical.locator(".words")).to_have_text("The square f7 ")
    player.does(lambda turn: turn.listener.said("tactical", "is weak"))
    expect(tactical.locator(".words")).to_have_text("The square f7 is weak")
    expect(shown.advice.get_by_role("heading", level=2)).to_have_text("White is thinking")

    best = Candidate(Move.from_uci("e2e4"), "opens lines")
    other = Candidate(Move.from_uci("g1f3"), "develops")
    advice = Advice("tactical", (best, other), "The square f7 is weak, and more.")
    player.does(lambda turn: turn.listener.advised(advice))
    expect(tactical.get_by_role("listitem")).to_have_text(["e4 opens lines", "Nf3 develops"])
    expect(tactical).not_to_contain_text("speaking")
    tactical.get_by_role("button", name="Nf3").focus()
    expect(shown.board.locator(".arrow.tactical")).to_have_count(1)
    silent = Advice("positional", abstained="it ran out of time")
    player.does(lambda turn: turn.listener.advised(silent))
    positional = shown.advice.locator(".advice.positional")
    expect(positional).to_contain_text("It ran out of time.")
    expect(positional).to_contain_text("abstained")
    assert shown.focused() == "Nf3"  # though the panel was filled anew
    tactical.get_by_text("All that was said").click()
    expect(tactical.locator(".words")).to_have_text("The square f7 is weak, and more.")

    chosen = Advice("selector", (best,), "I agree.")
    player.plays("e4", advice=(advice, silent, chosen))
    expect(shown.advice.get_by_role("heading", level=2)).to_have_text("Before e4")
    expect(tactical.get_by_role("listitem").first).to_contain_text("✓ played")
    expect(tactical.get_by_role("listitem").nth(1)).not_to_contain_text("played")
    expect(shown.advice.get_by_text("e4 was proposed by tactical.")).to_be_visible()
    expect(shown.advice.locator(".advice.selector")).to_contain_text("✓ played")


def test_refused_attempts_are_shown_with_the_reason(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "stubborn", "thinker")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("e4")
    refused = shown.advice.locator(".advice.refused")
    expect(refused).to_have_count(2)
    expect(refused.first).to_contain_text("Refused: e2e5")
    expect(refused.first).to_contain_text("attempt 1")
    expect(refused.first).to_contain_text("'e2e5' is illegal: the piece does not move like that.")
    expect(refused.nth(1)).to_contain_text("Refused: nonsense")
    expect(shown.advice).to_contain_text("in 3 attempts")
    expect(shown.moves.first).to_contain_text("2 refused")


def test_evaluations_are_drawn(visitor: Visitor, client: httpx.Client, stage: Stage) -> None:
    match, white, black = both(client, stage)
    shown = MatchPage.open(visitor, match)
    bar, graph = shown.page.locator(".evaluation-bar"), shown.page.locator(".graph-panel")
    shown.expect_moves("e4")
    expect(bar).to_be_hidden()
    expect(graph).to_be_hidden()
    black.plays("e5", evaluation=Evaluation(centipawns=-150))
    expect(bar).to_have_attribute("aria-label", "Evaluation −1.50, from White's side")
    white.plays("Qh5", evaluation=Evaluation(mate=3))
    expect(bar).to_have_attribute("aria-label", "Evaluation #3, from White's side")
    expect(bar.locator(".share")).to_have_css("height", re.compile(r"\d+"))
    assert bar.locator(".share").evaluate("each => each.style.height") == "100%"
    expect(shown.moves.nth(1)).to_contain_text("−1.50")
    shown.press("ArrowLeft")
    expect(bar).to_have_attribute("aria-label", "Evaluation −1.50, from White's side")
    shown.press("ArrowLeft")
    expect(bar).to_have_attribute("aria-label", "Not evaluated yet")
    picture = graph.get_by_role("img")
    expect(picture).to_have_attribute(
        "aria-label", "Course of the evaluation over 3 plies; last #3"
    )
    box = box_of(picture)
    picture.click(position={"x": box["width"] * 0.66, "y": box["height"] / 2})
    expect(shown.current).to_contain_text("e5")


def test_stockfish_looks_at_an_analysed_match(visitor: Visitor, client: httpx.Client) -> None:
    match = mated(client, analysis={"nodes": 1000})
    shown = MatchPage.open(visitor, match)
    shown.expect_position(FENS[-1])
    expect(shown.page.locator(".evaluation-bar")).to_have_attribute(
        "aria-label", "Evaluation #, from White's side"
    )
    expect(shown.page.locator(".graph-panel")).to_be_visible()
    expect(shown.moves.first.locator(".move-score")).to_have_text(re.compile(r"^[+−]\d\.\d\d$"))


# --- taking it elsewhere ---


def test_it_can_be_copied_and_saved(
    visitor: Visitor, client: httpx.Client, service: Served
) -> None:
    match = mated(client)
    shown = MatchPage.open(visitor, match, permissions=["clipboard-read", "clipboard-write"])
    pgn = client.get(f"/api/matches/{match['id']}/pgn").text
    link = f"{service.url}/matches/{match['id']}"
    picture = f"{service.url}/api/matches/{match['id']}/board.svg"
    shown.press("ArrowLeft")
    expected = {
        "Copy PGN": pgn,
        "Copy link": link,
        "Copy FEN": FENS[-2],
        "Copy embed code": f'<a href="{link}"><img src="{picture}" alt="A match on Kibitz"'
        ' width="400"></a>',
    }
    share = shown.page.locator(".share-panel")
    for name, text in expected.items():
        shown.button(name).click()
        expect(share.get_by_role("status")).not_to_be_empty()
        assert _copied(shown.page, text) == text
    with shown.page.expect_download() as saving:
        shown.button("Download PGN").click()
    assert saving.value.suggested_filename == f"kibitz-{match['id']}.pgn"
    assert saving.value.path().read_text("utf-8") == pgn
    expect(share.get_by_role("link", name="board.svg")).to_have_attribute(
        "href", f"/api/matches/{match['id']}/board.svg"
    )


def _copied(page: Page, wanted: str) -> str:
    """Return what is in the clipboard, which may take a moment to hold what is wanted."""
    text: str = page.evaluate(
        """async (wanted) => {
             let text;
             for (let each = 0; each < 200; each++) {
               text = await navigator.clipboard.readText();
               if (text === wanted) break;
               await new Promise(requestAnimationFrame);
             }
             return text;
           }""",
        wanted,
    )
    return text


def test_without_a_clipboard_the_text_is_shown(visitor: Visitor, client: httpx.Client) -> None:
    match = mated(client)
    page = visitor.open()
    page.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))"
    )
    page.goto(address(match))
    page.get_by_role("button", name="Copy FEN").click()
    expect(page.get_by_label("To be copied")).to_have_value(FENS[-1])


# --- what is not there, and what is hostile ---


def test_a_match_that_does_not_exist(page: Page, complaints: Complaints) -> None:
    complaints.expect("404")
    page.goto("/matches/01a1e53b-876a-7284-b770-5761aabdb236")
    expect(page.get_by_role("alert")).to_contain_text("there is no match", ignore_case=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("This match cannot be shown")


HOSTILE = [
    "<script>window.hacked = true</script>",
    "<img src=x onerror='window.hacked = true'>",
    "\u202eevil\u2066 مباراة",
    "W" * 50,
]


@pytest.mark.parametrize("text", HOSTILE, ids=["script", "image", "right to left", "long"])
def test_hostile_texts_are_texts(
    visitor: Visitor, client: httpx.Client, stage: Stage, text: str
) -> None:
    match = start(
        client,
        {"name": PROMPTED, "title": text},
        {"name": "thinker", "title": text},
        tags=[text],
    )
    player = stage.asked()
    words = text * 40
    candidate = Candidate(Move.from_uci("e2e4"), text)
    player.does(lambda turn: turn.listener.said(text, words))
    player.does(lambda turn: turn.listener.advised(Advice("other " + text, (candidate,), words)))
    shown = MatchPage.open(visitor, match, viewport={"width": 360, "height": 640})
    expect(shown.page.get_by_role("heading", level=1)).to_have_text(f"{text} – {text}")
    expect(shown.page.locator(".match-facts")).to_contain_text(f"#{text}")
    expect(shown.advice.locator(".advice").first).to_contain_text(text)
    player.does(lambda turn: Decision(text))
    player.plays("e4", advice=(Advice("other " + text, (candidate,), words),))
    shown.expect_moves("e4")
    expect(shown.bar("black").locator(".player-name")).to_have_text(text)
    expect(shown.advice.locator(".refused h3")).to_contain_text(f"Refused: {text}")
    expect(shown.page).to_have_title(f"{' '.join(f'{text} – {text}'.split())} – Kibitz")
    done(command(client, match, "pause", reason=words[:200]))
    expect(shown.status).to_contain_text("Paused")
    done(command(client, match, "abort", reason=text))
    expect(shown.status).to_contain_text("Aborted")
    assert shown.page.evaluate("window.hacked") is None
    assert shown.page.locator("main script, main img").count() == 0
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
