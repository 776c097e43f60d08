"""Suites: what a file says is what is asked, and what is saved is what every program reads."""

from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.evaluations.suites.suite import (
    InvalidSuite,
    Suite,
    SuitePosition,
    find_suite,
    shipped_suites,
)
from engine import Move, Position

MATE = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

QXF7 = Move.from_uci("h5f7")


def scholar(**fields) -> SuitePosition:
    return SuitePosition(**({"id": "scholar", "fen": MATE, "best": (QXF7,)} | fields))


def test_a_position_tells_its_moves_and_whether_an_answer_is_right():
    position = scholar()
    assert (position.uci, position.san) == (("h5f7",), ("Qxf7#",))
    assert position.position == Position.from_fen(MATE)
    assert position.is_right(QXF7)
    assert not position.is_right(Move.from_uci("a2a3"))
    assert not position.is_right(None)


def test_what_is_known_is_in_comments_that_others_read():
    position = scholar(difficulty=-123.46, difficulty_se=87.04, gap=34.61, source="A - B, ply 6")
    text = Suite("mine", (position,)).text()
    assert text == (
        'r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7#; id "scholar"; '
        'c0 "difficulty=-123.5 se=87.0"; c1 "gap=34.6"; c2 "source=A - B, ply 6"; '
        "hmvc 4; fmvn 4;\n"
    )
    board, operations = chess.Board.from_epd(text)
    assert board.fen() == MATE
    assert operations["bm"] == [chess.Move.from_uci("h5f7")]
    (again,) = Suite.read("mine", text).positions
    assert again == scholar(difficulty=-123.5, difficulty_se=87.0, gap=34.6, source="A - B, ply 6")


def test_a_plain_file_has_no_difficulties():
    text = f'{MATE} bm Qxf7#;\n\n{START} bm e4 d4; id "two"; c0 "difficulty=hard";\n'
    first, second = Suite.read("plain", text).positions
    assert first == SuitePosition("plain.1", MATE, (QXF7,))
    assert (second.id, second.uci, second.difficulty) == ("two", ("e2e4", "d2d4"), None)


def test_where_only_mistakes_are_named_all_other_moves_are_right():
    (position,) = Suite.read("avoid", f"{START} am f3 g4;").positions
    assert len(position.best) == 18
    assert position.is_right(Move.from_uci("e2e4"))
    assert not position.is_right(Move.from_uci("f2f3"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has no position"),
        ("# nothing\n\n", "it has no position"),
        (f"{START}\n", r"line 1 of the EPD: it has no best move \(bm\)"),
        ("nonsense", "line 1 of the EPD: 'nonsense' lacks a field"),
        (f"{MATE} bm Qxf7#; id x;\n{START} bm e4; id x;", "line 2 of the EPD: the id 'x' is there"),
        ("k7/8/8/8/8/8/8/K7 w - - bm Kb1 Ka2 Kb2;", "line 1 of the EPD: any legal move is right"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - am Kg8;", "line 1 of the EPD: am: 'Kg8' .* is illegal"),
    ],
)
def test_what_is_no_suite_gets_one_sentence(text, why):
    with pytest.raises(InvalidSuite, match=f"^the suite odd cannot be used: {why}") as caught:
        Suite.read("odd", text)
    assert "\n" not in str(caught.value)


def test_what_is_written_is_loaded(tmp_path):
    suite = Suite("mine", (scholar(difficulty=900.0, difficulty_se=50.0),))
    (tmp_path / "mine.epd").write_text(suite.text())
    assert Suite.load(tmp_path / "mine.epd") == suite
    assert find_suite(str(tmp_path / "mine.epd")).digest == suite.digest


def test_a_file_in_latin_1_is_read(tmp_path):
    (tmp_path / "old.epd").write_bytes(f'{MATE} bm Qxf7#; id "Légal";'.encode("latin-1"))
    assert Suite.load(tmp_path / "old.epd").positions[0].id == "Légal"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere.epd", "it cannot be read: No such file or directory"),
        (".", "it cannot be read: Is a directory"),
        ("a\0b", "it cannot be read: embedded null byte"),
        ("/dev/zero", "it is larger than 50 MB"),
    ],
)
def test_a_file_that_cannot_be_read_gets_one_sentence(tmp_path, monkeypatch, name, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidSuite, match=why):
        find_suite(name)


def test_the_digest_is_of_what_is_asked_and_not_of_how_it_is_written():
    text = f'{MATE} bm Qxf7#; id "scholar";'
    suite = Suite.read("one", text)
    assert suite.digest == Suite.read("two", f"# remark\n\n{text.replace('Qxf7#', 'h5f7')}").digest
    assert suite.digest != Suite.read("one", text.replace("Qxf7#", "Bxf7+")).digest
    assert suite.digest != Suite.read("one", text.replace("scholar", "other")).digest
    assert len(suite.digest) == 64


def of(elos: list[float | None]) -> Suite:
    return Suite("s", tuple(scholar(id=f"{at:03}", difficulty=elo) for at, elo in enumerate(elos)))


def test_a_spread_keeps_what_is_alone_and_drops_what_crowds():
    suite = of([500.0, 900.0, 510.0, None, 505.0, 1500.0, 515.0])
    assert [each.difficulty for each in suite.spread(4).positions] == [500.0, 900.0, 1500.0, 515.0]
    assert len(suite.spread(99).positions) == 6  # all of known difficulty
    assert [each.difficulty for each in suite.spread(1).positions] == [500.0]


@given(st.lists(st.floats(-500, 3000), min_size=3, max_size=60), st.integers(2, 20))
def test_a_spread_has_the_easiest_and_the_hardest_in_the_old_order(elos, count):
    suite = of(list(elos))
    chosen = suite.spread(count).positions
    assert len(chosen) == min(count, len(elos))
    found = [each.difficulty for each in chosen]
    assert (min(found), max(found)) == (min(elos), max(elos))
    assert list(chosen) == [each for each in suite.positions if each in chosen]


PRINTABLE = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=30)
ROUNDED = st.floats(-9_999, 9_999).map(lambda number: round(number, 1) + 0.0)


@given(
    PRINTABLE,
    st.one_of(st.none(), st.tuples(ROUNDED, ROUNDED.map(abs))),
    st.one_of(st.none(), ROUNDED),
    st.one_of(st.just(""), PRINTABLE),
)
def test_what_is_saved_reads_back(name, difficulty, gap, source):
    elo, error = difficulty or (None, None)
    position = scholar(id=name, difficulty=elo, difficulty_se=error, gap=gap, source=source)
    suite = Suite("any", (position,))
    assert Suite.read("any", suite.text()) == suite


@pytest.mark.parametrize("name", shipped_suites())
def test_the_suites_that_come_along_are_sound(name):
    suite = find_suite(name)
    assert suite.name == name
    assert len(suite.positions) >= 60
    assert len({each.position.key() for each in suite.positions}) == len(suite.positions)
    for each in suite.positions:
        assert len(each.best) == 1
        assert each.difficulty is not None
        assert each.gap is not None
        assert each.gap >= 20
        assert each.difficulty_se is not None
        assert 0 < each.difficulty_se < 500
    elos = [each.difficulty or 0.0 for each in suite.positions]
    assert min(elos) < 200
    assert max(elos) > 1800
