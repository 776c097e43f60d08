"""Connections that a server closed though it promised to keep them, as llama.cpp's does."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agents.models.errors import ConnectionLost
from tests.agents.models.chatting import chat_with
from tests.support.model_server import Asked, Behaviour, Cuts, Moment, Says, Wire


@dataclass(frozen=True)
class Meets:
    """Answer when as many requests are open as the barrier wants, so each has its connection."""

    barrier: asyncio.Barrier
    then: Behaviour

    async def answer(self, wire: Wire) -> None:
        """Wait for the others, and answer."""
        await self.barrier.wait()
        await self.then.answer(wire)


class Resets:
    """Close the connection with a reset and not with an end, as a server that has died."""

    async def answer(self, wire: Wire) -> None:
        """Reset it."""
        connection = wire._writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.cut()


GONE = [Cuts(Moment.BEFORE_HEADERS), Resets()]


def once_each(first: Behaviour, again: Behaviour) -> Callable[[Asked], Behaviour]:
    """Behave in one way for the first request of a connection, and in another for the next."""
    known: set[int] = set()

    def choose(asked: Asked) -> Behaviour:
        if asked.connection in known:
            return again
        known.add(asked.connection)
        return first

    return choose


@pytest.mark.asyncio
@pytest.mark.parametrize("gone", GONE)
async def test_a_request_over_a_closed_connection_is_made_over_a_new_one(gone):
    async with chat_with(once_each(Says("e4"), gone)) as chat:
        assert [(await chat.ask()).text for _ in range(3)] == ["e4"] * 3
    assert [asked.connection for asked in chat.requests] == [0, 0, 1, 1, 2]


@pytest.mark.asyncio
async def test_a_request_that_was_worked_on_is_not_made_again(monkeypatch):
    """It may be billed: nobody would know of it, nor count it."""
    monkeypatch.setattr("agents.models.openai_client._AT_ONCE", 0.0)
    async with chat_with(once_each(Says("e4"), Cuts(Moment.BEFORE_HEADERS))) as chat:
        await chat.ask()
        with pytest.raises(ConnectionLost):
            await chat.ask()
    assert [asked.connection for asked in chat.requests] == [0, 0]


@pytest.mark.asyncio
async def test_all_closed_connections_are_given_up():
    barrier, gone = asyncio.Barrier(3), Cuts(Moment.BEFORE_HEADERS)
    async with chat_with(once_each(Meets(barrier, Says("e4")), gone)) as chat:
        await asyncio.gather(*(chat.ask() for _ in range(3)))
        chat.server.behave(lambda asked: gone if asked.connection < 3 else Says("d4"))
        assert (await chat.ask()).text == "d4"
    assert [asked.connection for asked in chat.requests[3:-1]] in ([0, 1, 2], [2, 1, 0])
    assert chat.server.connections == 4


@pytest.mark.asyncio
@pytest.mark.parametrize("gone", GONE)
async def test_a_new_connection_that_is_closed_is_lost(gone):
    async with chat_with(gone) as chat:
        with pytest.raises(ConnectionLost):
            await chat.ask()
    assert len(chat.requests) == 1


@pytest.mark.asyncio
async def test_an_answer_that_has_begun_is_not_asked_for_again():
    async with chat_with([Says("e4"), Cuts(Moment.AFTER_HEADERS), Says("d4")]) as chat:
        await chat.ask()
        with pytest.raises(ConnectionLost):
            await chat.ask()
    assert [asked.connection for asked in chat.requests] == [0, 0]
