"""Positions over HTTP: the rules engine, and Stockfish, as a service."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from agents.catalogue import Catalogue
from agents.player import Turn
from agents.uci.limits import Limit
from app.http.analyses import Analyses, bounded
from app.settings import Settings
from engine import VARIANTS, Game
from tests.app.http.conftest import Parts, application, check_problem, served
from tests.support.processes import HANGS_AFTER, program, survivors, told, until
from tests.support.servers import serving

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
CASTLES_960 = "4k3/8/8/8/8/8/8/5KR1 w G - 0 1"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
PINNED = "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1"
TWO_KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1"
BARE_KINGS = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"


def post(client, path, body):
    return client.post(f"/api/positions/{path}", json=body)


# --- moves ---


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_moves_of_every_variant(client, variant):
    content = post(client, "moves", {"variant": variant}).json()
    game = Game(variant=variant)
    position = game.position
    assert content == {
        "fen": position.fen(),
        "variant": variant,
        "turn": "white",
        "check": False,
        "moves": [
            {"uci": move.uci(), "san": position.san(move)}
            for move in sorted(position.legal_moves(), key=lambda move: move.uci())
        ],
        "outcome": None,
    }


def test_moves_of_a_position(client):
    content = post(client, "moves", {"fen": "4k3/8/8/8/7q/8/8/4K3 w"}).json()
    assert content["fen"] == "4k3/8/8/8/7q/8/8/4K3 w - - 0 1"
    assert content["check"] is True
    assert {"uci": "e1d1", "san": "Kd1"} in content["moves"]
    chess960 = post(client, "moves", {"fen": CASTLES_960, "variant": "chess960"}).json()
    assert {"uci": "f1g1", "san": "O-O"} in chess960["moves"]  # the king takes its rook


@pytest.mark.parametrize(
    ("fen", "outcome"),
    [
        (MATED, ["black", "checkmate", "0-1", "Black wins by checkmate"]),
        (
            BARE_KINGS,
            [None, "insufficient_material", "1/2-1/2", "draw: neither side can checkmate"],
        ),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 150 99", [None, "seventy_five_moves", "1/2-1/2", None]),
    ],
)
def test_where_the_game_is_over_there_are_no_moves(client, fen, outcome):
    content = post(client, "moves", {"fen": fen}).json()
    assert content["moves"] == []
    assert list(content["outcome"].values())[:3] == outcome[:3]
    assert outcome[3] in (None, content["outcome"]["detail"])


#: A body, the kind of its problem, and the field at fault.
WRONG = {
    "no FEN": ({"fen": "hello"}, "invalid-fen", "fen"),
    "an empty FEN": ({"fen": ""}, "invalid-request", "fen"),
    "a long FEN": ({"fen": "8/" * 101}, "invalid-request", "fen"),
    "no kings": ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "illegal-position", "fen"),
    "a number for a FEN": ({"fen": 5}, "invalid-request", "fen"),
    "another variant's": ({"fen": START, "variant": "kings-cooking"}, "invalid-fen", "fen"),
    "no variant": ({"variant": "checkers"}, "unknown-variant", "variant"),
    "null for a variant": ({"variant": None}, "invalid-request", "variant"),
    "misspelt": ({"FEN": START}, "invalid-request", "FEN"),
}


@pytest.mark.parametrize("path", ["moves", "check", "play", "analyse"])
@pytest.mark.parametrize(("body", "kind", "field"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_position(client, path, body, kind, field):
    more = {"check": {"move": "e4"}, "play": {"moves": []}}.get(path, {})
    assert check_problem(post(client, path, body | more), 422, kind)["field"] == field


def test_a_rule_that_a_position_breaks_is_named(client):
    response = post(client, "moves", {"fen": "4k3/8/8/8/8/8/8/P3K3 w - - 0 1"})
    assert check_problem(response, 422, "illegal-position")["reason"] == "no_pawns_on_back_ranks"


# --- check ---

#: A position, a move, and what is told: UCI and SAN, or the reason.
CHECKS = {
    "SAN": (START, "Nf3", ("g1f3", "Nf3")),
    "UCI": (START, "g1f3", ("g1f3", "Nf3")),
    "long": (START, "Ng1-f3", ("g1f3", "Nf3")),
    "a figurine": (START, "♘f3", ("g1f3", "Nf3")),
    "pinned": (PINNED, "Nc3", "exposes_king"),
    "no way to move": (START, "Nf5", "no_such_piece"),
    "no way to go": (START, "e2e5", "not_how_it_moves"),
    "not there": (START, "e5e6", "no_piece"),
    "not yours": (START, "e7e5", "wrong_side"),
    "ambiguous": (TWO_KNIGHTS, "Nd2", "ambiguous"),
    "told apart": (TWO_KNIGHTS, "Nbd2", ("b1d2", "Nbd2")),
    "no move": (START, "hello", "unreadable"),
    "mated": (MATED, "e4", "game_over"),
    "drawn": (BARE_KINGS, "Kd2", "game_over"),
}


@pytest.mark.parametrize(("fen", "move", "expected"), CHECKS.values(), ids=CHECKS)
def test_checks(client, fen, move, expected):
    response = post(client, "check", {"fen": fen, "move": move})
    content = response.json()
    assert response.status_code == 200
    if isinstance(expected, tuple):
        uci, san = expected
        assert content == {"legal": True, "uci": uci, "san": san, "reason": None, "detail": None}
    else:
        assert (content["legal"], content["uci"], content["san"]) == (False, None, None)
        assert content["reason"] == expected
        assert content["detail"]


def test_a_check_of_another_variant(client):
    body = {"variant": "kings-cooking", "move": "b1a3"}
    assert post(client, "check", body).json()["san"] == "Nxa3"


@pytest.mark.parametrize("move", ["", "x" * 21, 5, None])
def test_what_is_no_text_of_a_move(client, move):
    response = post(client, "check", {"move": move})
    assert check_problem(response, 422, "invalid-request")["field"] == "move"


# --- play ---


def test_playing_moves(client):
    content = post(client, "play", {"moves": ["e4", "e7e5", "Qh5", "Nc6", "Bc4"]}).json()
    assert content["fen"] == "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
    assert (content["turn"], content["status"], content["outcome"]) == ("black", "active", None)
    assert [ply["san"] for ply in content["plies"]] == ["e4", "e5", "Qh5", "Nc6", "Bc4"]
    assert content["plies"][1]["uci"] == "e7e5"
    assert content["plies"][-1]["fen"] == content["fen"]


@pytest.mark.parametrize(
    ("moves", "status", "winner"),
    [
        ([], "active", None),
        (["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7"], "checkmate", "white"),
        (["f3", "e5", "Kf2", "Qf6", "a3", "Qxf3+"], "check", None),
        (["Nf3", "Nf6", "Ng1", "Ng8"] * 4, "draw", None),
        (["Nf3", "Nf6", "Ng1", "Ng8"] * 2, "active", None),  # a draw only for who claims it
    ],
)
def test_how_a_game_stands(client, moves, status, winner):
    content = post(client, "play", {"moves": moves}).json()
    assert content["status"] == status
    outcome = content["outcome"]
    assert (outcome and outcome["winner"]) == winner
    assert (outcome is None) == (status in ("active", "check"))


def test_the_first_move_that_cannot_be_played_is_named(client):
    response = post(client, "play", {"moves": ["e4", "e5", "Nf3", "Ke6", "nonsense"]})
    content = check_problem(response, 422, "illegal-move")
    assert (content["field"], content["reason"]) == ("moves.3", "not_how_it_moves")
    assert {"uci": "b8c6", "san": "Nc6"} in content["legal_moves"]
    assert len(content["legal_moves"]) == 29


#: The last move of a list that starts with e4, and the problem.
UNPLAYABLE = {
    "unreadable": (["e4", "?"], "unreadable-move", 20),
    "ambiguous": (["d4", "a6", "Nf3", "a5", "Nd2"], "ambiguous-move", 28),
    "after the end": (["f3", "e5", "g4", "Qh4", "a3"], "game-over", 0),
}


@pytest.mark.parametrize(("moves", "kind", "legal"), UNPLAYABLE.values(), ids=UNPLAYABLE)
@pytest.mark.parametrize("path", ["play", "analyse"])
def test_moves_that_cannot_be_played(client, path, moves, kind, legal):
    content = check_problem(post(client, path, {"moves": moves}), 422, kind)
    assert content["field"] == f"moves.{len(moves) - 1}"
    assert (len(content["legal_moves"]) > 0) == (legal > 0)


def test_long_games_are_played_and_longer_ones_refused(client):
    there_and_back = ["Nf3", "Nf6", "Ng1", "Ng8"]
    cooked = {"variant": "kings-cooking", "moves": ["a1a1"] * 2001}
    assert check_problem(post(client, "play", cooked), 422, "invalid-request")["field"] == "moves"
    response = post(client, "play", {"moves": there_and_back * 500})
    assert check_problem(response, 422, "game-over")["field"] == "moves.16"  # a fifth time


# --- analyse ---


def test_stockfish_thinks(client):
    body = {"moves": ["e4"], "nodes": 5000, "lines": 3}
    content = post(client, "analyse", body).json()
    assert (content["by"], content["turn"], content["outcome"]) == ("stockfish", "black", None)
    assert [each["rank"] for each in content["variations"]] == [1, 2, 3]
    for each in content["variations"]:
        assert sum(each["wdl"].values()) == 1000
        assert each["score"]["mate"] is None
        assert each["verdict"] is None
        assert each["moves"]
    # The same again, as nodes are counted and not seconds, except for the time it took.
    again = post(client, "analyse", body).json()
    for each in (*content["variations"], *again["variations"]):
        each.pop("time_ms")
    assert again == content


@pytest.mark.parametrize(
    ("fen", "mate"),
    [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 1),
        ("k2r4/8/8/8/8/8/5PPP/6K1 b - - 0 1", -1),  # from White's side
    ],
)
def test_scores_are_from_the_side_of_white(client, fen, mate):
    for limit in ({"depth": 3}, {"time_ms": 200}, {"nodes": 2000, "depth": 3}):
        best = post(client, "analyse", {"fen": fen} | limit).json()["variations"][0]
        assert best["score"] == {"centipawns": None, "mate": mate, "bound": None}
        assert best["wdl"]["win" if mate > 0 else "loss"] == 1000
        assert best["moves"][0]["san"].endswith("#")


def test_chess960_is_analysed(client):
    body = {"fen": CASTLES_960, "variant": "chess960", "nodes": 1000}
    assert post(client, "analyse", body).json()["variations"][0]["moves"]


def test_a_game_that_is_over_is_not_thought_about(client):
    content = post(client, "analyse", {"fen": MATED}).json()
    assert content["outcome"]["winner"] == "black"
    assert content["variations"] == []
    repeated = {"moves": ["Nf3", "Nf6", "Ng1", "Ng8"] * 4}
    content = post(client, "analyse", repeated).json()
    assert content["outcome"]["termination"] == "fivefold_repetition"


def test_kings_cooking_is_solved(client):
    body = {"fen": "R1b/3/1Nn w - - B r 2", "variant": "kings-cooking", "lines": 3}
    content = post(client, "analyse", body).json()
    assert content["by"] == "solver"
    best = content["variations"][0]
    assert content["verdict"]["value"] == best["verdict"]["value"]
    assert best["score"] is None
    assert len(best["moves"]) == 1
    assert [each["rank"] for each in content["variations"]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", 0), ("nodes", 5_000_001), ("nodes", "5"), ("nodes", 1.5), ("nodes", True),
        ("depth", 0), ("depth", 31), ("time_ms", 0), ("time_ms", 10_001), ("lines", 0),
        ("lines", 11), ("lines", None), ("moves", "e4"), ("moves", None), ("engine", "/bin/sh"),
    ],
)  # fmt: skip
def test_limits_are_limited(client, field, value):
    response = post(client, "analyse", {field: value})
    assert check_problem(response, 422, "invalid-request")["field"] == field


def test_no_search_is_without_a_bound():
    assert (bounded(Limit()).nodes, bounded(Limit()).time.seconds) == (200_000, 10)
    assert (bounded(Limit(depth=30)).nodes, bounded(Limit(depth=30)).time.seconds) == (None, 10)


def catalogue_of(mode: str, log: Path | None = None, **patience: float) -> Catalogue:
    return Catalogue(stockfish=program(mode, log=log, **patience), processes=1)


@pytest.mark.parametrize("mode", ["DiesAtStart", "DiesThinking"])
def test_a_stockfish_that_does_not_work(mode, caplog):
    with served(Parts(catalogue=catalogue_of(mode))) as server, server.client() as client:
        response = post(client, "analyse", {})
    content = check_problem(response, 503, "engine-unavailable")
    assert "died" not in content["detail"]
    assert response.headers["retry-after"] == "10"
    assert any("died" in each.getMessage() for each in caplog.records)


def test_no_stockfish_at_all(monkeypatch):
    monkeypatch.setenv("STOCKFISH_PATH", "/nowhere/stockfish")
    with served() as server, server.client() as client:
        response = post(client, "analyse", {})
        assert post(client, "play", {"moves": ["e4"]}).status_code == 200
    check_problem(response, 503, "engine-unavailable")
    assert "/nowhere" not in response.text


REQUEST = (
    b"POST /api/positions/analyse HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 14\r\n\r\n"
    b'{"nodes": 100}'
)


def wait_until(condition) -> None:
    asyncio.run(asyncio.wait_for(until(condition), HANGS_AFTER))


def test_a_client_that_goes_away_ends_the_search(tmp_path, caplog):
    log = tmp_path / "log"
    with served(Parts(catalogue=catalogue_of("UntilStop", log))) as server:
        with server.connect() as connection:
            connection.sendall(REQUEST)
            wait_until(lambda: log.exists() and goes(log))
            assert "stop" not in told(log)
        wait_until(lambda: "stop" in told(log))
    assert survivors() == set()
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


def test_only_so_many_wait_for_an_analysis(tmp_path):
    parts = Parts(Settings(engine_processes=1), catalogue_of("UntilStop", tmp_path / "log"))
    app = application(parts)
    places = app.state.analyses._places
    with serving(app) as server, server.client() as client:
        connections = [server.connect() for _ in range(8)]
        for connection in connections:
            connection.sendall(REQUEST)
        wait_until(lambda: places.taken == 8)
        response = post(client, "analyse", {"nodes": 100})
        check_problem(response, 429, "too-many-analyses")
        assert response.headers["retry-after"] == "5"
        assert post(client, "play", {"moves": []}).status_code == 200
        for connection in connections:
            connection.close()
        wait_until(lambda: places.taken == 0)


@pytest.mark.parametrize(("processes", "searches"), [(1, 1), (2, 1), (4, 2)])
def test_analyses_leave_processes_to_matches(tmp_path, processes, searches):
    log = tmp_path / "log"
    catalogue = Catalogue(stockfish=program("UntilStop", log=log), processes=processes)

    async def main() -> None:
        analyses = Analyses(catalogue, processes)
        turn = Turn.of(Game())
        async with catalogue, asyncio.timeout(HANGS_AFTER):
            tasks = [
                asyncio.create_task(analyses.by_stockfish(turn, Limit(), 1, "a")) for _ in range(5)
            ]
            await until(lambda: log.exists() and goes(log) == searches)
            async with catalogue.pool("stockfish").lease() if processes > 1 else nullcontext():
                assert goes(log) == searches
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    asyncio.run(main())


def goes(log: Path) -> int:
    return sum(line.startswith("go ") for line in told(log))


def test_examples_work(client):
    document = client.get("/openapi.json").json()
    for path in ("moves", "check", "play", "analyse"):
        name = document["paths"][f"/api/positions/{path}"]["post"]["requestBody"]["content"][
            "application/json"
        ]["schema"]["$ref"].rpartition("/")[2]
        for example in document["components"]["schemas"][name]["examples"]:
            assert post(client, path, example).status_code == 200, json.dumps(example)
