"""Pawns: what their structure is worth. It changes seldom, so it is worked out once and kept."""

from __future__ import annotations

from typing import NamedTuple

from agents.classical.weights import (
    BACKWARD,
    DOUBLED,
    ISOLATED,
    PASSED,
    PAWN,
    SHIELD_FAR,
    SHIELD_NEAR,
    SHIELD_NONE,
    SUPPORTED,
    Packed,
    material_and_placement,
    pack,
)
from engine.squares import ALL, FILE_MASKS, Bitboard, Square, squares_of

#: Structures that are kept at a time.
_LIMIT = 1 << 15

_NOT_A, _NOT_H = ALL ^ FILE_MASKS[0], ALL ^ FILE_MASKS[7]
_FILES = tuple(FILE_MASKS[square & 7] for square in range(64))
_BESIDE_FILES = tuple(
    sum(FILE_MASKS[file] for file in ((s & 7) - 1, (s & 7) + 1) if 0 <= file < 8) for s in range(64)
)


def _ahead(square: Square, white: bool) -> Bitboard:
    """Return every square on the ranks before one, as a side's pawns walk."""
    rank = square >> 3
    return ALL >> 8 * (rank + 1) << 8 * (rank + 1) if white else (1 << 8 * rank) - 1


_AHEAD = {white: tuple(_ahead(square, white) for square in range(64)) for white in (False, True)}


class Pawns(NamedTuple):
    """What both sides' pawns amount to, each value White's less Black's."""

    #: Material and placement; the structure; passed pawns. And all of it together.
    placement: Packed
    structure: Packed
    passed_score: Packed
    score: Packed
    #: Which pawns are passed, what pawns attack, and on which files a side has none.
    white_passed: Bitboard
    black_passed: Bitboard
    white_attacks: Bitboard
    black_attacks: Bitboard
    white_free: Bitboard
    black_free: Bitboard


class _Structures(dict[tuple[Bitboard, Bitboard], Pawns]):
    """Entries by White's and Black's pawns, made when they are first asked for."""

    def __missing__(self, both: tuple[Bitboard, Bitboard]) -> Pawns:
        if len(self) >= _LIMIT:
            self.clear()
        entry = self[both] = _pawns(*both)
        return entry


STRUCTURES = _Structures()


def _pawns(white: Bitboard, black: Bitboard) -> Pawns:
    white_structure, white_passed, white_passed_score = _side(white, black, True)
    black_structure, black_passed, black_passed_score = _side(black, white, False)
    placement = material_and_placement(PAWN, white, True)
    placement -= material_and_placement(PAWN, black, False)
    structure = white_structure - black_structure
    passed = white_passed_score - black_passed_score
    return Pawns(
        placement,
        structure,
        passed,
        placement + structure + passed,
        white_passed,
        black_passed,
        attacks_of(white, True),
        attacks_of(black, False),
        _free_files(white),
        _free_files(black),
    )


def _side(pawns: Bitboard, theirs: Bitboard, white: bool) -> tuple[Packed, Bitboard, Packed]:
    """Return the worth of one side's structure, its passed pawns, and their worth."""
    attacks = attacks_of(pawns, white)
    their_attacks = attacks_of(theirs, not white)
    structure = passed_score = passed = 0
    for square in squares_of(pawns):
        bit = 1 << square
        ahead = _AHEAD[white][square]
        beside = _BESIDE_FILES[square]
        front = bit << 8 if white else bit >> 8
        if pawns & _FILES[square] & ahead:
            structure += DOUBLED
        elif not theirs & (_FILES[square] | beside) & ahead:
            passed |= bit
            passed_score += PASSED[square >> 3 if white else 7 - (square >> 3)]
        if not pawns & beside:
            structure += ISOLATED
        elif bit & attacks or pawns & beside & _rank(square):
            structure += SUPPORTED
        elif not pawns & beside & (ALL ^ ahead) and front & their_attacks:
            structure += BACKWARD
    return structure, passed, passed_score


def _rank(square: Square) -> Bitboard:
    return 0xFF << (square & 56)


def attacks_of(pawns: Bitboard, white: bool) -> Bitboard:
    """Return what a side's pawns attack."""
    if white:
        return (pawns & _NOT_A) << 7 | (pawns & _NOT_H) << 9
    return (pawns & _NOT_A) >> 9 | (pawns & _NOT_H) >> 7


def _free_files(pawns: Bitboard) -> Bitboard:
    return sum(mask for mask in FILE_MASKS if not pawns & mask)


# --- the shield before a king ---


def _shield_zone(king: Square, white: bool) -> Bitboard:
    """Return the six squares before a king on its two home ranks; none for one further out."""
    if (king >> 3 if white else 7 - (king >> 3)) > 1:
        return 0
    files = _FILES[king] | _BESIDE_FILES[king]
    near = king + 8 if white else king - 8
    far = near + 8 if white else near - 8
    return files & (_rank(near) | _rank(far))


class _Shields(dict[Bitboard, Packed]):
    """What the pawns before one king are worth, by where in its zone they stand."""

    def __init__(self, king: Square, white: bool) -> None:
        self.zone = _shield_zone(king, white)
        self._near = _rank(king + 8 if white else king - 8) if self.zone else 0

    def __missing__(self, pawns: Bitboard) -> Packed:
        worth = 0
        for mask in FILE_MASKS:
            if self.zone & mask:
                there = pawns & mask
                near = there & self._near
                worth += SHIELD_NEAR if near else SHIELD_FAR if there else SHIELD_NONE
        packed = self[pawns] = pack(worth, 0)
        return packed


#: By the king's square: the zone, and the worth of the pawns in it.
WHITE_SHIELDS = tuple((each.zone, each) for each in (_Shields(s, True) for s in range(64)))
BLACK_SHIELDS = tuple((each.zone, each) for each in (_Shields(s, False) for s in range(64)))
