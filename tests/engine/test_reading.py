"""Every way people write moves, and every reason to refuse one."""

import pytest

from engine import AmbiguousMove, Illegality, IllegalMove, PieceType, Position, UnreadableMove

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
PROMOTING = "3r2k1/4P3/8/8/8/8/8/4K3 w - - 0 1"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
TAKING = "r3k3/8/1b6/2p1n3/1P1P4/8/3B4/4K2R w K - 0 1"
QUEENS = "8/k7/8/8/4Q2Q/8/8/K6Q w - - 0 1"

READABLE = [
    # strict SAN and its decorations
    (START, "e4", "e2e4"),
    (START, "Nf3", "g1f3"),
    (START, "Nf3!", "g1f3"),
    (START, "Nf3!?", "g1f3"),
    (START, "Nf3 +", "g1f3"),
    (START, "e4#", "e2e4"),
    (START, "  e4\n", "e2e4"),
    # move numbers
    (START, "1.e4", "e2e4"),
    (START, "1. e4", "e2e4"),
    (START, "1 . e4", "e2e4"),
    (START.replace(" w ", " b "), "1...e5", "e7e5"),
    (START.replace(" w ", " b "), "1… e5", "e7e5"),
    # long forms
    (START, "e2e4", "e2e4"),
    (START, "e2-e4", "e2e4"),
    (START, "E2E4", "e2e4"),
    (START, "E2-E4", "e2e4"),
    (START, "e2–e4", "e2e4"),
    (START, "Ng1f3", "g1f3"),
    (START, "Ng1-f3", "g1f3"),
    (START, "Pe2-e4", "e2e4"),
    # a pawn named, figurines, upper and lower case
    (START, "Pe4", "e2e4"),
    (START, "pe4", "e2e4"),
    (START, "♘f3", "g1f3"),
    (START, "♞f3", "g1f3"),
    (START, "♘\ufe0ef3", "g1f3"),
    (START, "♙e4", "e2e4"),
    (START, "nf3", "g1f3"),
    (START, "NF3", "g1f3"),
    (START, "E4", "e2e4"),
    (START, "B4", "b2b4"),
    (START, "B2B4", "b2b4"),
    # more disambiguation than needed, and a capture sign too many
    (START, "Ngf3", "g1f3"),
    (START, "N1f3", "g1f3"),
    (START, "Nxf3", "g1f3"),
    (START, "Nbc3", "b1c3"),
    # captures with and without their sign
    (TAKING, "dxe5", "d4e5"),
    (TAKING, "de5", "d4e5"),
    (TAKING, "dxc5", "d4c5"),
    (TAKING, "bc5", "b4c5"),
    (TAKING, "bxc5", "b4c5"),
    (TAKING, "b4xc5", "b4c5"),
    (TAKING, "b4:c5", "b4c5"),
    (TAKING, "B4-B5", "b4b5"),
    (TAKING, "Bc3", "d2c3"),
    (TAKING, "b5", "b4b5"),
    (TAKING, "Pxe5", "d4e5"),
    (TAKING, "d4×e5", "d4e5"),
    # what models put around a move
    (START, "**e4**", "e2e4"),
    (START, "`Nf3`", "g1f3"),
    (START, '"e4".', "e2e4"),
    (START, "e2 - e4", "e2e4"),
    (START.replace(" w ", " b "), "...e5", "e7e5"),
    (PROMOTING, "e8 = Q", "e7e8q"),
    # castling
    (CASTLING, "O - O", "e1g1"),
    (CASTLING, "Kg1", "e1g1"),
    (CASTLING, "Kc1", "e1c1"),
    (CASTLING, "Kf1", "e1f1"),
    (CASTLING, "O-O", "e1g1"),
    (CASTLING, "0-0", "e1g1"),
    (CASTLING, "o-o", "e1g1"),
    (CASTLING, "OO", "e1g1"),
    (CASTLING, "O–O", "e1g1"),
    (CASTLING, "O-O-O", "e1c1"),
    (CASTLING, "0-0-0+", "e1c1"),
    (CASTLING, "o-o-o!", "e1c1"),
    (CASTLING, "e1g1", "e1g1"),
    (CASTLING, "e1h1", "e1g1"),
    (CASTLING, "e1a1", "e1c1"),
    (CASTLING, "Ke1g1", "e1g1"),
    (CASTLING, "Ke1-c1", "e1c1"),
    # promotion
    (PROMOTING, "e8=Q", "e7e8q"),
    (PROMOTING, "e8Q", "e7e8q"),
    (PROMOTING, "e8(Q)", "e7e8q"),
    (PROMOTING, "e8/Q", "e7e8q"),
    (PROMOTING, "e8=q", "e7e8q"),
    (PROMOTING, "e8=N+", "e7e8n"),
    (PROMOTING, "e7e8Q", "e7e8q"),
    (PROMOTING, "e7e8q", "e7e8q"),
    (PROMOTING, "e7-e8=R", "e7e8r"),
    (PROMOTING, "exd8=B", "e7d8b"),
    (PROMOTING, "ed8Q", "e7d8q"),
    (PROMOTING, "exd8(N)", "e7d8n"),
    # en passant
    (EN_PASSANT, "exd6", "e5d6"),
    (EN_PASSANT, "exd6 e.p.", "e5d6"),
    (EN_PASSANT, "exd6e.p.", "e5d6"),
    (EN_PASSANT, "exd6ep", "e5d6"),
    (EN_PASSANT, "ed6", "e5d6"),
    (EN_PASSANT, "Pxd6", "e5d6"),
    (EN_PASSANT, "e5d6", "e5d6"),
    # full disambiguation
    (QUEENS, "Qh4e1", "h4e1"),
]


