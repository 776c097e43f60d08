"""Evaluations over HTTP, on either database: from the start to the report."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import socket
import threading
from collections.abc import Iterator
from itertools import count
from xml.etree import ElementTree

import httpx
import pytest

from agents.random_player import RandomPlayer
from app.evaluations.plan import read_plan
from app.evaluations.reports.palette import LIGHT
from app.http import evaluation_reports
from app.http.evaluation_answers import (
    EvaluationDetails,
    EvaluationList,
    EvaluationState,
    PlanEstimateAnswer,
)
from app.http.evaluation_plots import PlotsAnswer
from app.http.evaluation_reports import ReportAnswer
from app.http.ratings import LeaderboardAnswer
from engine import read_games
from tests.app.http.conftest import check_problem
from tests.app.http.evaluation_service import (
    BACK_RANK,
    DUEL,
    ENDLESS,
    FORK,
    QUICK,
    begin,
    command,
    done,
    finished,
    look,
    matches_of,
    playing,
    wait_until,
)
from tests.app.http.match_service import THINKER, either_database, running  # noqa: F401 - fixtures
from tests.support.databases import postgres  # noqa: F401
from tests.support.processes import HANGS_AFTER

#: Which no evaluation has.
NOBODY = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"

PREFIX = "/api/evaluations"
LADDER = {
    "kind": "ladder",
    "agents": ["random"],
    "anchors": [{"name": "stockfish:1", "elo": 140}],
    "games": 2,
    **QUICK,
}
POSITIONS = {"kind": "positions", "agents": ["random"], "positions": [BACK_RANK, FORK]}


@pytest.fixture(scope="module")
def client(database, tmp_path_factory) -> Iterator[httpx.Client]:
    with running(database, tmp_path_factory.mktemp("data")) as served, served.client() as client:
        yield client


@pytest.fixture(scope="module")
def duel(client):
    """A duel that was played, with its games analysed."""
    evaluation = begin(client, DUEL | {"name": "<b>duel</b>", "analysis": {"nodes": 50}})
    return finished(client, evaluation)


# --- from the start to the end ---


def test_a_duel_is_played_and_told(client, duel):
    assert duel["detail"] == "all 4 games were played"
    assert duel["ended_at"] is not None
    progress = duel["progress"]
    assert progress["phase"] == "done"
    assert progress["games"] == {"scored": 4, "playing": 0, "void": 0, "expected": 4}
    assert progress["analysed"] == 4
    assert [agent["agent"] for agent in progress["agents"]] == ["random", "stockfish:1"]
    matches = matches_of(client, duel)
    assert [match["status"] for match in matches] == ["ended"] * 4
    assert {match["evaluation_id"] for match in matches} == {duel["id"]}
    assert [match["white"]["name"] for match in matches].count("random") == 2


def test_an_evaluation_and_its_plan(client, duel):
    response = client.get(f"{PREFIX}/{duel['id']}")
    found = response.json()
    EvaluationDetails.model_validate(found)
    assert found["plan"]["games"] == 4
    assert found["plan"]["match"]["max_plies"] == 12
    assert found["plan"]["seed"] == 1  # defaults and all
    assert read_plan(found["plan"]).kind == "duel"
    tag = response.headers["etag"]
    assert tag == f'W/"{found["revision"]}"'
    again = client.get(f"{PREFIX}/{duel['id']}", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    older = client.get(f"{PREFIX}/{duel['id']}", headers={"If-None-Match": 'W/"0"'})
    assert older.json() == found


def test_the_answer_to_a_start_is_where_to_find_it(client):
    response = client.post(PREFIX, json=ENDLESS)
    content = response.json()
    EvaluationDetails.model_validate(content)
    assert response.headers["location"] == f"{PREFIX}/{content['id']}"
    assert (content["status"], content["progress"], content["revision"]) == ("created", None, 0)
    assert client.get(response.headers["location"]).json()["id"] == content["id"]
    done(command(client, content, "cancel"))


def test_a_ladder_tells_a_rating(client):
    state = finished(client, begin(client, LADDER))
    EvaluationState.model_validate(state)
    (agent,) = state["progress"]["agents"]
    assert agent["rating"]["games"] == 2
    assert look(client, state)["plan"]["anchors"][0]["elo_se"] == 0


def test_positions_are_asked(client):
    state = finished(client, begin(client, POSITIONS))
    assert state["progress"]["games"]["scored"] == 2
    assert state["progress"]["agents"] == [{"agent": "random", "games": 2}]
    rows = table(client.get(f"{PREFIX}/{state['id']}/report.csv"))
    assert [row["position_id"] for row in rows] == ["back rank", "out of the pin"]
    assert {row["agent"] for row in rows} == {"random"}


def test_a_pool_without_anchors(client):
    pool = {"kind": "pool", "agents": ["random", "stockfish:1"], "rounds": 1, **QUICK}
    state = finished(client, begin(client, pool))
    report = client.get(f"{PREFIX}/{state['id']}/report").json()
    assert report["crosstable"] is not None


# --- commands ---


def test_a_paused_evaluation_goes_on_where_it_was(client, monkeypatch):
    """It is paused after a game, in which Random decides at most six times, and during another."""
    decide, numbers = RandomPlayer.decide, count(1)
    reached, gate = threading.Event(), threading.Event()

    async def decide_later(player, turn):
        if next(numbers) > 8 and not gate.is_set():
            reached.set()
            await asyncio.to_thread(gate.wait)
        return await decide(player, turn)

    monkeypatch.setattr(RandomPlayer, "decide", decide_later)
    try:
        evaluation = begin(client, DUEL, concurrency=1)
        assert reached.wait(HANGS_AFTER)
        paused = done(command(client, evaluation, "pause"))
        assert paused["status"] == "paused"
        EvaluationState.model_validate(paused)
        before = matches_of(client, evaluation)
        *over, last = [match["status"] for match in before]
        assert (set(over), last) == ({"ended"}, "paused")
        check_problem(command(client, evaluation, "pause"), 409, "not-now")
        # Somebody may have taken it up already.
        assert done(command(client, evaluation, "resume"))["status"] in ("created", "running")
    finally:
        gate.set()
    state = finished(client, evaluation)
    assert state["progress"]["games"] == {"scored": 4, "playing": 0, "void": 0, "expected": 4}
    after = matches_of(client, evaluation)
    assert len(after) == 4  # nothing was played twice
    assert {match["id"] for match in before} < {match["id"] for match in after}


def test_games_under_way_stand_still_while_it_is_paused(client):
    evaluation = begin(client, ENDLESS)
    wait_until(client, evaluation, playing(2))
    done(command(client, evaluation, "pause"))
    assert [it["status"] for it in matches_of(client, evaluation)] == ["paused", "paused"]
    check_problem(command(client, evaluation, "pause"), 409, "not-now")
    done(command(client, evaluation, "resume"))
    state = wait_until(client, evaluation, lambda it: it["status"] == "running")
    assert state["detail"] == ""
    check_problem(command(client, evaluation, "resume"), 409, "not-now")
    done(command(client, evaluation, "cancel"))


def test_a_cancelled_evaluation_is_over_for_good(client):
    evaluation = begin(client, ENDLESS)
    wait_until(client, evaluation, playing(2))
    cancelled = done(command(client, evaluation, "cancel"))
    assert (cancelled["status"], cancelled["detail"]) == ("cancelled", "it was cancelled")
    assert cancelled["ended_at"] is not None
    assert [it["status"] for it in matches_of(client, evaluation)] == ["aborted", "aborted"]
    for what in ("pause", "resume", "cancel"):
        told = check_problem(command(client, evaluation, what), 409, "evaluation-over")
        assert told["detail"] == f"evaluation {evaluation['id']} is cancelled"


def test_a_finished_evaluation_takes_no_commands(client, duel):
    for what in ("pause", "resume", "cancel"):
        check_problem(command(client, duel, what), 409, "evaluation-over")


def test_another_budget(client):
    evaluation = begin(client, ENDLESS, budget={"calls": 5})
    wait_until(client, evaluation, playing(2))
    done(command(client, evaluation, "pause"))
    done(command(client, evaluation, "resume", budget={"usd": 2.5}))
    budget = {"usd": "2.5", "tokens": None, "calls": None}
    wait_until(client, evaluation, lambda it: it["progress"]["budget"] == budget)
    assert look(client, evaluation)["plan"]["budget"] == {"usd": 2.5, "tokens": None, "calls": None}
    done(command(client, evaluation, "cancel"))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"budget": {"usd": -1}}, "budget.usd"),
        ({"budget": {"cents": 1}}, "budget.cents"),
        ({"reason": "lunch"}, "reason"),
        ({"budget": 5}, "budget"),
    ],
)
def test_a_resumption_that_cannot_be_read(client, duel, body, field):
    problem = check_problem(command(client, duel, "resume", **body), 422, "invalid-request")
    assert (problem["field"], problem["in"]) == (field, "body")


# --- finding ---


def test_evaluations_come_page_by_page_the_newest_first(client, duel):
    evaluations = [begin(client, ENDLESS) for _ in range(3)]
    for each in evaluations:
        done(command(client, each, "cancel"))
    page = client.get(PREFIX, params={"limit": 2}).json()
    EvaluationList.model_validate(page)
    assert [it["id"] for it in page["evaluations"]] == [it["id"] for it in evaluations[:0:-1]]
    assert "plan" not in page["evaluations"][0]
    following = client.get(PREFIX, params={"limit": 1, "cursor": page["next_cursor"]})
    assert [it["id"] for it in following.json()["evaluations"]] == [evaluations[0]["id"]]
    assert 'rel="next"' in following.headers["link"]
    everything = client.get(PREFIX, params={"limit": 200}).json()
    assert everything["next_cursor"] is None
    over = client.get(PREFIX, params={"status": "finished", "limit": 200}).json()["evaluations"]
    assert {it["status"] for it in over} == {"finished"}
    assert duel["id"] in [it["id"] for it in over]
    assert client.get(PREFIX, params={"status": "paused"}).json()["evaluations"] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "lost"}, "status"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"player": "random"}, "player"),
    ],
)
def test_lists_that_cannot_be(client, query, field):
    problem = check_problem(client.get(PREFIX, params=query), 422, "invalid-request")
    assert (problem["field"], problem["in"]) == (field, "query")


ROUTES = [
    ("GET", ""),
    ("GET", "/events"),
    ("GET", "/report"),
    ("GET", "/report.json"),
    ("GET", "/report.html"),
    ("GET", "/report.csv"),
    ("GET", "/plots"),
    ("GET", "/pgn"),
    ("POST", "/pause"),
    ("POST", "/resume"),
    ("POST", "/cancel"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("evaluation_id", [NOBODY, "nonsense", "%00", NOBODY.upper()])
def test_there_is_no_such_evaluation(client, method, path, evaluation_id):
    response = client.request(method, f"{PREFIX}/{evaluation_id}{path}")
    assert (
        "there is no evaluation" in check_problem(response, 404, "evaluation-not-found")["detail"]
    )


# --- reports ---


def table(response):
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in response.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(response.text)))


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/csv", "text/csv; charset=utf-8"),
        ("text/html", "text/html; charset=utf-8"),
        # as browsers ask
        (
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/html; charset=utf-8",
        ),
        ("text/csv;q=0.5, text/html;q=0.4", "text/csv; charset=utf-8"),
    ],
)
def test_a_report_comes_as_it_is_accepted(client, duel, accept, media_type):
    request = client.build_request("GET", f"{PREFIX}/{duel['id']}/report")
    if accept is None:
        del request.headers["accept"]
    else:
        request.headers["accept"] = accept
    response = client.send(request)
    assert response.status_code == 200
    assert response.headers["content-type"] == media_type
    assert response.headers["vary"] == "Accept"


def test_a_report_comes_in_no_other_format(client, duel):
    url = f"{PREFIX}/{duel['id']}/report"
    problem = check_problem(client.get(url, headers={"Accept": "image/png"}), 406, "no-such-format")
    assert problem["detail"] == "a report comes as application/json or text/html or text/csv"
    check_problem(client.get(f"{url}.pdf"), 404, "not-found")


def test_the_report_as_json(client, duel):
    report = client.get(f"{PREFIX}/{duel['id']}/report.json").json()
    ReportAnswer.model_validate(report)
    assert report["counts"]["games"] == report["counts"]["analysed"] == 4
    assert report["duel"] is not None
    assert {agent["label"] for agent in report["agents"]} == {"random", "stockfish:1"}
    assert report["plan"]["games"] == 4
    assert report["manifest"]["engines"][0]["digest"].startswith("sha256:")
    # What is stored is told, and nothing is made anew.
    assert client.get(f"{PREFIX}/{duel['id']}/report").json() == report


def test_the_report_as_a_page_that_nobody_can_abuse(client, duel):
    response = client.get(f"{PREFIX}/{duel['id']}/report.html")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in response.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert "script-src" not in policy
    assert policy["style-src"].startswith("'sha256-")
    assert policy["frame-ancestors"] == "'none'"
    assert policy["sandbox"] == ""
    assert "&lt;b&gt;duel&lt;/b&gt;" in response.text
    assert "<b>duel" not in response.text
    assert "<script" not in response.text
    assert "<svg" in response.text


def test_the_plots_of_a_report(client, duel):
    content = client.get(f"{PREFIX}/{duel['id']}/plots").json()
    PlotsAnswer.model_validate(content)
    plots = {plot["key"]: plot for plot in content["plots"]}
    assert list(plots) == ["rating", "accuracy", "cost"]  # nobody broke a rule
    for plot in plots.values():
        assert plot["title"]
        assert plot["caption"]
        assert "style" not in plot["svg"]
        picture = ElementTree.fromstring(plot["svg"])
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert LIGHT["series-1"] in plots["rating"]["svg"]  # what a page replaces


def test_the_games_as_a_table(client, duel):
    rows = table(client.get(f"{PREFIX}/{duel['id']}/report.csv"))
    assert [row["number"] for row in rows] == ["1", "2", "3", "4"]
    matches = {match["id"] for match in matches_of(client, duel)}
    assert {row["match_id"] for row in rows} == matches


def test_the_games_as_pgn(client, duel):
    response = client.get(f"{PREFIX}/{duel['id']}/pgn")
    assert response.headers["content-type"] == "application/x-chess-pgn; charset=utf-8"
    name = f'attachment; filename="kibitz-{duel["id"]}.pgn"'
    assert response.headers["content-disposition"] == name
    games = list(read_games(response.text))
    assert [game.tags["Round"] for game in games] == ["1", "2", "3", "4"]
    assert {game.tags["White"] for game in games} == {"random", "stockfish:1"}
    assert all(0 < len(game.plies) <= 12 for game in games)


def test_what_is_under_way_can_be_reported(client):
    evaluation = begin(client, ENDLESS)
    wait_until(client, evaluation, playing(2))
    url = f"{PREFIX}/{evaluation['id']}"
    report = client.get(f"{url}/report").json()
    ReportAnswer.model_validate(report)
    assert (report["status"], report["counts"]["games"]) == ("running", 0)
    assert "running" in client.get(f"{url}/report.html").text
    plots = client.get(f"{url}/plots").json()["plots"]
    assert "rating" not in {plot["key"] for plot in plots}  # of nobody anything is known
    assert table(client.get(f"{url}/report.csv")) == []
    assert client.get(f"{url}/pgn").text == ""
    done(command(client, evaluation, "cancel"))


def test_nobody_waits_behind_a_client_that_does_not_wait_for_a_report(client, duel, monkeypatch):
    """Reports are made one at a time, and of the first one that is asked for, nothing comes."""
    render, numbers = evaluation_reports.render_html, count(1)
    begun, gate = threading.Event(), threading.Event()

    def render_later(report):
        if next(numbers) == 1:
            begun.set()
            gate.wait()
        return render(report)

    monkeypatch.setattr(evaluation_reports, "render_html", render_later)
    url = f"{PREFIX}/{duel['id']}/report.html"
    try:
        address = client.base_url.host, client.base_url.port
        with socket.create_connection(address, timeout=HANGS_AFTER) as hasty:
            hasty.sendall(f"GET {url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert begun.wait(HANGS_AFTER)
        assert client.get(url).status_code == 200
    finally:
        gate.set()


# --- the leaderboard ---


def test_the_leaderboard_grows_with_every_evaluation(client, duel):
    def row():
        board = client.get("/api/ratings").json()
        LeaderboardAnswer.model_validate(board)
        (found,) = [each for each in board["rows"] if each["label"] == "mine"]
        return found

    mine = LADDER | {"agents": [{"name": "random", "title": "mine"}]}
    first = finished(client, begin(client, mine))
    before = row()
    assert before["evaluations"] == [first["id"]]
    assert (before["games"], before["rating"]["games"]) == (2, 2)
    second = finished(client, begin(client, mine))
    after = row()
    assert after["evaluations"] == [first["id"], second["id"]]
    assert (after["games"], after["identity"]) == (4, before["identity"])
    labels = [each["label"] for each in client.get("/api/ratings").json()["rows"]]
    assert "stockfish:1" in labels  # which was measured in the duel


def test_one_name_for_two_players_makes_two_rows(client):
    for name in ("random", "stockfish:1"):
        agent = {"name": name, "title": "twofold"}
        finished(client, begin(client, LADDER | {"agents": [agent], "anchors": [anchor("random")]}))
    board = client.get("/api/ratings").json()
    rows = [each for each in board["rows"] if each["label"] == "twofold"]
    assert len({row["identity"] for row in rows}) == len(rows) == 2
    assert any("twofold has several rows" in note for note in board["notes"])


@pytest.mark.usefixtures("without_coverage")
def test_every_variant_has_a_leaderboard_of_its_own(client):
    def labels(**query):
        return {row["label"] for row in client.get("/api/ratings", params=query).json()["rows"]}

    agent = {"name": "random", "title": "cook"}
    plan = LADDER | {"agents": [agent], "anchors": [anchor("solver")], "variant": "kings-cooking"}
    # Stockfish does not know the rules, so that nobody looks at the games.
    short = {"match": {"max_plies": 2}, "analysis": {"nodes": 1_000}}
    state = finished(client, begin(client, plan | short))
    assert state["progress"]["analysed"] == 0
    assert labels(variant="kings-cooking") == {"cook"}
    assert "cook" not in labels()
    assert labels() == labels(variant="standard")
    response = client.get("/api/ratings", params={"variant": "draughts"})
    assert check_problem(response, 422, "unknown-variant")["field"] == "variant"


def anchor(name, elo=-380):
    return {"name": name, "elo": elo}


# --- metrics ---


def test_evaluations_and_their_games_are_counted(tmp_path):
    with (
        running(f"sqlite:///{tmp_path / 'kibitz.db'}", tmp_path) as served,
        served.client() as client,
    ):
        finished(client, begin(client, DUEL))
        wait_until(client, begin(client, ENDLESS), playing(2))
        told = client.get("/metrics").text.splitlines()
    assert 'kibitz_evaluations{status="finished"} 1.0' in told
    assert 'kibitz_evaluations{status="running"} 1.0' in told
    assert 'kibitz_evaluations{status="paused"} 0.0' in told
    assert 'kibitz_evaluation_games{status="scored"} 4.0' in told
    assert 'kibitz_evaluation_games{status="playing"} 2.0' in told
    assert 'kibitz_evaluation_games{status="void"} 0.0' in told


# --- the document ---


def test_the_examples_are_as_the_schemas_say():
    for model in (
        EvaluationState,
        EvaluationDetails,
        EvaluationList,
        PlanEstimateAnswer,
        LeaderboardAnswer,
        ReportAnswer,
    ):
        extra = model.model_config["json_schema_extra"]
        for example in extra.get("examples") or [extra["example"]]:
            told = model.model_validate(example)
            assert json.loads(told.model_dump_json(exclude_unset=True)).keys() == example.keys()
