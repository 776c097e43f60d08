"""Whatever a UCI engine prints is read, or ends in a refusal fit to be shown.

The promises themselves are in `fuzz.uci_promises`; `make fuzz` looks longer for what breaks one.
"""

from __future__ import annotations

import inspect
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.errors import AgentError
from agents.uci import errors
from agents.uci.errors import UciError, UciFault
from fuzz.promises import check_refusal
from fuzz.uci_promises import check_uci, errors_about
from fuzz.uci_seeds import OUTPUTS
from tests.engine.test_fuzz import repeatably, spoiled

pytestmark = pytest.mark.usefixtures("without_coverage")  # others cover these lines


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("output", OUTPUTS)
def test_real_outputs(output: str):
    check_uci(encoded(output))


@repeatably
@given(st.binary() | spoiled(OUTPUTS).map(encoded))
@example(b"option name a\x1b[2J type button\noption name b type combo var \x07")
@example(b"option name \xff type string default \xff")
@example("option name ẞİ type check default true".encode())
@example(b"option name x type spin min 9 max -9 default -")
@example(b"info score cp\ninfo wdl 1 2\ninfo depth " + b"9" * 5000)
@example(b"bestmove " * 20 + b"\r\r\n")
@example(b"\xed\xa0\x80\n")
def test_any_output(raw: bytes):
    check_uci(raw)


#: Words that mean something, in any order.
words = st.sampled_from(sorted({word for output in OUTPUTS for word in output.split(" ")}))


@repeatably
@given(st.lists(words | st.text(st.characters(), max_size=3), max_size=40).map(" ".join))
def test_any_words(text: str):
    check_uci(encoded(text))


# --- errors ---


def test_every_error_is_checked():
    here = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    known = {each for each in here if issubclass(each, UciError)} - {UciError}
    assert {type(error) for error in errors_about("")} == known


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "x" * 10_000,
        "a\nb",
        "\x00" * 100,
        "♘" * 300,
        "\ud800" * 90,
        "'\"" * 100,
        "\\" * 300,
    ],
    ids=[
        "nothing",
        "short",
        "long",
        "lines",
        "zeros",
        "figurines",
        "surrogates",
        "quotes",
        "slashes",
    ],
)
@pytest.mark.parametrize("number", range(len(errors_about(""))))
def test_errors_quote_anything(number: int, text: str):
    check_refusal(errors_about(text)[number])


@pytest.mark.parametrize(
    "error", errors_about("why"), ids=lambda error: f"{type(error).__name__}: {error}"
)
def test_an_error_keeps_its_fields(error: UciError):
    named = type(error)(**vars(error))  # which plain exceptions do not survive
    again = pickle.loads(pickle.dumps(named))
    assert vars(again)
    assert (type(again), vars(again)) == (type(error), vars(error))
    assert isinstance(again, AgentError)


SENTENCES = [
    "Fairy-Stockfish on a server was not found at 'why'",
    "Fairy-Stockfish on a server was not found at 'why'; install it, or say where it is",
    "Fairy-Stockfish on a server cannot be started from 'why': why",
    "Fairy-Stockfish on a server",
    "Fairy-Stockfish on a server process died while thinking, saying 'why'",
    "Fairy-Stockfish on a server process died while getting ready (signal 9), saying 'why'",
    "Fairy-Stockfish on a server process died while starting (exit code 127), saying 'why'",
    "Fairy-Stockfish on a server timed out: thinking took over 2.5 s",
    "Fairy-Stockfish on a server does not speak UCI: it prints line after line of no meaning, "
    "as in 'why'",
    "Fairy-Stockfish on a server answered 'why', which is no legal move in "
    "Q3Q3/8/8/8/Q3Q3/8/4b2K/N1N1k3 w - - 99 80",
    "Fairy-Stockfish on a server's option 'why': why",
    "a search needs a limit",
    "level must be between 1 and 8, not 'why'",
    "the ratings in 'why' cannot be read: why",
    "the pool of Fairy-Stockfish on a server is closed",
]


ABOUT_WHY = list(zip(errors_about("why"), SENTENCES, strict=True))


@pytest.mark.parametrize(("error", "sentence"), ABOUT_WHY, ids=SENTENCES)
def test_an_error_is_a_sentence(error: UciError, sentence: str):
    assert str(error) == sentence


def test_what_a_process_did_wrong_can_be_caught_as_one():
    faults = {type(error).__name__ for error in errors_about("") if isinstance(error, UciFault)}
    assert faults == {"UciFault", "UciDied", "UciTimedOut", "UciGarbled", "UciIllegalAnswer"}
