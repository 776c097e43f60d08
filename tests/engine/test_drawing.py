"""Pictures of positions."""

from xml.etree import ElementTree

from engine import Color, Move, Position
from engine.drawing import piece_outlines

MATE = "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4"


def test_text():
    assert Position.from_fen(MATE).text() == (
        "8 r . b q k b . r\n"
        "7 p p p p . Q p p\n"
        "6 . . n . . n . .\n"
        "5 . . . . p . . .\n"
        "4 . . B . P . . .\n"
        "3 . . . . . . . .\n"
        "2 P P P P . P P P\n"
        "1 R N B . K . N R\n"
        "  a b c d e f g h"
    )


def test_text_from_the_other_side_in_figurines_without_coordinates():
    text = Position.start().text(perspective=Color.BLACK, figurines=True, coordinates=False)
    rows = text.split("\n")
    assert rows[0] == "♖ ♘ ♗ ♔ ♕ ♗ ♘ ♖"
    assert rows[7] == "♜ ♞ ♝ ♚ ♛ ♝ ♞ ♜"
    assert "a" not in text


def test_svg_is_well_formed_and_marks_move_and_check():
    svg = Position.from_fen(MATE).svg(last_move=Move.from_uci("h5f7"), size=321)
    root = ElementTree.fromstring(svg)
    tags = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert tags.count("g") == 31  # one for each piece
    pawns = 15  # which have no lines on them
    assert tags.count("path") == 2 * 31 - pawns
    assert tags.count("rect") == 64 + 2 + 1  # squares, last move, check
    assert tags.count("text") == 16
    assert root.get("width") == "321"
    titles = {element.text for element in root.iter() if element.tag.endswith("title")}
    assert {MATE, "white queen f7", "black king e8"} <= titles


def test_svg_turns_with_the_perspective():
    position = Position.start()
    assert position.svg(perspective=Color.BLACK) != position.svg()
    assert "<text" not in position.svg(coordinates=False)


def test_every_piece_has_an_outline():
    outlines = piece_outlines()
    assert set(outlines) == set("pnbrqk")
    svg = Position.start().svg()
    for kind in outlines.values():
        assert f'd="{kind["outline"]}"' in svg
        assert not kind["lines"] or f'd="{kind["lines"]}"' in svg
