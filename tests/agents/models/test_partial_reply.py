"""Replies as servers really write them, and what they say of their usage."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.answers import ErrorAnswer
from agents.models.errors import BrokenReply
from agents.models.event_stream import Event, EventStream
from agents.models.model import ReplyForm, Usage
from agents.models.partial_reply import MalformedChunk, PartialReply
from agents.models.providers import Provider
from tests.agents.models.chatting import PROMPT_TOKENS, chat_with
from tests.support.model_server import (
    Hangs,
    Moment,
    Streams,
    streams,
)


def said(content: Any, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}


def lines(*texts: str, end: str = "\n") -> Streams:
    return Streams(tuple(f"{text}{end}".encode() for text in texts))


#: One event may have several lines,
INDENTED = json.dumps(said("e4", "stop"), indent=1)
#: and a packet may end anywhere.
KNIGHT = b'data: {"choices":[{"delta":{"content":"\xe2\x99\x98"},"finish_reason":"stop"}]}\n\n'
CALL = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0}], "role": "assistant"}}]}
SECOND = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("behaviour", "text"),
    [
        (streams(said("e"), said("4", "stop")), "e4"),  # no end was announced
        (streams(said("e"), said("4"), "[DONE]"), "e4"),  # no reason was given
        (streams(said("e4", "stop"), "[DONE]", "rubbish"), "e4"),
        (streams(said("e4", "stop"), "[DONE]", content_type="text/plain"), "e4"),
        (streams({"choices": []}, CALL, SECOND, said("e4", "stop"), "[DONE]"), "e4"),
        (streams(said(None), said("e4"), said(None, "stop")), "e4"),
        (streams({"choices": [{"delta": None}]}, said("e4", "stop")), "e4"),
        (streams({"choices": None, "usage": {}}, said("e4", "stop")), "e4"),
        (lines(": waiting", "", f"data: {json.dumps(said('e4'))}", "", "data: [DONE]", ""), "e4"),
        (lines(f"data:{json.dumps(said('e4'))}", "", "data:[DONE]", "", end="\r\n"), "e4"),
        (lines("id: 1", "event: x", f"data: {json.dumps(said('e4', 'stop'))}"), "e4"),
        (lines(*(f"data: {line}" for line in INDENTED.split("\n"))), "e4"),
        (Streams(tuple(bytes([byte]) for byte in KNIGHT)), "♘"),
        # What no database would take.
        (streams(said("a\0b\ud83dc", "stop")), "a\ufffdb\ufffdc"),
        (streams(said("\ud83d\ude00", "stop")), "😀"),
    ],
)
async def test_what_servers_write(behaviour, text):
    async with chat_with(behaviour) as chat:
        assert (await chat.ask()).text == text
    assert "".join(chat.heard) == text


# --- usage ---


def told(usage: object) -> Any:
    return streams(said("e2e4", "stop"), {"choices": [], "usage": usage}, "[DONE]")


GUESS = Usage(PROMPT_TOKENS, completion_tokens=1, is_estimated=True)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 40},
                "cost": 0.00014,
            },
            Usage(100, 64, 40, 50, Decimal("0.00014")),
        ),
        ({"prompt_tokens": 1, "completion_tokens": 0, "cost": 0}, Usage(1, cost_usd=Decimal(0))),
        # Hidden reasoning that was not counted among what was written.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 50,
                "total_tokens": 100,
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            Usage(10, reasoning_tokens=40, completion_tokens=90),
        ),
        ({}, GUESS),
        (None, GUESS),
        ("12", GUESS),
        ({"prompt_tokens": None, "completion_tokens": "7", "cost": "1"}, GUESS),
        ({"prompt_tokens": -5, "completion_tokens": -1, "cost": -1}, GUESS),
        ({"prompt_tokens": True, "completion_tokens": 1.5, "cost": float("nan")}, GUESS),
        ({"prompt_tokens": 10**12, "completion_tokens": [], "cost": float("inf")}, GUESS),
        ({"prompt_tokens": 12, "cost": True}, replace(GUESS, prompt_tokens=12)),
        ({"prompt_tokens": 12, "cost": 1e9}, replace(GUESS, prompt_tokens=12)),
        (
            {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": [1]},
            Usage(12, completion_tokens=3),
        ),
        (
            {
                "prompt_tokens": 12,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 13},
            },
            Usage(12, completion_tokens=3),
        ),
    ],
)
async def test_usage(usage, expected):
    async with chat_with(told(usage)) as chat:
        assert (await chat.ask()).usage == expected


@pytest.mark.asyncio
async def test_usage_that_comes_with_the_last_words():
    chunk = said("e4", "stop") | {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    async with chat_with(streams(chunk)) as chat:
        assert (await chat.ask()).usage == Usage(1, completion_tokens=2)


@pytest.mark.asyncio
@pytest.mark.parametrize("moment", [Moment.AFTER_FINISH, Moment.AFTER_DONE])
async def test_a_reply_is_whole_without_what_should_follow(moment, monkeypatch):
    monkeypatch.setattr("agents.models.openai_chat._USAGE_LINGER", 0.01)
    async with chat_with(Hangs(moment, "e2e4")) as chat:
        reply = await chat.ask()
        await chat.server.was_abandoned()
    assert reply.text == "e2e4"
    assert reply.usage == GUESS


# --- laws ---

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "message", "content", "usage", "error", "code", "index", "text",
             "refusal", "finish_reason", "cost", "prompt_tokens", "metadata", "raw", "reasoning"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(ANYTHING | st.builds(lambda inner: {"choices": [inner]}, ANYTHING), max_size=3))
def test_whatever_comes_is_a_reply_or_a_typed_error(chunks):
    partial = PartialReply(10)
    errors = []
    for chunk in chunks:
        try:
            partial.take(json.dumps(chunk))
        except MalformedChunk as error:
            errors.append(BrokenReply("test", str(error)))
        except ErrorAnswer as answer:
            errors.append(answer.error(Provider("test", "http://localhost/v1")))
    assert all(str(error).isprintable() and "test" in str(error) for error in errors)
    reply = partial.reply(timedelta(), ReplyForm.TEXT)
    reply.text.encode()
    assert reply.usage.prompt_tokens >= 0
    assert reply.usage.completion_tokens >= reply.usage.reasoning_tokens >= 0


EVENTS = (
    b'data: {"a": 1}\r\n\r\n: hm\n\ndata: x\ndata: \xe2\x99\x98\n\nerror: no\n\ndata: [DONE]\n\n'
)


@given(st.lists(st.integers(0, len(EVENTS)), max_size=8))
def test_events_are_the_same_wherever_a_packet_ends(cuts):
    stream = EventStream()
    found = []
    bounds = [0, *sorted(cuts), len(EVENTS)]
    for start, end in pairwise(bounds):
        found += stream.feed(EVENTS[start:end])
    assert found + stream.end() == [
        Event("data", '{"a": 1}'),
        Event("data", "x\n♘"),
        Event("error", "no"),
        Event("data", "[DONE]"),
    ]


def test_no_field_of_a_reply_holds_what_databases_do_not_take():
    partial = PartialReply(10)
    chunk = {"model": "m\ud800\0", "choices": [{"delta": {"content": "e4\udfff"}}]}
    partial.take_chunk(chunk)
    partial.take_chunk({"choices": [{"delta": {"refusal": "\ud83d"}, "finish_reason": "st\ud800"}]})
    reply = partial.reply(timedelta(0), ReplyForm.TEXT)
    for text in (reply.text, reply.model, reply.refusal, reply.finish_reason):
        assert "\ufffd" in text
        assert "\0" not in text
        text.encode()
