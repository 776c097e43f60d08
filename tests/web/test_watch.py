"""A match is watched: as it is played, and as it was."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Route, expect

from tests.app.http.match_service import command, done, look, play, start, wait_until
from tests.support.browser import Complaints, Visitor
from tests.web.match_page import MatchPage, address, box_of
from tests.web.prompting import PROMPTED, Stage
from tests.web.short_game import FENS, MATE, SANS, START, both, mated

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

    def later(route: Route) -> None:
        """Answer as the service will in five minutes."""
        date = "Fri, 01 Jan 2100 00:00:00 GMT"
        route.fulfill(
            status=200, headers={"Content-Type": "text/event-stream", "Date": date}, body=log
        )

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
        tops = [box_of(shown.bar(each))["y"] for each in (other, color)]
        board = box_of(shown.board)["y"]
        assert tops[0] < board < tops[1]
        rook = box_of(shown.square("a1"))
        box = box_of(shown.board)
        assert (rook["y"] > box["y"] + box["height"] / 2) is (color == "white")
        assert (rook["x"] < box["x"] + box["width"] / 2) is (color == "white")

    below("white")
    shown.button("Flip the board").click()
    below("black")
    shown.expect_marked("moved", "h5", "f7")
    shown.press("f")
    below("white")


# --- clocks, pauses, and ends ---


def test_clocks_tick(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "mating", "thinker", time_control="300+2")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("e4")
    clock = shown.bar("black").get_by_role("timer")
    before = clock.inner_text()
    assert re.fullmatch(r"0[45]:\d\d", before)
    expect(clock).not_to_have_text(before)
    expect(clock).to_have_class(re.compile("running"))
    rested = shown.bar("white").get_by_role("timer")
    expect(rested).not_to_have_class(re.compile("running"))
    clocks = look(client, match)["clocks"]
    seconds = clocks["white_ms"] // 1000
    expect(rested).to_have_text(f"{seconds // 60:02}:{seconds % 60:02}")
    expect(shown.page.locator(".match-facts")).to_contain_text("5 min + 2 s")


def test_clocks_go_back_with_the_moves(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, time_control="300+200")
    play(client, match, "e4 e5")
    shown = MatchPage.open(visitor, match)
    clock = shown.bar("white").get_by_role("timer")
    expect(clock).to_have_text(re.compile("^08:"))
    shown.press("Home")
    expect(clock).to_have_text("05:00")
    expect(clock).not_to_have_class(re.compile("running"))
    shown.press("ArrowRight")
    expect(clock).to_have_text(re.compile("^08:"))
    expect(shown.bar("black").get_by_role("timer")).to_have_text("05:00")
    shown.press("End")
    expect(clock).to_have_class(re.compile("running"))


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
        shown.page.route(
            "**/resume",
            lambda route: route.fulfill(
                status=409,
                content_type="application/problem+json",
                body='{"detail": "the match is running", "type": "/problems/not-now"}',
            ),
        )
        shown.button("Resume").click()
    expect(shown.page.get_by_role("alert").filter(has_text="The match is running.")).to_be_visible()


# --- where games begin ---


def test_an_opening_is_numbered_and_named(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "thinker", "human", opening="e4 e5 Nf3")
    shown = MatchPage.open(visitor, match)
    shown.expect_moves("e4", "e5", "Nf3")
    expect(shown.page.locator(".move-number")).to_have_text(["1.", "2."])
    expect(shown.page.locator(".match-facts")).to_contain_text("opening: e4 e5 Nf3")
    expect(shown.advice.get_by_role("heading", level=2)).to_have_text("Before Nf3")
    expect(shown.advice).to_contain_text("White had it from the opening")
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


def test_a_move_and_its_answer_are_both_said(visitor: Visitor, client: httpx.Client) -> None:
    """What comes at once is said in order, but not so much that nobody could listen."""
    match = start(client)
    play(client, match, "e4 e5 Nf3 Nc6")
    page = visitor.open()
    page.clock.set_fixed_time(look(client, match)["updated_at"])  # it has just happened
    page.goto(address(match))
    shown = MatchPage(page)
    shown.expect_moves("e4", "e5", "Nf3", "Nc6")
    plies = shown.speaker.get_by_text(re.compile("^(White|Black): "))
    expect(plies).to_have_text(["Black: e5.", "White: knight f3.", "Black: knight c6."])
