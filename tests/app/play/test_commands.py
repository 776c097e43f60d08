"""How a line is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.play.commands import SPECS, NotUnderstood, Said, help_text, neither, read_line

LINES = [
    ("e4", Said("move", "e4")),
    ("move e4", Said("move", "e4")),
    ("MOVE  e2 e4 ", Said("move", "e2 e4")),
    ("board", Said("show")),
    ("log", Said("history")),
    ("q", Said("quit")),
    ("new 10 5", Said("new", "10 5")),
    ("?", Said("help")),
    ("load my game", Said("load", "my game")),
    ("  ", None),
    ("", None),
    ("\t\r\x0b", None),
]


@pytest.mark.parametrize(("line", "said"), LINES)
def test_lines(line, said):
    assert read_line(line) == said


@pytest.mark.parametrize(
    ("line", "why"),
    [("flip it", "'flip' takes nothing after it"), ("x" * 1001, "has 1001 letters")],
)
def test_lines_that_mean_nothing(line, why):
    with pytest.raises(NotUnderstood, match=why):
        read_line(line)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("histroy", "did you mean history?"),
        ("undoo", "did you mean undo?"),
        ("xyzzy", "write help to see"),
        ("\x1b[2J", r"'\\x1b\[2J' is neither"),
    ],
)
def test_what_is_neither_a_command_nor_a_move_is_told_with_what_is_near(text, hint):
    with pytest.raises(NotUnderstood, match=hint):
        raise neither(text)


def test_help_names_every_command_and_tells_more_of_each():
    told = "\n".join(help_text())
    for spec in SPECS:
        assert f"  {spec.usage}" in told
        assert spec.does in told
        more = "\n".join(help_text(spec.name))
        assert spec.usage in more
        assert spec.more in more
        assert spec.examples
        for example in spec.examples:
            assert example in more.splitlines()[-1]
            assert read_line(example).command == spec.name
        for alias in spec.aliases:
            assert help_text(alias) == help_text(spec.name)
    assert help_text("new")[-1] == "  Examples: new | new 10 5 | new 0"
    assert help_text("flip")[-1] == "  Example: flip"
    with pytest.raises(NotUnderstood, match="did you mean resign"):
        help_text("resing")
    with pytest.raises(NotUnderstood, match="there is no command '12'"):
        help_text("12")


@given(st.text())
def test_any_line_is_read_or_refused_in_one_line(line):
    refused, said = "", None
    try:
        said = read_line(line)
    except NotUnderstood as error:
        refused = str(error)
    assert refused.isprintable()
    assert said is None or said.command in {spec.name for spec in SPECS}
