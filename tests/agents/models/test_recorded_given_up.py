"""Recordings of calls that nobody waited for any longer, and of those that were asked again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.models.errors import (
    GivenUp,
    RateLimited,
    RecordingBroken,
    RecordingMismatch,
    ServerFault,
    mark_unsent,
)
from agents.models.model import Again, Heard, ModelReply, ModelRequest
from agents.models.recorded import Recorder, Recording
from tests.agents.models.test_recorded import REPLY, REQUEST, Script, answer_of

pytestmark = pytest.mark.asyncio
AGAIN = replace(REQUEST, is_again=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


class Hangs:
    """A model that says something, and then nothing more."""

    async def ask(self, request: ModelRequest, heard: Heard, again: Again) -> ModelReply:
        heard("I thi")
        await asyncio.Event().wait()
        raise AssertionError


async def cut_off(recorder: Recorder) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await recorder.ask(REQUEST, lambda words: None)


async def outcomes(file: Path, *requests: ModelRequest) -> list[Any]:
    recording = Recording(file)
    return [(await answer_of(recording, each))[0] for each in requests]


async def test_that_a_call_was_given_up_comes_again(file):
    recorder = Recorder(Hangs(), file)
    await cut_off(recorder)
    await recorder.give_up(REQUEST)
    error, heard = await answer_of(Recording(file))
    assert isinstance(error, GivenUp)
    assert (error.in_flight, heard) == (True, ["I thi"])
    assert json.loads(file.read_bytes())["version"] == 2  # who does not know of it does not read it


async def test_that_a_call_was_given_up_in_a_pause_comes_again(file):
    recorder = Recorder(Script(RateLimited("p")), file)
    await answer_of(recorder)
    await recorder.give_up(REQUEST)
    first, second = await outcomes(file, REQUEST, REQUEST)
    assert isinstance(first, RateLimited)
    assert isinstance(second, GivenUp)
    assert not second.in_flight


class Rewords:
    """A model whose server did not take the first words: it wants to ask once more."""

    async def ask(self, request: ModelRequest, heard: Heard, again: Again) -> ModelReply:
        await again()
        raise AssertionError


async def test_between_two_requests_none_is_in_flight(file):
    recorder = Recorder(Rewords(), file)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await recorder.ask(REQUEST, lambda words: None, asyncio.Event().wait)
    await recorder.give_up(REQUEST)
    (error,) = await outcomes(file, REQUEST)
    assert isinstance(error, GivenUp)
    assert not error.in_flight


class Connects:
    """A model that does not get as far as to send anything."""

    async def ask(self, request: ModelRequest, heard: Heard, again: Again) -> ModelReply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            mark_unsent(error)
            raise
        raise AssertionError


async def test_what_was_not_sent_is_not_in_flight(file):
    recorder = Recorder(Connects(), file)
    await cut_off(recorder)
    await recorder.give_up(REQUEST)
    (error,) = await outcomes(file, REQUEST)
    assert isinstance(error, GivenUp)
    assert not error.in_flight


async def test_a_call_that_was_cut_off_with_its_turn_is_none(file):
    await cut_off(Recorder(Hangs(), file))
    assert file.read_bytes() == b""
    # Nor is it remembered that it was under way, once it is made again.
    recorder = Recorder(Hangs(), file)
    await cut_off(recorder)
    recorder._model = Script(REPLY, RateLimited("p"))
    await answer_of(recorder)
    await recorder.give_up(REQUEST)
    _, given_up = await outcomes(file, REQUEST, REQUEST)
    assert not given_up.in_flight


async def test_not_everything_that_was_cut_off_is_remembered(file, monkeypatch):
    monkeypatch.setattr("agents.models.recorded._MOST_CUT_OFF", 2)
    recorder = Recorder(Hangs(), file)
    for number in range(9):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await recorder.ask(replace(REQUEST, seed=number), lambda words: None)
    assert len(recorder._cut_off) == 2


async def test_a_reply_takes_the_place_of_what_came_to_nothing_in_the_same_turn(file):
    other = replace(REPLY, text="d4")
    recorder = Recorder(Script(REPLY, ServerFault("p", 500), ServerFault("p", 500), other), file)
    for request in (REQUEST, REQUEST, AGAIN):
        await answer_of(recorder, request)
    await recorder.give_up(AGAIN)
    await answer_of(recorder, AGAIN)
    first, second, third = await outcomes(file, REQUEST, REQUEST, REQUEST)
    assert (first, second) == (REPLY, other)
    assert isinstance(third, RecordingMismatch)


async def test_what_comes_to_nothing_again_is_as_it_was(file):
    """Then it was the same question that was asked next, however often that failed."""
    recorder = Recorder(Script(ServerFault("p", 500), ServerFault("p", 502)), file)
    await answer_of(recorder)
    await recorder.give_up(REQUEST)
    await answer_of(recorder, AGAIN)
    await recorder.give_up(AGAIN)
    kinds = [type(each) for each in await outcomes(file, *[REQUEST] * 4)]
    assert kinds == [ServerFault, GivenUp, ServerFault, GivenUp]


async def test_the_next_is_told_if_it_could_not_be_recorded(file):
    recorder = Recorder(Script(REPLY), file)
    file.write_bytes(b"half a line")
    await recorder.give_up(REQUEST)
    file.write_bytes(b"")
    with pytest.raises(RecordingBroken, match="not whole") as error:
        await recorder.ask(REQUEST, lambda words: None)
    assert error.value.usage is None  # nothing was asked
    assert await recorder.ask(REQUEST, lambda words: None) == REPLY


@pytest.mark.parametrize(
    "change",
    [{"given_up": None}, {"given_up": {}}, {"version": 1}, {"reply": {}}, {"version": 3}],
)
async def test_a_damaged_line_is_named(file, change):
    recorder = Recorder(Script(), file)
    await recorder.give_up(REQUEST)
    file.write_text(json.dumps(json.loads(file.read_text()) | change) + "\n")
    with pytest.raises(RecordingBroken, match="in line 1"):
        Recording(file)