@pytest.mark.parametrize(("fen", "text", "uci"), READABLE)
def test_a_move_is_read(fen, text, uci):
    assert Position.from_fen(fen).parse(text).uci() == uci


@pytest.mark.parametrize("text", ["Q4e1", "Qhe1", "Qe1"])
def test_an_ambiguous_move_names_its_candidates(text):
    with pytest.raises(AmbiguousMove) as caught:
        Position.from_fen(QUEENS).parse(text)
    candidates = {move.uci() for move in caught.value.candidates}
    assert len(candidates) > 1
    assert candidates <= {"h4e1", "e4e1", "h1e1"}
    assert all(uci in str(caught.value) for uci in candidates)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "hello", "e9", "i4", "Z4", "e2e", "--", "0000", "1.", "4e5", "-e4", "xx", "e8=K",
        "Ne8=Q", "O-O-O-O", "O", "e2e4e5", "\0", "é4", "e" * 1000, "1-0", "Nf3 Nf6", "e4e", "٤4",
    ],
)  # fmt: skip
def test_what_is_no_move_is_unreadable(text):
    with pytest.raises(UnreadableMove, match="cannot be read as a move"):
        Position.start().parse(text)


@pytest.mark.parametrize("thing", [None, 5, b"e4", ["e4"], object()])
def test_what_is_no_text_is_unreadable(thing):
    with pytest.raises(UnreadableMove):
        Position.start().parse(thing)


REFUSED = [
    (START, "e3e4", Illegality.NO_PIECE),
    (START, "e7e5", Illegality.WRONG_SIDE),
    (START, "e1e2", Illegality.OWN_PIECE),
    (START, "Ke2", Illegality.OWN_PIECE),
    (START, "e2e5", Illegality.NOT_HOW_IT_MOVES),
    (START, "g1g3", Illegality.NOT_HOW_IT_MOVES),
    (START, "e2d2", Illegality.OWN_PIECE),
    (START, "e2d3", Illegality.NOTHING_TO_CAPTURE),
    (START, "exd3", Illegality.NOTHING_TO_CAPTURE),
    (START, "a1a3", Illegality.BLOCKED),
    (START, "Bb5", Illegality.NO_SUCH_PIECE),
    (START, "Qd4", Illegality.BLOCKED),
    (START, "e2e4q", Illegality.CANNOT_PROMOTE),
    (START, "e4=Q", Illegality.CANNOT_PROMOTE),
    (START, "g1f3q", Illegality.CANNOT_PROMOTE),
    (START, "O-O", Illegality.CASTLING_BLOCKED),
    (START, "e1g1", Illegality.CASTLING_BLOCKED),
    (START, "e1h1", Illegality.CASTLING_BLOCKED),
    # never another piece, or another move, in place of the one that was named
    (START, "Bb4", Illegality.NO_SUCH_PIECE),
    (START, "Bb3", Illegality.NO_SUCH_PIECE),
    (TAKING, "BXC5", Illegality.NOT_HOW_IT_MOVES),
    (START, "exe4", Illegality.NO_SUCH_PIECE),
    (CASTLING, "Kh1", Illegality.NOT_HOW_IT_MOVES),
    (CASTLING, "Kxh1", Illegality.NOT_HOW_IT_MOVES),
    (PROMOTING, "e8", Illegality.MUST_PROMOTE),
    (PROMOTING, "e7e8", Illegality.MUST_PROMOTE),
    (PROMOTING, "exd8", Illegality.MUST_PROMOTE),
    ("4k3/8/8/8/4p3/8/4P3/4K3 w - - 0 1", "e2e4", Illegality.PAWN_BLOCKED),
    ("4k3/8/8/8/8/4p3/4P3/4K3 w - - 0 1", "e2e4", Illegality.BLOCKED),
    ("4k3/8/8/8/8/4p3/4P3/4K3 w - - 0 1", "e3", Illegality.PAWN_BLOCKED),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 2", "exd6", Illegality.EN_PASSANT_EXPIRED),
    ("4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 2", "exd6", Illegality.EXPOSES_KING),
    ("4k3/8/8/3pP3/8/8/8/K6r w - d6 0 2", "exd6", Illegality.LEAVES_KING_IN_CHECK),
    ("4k3/4r3/8/8/8/8/4N3/4K3 w - - 0 1", "Nc3", Illegality.EXPOSES_KING),
    ("4k3/4r3/8/8/8/8/8/N3K3 w - - 0 1", "Nb3", Illegality.LEAVES_KING_IN_CHECK),
    ("4k3/3r4/8/8/8/8/8/4K3 w - - 0 1", "Kd1", Illegality.KING_INTO_CHECK),
    ("8/8/8/8/8/4k3/8/4K3 w - - 0 1", "Ke2", Illegality.KING_INTO_CHECK),
    (CASTLING.replace("KQkq", "Q"), "O-O", Illegality.NO_CASTLING_RIGHT),
    ("4k3/4r3/8/8/8/8/8/4K2R w K - 0 1", "O-O", Illegality.CASTLING_OUT_OF_CHECK),
    ("4k3/5r2/8/8/8/8/8/4K2R w K - 0 1", "O-O", Illegality.CASTLING_THROUGH_CHECK),
    ("4k3/6r1/8/8/8/8/8/4K2R w K - 0 1", "O-O", Illegality.CASTLING_INTO_CHECK),
    ("4k3/3r4/8/8/8/8/8/R3K3 w Q - 0 1", "O-O-O", Illegality.CASTLING_THROUGH_CHECK),
    ("4k3/8/8/8/8/8/8/RN2K3 w Q - 0 1", "O-O-O", Illegality.CASTLING_BLOCKED),
]  # fmt: skip


