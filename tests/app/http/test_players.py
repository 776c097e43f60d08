"""Players over HTTP: who can be seated, what they play, and how strong they are."""

from __future__ import annotations

from agents.catalogue import Catalogue
from agents.uci.program import UciProgram
from agents.uci.ratings import Ratings
from engine import VARIANTS
from tests.app.http.conftest import Parts, check_problem, served

CHESS = ["standard", "chess960"]


def listed(client) -> dict[str, dict]:
    return {each["name"]: each for each in client.get("/api/players").json()["players"]}


def test_everybody_who_can_be_seated_is_listed(client):
    players = listed(client)
    assert set(players) == {"human", *Catalogue().names}
    for name, player in players.items():
        assert player["kind"] == name.partition(":")[0]
        assert player["title"]
        for variant in player["variants"]:
            if name != "human" and player["unavailable"] is None:
                Catalogue().seat(name, variant)


def test_teams_are_listed_with_what_they_lack(client, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    team = listed(client)["team:default"]
    assert (team["kind"], team["title"]) == ("team", "Default team")
    assert team["variants"] == list(VARIANTS)
    assert team["models"] == ["openai/gpt-5-mini"]
    assert team["unavailable"] == (
        "the model 'openai/gpt-5-mini' cannot be asked: OPENAI_API_KEY is not set"
    )
    assert listed(client)["solo:frugal"]["kind"] == "solo"
    classical = listed(client)["classical"]
    assert (classical["models"], classical["unavailable"]) == ([], None)


def test_who_plays_what(client):
    players = listed(client)
    assert players["human"]["variants"] == players["random"]["variants"] == list(VARIANTS)
    assert players["solver"]["variants"] == ["kings-cooking"]
    assert players["stockfish:5"]["variants"] == CHESS
    assert players["stockfish:5"]["title"] == "Stockfish, level 5"
    assert players["stockfish:5"]["description"] == "10% at random, else skill 0, depth 1"


def test_how_strong_they_are(client):
    ratings = Ratings.load()
    content = client.get("/api/players").json()
    players = {each["name"]: each for each in content["players"]}
    rated = ratings.players["stockfish:3"]
    assert players["stockfish:3"]["rating"] == {
        "elo": rated.elo, "low": rated.low, "high": rated.high, "games": rated.games,
    }  # fmt: skip
    assert players["human"]["rating"] is None
    assert content["ratings_engine"] == ratings.engine
    assert content["ratings_anchors"] == dict(ratings.anchors)


def test_an_engine_of_the_operator_is_listed_without_its_path():
    programs = {"mine": UciProgram("My Engine 2", ("/opt/secret/engine", "--key=hunter2"))}
    with served(Parts(catalogue=Catalogue(programs))) as server, server.client() as client:
        response = client.get("/api/players")
        player = listed(client)["uci:mine"]
    assert (player["kind"], player["title"]) == ("uci", "My Engine 2")
    assert player["variants"] == CHESS
    assert "secret" not in response.text
    assert "hunter2" not in response.text


def test_who_is_not_installed_is_not_listed(monkeypatch):
    monkeypatch.setenv("STOCKFISH_PATH", "/nowhere/stockfish")
    with served() as server, server.client() as client:
        players = listed(client)
    assert "random" in players
    assert not [name for name in players if name.startswith("stockfish")]


def test_damaged_ratings_are_told_to_the_operator(tmp_path, caplog):
    path = tmp_path / "ratings.json"
    path.write_text("{}")
    parts = Parts(catalogue=Catalogue(ratings_file=path))
    with served(parts) as server, server.client() as client:
        response = client.get("/api/players")
    check_problem(response, 503, "ratings-unavailable")
    assert str(path) not in response.text
    assert any("'kibitz_ratings' is missing" in each.getMessage() for each in caplog.records)
