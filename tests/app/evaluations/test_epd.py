"""EPD: what is read and written, that nothing is lost, and that any text at all gets a sentence."""

from __future__ import annotations

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.evaluations.suites.epd import Epd, InvalidEpd, parse_epd, read_epd
from engine import Move, Position

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
MATE = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq -"
KNIGHTS = "7k/8/8/8/8/2N3N1/8/K7 w - -"


def uci(moves: tuple[Move, ...]) -> list[str]:
    return [move.uci() for move in moves]


@pytest.mark.parametrize(
    ("operations", "best", "avoid"),
    [
        ("bm Qxf7#;", ["h5f7"], []),
        ("bm h5f7;", ["h5f7"], []),  # as UCI engines write it
        ("bm Qxf7", ["h5f7"], []),  # without check sign and semicolon
        ("bm Qh5xf7+ ;", ["h5f7"], []),
        ("bm Qxf7# Bxf7+; am Qxe5+;", ["h5f7", "c4f7"], ["h5e5"]),
        ("bm Qxf7 h5f7;", ["h5f7"], []),  # the same, twice
        ("am Nf3;", [], ["g1f3"]),
        ("", [], []),
    ],
)
def test_moves_are_read_in_any_notation(operations, best, avoid):
    epd = parse_epd(f"{MATE} {operations}")
    assert (uci(epd.best), uci(epd.avoid)) == (best, avoid)
    assert epd.position.fen() == f"{MATE} 0 1"


@pytest.mark.parametrize(
    ("line", "fen"),
    [
        (START, f"{START} 0 1"),
        (f"{START} 3 20", f"{START} 3 20"),
        (f"{START} 3 20 bm e4;", f"{START} 3 20"),
        (f"{START}\t3\t20\tbm\te4;", f"{START} 3 20"),
        (f"{START} 3 bm e4;", f"{START} 3 1"),
        (f"{START} hmvc 7; fmvn 9;", f"{START} 7 9"),
        (f"{START} 3 20 hmvc 7; fmvn 9;", f"{START} 7 9"),  # what is said by name counts
    ],
)
def test_clocks_come_from_either_form(line, fen):
    assert parse_epd(line).position.fen() == fen


def test_everything_else_is_kept():
    epd = parse_epd(
        f'{START} id "a; b"; c0 "say \\"hi\\" \\\\ C:\\new"; c9 bare words; ce -35; acd 12;'
        ' Xy_1 "odd;" 1.5 e4 ; noop;'
    )
    assert epd.id == "a; b"
    assert epd.comments == {0: 'say "hi" \\ C:\\new', 9: "bare words"}
    assert epd.centipawns == -35
    assert epd.others == {"acd": "12", "Xy_1": '"odd;" 1.5 e4', "noop": ""}
    assert parse_epd(epd.text()) == epd
    assert epd.text() == (
        f'{START} id "a; b"; c0 "say \\"hi\\" \\\\ C:\\\\new"; c9 "bare words"; ce -35;'
        ' acd 12; Xy_1 "odd;" 1.5 e4; noop;'
    )


def test_what_is_written_is_what_others_read():
    epd = Epd(
        Position.from_fen(f"{MATE} 4 12"), (Move.from_uci("h5f7"),), (Move.from_uci("a2a3"),),
        'an "id"; \\', {1: "one; two"}, 30, {"acd": "9"},
    )  # fmt: skip
    board, operations = chess.Board.from_epd(epd.text())
    assert board.fen() == f"{MATE} 4 12"
    assert operations == {
        "bm": [chess.Move.from_uci("h5f7")], "am": [chess.Move.from_uci("a2a3")],
        "id": 'an "id"; \\', "c1": "one; two", "ce": 30, "acd": 9, "hmvc": 4, "fmvn": 12,
    }  # fmt: skip


