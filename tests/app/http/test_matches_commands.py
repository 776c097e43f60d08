"""Commanding matches over HTTP, on either database: moves, draws, takebacks, pauses."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from app.http import match_commands
from tests.app.http.conftest import check_problem
from tests.app.http.match_service import (  # noqa: F401 - fixtures
    THINKER,
    command,
    done,
    either_database,
    look,
    play,
    running,
    start,
    wait_until,
)
from tests.support.databases import postgres  # noqa: F401

#: The commands of a seat, and a body that each takes.
OF_A_SEAT = [
    ("moves", {"move": "e4"}),
    ("resign", {}),
    ("draw", {"action": "offer"}),
    ("takeback", {"action": "ask"}),
]
SHUFFLE = "Nf3 Nf6 Ng1 Ng8"


@pytest.fixture(scope="module")
def client(database, tmp_path_factory) -> Iterator[httpx.Client]:
    with running(database, tmp_path_factory.mktemp("data")) as served, served.client() as client:
        yield client


# --- moves ---


def test_a_move_that_cannot_be_played_is_told_why_and_changes_nothing(client):
    match = start(client)
    before = play(client, match, "e4 e5")
    table = [
        ("e2e4", "illegal-move", "no_piece"),
        ("Nd5", "illegal-move", "no_such_piece"),
        ("e4e5", "illegal-move", "pawn_blocked"),
        ("e7e6", "illegal-move", "no_piece"),
        ("a7a6", "illegal-move", "wrong_side"),
        ("O-O", "illegal-move", "castling_blocked"),
        ("what?", "unreadable-move", "unreadable"),
    ]
    for text, kind, reason in table:
        problem = check_problem(command(client, match, "moves", "white", move=text), 422, kind)
        assert (problem["field"], problem["reason"]) == ("move", reason), text
        assert problem["legal_moves"] == before["legal_moves"]
        assert {"uci": "g1f3", "san": "Nf3"} in problem["legal_moves"]
    after = look(client, match)
    assert after["sequence"] == before["sequence"]


def test_a_move_that_may_be_two_names_both(client):
    match = start(client, initial_fen="4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    response = command(client, match, "moves", "white", move="Rd1")
    problem = check_problem(response, 422, "ambiguous-move")
    assert (problem["reason"], problem["field"]) == ("ambiguous", "move")
    assert sorted(problem["candidates"]) == ["a1d1", "h1d1"]


def test_a_side_moves_only_in_its_turn(client):
    match = start(client)
    check_problem(command(client, match, "moves", "black", move="e5"), 409, "not-your-turn")
    done(command(client, match, "moves", "white", move="e4"))
    check_problem(command(client, match, "moves", "white", move="d4"), 409, "not-your-turn")
    # Whose turn it is comes before what is wrong with the move.
    check_problem(command(client, match, "moves", "white", move="what?"), 409, "not-your-turn")


@pytest.mark.parametrize(("what", "body"), OF_A_SEAT)
def test_a_seat_needs_its_token(client, what, body):
    match, other = start(client, "human", THINKER), start(client)
    path = f"/api/matches/{match['id']}/{what}"
    for headers in ({}, {"X-Seat-Token": ""}):
        response = client.post(path, json=body, headers=headers)
        check_problem(response, 401, "seat-token-missing")
        assert response.headers["www-authenticate"]
    token = match["seats"]["white"]["token"]
    for wrong in ("x", "é", token[:-1], token + "x", other["seats"]["white"]["token"], "x" * 5000):
        response = client.post(path, json=body, headers={"X-Seat-Token": wrong.encode("latin-1")})
        check_problem(response, 403, "wrong-seat-token")
    assert look(client, match)["ply_count"] == 0
    for each in (match, other):
        done(command(client, each, "abort"))


@pytest.mark.parametrize(("what", "body"), OF_A_SEAT)
def test_a_match_without_humans_has_no_seat_to_play_in(client, what, body):
    match = start(client, THINKER, THINKER)
    path = f"/api/matches/{match['id']}/{what}"
    response = client.post(path, json=body, headers={"X-Seat-Token": "x"})
    check_problem(response, 403, "wrong-seat-token")
    done(command(client, match, "abort"))


def test_either_side_may_resign_at_any_time(client):
    for seat, result in (("white", "0-1"), ("black", "1-0")):
        match = start(client)
        state = done(command(client, match, "resign", seat))
        assert (state["result"], state["status"]) == (result, "ended")


def test_a_flag_that_fell_loses(client):
    match = start(client, time_control="0.2")
    ended = wait_until(client, match, lambda event: event["type"] == "match.ended")
    assert ended["outcome"]["termination"] == "time_forfeit"
    check_problem(command(client, match, "moves", "white", move="e4"), 409, "match-over")
    assert look(client, match)["result"] == "0-1"


# --- draws ---


def test_a_draw_is_offered_declined_and_agreed(client):
    match = start(client)
    state = done(command(client, match, "draw", "white", action="offer"))
    assert state["draw_offer"] == "white"
    for action in ("offer", "accept", "decline"):  # one's own
        check_problem(command(client, match, "draw", "white", action=action), 409, "not-now")
    state = done(command(client, match, "draw", "black", action="decline"))
    assert state["draw_offer"] is None
    check_problem(command(client, match, "draw", "black", action="accept"), 409, "not-now")
    done(command(client, match, "draw", "black", action="offer"))
    state = done(command(client, match, "draw", "white", action="accept"))
    assert (state["result"], state["outcome"]["termination"]) == ("1/2-1/2", "agreement")


def test_two_offers_are_an_agreement(client):
    match = start(client)
    done(command(client, match, "draw", "white", action="offer"))
    state = done(command(client, match, "draw", "black", action="offer"))
    assert state["outcome"]["termination"] == "agreement"


def test_to_move_declines_an_offer(client):
    match = start(client)
    done(command(client, match, "draw", "black", action="offer"))
    assert play(client, match, "e4")["draw_offer"] is None
    check_problem(command(client, match, "draw", "white", action="accept"), 409, "not-now")


def test_a_repetition_is_claimed(client):
    match = start(client)
    play(client, match, SHUFFLE)
    check_problem(command(client, match, "draw", "white", action="claim"), 409, "not-now")
    state = play(client, match, SHUFFLE)
    assert state["status"] == "running"  # it is the player's to claim
    check_problem(command(client, match, "draw", "black", action="claim"), 409, "not-your-turn")
    state = done(command(client, match, "draw", "white", action="claim"))
    assert (state["result"], state["outcome"]["termination"]) == (
        "1/2-1/2",
        "threefold_repetition",
    )


def test_a_repetition_is_claimed_with_the_move_that_makes_it(client):
    match = start(client)
    before = play(client, match, f"{SHUFFLE} Nf3 Nf6 Ng1")
    claim = {"action": "claim", "move": "e5"}
    check_problem(command(client, match, "draw", "black", **claim), 409, "not-now")
    wrong = command(client, match, "draw", "black", action="claim", move="Ke4")
    problem = check_problem(wrong, 422, "illegal-move")
    assert (problem["field"], problem["legal_moves"]) == ("move", before["legal_moves"])
    state = done(command(client, match, "draw", "black", action="claim", move="Ng8"))
    assert state["outcome"]["termination"] == "threefold_repetition"


def test_a_move_goes_with_a_claim_only(client):
    match = start(client)
    response = command(client, match, "draw", "white", action="offer", move="e4")
    assert "claim" in check_problem(response, 422, "invalid-request")["detail"]


# --- takebacks ---


def test_a_takeback_is_asked_for_declined_and_granted(client):
    match = start(client)
    check_problem(command(client, match, "takeback", "white", action="ask"), 409, "not-now")
    play(client, match, "e4 e5 Nf3")
    for action in ("accept", "decline"):
        check_problem(command(client, match, "takeback", "white", action=action), 409, "not-now")
    state = done(command(client, match, "takeback", "white", action="ask"))
    assert (state["takeback"], state["ply_count"]) == ("white", 3)
    check_problem(command(client, match, "takeback", "white", action="ask"), 409, "not-now")
    assert done(command(client, match, "takeback", "black", action="decline"))["takeback"] is None
    done(command(client, match, "takeback", "white", action="ask"))
    state = done(command(client, match, "takeback", "black", action="accept"))
    assert (state["ply_count"], state["turn"], state["takeback"]) == (2, "white", None)
    plies = client.get(f"/api/matches/{match['id']}/plies").json()["plies"]
    assert [ply["san"] for ply in plies] == ["e4", "e5"]
    # It is White's turn: to take back its last move, Black's goes, too.
    done(command(client, match, "takeback", "white", action="ask"))
    state = done(command(client, match, "takeback", "black", action="accept"))
    assert (state["ply_count"], state["turn"]) == (0, "white")
    assert play(client, match, "d4")["last_move"]["san"] == "d4"


def test_a_player_that_thinks_lets_take_back(client):
    match = start(client, "human", THINKER)
    done(command(client, match, "moves", "white", move="e4"))
    state = done(command(client, match, "takeback", "white", action="ask"))
    assert (state["ply_count"], state["turn"]) == (0, "white")
    done(command(client, match, "abort"))


# --- pausing and ending ---


def test_a_match_is_paused_and_resumed(client):
    match = start(client, time_control="300")
    play(client, match, "e4")
    check_problem(command(client, match, "resume"), 409, "not-now")
    state = done(command(client, match, "pause", reason="lunch ♞"))
    assert state["status"] == "paused"
    paused = wait_until(client, match, lambda event: event["type"] == "match.paused")
    assert paused["reason"] == "lunch ♞"
    check_problem(command(client, match, "moves", "black", move="e5"), 409, "not-now")
    check_problem(command(client, match, "pause"), 409, "not-now")
    assert done(command(client, match, "resume"))["status"] == "running"
    assert play(client, match, "e5")["ply_count"] == 2
    # Neither needs a body.
    for what, status in (("pause", "paused"), ("resume", "running"), ("abort", "aborted")):
        response = client.post(f"/api/matches/{match['id']}/{what}")
        assert done(response)["status"] == status


def test_a_match_is_resumed_with_another_budget(client):
    match = start(client, budget={"usd": 0.5, "calls": 7})
    assert match["budget"] == {"usd": "0.5", "tokens": None, "calls": 7}
    done(command(client, match, "pause"))
    for body, field in (({"budget": {"usd": -1}}, "budget.usd"), ({"money": 1}, "money")):
        response = command(client, match, "resume", **body)
        assert check_problem(response, 422, "invalid-request")["field"] == field
    state = done(command(client, match, "resume", budget={"usd": 2.5}))
    assert (state["status"], state["budget"]["usd"]) == ("running", "2.5")
    resumed = wait_until(client, match, lambda event: event["type"] == "match.resumed")
    assert resumed["budget"] == {"usd": "2.5", "tokens": None, "calls": None}
    assert done(command(client, match, "abort"))["budget"] == resumed["budget"]


def test_a_paused_match_can_be_ended(client):
    for what, seat, status in (("abort", None, "aborted"), ("resign", "white", "ended")):
        match = start(client)
        done(command(client, match, "pause"))
        assert done(command(client, match, what, seat))["status"] == status


def test_an_aborted_match_has_no_result(client):
    match = start(client, THINKER, THINKER)
    state = done(command(client, match, "abort", reason="enough"))
    assert (state["status"], state["result"], state["outcome"]) == ("aborted", "*", None)
    assert state["detail"] == "enough"
    assert state["ended_at"] is not None
    for what in ("abort", "pause", "resume"):
        check_problem(command(client, match, what), 409, "match-over")


def test_nobody_waits_for_ever_for_a_match_that_does_not_answer(client, monkeypatch):
    match = start(client)
    with monkeypatch.context() as patch:
        patch.setattr(match_commands, "_PATIENCE", 0)
        response = command(client, match, "moves", "white", move="e4")
    check_problem(response, 503, "no-answer")
    assert response.headers["retry-after"] == "5"
    # What was given up may have been done, or may not; the match goes on.
    assert done(command(client, match, "abort"))["status"] == "aborted"
