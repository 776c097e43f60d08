"""Answers: the JSON that members are asked for, and what their replies mean."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from agents.models.legible import legible
from agents.models.model import ReplySchema
from agents.player import Candidate
from agents.team.reply import read_reply
from agents.team.spoken import without_thoughts
from agents.team.structured import find_json
from engine import Move, MoveError, Position, UnreadableMove

#: A reason is one line, for people to read beside a move.
MAX_REASON = 300
#: Of a longer reply only the end is read, where the answer is: it must not keep others waiting.
MAX_READ = 50_000
#: A move with all its decoration is shorter. What is longer is an essay: whichever of its moves was
#: read could be another than the one that was meant.
MAX_MOVE = 200
#: Of so many candidates for each that was asked for, any may be legal; further ones are not read.
_READ_FOR_EACH = 3
#: Where a fenced object begins and where it ends. Nothing is tried twice: a single pattern for both
#: would look for the end again from every beginning, which takes the square of the time.
_OPENING = re.compile(r"```(?:json)?\s*+\{")
_CLOSING = re.compile(r"\}\s*+```")
#: Where a JSON object begins, or a list: its elements are no answers by themselves, nor are those
#: of a list that was cut off.
_VALUE = re.compile(r"[{[]")
_IN_LIST = re.compile(r"(?:\[|\}\s*,)\s*\Z")
_OBJECT = re.compile(r"\{\s*\"")
_FENCE = re.compile(r"\A```(?:json)?\s*+")
#: How members may call what they decide for; or the command itself.
_DECIDING = re.compile(
    r"\"\w{0,30}(?:move|candidate|answer|uci|san|choice|decision|action|play|best|command)\w{0,30}\""
    r"\s*+:|make\\?_move",
    re.IGNORECASE,
)
_TEXT = {"type": "string"}
T = TypeVar("T", bound=BaseModel)


def candidates_schema(
    moves: Sequence[str] | None, count: int, reasoning_limit: int | None
) -> ReplySchema:
    """Return the schema of a specialist's answer; `moves` are the legal ones, if they are told.

    The reasoning comes first: a move that is asked for before its reasons is a worse one.
    """
    candidate = _object({"reason": _reasoning(reasoning_limit), "move": _move(moves)})
    candidates = {"type": "array", "items": candidate, "maxItems": count}
    properties = {"reasoning": _reasoning(reasoning_limit), "candidates": candidates}
    return ReplySchema("advice", _object(properties))


def move_schema(
    moves: Sequence[str] | None, reasoning_limit: int | None, *, draw_offered: bool
) -> ReplySchema:
    """Return the schema of the answer of whoever decides."""
    properties: dict[str, Any] = {"reasoning": _reasoning(reasoning_limit)}
    if draw_offered:
        properties["accept_draw"] = {"type": "boolean"}
    return ReplySchema("decision", _object({**properties, "move": _move(moves)}))


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _reasoning(limit: int | None) -> dict[str, Any]:
    return _TEXT if limit is None else {**_TEXT, "maxLength": limit}


def _move(moves: Sequence[str] | None) -> dict[str, Any]:
    return _TEXT if moves is None else {**_TEXT, "enum": list(moves)}


def _legible(value: object) -> object:
    return legible(value) if isinstance(value, str) else value


#: JSON can escape half a character, which nobody could be sent or told.
_Words = Annotated[str, BeforeValidator(_legible)]


class _CandidateAnswer(BaseModel):
    model_config = ConfigDict(strict=True)

    move: _Words
    reason: _Words = ""


class _CandidatesAnswer(BaseModel):
    model_config = ConfigDict(strict=True)

    candidates: list[_CandidateAnswer | _Words]
    reasoning: _Words = ""


def _text_or_nothing(value: object) -> object:
    return legible(value) if isinstance(value, str) else ""


def _is_yes(value: object) -> object:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes"))


class _MoveAnswer(BaseModel):
    model_config = ConfigDict(strict=True)

    #: Who accepts a draw need not name a move, and may say so in any way: null, "", "none".
    move: Annotated[str, BeforeValidator(_text_or_nothing)] = ""
    reasoning: _Words = ""
    accept_draw: Annotated[bool, BeforeValidator(_is_yes)] = False

    @model_validator(mode="after")
    def _decides(self) -> _MoveAnswer:
        if not self.move and not self.accept_draw:
            raise ValueError("neither a move nor a draw")
        return self


@dataclass(frozen=True)
class Counsel:
    """What a specialist's reply means: its candidates, its words, and what of it was refused."""

    candidates: tuple[Candidate, ...]
    words: str
    refused: tuple[MoveError, ...] = ()


