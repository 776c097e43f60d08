"""Reading moves as people and language models write them.

A text is first taken apart without looking at the board, into one or more `Reading`s (the text
`NBD2` may be a knight or nothing, `B2B4` a bishop or a pawn). The result depends on the text alone,
so it is remembered. Then each reading is held against the position.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from engine.attacks import BLACK_PAWN, DIAGONAL, KING, KNIGHT, ORTHOGONAL, WHITE_PAWN
from engine.errors import AmbiguousMove, Illegality, IllegalMove, UnreadableMove
from engine.fen import write_fen
from engine.legality import castle_of, why_illegal, why_no_castling
from engine.movegen import is_legal, keeps_king_safe
from engine.moves import MOVES_FROM, PROMOTIONS, Move
from engine.pieces import PieceType
from engine.squares import (
    ALL,
    BACK_RANKS,
    BITS,
    FILE_MASKS,
    FILES,
    RANK_MASKS,
    RANKS,
    SQUARE_OF_NAME,
    Bitboard,
    Square,
    squares_of,
)
from engine.state import State

_RANK_4 = RANK_MASKS[3]
_RANK_5 = RANK_MASKS[4]

#: No move is longer, however it is decorated.
_LONGEST = 40
_LIMIT = 1 << 14

_FIGURINES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟–—−‐‑‒×", "KQRBNPKQRBNP------x", "\ufe0e\ufe0f")
_NUMBER = re.compile(r"\A\d{1,4}\s*(?:\.[\s.]*|…\s*)")
#: What people and models put around a move: quotes, emphasis, an end of sentence.
_WRAPPING = " \t\r\n*_`'\".,;"
_SPACED = re.compile(r"\s*([-=x:])\s*")
_SUFFIX = re.compile(r"(?:[+#!?=]|\s|e\.?\s?p\.?|†|‡|[□±∓⩲⩱∞])*\Z")
_STRICT = re.compile(r"\A([NBRQK])?([a-h])?([1-8])?(x)?([a-h][1-8])(?:=([QRBN]))?\Z")
_LENIENT = re.compile(
    r"\A([NBRQKPnrqkp])?([a-hA-H])?([1-8])?([-x:X])?([a-hA-H][1-8])(?:[=/(]?([QRBNqrbn])\)?)?\Z"
)
_CAPITAL_SQUARES = re.compile(r"\AB[1-8]-?[A-H][1-8]\Z")
_CASTLING = re.compile(r"\A[0Oo]-?[0Oo](-?[0Oo])?\Z")

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING, _CASTLE = range(7)
_KINDS = {"P": _PAWN, "N": _KNIGHT, "B": _BISHOP, "R": _ROOK, "Q": _QUEEN, "K": _KING}
#: A reading that names both squares and no piece: whatever stands there moves.
_ANY = 7


#: What a text says: the kind of piece, where it may come from, where it goes, what it becomes, and
#: whether it takes. For castling, the target tells the side: the g-file or the c-file.
#: (A plain tuple: Python takes those apart much faster than named ones.)
Reading: TypeAlias = tuple[int, Bitboard, Square, PieceType | None, bool]

#: Texts that were taken apart before.
KNOWN_READINGS: dict[str, tuple[Reading, ...]] = {}


def parse_move(state: State, text: str, default_promotion: PieceType | None = None) -> Move:
    """Return the legal move a text means.

    Raises `UnreadableMove`, `AmbiguousMove` or `IllegalMove`. A pawn that must promote with no
    piece named is illegal unless `default_promotion` names one.
    """
    try:
        readings = KNOWN_READINGS.get(text) or readings_of(text)
    except TypeError:
        raise UnreadableMove(repr(text)) from None
    return find_move(state, text, readings, default_promotion)


def find_move(
    state: State,
    text: str,
    readings: tuple[Reading, ...],
    default_promotion: PieceType | None = None,
) -> Move:
    """Return the legal move that one of the readings of a text means, or raise as `parse_move`."""
    kind, origins, target, promotion, captures = readings[0]
    to = BITS[target]
    # The short way, spelled out for speed: one piece can go there, and its king stays safe.
    # Whatever it does not settle goes the slow way, which asks the functions below.
    if kind == _PAWN:
        pawns = state[0] & origins
        if promotion is not None or to & BACK_RANKS or to == state[13]:
            candidates = 0
        elif state[11] & to:
            candidates = (BLACK_PAWN if state[14] else WHITE_PAWN)[target] & pawns
        elif captures:
            candidates = 0
        elif state[14]:
            candidates = to >> 8 & pawns
            if not candidates and to & _RANK_4 and not (state[5] | state[11]) & to >> 8:
                candidates = to >> 16 & pawns
        else:
            candidates = to << 8 & pawns
            if not candidates and to & _RANK_5 and not (state[5] | state[11]) & to << 8:
                candidates = to << 16 & pawns
    elif kind == _KNIGHT:
        candidates = KNIGHT[target] & state[1] & origins
    elif kind == _BISHOP:
        mask, modulus, attacks = DIAGONAL[target]
        candidates = attacks[((state[5] | state[11]) & mask) % modulus] & state[2] & origins
        candidates ^= candidates & state[3]
    elif kind == _ROOK:
        mask, modulus, attacks = ORTHOGONAL[target]
        candidates = attacks[((state[5] | state[11]) & mask) % modulus] & state[3] & origins
        candidates ^= candidates & state[2]
    elif kind == _QUEEN:
        candidates = _sliders(state, kind, target) & origins
    else:
        candidates = 0
        if kind == _KING:
            move = MOVES_FROM[state[4]][target]
            if KING[target] & move.from_bit & origins and is_legal(state, move):
                return move
    if (
        candidates
        and not candidates & candidates - 1
        and not state[5] & to
        and keeps_king_safe(state, candidates, to)
    ):
        return MOVES_FROM[candidates.bit_length() - 1][target]
    return _parse_slowly(state, text, readings, default_promotion)


def _sliders(state: State, kind: int, target: Square) -> Bitboard:
    """Return the bishops, rooks or queens of the side to move that see a square."""
    diagonals, orthogonals, occupied = state[2], state[3], state[5] | state[11]
    if kind == _ROOK:
        mask, modulus, attacks = ORTHOGONAL[target]
        return attacks[(occupied & mask) % modulus] & (orthogonals ^ diagonals & orthogonals)
    mask, modulus, attacks = DIAGONAL[target]
    reaching = attacks[(occupied & mask) % modulus]
    if kind == _BISHOP:
        return reaching & (diagonals ^ diagonals & orthogonals)
    mask, modulus, attacks = ORTHOGONAL[target]
    return (reaching | attacks[(occupied & mask) % modulus]) & diagonals & orthogonals


def _pawns(state: State, reading: Reading) -> Bitboard:
    """Return the pawns of the side to move that could go to a square, legally or nearly so."""
    _, origins, square, _, captures = reading
    pawns, white = state[0] & origins, state[14]
    target = 1 << square
    takers = (BLACK_PAWN if white else WHITE_PAWN)[square] & pawns
    if takers and (state[11] & target or state[13] == target):
        return takers
    if captures:
        return 0
    occupied = state[5] | state[11]
    one_back = target >> 8 if white else target << 8
    if one_back & pawns:
        return one_back
    if target & RANK_MASKS[3 if white else 4] and not occupied & one_back:
        return (one_back >> 8 if white else one_back << 8) & pawns
    return 0


def _parse_slowly(
    state: State,
    text: str,
    readings: tuple[Reading, ...],
    default_promotion: PieceType | None,
) -> Move:
    """Hold every reading against the position; explain the first if none is legal."""
    for reading in readings:
        moves = _legal_moves_of(state, reading, default_promotion)
        if len(moves) == 1:
            return moves[0]
        if moves:
            raise AmbiguousMove(text, write_fen(state), tuple(moves))
    raise IllegalMove(text, write_fen(state), _why(state, readings[0], default_promotion))


def _legal_moves_of(
    state: State, reading: Reading, default_promotion: PieceType | None
) -> list[Move]:
    kind, origins, target, promotion, captures = reading
    if kind == _CASTLE:
        way = castle_of(state, king_side=target == 6)
        return [way.move] if way is not None and is_legal(state, way.move) else []
    moves = []
    for origin in squares_of(_origins(state, reading)):
        piece = promotion
        if piece is None and state[0] >> origin & 1 and 1 << target & BACK_RANKS:
            piece = default_promotion
        move = Move(origin, target, piece)
        if is_legal(state, move):
            moves.append(move)
        elif origin == state[4] and kind in (_ANY, _KING) and not captures:
            moves += _castling_by_king_move(state, move, both_squares=origins != ALL)
    return moves


def _castling_by_king_move(state: State, move: Move, both_squares: bool) -> list[Move]:
    """Return castling where it is written otherwise: `e1h1` for `e1g1` or back, or `Kg1`."""
    for king_side in (True, False):
        way = castle_of(state, king_side)
        if way is None or move.promotion is not None or not is_legal(state, way.move):
            continue
        rook = (way.leaving ^ 1 << state[4]).bit_length() - 1
        far = abs(way.king_to - state[4]) > 1
        onto_rook = move.to_square == rook and both_squares
        if onto_rook or (move.to_square == way.king_to and far):
            return [way.move]
    return []


def _origins(state: State, reading: Reading) -> Bitboard:
    """Return where the piece of a reading may start, legally or not quite."""
    kind, origins, target, _, _ = reading
    if kind == _ANY:
        return origins
    if kind == _PAWN:
        return _pawns(state, reading)
    if kind == _KNIGHT:
        return KNIGHT[target] & state[1] & origins
    if kind == _KING:
        return 1 << state[4] & origins  # it may be castling, wherever it goes
    return _sliders(state, kind, target) & origins


def _why(state: State, reading: Reading, default_promotion: PieceType | None) -> Illegality:
    """Return why a reading is illegal: of its likeliest piece, if there is one."""
    kind, origins, target, promotion, captures = reading
    if kind == _CASTLE:
        return why_no_castling(state, king_side=target == 6)
    found = squares_of(_origins(state, reading))
    if not found and kind == _PAWN and captures:
        takers = (BLACK_PAWN if state[14] else WHITE_PAWN)[target] & state[0] & origins
        if not takers:
            return Illegality.NO_SUCH_PIECE
        found = squares_of(takers)
    if not found:
        found = squares_of(_pieces_of(state, kind) & origins)
        if len(found) != 1:
            return Illegality.NO_SUCH_PIECE
    if promotion is None and state[0] >> found[0] & 1 and 1 << target & BACK_RANKS:
        promotion = default_promotion
    return why_illegal(state, Move(found[0], target, promotion))


def _pieces_of(state: State, kind: int) -> Bitboard:
    pawns, knights, diagonals, orthogonals, king = state[:5]
    queens = diagonals & orthogonals
    return (pawns, knights, diagonals ^ queens, orthogonals ^ queens, queens, 1 << king)[kind]


def undecorated(text: str) -> str:
    """Return a move without numbers, marks, quotes and figurines, whatever the variant.

    Raises `UnreadableMove` for what is no text, or too long to be a move.
    """
    if not isinstance(text, str):
        raise UnreadableMove(repr(text))
    if len(text) > _LONGEST:
        raise UnreadableMove(text)
    plain = text.translate(_FIGURINES).strip(_WRAPPING)
    plain = _NUMBER.sub("", plain).lstrip(_WRAPPING)
    plain = _SUFFIX.sub("", plain)
    return _SPACED.sub(r"\1", plain)


def readings_of(text: str) -> tuple[Reading, ...]:
    """Take a text apart, whatever the position; raise `UnreadableMove` if it is no move."""
    plain = undecorated(text)
    readings = tuple(dict.fromkeys(_take_apart(plain)))
    if not readings:
        raise UnreadableMove(text)
    if len(KNOWN_READINGS) >= _LIMIT:
        KNOWN_READINGS.clear()
    KNOWN_READINGS[text] = readings
    return readings


def _take_apart(plain: str) -> list[Reading]:
    if castling := _CASTLING.match(plain):
        return [(_CASTLE, ALL, 2 if castling[1] else 6, None, False)]
    readings = []
    if strict := _STRICT.match(plain):
        readings += _reading(*strict.groups())
    if lenient := _LENIENT.match(plain):
        readings += _reading(*lenient.groups())
    if _CAPITAL_SQUARES.match(plain) and (squares := _LENIENT.match(plain.lower())):
        readings += _reading(*squares.groups())  # `B2B4`: a bishop first, else two squares
    return readings


def _reading(
    letter: str | None,
    file: str | None,
    rank: str | None,
    joint: str | None,
    target_name: str,
    promoted: str | None,
) -> list[Reading]:
    target = SQUARE_OF_NAME[target_name.lower()]
    promotion = PROMOTIONS[promoted.lower()] if promoted else None
    captures = joint is not None and joint != "-"
    origins = ALL
    if file:
        origins &= FILE_MASKS[FILES.index(file.lower())]
    if rank:
        origins &= RANK_MASKS[RANKS.index(rank)]
    if letter:
        kind = _KINDS[letter.upper()]
        if promotion is not None and kind != _PAWN:
            return []
    elif file and rank:
        kind = _ANY
    elif rank or (joint == "-" and not file):
        return []  # `4e5` and `-e4` are no moves
    else:
        kind = _PAWN
        if not file and not captures:
            origins = FILE_MASKS[target % 8]
        elif file and file.lower() != target_name[0].lower():
            captures = True  # `dc4` takes
    return [(kind, origins, target, promotion, captures)]
