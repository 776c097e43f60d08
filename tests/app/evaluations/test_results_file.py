"""Files of results: what is read, and what is wrong with the rest."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.evaluations.ratings import AnchorResult
from app.evaluations.results_file import UnreadableResults, read_results
from engine import Color

PLAIN = "opponent_elo,wins,draws,losses\n800,7,1,2\n1000,5,2,3\n"
RESULTS = (AnchorResult(800.0, 7, 1, 2), AnchorResult(1000.0, 5, 2, 3))

READ = {
    "plain": PLAIN,
    "a byte order mark": "\ufeff" + PLAIN,
    "Windows' line ends": PLAIN.replace("\n", "\r\n"),
    "spaces": " opponent_elo , wins,draws\t,losses \n 800 , 7,1, 2\n1000,5,2,3",
    "blank lines": "\n\n" + PLAIN.replace("\n", "\n\n") + " , , ,\n",
    "capitals": PLAIN.replace("wins", "Wins").replace("opponent_elo", "Opponent_Elo"),
    "another order": "losses,draws,wins,opponent_elo\n2,1,7,800\n3,2,5,1000\n",
    "quotes": '"opponent_elo","wins","draws","losses"\n"800","7","1","2"\n"1000",5,2,3\n',
    "counts as pandas writes them": PLAIN.replace("7,1,2", "7.0,1.0,2.00"),
    "fractions": PLAIN.replace("1000", "1e3").replace("800", "+800.0"),
    "commas at the end": PLAIN.replace("2\n", "2,\n"),
    "optional columns left empty": (
        "opponent_elo,wins,draws,losses,opponent_elo_se,colour\n800,7,1,2,,\n1000,5,2,3,0,\n"
    ),
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_a_file_is_read(text):
    read = read_results(text.encode(), "file")
    assert read.results == RESULTS
    assert read.unknown_columns == ()


@pytest.mark.parametrize("name", ["colour", "color", "Colour"])
def test_errors_colours_and_names_are_read(name):
    text = f"opponent,opponent_elo,opponent_elo_se,{name},wins,draws,losses\n" + (
        'a,-120.5,30,white,1,2,3\n"b, c",900,0,B,4,5,6\nd,900,1.5,W,0,0,1\n,900,,,0,0,1\n'
    )
    assert read_results(text.encode(), "file").results == (
        AnchorResult(-120.5, 1, 2, 3, 30.0, Color.WHITE, "a"),
        AnchorResult(900.0, 4, 5, 6, 0.0, Color.BLACK, "b, c"),
        AnchorResult(900.0, 0, 0, 1, 1.5, Color.WHITE, "d"),
        AnchorResult(900.0, 0, 0, 1),
    )


def test_columns_that_nobody_knows_are_told():
    read = read_results(b"date,opponent_elo,wins,draws,losses\nmonday,800,1,0,0\n", "file")
    assert read.results == (AnchorResult(800.0, 1, 0, 0),)
    assert read.unknown_columns == ("date",)


HEADER = "opponent_elo,wins,draws,losses\n"
MISTAKES = {
    "": "file: it is empty",
    "\n \n": "file: it is empty",
    HEADER: "file: it holds no results, only names of columns",
    "800,1,2,3\n": (
        "line 1 of file: it must name the columns, and lacks the columns opponent_elo, wins, "
        "draws and losses"
    ),
    "\nopponent_elo,wins,losses\n800,1,2\n": (
        "line 2 of file: it must name the columns, and lacks the column draws"
    ),
    "opponent_elo,wins,draws,losses,wins\n": "line 1 of file: the column 'wins' is there twice",
    HEADER + "800,1,2\n": "line 2 of file: there are 3 fields for 4 columns",
    HEADER + "\n800,1,2,3,4\n": "line 3 of file: there are 5 fields for 4 columns",
    HEADER
    + "800,1,2,3\n900,x,1,1\n": "line 3 of file: wins must be a whole number of games, not 'x'",
    HEADER + "800,1,-2,3\n": "line 2 of file: draws must be a whole number of games, not '-2'",
    HEADER + "800,1,2,3.5\n": "line 2 of file: losses must be a whole number of games, not '3.5'",
    HEADER + "800,1,2,7.\n": "line 2 of file: losses must be a whole number of games, not '7.'",
    HEADER + "800,1,2,\n": "line 2 of file: losses must be a whole number of games, not ''",
    HEADER + "800,1,2,1234567890123\n": (
        "line 2 of file: losses must be a whole number of games, not '1234567890123'"
    ),
    HEADER + "800,1,2,9999999999\n": (
        "line 2 of file: losses must be a whole number of games, not '9999999999'"
    ),
    HEADER
    + "nan,1,2,3\n": "line 2 of file: opponent_elo must be a number of Elo points, not 'nan'",
    HEADER
    + "inf,1,2,3\n": "line 2 of file: opponent_elo must be a number of Elo points, not 'inf'",
    HEADER + ",1,2,3\n": "line 2 of file: opponent_elo must be a number of Elo points, not ''",
    HEADER + "1e99,1,2,3\n": (
        "line 2 of file: opponent_elo must be a number of Elo points, not '1e99'"
    ),
    HEADER + "٨٠٠,1,2,3\n": (
        "line 2 of file: opponent_elo must be a number of Elo points, not "
        r"'\u0668\u0660\u0660'"
    ),
    "opponent_elo,wins,draws,losses,opponent_elo_se\n800,1,2,3,-5\n": (
        "line 2 of file: opponent_elo_se must be a number of Elo points, not '-5'"
    ),
    "opponent_elo,wins,draws,losses,colour\n800,1,2,3,red\n": (
        "line 2 of file: colour must be white or black, not 'red'"
    ),
    HEADER + '800,"1,2,3\n': "line 2 of file: unexpected end of data",
}


@pytest.mark.parametrize(("text", "sentence"), MISTAKES.items())
def test_a_mistake_gets_one_sentence_with_its_line(text, sentence):
    with pytest.raises(UnreadableResults) as caught:
        read_results(text.encode(), "file")
    assert str(caught.value) == sentence


def test_what_is_no_text_is_refused():
    with pytest.raises(UnreadableResults, match=r"^file: it is not text in UTF-8$"):
        read_results(b"\xff\xfe\x00", "file")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_nothing_else_goes_wrong(data):
    for prefix in (b"", b"opponent_elo,wins,draws,losses\n", b"opponent_elo,wins,draws,losses,x\n"):
        with contextlib.suppress(UnreadableResults):
            read_results(prefix + data, "file")