@dataclass(frozen=True)
class Choice:
    """What the reply of whoever decides means: a legal move, or what is wrong with it.

    A draw may be accepted with either.
    """

    words: str
    move: Move | None = None
    fault: MoveError | None = None
    accepts_draw: bool = False


def read_counsel(text: str, position: Position, count: int) -> Counsel:
    """Return what a specialist advises. Moves that are not legal are left out and named.

    Of a list that is much longer than `count`, only the beginning is read.
    """
    text = text[-MAX_READ:]
    answer = _read(_CandidatesAnswer, text)
    if answer is None:
        choice = read_choice(text, position)
        if choice.move is None:
            return Counsel((), choice.words, () if choice.fault is None else (choice.fault,))
        return Counsel((Candidate(choice.move, one_line(choice.words)),), choice.words)
    candidates: dict[Move, Candidate] = {}
    refused = []
    for each in answer.candidates[: _READ_FOR_EACH * count]:
        said = _CandidateAnswer(move=each) if isinstance(each, str) else each
        try:
            move = _read_move(said.move, position)
        except MoveError as error:
            refused.append(error)
            continue
        candidates.setdefault(move, Candidate(move, one_line(said.reason)))
    return Counsel(tuple(candidates.values())[:count], answer.reasoning, tuple(refused))


def read_choice(text: str, position: Position) -> Choice:
    """Return the move that a reply decides for, or why it is none."""
    text = text[-MAX_READ:]
    answer = _read(_MoveAnswer, text)
    words = text if answer is None else answer.reasoning
    accepts_draw = answer is not None and answer.accept_draw
    try:
        if answer is None and _is_undecided(text):
            raise UnreadableMove(text)
        if answer is None or not answer.move:
            move = read_reply(text, position)
        else:
            move = _read_move(answer.move, position)
    except MoveError as error:
        return Choice(words, fault=error, accepts_draw=accepts_draw)
    return Choice(words, move, accepts_draw=accepts_draw)


def _is_undecided(text: str) -> bool:
    """Return whether a reply is an object that was cut off before it came to its move.

    The moves in its reasoning are what it thought about, and perhaps what it warned of.
    """
    said = _FENCE.sub("", without_thoughts(text).lstrip())
    return bool(_OBJECT.match(said)) and "}" not in said and _DECIDING.search(said) is None


def one_line(text: str, limit: int = MAX_REASON) -> str:
    """Return a text on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _read_move(said: str, position: Position) -> Move:
    if len(said) > MAX_MOVE:
        raise UnreadableMove(said)
    try:
        return position.parse(said)
    except UnreadableMove:
        return read_reply(said, position)  # such as "g1f3 (Nf3)"


def _read(kind: type[T], text: str) -> T | None:
    """Return the last JSON object of a kind in a reply, thoughts aside: before it come drafts."""
    for part in _objects(text):
        try:
            return kind.model_validate(part)
        except ValidationError:
            continue
    return None


def _objects(text: str) -> list[object]:
    """Return the JSON objects that may be the answer, the last first."""
    if (whole := _loaded(text)) is not None:
        return [_unwrapped(whole)]  # what looks like a thought in it is only quoted
    said = without_thoughts(text)
    found = [
        _unwrapped(value)
        for start, _, value in find_json(said, _VALUE)
        if not _IN_LIST.search(said[max(0, start - 20) : start])
    ]
    # The search ends early in a text full of braces, but what is in a fence is found.
    return [*reversed(found), _unwrapped(_loaded(_last_fenced(said)))]


def _loaded(text: str) -> object:
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded


def _unwrapped(value: object) -> object:
    """Return the only element of a list: of several, none is the one."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _last_fenced(text: str) -> str:
    """Return the last object in a fence of its own, empty if there is none, in linear time."""
    found, at = "", 0
    while (opening := _OPENING.search(text, at)) and (
        closing := _CLOSING.search(text, opening.end())
    ):
        found = text[opening.end() - 1 : closing.start() + 1]
        at = closing.end()
    return found
