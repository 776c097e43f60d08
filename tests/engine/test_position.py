"""Positions as values: special moves, endings, repetition keys, copies."""

import copy
import pickle

import pytest

from engine import (
    Color,
    IllegalMove,
    Move,
    Outcome,
    PieceType,
    Position,
    Termination,
    UnknownVariant,
    UnreadableMove,
)

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


SCHOLAR = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"


def played(fen, *moves, variant="standard"):
    position = Position.from_fen(fen, variant)
    for move in moves:
        position = position.play(move)
    return position


def test_the_start():
    position = Position.start()
    assert position.fen() == START
    assert position.turn is Color.WHITE
    assert position.variant == "standard"
    assert (position.halfmove_clock, position.fullmove_number) == (0, 1)
    assert len(position.legal_moves()) == 20
    assert position.outcome() is None
    assert not position.is_check()
    assert position.checkers() == []


def test_an_unknown_variant_names_the_known_ones():
    with pytest.raises(UnknownVariant, match="standard, chess960"):
        Position.start("antichess")


# Each special move: what it leads to.
SPECIAL_MOVES = [
    ("e4", START, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
    ("exd6", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2"),
    ("dxe3", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 2", "4k3/8/8/8/8/4p3/8/4K3 w - - 0 3"),
    ("O-O", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 4 9"),
    ("O-O-O", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "r3k2r/8/8/8/8/8/8/2KR3R b kq - 4 9"),
    ("O-O", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9", "r4rk1/8/8/8/8/8/8/R3K2R w KQ - 4 10"),
    ("O-O-O", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9", "2kr3r/8/8/8/8/8/8/R3K2R w KQ - 4 10"),
    ("Ke2", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k2r/8/8/8/8/8/4K3/R6R b kq - 1 1"),
    ("Ra2", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k2r/8/8/8/8/8/R7/4K2R b Kkq - 1 1"),
    ("Rxa8+", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 7 1", "R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 1"),
    ("e8=N", "8/4P2k/8/8/8/8/8/4K3 w - - 5 60", "4N3/7k/8/8/8/8/8/4K3 b - - 0 60"),
    ("exd8=Q", "3r4/4P2k/8/8/8/8/8/4K3 w - - 5 60", "3Q4/7k/8/8/8/8/8/4K3 b - - 0 60"),
    ("e1=R+", "8/7k/8/8/8/8/K3p3/8 b - - 0 60", "8/7k/8/8/8/8/K7/4r3 w - - 0 61"),
    ("bxa1=B", "7k/8/8/8/8/8/1p6/R3K3 b Q - 0 60", "7k/8/8/8/8/8/8/b3K3 w - - 0 61"),
]


@pytest.mark.parametrize(("move", "before", "after"), SPECIAL_MOVES)
def test_special_moves(move, before, after):
    position = Position.from_fen(before)
    assert position.play(move).fen() == after
    assert position.fen() == before  # a position never changes


def test_en_passant_is_only_possible_at_once():
    position = played(START, "e4", "a6", "e5", "d5", "h3", "h6")
    with pytest.raises(IllegalMove):
        position.play("exd6")


def test_en_passant_that_exposes_the_king_along_the_rank_is_illegal():
    position = Position.from_fen("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2")
    assert "e5d6" not in {move.uci() for move in position.legal_moves()}


def test_en_passant_can_answer_the_check_of_the_pawn_that_stepped():
    position = Position.from_fen("8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1")
    assert position.is_check()
    assert "e4d3" in {move.uci() for move in position.legal_moves()}


def test_the_fen_shows_en_passant_after_every_double_step_or_only_where_legal():
    position = played(START, "e4")
    assert position.fen().split()[3] == "e3"
    assert position.fen(legal_en_passant=True).split()[3] == "-"
    position = played(START, "e4", "a6", "e5", "d5")
    assert position.fen(legal_en_passant=True).split()[3] == "d6"


# --- what play accepts ---


def test_play_refuses_illegal_moves_however_they_come():
    position = Position.start()
    for move in (Move.from_uci("e2e5"), "e5", Move.from_uci("e1g1")):
        with pytest.raises(IllegalMove):
            position.play(move)
    position.legal_moves()  # what it gave out it knows, and the rest is still refused
    for move in (Move.from_uci("e2e5"), "e5"):
        with pytest.raises(IllegalMove):
            position.play(move)
    assert position.play("e4") == position.play(Move.from_uci("e2e4"))
    with pytest.raises(UnreadableMove):
        position.play(None)


def test_changing_the_list_of_legal_moves_changes_nothing():
    position = Position.start()
    moves = position.legal_moves()
    moves.append(Move.from_uci("e2e5"))
    with pytest.raises(IllegalMove):
        position.play(Move.from_uci("e2e5"))
    assert len(position.legal_moves()) == 20


def test_san_of_an_illegal_move_is_refused():
    for write in (Position.start().san, Position.start().long_algebraic):
        with pytest.raises(IllegalMove):
            write(Move.from_uci("e2e5"))


# --- notation out ---

WRITTEN = [
    ("e2e4", "e4", "e2-e4", START),
    ("g1f3", "Nf3", "Ng1-f3", START),
    ("e1g1", "O-O", "O-O", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    ("e1c1", "O-O-O", "O-O-O", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    ("a1a8", "Rxa8+", "Ra1xa8+", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    ("e1e2", "Ke2", "Ke1-e2", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    ("e5d6", "exd6", "e5xd6", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"),
    ("e7d8q", "exd8=Q", "e7xd8=Q", "3r4/4P2k/8/8/8/8/8/4K3 w - - 0 1"),
    ("e7e8r", "e8=R", "e7-e8=R", "3r4/4P2k/8/8/8/8/8/4K3 w - - 0 1"),
    # least disambiguation: file, rank, square
    ("h4e1", "Qh4e1", "Qh4-e1", "8/k7/8/8/4Q2Q/8/8/K6Q w - - 0 1"),
    ("b1d2", "Nbd2", "Nb1-d2", "4k3/8/8/8/8/8/8/KN3N2 w - - 0 1"),
    ("a1a3", "R1a3", "Ra1-a3", "4k3/8/8/R7/8/8/8/R4K2 w - - 0 1"),
    ("c3d5", "Nd5", "Nc3-d5", "4k3/4r3/8/8/8/2N5/4N3/4K3 w - - 0 1"),
    # mate, check by promotion, castling, discovery and en passant
    ("h5f7", "Qxf7#", "Qh5xf7#", SCHOLAR),
    ("e7e8q", "e8=Q+", "e7-e8=Q+", "7k/4P3/8/8/8/8/8/4K3 w - - 0 1"),
    ("e1g1", "O-O+", "O-O+", "5k2/8/8/8/8/8/8/4K2R w K - 0 1"),
    ("e4c5", "Nc5+", "Ne4-c5+", "4k3/8/8/8/4N3/8/8/3KR3 w - - 0 1"),
    ("e5d6", "exd6+", "e5xd6+", "8/2k5/8/3pP3/8/8/8/4K3 w - d6 0 2"),
]  # fmt: skip


@pytest.mark.parametrize(("uci", "san", "long", "fen"), WRITTEN)
def test_moves_are_written(uci, san, long, fen):
    position = Position.from_fen(fen)
    move = Move.from_uci(uci)
    assert position.san(move) == san
    assert position.long_algebraic(move) == long
    assert position.parse(san) is position.parse(long) is move


# --- endings ---

ENDINGS = [
    ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "black", "checkmate"),
    ("r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4", "white", "checkmate"),
    ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", None, "stalemate"),
    ("8/8/8/8/8/5k2/5p2/5K2 w - - 0 1", None, "stalemate"),
    ("8/8/8/8/8/8/8/K1k5 w - - 0 1", None, "insufficient_material"),
    ("8/8/8/8/8/8/8/KBk5 w - - 0 1", None, "insufficient_material"),
    ("8/8/8/8/8/8/8/KNk5 w - - 0 1", None, "insufficient_material"),
    ("8/8/8/8/8/4b3/8/KBk5 w - - 0 1", None, None),  # bishops on both colours
    ("8/8/8/8/8/3b4/8/KBk5 w - - 0 1", None, "insufficient_material"),
    ("8/8/8/8/B7/3b4/8/KBk5 b - - 0 1", None, "insufficient_material"),
    ("8/8/8/8/8/8/8/KNNk4 b - - 0 1", None, None),
    ("8/8/8/8/8/8/P7/K1k5 w - - 0 1", None, None),
    ("7k/8/8/8/8/8/8/K6R b - - 150 99", None, "seventy_five_moves"),
    ("7k/8/8/8/8/8/8/K6R b - - 149 99", None, None),
    ("7k/5Q2/6K1/8/8/8/8/8 b - - 150 99", None, "stalemate"),  # the board comes first
]  # fmt: skip


@pytest.mark.parametrize(("fen", "winner", "termination"), ENDINGS)
def test_endings(fen, winner, termination):
    position = Position.from_fen(fen)
    expected = termination and Outcome(winner and Color(winner), Termination(termination))
    assert position.outcome() == expected
    assert position.is_checkmate() == (termination == "checkmate")
    assert position.is_stalemate() == (termination == "stalemate")
    assert position.is_insufficient_material() == (termination == "insufficient_material")


# --- keys and values ---


def test_positions_reached_by_different_ways_have_one_key():
    one = played(START, "Nf3", "Nf6", "Nc3")
    other = played(START, "Nc3", "Nf6", "Nf3")
    assert one.key() == other.key()
    assert {one.key(): 1}[other.key()] == 1
    assert hash(one.key()) == hash(other.key())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", False),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1", False),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 w - - 7 9", True),
        # an en passant square that nobody can use does not count, one that can be used does
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3p4/8/8/8/4K3 w - - 0 1", True),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1", False),
        ("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2", "8/8/8/K2pP2r/8/8/8/4k3 w - - 0 2", True),
        # Python hashes a1 like f8, b1 like g8 and c1 like h8: a key must be more than a hash
        ("8/8/8/8/4k3/8/8/1N2K3 w - - 0 1", "6N1/8/8/8/4k3/8/8/4K3 w - - 0 1", False),
    ],
)
def test_what_counts_as_the_same_position(one, other, same):
    assert (Position.from_fen(one).key() == Position.from_fen(other).key()) is same


def test_positions_and_moves_are_values():
    position = played(START, "e4", "c5")
    assert position == Position.from_fen(position.fen())
    assert position != Position.start()
    assert position != position.fen()
    assert len({position, Position.from_fen(position.fen())}) == 1
    for clone in (
        copy.copy(position),
        copy.deepcopy(position),
        pickle.loads(pickle.dumps(position)),
    ):
        assert clone == position
        assert clone.legal_moves() == position.legal_moves()
    move = Move.from_uci("e7e8q")
    assert copy.deepcopy(move) is move is pickle.loads(pickle.dumps(move))
    assert eval(repr(position)) == position
    assert eval(repr(move)) is move
    chess960 = Position.start("chess960", 0)
    assert eval(repr(chess960)) == chess960
    assert str(position) == position.fen()


@pytest.mark.parametrize(
    "text", ["", "e2", "e2e", "e2e9", "e2e2", "e7e8k", "e7e8qq", "0000", "E2E4"]
)
def test_what_is_no_uci_move(text):
    with pytest.raises(UnreadableMove):
        Move.from_uci(text)


def test_moves_are_shared_and_cannot_be_changed():
    move = Move.from_uci("e2e4")
    with pytest.raises(AttributeError, match="cannot be changed"):
        move.to_square = 5
    with pytest.raises(AttributeError):
        del move.to_square
    assert Position.start().parse("e4").to_square == 28


def test_colours_may_be_given_by_name():
    position = Position.from_fen("4k3/8/8/8/8/8/8/4KQ2 w - - 0 1")
    assert position.king("white") == position.king(Color.WHITE) == 4
    assert position.can_checkmate("white")
    assert not position.can_checkmate("black")
    assert position.text(perspective="black") == position.text(perspective=Color.BLACK)
    with pytest.raises(ValueError, match="blue"):
        position.king("blue")


def test_moves_are_written_from_text_too():
    assert Position.start().san("g1f3") == "Nf3"
    assert Position.start().long_algebraic("Nf3") == "Ng1-f3"


@pytest.mark.parametrize("square", ["z9", "", 64, -1])
def test_there_are_sixty_four_squares(square):
    with pytest.raises(ValueError, match="a1 to h8"):
        Position.start().piece_at(square)


@pytest.mark.parametrize(
    ("winner", "termination"),
    [(None, Termination.RESIGNATION), (Color.WHITE, Termination.STALEMATE)],
)
def test_an_outcome_makes_sense(winner, termination):
    with pytest.raises(ValueError, match="winner"):
        Outcome(winner, termination)


def test_asking_for_pieces():
    position = played(START, "e4")
    assert position.piece_at("e4") == (Color.WHITE, PieceType.PAWN)
    assert position.piece_at("e8") == (Color.BLACK, PieceType.KING)
    assert position.piece_at("e2") is None
    assert {position.piece_at(s)[1].letter for s in range(8)} == set("RNBQK")
    assert (position.king(Color.WHITE), position.king(Color.BLACK)) == (4, 60)
    assert str(Position.start().piece_at(0)[0]) == "white"


def test_checkers_are_named():
    assert Position.from_fen("4k3/8/5N2/8/8/8/8/K3R3 b - - 0 1").checkers() == [45, 4]
