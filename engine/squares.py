"""Squares and sets of squares.

A square is an int, a1 = 0, b1 = 1, ... h8 = 63. A set of squares is an int too (a *bitboard*): bit
`s` is set when square `s` is in it.
"""

from __future__ import annotations

from typing import TypeAlias

Square: TypeAlias = int
Bitboard: TypeAlias = int

FILES = "abcdefgh"
RANKS = "12345678"
SQUARE_NAMES: tuple[str, ...] = tuple(file + rank for rank in RANKS for file in FILES)
SQUARE_OF_NAME: dict[str, Square] = {name: square for square, name in enumerate(SQUARE_NAMES)}

BITS: tuple[Bitboard, ...] = tuple(1 << square for square in range(64))
ALL: Bitboard = (1 << 64) - 1
FILE_MASKS: tuple[Bitboard, ...] = tuple(0x0101_0101_0101_0101 << file for file in range(8))
RANK_MASKS: tuple[Bitboard, ...] = tuple(0xFF << 8 * rank for rank in range(8))
BACK_RANKS: Bitboard = RANK_MASKS[0] | RANK_MASKS[7]
LIGHT_SQUARES: Bitboard = 0x55AA_55AA_55AA_55AA
DARK_SQUARES: Bitboard = ALL ^ LIGHT_SQUARES

#: The steps of the pieces, in files and ranks; sliders repeat the king's.
KNIGHT_STEPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
KING_STEPS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))


def squares_of(bitboard: Bitboard) -> list[Square]:
    """Return the squares of a set, h8 first."""
    squares = []
    while bitboard:
        square = bitboard.bit_length() - 1
        squares.append(square)
        bitboard ^= BITS[square]
    return squares


def steps(square: Square, deltas: tuple[tuple[int, int], ...]) -> Bitboard:
    """Return the squares one (file, rank) step away that are still on the board."""
    reached = 0
    file, rank = square % 8, square // 8
    for file_step, rank_step in deltas:
        if 0 <= file + file_step < 8 and 0 <= rank + rank_step < 8:
            reached |= 1 << square + file_step + 8 * rank_step
    return reached


def ray(square: Square, file_step: int, rank_step: int) -> tuple[Square, ...]:
    """Return the squares from `square` (excluded) to the edge in one direction, nearest first."""
    squares = []
    file, rank = square % 8 + file_step, square // 8 + rank_step
    while 0 <= file < 8 and 0 <= rank < 8:
        squares.append(8 * rank + file)
        file, rank = file + file_step, rank + rank_step
    return tuple(squares)
