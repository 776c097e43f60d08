"""Setup: whatever a FEN can say, and the rules that make it a legal state."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from engine.attacks import BESIDE, is_attacked
from engine.errors import IllegalPosition, PositionRule
from engine.pieces import Color, PieceType
from engine.squares import BACK_RANKS, RANK_MASKS, SQUARE_OF_NAME, Bitboard, Square, squares_of
from engine.state import (
    CHESS960,
    CHESS960_SHREDDER,
    CLOCK_BITS,
    State,
    checkers_of,
    is_check,
    with_usable_en_passant,
)


class Setup(NamedTuple):
    """Pieces on a board and the rest of a FEN, perhaps breaking every rule of chess.

    The six bitboards hold both colours; `diagonals` are bishops and queens, `orthogonals` rooks
    and queens, `white` all white pieces.
    """

    pawns: Bitboard
    knights: Bitboard
    diagonals: Bitboard
    orthogonals: Bitboard
    kings: Bitboard
    white: Bitboard
    turn: Color
    castling: str
    en_passant: str
    halfmove_clock: int
    fullmove_number: int
    fen: str

    def piece_at(self, square: Square) -> tuple[Color, PieceType] | None:
        """Return the colour and kind of the piece on a square, or None."""
        kind = piece_type(
            self.pawns, self.knights, self.diagonals, self.orthogonals, self.kings, square
        )
        if kind is None:
            return None
        return (Color.WHITE if self.white >> square & 1 else Color.BLACK), kind


#: A `Setup` is such a tuple, and may stand for one.
SetupFields: TypeAlias = tuple[
    Bitboard, Bitboard, Bitboard, Bitboard, Bitboard, Bitboard, Color, str, str, int, int, str
]


def legal_state(setup: SetupFields, chess960: bool) -> State:
    """Return the state that a setup describes, or raise `IllegalPosition`."""
    (
        pawns, knights, diagonals, orthogonals, kings, white,
        turn, castling, en_passant, clock, number, fen,
    ) = setup  # fmt: skip
    occupied = pawns | knights | diagonals | orthogonals | kings
    black = occupied ^ white
    white_king = kings & white
    black_king = kings ^ white_king
    if (
        not white_king
        or not black_king
        or white_king & white_king - 1
        or black_king & black_king - 1
    ):
        raise IllegalPosition(fen, PositionRule.ONE_KING_EACH)
    if pawns & BACK_RANKS:
        raise IllegalPosition(fen, PositionRule.NO_PAWNS_ON_BACK_RANKS)
    white_pawns, white_knights = pawns & white, knights & white
    white_diagonals, white_orthogonals = diagonals & white, orthogonals & white
    black_pawns, black_knights = pawns ^ white_pawns, knights ^ white_knights
    black_diagonals = diagonals ^ white_diagonals
    black_orthogonals = orthogonals ^ white_orthogonals
    white_king, black_king = white_king.bit_length() - 1, black_king.bit_length() - 1
    rights = 0
    if castling != "-":
        rights = _usual_rights(castling, kings, white, orthogonals, diagonals) or _rights(
            castling,
            (white_orthogonals, white_diagonals, white_king),
            (black_orthogonals, black_diagonals, black_king),
            fen,
        )
    notation = 0
    if chess960:
        notation = CHESS960_SHREDDER if _XFEN_LETTERS.isdisjoint(castling) else CHESS960
    if turn is Color.WHITE:
        capturable = is_attacked(
            black_king, occupied, True,
            white_pawns, white_knights, white_diagonals, white_orthogonals, white_king,
        )  # fmt: skip
        passed = _passed(en_passant, turn, occupied, black_pawns, fen) if en_passant != "-" else 0
        state = (
            white_pawns, white_knights, white_diagonals, white_orthogonals, white_king, white,
            black_pawns, black_knights, black_diagonals, black_orthogonals, black_king, black,
            rights, 0, True, notation, (2 * number - 2 << CLOCK_BITS) + clock, passed,
        )  # fmt: skip
    else:
        capturable = is_attacked(
            white_king, occupied, False,
            black_pawns, black_knights, black_diagonals, black_orthogonals, black_king,
        )  # fmt: skip
        passed = _passed(en_passant, turn, occupied, white_pawns, fen) if en_passant != "-" else 0
        state = (
            black_pawns, black_knights, black_diagonals, black_orthogonals, black_king, black,
            white_pawns, white_knights, white_diagonals, white_orthogonals, white_king, white,
            rights, 0, False, notation, (2 * number - 1 << CLOCK_BITS) + clock, passed,
        )  # fmt: skip
    if capturable:
        raise IllegalPosition(fen, PositionRule.KING_NOT_CAPTURABLE)
    if is_check(state) and not _can_arise(checkers_of(state), diagonals | orthogonals):
        raise IllegalPosition(fen, PositionRule.CHECKERS)
    if passed and BESIDE[_pushed_to(passed)] & state[0]:
        return with_usable_en_passant(state, passed)
    return state


def _can_arise(checkers: Bitboard, sliders: Bitboard) -> bool:
    """Return whether one move can have given check from all these pieces.

    A move attacks with the piece it moves and uncovers at most one more, which slides. Two sliders
    on one line cannot arise by play, but well-known test positions have them: they are let in.
    """
    count = checkers.bit_count()
    return count == 1 or (count == 2 and bool(checkers & sliders))


# --- castling rights ---

#: Of a side: rooks and queens, bishops and queens, king.
_Side: TypeAlias = tuple[Bitboard, Bitboard, Square]

_XFEN_LETTERS = frozenset("KQkq-")
_CORNERS = {"K": 1 << 7, "Q": 1, "k": 1 << 63, "q": 1 << 56}
#: By the castling field: the rooks in their corners, the kings on the e-file, and all white ones.
_usual: dict[str, tuple[Bitboard, Bitboard, Bitboard]] = {}
for _named in range(1, 16):
    _letters = "".join(letter for i, letter in enumerate("KQkq") if _named >> i & 1)
    _rooks = sum(_CORNERS[letter] for letter in _letters)
    _kings = (1 << 4 if _named & 3 else 0) | (1 << 60 if _named & 12 else 0)
    _usual[_letters] = (_rooks, _kings, (_rooks | _kings) & RANK_MASKS[0])


def _usual_rights(
    castling: str, kings: Bitboard, white: Bitboard, orthogonals: Bitboard, diagonals: Bitboard
) -> Bitboard:
    """Return the rooks of a castling field if all pieces stand where they usually do, else 0."""
    usual = _usual.get(castling)
    if usual is None:
        return 0
    rooks, needed_kings, needed_white = usual
    if (
        needed_kings & kings == needed_kings
        and rooks & orthogonals == rooks
        and not rooks & diagonals
        and (rooks | needed_kings) & white == needed_white
    ):
        return rooks
    return 0


def _rights(castling: str, white_side: _Side, black_side: _Side, fen: str) -> Bitboard:
    """Return the rooks that a castling field names, in X-FEN or Shredder-FEN."""
    rights = 0
    for letter in castling:
        rook = _named_rook(letter, *(white_side if letter.isupper() else black_side))
        if not rook or rights & rook:
            raise IllegalPosition(fen, PositionRule.CASTLING_RIGHTS)
        rights |= rook
    for king, back_rank in ((white_side[2], RANK_MASKS[0]), (black_side[2], RANK_MASKS[7])):
        below = rights & back_rank & (1 << king) - 1
        above = rights & back_rank ^ below
        if below & below - 1 or above & above - 1:  # two rooks on the same side
            raise IllegalPosition(fen, PositionRule.CASTLING_RIGHTS)
    return rights


def _named_rook(letter: str, orthogonals: Bitboard, diagonals: Bitboard, king: Square) -> Bitboard:
    """Return the rook that a letter names (outermost, or on a file), or 0."""
    first = 0 if letter.isupper() else 56
    if not first <= king < first + 8:
        return 0
    rooks = squares_of(orthogonals & ~diagonals & 0xFF << first)
    match letter.lower():
        case "k":
            found = [rook for rook in rooks if rook > king][:1]
        case "q":
            found = [rook for rook in rooks if rook < king][-1:]
        case file:
            found = [rook for rook in rooks if rook == first + ord(file) - ord("a")]
    return 1 << found[0] if found else 0


# --- en passant ---


def _passed(
    name: str, turn: Color, occupied: Bitboard, their_pawns: Bitboard, fen: str
) -> Bitboard:
    """Return the en passant square as a set, if a double step can have passed it."""
    square = SQUARE_OF_NAME[name]
    forward = 8 if turn is Color.BLACK else -8  # the way the pawn went
    rank = 2 if forward > 0 else 5
    if (
        square // 8 != rank
        or not their_pawns & 1 << square + forward
        or occupied & (1 << square | 1 << square - forward)
    ):
        raise IllegalPosition(fen, PositionRule.EN_PASSANT)
    return 1 << square


def _pushed_to(passed: Bitboard) -> Square:
    """Return where the pawn stands that passed a square by its double step."""
    square = passed.bit_length() - 1
    return square + 8 if square < 32 else square - 8


def piece_type(
    pawns: Bitboard,
    knights: Bitboard,
    diagonals: Bitboard,
    orthogonals: Bitboard,
    kings: Bitboard,
    square: Square,
) -> PieceType | None:
    """Return the kind of the piece on a square, or None."""
    bit = 1 << square
    if pawns & bit:
        return PieceType.PAWN
    if knights & bit:
        return PieceType.KNIGHT
    if kings & bit:
        return PieceType.KING
    if diagonals & bit:
        return PieceType.QUEEN if orthogonals & bit else PieceType.BISHOP
    return PieceType.ROOK if orthogonals & bit else None
