"""Replies that are kept for clients that lost them."""

from __future__ import annotations

import asyncio

import pytest

from app.http.replies import Replies, Reply
from app.matches.errors import KeyReused

REPLY = Reply("digest", "/api/matches/1", "{}")


class Clock:
    """A clock that somebody sets."""

    time = 1000.0

    def __call__(self) -> float:
        return self.time


def test_a_reply_is_found_by_client_key_and_digest():
    replies = Replies()
    replies.keep("me", "key", REPLY)
    assert replies.find("me", "key", "digest") is REPLY
    assert replies.find("you", "key", "digest") is None
    assert replies.find("me", "other", "digest") is None
    with pytest.raises(KeyReused):
        replies.find("me", "key", "another digest")


def test_replies_are_forgotten_after_a_while():
    clock = Clock()
    replies = Replies(seconds=600, clock=clock)
    replies.keep("me", "first", REPLY)
    clock.time += 300
    replies.keep("me", "second", REPLY)
    clock.time += 299
    assert replies.find("me", "first", "digest") is REPLY
    clock.time += 1
    assert replies.find("me", "first", "digest") is None
    assert replies.find("me", "second", "digest") is REPLY
    clock.time += 300
    assert replies.find("me", "second", "another digest") is None


def test_the_oldest_reply_makes_room():
    replies = Replies(most=2)
    for key in ("first", "second", "third"):
        replies.keep("me", key, REPLY)
    found = [replies.find("me", key, "digest") for key in ("first", "second", "third")]
    assert found == [None, REPLY, REPLY]


def test_requests_with_one_key_are_answered_one_after_the_other():
    async def run() -> list[str]:
        replies, told, may_go_on = Replies(), [], asyncio.Event()

        async def ask(name: str, key: str) -> None:
            async with replies.turn("me", key):
                told.append(f"{name} begins")
                if name == "first":
                    await may_go_on.wait()
                told.append(f"{name} ends")

        async with asyncio.TaskGroup() as group:
            group.create_task(ask("first", "key"))
            group.create_task(ask("second", "key"))
            other = group.create_task(ask("other", "another key"))
            await other
            may_go_on.set()
        return told

    assert asyncio.run(run()) == [
        "first begins",
        "other begins",
        "other ends",
        "first ends",
        "second begins",
        "second ends",
    ]


def test_a_request_that_fails_lets_the_next_one_try():
    async def run() -> None:
        replies = Replies()
        with pytest.raises(ZeroDivisionError):
            async with replies.turn("me", "key"):
                raise ZeroDivisionError
        async with asyncio.timeout(10), replies.turn("me", "key"):
            pass

    asyncio.run(run())
