"""What the clients of models rely on, asked of a real server with a real model behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.local_model import CONTEXT, LocalModel, local_model

pytestmark = pytest.mark.llm

#: Nobody's first choice, and in no prompt: whoever answers with one of them was made to.
MOVES = ["a2a3", "h2h4", "b1a3"]
#: Long enough to be worth a cache.
RULES = "You advise a chess team. " + " ".join(
    f"Rule {number}: look at checks, captures and threats." for number in range(1, 21)
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with local_model() as served:
        yield served


@pytest.fixture
def client(model: LocalModel) -> Iterator[httpx.Client]:
    with model.client() as client:
        yield client


def record(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


MOVE = {"type": "string", "enum": MOVES}
CHOICE = record(move=MOVE)
EXAMPLE = 'Answer with JSON like {"move":"e2e4"}'


def request(schema: dict[str, Any], example: str = EXAMPLE, **fields: Any) -> dict[str, Any]:
    # A compact example in the prompt keeps a small model from answering with blanks for ever.
    return {
        "model": "gemma3-270m",
        "messages": [
            {"role": "system", "content": f"{RULES} {example}"},
            {"role": "user", "content": "White begins. Which move?"},
        ],
        "max_completion_tokens": 300,
        "temperature": 0,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "advice", "strict": True, "schema": schema},
        },
    } | fields


def complete(client: httpx.Client, body: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the answer that a stream tells piece by piece, and what it has used."""
    text, reasons, usages = "", [], []
    streaming = body | {"stream": True, "stream_options": {"include_usage": True}}
    with client.stream("POST", "/chat/completions", json=streaming) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        # It also says ": ..." now and then, to show that it is alive.
        data = [line[6:] for line in response.iter_lines() if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    for chunk in map(json.loads, data[:-1]):
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""  # null in the first
            reasons.append(choice["finish_reason"])
        usages += [chunk["usage"]] if chunk.get("usage") else []
    assert [reason for reason in reasons if reason is not None] == ["stop"]
    assert len(usages) == 1
    return json.loads(text), usages[0]


def test_a_stream_holds_to_the_schema_and_tells_what_it_used(client: httpx.Client):
    answer, usage = complete(client, request(CHOICE))
    assert answer.keys() == {"move"}
    assert answer["move"] in MOVES
    assert usage["prompt_tokens"] > 200
    assert usage["completion_tokens"] > 0
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_prompt_that_begins_like_the_last_is_read_once(client: httpx.Client):
    complete(client, request(CHOICE))
    _, usage = complete(client, request(CHOICE))
    assert usage["prompt_tokens_details"]["cached_tokens"] > usage["prompt_tokens"] / 2


def test_lists_have_the_asked_length(client: httpx.Client):
    candidate = record(move=MOVE, score={"type": "integer", "minimum": 0, "maximum": 9})
    schema = record(candidates={"type": "array", "minItems": 2, "maxItems": 2, "items": candidate})
    example = 'Answer with JSON like {"candidates":[{"move":"e2e4","score":5}]}'
    answer, _ = complete(client, request(schema, example))
    moves = [candidate["move"] for candidate in answer["candidates"]]
    assert len(moves) == 2
    assert set(moves) <= set(MOVES)
    assert all(candidate["score"] in range(10) for candidate in answer["candidates"])


def test_two_are_answered_at_the_same_time(client: httpx.Client, model: LocalModel):
    body = {"messages": [{"role": "user", "content": "Tell a story."}], "stream": True}
    endless = body | {"ignore_eos": True, "max_tokens": CONTEXT // 2}
    with (
        client.stream("POST", "/chat/completions", json=endless) as one,
        client.stream("POST", "/chat/completions", json=endless) as other,
    ):
        stories = [one.iter_lines(), other.iter_lines()]  # a stream ends with its iterator
        assert all(next(story).startswith("data: ") for story in stories)
        slots = client.get(model.base_url.removesuffix("v1") + "slots").json()
    assert [slot["is_processing"] for slot in slots] == [True, True]


def test_what_it_does_not_know_is_ignored(client: httpx.Client):
    body = request(CHOICE, reasoning_effort="low", prompt_cache_key="kibitz", store=False)
    answer, _ = complete(client, body)
    assert answer["move"] in MOVES


def test_an_answer_that_is_cut_short_says_so(client: httpx.Client):
    response = client.post("/chat/completions", json=request(CHOICE, max_completion_tokens=2))
    assert response.status_code == 200
    assert response.json()["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (
            {"messages": [{"role": "user", "content": "e4 " * CONTEXT}]},
            "exceed_context_size_error",
        ),
        ({"temperature": "hot"}, "invalid_request_error"),
        ({"response_format": {"type": "poem"}}, "invalid_request_error"),
    ],
)
def test_a_bad_request_is_refused_before_the_stream(
    client: httpx.Client, fields: dict[str, Any], kind: str
):
    response = client.post("/chat/completions", json=request(CHOICE, stream=True, **fields))
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["type"] == kind
    assert error["message"]


def test_the_model_is_listed(client: httpx.Client, model: LocalModel):
    listed = client.get("/models").json()["data"]
    assert [each["id"] for each in listed] == [model.name]
