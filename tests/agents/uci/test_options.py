"""Options as engines declare them, and what is sent to set them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.uci.errors import InvalidOption
from agents.uci.options import Kind, Option, Options, Value
from agents.uci.protocol import option_command
from fuzz.promises import check_refusal


def button(name: str) -> Option:
    return Option(name, Kind.BUTTON)


def check(name: str, default: str | None) -> Option:
    return Option(name, Kind.CHECK, default)


def spin(name: str, default: str | None, low: int | None = None, high: int | None = None) -> Option:
    return Option(name, Kind.SPIN, default, low, high)


def combo(name: str, default: str | None, *choices: str) -> Option:
    return Option(name, Kind.COMBO, default, choices=choices)


def string(name: str, default: str | None) -> Option:
    return Option(name, Kind.STRING, default)


def declared(line: str) -> Option:
    option = Option.parse(line.split())
    assert option is not None
    return option


# --- what is declared ---

#: Declarations of Stockfish 15.1, Fairy-Stockfish 11.1, Glaurung 2.2, Ethereal 12.00, GNU Chess
#: 6.2.7 and Toga II 3.0, in that order.
REAL = [
    ("name Debug Log File type string default ", string("Debug Log File", "")),
    ("name Threads type spin default 1 min 1 max 1024", spin("Threads", "1", 1, 1024)),
    ("name Hash type spin default 16 min 1 max 33554432", spin("Hash", "16", 1, 33554432)),
    ("name Clear Hash type button", button("Clear Hash")),
    ("name Ponder type check default false", check("Ponder", "false")),
    ("name Skill Level type spin default 20 min 0 max 20", spin("Skill Level", "20", 0, 20)),
    ("name nodestime type spin default 0 min 0 max 10000", spin("nodestime", "0", 0, 10000)),
    ("name UCI_Chess960 type check default false", check("UCI_Chess960", "false")),
    ("name UCI_Elo type spin default 1350 min 1350 max 2850", spin("UCI_Elo", "1350", 1350, 2850)),
    ("name SyzygyPath type string default <empty>", string("SyzygyPath", "<empty>")),
    ("name Syzygy50MoveRule type check default true", check("Syzygy50MoveRule", "true")),
    (
        "name EvalFile type string default nn-ad9b42354671.nnue",
        string("EvalFile", "nn-ad9b42354671.nnue"),
    ),
    (
        "name Protocol type combo default uci var uci var usi var ucci var xboard",
        combo("Protocol", "uci", "uci", "usi", "ucci", "xboard"),
    ),
    ("name Contempt type spin default 24 min -100 max 100", spin("Contempt", "24", -100, 100)),
    (
        "name Analysis Contempt type combo default Both var Both var Off var White var Black",
        combo("Analysis Contempt", "Both", "Both", "Off", "White", "Black"),
    ),
    ("name Skill Level type spin default 20 min -20 max 20", spin("Skill Level", "20", -20, 20)),
    (
        "name UCI_Variant type combo default chess var 3check var 5check var ai-wok var chess",
        combo("UCI_Variant", "chess", "3check", "5check", "ai-wok", "chess"),
    ),
    (
        "name Search Log Filename type string default SearchLog.txt",
        string("Search Log Filename", "SearchLog.txt"),
    ),
    (
        "name Mobility (Middle Game) type spin default 100 min 0 max 200",
        spin("Mobility (Middle Game)", "100", 0, 200),
    ),
    (
        "name King Safety Curve type combo default Quadratic var Quadratic var Linear",
        combo("King Safety Curve", "Quadratic", "Quadratic", "Linear"),
    ),
    (
        "name Check Extension (non-PV nodes) type spin default 1 min 0 max 2",
        spin("Check Extension (non-PV nodes)", "1", 0, 2),
    ),
    (
        "name Futility Pruning (Main Search) type check default true",
        check("Futility Pruning (Main Search)", "true"),
    ),
    (
        "name Maximum Number of Threads per Split Point type spin default 5 min 4 max 8",
        spin("Maximum Number of Threads per Split Point", "5", 4, 8),
    ),
    ("name OwnBook type check default true", check("OwnBook", "true")),
    (
        "name ContemptDrawPenalty type spin default 12 min -300 max 300",
        spin("ContemptDrawPenalty", "12", -300, 300),
    ),
    (
        "name MoveOverhead type spin default 100 min 0 max 10000",
        spin("MoveOverhead", "100", 0, 10000),
    ),
    ("name BookFile type string default book_small.bin", string("BookFile", "book_small.bin")),
    (
        "name NullMove Pruning type combo default Fail High var Always var Fail High var Never",
        combo("NullMove Pruning", "Fail High", "Always", "Fail High", "Never"),
    ),
    (
        "name Verification Search type combo default Endgame var Always var Endgame var Never",
        combo("Verification Search", "Endgame", "Always", "Endgame", "Never"),
    ),
    ("name Search Time type spin default 0 min 0 max 3600", spin("Search Time", "0", 0, 3600)),
    (
        "name Bitbases Path type string default /usr/share/egbb/",
        string("Bitbases Path", "/usr/share/egbb/"),
    ),
    (
        "name Number of Threads type spin default 1 min 1 max 16",
        spin("Number of Threads", "1", 1, 16),
    ),
]

ODD = [
    # parts that are missing, or in another order
    ("name X type check", check("X", None)),
    ("name X type spin", spin("X", None)),
    ("name X type spin default 5", spin("X", "5")),
    ("name X type spin min 1", spin("X", None, 1)),
    ("name X type spin default min 1 max 2", spin("X", None, 1, 2)),
    ("name X type spin max 9 min 1 default 5", spin("X", "5", 1, 9)),
    ("type spin name X default 5", spin("X", "5")),
    ("name X type combo", combo("X", None)),
    ("name X type combo var A", combo("X", None, "A")),
    ("name X type combo default var A var B", combo("X", None, "A", "B")),
    ("name X type combo var A var B default B", combo("X", "B", "A", "B")),
    ("name X type string", string("X", "<empty>")),
    ("name X type button default now", button("X")),
    # values that make no sense
    ("name X type spin default 5 min one max 9.5", spin("X", "5")),
    ("name X type spin min 1 2 max 3", spin("X", None, None, 3)),
    ("name X type spin min -12 max - default 0", spin("X", "0", -12)),
    ("name X type spin max 9999999999999999999", spin("X", None, None, 10**19 - 1)),
    ("name X type spin max 99999999999999999999", spin("X", None)),
    ("name X type spin max ٣", spin("X", None)),
    ("name X type check default TRUE", check("X", "true")),
    # words that may stand in a name or a value, and mean something elsewhere
    ("name Player name type string default Ann", string("Player name", "Ann")),
    ("name The default value type check default true", check("The default value", "true")),
    ("name min max var type spin default 1", spin("min max var", "1")),
    ("name X type string default the type of name", string("X", "the type of name")),
    ("name X type string default default", string("X", "default")),
    ("name X type combo default A B var A B var C D", combo("X", "A B", "A B", "C D")),
    ("name Größe ♘ type string default Žofie", string("Größe ♘", "Žofie")),
    ("name X type string default a\u3000b", string("X", "a b")),
]


@pytest.mark.parametrize(("line", "option"), REAL + ODD, ids=[line for line, _ in REAL + ODD])
def test_a_declaration_is_read(line, option):
    assert Option.parse(line.split()) == option


NO_OPTION = [
    "",
    "name",
    "name X",
    "name type spin",
    "type spin",
    "name X type",
    "name X type slider",
    "name X type Spin",
    "name X type spin spin",
    "X name Y type check",
    "default 5 name X type spin",
    # A terminal, or an engine, might do with these what nobody wants.
    "name X\x00 type button",
    "name X\x1b[2J type button",
    "name \x7f type check default true",
    "name X\u202eY type check",
    "name X\u200b type check",
    "name X type combo var A\x08",
    "name X type combo default \x07 var A",
    "name X type string default a\x00b",
]


@pytest.mark.parametrize("line", NO_OPTION, ids=map(ascii, NO_OPTION))
def test_what_makes_no_sense_is_no_option(line):
    assert Option.parse(line.split()) is None


# --- values ---

CHECK, SPIN = check("Ponder", "false"), spin("Skill Level", "20", -20, 20)
COMBO = combo("NullMove Pruning", "Fail High", "Always", "Fail High", "Never")
STRING, BUTTON = string("EvalFile", "<empty>"), button("Clear Hash")

ACCEPTED: list[tuple[Option, Value, str]] = [
    (CHECK, True, "true"),
    (CHECK, False, "false"),
    (CHECK, "true", "true"),
    (CHECK, "FALSE", "false"),
    (CHECK, "True", "true"),
    (SPIN, 0, "0"),
    (SPIN, -20, "-20"),
    (SPIN, 20, "20"),
    (SPIN, "7", "7"),
    (SPIN, " 7 ", "7"),
    (SPIN, "-7", "-7"),
    (SPIN, "007", "7"),
    (SPIN, "-0", "0"),
    (spin("X", None), 10**18, "1000000000000000000"),
    (spin("X", None), -(10**18), "-1000000000000000000"),
    (spin("X", None, 5), 10**6, "1000000"),
    (spin("X", None, None, 5), -(10**6), "-1000000"),
    (COMBO, "Always", "Always"),
    (COMBO, "fail high", "Fail High"),
    (COMBO, "NEVER", "Never"),
    (combo("X", None, "1", "2"), 2, "2"),
    (STRING, "/usr/share/egbb", "/usr/share/egbb"),
    (STRING, "two words", "two words"),
    (STRING, "name value setoption quit", "name value setoption quit"),
    (STRING, "Žofie ♘", "Žofie ♘"),
    (STRING, 5, "5"),
    (STRING, "", "<empty>"),
    (STRING, None, "<empty>"),
    (STRING, "<empty>", "<empty>"),
    (STRING, "x" * 4096, "x" * 4096),
    # Stockfish 15.1 would begin a log file of the name `<empty>`.
    (string("Debug Log File", ""), "", ""),
    (string("EvalFile", "nn.nnue"), "", "<empty>"),
    (BUTTON, None, ""),
    (BUTTON, True, ""),
    (BUTTON, "", ""),
]


@pytest.mark.parametrize(
    ("option", "value", "text"),
    ACCEPTED,
    ids=[f"{option.kind} {str(value)[:30]!a}" for option, value, _ in ACCEPTED],
)
def test_a_value_is_taken(option, value, text):
    assert option.text(value) == text


REFUSED: list[tuple[Option, Value, str]] = [
    (CHECK, None, "'None' is neither true nor false"),
    (CHECK, 1, "'1' is neither true nor false"),
    (CHECK, "yes", "'yes' is neither true nor false"),
    (CHECK, "", "'' is neither true nor false"),
    (CHECK, "true\n", r"'true\n' is neither true nor false"),
    (SPIN, 21, "'21' is no whole number from -20 to 20"),
    (SPIN, -21, "'-21' is no whole number from -20 to 20"),
    (SPIN, True, "'True' is no whole number from -20 to 20"),
    (SPIN, False, "'False' is no whole number from -20 to 20"),
    (SPIN, None, "'None' is no whole number from -20 to 20"),
    (SPIN, "", "'' is no whole number from -20 to 20"),
    (SPIN, "5.0", "'5.0' is no whole number from -20 to 20"),
    (SPIN, "+5", "'+5' is no whole number from -20 to 20"),
    (SPIN, "--5", "'--5' is no whole number from -20 to 20"),
    (SPIN, "1_0", "'1_0' is no whole number from -20 to 20"),
    (SPIN, "٣", r"'\u0663' is no whole number from -20 to 20"),
    (SPIN, "5\nquit", r"'5\nquit' is no whole number from -20 to 20"),
    (SPIN, "5 quit", "'5 quit' is no whole number from -20 to 20"),
    (spin("X", None), 10**20, "'100000000000000000000' is no whole number"),
    (spin("X", None, 5), 4, "'4' is no whole number from 5"),
    (spin("X", None, None, 5), 6, "'6' is no whole number to 5"),
    (spin("X", None, 5, 4), 5, "'5' is no whole number from 5 to 4"),
    (COMBO, "Sometimes", "'Sometimes' is none of Always, Fail High, Never"),
    (COMBO, "", "'' is none of Always, Fail High, Never"),
    (COMBO, None, "'None' is none of Always, Fail High, Never"),
    (COMBO, "Fail", "'Fail' is none of Always, Fail High, Never"),
    (COMBO, "Never\nquit", r"'Never\nquit' is none of Always, Fail High, Never"),
    (STRING, "a\nquit", r"'a\nquit' is no single line of up to 4096 characters"),
    (STRING, "a\rquit", r"'a\rquit' is no single line of up to 4096 characters"),
    (STRING, "\n", r"'\n' is no single line of up to 4096 characters"),
    (STRING, "a\x0b", r"'a\x0b' is no single line of up to 4096 characters"),
    (STRING, "a\x00", r"'a\x00' is no single line of up to 4096 characters"),
    (STRING, "a\x85quit", r"'a\x85quit' is no single line of up to 4096 characters"),
    (STRING, "a\u2028quit", r"'a\u2028quit' is no single line of up to 4096 characters"),
    (STRING, "\x1b[2J", r"'\x1b[2J' is no single line of up to 4096 characters"),
    (STRING, "\ud800", r"'\ud800' is no single line of up to 4096 characters"),
    (STRING, "x" * 4097, "is no single line of up to 4096 characters"),
    (BUTTON, False, "it is a button, which takes no value"),
    (BUTTON, "now", "it is a button, which takes no value"),
    (BUTTON, "\n", "it is a button, which takes no value"),
    (BUTTON, 5, "it is a button, which takes no value"),
]


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    REFUSED,
    ids=[f"{option.kind} {str(value)[:30]!a}" for option, value, _ in REFUSED],
)
def test_a_value_is_refused(option, value, sentence):
    with pytest.raises(ValueError, match=f"{re.escape(sentence)}$"):
        option.text(value)


# --- changes ---

DECLARED = (
    spin("Hash", "16", 1, 1024),
    spin("Threads", "1", 1, 8),
    CHECK,
    COMBO,
    string("SyzygyPath", "<empty>"),
    string("Debug Log File", ""),
    BUTTON,
    spin("Seed", None, 0, 9),
)


@pytest.fixture
def options() -> Options:
    options = Options("Stockfish")
    for option in DECLARED:
        options.declare(option)
    return options


def sent(options: Options, **wanted: Value) -> list[str]:
    """Return what is sent; underscores stand for blanks in names."""
    names = {name.replace("_", " "): value for name, value in wanted.items()}
    return [
        option_command(option, text).removeprefix("setoption name ")
        for option, text in options.change(names)
    ]


def test_options_are_known_by_name_in_any_case(options):
    assert "hash" in options
    assert "CLEAR HASH" in options
    assert "Hashes" not in options
    assert tuple(options) == DECLARED


def test_only_what_differs_is_sent(options):
    assert sent(options, Hash=16, Ponder=False, SyzygyPath="", NullMove_Pruning="fail high") == []
    assert sent(options, Hash=32, Threads=1) == ["Hash value 32"]
    assert sent(options, Hash=32, Threads=1) == []
    assert sent(options, Hash=32, Threads=2) == ["Threads value 2"]
    assert sent(options, Hash="33", Threads="2") == ["Hash value 33"]


def test_what_is_not_wanted_any_more_goes_back(options):
    sent(options, Hash=32, Threads=2, Ponder=True, SyzygyPath="/tb", Debug_Log_File="log.txt")
    assert sent(options, Threads=2) == [
        "Hash value 16",
        "Ponder value false",
        "SyzygyPath value <empty>",
        "Debug Log File value ",
    ]
    assert sent(options) == ["Threads value 1"]
    assert sent(options) == []


def test_what_is_sent_comes_in_the_order_it_was_wanted(options):
    names = ["Threads", "NullMove Pruning", "Hash", "SyzygyPath", "Ponder"]
    values: list[Value] = [2, "Never", 32, "/tb", True]
    changes = options.change(dict(zip(names, values, strict=True)))
    assert [option.name for option, _ in changes] == names
    assert [option.name for option, _ in options.change({})] == names


def test_what_has_no_default_cannot_go_back(options):
    assert sent(options, Seed=3) == ["Seed value 3"]
    assert sent(options) == []
    assert sent(options, Seed=3) == ["Seed value 3"]


def test_a_button_is_pressed_when_it_comes_to_be_wanted(options):
    assert sent(options, Clear_Hash=None) == ["Clear Hash"]
    assert sent(options, Clear_Hash=None, Hash=32) == ["Hash value 32"]
    assert sent(options, Hash=32) == []
    assert sent(options, Clear_Hash=None, Hash=32) == ["Clear Hash"]


def test_names_have_no_case(options):
    assert sent(options, hash=32) == ["Hash value 32"]
    assert sent(options, HASH=32) == []
    assert options.change({" Hash ": 32}) == []
    assert sent(options) == ["Hash value 16"]


def test_of_a_name_that_is_given_twice_the_last_counts(options):
    assert options.change({"Hash": 32, "hash": 64}) == [(DECLARED[0], "64")]
    assert options.change({"hash": 64, "Hash": 16}) == [(DECLARED[0], "16")]
    with pytest.raises(InvalidOption):
        options.change({"hash": "big", "Hash": 16})


@pytest.mark.parametrize(
    ("wanted", "option", "reason"),
    [
        (
            {"Hash": 32, "Hashes": 5},
            "Hashes",
            "there is none of that name, but Clear Hash, Debug Log File, Hash, NullMove Pruning, "
            "Ponder, Seed, SyzygyPath, Threads",
        ),
        ({"Hash": 32, "threads": 9}, "Threads", "'9' is no whole number from 1 to 8"),
        ({"Hash": 32, "ponder": 1}, "Ponder", "'1' is neither true nor false"),
        ({"Hash": 32, "Clear Hash": 1.5}, "Clear Hash", "it is a button, which takes no value"),
    ],
    ids=["unknown", "out of range", "no truth", "button"],
)
def test_a_mistake_changes_nothing(options, wanted, option, reason):
    sent(options, Ponder=True)
    with pytest.raises(InvalidOption) as caught:
        options.change(wanted)
    assert (caught.value.engine, caught.value.option) == ("Stockfish", option)
    assert caught.value.reason == reason
    assert str(caught.value) == f"Stockfish's option '{option}': {reason}"
    check_refusal(caught.value)
    assert sent(options, Ponder=True) == []
    assert sent(options, Hash=32) == ["Hash value 32", "Ponder value false"]


def test_an_engine_without_options_says_so():
    with pytest.raises(InvalidOption, match="there is none of that name, but none"):
        Options("Mute").change({"Hash": 1})


def test_no_message_is_as_long_as_what_an_engine_declares():
    options = Options("Fairy-Stockfish")
    for number in range(200):
        options.declare(spin(f"Option {number} (Middle Game)", "1"))
    options.declare(combo("UCI_Variant", "chess", *(f"variant {number}" for number in range(200))))
    options.declare(string("x" * 60_000, ""))
    for wanted in ({"Hash": 1}, {"UCI_Variant": "go" * 1000}, {"x" * 60_000: "\n" * 9}):
        with pytest.raises(InvalidOption) as caught:
            options.change(wanted)
        check_refusal(caught.value)


def test_the_last_declaration_of_a_name_counts(options):
    options.declare(spin("HASH", "8", 1, 8))
    assert sent(options, Hash=8) == []
    assert sent(options, Hash=4) == ["HASH value 4"]


def test_an_engine_cannot_declare_without_end():
    options = Options("Chatterbox")
    for number in range(5000):
        options.declare(button(f"Button {number}"))
    assert len(list(options)) == 1000
    assert "Button 999" in options
    assert "Button 1000" not in options


class Engine:
    """Keeps the values of its options as it is told."""

    def __init__(self) -> None:
        self.values = {option.name: option.default for option in DECLARED}

    def receive(self, command: str) -> None:
        name, _, value = command.removeprefix("setoption name ").partition(" value ")
        assert name in self.values
        self.values[name] = value


#: Values in any spelling, and what an engine makes of them. What has no default can't go back.
SPELLINGS: dict[str, dict[Value, str]] = {
    "Hash": {1: "1", "32": "32", 16: "16", 1024: "1024"},
    "Threads": {1: "1", " 2": "2", 8: "8"},
    "Ponder": {True: "true", "FALSE": "false", "true": "true"},
    "NullMove Pruning": {"always": "Always", "FAIL HIGH": "Fail High", "Never": "Never"},
    "SyzygyPath": {"/tb": "/tb", "": "<empty>", None: "<empty>"},
    "Debug Log File": {"a b": "a b", None: ""},
}


@st.composite
def wishes(draw: st.DrawFn) -> dict[str, Value]:
    names = draw(st.lists(st.sampled_from(sorted(SPELLINGS)), unique=True))
    return {name: draw(st.sampled_from(list(SPELLINGS[name]))) for name in names}


@settings(deadline=None)
@given(st.lists(st.tuples(wishes(), st.sampled_from((str, str.lower, str.upper))), max_size=6))
def test_an_engine_ends_up_with_what_was_wanted_last(rounds):
    options, engine = Options("Stockfish"), Engine()
    for option in DECLARED:
        options.declare(option)
    first = dict(engine.values)
    for wanted, case in rounds:
        before = dict(engine.values)
        changes = options.change({case(name): value for name, value in wanted.items()})
        for option, text in changes:
            engine.receive(option_command(option, text))
        expected = first | {name: SPELLINGS[name][value] for name, value in wanted.items()}
        assert engine.values == expected
        changed = [name for name in expected if before[name] != expected[name]]
        assert sorted(option.name for option, _ in changes) == sorted(changed)
