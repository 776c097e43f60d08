"""What variants have in common, and Chess960: its 960 starts, and castling from anywhere."""

import chess
import pytest

from engine import (
    VARIANTS,
    ChessPosition,
    Game,
    IllegalMove,
    Move,
    Position,
    UnknownStart,
    UnknownVariant,
    divide,
    perft,
    read_fen,
    read_games,
)
from engine.variant import find_variant


def test_all_960_starts_are_the_published_ones():
    for number in range(960):
        ours = Position.start("chess960", number)
        assert ours.fen() == chess.Board.from_chess960_pos(number).fen()
        assert ours.variant == "chess960"


def test_the_usual_start_is_number_518():
    assert Position.start("chess960").fen() == Position.start().fen()


@pytest.mark.parametrize("number", [-1, 960, "5"])
def test_there_are_no_other_starts(number):
    with pytest.raises(UnknownStart, match="0 to 959"):
        Position.start("chess960", number)
    with pytest.raises(UnknownStart, match="0 to 0"):
        Position.start("standard", 7)


CASTLING = [
    # king and rook end where they end in standard chess, from wherever they start
    ("4k3/8/8/8/8/8/8/R4K1R w HA - 0 1", "O-O", "4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"),
    ("4k3/8/8/8/8/8/8/R4K1R w HA - 0 1", "O-O-O", "4k3/8/8/8/8/8/8/2KR3R b - - 1 1"),
    # they change places, or only one of them moves
    ("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", "O-O", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
    ("4k3/8/8/8/8/8/8/6KR w H - 0 1", "O-O", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
    ("4k3/8/8/8/8/8/8/1RK5 w B - 0 1", "O-O-O",
     "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "move", "after"), CASTLING)
def test_castling(before, move, after):
    assert Position.from_fen(before, "chess960").play(move).fen() == after


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/8/rRK5 w B - 0 1",  # the rook shields the king, and leaves
        "4k3/8/8/8/8/8/8/1R1NK3 w B - 0 1",  # a piece in the rook's way
        "4k3/8/8/8/2r5/8/8/1R2K3 w B - 0 1",  # into check
        "3rk3/8/8/8/8/8/8/1R2K3 w B - 0 1",  # through check
    ],
)
def test_castling_that_is_not_possible(fen):
    with pytest.raises(IllegalMove):
        Position.from_fen(fen, "chess960").play("O-O-O")


def test_a_rook_that_shields_its_king_cannot_castle_in_standard_chess_either():
    position = Position.from_fen("4k3/8/8/8/8/8/8/rRK5 w Q - 0 1")
    assert "c1b1" not in {move.uci() for move in position.legal_moves()}
    with pytest.raises(IllegalMove, match="into check"):
        position.play("O-O-O")


TOLD = {
    "standard": ["Castling", "en passant", "Checkmate wins", "repetition"],
    "chess960": ["shuffled back rank", "taking its own rook"],
    "kings-cooking": ["beyond rank 3", "Roff", "third time", "more own pieces off the board"],
}


def test_every_variant_can_be_explained_to_a_player():
    assert TOLD.keys() == VARIANTS.keys()
    for name, words in TOLD.items():
        rules = " ".join(find_variant(name).rules.split())
        assert [word for word in words if word not in rules] == []


@pytest.mark.parametrize("name", ["atomic", "", None, []])
def test_there_are_no_other_variants(name):
    start = Position.start()
    for make in (
        lambda: Position.start(name),
        lambda: Position.from_fen(start.fen(), name),
        lambda: Position.from_setup(read_fen(start.fen()), name),
        lambda: Game(variant=name),
    ):
        with pytest.raises(UnknownVariant, match="known are standard, chess960, kings-cooking"):
            make()
    with pytest.raises(UnknownVariant, match="known are standard, chess960"):
        ChessPosition.from_setup(read_fen(start.fen()), "kings-cooking")


def test_every_variant_keeps_to_one_interface():
    for name, variant in VARIANTS.items():
        position = Position.start(name)
        assert isinstance(position, variant.position_type)
        members = {member: getattr(variant.position_type, member) for member in dir(position)}
        assert [m for m, it in members.items() if getattr(it, "__isabstractmethod__", False)] == []
        assert Position.from_fen(variant.start_fen(variant.default_start), name) == position
        assert (position.variant, variant.size) == (name, 3 if name == "kings-cooking" else 8)
        assert perft(position, 2) == sum(divide(position, 2).values())
        assert position.leaves(0) == position.leaves(-1) == 1
        game = Game(variant=name)
        while not game.is_over and len(game.line) < 40:
            move = min(game.position.legal_moves(), key=Move.uci)
            assert game.position.parse(game.position.san(move)) is move
            assert game.position.parse(game.position.long_algebraic(move)) is move
            assert game.position.is_legal(move)
            game.play(move)
        again = next(read_games(game.pgn()))
        assert again.position == game.position
        assert (again.variant, again.result) == (name, game.result)
