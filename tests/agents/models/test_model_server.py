"""The scripted server itself, for all who use it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from agents.models.model import ModelRequest
from agents.models.openai_chat import OpenAiChat
from agents.models.providers import Provider
from tests.agents.models.chatting import PLAIN, STRUCTURED, chat_with
from tests.support.model_server import (
    AnswersSchema,
    Says,
    model_server_in_thread,
)


@pytest.mark.asyncio
async def test_the_server_answers_by_the_schema():
    async with chat_with(AnswersSchema(lambda asked: {"move": asked.enum("move")[-1]})) as chat:
        assert (await chat.ask(STRUCTURED)).text == '{"move": "d2d4"}'


def test_the_server_in_a_thread():
    async def ask(url: str, request: ModelRequest) -> str:
        model = OpenAiChat(Provider("test", url))
        try:
            return (await model.ask(request, print)).text
        finally:
            await model.aclose()

    with model_server_in_thread(Says("e4")) as server:
        assert asyncio.run(ask(server.base_url, PLAIN)) == "e4"
        assert server.received().body["model"] == "some/model"
        server.behave([Says("d4"), Says("c4")])
        assert [asyncio.run(ask(server.base_url, PLAIN)) for _ in range(3)] == ["d4", "c4", "c4"]
        assert len(server.requests) == 4


def test_the_server_in_a_process():
    command = [sys.executable, "-m", "tests.support.model_server", "--tokens", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()

        async def ask() -> str:
            model = OpenAiChat(Provider("test", url))
            try:
                return (await model.ask(PLAIN, print)).text
            finally:
                await model.aclose()

        assert asyncio.run(ask()) == "word word word "
        process.kill()
