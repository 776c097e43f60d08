"""Streams that cannot be opened: what the client is told."""

from __future__ import annotations

from uuid_utils.compat import uuid7

from tests.app.streaming.service import serving
from tests.app.streaming.watching import Connection
from tests.support.processes import run


def test_an_id_that_no_event_has(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            for after in ("x", "-1", "1.5", "1 2", "2", "2147483648", "9" * 30, "9" * 5000):
                for path in (match.path, "/api/events"):
                    watcher = await Connection.open(service.port, path, last_event_id=after)
                    await _assert_refused(watcher, "Last-Event-ID")
            for path in (match.path, "/api/events"):
                query = "?last_event_id=%C2%B2"  # a digit, but no number
                watcher = await Connection.open(service.port, path + query)
                await _assert_refused(watcher, "last_event_id")
            assert service.feed.watchers == 0

    run(main(), debug=False)


async def _assert_refused(watcher: Connection, field: str) -> None:
    async with watcher:
        problem = await watcher.body()
        assert watcher.status == problem["status"] == 422
        assert watcher.headers["content-type"] == "application/problem+json"
        assert problem["type"] == "/problems/invalid-event-id"
        assert problem["field"] == field


def test_a_match_that_is_not_there(database_url):
    async def main():
        async with serving(database_url) as service:
            await service.create()
            for match_id in (str(uuid7()), "nonsense", "%00"):
                path = f"/api/matches/{match_id}/events"
                for after in (None, 0, 7):
                    watcher = await Connection.open(service.port, path, last_event_id=after)
                    async with watcher:
                        assert watcher.status == 404
                        assert (await watcher.body())["type"] == "/problems/match-not-found"
            assert service.feed.watchers == 0

    run(main(), debug=False)


def test_a_format_that_there_is_not(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            async with await service.watch(match, accept="application/json") as watcher:
                assert watcher.status == 406
                assert (await watcher.body())["type"] == "/problems/no-such-format"

    run(main(), debug=False)
