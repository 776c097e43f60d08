"""Words of a reply that is still arriving."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.team.words import Words


def heard(*pieces: str) -> str:
    said: list[str] = []
    words = Words(said.append)
    for piece in pieces:
        words.feed(piece)
    return "".join(said)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("I play e4.", "I play e4."),
        ("`e2e4` it is", "`e2e4` it is"),
        ('{"reasoning": "It forks.", "move": "e2e4"}', "It forks.\n"),
        ('```json\n{"reasoning": "It forks."}\n```', "It forks.\n"),
        ('{"reasoning": "a \\"b\\" \\n\\t\\\\ \\u00e9", "move": "x"}', 'a "b" \n\t\\ é\n'),
        ('{"reasoning": "\\ud83d\\ude00!"}', "😀!\n"),
        ('{"reasoning": "\\ud83d!"}', "?!\n"),
        ('{"reasoning": "\\ud83d\\n"}', "?\n\n"),
        ('{"reasoning": "\\uzzzz"}', "\N{REPLACEMENT CHARACTER}\n"),
        ('{"candidates": [{"reason": "wins", "move": "e2e4"}, {"reason": "b"}]}', "wins\nb\n"),
        ('{"move": "reasoning", "accept_draw": false}', ""),
        ('{"reasoning": ["no", "text"]}', ""),
        ("", ""),
        ('  \n{"reasoning": "late"}', "late\n"),
    ],
)
def test_what_is_said(text, spoken):
    assert heard(text) == spoken
    assert heard(*text) == spoken  # letter by letter


def test_words_come_before_the_reply_is_whole():
    said: list[str] = []
    words = Words(said.append)
    words.feed('{"reasoning": "First ')
    assert said == ["First "]
    words.feed('second", "move')
    assert said == ["First ", "second\n"]


@given(st.text(), st.text(), st.integers(min_value=1, max_value=7))
def test_every_text_comes_through_json(reasoning, move, size):
    reasoning = reasoning.encode("utf-8", "replace").decode()
    for ascii_only in (True, False):
        text = json.dumps({"reasoning": reasoning, "move": move}, ensure_ascii=ascii_only)
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert heard(*pieces) == reasoning + "\n"


@given(st.lists(st.text(max_size=5)))
def test_no_text_breaks_it(pieces):
    heard(*pieces)
    heard("{", *pieces)
    heard('{"reasoning":"', *pieces)
