"""What a GUI writes, read by itself: tables of the standard, and anything at all."""

from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.uci.commands import (
    LARGEST,
    LONGEST_LINE,
    CommandLines,
    Debug,
    Go,
    IsReady,
    NewGame,
    PonderHit,
    Quit,
    Register,
    SetOption,
    SetPosition,
    Stop,
    Uci,
    Unknown,
    read,
)
from fuzz.uci_gui_promises import check_commands
from fuzz.uci_seeds import INPUTS

FEN = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


def ms(number):
    return timedelta(milliseconds=number)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("uci", Uci()),
        ("  uci\t", Uci()),
        ("UCI", Uci()),
        ("isready", IsReady()),
        ("ucinewgame", NewGame()),
        ("stop", Stop()),
        ("ponderhit", PonderHit()),
        ("quit", Quit()),
        ("register later", Register()),
        ("register name Stefan code 4359874324", Register()),
        ("debug on", Debug(True)),
        ("debug OFF", Debug(False)),
        ("joho debug on", Debug(True)),  # the standard's own example
        ("\ufeffuci uci", Uci()),
        ("debug maybe", Unknown("debug maybe")),
        ("debug", Unknown("debug")),
        ("", Unknown("")),
        ("hello engine", Unknown("hello engine")),
        ("stop\0", Stop()),
    ],
)
def test_a_line_is_read(line, command):
    assert read(line) == command


def test_what_begins_with_much_noise_is_no_command():
    line = "word " * 100 + "quit"
    assert read(line) == Unknown(line)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("setoption name Hash value 32", "Hash", "32"),
        ("setoption   name  Budget   USD  value   2.50 ", "Budget USD", "2.50"),
        ("setoption NAME player VALUE team:default", "player", "team:default"),
        ("setoption name Player value my team of three", "Player", "my team of three"),
        ("setoption name Clear Hash", "Clear Hash", ""),
        ("setoption name X value", "X", ""),
        ("setoption name", "", ""),
    ],
)
def test_an_option_is_read(line, name, value):
    assert read(line) == SetOption(name, value)


def test_an_option_without_a_name_is_none():
    assert read("setoption Hash 32") == Unknown("setoption Hash 32")


@pytest.mark.parametrize(
    ("line", "position"),
    [
        ("position startpos", SetPosition()),
        ("position startpos moves", SetPosition()),
        ("position startpos moves e2e4 e7e5", SetPosition(None, ("e2e4", "e7e5"))),
        (f"position fen {FEN}", SetPosition(FEN)),
        (f"position fen {FEN} moves e1g1", SetPosition(FEN, ("e1g1",))),
        (f'position fen "{FEN}" moves e1g1', SetPosition(FEN, ("e1g1",))),
        (f"position {FEN} moves e1g1", SetPosition(FEN, ("e1g1",))),
        (f"position moves e1g1 fen {FEN}", SetPosition(FEN, ("e1g1",))),
        ("position moves e2e4 startpos", SetPosition(None, ("e2e4",))),
        ("position moves e2e4", SetPosition(None, ("e2e4",), is_named=False)),
        ("position", SetPosition(None, (), is_named=False)),
    ],
)
def test_a_position_is_read(line, position):
    assert read(line) == position


@pytest.mark.parametrize(
    ("line", "go"),
    [
        ("go", Go()),
        ("go infinite", Go(infinite=True)),
        (
            "go ponder wtime 1000 btime 2000",
            Go(ponder=True, white_time=ms(1000), black_time=ms(2000)),
        ),
        (
            "go wtime 1 btime 2 winc 3 binc 4 movestogo 5",
            Go(
                white_time=ms(1),
                black_time=ms(2),
                white_increment=ms(3),
                black_increment=ms(4),
                moves_to_go=5,
            ),
        ),
        ("go depth 6 nodes 7 mate 8 movetime 9", Go(depth=6, nodes=7, mate=8, move_time=ms(9))),
        ("go searchmoves e2e4 d2d4 depth 3", Go(("e2e4", "d2d4"), depth=3)),
        ("go depth 3 searchmoves e2e4 d2d4", Go(("e2e4", "d2d4"), depth=3)),
        ("go searchmoves", Go()),
        ("go wtime -250", Go(white_time=ms(0))),  # a flag that has fallen
        ("go depth 0 movestogo 0 nodes -1", Go()),
        ("go depth x nodes 5", Go(nodes=5)),
        ("go depth", Go()),
        ("go wtime 1.5 depth 2", Go(depth=2)),
        ("go nodes " + "9" * 5000, Go(nodes=LARGEST)),
        ("go depth ٣", Go()),
        ("go perft 3", Go()),
    ],
)
def test_a_search_is_read(line, go):
    assert read(line) == go


def test_the_longest_time_is_one_that_can_be_added_to():
    command = read(f"go movetime {'9' * 300} wtime {'9' * 300}")
    assert command.move_time == command.white_time == timedelta(days=365)


def lines_of(*pieces):
    lines = CommandLines()
    return [each for piece in pieces for each in lines.feed(piece)] + list(lines.end())


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([b"uci\nisready\n"], ["uci", "isready"]),
        ([b"uc", b"i\r", b"\nquit"], ["uci\r", "quit"]),
        ([b"\n\n"], ["", ""]),
        ([b"\xff\xfe\n"], ["\N{REPLACEMENT CHARACTER}" * 2]),
        ([b"x" * (LONGEST_LINE + 1), b"\nuci\n"], [None, "uci"]),
        ([b"x" * LONGEST_LINE, b"\n"], ["x" * LONGEST_LINE]),
        ([b"x" * LONGEST_LINE, b"x" * LONGEST_LINE], [None]),
        ([], []),
    ],
)
def test_bytes_are_cut_into_lines(pieces, lines):
    assert lines_of(*pieces) == lines


def test_of_a_line_without_end_nothing_is_kept():
    lines = CommandLines()
    for _ in range(3 * LONGEST_LINE // 4096):
        assert list(lines.feed(b"x" * 4096)) == []
        assert len(lines._rest) <= LONGEST_LINE
    assert list(lines.feed(b"\nuci\n")) == [None, "uci"]


@pytest.mark.usefixtures("without_coverage")
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=300) | st.sampled_from(INPUTS).map(str.encode))
@example(b"go wtime " + b"9" * 4000)
def test_any_bytes_are_read(raw):
    check_commands(raw)


@pytest.mark.usefixtures("without_coverage")
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    st.lists(
        st.sampled_from(sorted({word for text in INPUTS for word in text.split()}))
        | st.text(max_size=8),
        max_size=20,
    )
)
def test_any_words_are_read(words):
    check_commands(" ".join(words).encode("utf-8", "surrogatepass"))
