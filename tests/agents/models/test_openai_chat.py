"""OpenAiChat over real HTTP: what is sent, what is heard, and what is made of the answer."""

from __future__ import annotations

import asyncio
import logging
import sys
from dataclasses import replace
from datetime import timedelta

import pytest

from agents.models.errors import ConnectionLost, ModelNotConfigured, is_unsent
from agents.models.model import ReplyForm, Usage
from agents.models.openai_chat import OpenAiChat
from agents.models.partial_reply import MAX_CHARACTERS
from agents.models.providers import Provider, Secret
from tests.agents.models.chatting import KEY, PLAIN, PROMPT_TOKENS, STRUCTURED, chat_with
from tests.support.model_server import (
    EMPTY,
    FILTERED,
    REFUSES,
    AnswersSchema,
    Floods,
    Hangs,
    Moment,
    Says,
    SaysAtOnce,
    streams,
)

# --- what is sent ---


@pytest.mark.asyncio
async def test_a_request_on_the_wire():
    async with chat_with(Says("e4"), headers={"X-Title": "Kibitz"}) as chat:
        await chat.ask(temperature=0.5, effort="low", seed=7)
    (asked,) = chat.requests
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.body == {
        "model": "some/model",  # what follows the first slash
        "messages": [
            {"role": "system", "content": "You play chess."},
            {"role": "user", "content": "Your move?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 100,
        "temperature": 0.5,
        "reasoning_effort": "low",
        "seed": 7,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["x-title"] == "Kibitz"


@pytest.mark.asyncio
async def test_nothing_is_sent_that_nobody_set():
    async with chat_with(Says("e4")) as chat:
        await chat.ask()
    body = chat.requests[0].body
    assert set(body) == {"model", "messages", "stream", "stream_options", "max_tokens"}


@pytest.mark.asyncio
async def test_the_usage_is_asked_for_where_the_provider_tells_the_cost():
    async with chat_with(Says("e4"), include_usage=True) as chat:
        await chat.ask()
    assert chat.requests[0].body["usage"] == {"include": True}


@pytest.mark.asyncio
async def test_no_key_no_authorization():
    async with chat_with(Says("e4"), api_key=None) as chat:
        await chat.ask()
    assert "authorization" not in chat.requests[0].headers


@pytest.mark.asyncio
async def test_the_environment_of_openai_goes_to_nobody_else(monkeypatch):
    for variable, value in {
        "OPENAI_API_KEY": "sk-openai",
        "OPENAI_ADMIN_KEY": "sk-admin",
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "proj-1",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_CUSTOM_HEADERS": "X-Gateway: secret\nAuthorization: Bearer sk-custom",
    }.items():
        monkeypatch.setenv(variable, value)
    async with chat_with(Says("e4")) as chat, chat_with(Says("d4"), api_key=None) as keyless:
        await chat.ask()
        await keyless.ask()
    ours = {
        "host", "connection", "accept", "accept-encoding", "content-type", "content-length",
        "user-agent",
    }  # fmt: skip
    theirs = {"x-stainless-retry-count", "x-stainless-read-timeout"}
    assert set(chat.requests[0].headers) - theirs == ours | {"authorization"}
    assert chat.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert set(keyless.requests[0].headers) - theirs == ours


@pytest.mark.asyncio
async def test_no_proxy_stands_before_loopback(monkeypatch):
    for variable in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with chat_with(Says("e4")) as chat:
        assert (await chat.ask()).text == "e4"


@pytest.mark.asyncio
async def test_a_proxy_stands_before_all_others(monkeypatch):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with chat_with(Says("e4")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.server.base_url.removesuffix("/v1"))
        model = OpenAiChat(Provider("far", "http://models.invalid/v1", Secret(KEY)))
        reply = await model.ask(PLAIN, print)
        await model.aclose()
    assert reply.text == "e4"
    assert proxy.requests[0].path == "http://models.invalid/v1/chat/completions"


@pytest.mark.asyncio
@pytest.mark.parametrize("proxy", ["gopher://user:hush@127.0.0.1:1", "socks5://user:hush@x:1"])
async def test_a_proxy_that_cannot_be_used(monkeypatch, proxy):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("all_proxy", proxy)
    model = OpenAiChat(Provider("far", "http://models.invalid/v1"))
    with pytest.raises(ModelNotConfigured, match="proxy") as caught:
        await model.ask(PLAIN, print)
    assert "hush" not in str(caught.value)


@pytest.mark.asyncio
async def test_a_model_without_a_provider():
    async with chat_with(Says("e4")) as chat:
        with pytest.raises(ModelNotConfigured, match="provider/model"):
            await chat.ask(model="model")
    assert not chat.requests


@pytest.mark.asyncio
async def test_importing_it_does_not_import_the_package():
    program = (
        "import sys, agents.models.openai_chat, agents.models.providers;"
        "sys.exit('openai' in sys.modules or 'httpx' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await process.wait() == 0


# --- what is heard, and the reply ---


@pytest.mark.asyncio
async def test_words_are_heard_as_they_arrive():
    async with chat_with(Says("I think e2e4 is best.", pieces=7)) as chat:
        reply = await chat.ask()
    assert len(chat.heard) == 7
    assert "".join(chat.heard) == reply.text == "I think e2e4 is best."
    assert (reply.finish_reason, reply.refusal, reply.form) == ("stop", "", ReplyForm.TEXT)
    assert reply.model == "some/model-2026"
    assert reply.usage == Usage(prompt_tokens=10, completion_tokens=5)
    assert timedelta() < reply.latency < PLAIN.timeout


@pytest.mark.asyncio
async def test_words_are_heard_before_the_reply_is_over():
    async with chat_with(Hangs(Moment.MID_STREAM, "e2e4, sin")) as chat:
        first = asyncio.get_running_loop().create_future()
        asking = asyncio.ensure_future(chat.model.ask(PLAIN, first.set_result))
        assert await first == "e2e4, sin"
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await chat.server.was_abandoned()  # the connection is closed at once


@pytest.mark.asyncio
@pytest.mark.parametrize("moment", [Moment.BEFORE_HEADERS, Moment.AFTER_HEADERS])
async def test_cancelling_closes_the_connection(moment):
    async with chat_with(Hangs(moment)) as chat:
        asking = asyncio.ensure_future(chat.ask())
        await chat.server.received()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError) as error:
            await asking
        await chat.server.was_abandoned()
        assert not is_unsent(error.value)


@pytest.mark.asyncio
async def test_who_is_cancelled_before_anything_is_sent_is_told_so(monkeypatch):
    """Also where the client was used before, and while its library is still read."""
    async with chat_with(Says("e4")) as chat:
        waiting = asyncio.Event()

        async def wait(*_args: object) -> None:
            waiting.set()
            await asyncio.Event().wait()

        async def cancelled() -> asyncio.CancelledError:
            asking = asyncio.ensure_future(chat.ask())
            await waiting.wait()
            waiting.clear()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError) as error:
                await asking
            return error.value

        with monkeypatch.context() as patch:
            patch.setattr("agents.models.openai_chat.warm", wait)
            assert is_unsent(await cancelled())
        await chat.ask()
        with monkeypatch.context() as patch:
            patch.setattr("httpx.AsyncHTTPTransport.handle_async_request", wait)
            assert is_unsent(await cancelled())
    assert len(chat.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_hidden_reasoning_is_not_heard_but_counted(name):
    says = Says("e4", thoughts="t" * 400, thoughts_name=name, tells_usage=False)
    async with chat_with(says) as chat:
        reply = await chat.ask()
    assert chat.heard == [*"e4"]
    assert chat.signs_of_life == 1  # who waits for the provider to be back need not wait for words
    assert reply.text == "e4"
    assert reply.usage == Usage(PROMPT_TOKENS, completion_tokens=101, is_estimated=True)


@pytest.mark.asyncio
async def test_thoughts_among_the_parts_of_a_content_are_not_heard():
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "d4"}]
    chunk = {"choices": [{"delta": {"content": parts}, "finish_reason": "stop"}]}
    async with chat_with(streams(chunk, "[DONE]")) as chat:
        assert (await chat.ask()).text == "d4"


class DeafError(Exception):
    pass


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [DeafError, TimeoutError, ValueError, ConnectionError])
async def test_what_goes_wrong_with_hearing_is_let_out(error):
    def heard(_: str) -> None:
        raise error("not the provider's fault")

    async with chat_with(Says("e4")) as chat:
        with pytest.raises(error, match="not the provider's fault"):
            await chat.model.ask(replace(PLAIN, silence=timedelta(seconds=30)), heard)
        await chat.server.received()