@pytest.mark.parametrize(("fen", "text", "reason"), REFUSED)
def test_an_illegal_move_is_refused_with_its_reason(fen, text, reason):
    position = Position.from_fen(fen)
    with pytest.raises(IllegalMove) as caught:
        position.parse(text)
    assert caught.value.reason is reason
    assert reason.value in str(caught.value)
    assert position.fen() in str(caught.value)


def test_every_reason_is_shown_by_some_refusal():
    # In chess, no piece ever leaves the board by itself.
    assert {reason for _, _, reason in REFUSED} == set(Illegality) - {Illegality.MAY_NOT_LEAVE}


def test_castling_is_possible_when_only_the_rook_passes_an_attacked_square():
    position = Position.from_fen("1r2k3/8/8/8/8/8/8/R3K3 w Q - 0 1")
    assert position.parse("O-O-O").uci() == "e1c1"


def test_lower_case_b_is_the_pawn_and_upper_case_the_bishop():
    position = Position.from_fen("4k3/8/8/2p1p3/1P6/2B5/8/4K3 w - - 0 1")
    assert position.parse("bxc5").uci() == "b4c5"
    assert position.parse("Bxe5").uci() == "c3e5"
    with pytest.raises(IllegalMove):
        position.parse("bxe5")  # never the bishop in the pawn's stead


def test_a_missing_promotion_is_a_queen_only_on_request():
    position = Position.from_fen(PROMOTING)
    assert position.parse("e8", default_promotion=PieceType.QUEEN).uci() == "e7e8q"
    assert position.parse("exd8", default_promotion=PieceType.KNIGHT).uci() == "e7d8n"
    assert position.parse("e8=R", default_promotion=PieceType.QUEEN).uci() == "e7e8r"
    assert position.parse("Ke2", default_promotion=PieceType.QUEEN).uci() == "e1e2"


def test_a_pinned_piece_does_not_make_a_move_ambiguous():
    position = Position.from_fen("4k3/4r3/8/8/8/2N5/4N3/4K3 w - - 0 1")  # Ne2 is pinned
    assert position.parse("Nd5").uci() == "c3d5"
    assert position.san(position.parse("Nd5")) == "Nd5"


def test_chess960_reads_castling_in_either_spelling():
    position = Position.from_fen("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "chess960")
    assert position.parse("O-O").uci() == "e1g1"  # onto the rook
    assert position.parse("e1g1").uci() == "e1g1"
    assert position.parse("O-O-O").uci() == "e1b1"
    assert position.parse("e1b1").uci() == "e1b1"
    assert position.parse("e1c1").uci() == "e1b1"
    assert position.play("O-O-O").fen().startswith("4k3/8/8/8/8/8/8/2KR2R1 b")


def test_a_king_step_is_not_mistaken_for_castling_in_chess960():
    position = Position.from_fen("4k3/8/8/8/8/8/8/5K1R w H - 0 1", "chess960")
    assert position.parse("f1g1").uci() == "f1g1"
    assert position.play("f1g1").fen().startswith("4k3/8/8/8/8/8/8/6KR b -")
    assert position.play("f1h1").fen().startswith("4k3/8/8/8/8/8/8/5RK1 b -")


def test_two_moves_are_not_read_as_one():
    with pytest.raises(UnreadableMove):
        Position.from_fen("4k3/8/8/8/4P3/8/8/4K3 w - - 0 1").parse("e4 e5")
