"""Clocks as people say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.play.clocks import read_control, read_numbers, tell_control
from engine import InvalidTimeControl, TimeControl

READ = [
    ("10+5", "600+5", "with 10 minutes each and 5 seconds a move"),
    ("1", "60", "with 1 minute each"),
    ("0.5+1", "30+1", "with 30 seconds each and 1 second a move"),
    ("1.5", "90", "with 90 seconds each"),
    ("90s", "90s", "with 90 seconds for each move"),
    ("10s", "10s", "with 10 seconds for each move"),
    ("5m+3s", "300+3", "with 5 minutes each and 3 seconds a move"),
    ("40/5400+30:1800", "40/5400+30:1800", "with the clocks 40/5400+30:1800"),
    ("300d3", "300d3", "with the clocks 300d3"),
]


@pytest.mark.parametrize(("text", "meant", "told"), READ)
def test_what_people_write_is_a_time_control(text, meant, told):
    assert read_control(text) == meant
    assert tell_control(TimeControl.parse(meant)) == told


@pytest.mark.parametrize("text", ["", "0", " 0+0 ", "-", "none", "NONE", "unlimited"])
def test_no_clocks(text):
    assert read_control(text) is None
    assert tell_control(None) == "without clocks"


@pytest.mark.parametrize("text", ["10+x", "-5", "1e3", "10 5 3", "٣", "x", "1h5", "10+-5"])
@pytest.mark.parametrize("read", [read_control, read_numbers])
def test_what_is_no_time_control_is_named_as_it_was_written_with_what_would_be_one(read, text):
    with pytest.raises(InvalidTimeControl) as caught:
        read(text)
    assert caught.value.text == text
    forms = caught.value.reason.removeprefix("write minutes, and seconds a move: ")
    for each in forms.removesuffix(", or 0 for none").split(", "):
        assert TimeControl.parse(read_control(each)).is_timed
    assert read_control("0") is None


@pytest.mark.parametrize("read", [read_control, read_numbers])
def test_too_much_time_is_told_as_such(read):
    with pytest.raises(InvalidTimeControl, match="a time is from 0 to 1000 hours"):
        read("99999999")


@pytest.mark.parametrize("argument", ["10 5", "10+5", "10 +5", " 10  5 "])
def test_numbers_after_new(argument):
    assert read_numbers(argument) == "600+5"
    assert read_numbers("10") == "600"
    assert read_numbers("0") is None


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    try:
        control = read_numbers(text)
    except InvalidTimeControl:
        return
    assert control is None or str(TimeControl.parse(control)) == control
