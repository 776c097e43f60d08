"""Clients that do not give up: they start matches, play, look and watch, whatever crashes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.e2e.watching import Bell, Place, Watcher
from tests.support.processes import HANGS_AFTER

Json = dict[str, Any]


@dataclass(frozen=True)
class Played:
    """A ply that somebody was told of."""

    match_id: str
    number: int
    uci: str


@dataclass
class Clients:
    """All clients of a service, and what they were told."""

    random: Random
    place: Place = field(default_factory=Place)
    bell: Bell = field(default_factory=Bell)
    #: Set when everyone should come to an end.
    finishing: asyncio.Event = field(default_factory=asyncio.Event)
    http: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(
            timeout=HANGS_AFTER, trust_env=False, verify=False
        )
    )
    #: The match that each key started, and what was asked for with it.
    started: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, Json] = field(default_factory=dict)
    watchers: dict[str, list[Watcher]] = field(default_factory=dict)
    global_watchers: list[Watcher] = field(default_factory=list)
    states: list[Json] = field(default_factory=list)
    plies: list[Played] = field(default_factory=list)
    #: How many requests were sent again, since nobody knows what became of them.
    retries: int = 0

    # --- asking ---

    async def ask(self, method: str, path: str, **options: Any) -> httpx.Response | None:
        """Send a request; None if there was no answer: perhaps something happened, perhaps not."""
        port = await self.place.port()
        try:
            response = await self.http.request(
                method, f"http://127.0.0.1:{port}/api{path}", **options
            )
        except httpx.TransportError:
            self.retries += 1
            return None
        if response.status_code == 503:
            return None
        assert response.status_code < 500, response.text
        return response

    async def insist(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request, again and again until there is an answer."""
        while (response := await self.ask(method, path, **options)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0)  # let the others work
        return response

    # --- matches ---

    async def start(self, **body: Any) -> Json:
        """Start one match, by a request that may have to be repeated."""
        key = f"{len(self.started)}-{self.random.getrandbits(64)}"
        self.started[key] = ""
        self.bodies[key] = {"seed": self.random.getrandbits(32)} | body
        response = await self._post(key)
        created: Json = response.json()
        self.started[key] = created["id"]
        return created

    async def _post(self, key: str) -> httpx.Response:
        headers = {"Idempotency-Key": key}
        response = await self.insist("POST", "/matches", json=self.bodies[key], headers=headers)
        assert response.status_code == 201, response.text
        return response

    async def start_again(self) -> None:
        """Repeat every request that started a match, which starts nothing."""
        for key, match_id in self.started.items():
            response = await self._post(key)
            assert response.json()["id"] == match_id
            assert response.headers["Idempotency-Replayed"] == "true"

    async def start_many(self) -> None:
        """Start matches that are over at once, as long as that is wanted."""
        while not self.finishing.is_set():
            await self.start(white="random", black="random", max_plies=2)
            await asyncio.sleep(self.random.uniform(0.0, 0.1))

    async def watch(self, match_id: str) -> None:
        """Watch a match in every way there is, until it is over."""
        path = f"/api/matches/{match_id}/events"
        watchers = [
            Watcher(path, self.place, self.bell),
            Watcher(path, self.place, self.bell, wants_state=True),
            Watcher(path, self.place, self.bell, is_ndjson=True),
        ]
        self.watchers[match_id] = watchers
        async with asyncio.TaskGroup() as group:
            for watcher in watchers:
                group.create_task(watcher.run())

    async def play_on(self, **body: Any) -> None:
        """Have matches played, one after the other, as long as that is wanted."""
        while not self.finishing.is_set():
            created = await self.start(**body)
            await self.watch(created["id"])

    async def watch_all(self) -> None:
        """Watch all matches until cancelled."""
        both = [
            Watcher("/api/events", self.place, self.bell, is_ndjson=kind) for kind in (False, True)
        ]
        self.global_watchers = both
        async with asyncio.TaskGroup() as group:
            for watcher in both:
                group.create_task(watcher.run())

    def have_seen_all_ends(self) -> bool:
        """Whether those who watch all matches have seen the end of each that we know of."""
        known = {match_id for match_id in self.started.values() if match_id} | set(self.watchers)
        ends = (
            [each for each in watcher.events if each.type == "match.ended"]
            for watcher in self.global_watchers
        )
        return all(len(each) >= len(known) for each in ends)

    async def look_around(self) -> None:
        """Look at some match every now and then, and note what is told."""
        while not self.finishing.is_set():
            await asyncio.sleep(self.random.uniform(0.01, 0.1))
            known = [match_id for match_id in self.started.values() if match_id]
            if known:
                await self._look_at(self.random.choice(known[-8:]))

    async def _look_at(self, match_id: str) -> None:
        response = await self.ask("GET", f"/matches/{match_id}")
        if response is not None:
            assert response.status_code == 200
            self.states.append(response.json())
        response = await self.ask("GET", f"/matches/{match_id}/plies")
        if response is not None:
            assert response.status_code == 200
            plies: Sequence[Json] = response.json()["plies"]
            self.plies += [Played(match_id, each["number"], each["uci"]) for each in plies]

    # --- a human ---

    async def play_as_human(self) -> None:
        """Play against `random`, quickly and badly, and resign in the end."""
        while not self.finishing.is_set():
            created = await self.start(white="human", black="random")
            match_id, token = created["id"], created["seats"]["white"]["token"]
            async with asyncio.TaskGroup() as group:
                group.create_task(self.watch(match_id))
                if token is None:  # its only telling was lost, so nobody can ever play
                    await self.insist("POST", f"/matches/{match_id}/abort")
                else:
                    await self._play(match_id, {"X-Seat-Token": token})

    async def _play(self, match_id: str, seat: dict[str, str]) -> None:
        path = f"/matches/{match_id}"
        while (state := (await self.insist("GET", path)).json())["result"] == "*":
            if self.finishing.is_set():
                await self.ask("POST", f"{path}/resign", headers=seat)
            elif state["turn"] == "white":
                await asyncio.sleep(self.random.uniform(0.0, 0.04))  # to think
                await self._move(path, state, seat)
            else:
                await self._news_of(match_id, state["sequence"])

    async def _news_of(self, match_id: str, after: int) -> None:
        """Wait until something happens in a match, or nothing can any more."""
        own = self.watchers[match_id][0]
        await self.bell.until(lambda: own.is_over or own.last > after)

    async def _move(self, path: str, state: Json, seat: dict[str, str]) -> None:
        if state["ply_count"] > 2 and self.random.random() < 0.1:
            await self.ask("POST", f"{path}/takeback", json={"action": "ask"}, headers=seat)
            return
        uci = self.random.choice(state["legal_moves"])["uci"]
        response = await self.ask("POST", f"{path}/moves", json={"move": uci}, headers=seat)
        if response is not None and response.status_code == 200:
            self.plies.append(Played(state["id"], state["ply_count"] + 1, uci))
