"""What the doctor says of teams and models, without and with asking them."""

from __future__ import annotations

import socket
from datetime import timedelta
from decimal import Decimal

import pytest

from agents.errors import UnknownPlayer
from agents.models.errors import ModelNotConfigured, RecordingBroken
from agents.team.errors import InvalidTeam
from app.catalogue import make_catalogue
from app.doctor.asking import AsksNoModel, ask_model, models_to_ask
from app.doctor.findings import Sign
from app.doctor.models import look_at_models
from app.doctor.teams import look_at_teams
from app.settings import load_settings
from tests.support.folders import as_somebody_else
from tests.support.model_server import (
    EMPTY,
    HTML,
    Fails,
    Hangs,
    ModelServer,
    Says,
    rate_limited,
)
from tests.support.processes import HANGS_AFTER, run

KEY = "sk-that-nobody-may-see"
PATIENCE = timedelta(seconds=HANGS_AFTER)
MINE = "mine/model"
TEAM = """\
title = "Mine"
mode = "solo"

[selector]
model = "{model}"
max_tokens = 100
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    monkeypatch.delenv("MINE_KEY", raising=False)
    (tmp_path / "teams").mkdir()
    return tmp_path


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("MINE_KEY", KEY)


def settings_of(base_url="http://127.0.0.1:1/v1", **others):
    providers = {"mine": {"base_url": base_url, "api_key_env": "MINE_KEY"}}
    return load_settings(**({"providers": providers, "model": MINE} | others))


def looked(**others):
    settings = settings_of(**others)
    catalogue = make_catalogue(settings.model_copy(update={"record_file": None}))
    return look_at_models(settings, catalogue)


# --- teams ---


def test_the_teams_that_are_shipped():
    (finding,) = look_at_teams(settings_of())
    assert finding.sign is Sign.OK
    assert finding.case.startswith("5 are shipped: default, frugal, ")


def test_teams_of_ones_own(folder):
    (finding,) = look_at_teams(settings_of(teams_folder=str(folder / "teams")))
    assert finding.case.endswith(f"; in {folder / 'teams'} there are none")
    (folder / "teams" / "two.toml").write_text(TEAM.format(model=MINE))
    (finding,) = look_at_teams(settings_of(teams_folder=str(folder / "teams")))
    assert finding.case.endswith("there are 1: two")
    assert finding.figures["own"] == ["two"]


def test_a_team_that_is_wrong(folder):
    (folder / "teams" / "two.toml").write_text("members = 3")
    with pytest.raises(InvalidTeam, match="'two'"):
        look_at_teams(settings_of(teams_folder=str(folder / "teams")))


# --- models, without asking ---


def test_a_key_that_is_missing():
    (finding,) = looked()
    assert (finding.subject, finding.sign) == ("Model", Sign.WARN)
    assert finding.case == (
        "team:default, solo:default, team:frugal and 7 more cannot ask mine/model: "
        "MINE_KEY is not set"
    )
    assert finding.advice == "export MINE_KEY=..., or set `model` to one that you can ask"
    assert len(finding.figures["asked_by"]) == 10


@pytest.mark.usefixtures("key")
def test_a_key_that_is_there_and_a_price():
    price = {"input": "0.250", "output": Decimal(2)}
    (finding,) = looked(prices={MINE: price})
    assert finding.sign is Sign.OK
    assert finding.case.endswith(
        ": MINE_KEY is set; a million tokens cost 0.25 USD read, and 2 USD written"
    )
    assert KEY not in repr(finding)


@pytest.mark.usefixtures("key")
def test_a_price_that_nobody_knows():
    finding, *others = looked()
    assert finding.sign is Sign.NOTE
    assert finding.case.endswith(": MINE_KEY is set; nobody knows what it costs")
    assert '[prices."mine/model"]' in finding.advice
    assert [each.sign for each in others] == [Sign.WARN] * len(others)


@pytest.mark.usefixtures("key")
def test_a_team_that_nobody_can_pay_for(folder):
    text = TEAM.format(model=MINE) + "\n[budget]\nusd = 1\n"
    (folder / "teams" / "dear.toml").write_text(text)
    *_, team, solo = looked(teams_folder=str(folder / "teams"))
    assert (team.sign, solo.sign) == (Sign.WARN, Sign.WARN)
    assert team.case.startswith("team:dear cannot be seated: it has a budget in USD, and nobody")


def test_a_team_without_a_key_is_told_of_once(folder):
    text = TEAM.format(model=MINE) + "\n[budget]\nusd = 1\n"
    (folder / "teams" / "dear.toml").write_text(text)
    assert len(looked(teams_folder=str(folder / "teams"))) == 1


def test_a_model_on_ones_own_machine():
    (finding,) = looked(model="ollama/llama3.2")
    assert finding.sign is Sign.OK
    assert finding.case.endswith(": it needs no key; it costs nothing")


def test_a_provider_that_nobody_knows(folder):
    (folder / "teams" / "odd.toml").write_text(TEAM.format(model="odd/model"))
    _, finding = looked(teams_folder=str(folder / "teams"))
    assert finding.sign is Sign.WARN
    assert "cannot ask odd/model: there is no such provider; known are" in finding.case
    assert finding.advice == "mend [providers.odd] in the settings"


def test_a_provider_without_an_address():
    with pytest.raises(ModelNotConfigured, match="its base_url is not set"):
        looked(providers={"new": {}})


def test_a_recording_that_is_to_be_written(folder):
    note, _ = looked(record_file=str(folder / "new.jsonl"))
    assert note.sign is Sign.NOTE
    assert note.case.endswith(f"is written to {folder / 'new.jsonl'}")
    assert not (folder / "new.jsonl").exists()
    (folder / "old.jsonl").touch()
    assert looked(record_file=str(folder / "old.jsonl"))[0].sign is Sign.NOTE


def test_a_recording_that_cannot_be_written(folder):
    (folder / "locked").touch(0o400)
    catalogue = make_catalogue(settings_of())
    for bad in (folder / "teams", folder / "missing" / "new.jsonl", folder / "locked"):
        settings = settings_of(record_file=str(bad))
        with as_somebody_else():
            failure, _ = look_at_models(settings, catalogue)
        assert failure.sign is Sign.FAIL
        assert failure.case == f"the recording {bad} cannot be written"


def test_a_recording_that_is_played_back(folder):
    file = folder / "calls.jsonl"
    file.touch()
    (note,) = looked(replay_file=str(file))
    assert note.case == f"all answers come from {file}, so no provider is asked"
    settings = settings_of(replay_file=str(folder / "missing"))
    catalogue = make_catalogue(settings_of())
    with pytest.raises(RecordingBroken, match="missing"):
        look_at_models(settings, catalogue)


# --- whom to ask ---


def test_whom_to_ask():
    settings = settings_of()
    catalogue = make_catalogue(settings)
    assert models_to_ask("", settings, catalogue) == (MINE,)
    assert models_to_ask("team:default", settings, catalogue) == (MINE,)
    assert models_to_ask("a/b/c", settings, catalogue) == ("a/b/c",)
    with pytest.raises(UnknownPlayer):
        models_to_ask("team:nobody", settings, catalogue)
    with pytest.raises(AsksNoModel, match="'random' asks no model: name a team, or a model as"):
        models_to_ask("random", settings, catalogue)


# --- asking ---


def asked(behaviour, patience=PATIENCE, **others):
    """Return what is found of asking a server once, and what came to it."""

    async def main():
        async with ModelServer(behaviour) as server:
            settings = settings_of(server.base_url, **others)
            catalogue = make_catalogue(settings.model_copy(update={"replay_file": None}))
            (finding,) = await ask_model(MINE, settings, catalogue, patience)
            return finding, server.requests

    return run(main())


@pytest.mark.usefixtures("key")
def test_a_model_that_answers():
    price = {"input": 1, "output": 10}
    finding, (request,) = asked(Says("ready"), prices={MINE: price})
    assert (finding.subject, finding.sign) == ("Answer", Sign.OK)
    assert finding.case.startswith("mine/model answered in ")
    assert finding.case.endswith(": 11 tokens, it cost 0.00002 USD")
    assert finding.figures["usd"] == "0.000020"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["max_tokens"] == 32


@pytest.mark.usefixtures("key")
def test_a_model_without_a_price():
    finding, _ = asked(Says("ready", tells_usage=False))
    assert finding.sign is Sign.OK
    assert " about " in finding.case
    assert finding.case.endswith(" tokens, nobody knows what it cost")


@pytest.mark.usefixtures("key")
def test_a_model_that_only_thinks_has_answered():
    finding, _ = asked(EMPTY)
    assert finding.sign is Sign.OK


@pytest.mark.parametrize(
    ("behaviour", "sign", "case", "advice"),
    [
        (Fails(401, f"Incorrect API key: {KEY}", "invalid_api_key"), Sign.FAIL,
         "mine refuses the request (401): 'Incorrect API key: ***'",
         "put the right key into the variable, or name another one in [providers.mine]"),
        (Fails(403, "no"), Sign.FAIL, "mine refuses the request (403): 'no'", "put the right key"),
        (Fails(402, "pay"), Sign.FAIL, "mine refuses the request (402): 'pay'", "pay mine, or"),
        (Fails(404, "no such model"), Sign.FAIL, "mine refuses the request (404): ",
         "ask a model that mine has, or mend base_url of [providers.mine]"),
        (rate_limited(timedelta(seconds=20)), Sign.WARN,
         "mine takes no more requests just now; try again in 20 s", "wait; the key itself"),
        (Fails(429, "no money", "insufficient_quota"), Sign.FAIL,
         "mine refuses the request (429): ", "see what mine says of itself"),
        (Fails(500, KEY), Sign.FAIL, "mine answered 500: ***", "see what mine says of itself"),
        (HTML, Sign.FAIL, "mine sent what is no reply: a page of HTML", "see that base_url of"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("key")
def test_a_model_that_does_not_answer(behaviour, sign, case, advice):
    finding, requests = asked(behaviour)
    assert finding.sign is sign
    assert finding.case.startswith(case)
    assert finding.advice.startswith(advice)
    assert KEY not in repr(finding)
    assert requests


@pytest.mark.usefixtures("key")
def test_a_model_that_never_answers():
    finding, _ = asked(Hangs(), timedelta(seconds=0.2))
    assert finding.sign is Sign.FAIL
    assert finding.case == "mine timed out after 0.2 s"
    assert finding.advice.startswith("see that it runs and can be reached")


def test_a_model_whose_server_does_not_run(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings = settings_of(f"http://127.0.0.1:{port}/v1")
    catalogue = make_catalogue(settings)
    monkeypatch.setenv("MINE_KEY", KEY)
    (finding,) = run(ask_model(MINE, settings, catalogue, PATIENCE))
    assert finding.sign is Sign.FAIL
    assert finding.case.startswith("the connection to mine was lost: ")


def test_a_model_that_cannot_be_asked():
    settings = settings_of()
    catalogue = make_catalogue(settings)
    (finding,) = run(ask_model("who/model", settings, catalogue, PATIENCE))
    assert "there is no such provider; known are openai, " in finding.case
    (finding,) = run(ask_model(MINE, settings, catalogue, PATIENCE))
    assert finding.case == "the model 'mine/model' cannot be asked: MINE_KEY is not set"
    assert finding.advice == "export the key, or mend [providers.mine] in the settings"


@pytest.mark.usefixtures("key")
def test_nobody_is_asked_where_answers_are_played_back(folder):
    finding, requests = asked(Says("ready"), replay_file=str(folder / "calls.jsonl"))
    assert finding.sign is Sign.NOTE
    assert requests == []
