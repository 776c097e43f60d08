"""A match is watched: as it is played, and as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from agents.player import Advice, Candidate, Decision
from engine import Evaluation, Move
from tests.app.http.match_service import Match, command, done, look, play, start, wait_until
from tests.support.browser import Complaints, Visitor
from tests.support.servers import Served
from tests.web.match_page import MatchPage, address
from tests.web.page_service import serving_page
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
SPOKEN = {
    "e4": "White: e4.",
    "e5": "Black: e5.",
    "Qh5": "White: queen h5.",
    "Nc6": "Black: knight c6.",
    "Bc4": "White: bishop c4.",
    "Nf6": "Black: knight f6.",
    "Qxf7#": "White: queen takes f7, checkmate.",
}
MOVED = {
    "e4": {"e2", "e4"},
    "e5": {"e7", "e5"},
    "Qh5": {"d1", "h5"},
    "Nc6": {"b8", "c6"},
    "Bc4": {"f1", "c4"},
    "Nf6": {"g8", "f6"},
    "Qxf7#": {"h5", "f7"},
}
FENS = list(MATE.values())
SANS = list(MATE)


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, stage: Stage) -> Iterator[Served]:
    with serving_page(tmp_path_factory.mktemp("service"), stage.catalogue()) as served:
        yield served


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


# --- as it is played ---


def test_a_match_is_watched_from_its_first_move_to_mate(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    titled = {"name": PROMPTED, "title": "The Attacker"}
    match = start(client, titled, PROMPTED, tags=["showpiece"])
    white = stage.asked()
    shown = MatchPage.open(visitor, match)
    loaded = shown.page.evaluate("performance.timeOrigin")
    expect(shown.page.get_by_role("heading", level=1)).to_have_text("The Attacker – prompted")
    expect(shown.status).to_have_text("White to move.")
    expect(shown.connection).to_have_text("live")
    expect(shown.page.locator(".match-facts")).to_have_text("Chess · no clock · #showpiece")
    shown.expect_position(START)
    shown.expect_marked("moved")
    shown.expect_marked("check")
    shown.expect_moves()

    players = [white]
    for number, (san, fen) in enumerate(MATE.items()):
        if number == 1:
            players.append(stage.asked())
        players[number % 2].plays(san)
        shown.expect_position(fen)
        shown.expect_marked("moved", *MOVED[san])
        expect(shown.speaker).to_contain_text(SPOKEN[san])
        shown.expect_moves(*SANS[: number + 1])
        expect(shown.current).to_have_text(san)
        if not san.endswith("#"):
            mover = ("black", "white")[number % 2]
            expect(shown.status).to_have_text(f"{mover.capitalize()} to move.")
            expect(shown.bar(mover)).to_have_class(re.compile("to-move"))
            shown.expect_marked("check")
    shown.expect_marked("check", "e8")

    ending = "White wins by checkmate"
    expect(shown.speaker).to_contain_text(ending)
    expect(shown.status).to_have_text(f"1–0 {ending}.")
    expect(shown.bar("white").locator(".player-result")).to_have_text("1")
    expect(shown.bar("black").locator(".player-result")).to_have_text("0")
    expect(shown.page).to_have_title("1–0 · The Attacker – prompted – Kibitz")
    expect(shown.connection).to_have_text("complete")
    expect(shown.bar("white").get_by_role("img", name="black pawn")).to_be_visible()
    expect(shown.bar("white")).to_contain_text("+1")
    expect(shown.page.get_by_text("Manage this match")).to_be_hidden()
    assert shown.page.evaluate("performance.timeOrigin") == loaded


def test_one_may_stay_at_an_earlier_ply_while_others_arrive(
    visitor: Visitor, client: httpx.Client, stage: Stage
) -> None:
    match, white, black = both(client, stage)
    black.plays("e5")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("e4", "e5")
    shown.press("ArrowLeft")
    expect(shown.current).to_have_text("e4")
    white.plays("Qh5")
    black.plays("Nc6")
    shown.expect_moves("e4", "e5", "Qh5", "Nc6")
    expect(shown.current).to_have_text("e4")
    shown.expect_position(MATE["e4"])
    shown.press("End")
    expect(shown.current).to_have_text("Nc6")
    white.plays("Bc4")  # and now it is followed again
    expect(shown.current).to_have_text("Bc4")
    shown.expect_position(MATE["Bc4"])


def test_a_reader_is_not_told_of_the_past_as_if_it_were_news(
    visitor: Visitor, client: httpx.Client
) -> None:
    match = mated(client)
    page = visitor.open()
    page.clock.install()
    page.clock.fast_forward("01:00")  # this browser's clock is ahead, and the match was just now
    page.goto(address(match))
    shown = MatchPage(page)
    expect(shown.speaker).to_contain_text("White wins by checkmate.")

    old = visitor.open()
    old.route(
        f"**/api/matches/{match['id']}/events",
        lambda route: route.fulfill(
            response=(answer := route.fetch()),
            headers=answer.headers | {"date": "Fri, 01 Jan 2100 00:00:00 GMT"},
        ),
    )
    old.goto(address(match))
    shown = MatchPage(old)
    expect(shown.status).to_have_text("1–0 White wins by checkmate.")
    expect(shown.speaker).to_be_empty()


def test_the_clock_of_a_long_thought_is_right_from_the_start(
    visitor: Visitor, client: httpx.Client
) -> None:
    match = start(client, "thinker", "human", time_control="600")
    wait_until(client, match, lambda event: event["type"] == "turn.started")
    page = visitor.open()

    def later(route: object) -> None:
        """Answer as the service will in five minutes."""
        date = "Fri, 01 Jan 2100 00:00:00 GMT"
        route.fulfill(status=200, headers={"Content-Type": "text/event-stream", "Date": date}, body=log)

    moments = {
        "match.created": "2099-12-31T23:54:59.000Z",
        "match.started": "2099-12-31T23:55:00.000Z",
        "turn.started": "2099-12-31T23:55:00.000Z",
    }
    with client.stream(
        "GET", f"/api/matches/{match['id']}/events", params={"last_event_id": "0"}
    ) as response:
        log = ""
        for line in response.iter_lines():
            log += line + "\n"
            if "turn.started" in log and not line:
                break
    for kind, moment in moments.items():
        log = re.sub(rf'("type":"{kind}".*?"at":")[^"]*', rf"\g<1>{moment}", log)
    page.route(f"**/api/matches/{match['id']}/events", later)
    page.goto(address(match))
    shown = MatchPage(page)
    expect(shown.bar("white").get_by_role("timer")).to_have_text(re.compile(r"^0[45]:\d\d$"))
    expect(shown.bar("black").get_by_role("timer")).to_have_text("10:00")


# --- leafing ---


def test_leafing_by_keys_clicks_and_buttons(visitor: Visitor, client: httpx.Client) -> None:
    shown = MatchPage.open(visitor, mated(client))
    shown.expect_position(FENS[-1])
    ways = [
        (lambda: shown.press("Home"), 0),
        (lambda: shown.press("ArrowRight"), 1),
        (lambda: shown.press("ArrowRight"), 2),
        (lambda: shown.press("ArrowLeft"), 1),
        (lambda: shown.press("ArrowLeft", "ArrowLeft", "ArrowLeft"), 0),
        (lambda: shown.press("End"), 7),
        (lambda: shown.press("ArrowRight"), 7),
        (lambda: shown.button("First position").click(), 0),
        (lambda: shown.button("Forward").click(), 1),
        (lambda: shown.button("Latest position").click(), 7),
        (lambda: shown.button("Back").click(), 6),
        (lambda: shown.moves.nth(2).click(), 3),
        (lambda: shown.press("ArrowRight"), 4),  # with the focus in the list
    ]
    for act, ply in ways:
        act()
        if ply:
            expect(shown.current).to_have_text(SANS[ply - 1])
        else:
            expect(shown.current).to_have_count(0)
        shown.expect_position([START, *FENS][ply])
        shown.expect_marked("moved", *(MOVED[SANS[ply - 1]] if ply else ()))
        shown.expect_marked("check", *(["e8"] if ply == 7 else []))


def test_keys_leave_texts_alone(visitor: Visitor, client: httpx.Client) -> None:
    shown = MatchPage.open(visitor, start(client, "thinker", "thinker"))
    shown.page.get_by_text("Manage this match").click()
    shown.page.get_by_label("Reason").fill("of")
    shown.press("ArrowLeft", "f", "Home", "f")
    expect(shown.page.get_by_label("Reason")).to_have_value("foff")
    expect(shown.board.locator("text").first).to_have_text("a")


def test_the_board_is_flipped(visitor: Visitor, client: httpx.Client) -> None:
    shown = MatchPage.open(visitor, mated(client))

    def below(color: str) -> None:
        shown.expect_position(FENS[-1])
        other = "black" if color == "white" else "white"
        tops = [shown.bar(each).bounding_box()["y"] for each in (other, color)]
        board = shown.board.bounding_box()["y"]
        assert tops[0] < board < tops[1]
        rook = shown.square("a1").bounding_box()
        box = shown.board.bounding_box()
        assert (rook["y"] > box["y"] + box["height"] / 2) is (color == "white")
        assert (rook["x"] < box["x"] + box["width"] / 2) is (color == "white")

    below("white")
    shown.button("Flip the board").click()
    below("black")
    shown.expect_marked("moved", "h5", "f7")
    shown.press("f")
    below("white")


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
    box = picture.bounding_box()
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


# --- clocks, pauses, and ends ---


def test_clocks_tick(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "mating", "thinker", time_control="300+2")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("e4")
    clock = shown.bar("black").get_by_role("timer")
    before = clock.text_content()
    assert re.fullmatch(r"0[45]:\d\d", before)
    expect(clock).not_to_have_text(before)
    expect(clock).to_have_class(re.compile("running"))
    rested = shown.bar("white").get_by_role("timer")
    expect(rested).not_to_have_class(re.compile("running"))
    clocks = look(client, match)["clocks"]
    seconds = clocks["white_ms"] // 1000
    expect(rested).to_have_text(f"{seconds // 60:02}:{seconds % 60:02}")
    expect(shown.page.locator(".match-facts")).to_contain_text("time control 300+2")


def test_a_low_clock_is_marked_and_falls(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "thinker", "human", time_control="2")
    shown = MatchPage.open(visitor, match)
    expect(shown.bar("white").get_by_role("timer")).to_have_text(re.compile(r"^00:0\d\.\d$"))
    expect(shown.bar("white").get_by_role("timer")).to_have_class(re.compile("low"))
    expect(shown.status).to_have_text(re.compile("^0–1 Black wins on time"))


def test_a_paused_match_says_why(visitor: Visitor, client: httpx.Client) -> None:
    shown = MatchPage.open(visitor, start(client, "faulty", "thinker"))
    expect(shown.status).to_contain_text("Paused: Faulty could not decide")
    expect(shown.status).to_contain_text("the provider is out of reach")
    expect(shown.speaker).to_contain_text("The match is paused.")


def test_a_match_is_managed(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "mating", "thinker", time_control="600")
    shown = MatchPage.open(visitor, match)
    other = MatchPage.open(visitor, match)
    shown.expect_moves("e4")
    shown.page.get_by_text("Manage this match").click()
    shown.page.get_by_label("Reason").fill("lunch <b>now</b>")
    shown.button("Pause").click()
    for each in (shown, other):
        expect(each.status).to_have_text("Paused: Lunch <b>now</b>.")
    assert shown.focused() == "Resume"
    clock = shown.bar("black").get_by_role("timer")
    expect(clock).not_to_have_class(re.compile("running"))
    assert look(client, match)["status"] == "paused"
    shown.button("Resume").click()
    expect(shown.status).to_have_text("Black to move.")
    expect(clock).to_have_class(re.compile("running"))
    shown.button("Abort").click()
    shown.button("No").click()
    shown.button("Abort").click()
    shown.page.get_by_label("Reason").fill("nobody came")
    shown.button("Yes, abort").click()
    for each in (shown, other):
        expect(each.status).to_have_text("Aborted: Nobody came.")
        expect(each.connection).to_have_text("complete")
    assert shown.focused() == "Aborted: Nobody came."


def test_what_cannot_be_done_is_told(
    visitor: Visitor, client: httpx.Client, complaints: Complaints
) -> None:
    complaints.expect("409")
    match = start(client, "thinker", "thinker")
    shown = MatchPage.open(visitor, match)
    shown.page.get_by_text("Manage this match").click()
    shown.page.route("**/events*", lambda route: route.abort())
    expect(shown.button("Pause")).to_be_visible()
    shown.page.evaluate(
        """(id) => fetch(`/api/matches/${id}/pause`, { method: "POST" })""", match["id"]
    )
    expect(shown.status).to_have_text("Paused.")
    with shown.page.expect_response("**/resume"):
        shown.page.route("**/resume", lambda route: route.fulfill(
            status=409, content_type="application/problem+json",
            body='{"detail": "the match is running", "type": "/problems/not-now"}'))
        shown.button("Resume").click()
    expect(shown.page.get_by_role("alert").filter(has_text="The match is running.")).to_be_visible()


# --- where games begin ---


def test_an_opening_is_numbered_and_named(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "thinker", "human", opening="e4 e5 Nf3")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("e4", "e5", "Nf3")
    expect(shown.page.locator(".move-number")).to_have_text(["1.", "2."])
    expect(shown.page.locator(".match-facts")).to_contain_text("opening: e4 e5 Nf3")
    shown.press("Home")
    shown.expect_position(START)
    shown.press("ArrowRight")
    shown.expect_position(MATE["e4"])
    expect(shown.advice).to_contain_text("White had it from the opening")


def test_a_game_that_begins_with_black(visitor: Visitor, client: httpx.Client) -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17"
    match = start(client, initial_fen=fen)
    play(client, match, "Kd7 Kd2 Kd6")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("Kd7", "Kd2", "Kd6")
    expect(shown.page.locator(".move-number")).to_have_text(["17...", "18."])
    shown.press("Home")
    shown.expect_position(fen)


def test_a_takeback_to_the_opening(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, opening="e4 e5")
    play(client, match, "Qh5")
    early = MatchPage.open(visitor, match)
    early.expect_moves("e4", "e5", "Qh5")
    early.press("ArrowLeft", "ArrowLeft")
    done(command(client, match, "takeback", "white", action="ask"))
    done(command(client, match, "takeback", "black", action="accept"))
    early.expect_moves("e4", "e5")
    expect(early.current).to_have_text("e4")
    late = MatchPage.open(visitor, match)
    late.expect_moves("e4", "e5")
    late.expect_position(MATE["e5"])
    early.press("ArrowRight")
    play(client, match, "Nf3")
    for each in (early, late):
        each.expect_moves("e4", "e5", "Nf3")
        expect(each.current).to_have_text("Nf3")


def test_chess960(visitor: Visitor, client: httpx.Client) -> None:
    fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    match = start(client, variant="chess960", initial_fen=fen)
    shown = MatchPage.open(visitor, match)
    shown.expect_position(fen)
    expect(shown.page.locator(".match-facts")).to_contain_text("Chess960")
    state = play(client, match, "Nf3")
    shown.expect_position(state["fen"])
    expect(shown.page.locator(".move-number")).to_have_text(["9."])


# --- taking it elsewhere ---


def test_it_can_be_copied_and_saved(visitor: Visitor, client: httpx.Client, service: Served) -> None:
    match = mated(client)
    shown = MatchPage.open(visitor, match, permissions=["clipboard-read", "clipboard-write"])
    pgn = client.get(f"/api/matches/{match['id']}/pgn").text
    link = f"{service.url}/matches/{match['id']}"
    shown.press("ArrowLeft")
    expected = {
        "Copy PGN": pgn,
        "Copy link": link,
        "Copy FEN": FENS[-2],
        "Copy embed code": f'<a href="{link}"><img src="{service.url}/api/matches/{match["id"]}/board.svg"'
        ' alt="A match on Kibitz" width="400"></a>',
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
