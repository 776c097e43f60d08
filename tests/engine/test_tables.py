"""The look-up tables behind move generation, against walking the board square by square."""

import pytest

from engine import Position, attacks, movelists, perft
from engine.squares import squares_of

DIAGONAL_STEPS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
ORTHOGONAL_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def walk(square, steps, occupied):
    """What a slider attacks, found without any table."""
    reached = 0
    for file_step, rank_step in steps:
        file, rank = square % 8 + file_step, square // 8 + rank_step
        while 0 <= file < 8 and 0 <= rank < 8:
            reached |= 1 << 8 * rank + file
            if occupied >> 8 * rank + file & 1:
                break
            file, rank = file + file_step, rank + rank_step
    return reached


@pytest.mark.parametrize(
    ("tables", "steps"),
    [(attacks.DIAGONAL, DIAGONAL_STEPS), (attacks.ORTHOGONAL, ORTHOGONAL_STEPS)],
    ids=["diagonal", "orthogonal"],
)
def test_no_two_occupancies_that_share_a_slot_differ(tables, steps):
    # All subsets of every mask: 5,248 for bishops, 102,400 for rooks.
    for square, (mask, modulus, table) in enumerate(tables):
        occupied = 0
        while True:
            assert table[occupied % modulus] == walk(square, steps, occupied)
            occupied = occupied - mask & mask
            if not occupied:
                break


def test_what_lies_between_and_on_a_line():
    for square in range(64):
        for other in range(64):
            bit = 1 << other
            file_distance, rank_distance = other % 8 - square % 8, other // 8 - square // 8
            aligned = square != other and (
                not file_distance or not rank_distance or abs(file_distance) == abs(rank_distance)
            )
            assert (bit in attacks.BETWEEN[square]) is aligned
            assert (bit in attacks.LINE[square]) is aligned
            if aligned:
                steps = max(abs(file_distance), abs(rank_distance))
                inner = {
                    square + n * (file_distance + 8 * rank_distance) // steps
                    for n in range(1, steps)
                }
                assert set(squares_of(attacks.BETWEEN[square][bit])) == inner
                assert attacks.LINE[square][bit] & (bit | 1 << square) == bit | 1 << square


def test_the_memory_of_move_lists_is_bounded(monkeypatch):
    monkeypatch.setattr(movelists, "LIMIT", 4)
    monkeypatch.setattr(movelists, "PAWN_LIMIT", 2)
    position = Position.from_fen(
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    )
    tables = [
        movelists.KNIGHTS, movelists.DIAGONAL_SLIDERS, movelists.ORTHOGONAL_SLIDERS,
        movelists.KNIGHT_SPAN, movelists.WHITE_SPAN, movelists.BLACK_SPAN,
        movelists.WHITE_PAWNS, movelists.BLACK_PAWNS,
    ]  # fmt: skip
    for table in tables:
        table.clear()
    assert perft(position, 3) == 97862  # right though it keeps forgetting
    assert max(map(len, tables)) <= 4
    for entry in movelists.WHITE_PAWNS.values():
        assert entry is None or max(len(entry[1]), len(entry[3])) <= 2
