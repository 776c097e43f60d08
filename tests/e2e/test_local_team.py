"""A team of real language models, small as they are, plays a match through the whole service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine import Color, Game
from tests.support.local_model import LocalModel, local_model
from tests.support.processes import HANGS_AFTER
from tests.support.services import Machine

pytestmark = pytest.mark.llm

Json = dict[str, Any]

MAX_PLIES = 20
#: A team that plays like this one is mated early now and then, and has to play again.
SEEDS = (7, 8, 9)
#: In seconds, for a match: a busy machine takes ten times as long as an idle one.
PATIENCE = 60 * 60
SPECIALISTS = ("tactical", "positional")
MEMBERS = (*SPECIALISTS, "selector")
#: The schema bounds the reasons, and the server's grammar the blanks around them, of which small
#: models are fond: so every answer comes to its end before its limit of tokens.
MEMBER = """
temperature = 0.7
reasoning_limit = 80
max_tokens = 1000
timeout = 300
patience = 600
"""
TEAM = f"""
title = "Small team"
candidates = 2
seeded = true

[[specialists]]
name = "tactical"
prompt = "tactical.md"
{MEMBER}
[[specialists]]
name = "positional"
prompt = "positional.md"
{MEMBER}
[selector]
{MEMBER}
"""
#: In USD per million tokens: it is free, but the sums should be seen to be right.
PRICE = {"input": Decimal("0.50"), "cached_input": Decimal("0.05"), "output": Decimal(2)}


@pytest.fixture
def model() -> Iterator[LocalModel]:
    with local_model() as served:
        yield served


@pytest.fixture
def machine(tmp_path: Path, model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Where a service runs that knows the model and the team."""
    teams = tmp_path / "teams"
    teams.mkdir()
    (teams / "small.toml").write_text(TEAM)
    monkeypatch.setenv("KIBITZ_MODEL", f"local/{model.name}")
    monkeypatch.setenv("KIBITZ_TEAMS_FOLDER", str(teams))
    place = tmp_path / "machine"
    machine = Machine(place, f"sqlite:///{tmp_path / 'kibitz.db'}")
    prices = "\n".join(f"{name} = {price}" for name, price in PRICE.items())
    with (place / "kibitz.toml").open("a") as settings:
        settings.write(f'\n[providers.local]\nbase_url = "{model.base_url}"\n')
        settings.write(f'\n[prices."local/*"]\n{prices}\n')
    return machine


@dataclass(frozen=True)
class Watched:
    """A match that was watched to its end, and its ledger."""

    events: Sequence[Json]
    calls: Sequence[Json]
    totals: Json

    def of(self, kind: str) -> list[Json]:
        """Return the events of a type."""
        return [event for event in self.events if event["type"] == kind]

    def own(self, kind: str) -> list[Json]:
        """Return the events of a type that are of the team."""
        return [event for event in self.of(kind) if event["color"] == "white"]

    @property
    def turns(self) -> list[int]:
        """The plies for which the team had to ask, as there was a choice."""
        game, turns = Game(), []
        for event in self.of("ply.played"):
            moves = game.position.legal_moves()
            assert event["uci"] in [move.uci() for move in moves]
            if game.turn is Color.WHITE and len(moves) > 1:
                turns.append(event["ply"])
            game.play(event["uci"])
        return turns


def test_a_match_of_a_team_of_small_models(machine: Machine) -> None:
    matches = asyncio.run(_play(machine))
    assert machine.complaints.read_text() == ""
    for match in matches:
        _check_team(match)
        _check_words(match)
        _check_ledger(match)
    assert len(matches[-1].of("ply.played")) == MAX_PLIES


async def _play(machine: Machine) -> list[Watched]:
    """Play until there is a match that was not over early."""
    matches: list[Watched] = []
    async with machine:
        service = await machine.start()
        url = f"http://127.0.0.1:{await service.ready()}"
        async with httpx.AsyncClient(base_url=url, timeout=HANGS_AFTER, trust_env=False) as http:
            for seed in SEEDS:
                async with asyncio.timeout(PATIENCE):
                    matches.append(await _watch(http, seed))
                if len(matches[-1].of("ply.played")) == MAX_PLIES:
                    break
        await service.stop()
    return matches


