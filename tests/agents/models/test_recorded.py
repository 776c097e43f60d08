"""Recordings: what was answered once is answered again, byte for byte, and nothing else is."""

from __future__ import annotations

import asyncio
import fcntl
import json
import resource
import subprocess
import sys
from collections import deque
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models.access import ModelAccess
from agents.models.errors import (
    BrokenReply,
    ConnectionLost,
    ModelError,
    ModelNotConfigured,
    ProviderSilent,
    RateLimited,
    RecordingBroken,
    RecordingMismatch,
    RequestRefused,
    ServerFault,
)
from agents.models.model import (
    Again,
    Heard,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    ReplyForm,
    ReplySchema,
    Role,
    Usage,
    at_once,
)
from agents.models.recorded import Recorder, Recording
from tests.support.postgres import ROOT

REQUEST = ModelRequest(
    "openai/gpt-5",
    (Message(Role.SYSTEM, "You play chess."), Message(Role.USER, "♞ \ud800 \u2028 move")),
    max_tokens=100,
    schema=ReplySchema("move", {"type": "object", "properties": {"move": {"enum": ["e2e4"]}}}),
    temperature=0.1,
    effort="low",
    seed=7,
)
USAGE = Usage(1000, 200, 30, 50, Decimal("0.10"), is_estimated=True)
REPLY = ModelReply(
    'I play "e4" ♞\r\n\ud800\u2028',
    USAGE,
    timedelta(seconds=1, microseconds=1),
    "stop",
    "no",
    "gpt-5-2025-08-07",
    ReplyForm.JSON_SCHEMA,
)
PIECES = ["I play", "", ' "e4" ♞\r\n', "\ud800\u2028"]


class Script:
    """A model that gives answers one after the other."""

    def __init__(self, *answers: ModelReply | Exception, pieces: list[str] | None = None) -> None:
        self.answers = deque(answers)
        self.pieces = PIECES if pieces is None else pieces

    async def ask(self, request: ModelRequest, heard: Heard, again: Again = at_once) -> ModelReply:
        for words in self.pieces:
            heard(words)
        await asyncio.sleep(0)
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


async def answer_of(
    model: Model, request: ModelRequest = REQUEST
) -> tuple[ModelReply | ModelError, list[str]]:
    heard: list[str] = []
    try:
        return await model.ask(request, heard.append), heard
    except ModelError as error:
        return error, heard


def record(
    file: Path, *answers: ModelReply | Exception, request: ModelRequest = REQUEST, **more: Any
) -> None:
    async def run() -> None:
        recorder = Recorder(Script(*answers), file, **more)
        for _ in answers:
            await answer_of(recorder, request)

    asyncio.run(run())


def replay(
    file: Path, request: ModelRequest = REQUEST
) -> tuple[ModelReply | ModelError, list[str]]:
    return asyncio.run(answer_of(Recording(file), request))


def test_a_reply_comes_again_as_it_was(file):
    async def run() -> None:
        first = await answer_of(Recorder(Script(REPLY), file))
        again = await answer_of(Recording(file))
        assert first == again == (REPLY, PIECES)

    asyncio.run(run())
    lines = file.read_bytes().splitlines()
    assert len(lines) == 1
    data = json.loads(lines[0])
    assert data["version"] == 1
    assert data["digest"] == REQUEST.digest
    assert data["request"] == REQUEST.content


