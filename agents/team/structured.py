"""Structured answers in a reply: JSON, tags, boxes, commands and lines that say they are final."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Keys that hold a move. Those of the first group say that it was chosen among others.
_CHOSEN = frozenset(
    (
        "final",
        "final_answer",
        "final_move",
        "final_decision",
        "best_move",
        "bestmove",
        "best",
        "chosen",
        "chosen_move",
        "selected",
        "selected_move",
        "selection",
        "choice",
        "decision",
        "my_move",
        "recommended_move",
    )
)
_MOVE = frozenset(
    (
        "move",
        "uci",
        "uci_move",
        "move_uci",
        "san",
        "san_move",
        "move_san",
        "lan",
        "notation",
        "answer",
        "action",
        "next_move",
        "play",
        "make_move",
        "response",
        "reply",
        "output",
        "result",
    )
)
#: Keys whose moves are not chosen: options, and what comes before or after.
_OPTIONS = frozenset(
    (
        "candidates",
        "candidate_moves",
        "options",
        "alternatives",
        "legal_moves",
        "available_moves",
        "considered",
        "moves",
        "considered_moves",
        "pv",
        "line",
        "variation",
        "principal_variation",
        "history",
        "threats",
        "top_moves",
        "opponent_reply",
        "expected_reply",
        "reasoning",
        "analysis",
        "thought",
        "thoughts",
        "explanation",
    )
)
_ARGUMENTS = frozenset(("arguments", "parameters", "input", "args", "function_call"))
_BROKEN = re.compile(
    r"""["'](\w{2,20})["']\s{0,9}:\s{0,9}["']([^"'\n{}]{1,80})(?=["'\n}]|\Z)""",
)
_TAG = re.compile(
    r"<(/?)(answer|final_answer|final|move|best_move|bestmove|my_move|uci|san|action|decision"
    r"|choice|output|response)\b[^<>]{0,40}>",
    re.IGNORECASE,
)
_BOX = re.compile(r"\\f?boxed\s{0,3}\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}")
_COMMAND = re.compile(
    # Markdown escapes an underscore: make\_move.
    r"(?:(?P<literal>make\\?_move)|(?<![A-Za-z])(?:(?:make|play|submit|send|do)(?:\\?_|-)?\s?move"
    r"|best_?move(?=\s[a-hA-H][1-8])))\b"
    r"\s*+[^\w.!?]{0,8}(?:(?:uci_move|move_uci|uci|san|move|from(?:_\w{1,8})?|with|"
    r"(?:action[\s_])?input|parameters?|arguments?|args?)\b[^\w.!?]{1,8}){0,2}"
    r"(?:\d{1,3}\s?\.{1,3}\s?)?(?=(?P<argument>[^\n]{2,60}))",
    re.IGNORECASE,
)
_MOVE_LIKE = re.compile(r"[KQRBNP]?[a-h]?[1-8]?x?[a-h][1-8]|[O0]-[O0]", re.IGNORECASE)
_FINAL = re.compile(
    r"\bfinal\s(?:answer|move|decision|choice|selection)\b[^\w\n]{0,4}?(?::|=|->|\bis\b)"
    r"[^\w\n]{0,6}(?:\n\W{0,6})?((?:(?!(?<![^a-h]\d)(?<!\d\d)[.!?]\s)[^\n]){2,200})",
    re.IGNORECASE,
)
#: The most that is read of one answer.
_LONGEST = 4000
_OBJECT = re.compile(r"\{")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply gives as its answer: where, in what form, and the texts that tell the move.

    The first text that is a move counts; `is_command` says that the text must begin with it.
    """

    start: int
    end: int
    form: str
    texts: tuple[str, ...]
    is_command: bool = False


def find_objects(text: str) -> list[Answer]:
    """Return the answers in JSON objects, whole or broken, in order."""
    answers = [
        Answer(start, end, "object", texts)
        for start, end, value in find_json(text, _OBJECT)
        if (texts := tuple(_texts_of(value, depth=0)))
    ]
    if not answers and ("{" in text or '":' in text):
        answers += (
            Answer(match.start(), match.end(), _key(match[1]), (match[2],))
            for match in _BROKEN.finditer(text)
            if _key(match[1]) in _CHOSEN | _MOVE
        )
    return answers


def find_json(text: str, opening: re.Pattern[str]) -> Iterator[tuple[int, int, object]]:
    """Yield where each JSON value is that begins with an opening and is in no other, and it."""
    at, spent = opening.search(text), 0
    # What cannot be read is tried again from the next opening, but only so often: time is linear.
    while at and spent <= len(text) + 10_000:
        end = at.end()
        try:
            value, end = _DECODER.raw_decode(text, at.start())
            yield at.start(), end, value
        except json.JSONDecodeError as error:
            spent += error.pos - at.start() + 100
        except RecursionError:
            break
        except ValueError:  # a number of thousands of digits
            spent += 5_000
        at = opening.search(text, end)


def find_answers(text: str) -> list[Answer]:
    """Return the answers in tags, boxes, commands and final lines of a plain text, in order."""
    answers = list(_tagged(text))
    for form, pattern in (("box", _BOX), ("final", _FINAL)):
        answers += (Answer(*match.span(), form, (match[1],)) for match in pattern.finditer(text))
    answers += _commands(text)
    return sorted(answers, key=lambda answer: answer.end)


def _commands(text: str) -> list[Answer]:
    """Return the commands; if there is one by its very name, others are mere words."""
    found = list(_COMMAND.finditer(text))
    literal = [each for each in found if each["literal"] and _MOVE_LIKE.match(each["argument"])]
    return [
        Answer(*match.span(), "command", (match["argument"],), is_command=True)
        for match in literal or found
    ]


def _tagged(text: str) -> Iterator[Answer]:
    opened: dict[str, tuple[int, int]] = {}
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened[name] = tag.span()
        elif (begin := opened.pop(name, None)) and tag.start() - begin[1] <= _LONGEST:
            yield Answer(begin[0], tag.end(), "tag", (text[begin[1] : tag.start()],))


def _texts_of(value: object, depth: int) -> Iterator[str]:
    """Yield the texts that may tell the move of a JSON value, the best first."""
    if isinstance(value, list):
        # Of several calls or steps none is the one; a list of one is only a wrapping.
        value = value[0] if len(value) == 1 else None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _loaded(value)
    if isinstance(value, str):
        yield value[:_LONGEST]
    if not isinstance(value, dict) or depth > 4:
        return
    fields = {_key(name): field for name, field in value.items()}
    if isinstance(fields.get("from"), str) and isinstance(fields.get("to"), str):
        promotion = fields.get("promotion") or ""
        letter = {"knight": "n"}.get(str(promotion).lower(), str(promotion)[:1].lower())
        yield f"{fields['from']}{fields['to']}{letter}"
    for keys in (_CHOSEN, _MOVE):
        # Two squares tell a move best: `uci` goes before `san` and words.
        for name in sorted(keys & fields.keys(), key=lambda name: ("uci" not in name, name)):
            yield from _texts_of(fields[name], depth + 1)
    for name, field in fields.items():
        if name not in _CHOSEN | _MOVE | _OPTIONS and (
            isinstance(field, dict | list) or name in _ARGUMENTS
        ):
            yield from _texts_of(field, depth + 1)


def _loaded(text: str) -> object:
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return loaded


def _key(name: str) -> str:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name[:40]).lower()
    return re.sub(r"[\s-]+", "_", snake.strip())
