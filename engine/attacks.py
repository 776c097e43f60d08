"""What each piece attacks from each square: look-up tables, filled once at import.

A slider's attacks depend on which squares of its lines are occupied. `occupied & mask` keeps just
those squares, and its remainder by a modulus chosen for the square is an index into a small list.
The moduli were found by search: two occupancies that share a remainder always share their attacks.
So a look-up is one `&`, one `%` and one index, as cheap in a position never seen before as in any
other. `docs/explanation/move-generation.md` tells why this beats a dictionary.
"""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

from engine.squares import ALL, KING_STEPS, KNIGHT_STEPS, Bitboard, Square, ray, steps

#: mask, modulus, attacks: a slider on that square attacks `attacks[(occupied & mask) % modulus]`.
SliderTable: TypeAlias = tuple[Bitboard, int, list[Bitboard]]

# fmt: off
_DIAGONAL_MODULI = (
    85, 33, 85, 61, 85, 51, 33, 65, 33, 33, 85, 61, 85, 51, 33, 33,
    77, 77, 215, 325, 361, 365, 73, 73, 59, 59, 331, 1419, 1885, 365, 89, 89,
    83, 83, 365, 1885, 1879, 325, 41, 41, 73, 73, 267, 365, 331, 317, 41, 41,
    33, 33, 67, 69, 81, 51, 33, 33, 65, 33, 67, 69, 81, 51, 33, 85,
)
_ORTHOGONAL_MODULI = (
    9344, 5149, 5951, 7473, 5643, 5497, 4672, 9344, 3919, 2635, 2635, 2565, 2635, 2735, 2371, 3423,
    5023, 2403, 2427, 2465, 3711, 2377, 2105, 3645, 5029, 2033, 2815, 2323, 3811, 3013, 1813, 4691,
    3831, 2199, 2815, 3445, 3231, 3009, 1931, 2827, 5101, 2297, 2743, 3215, 3655, 2719, 1971, 3557,
    3339, 2069, 2137, 2465, 2635, 2471, 2417, 3217, 10141, 5401, 6199, 6205, 6205, 7565, 5529, 9651,
)
# fmt: on


def _line_attacks(
    square: Square, file_step: int, rank_step: int
) -> tuple[Bitboard, dict[Bitboard, list[Bitboard]]]:
    """Return which squares can block on one line, and in which ways, by what is then attacked."""
    arms = (ray(square, file_step, rank_step), ray(square, -file_step, -rank_step))
    # A piece on the last square of an arm blocks nothing beyond it.
    blockers = sum(1 << s for arm in arms for s in arm[:-1])
    ways: dict[Bitboard, list[Bitboard]] = {}
    occupied = 0
    while True:
        attacked = 0
        for arm in arms:
            for s in arm:
                attacked |= 1 << s
                if occupied >> s & 1:
                    break
        ways.setdefault(attacked, []).append(occupied)
        occupied = occupied - blockers & blockers  # the next subset of the blockers
        if not occupied:
            return blockers, ways


def _slider_table(
    square: Square, modulus: int, line: tuple[int, int], other_line: tuple[int, int]
) -> SliderTable:
    mask, ways = _line_attacks(square, *line)
    other_mask, other_ways = _line_attacks(square, *other_line)
    table = [0] * modulus
    # A square has few distinct attack sets. Each is made once and shared by all its slots, which
    # keeps the tables in the processor's cache.
    for (attacked, occupancies), (more, other_occupancies) in product(
        ways.items(), other_ways.items()
    ):
        both = attacked | more
        for occupied in occupancies:
            for other in other_occupancies:
                table[(occupied | other) % modulus] = both
    return mask | other_mask, modulus, table


KNIGHT: tuple[Bitboard, ...] = tuple(steps(s, KNIGHT_STEPS) for s in range(64))
KING: tuple[Bitboard, ...] = tuple(steps(s, KING_STEPS) for s in range(64))
WHITE_PAWN: tuple[Bitboard, ...] = tuple(steps(s, ((-1, 1), (1, 1))) for s in range(64))
BLACK_PAWN: tuple[Bitboard, ...] = tuple(steps(s, ((-1, -1), (1, -1))) for s in range(64))
#: The squares beside a pawn, where an enemy pawn could take it en passant.
BESIDE: tuple[Bitboard, ...] = tuple(steps(s, ((-1, 0), (1, 0))) for s in range(64))

DIAGONAL: tuple[SliderTable, ...] = tuple(
    _slider_table(s, _DIAGONAL_MODULI[s], (1, 1), (1, -1)) for s in range(64)
)
ORTHOGONAL: tuple[SliderTable, ...] = tuple(
    _slider_table(s, _ORTHOGONAL_MODULI[s], (1, 0), (0, 1)) for s in range(64)
)
#: What a slider attacks on an empty board.
DIAGONAL_RAYS: tuple[Bitboard, ...] = tuple(table[0] for _, _, table in DIAGONAL)
ORTHOGONAL_RAYS: tuple[Bitboard, ...] = tuple(table[0] for _, _, table in ORTHOGONAL)
#: Squares that share no line with a king: whatever stands there cannot be pinned.
OFF_LINES: tuple[Bitboard, ...] = tuple(
    ALL ^ (diagonal | orthogonal)
    for diagonal, orthogonal in zip(DIAGONAL_RAYS, ORTHOGONAL_RAYS, strict=True)
)


def _alignments() -> tuple[
    tuple[dict[Bitboard, Bitboard], ...], tuple[dict[Bitboard, Bitboard], ...]
]:
    between: list[dict[Bitboard, Bitboard]] = []
    lines: list[dict[Bitboard, Bitboard]] = []
    for square in range(64):
        between_from: dict[Bitboard, Bitboard] = {}
        line_from: dict[Bitboard, Bitboard] = {}
        for file_step, rank_step in KING_STEPS:
            arm = ray(square, file_step, rank_step)
            whole = arm + ray(square, -file_step, -rank_step) + (square,)
            line = sum(1 << s for s in whole)
            path = 0
            for s in arm:
                between_from[1 << s] = path
                line_from[1 << s] = line
                path |= 1 << s
        between.append(between_from)
        lines.append(line_from)
    return tuple(between), tuple(lines)


#: BETWEEN[square][bit]: the squares strictly between the two, for aligned squares only.
#: LINE[square][bit]: the whole line through both, edge to edge.
BETWEEN, LINE = _alignments()


def is_attacked(
    square: Square,
    occupied: Bitboard,
    by_white: bool,
    pawns: Bitboard,
    knights: Bitboard,
    diagonals: Bitboard,
    orthogonals: Bitboard,
    king: Square,
) -> bool:
    """Return whether pieces of the side `by_white` attack `square` on a board so occupied."""
    if (
        KNIGHT[square] & knights
        or (BLACK_PAWN if by_white else WHITE_PAWN)[square] & pawns
        or KING[square] >> king & 1
    ):
        return True
    if DIAGONAL_RAYS[square] & diagonals:
        mask, modulus, attacks = DIAGONAL[square]
        if attacks[(occupied & mask) % modulus] & diagonals:
            return True
    if ORTHOGONAL_RAYS[square] & orthogonals:
        mask, modulus, attacks = ORTHOGONAL[square]
        if attacks[(occupied & mask) % modulus] & orthogonals:
            return True
    return False
