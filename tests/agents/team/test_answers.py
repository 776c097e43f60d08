"""What members are asked to answer, and what their answers mean."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.team.answers import (
    MAX_MOVE,
    _last_fenced,
    candidates_schema,
    move_schema,
    one_line,
    read_choice,
    read_counsel,
)
from engine import AmbiguousMove, IllegalMove, MoveError, Position, UnreadableMove

START = Position.start()


def test_the_reasoning_comes_first_and_the_move_last():
    advice = candidates_schema(("e2e4", "d2d4"), 3, None)
    assert list(advice.schema["properties"]) == ["reasoning", "candidates"]
    candidates = advice.schema["properties"]["candidates"]
    assert candidates["maxItems"] == 3
    assert list(candidates["items"]["properties"]) == ["reason", "move"]
    assert candidates["items"]["properties"]["move"]["enum"] == ["e2e4", "d2d4"]
    decision = move_schema(("e2e4",), 50, draw_offered=True)
    assert list(decision.schema["properties"]) == ["reasoning", "accept_draw", "move"]
    assert decision.schema["properties"]["reasoning"]["maxLength"] == 50
    for schema in (advice.schema, candidates["items"], decision.schema):
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])


def test_without_the_legal_moves_there_is_no_enum():
    schema = move_schema(None, None, draw_offered=False).schema
    assert schema["properties"] == {"reasoning": {"type": "string"}, "move": {"type": "string"}}


def counsel(text, count=3):
    found = read_counsel(text, START, count)
    return [(each.move.uci(), each.reason) for each in found.candidates], found


def candidates(*moves, reasoning="because"):
    listed = [{"move": move, "reason": f"for\n{move}"} for move in moves]
    return json.dumps({"reasoning": reasoning, "candidates": listed})


def test_candidates_are_read_in_their_order():
    found, whole = counsel(candidates("e2e4", "Nf3", "d2-d4"))
    assert found == [("e2e4", "for e2e4"), ("g1f3", "for Nf3"), ("d2d4", "for d2-d4")]
    assert (whole.words, whole.refused) == ("because", ())


def test_what_is_too_many_twice_or_illegal_is_left_out():
    found, whole = counsel(candidates("e2e5", "e2e4", "e4", "rubbish", "d4", "c4", "b4"), count=3)
    assert [move for move, _ in found] == ["e2e4", "d2d4", "c2c4"]
    assert [type(error) for error in whole.refused] == [IllegalMove, UnreadableMove]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        (f"```json\n{candidates('e2e4')}\n```", ["e2e4"]),
        (f"Here you are: {candidates('e2e4')} Good luck!", ["e2e4"]),
        ('{"candidates": ["e2e4", "d4"]}', ["e2e4", "d2d4"]),
        ('{"candidates": [{"move": "g1f3 (Nf3)"}]}', ["g1f3"]),
        ('{"candidates": []}', []),
        ("I would play e4 here.", ["e2e4"]),
        ('{"reasoning": "x", "move": "e2e4"}', ["e2e4"]),
        ("Nothing comes to my mind.", []),
        ("[]", []),
        ("null", []),
    ],
)
def test_every_form_of_advice(text, moves):
    assert [move for move, _ in counsel(text)[0]] == moves


def test_a_choice():
    choice = read_choice('{"reasoning": "it\\nforks", "move": "e2e4"}', START)
    assert (choice.move and choice.move.uci(), choice.words) == ("e2e4", "it\nforks")
    assert (choice.fault, choice.accepts_draw) == (None, False)
    assert read_choice('{"move": "e4", "accept_draw": true}', START).accepts_draw
    assert not read_choice("I accept the draw; e4", START).accepts_draw


@pytest.mark.parametrize(
    "move", ['"e2e4"', '""', '"none"', "null", '"e2e5"', '"I agree to a draw."', "4", "[]", None]
)
@pytest.mark.parametrize("form", ["{}", "Here you are:\n```json\n{}\n```", "<think>no</think>{}"])
@pytest.mark.parametrize("yes", ["true", '"true"', '"Yes"'])
def test_a_draw_can_be_accepted_with_any_move_or_none(move, form, yes):
    last = "" if move is None else f', "move": {move}'
    text = form.format(f'{{"reasoning": "it is equal", "accept_draw": {yes}{last}}}')
    choice = read_choice(text, START)
    assert choice.accepts_draw
    assert choice.words == "it is equal"
    assert (choice.move is None) == (move != '"e2e4"')


@pytest.mark.parametrize("no", ["false", '"false"', '"no"', "null", "0", '""'])
def test_what_is_no_yes_accepts_nothing(no):
    choice = read_choice(f'{{"reasoning": "x", "accept_draw": {no}, "move": "e2e4"}}', START)
    assert (choice.move and choice.move.uci(), choice.accepts_draw) == ("e2e4", False)


DRAFT = '{"reasoning": "at first", "accept_draw": true, "move": "d2d4"}'
ANSWER = '{"reasoning": "in the end", "accept_draw": false, "move": "e2e4"}'


@pytest.mark.parametrize(
    "form",
    [
        "{draft}\n{answer}",
        "Draft: {draft}\n\nBut no.\n\n{answer}\nThat is all.",
        "```json\n{draft}\n```\n\nBetter:\n\n```json\n{answer}\n```",
        "```json\n{draft}\n```\n\nBetter: {answer}",
        "{draft}\n{answer}\n" + '{{"confidence": 0.9}}',
        "Sure, [really] {draft}, and then [{answer}]",
        "{{" * 300 + "```json\n{answer}\n```",
    ],
)
def test_of_several_objects_the_last_counts(form):
    choice = read_choice(form.format(draft=DRAFT, answer=ANSWER), START)
    assert (choice.move and choice.move.uci(), choice.words) == ("e2e4", "in the end")
    assert not choice.accepts_draw
    choice = read_choice(form.format(draft=ANSWER, answer=DRAFT), START)
    assert (choice.move and choice.move.uci(), choice.words) == ("d2d4", "at first")
    assert choice.accepts_draw


@pytest.mark.parametrize(
    "text",
    [
        f"[{DRAFT}, {ANSWER}]",
        f"```json\n[{DRAFT}, {ANSWER}]\n```",
        f'{{"candidates": [{DRAFT}, {ANSWER}, {{"reas',
    ],
)
def test_of_a_list_none_is_the_answer(text):
    assert read_choice(text, START).move is None
    assert read_counsel(text, START, 3).candidates == ()


@pytest.mark.parametrize(
    "thought",
    [
        'Perhaps {"reasoning": "x", "move": "e2e4"}? No. Better d4.',
        '\n```json\n{"reasoning": "x", "accept_draw": true, "move": "e2e4"}\n```\n',
        'I could advise {"reasoning": "x", "candidates": [{"reason": "y", "move": "e2e4"}]}.',
    ],
)
@pytest.mark.parametrize(
    "said", ["I play d2d4.", '{"reasoning": "z", "move": "d2d4"}', '{"candidates": ["d2d4"]}']
)
def test_thoughts_are_no_answers(thought, said):
    text = f"<think>{thought}</think>\n{said}"
    assert [move for move, _ in counsel(text)[0]] == ["d2d4"]
    if "candidates" not in said:
        choice = read_choice(text, START)
        assert (choice.move and choice.move.uci(), choice.accepts_draw) == ("d2d4", False)


def test_thoughts_count_if_nothing_else_was_said():
    text = '<think>{"reasoning": "x", "accept_draw": true, "move": "e2e4"}</think>'
    choice = read_choice(text, START)
    assert (choice.move and choice.move.uci(), choice.accepts_draw) == ("e2e4", True)
    assert [move for move, _ in counsel(f"<think>{candidates('d2d4')}</think>")[0]] == ["d2d4"]


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "Here you are: {}"])
def test_what_an_answer_quotes_is_no_thought(form):
    answer = json.dumps({"reasoning": "After <think>d4?</think> I say", "move": "e2e4"})
    choice = read_choice(form.format(answer), START)
    assert (choice.move and choice.move.uci()) == "e2e4"


@pytest.mark.parametrize("words", ["so </think> e4", "<think> is no word of mine", "[thinking]"])
def test_what_is_all_json_has_no_thoughts(words):
    choice = read_choice(json.dumps({"reasoning": words, "move": "e2e4"}), START)
    assert (choice.move and choice.move.uci(), choice.words) == ("e2e4", words)


def test_a_draw_can_be_accepted_with_a_move_of_another_shape():
    choice = read_choice('{"accept_draw": true, "move": {"uci": "e2e4"}}', START)
    assert (choice.move and choice.move.uci(), choice.accepts_draw) == ("e2e4", True)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"reasoning": "e4 is good", "move": "e2e5"}', IllegalMove),
        ('{"reasoning": "e4 is good", "move": "rubbish"}', UnreadableMove),
        ("I play e2e5.", IllegalMove),
        ("No idea.", UnreadableMove),
        ("", UnreadableMove),
        ('{"move": ""}', UnreadableMove),
        ('{"move": 4}', UnreadableMove),
    ],
)
def test_a_choice_that_is_none(text, error):
    choice = read_choice(text, START)
    assert choice.move is None
    assert type(choice.fault) is error


def test_an_ambiguous_choice():
    position = Position.from_fen("4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    assert isinstance(read_choice('{"move": "Rd1"}', position).fault, AmbiguousMove)


@pytest.fixture
def parsed(monkeypatch):
    """Return the texts that positions are asked to parse."""
    texts = []
    parse = type(START).parse

    def noting(position, text, *args):
        texts.append(text)
        return parse(position, text, *args)

    monkeypatch.setattr(type(START), "parse", noting)
    return texts


def test_of_a_long_list_only_the_beginning_is_read(parsed):
    found, whole = counsel(candidates(*["e2e5"] * 8, "e2e4", *["d2d5"] * 200), count=3)
    assert [move for move, _ in found] == ["e2e4"]
    assert parsed == ["e2e5"] * 8 + ["e2e4"]
    assert [str(error) for error in whole.refused] == [str(whole.refused[0])] * 8


def test_an_essay_is_no_move(parsed):
    essay = "I play e4. " + "Nf3 and d4 are good moves as well. " * 6
    assert len(essay) > MAX_MOVE
    for text in (json.dumps({"move": essay}), candidates(essay)):
        (fault,) = read_counsel(text, START, 3).refused
        assert isinstance(fault, UnreadableMove)
    assert isinstance(read_choice(json.dumps({"move": essay}), START).fault, UnreadableMove)
    assert parsed == []
    remark = f"e2e4 ({'x' * (MAX_MOVE - 7)})"
    assert len(remark) == MAX_MOVE
    assert counsel(candidates(remark))[0][0][0] == "e2e4"


FENCED = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL)


@given(st.lists(st.sampled_from(["```", "`", "json", "{", "}", " ", "\n", "x"])).map("".join))
def test_the_last_object_in_a_fence(text):
    assert _last_fenced(text) == (FENCED.findall(text) or [""])[-1]


@pytest.mark.parametrize("text", ["```{", "```json\n{ "])
def test_fences_without_end_take_no_time(text):
    # The pattern above would take an hour: nobody will mistake that for a busy machine.
    assert _last_fenced(text * 250_000) == ""


def test_a_nest_of_brackets_is_no_answer():
    text = '{"candidates": ' + "[" * 100_000
    assert read_counsel(text, START, 3).candidates == ()


@given(st.text())
def test_any_text_is_a_move_or_a_fault(text):
    for said in (text, json.dumps({"move": text}), json.dumps({"candidates": [text]})):
        choice = read_choice(said, START)
        assert (choice.move is None) != (choice.fault is None)
        assert choice.move is None or START.is_legal(choice.move)
        assert choice.fault is None or isinstance(choice.fault, MoveError)
        read_counsel(said, START, 3)


def test_a_line():
    assert one_line(" a\n b  c ") == "a b c"
    assert one_line("x" * 400) == "x" * 299 + "…"


def test_half_a_character_that_json_escapes_is_replaced():
    found, whole = counsel(candidates("e2e4", reasoning="A \ud800 calm"))
    assert found == [("e2e4", "for e2e4")]
    assert whole.words == "A \ufffd calm"
    choice = read_choice(json.dumps({"reasoning": "\udfff", "move": "e2e4\ud800"}), START)
    assert choice.words == "\ufffd"
    str(choice.fault).encode()


@pytest.mark.parametrize("text", ['{"reasoning": "x", "move": %s}', '{"candidates": [%s]}'])
def test_a_number_of_thousands_of_digits_is_no_move(text):
    text %= "9" * 6000
    assert isinstance(read_choice(text, START).fault, UnreadableMove)
    assert read_counsel(text, START, 3).candidates == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "Moving f2f3 would allow Qh4. Then',
        '{"reasoning": "Nf3 loses the knight after',
        '{"reasoning": "The tactical specialist proposes g2g4, which weakens the king. Let me',
        '{"reasoning": "I look at a2a3',
        '```json\n{"reasoning": "e2e4 is the best move"',
        '<think>d2d4?</think>\n{"reasoning": "I play e2e4, since',
    ],
)
def test_who_was_cut_off_before_the_move_has_decided_nothing(text):
    choice = read_choice(text, Position.start())
    assert (choice.move, type(choice.fault)) == (None, UnreadableMove)
    assert read_counsel(text, Position.start(), 3).candidates == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "Nf3 loses", "move": "e2e4"',
        '{"reasoning": "Nf3 loses", "best_move": "e2e4',
        '{"reasoning": "Nf3 loses"}\nmake_move e2e4',
        "{ I play e2e4 }",
    ],
)
def test_who_was_cut_off_after_the_move_has_decided(text):
    assert str(read_choice(text, Position.start()).move) == "e2e4"