def test_how_long_to_wait_is_no_part_of_what_is_asked(file):
    record(file, REPLY)
    other = replace(REQUEST, timeout=timedelta(1), silence=timedelta(2))
    assert replay(file, other)[0] == REPLY


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
USAGES = st.builds(
    Usage,
    *[st.integers(0, 10**9)] * 4,
    cost_usd=st.none() | st.decimals(0, 10**6, allow_nan=False, allow_infinity=False),
    is_estimated=st.booleans(),
)
REPLIES = st.builds(
    ModelReply,
    TEXT,
    USAGES,
    st.timedeltas(timedelta(0), timedelta(days=9)),
    TEXT,
    TEXT,
    TEXT,
    st.sampled_from(ReplyForm),
)
REQUESTS = st.builds(
    ModelRequest,
    TEXT,
    st.lists(st.builds(Message, st.sampled_from(Role), TEXT), max_size=2).map(tuple),
    st.integers(1, 10**6),
    st.none() | st.builds(ReplySchema, TEXT, st.dictionaries(TEXT, st.lists(TEXT), max_size=2)),
    st.none() | st.floats(0, 2),
    st.none() | TEXT,
    st.none() | st.integers(),
    st.integers(0, 5),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(REQUESTS, REPLIES, st.lists(TEXT, max_size=3))
def test_whatever_is_said_comes_again_as_it_was(file, request_, reply, pieces):
    file.unlink(missing_ok=True)

    async def run() -> None:
        await answer_of(Recorder(Script(reply, pieces=pieces), file), request_)
        assert await answer_of(Recording(file), request_) == (reply, pieces)

    asyncio.run(run())


ERRORS = [
    RateLimited("p"),
    RateLimited("p", timedelta(seconds=1.5)),
    ServerFault("p", 503, timedelta(0)),
    ProviderSilent("p", timedelta(minutes=2)),
    ConnectionLost("p", "cut ♞"),
    BrokenReply("p", "garbage"),
    RequestRefused("p", 400, "no such model"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("usage", [None, USAGE])
def test_an_error_comes_again_as_it_was(file, error, usage):
    error.usage = usage
    record(file, error)
    again, heard = replay(file)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert heard == PIECES
    for each in fields(error):
        assert getattr(again, each.name) == getattr(error, each.name)
    assert getattr(again, "usage", None) == usage
    error.usage = None


@pytest.mark.parametrize("error", [ModelNotConfigured("p/m", "no key"), ZeroDivisionError()])
def test_what_is_no_answer_is_not_recorded(file, error):
    with pytest.raises(type(error)):
        asyncio.run(Recorder(Script(error), file).ask(REQUEST, lambda _: None))
    assert file.read_bytes() == b""


def test_a_call_that_was_given_up_is_not_recorded(file):
    class Hanging:
        async def ask(self, _request: ModelRequest, _heard: Heard, _again: Again) -> ModelReply:
            raise asyncio.CancelledError

    async def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            await Recorder(Hanging(), file).ask(REQUEST, lambda _: None)

    asyncio.run(run())
    assert file.read_bytes() == b""


def test_answers_to_one_request_come_in_order_and_once(file):
    second = replace(REPLY, text="d4")
    record(file, REPLY, RateLimited("p"), second)

    async def run() -> None:
        recording = Recording(file)
        assert (await answer_of(recording))[0] == REPLY
        assert isinstance((await answer_of(recording))[0], RateLimited)
        assert (await answer_of(recording))[0] == second
        mismatch, heard = await answer_of(recording)
        assert isinstance(mismatch, RecordingMismatch)
        assert "less often than it is made now" in str(mismatch)
        assert heard == []

    asyncio.run(run())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model": "openai/o3"}, "another model ("),
        ({"temperature": 0.2}, "another temperature ("),
        ({"seed": None, "effort": None}, "another effort, seed ("),
        ({"schema": None}, "another schema ("),
        ({"sample": 1}, "another sample ("),
        ({"messages": REQUEST.messages[:1]}, "another turn or advice (message 2) ("),
        ({"messages": (*REQUEST.messages, REQUEST.messages[0])}, "another message 3 ("),
    ],
)
def test_a_request_that_is_not_known_is_compared_with_the_nearest(file, change, named):
    record(file, REPLY, request=replace(REQUEST, model="a/b", max_tokens=1, effort="x", seed=3))
    record(file, REPLY)
    error, heard = replay(file, replace(REQUEST, **change))
    assert isinstance(error, RecordingMismatch)
    assert named in str(error)
    assert "chess" not in str(error)  # nothing of what was asked
    assert heard == []


def test_an_empty_recording_answers_nothing(file):
    Recorder(Script(), file)
    assert "it is empty" in str(replay(file)[0])


def spoilt(change: Any) -> bytes:
    line = {
        "version": 1,
        "digest": REQUEST.digest,
        "request": dict(REQUEST.content),
        "heard": [],
        "reply": {
            "text": "e4",
            "usage": {"prompt_tokens": 1, "cost_usd": "0.5"},
            "latency_us": 5,
            "form": "text",
        },
    }
    change(line)
    return json.dumps(line).encode() + b"\n"


def test_a_line_that_is_not_spoilt(file):
    file.write_bytes(spoilt(lambda line: None))
    assert replay(file)[0].text == "e4"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{\n", "damaged"),
        (b"\n", "damaged"),
        (b"\xff\n", "damaged"),
        (b"[" * 100_000 + b"\n", "damaged"),
        (b"[]\n", "no recorded call"),
        (spoilt(lambda line: line.update(version=2)), "another version"),
        (spoilt(lambda line: line.pop("digest")), "damaged"),
        (spoilt(lambda line: line.update(digest="0" * 64)), "by its digest"),
        (spoilt(lambda line: line["request"].update(seed=8)), "by its digest"),
        (spoilt(lambda line: line.update(request=[])), "by its digest"),
        (spoilt(lambda line: line.update(heard="x")), "words"),
        (spoilt(lambda line: line.update(heard=[1])), "words"),
        (spoilt(lambda line: line.pop("reply")), "a reply or an error"),
        (spoilt(lambda line: line.update(error={})), "a reply or an error"),
        (spoilt(lambda line: line["reply"].pop("text")), "damaged"),
        (spoilt(lambda line: line["reply"].update(text=1)), "words"),
        (spoilt(lambda line: line["reply"].update(form="song")), "damaged"),
        (spoilt(lambda line: line["reply"].update(more="x")), "damaged"),
        (spoilt(lambda line: line["reply"].update(latency_us=-1)), "number"),
        (spoilt(lambda line: line["reply"]["usage"].update(prompt_tokens=1.5)), "number"),
        (spoilt(lambda line: line["reply"]["usage"].update(cost_usd="much")), "damaged"),
        (spoilt(lambda line: line["reply"].update(usage=None)), "damaged"),
        (REQUEST.digest.encode()[:20], "damaged"),
    ],
)
def test_a_damaged_line_is_named(file, bad, reason):
    file.write_bytes(spoilt(lambda line: None) * 2 + bad)
    with pytest.raises(RecordingBroken) as error:
        Recording(file)
    assert error.value.line == 3
    assert error.value.is_lasting
    assert reason in str(error.value)
    assert "in line 3" in str(error.value)


def test_an_error_of_the_wrong_kind_is_named(file):
    for told in (
        {"type": "SystemExit"},
        {"type": "ProviderSilent", "provider": "p", "after": None},
    ):

        def change(line: dict[str, Any], told: dict[str, Any] = told) -> None:
            line.pop("reply")
            line["error"] = told

        file.write_bytes(spoilt(change))
        with pytest.raises(RecordingBroken, match="in line 1"):
            Recording(file)


def test_a_file_that_cannot_be_used(tmp_path):
    with pytest.raises(RecordingBroken, match="No such file"):
        Recording(tmp_path / "none")
    with pytest.raises(RecordingBroken, match="No such file"):
        Recorder(Script(), tmp_path / "none" / "calls.jsonl")
    with pytest.raises(RecordingBroken, match="directory"):
        Recorder(Script(), tmp_path)


def test_nothing_is_appended_to_a_line_that_is_not_whole(file):
    file.write_bytes(b'{"version":1')
    with pytest.raises(RecordingBroken, match="not whole"):
        Recorder(Script(), file)
    assert file.read_bytes() == b'{"version":1'


def test_that_there_was_no_time_comes_again(file):
    """It decides how often a call is made again."""
    hurried, slow = (ProviderSilent("p", timedelta(seconds=1)) for _ in range(2))
    hurried.is_hurried = True
    record(file, hurried, slow)
    recording = Recording(file)
    replayed = [asyncio.run(answer_of(recording))[0] for _ in range(2)]
    assert [fault.is_hurried for fault in replayed] == [True, False]


def test_keys_do_not_get_into_the_file(file):
    record(
        file, RequestRefused("p", 401, "wrong key sk-secret, sk-secret"), secrets=("", "sk-secret")
    )
    assert b"secret" not in file.read_bytes()
    assert "wrong key ***, ***" in str(replay(file)[0])
    assert file.stat().st_mode & 0o077 == 0


def test_a_key_that_a_model_says_does_not_get_into_the_file(file):
    async def main() -> None:
        class Tells:
            async def ask(self, request, heard, again):
                heard("it is sk-secret")
                return replace(REPLY, text="it is ***")  # as the client has it

        await Recorder(Tells(), file, ("sk-secret",)).ask(REQUEST, lambda words: None)

    asyncio.run(main())
    assert b"secret" not in file.read_bytes()


def test_a_file_that_cannot_be_written_is_found_out_before_anything_is_paid(tmp_path):
    for file in (tmp_path, tmp_path / "nowhere" / "file"):
        with pytest.raises(RecordingBroken, match="cannot be used"):
            ModelAccess(record_file=file)


def test_a_full_disk_leaves_no_half_line_and_the_call_is_known_to_be_paid(file):
    record(file, REPLY)
    before = file.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    recorder = Recorder(Script(REPLY), file)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
    try:
        error, _ = asyncio.run(answer_of(recorder))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(error, RecordingBroken)
    assert (error.usage, error.reply) == (USAGE, REPLY)
    assert file.read_bytes() == before


LONG = "x" * 300_000
WRITERS = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from agents.models.model import ModelReply, ModelRequest, Usage
from agents.models.recorded import Recorder

class Model:
    async def ask(self, request, heard, again):
        return ModelReply(request.model + "x" * 300_000, Usage(), timedelta(0))

async def main(file, name):
    recorder = Recorder(Model(), Path(file))
    print("ready", flush=True)
    sys.stdin.readline()
    requests = [ModelRequest(name, (), 1, seed=number) for number in range(8)]
    await asyncio.gather(*(recorder.ask(request, print) for request in requests))

asyncio.run(main(*sys.argv[1:]))
"""


def test_lines_of_processes_and_tasks_do_not_mix(file):
    pipe = subprocess.PIPE
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITERS, str(file), name], cwd=ROOT, stdin=pipe, stdout=pipe
        )
        for name in "ab"
    ]
    for child in children:
        assert child.stdout.readline() == b"ready\n"
    for child in children:
        child.stdin.write(b"go\n")
        child.stdin.flush()
    for child in children:
        child.communicate(timeout=60)
    assert [child.returncode for child in children] == [0, 0]
    assert len(file.read_bytes().splitlines()) == 16

    async def run() -> None:
        recording = Recording(file)
        for name in "ab":
            for number in range(8):
                reply, _ = await answer_of(recording, ModelRequest(name, (), 1, seed=number))
                assert reply.text == name + LONG

    asyncio.run(run())


def test_who_writes_waits_for_others_who_write(file):
    async def run() -> None:
        recorder = Recorder(Script(REPLY), file)
        with file.open("ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            asking = asyncio.create_task(answer_of(recorder))
            done, _ = await asyncio.wait({asking}, timeout=0.05)
            assert not done
            assert file.read_bytes() == b""
        assert (await asking)[0] == REPLY
        assert (await answer_of(Recording(file)))[0] == REPLY

    asyncio.run(run())