def test_a_file_has_empty_lines_and_remarks():
    text = f"\ufeff# made by hand\n\n{MATE} bm Qxf7#;\r\n   \r{START} bm e4;"
    read = list(read_epd(text))
    assert [(number, uci(epd.best)) for number, epd in read] == [(3, ["h5f7"]), (5, ["e2e4"])]
    assert list(read_epd(text.splitlines())) == read


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nonsense", "'nonsense' lacks a field: a position has four"),
        ("rnbqkbnr/pppppppp w -", "lacks a field"),
        ("8/8/8/8/8/8/8/8 w - -", "each side needs exactly one king"),
        ("x/8/8/8/8/8/8/8 w - -", "is not a FEN: 'x' is no piece"),
        (f"{START} bm;", "bm names no move"),
        (f"{START} bm e5;", "bm: 'e5' in .* is illegal"),
        (f"{START} bm what;", "bm: 'what' cannot be read as a move"),
        (f"{KNIGHTS} bm Ne4;", "bm: 'Ne4' is ambiguous"),
        (f"{START} am e5;", "am: 'e5'"),
        (f'{START} id "open;', "the text of id has no closing quote"),
        (f'{START} id "a" "open', "the text of id has no closing quote"),
        (f'{START} id "ends\\";', "the text of id has no closing quote"),
        (f"{START} id a; id b;", "id is there twice"),
        (f"{START} 5 6 7;", "'7;' begins with no opcode"),
        (f"{START} bm e4;; id a;", "'; id a;' begins with no opcode"),
        (f"{START} ce high;", "ce has no number"),
        (f"{START} ce;", "ce has no number"),
        (f"{START} ce 1 2;", "ce has no number"),
        (f"{START} ce ٣;", "ce has no number"),
        (f"{START} hmvc -1;", "hmvc has no number"),
        (f"{START} fmvn 1e9;", "fmvn has no number"),
        (f"{START} hmvc 123456;", "the half-move clock is not a number"),
        (f"{START} b-m e4;", "'b-m e4;' begins with no opcode"),
        (f"{START} c0 {'x' * 20_000};", "it is longer than 20,000 characters"),
    ],
)
def test_a_mistake_gets_one_sentence_with_its_line(line, why):
    with pytest.raises(InvalidEpd, match=why) as caught:
        list(read_epd(["# first", line]))
    assert caught.value.line == 2
    assert str(caught.value).startswith("line 2 of the EPD: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


PIECES = st.text('"\\;# \tabmicde09_=+x', max_size=40)
LINES = st.one_of(
    st.text(max_size=80),
    st.builds(lambda rest: f"{START} {rest}", st.one_of(PIECES, st.text(max_size=60))),
    st.builds(lambda rest: f'{MATE} bm Qxf7; id "{rest}";', PIECES),
)


def read_or_refused(line: str) -> tuple[Epd | None, str]:
    try:
        return parse_epd(line), ""
    except InvalidEpd as error:
        return None, str(error)


@example(f"{START} A\r\x1b0")  # a character that cannot be written, at the edge
@given(LINES)
def test_any_line_is_read_or_refused_and_what_is_read_can_be_written(line):
    epd, sentence = read_or_refused(line)
    if epd is None:
        assert len(sentence.splitlines()) == 1
        return
    text = epd.text()
    assert len(text.splitlines()) == 1
    again = parse_epd(text)
    assert again.text() == text
    assert (again.position, again.best, again.avoid) == (epd.position, epd.best, epd.avoid)
    assert set(again.comments) == set(epd.comments)
    assert set(again.others) == set(epd.others)


PRINTABLE = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=30)


@given(
    st.randoms(use_true_random=False),
    PRINTABLE,
    st.dictionaries(st.integers(0, 9), PRINTABLE, max_size=4),
    st.one_of(st.none(), st.integers(-99_999, 99_999)),
)
def test_what_is_written_reads_back(random, name, comments, centipawns):
    position = Position.start()
    for _ in range(random.randint(0, 30)):
        moves = sorted(position.legal_moves(), key=Move.uci)
        if not moves:
            break
        position = position.play(random.choice(moves))
    legal = sorted(position.legal_moves(), key=Move.uci)
    best = tuple(random.sample(legal, min(len(legal), random.randint(0, 3))))
    epd = Epd(position, best, (), name, comments, centipawns)
    again = parse_epd(epd.text())
    assert again == epd
    assert again.position.fen() == position.fen()