@pytest.mark.asyncio
async def test_a_connection_is_used_again():
    async with chat_with(Says("e4")) as chat:
        for _ in range(3):
            await chat.ask()
    assert chat.server.connections == 1


@pytest.mark.asyncio
async def test_many_at_once():
    async with chat_with(AnswersSchema()) as chat:
        replies = await asyncio.gather(*(chat.ask(STRUCTURED, sample=n) for n in range(20)))
    assert {reply.text for reply in replies} == {'{"reason": "because", "move": "e2e4"}'}


@pytest.mark.asyncio
async def test_empty_content():
    async with chat_with(EMPTY) as chat:
        reply = await chat.ask()
    assert (reply.text, reply.finish_reason, reply.refusal) == ("", "stop", "")
    assert chat.heard == []


@pytest.mark.asyncio
async def test_the_model_refuses():
    async with chat_with(REFUSES) as chat:
        reply = await chat.ask()
    assert (reply.text, reply.refusal) == ("", "I will not play chess.")
    assert chat.heard == []


@pytest.mark.asyncio
async def test_the_content_filter():
    async with chat_with(FILTERED) as chat:
        reply = await chat.ask()
    assert (reply.text, reply.finish_reason) == ("Well, ", "content_filter")
    assert "content filter" in reply.refusal