async def _watch(http: httpx.AsyncClient, seed: int) -> Watched:
    """Start a match, and watch it as anybody would."""
    body = {"white": "team:small", "black": "stockfish:1", "max_plies": MAX_PLIES, "seed": seed}
    created = await http.post("/api/matches", json=body)
    assert created.status_code == 201, created.text
    path = f"/api/matches/{created.json()['id']}"
    events = []
    async with http.stream("GET", f"{path}/events", headers={"Last-Event-ID": "0"}) as stream:
        assert stream.status_code == 200
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
                assert events[-1]["type"] != "match.paused", events[-1]
    assert events[-1]["type"] == "match.ended"
    state = (await http.get(path)).json()
    ledger = (await http.get(f"{path}/ledger", params={"limit": 200})).json()
    assert ledger["next_cursor"] is None
    return Watched(events, ledger["calls"], state["ledger"])


def _check_team(match: Watched) -> None:
    """Every move was legal at the first attempt, and everybody had a say in it."""
    assert match.own("attempt.rejected") == []
    advice = [(event["ply"], event["by"]) for event in match.own("advice.given")]
    assert sorted(advice) == sorted((ply, by) for ply in match.turns for by in MEMBERS)
    played = {event["ply"]: event["uci"] for event in match.own("ply.played")}
    for event in match.own("advice.given"):
        assert event["candidates"] or event["abstained"] == "it named no move"
        if event["by"] == "selector":
            assert [each["uci"] for each in event["candidates"]] == [played[event["ply"]]]


def _check_words(match: Watched) -> None:
    """What members said was heard while they spoke, and before it was given as advice."""
    heard: dict[tuple[int, str], str] = {}
    for event in match.events:
        if event["type"] == "advice.delta":
            key = event["ply"], event["by"]
            heard[key] = heard.get(key, "") + event["words"]
        elif event["type"] == "advice.given":
            assert heard.get((event["ply"], event["by"]), "").startswith(event["words"])
    assert any(heard.values())


def _check_ledger(match: Watched) -> None:
    """Each member was asked once in each turn, and each call is there with what it took."""
    for call in match.calls:
        assert (call["outcome"], call["error"]) == ("ok", "")
        assert (call["color"], call["attempt"], call["retry"]) == ("white", 1, 0)
        assert min(call["prompt_tokens"], call["completion_tokens"], call["latency_ms"]) > 0
        assert not call["is_estimated"]
        assert call["reply"]["form"] == "json_schema"
        assert Decimal(call["cost_usd"]) == _cost(call)
    by_ply = sorted(match.calls, key=lambda call: call["ply"])
    asked = {ply: list(calls) for ply, calls in groupby(by_ply, lambda call: call["ply"])}
    assert list(asked) == match.turns
    for calls in asked.values():
        assert sorted(call["role"] for call in calls) == sorted(MEMBERS)
        assert calls[-1]["role"] == "selector"
    assert len({call["request_digest"] for call in match.calls}) == len(match.calls)
    assert len({call["prompt_digest"] for call in match.calls}) == len(MEMBERS)
    _check_totals(match)


def _check_totals(match: Watched) -> None:
    """The totals are the sums."""
    totals = match.totals
    assert (totals["calls"], totals["unpriced_calls"]) == (len(match.calls), 0)
    names = ("prompt_tokens", "cached_tokens", "reasoning_tokens", "completion_tokens")
    for name in names:
        assert totals[name] == sum(call[name] for call in match.calls)
    assert Decimal(totals["cost_usd"]) == sum(map(_cost, match.calls))


def _cost(call: Json) -> Decimal:
    tokens = {
        "input": call["prompt_tokens"] - call["cached_tokens"],
        "cached_input": call["cached_tokens"],
        "output": call["completion_tokens"],
    }
    return sum((PRICE[kind] * number for kind, number in tokens.items()), Decimal(0)) / 1_000_000
