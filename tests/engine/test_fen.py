"""Reading and writing FEN: what it says, and what it may not say."""

import pytest

from engine import (
    Color,
    IllegalPosition,
    InvalidFen,
    PieceType,
    Position,
    PositionRule,
    Setup,
    read_fen,
)

UNCHANGED = [
    ("standard", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("standard", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
    ("standard", "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"),
    ("standard", "4k3/8/8/8/8/8/8/R3K3 w Q - 99 150"),
    ("standard", "4k3/8/8/8/8/8/8/4K3 b - - 0 0"),
    ("standard", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
    ("standard", "r2r3k/p7/3p4/8/8/P6P/8/R3K2R b KQq - 0 1"),
    ("chess960", "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w KQkq - 2 9"),
    ("chess960", "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
    ("chess960", "4k3/8/8/8/8/8/8/1R2K1RR w G - 0 1"),  # not the outermost rook
    ("chess960", "4k3/8/8/8/8/8/8/RR2K1RR w GB - 0 1"),
    ("chess960", "r3k3/8/8/8/8/8/8/RR2K1RR w Gq - 0 1"),  # X-FEN, where a file is needed
]


@pytest.mark.parametrize(("variant", "fen"), UNCHANGED)
def test_a_fen_is_printed_back_unchanged(variant, fen):
    position = Position.from_fen(fen, variant)
    assert position.fen() == fen
    for move in position.legal_moves():
        after = position.play(move)
        assert Position.from_fen(after.fen(), variant) == after


COMPLETED = [
    ("4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
    ("4k3/8/8/8/8/8/8/4K3 b", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
    ("4k3/8/8/8/8/8/8/4K2R w K -", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 12", "4k3/8/8/8/8/8/8/4K3 w - - 12 1"),
    ("  4k3/8/8/8/8/8/8/4K3   w  -\t- 0 1\n", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
]


@pytest.mark.parametrize(("text", "fen"), COMPLETED)
def test_what_is_left_out_gets_its_usual_value(text, fen):
    assert Position.from_fen(text).fen() == fen


UNREADABLE = [
    ("", "empty"),
    ("   ", "empty"),
    ("hello", "ranks"),
    ("8/8/8/8/8/8/8", "7 ranks"),
    ("8/8/8/8/8/8/8/8/8 w - - 0 1", "9 ranks"),
    ("4k3/8/8/8/8/8/8/4K2 w - - 0 1", "eight squares"),
    ("4k3/8/8/8/8/8/8/4K4 w - - 0 1", "eight squares"),
    ("4k3/9/8/8/8/8/8/4K3 w - - 0 1", "no piece"),
    ("4k3/44/8/8/8/8/8/4K3 w - - 0 1", "two digits"),
    ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "no piece"),
    ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "neither w nor b"),
    ("4k3/8/8/8/8/8/8/4K3 w Z - 0 1", "castling"),
    ("4k3/8/8/8/8/8/8/4K3 w KK - 0 1", "twice"),
    ("4k3/8/8/8/8/8/8/4K3 w - e9 0 1", "en passant"),
    ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "half-move clock"),
    ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "half-move clock"),
    ("4k3/8/8/8/8/8/8/4K3 w - - ٣ 1", "half-move clock"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1.5", "move number"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1000000", "move number"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 extra", "six fields"),
    (None, "not text"),
    (b"4k3/8/8/8/8/8/8/4K3 w - - 0 1", "not text"),
]


@pytest.mark.parametrize(("text", "reason"), UNREADABLE)
def test_what_is_not_a_fen(text, reason):
    with pytest.raises(InvalidFen, match=reason):
        Position.from_fen(text)


ILLEGAL = [
    ("8/8/8/8/8/8/8/4K3 w - - 0 1", PositionRule.ONE_KING_EACH),
    ("4k3/8/8/8/8/8/8/8 w - - 0 1", PositionRule.ONE_KING_EACH),
    ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", PositionRule.ONE_KING_EACH),
    ("3kk3/8/8/8/8/8/8/4K3 w - - 0 1", PositionRule.ONE_KING_EACH),
    ("8/8/8/8/8/8/8/8 w - - 0 1", PositionRule.ONE_KING_EACH),
    ("4k3/8/8/8/8/8/8/4R2K w - - 0 1", PositionRule.KING_NOT_CAPTURABLE),
    ("8/8/8/8/8/8/8/3kK3 w - - 0 1", PositionRule.KING_NOT_CAPTURABLE),
    ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", PositionRule.NO_PAWNS_ON_BACK_RANKS),
    ("4k3/8/8/8/8/8/8/p3K3 w - - 0 1", PositionRule.NO_PAWNS_ON_BACK_RANKS),
    ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/4K3/7R w K - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/8/4K2Q w K - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/8/4K2r w K - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/8/4K2R w Q - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/8/4K1RR w GH - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/8/4K2R w KH - 0 1", PositionRule.CASTLING_RIGHTS),
    ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", PositionRule.EN_PASSANT),
    ("4k3/8/8/4p3/8/8/8/4K3 w - e3 0 1", PositionRule.EN_PASSANT),
    ("4k3/8/8/4p3/8/8/8/4K3 b - e6 0 1", PositionRule.EN_PASSANT),
    ("4k3/4n3/8/4p3/8/8/8/4K3 w - e6 0 1", PositionRule.EN_PASSANT),
    ("4k3/8/4n3/4p3/8/8/8/4K3 w - e6 0 1", PositionRule.EN_PASSANT),
    ("4k3/8/8/8/8/3n1n2/8/4K3 w - - 0 1", PositionRule.CHECKERS),
    ("4k3/8/8/8/4r3/5n2/3p4/4K3 w - - 0 1", PositionRule.CHECKERS),
    ("4k3/8/8/8/4r3/8/8/r3K2q w - - 0 1", PositionRule.CHECKERS),
]


@pytest.mark.parametrize(("fen", "rule"), ILLEGAL)
def test_an_illegal_position_names_the_rule_it_breaks(fen, rule):
    with pytest.raises(IllegalPosition) as caught:
        Position.from_fen(fen)
    assert caught.value.rule is rule
    assert rule.value in str(caught.value)
    assert isinstance(read_fen(fen), Setup)  # a setup may break any rule


def test_every_rule_of_positions_is_shown_by_some_refusal():
    kings_cooking = {PositionRule.EACH_PIECE_ONCE, PositionRule.COURTS, PositionRule.CAPTURED}
    assert {rule for _, rule in ILLEGAL} | kings_cooking == set(PositionRule)


def test_a_double_check_that_can_arise_is_legal():
    assert Position.from_fen("4k3/8/8/8/4r3/5n2/8/4K3 w - - 0 1").checkers() == [28, 21]


def test_a_setup_can_be_looked_at_and_made_a_position():
    setup = read_fen("4k3/8/8/8/8/8/8/QRBN1K2 b - - 3 7")
    assert setup.turn is Color.BLACK
    assert (setup.halfmove_clock, setup.fullmove_number) == (3, 7)
    assert [setup.piece_at(s) and setup.piece_at(s)[1] for s in range(6)] == [
        PieceType.QUEEN, PieceType.ROOK, PieceType.BISHOP, PieceType.KNIGHT, None, PieceType.KING,
    ]  # fmt: skip
    assert setup.piece_at(60) == (Color.BLACK, PieceType.KING)
    assert Position.from_setup(setup).fen() == setup.fen


def test_the_memory_for_ranks_is_bounded(monkeypatch):
    monkeypatch.setattr("engine.fen._LIMIT", 3)
    monkeypatch.setattr("engine.fen._rank_texts", {})
    for fen in [row[1] for row in UNCHANGED if row[0] == "standard"]:
        assert Position.from_fen(fen).fen() == fen
    from engine import fen as module

    assert len(module._rank_texts) <= 3
