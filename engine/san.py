"""Writing moves for people: SAN (`Nbxd2+`) and long algebraic (`Nb1xd2+`)."""

from __future__ import annotations

from engine.attacks import (
    BLACK_PAWN,
    DIAGONAL,
    KING,
    KNIGHT,
    OFF_LINES,
    ORTHOGONAL,
    WHITE_PAWN,
)
from engine.movegen import can_move, is_legal
from engine.moves import MOVES_FROM, Move
from engine.squares import (
    FILE_MASKS,
    FILES,
    RANK_MASKS,
    RANKS,
    SQUARE_NAMES,
    Bitboard,
    Square,
    squares_of,
)
from engine.state import State, is_check, make


def write_san(state: State, move: Move) -> str:
    """Return a legal move in SAN, with the least disambiguation."""
    origin = move.from_bit
    square = move.to_square
    if state[0] & origin:
        text = _pawn_san(move)
    elif state[4] == move.from_square:
        text = _king_san(state, move)
    else:
        if state[1] & origin:
            text = "N"
            rivals = KNIGHT[square] & state[1]
        else:
            diagonals, orthogonals, occupied = state[2], state[3], state[5] | state[11]
            queens = diagonals & orthogonals
            if queens & origin:
                text = "Q"
                rivals = queens
                if rivals != origin:
                    rivals &= _diagonally(square, occupied) | _orthogonally(square, occupied)
            elif diagonals & origin:
                text = "B"
                rivals = diagonals ^ queens
                if rivals != origin:
                    rivals &= _diagonally(square, occupied)
            else:
                text = "R"
                rivals = orthogonals ^ queens
                if rivals != origin:
                    rivals &= _orthogonally(square, occupied)
        if rivals != origin:
            text += _disambiguation(state, move, rivals ^ origin)
        if state[11] & move.to_bit:
            text += "x"
        text += SQUARE_NAMES[square]
    return text + _check_mark(state, move) if _may_check(state, move) else text


def _diagonally(square: Square, occupied: Bitboard) -> Bitboard:
    mask, modulus, attacks = DIAGONAL[square]
    return attacks[(occupied & mask) % modulus]


def _orthogonally(square: Square, occupied: Bitboard) -> Bitboard:
    mask, modulus, attacks = ORTHOGONAL[square]
    return attacks[(occupied & mask) % modulus]


def write_long_algebraic(state: State, move: Move) -> str:
    """Return a legal move in long algebraic notation: `e2-e4`, `Ng1xf3`, `e7-e8=Q+`."""
    origin = move.from_bit
    if state[4] == move.from_square:
        text = _king_san(state, move)
        if not text.startswith("O"):
            text = "K" + _from_to(state, move)
    else:
        letter = ""
        if state[1] & origin:
            letter = "N"
        elif state[2] & origin:
            letter = "Q" if state[3] & origin else "B"
        elif state[3] & origin:
            letter = "R"
        text = letter + _from_to(state, move)
        if move.promotion is not None:
            text += "=" + move.promotion.letter
    return text + _check_mark(state, move)


def _from_to(state: State, move: Move) -> str:
    is_pawn_capture = state[0] & move.from_bit and (move.from_square - move.to_square) % 8
    joint = "x" if state[11] & move.to_bit or is_pawn_capture else "-"
    return SQUARE_NAMES[move.from_square] + joint + SQUARE_NAMES[move.to_square]


def _pawn_san(move: Move) -> str:
    text = SQUARE_NAMES[move.to_square]
    if (move.from_square - move.to_square) % 8:
        text = f"{FILES[move.from_square % 8]}x{text}"
    if move.promotion is not None:
        text += "=" + move.promotion.letter
    return text


def _king_san(state: State, move: Move) -> str:
    if state[5] & move.to_bit or not KING[move.from_square] & move.to_bit:
        return "O-O" if move.to_square > move.from_square else "O-O-O"
    joint = "x" if state[11] & move.to_bit else ""
    return f"K{joint}{SQUARE_NAMES[move.to_square]}"


def _disambiguation(state: State, move: Move, rivals: Bitboard) -> str:
    """Return the file, rank or square that tells a piece from others of its kind, if needed."""
    others = 0
    for square in squares_of(rivals):
        if is_legal(state, MOVES_FROM[square][move.to_square]):
            others |= 1 << square
    if not others:
        return ""
    file, rank = move.from_square % 8, move.from_square // 8
    if not others & FILE_MASKS[file]:
        return FILES[file]
    if not others & RANK_MASKS[rank]:
        return RANKS[rank]
    return SQUARE_NAMES[move.from_square]


def _may_check(state: State, move: Move) -> bool:
    """Return False where a move cannot give check, which is cheap to see for most."""
    king = state[10]
    origin = move.from_bit
    if not OFF_LINES[king] & origin:
        return True  # it may uncover a check
    if state[0] & origin:
        if move.promotion is not None or move.to_bit == state[13]:
            return True
        return bool((BLACK_PAWN if state[14] else WHITE_PAWN)[king] & move.to_bit)
    if state[1] & origin:
        return bool(KNIGHT[king] & move.to_bit)
    if state[4] == move.from_square:
        return not KING[move.from_square] & move.to_bit or bool(state[5] & move.to_bit)
    return not OFF_LINES[king] & move.to_bit


def _check_mark(state: State, move: Move) -> str:
    after = make(state, move)
    if not is_check(after):
        return ""
    return "+" if can_move(after, in_check=True) else "#"
