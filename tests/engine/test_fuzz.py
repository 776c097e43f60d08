"""Whatever is given to the engine ends in a sound value or in a refusal fit to be shown.

The promises themselves are in `fuzz.promises`; here hypothesis looks for a text that breaks one.
`make fuzz` looks longer, and guided by coverage.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine import Move, Position, RulesError, SavedGame, TimeControl, read_fen
from fuzz.promises import (
    POSITIONS,
    check_fen,
    check_move,
    check_pgn,
    check_refusal,
    check_saved_game,
    check_time_control,
)
from fuzz.seeds import FENS, MOVES, PGNS, SAVED_GAMES, TIME_CONTROLS

pytestmark = pytest.mark.usefixtures("without_coverage")  # others cover these lines

#: Repeatable, so that a change is not blamed for what it did not do.
repeatably = settings(max_examples=300, deadline=None, derandomize=True, database=None)

#: Any characters at all, lone surrogates too, and bytes taken for characters.
anything = st.text(st.characters()) | st.binary().map(lambda raw: raw.decode("latin-1"))


@st.composite
def spoiled(draw: st.DrawFn, valid: tuple[str, ...]) -> str:
    """Return a valid text after some insertions, deletions, repetitions and swaps."""
    text = draw(st.sampled_from(valid))
    alphabet = st.sampled_from(sorted(set("".join(valid)))) | st.characters()
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 8)))
        head, part, tail = text[:start], text[start:end], text[end:]
        match draw(st.sampled_from(("insert", "delete", "repeat", "swap"))):
            case "insert":
                text = head + draw(st.text(alphabet, min_size=1, max_size=4)) + part + tail
            case "delete":
                text = head + tail
            case "repeat":
                text = head + part * draw(st.integers(2, 40)) + tail
            case "swap":
                text = head + part[::-1] + tail
    return text


@pytest.mark.parametrize("fen", FENS)
def test_valid_fens(fen: str):
    check_fen(fen)


@pytest.mark.parametrize("move", MOVES)
def test_valid_moves(move: str):
    check_move(move)


@pytest.mark.parametrize("pgn", PGNS)
def test_valid_pgns(pgn: str):
    check_pgn(pgn)


@pytest.mark.parametrize("control", TIME_CONTROLS)
def test_valid_time_controls(control: str):
    check_time_control(control)


@pytest.mark.parametrize("saved", SAVED_GAMES)
def test_valid_saved_games(saved: str):
    check_saved_game(saved)


@repeatably
@given(anything | spoiled(FENS))
@example("♘" * 200)
@example("8/8/8/8/8/8/8/8 w - - 0 1")
@example("QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/K6k w - - 0 0")
def test_any_fen(text: str):
    check_fen(text)


@repeatably
@given(anything | spoiled(MOVES))
@example("♘" * 200)
@example("\N{GRINNING FACE}" * 39)
def test_any_move(text: str):
    check_move(text)


@repeatably
@given(anything | spoiled(PGNS))
@example("(" * 1000)
@example("e4 " + "(d4" * 200 + ")" * 200)
@example("1. e4 {[%clk 9999:99:99] [%eval #-99999]} $99999999999 *")
@example('[A "b"] trailing\n')
def test_any_pgn(text: str):
    check_pgn(text)


@repeatably
@given(st.binary() | spoiled(PGNS).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"\xef\xbb\xbf1. e4 *")
def test_any_pgn_in_bytes(raw: bytes):
    check_pgn(raw)


@repeatably
@given(anything | spoiled(TIME_CONTROLS))
@example("9" * 100)
@example("1:" * 50)
def test_any_time_control(text: str):
    check_time_control(text)


@repeatably
@given(anything | spoiled(SAVED_GAMES))
@example("[" * 100_000)
@example('{"version":1,"clock":' + "[" * 900 + "]" * 900 + "}")
@example("[1," + "9" * 5000 + "]")
def test_any_saved_game(text: str):
    check_saved_game(text)


@pytest.mark.parametrize("thing", [None, 5, 2.5, b"e4", [], ["e4"], {}, object(), Position, True])
@pytest.mark.parametrize(
    "read",
    [
        Position.from_fen,
        read_fen,
        Move.from_uci,
        TimeControl.parse,
        SavedGame.from_json,
        SavedGame.from_token,
        *(position.parse for position in POSITIONS[:2]),
        lambda thing: Position.start(thing),
        lambda thing: Position.start().play(thing),
    ],
    ids=[
        "from_fen",
        "read_fen",
        "from_uci",
        "time control",
        "saved game",
        "token",
        "parse",
        "960",
        "start",
        "play",
    ],
)
def test_what_is_not_text_is_refused(read, thing):
    with pytest.raises(RulesError) as caught:
        read(thing)
    check_refusal(caught.value)
