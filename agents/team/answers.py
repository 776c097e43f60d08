"""Answers: the JSON that members are asked for, and what their replies mean."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agents.models.legible import legible
from agents.models.model import ReplySchema
from agents.player import Candidate
from agents.team.reply import read_reply
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


class _MoveAnswer(BaseModel):
    model_config = ConfigDict(strict=True)

    move: _Words = Field(min_length=1)
    reasoning: _Words = ""
    accept_draw: bool = False


@dataclass(frozen=True)
class Counsel:
    """What a specialist's reply means: its candidates, its words, and what of it was refused."""

    candidates: tuple[Candidate, ...]
    words: str
    refused: tuple[MoveError, ...] = ()


@dataclass(frozen=True)
class Choice:
    """What the reply of whoever decides means: a legal move, or what is wrong with it."""

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
    words, said = (text, text) if answer is None else (answer.reasoning, answer.move)
    try:
        move = read_reply(text, position) if answer is None else _read_move(said, position)
    except MoveError as error:
        return Choice(words, fault=error)
    return Choice(words, move, accepts_draw=answer is not None and answer.accept_draw)


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
    """Return the JSON object of a kind that a reply consists of, if it does."""
    for part in _objects(text):
        try:
            return kind.model_validate(part)
        except ValidationError:
            continue
    return None


def _objects(text: str) -> list[Any]:
    """Return the JSON objects that may be the whole answer: the text, or what it encloses."""
    found = []
    inside = text[text.find("{") : text.rfind("}") + 1]
    for part in (text, _last_fenced(text), inside):
        try:
            found.append(json.loads(part))
        except (ValueError, RecursionError):
            continue
    return found


def _last_fenced(text: str) -> str:
    """Return the last object in a fence of its own, empty if there is none, in linear time."""
    found, at = "", 0
    while (opening := _OPENING.search(text, at)) and (
        closing := _CLOSING.search(text, opening.end())
    ):
        found = text[opening.end() - 1 : closing.start() + 1]
        at = closing.end()
    return found
