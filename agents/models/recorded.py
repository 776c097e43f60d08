"""Recorded models: what was asked and answered, kept in a file, and given again from it.

Each line is one call: the request and its digest, the words in the pieces in which they came, and
the reply or the error, or that whoever asked went on without one. A call that was cut off with its
whole turn is none: when it was asked again, the answer to that is the one that counts. So it is
where a question came to nothing before, and had a reply when its turn was begun once more.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from agents.models.errors import (
    BrokenReply,
    ConnectionLost,
    GivenUp,
    ModelError,
    ProviderFault,
    ProviderSilent,
    RateLimited,
    RecordingBroken,
    RecordingMismatch,
    RequestRefused,
    ServerFault,
    is_unsent,
)
from agents.models.model import (
    Again,
    Heard,
    Model,
    ModelReply,
    ModelRequest,
    ReplyForm,
    Usage,
    at_once,
    digest_of,
)
from agents.models.secrecy import without

#: Of a line. Those that tell of a call that was given up came later.
_VERSION, _VERSION_GIVEN_UP = 1, 2
_MICROSECOND = timedelta(microseconds=1)
#: What can come back from a call. Other errors mean that none was made.
_ERRORS: Mapping[str, type[ModelError]] = {
    kind.__name__: kind
    for kind in (
        RateLimited,
        ServerFault,
        ProviderSilent,
        ConnectionLost,
        BrokenReply,
        RequestRefused,
    )
}
_TIMES = frozenset({"retry_after", "after"})
#: What comes of reading a line that is not what it should be.
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
#: Of how many calls that were cut off it is remembered that they were under way.
_MOST_CUT_OFF = 1000
#: What the messages of a request are, in order.
_MESSAGES = ("prompt or rules (message 1)", "turn or advice (message 2)")
#: With how many recorded requests one that is unknown is compared.
_MOST_COMPARED = 1000


class Recorder:
    """Asks a model, and appends every call to a file before it hands the reply over.

    Several may write to the same file, in one process or in many.
    """

    def __init__(self, model: Model, file: Path, secrets: Collection[str] = ()) -> None:
        """`secrets` are what no error may carry into the file. Raises `RecordingBroken`."""
        self._model = model
        self._file = file
        self._secrets = tuple(secret for secret in secrets if secret)
        #: What was heard of calls that were cut off, by digest, until it is known why they were.
        self._cut_off: dict[str, list[str]] = {}
        self._untold: RecordingBroken | None = None
        self.check(file)  # so that nothing is paid for that could not be kept

    @staticmethod
    def check(file: Path) -> None:
        """Raise `RecordingBroken` for a file that cannot be written."""
        _append(file, b"")

    async def ask(self, request: ModelRequest, heard: Heard, again: Again = at_once) -> ModelReply:
        """Return what the model replies; raises what it raises, and `RecordingBroken`."""
        self._cut_off.pop(request.digest, None)
        if (untold := self._untold) is not None:
            self._untold = None
            raise untold
        pieces: list[str] = []

        is_waiting = False

        def hear(words: str) -> None:
            pieces.append(words)
            heard(words)

        async def wait() -> None:
            nonlocal is_waiting
            is_waiting = True
            await again()
            is_waiting = False

        try:
            reply = await self._model.ask(request, hear, wait)
        except asyncio.CancelledError as error:
            if not (is_waiting or is_unsent(error)):  # else no request is under way
                self._cut_off[request.digest] = pieces
            if len(self._cut_off) > _MOST_CUT_OFF:
                del self._cut_off[next(iter(self._cut_off))]
            raise
        except ModelError as error:
            if type(error).__name__ in _ERRORS:
                await self._write(request, pieces, error)
            raise
        await self._write(request, pieces, reply)
        return reply

    async def give_up(self, request: ModelRequest) -> None:
        """Record that whoever asked went on without a reply: its next question shows that.

        If that cannot be written, the next to ask is told so.
        """
        pieces = self._cut_off.pop(request.digest, None)
        try:
            await self._write(request, pieces or [], GivenUp(in_flight=pieces is not None))
        except RecordingBroken as error:
            self._untold = error

    async def _write(
        self, request: ModelRequest, pieces: list[str], answer: ModelReply | ModelError
    ) -> None:
        line: dict[str, Any] = {
            "version": _VERSION,
            "digest": request.digest,
            "request": request.content,
            "heard": [self._without_secrets(piece) for piece in pieces],
        }
        if request.is_again:
            line["again"] = True
        if isinstance(answer, ModelReply):
            line["reply"] = _from_reply(answer)
        elif isinstance(answer, GivenUp):
            line |= {"version": _VERSION_GIVEN_UP, "given_up": {"in_flight": answer.in_flight}}
        else:
            line["error"] = self._from_error(answer)
        data = json.dumps(line, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
        try:
            await asyncio.to_thread(_append, self._file, data)
        except RecordingBroken as error:
            error.usage = answer.usage  # the call was paid for
            error.reply = answer if isinstance(answer, ModelReply) else None
            raise

    def _from_error(self, error: ModelError) -> dict[str, Any]:
        data: dict[str, Any] = {"type": type(error).__name__}
        for each in fields(error):  # type: ignore[arg-type]  # all of them are dataclasses
            value = getattr(error, each.name)
            if each.name == "usage":
                continue
            if isinstance(value, timedelta):
                value = value // _MICROSECOND
            elif isinstance(value, str):
                value = self._without_secrets(value)
            data[each.name] = value
        if isinstance(error, ProviderFault) and error.is_hurried:
            data["is_hurried"] = True  # it decides how often the call is made again
        return data if error.usage is None else {**data, "usage": _from_usage(error.usage)}

    def _without_secrets(self, text: str) -> str:
        return without(self._secrets, text)


class Recording:
    """A model that answers from a file: the same words in the same pieces, at once, without a key.

    The answers to one request come in the order in which they were recorded, each once.
    """

    def __init__(self, file: Path) -> None:
        """Read a file, or raise `RecordingBroken`."""
        self._file = file
        self._answers: dict[str, deque[_Answer]] = {}
        self._requests: dict[str, Mapping[str, Any]] = {}
        for number, line in enumerate(_lines(file), 1):
            try:
                data = _checked(json.loads(line))
                answer = _Answer(data["heard"], _to_answer(data))
            except _DAMAGE as error:
                reason = str(error) if isinstance(error, _Wrong) else "it is damaged"
                raise RecordingBroken(str(file), reason, number) from None
            digest = data["digest"]
            answers = self._answers.setdefault(digest, deque())
            if data.get("again") is True and isinstance(answer.outcome, ModelReply):
                # What it was asked before in that turn led to nothing that anybody went on with.
                while answers and isinstance(answers[-1].outcome, ModelError):
                    answers.pop()
            answers.append(answer)
            self._requests.setdefault(digest, data["request"])

    async def ask(self, request: ModelRequest, heard: Heard, again: Again = at_once) -> ModelReply:
        """Return the recorded reply, or raise the recorded error, `GivenUp` or a mismatch."""
        await asyncio.sleep(0)  # those who ask at the same time are still asked in turn
        answers = self._answers.get(request.digest)
        if not answers:
            raise RecordingMismatch(str(self._file), request.digest, self._reason(request))
        answer = answers.popleft()
        for words in answer.pieces:
            heard(words)
        if isinstance(answer.outcome, ModelError):
            raise answer.outcome
        return answer.outcome

    def _reason(self, request: ModelRequest) -> str:
        if request.digest in self._requests:
            return (
                "this request was recorded less often than it is made now; each answer is given"
                " once, and again after a restart of the service"
            )
        if not self._requests:
            return "it is empty"
        asked = _parts(request.content)
        nearest: list[str] | None = None
        for known, _ in zip(self._requests.values(), range(_MOST_COMPARED), strict=False):
            parts = _parts(known)
            names = list(dict.fromkeys([*asked, *parts]))
            different = [name for name in names if asked.get(name) != parts.get(name)]
            if nearest is None or len(different) < len(nearest):
                nearest = different
        return f"the nearest recorded request has another {', '.join(nearest or [])}"


class _Answer:
    """What came of one call."""

    __slots__ = ("outcome", "pieces")

    def __init__(self, pieces: list[str], outcome: ModelReply | ModelError) -> None:
        self.pieces = pieces
        self.outcome = outcome


class _Wrong(ValueError):
    """What is wrong with a line, in words."""


def _parts(content: Mapping[str, Any]) -> dict[str, str]:
    """Return what a request consists of, by names for people."""
    parts = {
        name: json.dumps(value, sort_keys=True)
        for name, value in content.items()
        if name != "messages"
    }
    for number, message in enumerate(content.get("messages", ())):
        name = _MESSAGES[number] if number < len(_MESSAGES) else f"message {number + 1}"
        parts[name] = json.dumps(message, sort_keys=True)
    return parts


def _checked(data: object) -> dict[str, Any]:
    """Return a line that is what it has to be."""
    if not isinstance(data, dict):
        raise _Wrong("it is no recorded call")
    version = _VERSION_GIVEN_UP if "given_up" in data else _VERSION
    if data.get("version") != version:
        raise _Wrong("it is of another version")
    if not isinstance(data["request"], dict) or digest_of(data["request"]) != data["digest"]:
        raise _Wrong("the request is not the one that was recorded, by its digest")
    pieces = data["heard"]
    if not isinstance(pieces, list) or not all(isinstance(each, str) for each in pieces):
        raise _Wrong("the words are no words")
    if sum(name in data for name in ("reply", "error", "given_up")) != 1:
        raise _Wrong("it has to have a reply or an error")
    return data


def _to_answer(data: Mapping[str, Any]) -> ModelReply | ModelError:
    if "reply" in data:
        told = dict(data["reply"])
        return ModelReply(
            text=_text(told.pop("text")),
            usage=_to_usage(told.pop("usage")),
            latency=_whole(told.pop("latency_us")) * _MICROSECOND,
            form=ReplyForm(told.pop("form")),
            **{name: _text(value) for name, value in told.items()},
        )
    if "given_up" in data:
        return GivenUp(in_flight=data["given_up"]["in_flight"] is True)
    told = dict(data["error"])
    kind = _ERRORS[told.pop("type")]
    usage = told.pop("usage", None)
    is_hurried = told.pop("is_hurried", False)
    values = {
        name: _whole(value) * _MICROSECOND if name in _TIMES and value is not None else value
        for name, value in told.items()
    }
    error = kind(**values)
    str(error)  # a field that is not what it should be shows now, and not in the middle of a match
    if usage is not None:
        error.usage = _to_usage(usage)
    if isinstance(error, ProviderFault):
        error.is_hurried = is_hurried is True
    return error


def _from_reply(reply: ModelReply) -> dict[str, Any]:
    return {
        "text": reply.text,
        "usage": _from_usage(reply.usage),
        "latency_us": reply.latency // _MICROSECOND,
        "finish_reason": reply.finish_reason,
        "refusal": reply.refusal,
        "model": reply.model,
        "form": reply.form.value,
    }


def _from_usage(usage: Usage) -> dict[str, Any]:
    data = {each.name: getattr(usage, each.name) for each in fields(usage)}
    if usage.cost_usd is not None:
        data["cost_usd"] = str(usage.cost_usd)
    return data


def _to_usage(data: Mapping[str, Any]) -> Usage:
    told = dict(data)
    cost = told.pop("cost_usd", None)
    is_estimated = told.pop("is_estimated", False)
    tokens = {name: _whole(value) for name, value in told.items()}
    return Usage(
        **tokens,
        cost_usd=None if cost is None else Decimal(_text(cost)),
        is_estimated=bool(is_estimated),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("it has something else where words should be")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _Wrong("it has something else where a number should be")
    return value


def _lines(file: Path) -> Iterator[bytes]:
    with _opened(file, os.O_RDONLY, fcntl.LOCK_SH) as descriptor:
        size = os.fstat(descriptor).st_size
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            data = stream.read(size)
    return iter(data.removesuffix(b"\n").split(b"\n") if data else [])


def _append(file: Path, data: bytes) -> None:
    """Append a whole line, or nothing: nobody else writes meanwhile."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    with _opened(file, flags, fcntl.LOCK_EX) as descriptor:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            raise RecordingBroken(str(file), "its last line is not whole")
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, size)
            raise


@contextmanager
def _opened(file: Path, flags: int, lock: int) -> Iterator[int]:
    try:
        descriptor = os.open(file, flags, 0o600)
        try:
            fcntl.flock(descriptor, lock)
            yield descriptor
        finally:
            os.close(descriptor)  # which frees the lock
    except OSError as error:
        raise RecordingBroken(str(file), error.strerror or "it cannot be used") from None