@pytest.mark.asyncio
async def test_a_reply_that_was_cut_at_the_limit():
    async with chat_with(Says("I think", finish_reason="length")) as chat:
        assert (await chat.ask()).finish_reason == "length"


@pytest.mark.asyncio
@pytest.mark.parametrize("content", ["e2e4", "", None])
async def test_a_server_that_does_not_stream(content):
    async with chat_with(SaysAtOnce(content, finish_reason="length")) as chat:
        reply = await chat.ask()
    assert (reply.text, reply.finish_reason) == (content or "", "length")
    assert chat.heard == ([content] if content else [])
    assert reply.usage == Usage(prompt_tokens=3, completion_tokens=2)
    assert reply.model == "some/model-2026"


# --- bounds ---


@pytest.mark.asyncio
async def test_a_reply_without_end_is_cut_off():
    async with chat_with(Floods(piece="♞" * 30_001)) as chat:
        reply = await chat.ask()
        await chat.server.was_abandoned()
    assert len(reply.text) == MAX_CHARACTERS == len("".join(chat.heard))
    assert reply.finish_reason == "length"
    assert reply.usage.is_estimated


@pytest.mark.asyncio
async def test_aclose_while_a_reply_is_under_way():
    async with chat_with(Hangs(Moment.MID_STREAM)) as chat:
        heard = asyncio.Event()
        asking = asyncio.ensure_future(chat.model.ask(PLAIN, lambda _: heard.set()))
        await heard.wait()
        await chat.model.aclose()
        with pytest.raises(ConnectionLost):
            await asking
        await chat.model.aclose()


@pytest.mark.asyncio
async def test_aclose_of_one_that_was_never_asked():
    await OpenAiChat(Provider("test", "http://127.0.0.1:1/v1")).aclose()


# --- secrets ---


@pytest.mark.asyncio
async def test_the_key_is_in_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    async with chat_with(Says("e4")) as chat:
        await chat.ask()
    written = caplog.text + repr(chat.model.provider) + repr(vars(chat.model))
    assert caplog.records
    assert KEY not in written
