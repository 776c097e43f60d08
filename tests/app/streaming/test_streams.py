"""Streams over real HTTP: what a watcher gets, and when."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from app.matches.events import EventType
from app.streaming.log import MatchLog
from app.streaming.watcher import Limits
from tests.app.streaming.service import MOST_STREAMS, Service, serving
from tests.app.streaming.watching import Connection
from tests.support.processes import run, until

QUICK = replace(Limits(), keep_alive=timedelta(milliseconds=20))


def triples(events):
    return [(event.id, event.type, event.data) for event in events]


def test_a_state_and_then_everything_after_it(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            await match.append(EventType.STARTED, EventType.TURN)
            async with await service.watch(match) as watcher:
                assert watcher.status == 200
                assert watcher.headers["content-type"] == "text/event-stream"
                assert watcher.headers["cache-control"] == "no-store"
                assert watcher.headers["x-accel-buffering"] == "no"
                assert await watcher.block() == "retry: 2000"
                state = await watcher.event()
                assert (state.id, state.type) == (3, "snapshot")
                assert state.data == {"id": match.id, "at": 3}
                await match.append(EventType.PLY, EventType.TURN)
                await match.append(EventType.ENDED)
                assert triples(await watcher.events()) == (await service.log(match))[3:]

    run(main(), debug=False)


def test_resuming_at_every_event_gives_exactly_the_log(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            for number in range(4):
                await match.append(EventType.TURN, EventType.PLY, text=f"♞ {number}\n\r\u2028")
            running = [
                await service.watch(match, last_event_id=after)
                for after in range(match.sequence + 1)
            ]
            await match.append(EventType.PLY)
            await match.append(EventType.ENDED)
            log = await service.log(match)
            for after, watcher in enumerate(running):
                assert triples(await watcher.events()) == log[after:]
                await watcher.close()
            for after in range(match.sequence):
                path = f"{match.path}?last_event_id={after}"
                async with await Connection.open(service.port, path) as watcher:
                    assert triples(await watcher.events()) == log[after:]

    run(main(), debug=False)


def test_the_header_is_newer_than_the_query(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            await match.append(EventType.PLY, EventType.ENDED)
            path = f"{match.path}?last_event_id=0"
            async with await Connection.open(service.port, path, last_event_id=2) as watcher:
                assert [event.id async for event in watcher] == [3]

    run(main(), debug=False)


def test_a_long_log_comes_in_several_pages(database_url, monkeypatch):
    monkeypatch.setattr("app.streaming.log.PAGE", 3)

    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            await match.append(*[EventType.PLY] * 10)
            async with (
                await service.watch(match, last_event_id=0) as watcher,
                await service.watch_all(last_event_id=0) as global_watcher,
            ):
                seen = [await watcher.event() for _ in range(11)]
                assert [event.id for event in seen] == [*range(1, 12)]
                everything = [await global_watcher.event() for _ in range(10)]
                assert [event.id for event in everything] == [*range(2, 12)]
                await match.append(EventType.ENDED)
                assert [event.id async for event in watcher] == [12]
                assert (await global_watcher.event()).id == 12
            async with await service.watch(match, last_event_id=3) as watcher:
                assert [event.id async for event in watcher] == [*range(4, 13)]

    run(main(), debug=False)


def test_what_comes_while_a_long_log_is_read_does_not_count_as_slowness(database_url, monkeypatch):
    monkeypatch.setattr("app.streaming.log.PAGE", 3)
    read = MatchLog.page

    async def main():
        async with serving(database_url, replace(Limits(), events=5)) as service:
            match = await service.create()
            await match.append(*[EventType.PLY] * 20)
            caught_up = asyncio.Event()

            async def page_and_more(log, after):
                page = await read(log, after)
                if page.is_full:
                    await match.append(EventType.PLY, EventType.TURN)
                else:
                    caught_up.set()
                return page

            monkeypatch.setattr(MatchLog, "page", page_and_more)
            async with await service.watch(match, last_event_id=0) as watcher:
                await caught_up.wait()
                await match.append(EventType.ENDED)
                seen = await watcher.events()
            assert match.sequence > 40
            assert [event.id for event in seen] == [*range(1, match.sequence + 1)]
            assert service.feed.dropped == 0

    run(main(), debug=False)


def test_a_match_that_is_over(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            await match.append(EventType.ENDED)
            async with await service.watch(match) as watcher:
                (state,) = await watcher.events()
                assert (state.id, state.type) == (2, "snapshot")
            async with await service.watch(match, last_event_id=2) as watcher:
                # So a browser knows that it need not connect again.
                assert watcher.status == 204
                assert "content-type" not in watcher.headers

    run(main(), debug=False)


def test_lines_of_json(database_url):
    async def main():
        async with serving(database_url, QUICK) as service:
            match = await service.create()
            ndjson = "application/x-ndjson"
            async with (
                await service.watch(match, accept=ndjson) as first,
                await service.watch(match, accept=ndjson, last_event_id=0) as second,
            ):
                assert first.headers["content-type"] == ndjson
                state = {"id": match.id, "at": 1}
                assert await first.line() == {"sequence": 1, "type": "snapshot", "state": state}
                assert await first.line() == ""
                await match.append(EventType.PLY)
                await match.append(EventType.ENDED)
                log = [data for _, _, data in await service.log(match)]
                assert [line async for line in _lines(first)] == log[1:]
                assert [line async for line in _lines(second)] == log

    run(main(), debug=False)


async def _lines(connection: Connection):
    while (line := await connection.line()) is not None:
        if line:
            yield line


def test_a_comment_keeps_proxies_awake(database_url):
    async def main():
        async with serving(database_url, QUICK) as service:
            match = await service.create()
            async with await service.watch(match, last_event_id=1) as watcher:
                assert await watcher.block() == "retry: 2000"
                assert await watcher.block() == ": keep-alive"
                assert await watcher.block() == ": keep-alive"
                assert service.feed.delivered == 0

    run(main(), debug=False)


def test_all_matches(database_url):
    async def main():
        async with serving(database_url) as service:
            first, second = await service.create(), await service.create()
            async with await service.watch_all() as watcher:
                state = await watcher.event()
                assert (state.id, state.type, state.data) == (2, "snapshot", {"matches": []})
                await first.append(EventType.STARTED, EventType.TURN, EventType.PLY)
                third = await service.create()
                await second.append(EventType.STARTED, EventType.ENDED)
                await third.append(EventType.PAUSED)
                await first.append(EventType.ENDED)
                expected = [
                    (3, "match.started", first.id, 2),
                    (5, "ply.played", first.id, 4),
                    (7, "match.started", second.id, 2),
                    (8, "match.ended", second.id, 3),
                    (10, "match.ended", first.id, 5),
                ]
                assert [_global(await watcher.event()) for _ in expected] == expected
            for after in range(11):
                async with await service.watch_all(last_event_id=after) as watcher:
                    rest = [each for each in expected if each[0] > after]
                    assert [_global(await watcher.event()) for _ in rest] == rest
            options = {"last_event_id": 7, "accept": "application/x-ndjson"}
            async with await service.watch_all(**options) as watcher:
                line = await watcher.line()
                log = await service.log(second)
                assert line == {"position": 8} | log[-1][2]

    run(main(), debug=False)


def _global(event):
    return event.id, event.type, event.data["match_id"], event.data["sequence"]


def test_words_of_a_specialist_who_still_speaks(database_url):
    async def main():
        async with serving(database_url) as service:
            match, other = await service.create(), await service.create()
            async with (
                await service.watch(match, last_event_id=1) as watcher,
                await service.watch(match, last_event_id=1, accept="application/x-ndjson") as lines,
                await service.watch(other, last_event_id=1) as stranger,
            ):
                await until(lambda: service.feed.watchers == 3)
                assert await watcher.block() == "retry: 2000"
                service.feed.say(match.id, {"specialist": "tactical", "text": "The\nknight"})
                said = await watcher.event()
                assert (said.id, said.type) == (None, "advice.delta")
                expected = {"specialist": "tactical", "text": "The\nknight"}
                assert said.data == {"type": "advice.delta", "match_id": match.id} | expected
                assert await lines.line() == said.data
                await match.append(EventType.ENDED)
                await other.append(EventType.ENDED)
                assert [event.id async for event in watcher] == [2]
                assert [event.id async for event in stranger] == [2]
            assert len(await service.log(match)) == 2

    run(main(), debug=False)


def test_those_who_come_together_share_a_state(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            take, go = service.snapshot, asyncio.Event()

            async def later(match_id):
                await go.wait()
                return await take(match_id)

            service.app.state.services.streams._snapshot = later
            async with asyncio.TaskGroup() as group:
                opening = [group.create_task(service.watch(match)) for _ in range(30)]
                await until(lambda: service.feed.watchers == 30)
                go.set()
            watchers = [task.result() for task in opening]
            await match.append(EventType.ENDED)
            for watcher in watchers:
                assert [event.id async for event in watcher] == [1, 2]
                await watcher.close()
            assert service.snapshots == 1

    run(main(), debug=False)


def test_a_state_that_others_took_is_too_old_for_whoever_comes_after_an_event(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            async with await service.watch(match) as first:
                assert (await first.event()).id == 1
                await match.append(EventType.PLY)
                assert (await first.event()).id == 2
                async with await service.watch(match) as second:
                    assert (await second.event()).id == 2
                    await match.append(EventType.ENDED)
                    assert [event.id async for event in second] == [3]

    run(main(), debug=False)


def test_whoever_leaves_frees_the_place(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            watchers = [await service.watch(match) for _ in range(MOST_STREAMS)]
            async with await service.watch(match) as refused:
                assert refused.status == 429
                assert refused.headers["retry-after"]
                assert (await refused.body())["type"] == "/problems/too-many-streams"
            await watchers.pop().close()
            await until(lambda: service.feed.watchers == MOST_STREAMS - 1)
            watchers.append(await service.watch(match))
            assert watchers[-1].status == 200
            for watcher in watchers:
                await watcher.close()
            await until(lambda: service.feed.watchers == 0)
            assert service.feed.dropped == 0
            assert service.feed._channels == {}

    run(main(), debug=False)


def test_when_the_service_stops_streams_end_and_no_more_begin(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            async with await service.watch(match) as watcher:
                await match.append(EventType.PLY)
                await service.feed.aclose()
                assert [event.id async for event in watcher] == [1, 2]
            async with await service.watch(match, last_event_id=0) as watcher:
                assert watcher.status == 503
                assert watcher.headers["retry-after"] == "1"

    run(main(), debug=False)


def test_the_routes_are_documented(database_url):
    async def main():
        async with serving(database_url) as service:
            return _document(service)

    document = run(main(), debug=False)
    for path in ("/api/matches/{match_id}/events", "/api/events"):
        operation = document["paths"][path]["get"]
        names = {each["name"] for each in operation["parameters"]}
        assert {"Last-Event-ID", "last_event_id"} <= names
        assert set(operation["responses"]["200"]["content"]) == {
            "text/event-stream",
            "application/x-ndjson",
        }
        assert {"406", "422", "429", "503"} <= set(operation["responses"])


def _document(service: Service):
    return service.app.openapi()
