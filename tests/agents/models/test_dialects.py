"""The ladder of forms, and parameters that servers do not take: found out once, and remembered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from agents.models.answers import ErrorAnswer
from agents.models.dialects import Dialect
from agents.models.errors import RateLimited, RequestRefused
from agents.models.model import ReplyForm, ReplySchema
from agents.models.providers import KNOWN_PROVIDERS
from tests.agents.models.chatting import PLAIN, SCHEMA, STRUCTURED, chat_with
from tests.support.model_server import (
    AnswersSchema,
    Asked,
    Behaviour,
    Fails,
    FailsInStream,
    Refuses,
    Says,
    rate_limited,
)

JSON = '{"reason": "because", "move": "e2e4"}'
ANSWERS = AnswersSchema(default=JSON)
SETTINGS = {"temperature": 0.3, "effort": "high", "seed": 5}


@pytest.mark.asyncio
async def test_the_strictest_form_first():
    async with chat_with(ANSWERS) as chat:
        reply = await chat.ask(STRUCTURED)
    (asked,) = chat.requests
    assert asked.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "move", "strict": True, "schema": SCHEMA.schema},
    }
    assert asked.enum("move") == ["e2e4", "d2d4"]
    assert asked.prompt == "You play chess.\nYour move?"
    assert (reply.text, reply.form) == (JSON, ReplyForm.JSON_SCHEMA)


@pytest.mark.asyncio
async def test_without_a_schema_it_is_plain_text_at_once():
    async with chat_with(Refuses(("response_format",), Says("e4"))) as chat:
        assert (await chat.ask()).form is ReplyForm.TEXT
    assert chat.forms == ["text"]


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [400, 404, 422, 501])
async def test_down_one_rung(status):
    async with chat_with(Refuses(("json_schema",), ANSWERS, status)) as chat:
        reply = await chat.ask(STRUCTURED)
        assert (await chat.ask(STRUCTURED)).form is ReplyForm.JSON_OBJECT
    assert (reply.text, reply.form) == (JSON, ReplyForm.JSON_OBJECT)
    assert chat.forms == ["json_schema", "json_object", "json_object"]  # it is remembered
    *before, last = chat.requests[1].body["messages"]
    assert before == [{"role": "system", "content": "You play chess."}]
    words = "Your move?\n\nAnswer with one JSON object only, which follows this JSON schema: "
    assert last["content"].startswith(words)
    assert json.loads(last["content"].removeprefix(words)) == SCHEMA.schema


@pytest.mark.asyncio
@pytest.mark.parametrize("is_named", [True, False])
async def test_down_to_plain_text(is_named):
    async with chat_with(Refuses(("response_format",), ANSWERS, is_named=is_named)) as chat:
        replies = [await chat.ask(STRUCTURED) for _ in range(2)]
    assert [(reply.text, reply.form) for reply in replies] == [(JSON, ReplyForm.TEXT)] * 2
    assert chat.forms == ["json_schema", "json_object", "text", "text"]
    assert "If you can, answer with one JSON object" in chat.requests[2].prompt
    assert '"enum": ["e2e4", "d2d4"]' in chat.requests[2].prompt


@pytest.mark.asyncio
async def test_the_rung_to_begin_with_can_be_set():
    async with chat_with(ANSWERS, form=ReplyForm.JSON_OBJECT) as chat:
        await chat.ask(STRUCTURED)
    assert chat.forms == ["json_object"]


LIMITED = replace(STRUCTURED, schema=ReplySchema("move", {
    **SCHEMA.schema,
    "properties": {
        "reason": {"type": "string", "maxLength": 80},
        "others": {"type": "array", "items": {"type": "string", "maxLength": 9}},
        "move": SCHEMA.schema["properties"]["move"],
    },
}))  # fmt: skip


def takes_no_length(complaint: Fails) -> Callable[[Asked], Behaviour]:
    """Refuse schemas with a limit on the length of a text, as some servers do."""
    return lambda asked: complaint if "maxLength" in json.dumps(asked.schema) else ANSWERS


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "complaint",
    [
        Fails(400, "schema: 'maxLength' is not permitted", param="response_format"),
        Fails(400, "bad request"),
        Fails(422, "maxLength is not supported"),
    ],
)
async def test_a_schema_does_without_the_length_before_it_does_without_the_moves(complaint):
    async with chat_with(takes_no_length(complaint)) as chat:
        replies = [await chat.ask(each) for each in (LIMITED, LIMITED, STRUCTURED)]
    assert [reply.form for reply in replies] == [ReplyForm.JSON_SCHEMA] * 3
    assert len(chat.requests) == 4  # it is remembered
    assert all(asked.enum("move") == ["e2e4", "d2d4"] for asked in chat.requests)
    properties = chat.requests[1].schema["properties"]
    assert properties["others"] == {"type": "array", "items": {"type": "string"}}


@pytest.mark.asyncio
async def test_a_schema_without_the_length_may_be_too_much_as_well():
    async with chat_with(Refuses(("json_schema",), ANSWERS)) as chat:
        assert (await chat.ask(LIMITED)).form is ReplyForm.JSON_OBJECT
    assert chat.forms == ["json_schema", "json_schema", "json_object"]
    assert '"maxLength": 80' in chat.requests[2].prompt  # in words it does no harm


@pytest.mark.asyncio
async def test_every_model_is_remembered_by_itself():
    def choose(asked: Asked) -> Behaviour:
        return Refuses(("json_schema",), ANSWERS) if asked.body["model"] == "old" else ANSWERS

    async with chat_with(choose) as chat:
        for model in ("test/old", "test/new", "test/old"):
            await chat.ask(STRUCTURED, model=model)
    assert chat.forms == ["json_schema", "json_object", "json_schema", "json_object"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("below", "error"), [(rate_limited(), RateLimited), (Fails(400), RequestRefused)]
)
async def test_a_rung_is_remembered_only_after_it_has_worked(below, error):
    async with chat_with(Refuses(("json_schema",), below)) as chat:
        with pytest.raises(error):
            await chat.ask(STRUCTURED)
        tried = len(chat.requests)
        chat.server.behave(ANSWERS)
        assert (await chat.ask(STRUCTURED)).form is ReplyForm.JSON_SCHEMA
    assert chat.forms[:2] == ["json_schema", "json_object"]
    assert chat.forms[tried:] == ["json_schema"]


@pytest.mark.asyncio
async def test_if_nothing_helps_the_first_complaint_counts():
    fails = [Fails(400, "the prompt is too long"), Fails(400, "now more so"), Fails(400, "still")]
    async with chat_with(fails) as chat:
        with pytest.raises(RequestRefused, match="the prompt is too long"):
            await chat.ask(STRUCTURED)
    assert chat.forms == ["json_schema", "json_object", "text"]


@pytest.mark.asyncio
async def test_a_complaint_about_the_form_is_not_the_one_that_counts():
    script = [Fails(400, "no json_schema here"), Fails(404, "no such model")]
    async with chat_with(script) as chat:
        with pytest.raises(RequestRefused, match="no such model") as caught:
            await chat.ask(STRUCTURED)
    assert caught.value.status == 404
    assert len(chat.requests) == 2


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "failure",
    [
        Fails(404, "no such model"),
        Fails(422, "what?"),
        Fails(401, "response_format"),
        Fails(400, "too long", "context_length_exceeded"),
        Fails(400, "no", "content_filter"),
    ],
)
async def test_what_no_other_form_would_help(failure):
    async with chat_with(failure) as chat:
        with pytest.raises(RequestRefused):
            await chat.ask(STRUCTURED)
    assert len(chat.requests) == 1


@pytest.mark.asyncio
async def test_a_refusal_inside_of_a_stream():
    async with chat_with([FailsInStream(400, "response_format?"), ANSWERS]) as chat:
        assert (await chat.ask(STRUCTURED)).form is ReplyForm.JSON_OBJECT


@pytest.mark.asyncio
async def test_what_was_heard_is_not_asked_for_again():
    fails = FailsInStream(400, "response_format?", content="I thi")
    async with chat_with([fails, ANSWERS]) as chat:
        with pytest.raises(RequestRefused):
            await chat.ask(STRUCTURED)
    assert len(chat.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "parameter", ["temperature", "reasoning_effort", "seed", "stream_options", "usage"]
)
async def test_a_parameter_that_is_refused_is_dropped(parameter):
    refuses = Refuses((parameter,), ANSWERS)
    async with chat_with(refuses, include_usage=True) as chat:
        replies = [await chat.ask(STRUCTURED, **SETTINGS) for _ in range(2)]
    first, second, third = chat.requests
    assert set(first.body) - set(second.body) == {parameter}
    assert second.body == third.body  # remembered
    assert all(reply.form is ReplyForm.JSON_SCHEMA for reply in replies)


@pytest.mark.asyncio
@pytest.mark.parametrize("is_first_new", [True, False])
async def test_the_other_name_for_the_limit(is_first_new):
    names = ["max_tokens", "max_completion_tokens"]
    old, new = names if not is_first_new else names[::-1]
    async with chat_with(Refuses((old,), ANSWERS), limit_name=old) as chat:
        for _ in range(2):
            await chat.ask()
    bodies = [asked.body for asked in chat.requests]
    assert [body.get(old) for body in bodies] == [100, None, None]
    assert [body.get(new) for body in bodies] == [None, 100, 100]


@pytest.mark.asyncio
async def test_nothing_is_asked_without_a_limit():
    names = ("max_tokens", "max_completion_tokens")
    async with chat_with(Refuses(names, ANSWERS)) as chat:
        with pytest.raises(RequestRefused, match="max_completion_tokens"):
            await chat.ask()
    assert len(chat.requests) == 2


@pytest.mark.asyncio
async def test_everything_at_once():
    every = ("max_tokens", "temperature", "seed", "stream_options", "response_format")
    async with chat_with(Refuses(every, ANSWERS)) as chat:
        reply = await chat.ask(STRUCTURED, **SETTINGS)
        count = len(chat.requests)
        await chat.ask(STRUCTURED, **SETTINGS)
    assert reply.usage.is_estimated
    assert set(chat.requests[-1].body) == {
        "model", "messages", "stream", "max_completion_tokens", "reasoning_effort",
    }  # fmt: skip
    assert (count, len(chat.requests)) == (7, 8)


@pytest.mark.asyncio
async def test_every_request_but_the_first_waits_for_its_turn():
    sent: list[int] = []
    async with chat_with(Refuses(("response_format", "seed"), ANSWERS)) as chat:

        async def again() -> None:
            sent.append(len(chat.requests))
            await asyncio.sleep(0.5)

        # The waits are longer than all may take.
        request = replace(STRUCTURED, seed=1, timeout=timedelta(seconds=1))
        await chat.model.ask(PLAIN, print)  # connected
        reply = await chat.model.ask(request, print, again)
    assert sent == [2, 3, 4]
    assert reply.latency < timedelta(seconds=1)


OPENAI = Dialect.hoped_for(KNOWN_PROVIDERS["openai"])


def after(answer: ErrorAnswer, **settings: object) -> set[str]:
    """Return what is no longer sent after an answer."""
    before = OPENAI.body(STRUCTURED, "m", include_usage=False) | settings
    easier, _ = OPENAI.after(answer, before)
    assert easier is not None
    return set(easier.without) | ({easier.form.value} if easier.form is not OPENAI.form else set())


@pytest.mark.parametrize(
    ("body", "dropped"),
    [
        (
            # As OpenAI says it of its reasoning models.
            {
                "message": "Unsupported value: 'temperature' does not support 0.3 with this model.",
                "type": "invalid_request_error",
                "param": "temperature",
                "code": "unsupported_value",
            },
            {"temperature"},
        ),
        ({"message": "seed is not permitted with response_format"}, {"seed"}),
        ({"message": "seeds of doubt about your json_schema"}, {"json_object"}),
        ({"message": "bad", "param": "stream_options.include_usage"}, {"stream_options"}),
        ({"message": "temperature?", "param": "response_format"}, {"json_object"}),
        ({"message": "Provider returned error", "metadata": {"raw": "no seed"}}, {"seed"}),
    ],
)
def test_what_the_error_points_at(body, dropped):
    answer = ErrorAnswer.over_http(400, {}, json.dumps({"error": body}).encode())
    assert after(answer, temperature=0.3, seed=1) == dropped


@pytest.mark.parametrize(
    "body",
    [
        {"detail": [{"loc": ["body", "seed"], "msg": "extra fields not permitted"}]},
        {"object": "error", "message": "seed is unknown", "param": None},
        {"error": "unknown field: seed"},
        [{"error": {"code": 400, "message": 'Unknown name "seed"'}}],
        "seed: unknown",
    ],
)
def test_errors_of_other_shapes(body):
    answer = ErrorAnswer.over_http(422, {}, json.dumps(body).encode())
    assert after(answer, seed=1) == {"seed"}


@pytest.mark.parametrize("name", sorted(KNOWN_PROVIDERS))
def test_the_name_for_the_limit(name):
    body = Dialect.hoped_for(KNOWN_PROVIDERS[name]).body(PLAIN, "m", include_usage=False)
    expected = "max_completion_tokens" if name == "openai" else "max_tokens"
    assert body[expected] == 100


@pytest.mark.parametrize(
    "message",
    [
        '"llama3.1:8b" does not support thinking',
        'think value "low" is not supported for this model',
        "reasoning effort is not available",
    ],
)
def test_effort_is_dropped_by_whatever_name_it_is_refused(message):
    """Ollama tells nothing of `reasoning_effort` where a model cannot think."""
    dialect = Dialect.hoped_for(KNOWN_PROVIDERS["ollama"])
    body = dialect.body(replace(STRUCTURED, effort="low"), "llama3.1:8b", include_usage=False)
    answer = ErrorAnswer(400, message, text=message)
    after, is_named = dialect.after(answer, body)
    assert (after.without, after.form, is_named) == ({"reasoning_effort"}, dialect.form, True)
