"""The board as a terminal shows it."""

import io

import pytest
from rich.console import Console

from app.cli.boards.board import Look, draw_board
from engine import Color, Game, Move, Position

MATED = Game()
for each in ["f3", "e5", "g4", "Qh4"]:
    MATED.play(each)
LAST = Move.from_uci("d8h4")


def printed(position, look, color=None, **options):
    console = Console(
        file=io.StringIO(), force_terminal=bool(color), color_system=color, width=80, height=30
    )
    console.print(draw_board(position, look, **options))
    return console.file.getvalue()


PLAIN = """\
8  r  n  b (.) k  b  n  r
7  p  p  p  p  .  p  p  p
6  .  .  .  .  .  .  .  .
5  .  .  .  .  p  .  .  .
4  .  .  .  .  .  .  P (q)
3  .  .  .  .  .  P  .  .
2  P  P  P  P  P  .  .  P
1  R  N  B  Q !K! B  N  R
   a  b  c  d  e  f  g  h
"""
FLIPPED = """\
1  R  N  B !K! Q  B  N  R
2  P  .  .  P  P  P  P  P
3  .  .  P  .  .  .  .  .
4 (q) P  .  .  .  .  .  .
5  .  .  .  p  .  .  .  .
6  .  .  .  .  .  .  .  .
7  p  p  p  .  p  p  p  p
8  r  n  b  k (.) b  n  r
   h  g  f  e  d  c  b  a
"""
COOKING = """\
White's court: n, captured: r b
1  .  .  R
2  .  N  .
3  .  .  .
   c  b  a
Black's court: -, captured: B
"""


def stripped(text):
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize(("perspective", "drawn"), [("white", PLAIN), ("black", FLIPPED)])
def test_without_colours_signs_mark_the_last_move_and_a_check(perspective, drawn):
    look = Look(letters=True, signs=True, ascii=True)
    text = printed(MATED.position, look, last_move=LAST, perspective=Color(perspective))
    assert stripped(text) == drawn
    assert text.isascii()


def test_in_colour_the_grounds_mark_them():
    text = printed(MATED.position, Look(), "truecolor", last_move=LAST)
    assert text.count("48;2;201;169;63m") == 2  # from where and to where
    assert text.count("48;2;201;83;79m") == 1
    assert "(" not in text
    assert "♛" in text


def test_courts_lie_behind_the_edges_of_their_sides():
    position = Position.from_fen("3/1N1/R2 b n - B rb 4", "kings-cooking")
    look = Look(letters=True, signs=True, ascii=True)
    assert stripped(printed(position, look, perspective=Color.BLACK)) == COOKING


@pytest.mark.parametrize("system", ["truecolor", "256", "standard"])
def test_every_row_is_as_wide_as_the_others(system):
    rows = draw_board(MATED.position, Look()).plain.splitlines()
    assert {len(row) for row in rows} == {2 + 3 * 8}
    assert "♚" in printed(MATED.position, Look(), system)


LOOKS = [
    ("utf-8", "truecolor", False, Look()),
    ("utf-8", None, False, Look(letters=True, signs=True)),
    ("ascii", "truecolor", False, Look(letters=True, ascii=True)),
    ("utf-8", "truecolor", True, Look(letters=True, ascii=True)),
    ("latin-1", None, False, Look(letters=True, signs=True, ascii=True)),
]


@pytest.mark.parametrize(("encoding", "system", "wants_ascii", "look"), LOOKS)
def test_a_terminal_gets_what_it_can_show(encoding, system, wants_ascii, look):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, force_terminal=True, color_system=system)
    console.no_color = system is None
    assert Look.of(console, wants_ascii=wants_ascii) == look
