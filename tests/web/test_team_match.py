"""A team of models plays: its words as they come, its tokens, and its money."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from app.catalogue import make_catalogue
from app.settings import Settings
from tests.app.http.match_service import start, wait_until
from tests.support.browser import Visitor, check_accessibility
from tests.support.model_server import ThreadedModelServer, Wire, model_server_in_thread
from tests.support.processes import HANGS_AFTER
from tests.support.servers import Served
from tests.support.team_matches import GOOD, MODEL, PROVIDER, AnswersBy, by_role
from tests.web.match_page import MatchPage, assets
from tests.web.page_service import serving_page


class Halves:
    """Say a reply in two parts, each when a test says so, from its own thread."""

    def __init__(self, first: str, rest: str) -> None:
        self._parts = first, rest
        self._told = threading.Semaphore(0)

    async def answer(self, wire: Wire) -> None:
        await wire.head()
        for part in self._parts:
            await asyncio.to_thread(self._told.acquire, timeout=HANGS_AFTER)
            await wire.delta(content=part)
        await wire.delta("stop")
        usage = {"prompt_tokens": 1000, "completion_tokens": 234}
        await wire.event(wire.chunk(choices=[], usage=usage))
        await wire.event("[DONE]")
        await wire.end()

    def go_on(self, parts: int = 1) -> None:
        """Say so many parts more."""
        self._told.release(parts)


TACTICAL = Halves(
    '{"reasoning": "The knight <b>looks</b> at f7',
    ' and wants to go there", "candidates": [{"reason": "hits f7", "move": "g1f3"}]}',
)


@pytest.fixture(scope="module")
def models() -> Iterator[ThreadedModelServer]:
    with model_server_in_thread(AnswersBy(by_role(GOOD, tactical=TACTICAL))) as server:
        yield server


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, models: ThreadedModelServer
) -> Iterator[Served]:
    asked: dict[str, Any] = {
        "model": MODEL,
        "providers": {PROVIDER: {"base_url": models.base_url}},
        "prices": {MODEL: {"input": 3, "output": 15}},
    }
    folder = tmp_path_factory.mktemp("service")
    players = make_catalogue(Settings(engine_processes=1, data_folder=folder, **asked))
    with serving_page(folder, players, **asked) as served:
        yield served


def test_words_tokens_and_money_of_a_team(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "team:default", "human", budget={"usd": 2})
    shown = MatchPage.open(visitor, match)
    tactical = shown.advice.locator(".advice.tactical")
    expect(shown.connection).to_have_text("live")
    TACTICAL.go_on()
    expect(tactical).to_contain_text("The knight <b>looks</b> at f7")
    expect(tactical).to_contain_text("speaking …")
    positional = shown.advice.locator(".advice.positional")
    expect(positional.locator(".candidate")).not_to_have_count(0)
    TACTICAL.go_on()
    expect(tactical.get_by_role("listitem")).to_contain_text("Nf3 hits f7")
    wait_until(client, match, lambda event: event["type"] == "ply.played")
    expect(shown.moves).to_have_count(1)
    expect(shown.advice.locator(".advice.selector")).to_contain_text("✓ played")

    ledger = client.get(f"/api/matches/{match['id']}").json()["ledger"]
    panel = shown.page.locator(".ledger-panel")
    tokens = ledger["prompt_tokens"] + ledger["completion_tokens"]
    facts = {
        "Calls": str(ledger["calls"]),
        "Tokens": f"{tokens:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"),
        "Cost": f"${float(ledger['cost_usd']):.2g} of $2.00",
    }
    assert ledger["calls"] == 3
    for name, value in facts.items():
        fact = panel.locator("dl > div").filter(has=shown.page.locator(f"dt:text-is('{name}')"))
        expect(fact.locator("dd")).to_have_text(value)
    panel.get_by_text("Every call").click()
    rows = panel.locator("tbody tr")
    expect(rows).to_have_count(3)
    cell = rows.filter(has_text="tactical").locator("td")
    expect(cell.nth(2)).to_have_text(MODEL)
    expect(cell.nth(3)).to_have_text("ok")
    expect(panel.get_by_role("button", name="Show more")).to_be_hidden()
    check_accessibility(shown.page)


def test_a_spent_budget_pauses_and_is_raised(visitor: Visitor, client: httpx.Client) -> None:
    match = start(client, "team:default", "human", budget={"calls": 0})
    shown = MatchPage.open(visitor, match)
    expect(shown.status).to_contain_text("Paused")
    expect(shown.status).to_contain_text("budget is spent")
    shown.page.get_by_text("Manage this match").click()
    expect(shown.page.get_by_label("Calls", exact=True)).to_have_value(
        "0"
    )  # the bound that holds now
    shown.page.get_by_label("Calls", exact=True).fill("")
    shown.page.get_by_label("Tokens", exact=True).fill("100000")
    shown.page.get_by_label("Dollars").fill("0.5")
    TACTICAL.go_on(2)
    shown.button("Resume").click()
    expect(shown.moves).to_have_count(1)
    match = client.get(f"/api/matches/{match['id']}").json()
    assert match["budget"] == {"usd": "0.5", "tokens": 100_000, "calls": None}


def test_the_table_of_calls_grows_at_its_end(page: Page) -> None:
    """Pages follow each other, and what comes later is told once, wherever one has leafed to."""
    calls = [{"ply": number, "model": "m", "outcome": "ok"} for number in range(1, 8)]
    calls = [each | {"prompt_tokens": 1, "completion_tokens": 1} for each in calls]
    there = 5

    def answer(route: Route) -> None:
        after = int(parse_qs(urlsplit(route.request.url).query).get("cursor", ["0"])[0])
        shown = calls[after : min(after + 3, there)]
        following = str(after + 3) if after + 3 < there else None
        route.fulfill(json={"calls": shown, "next_cursor": following})

    page.route("**/api/matches/some/ledger*", answer)
    page.goto("/")
    page.evaluate(
        """async (folder) => {
             const { LedgerPanel } = await import(`${folder}/match/ledger_panel.js`);
             window.panel = new LedgerPanel("some", new AbortController().signal);
             document.getElementById("main").replaceChildren(window.panel.root);
             window.tell = (calls) => window.panel.show({
               calls, prompt_tokens: 1, completion_tokens: 1, cached_tokens: 0,
               reasoning_tokens: 0, cost_usd: "0", unpriced_calls: 0,
             }, null);
             window.tell(5);
           }""",
        assets(page),
    )
    plies = page.locator(".ledger-panel tbody td:first-child")
    page.get_by_text("Every call").click()
    expect(plies).to_have_text(["1", "2", "3"])
    page.get_by_role("button", name="Show more").click()
    expect(plies).to_have_text(["1", "2", "3", "4", "5"])
    there = 7
    page.evaluate("window.tell(7)")
    expect(plies).to_have_text(["1", "2", "3", "4", "5", "6"])
    page.get_by_role("button", name="Show more").click()
    expect(plies).to_have_text(["1", "2", "3", "4", "5", "6", "7"])
