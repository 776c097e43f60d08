"""FEN: reading, leniently, and writing.

Ranks are translated whole, by memory, and few ranks are ever new. Reading, the text of a rank
becomes one number that holds its part of all six bitboards of a `Setup`, 64 bits for each; eight of
them joined are the board. Writing, the six bytes of a rank become its text.
"""

from __future__ import annotations

from struct import Struct

from engine.errors import InvalidFen, shown
from engine.pieces import Color
from engine.setup import Setup, SetupFields
from engine.squares import FILES, RANK_MASKS, SQUARE_NAMES, SQUARE_OF_NAME, Bitboard, squares_of
from engine.state import CHESS960_SHREDDER, CLOCK, CLOCK_BITS, State

_LIMIT = 1 << 13
_SIX_BITBOARDS = Struct("<6Q")
#: Where a piece on the a-file goes in six bitboards of 64 bits each: pawns, knights, diagonals, ...
_BITS_OF = {
    letter: sum(1 << 64 * index for index in sets)
    for letter, sets in {
        "p": (0,), "n": (1,), "b": (2,), "r": (3,), "q": (2, 3), "k": (4,),
        "P": (0, 5), "N": (1, 5), "B": (2, 5), "R": (3, 5), "Q": (2, 3, 5), "K": (4, 5),
    }.items()
}  # fmt: skip

#: What each rank's text stands for, in its place on the board; the eighth rank first.
_RANKS: tuple[dict[str, int], ...] = tuple({} for _ in range(8))
_8, _7, _6, _5, _4, _3, _2, _1 = _RANKS
_rank_texts: dict[bytes, str] = {bytes(6): "8"}
_TURNS = {"w": Color.WHITE, "b": Color.BLACK}
_CASTLING_LETTERS = frozenset("KQkqABCDEFGHabcdefgh")
_good_castling = {"-"}
_counts = {str(count): count for count in range(300)}
_USUAL_RIGHTS = {1 << 7: "K", 1 << 0: "Q", 1 << 63: "k", 1 << 56: "q"}
_castling_texts: dict[Bitboard, str] = {}
for _chosen in range(16):
    _named = [pair for i, pair in enumerate(_USUAL_RIGHTS.items()) if _chosen >> i & 1]
    _castling_texts[sum(bit for bit, _ in _named)] = "".join(text for _, text in _named) or "-"


def read_fen(fen: str) -> Setup:
    """Read a FEN or the four fields of an EPD; fields missing at the end get their usual value.

    Raises `InvalidFen` when the text is not a FEN. The setup may still be an illegal position.
    """
    return Setup._make(read_fields(fen))


def read_fields(fen: str) -> SetupFields:
    """Read a FEN into the fields of a `Setup`, without making one."""
    try:
        fields = fen.split()
        if len(fields) != 6:
            fields = _complete(fields, fen)
        placement, turn, castling, en_passant, halfmove_clock, fullmove_number = fields
        ranks = placement.split("/")
    except (AttributeError, TypeError):
        raise InvalidFen(repr(fen), "it is not text") from None
    if len(ranks) != 8:
        raise InvalidFen(fen, f"the board has {len(ranks)} ranks instead of 8")
    a, b, c, d, e, f, g, h = ranks
    try:
        board = _8[a] | _7[b] | _6[c] | _5[d] | _4[e] | _3[f] | _2[g] | _1[h]
    except KeyError:
        board = _read_ranks(ranks, fen)
    color = _TURNS.get(turn)
    if color is None:
        raise InvalidFen(fen, "the side to move is neither w nor b")
    if castling not in _good_castling:
        _check_castling(castling, fen)
    if en_passant != "-" and en_passant not in SQUARE_OF_NAME:
        raise InvalidFen(fen, "the en passant field is no square")
    clock = _counts.get(halfmove_clock)
    if clock is None:
        clock = _read_count(halfmove_clock, fen, "the half-move clock", 4)
    number = _counts.get(fullmove_number)
    if number is None:
        number = _read_count(fullmove_number, fen, "the move number", 5)
    pawns, knights, diagonals, orthogonals, kings, white = _SIX_BITBOARDS.unpack(
        board.to_bytes(48, "little")
    )
    return (
        pawns, knights, diagonals, orthogonals, kings, white,
        color, castling, en_passant, clock, number, fen,
    )  # fmt: skip


def _complete(fields: list[str], fen: str) -> list[str]:
    """Add what an EPD or a mere board leaves out."""
    if not fields:
        raise InvalidFen(fen, "it is empty")
    if len(fields) > 6 and fields[0].count("/") == 7:
        raise InvalidFen(fen, "it has more than six fields")
    return fields[:6] + ["", "w", "-", "-", "0", "1"][len(fields) :]


def _check_castling(castling: str, fen: str) -> None:
    if not _CASTLING_LETTERS.issuperset(castling):
        raise InvalidFen(fen, "the castling field names no rooks")
    if len(castling) > len(set(castling)) or len(castling) > 4:
        raise InvalidFen(fen, "the castling field names a rook twice")
    if len(_good_castling) < _LIMIT:
        _good_castling.add(castling)


def _read_count(text: str, fen: str, what: str, digits: int) -> int:
    if len(text) > digits or not (text.isascii() and text.isdigit()):
        raise InvalidFen(fen, f"{what} is not a number from 0 to {'9' * digits}")
    return int(text)


def _read_ranks(ranks: list[str], fen: str) -> int:
    """Read and remember the ranks of a board, the eighth first."""
    board = 0
    for table, text, shift in zip(_RANKS, ranks, (56, 48, 40, 32, 24, 16, 8, 0), strict=True):
        part = table.get(text)
        if part is None:
            if len(table) >= _LIMIT:
                table.clear()
            part = table[text] = _read_rank(text, fen) << shift
        board |= part
    return board


def _read_rank(text: str, fen: str) -> int:
    sets = 0
    file = 0
    after_digit = False
    for letter in text:
        if letter in "12345678":
            if after_digit:
                raise InvalidFen(fen, f"rank {shown(text, 20)} has two digits in a row")
            file += int(letter)
            after_digit = True
        else:
            bits = _BITS_OF.get(letter)
            if bits is None:
                raise InvalidFen(fen, f"{shown(letter)} is no piece")
            sets |= bits << file
            file += 1
            after_digit = False
        if file > 8:
            break
    if file != 8:
        raise InvalidFen(fen, f"rank {shown(text, 20)} is not eight squares long")
    return sets


def _write_rank(packed: bytes) -> str:
    text = ""
    empty = 0
    pawns, knights, diagonals, orthogonals, kings, white = packed
    for file in range(8):
        bit = 1 << file
        if pawns & bit:
            letter = "p"
        elif knights & bit:
            letter = "n"
        elif diagonals & bit:
            letter = "q" if orthogonals & bit else "b"
        elif orthogonals & bit:
            letter = "r"
        elif kings & bit:
            letter = "k"
        else:
            empty += 1
            continue
        if empty:
            text += str(empty)
            empty = 0
        text += letter.upper() if white & bit else letter
    if empty:
        text += str(empty)
    if len(_rank_texts) >= _LIMIT:
        _rank_texts.clear()
    _rank_texts[packed] = text
    return text


def write_placement(state: State) -> str:
    """Return the first field of a FEN."""
    (
        pawns, knights, diagonals, orthogonals, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs,
        _, _, white, _, _, _,
    ) = state  # fmt: skip
    packed = _SIX_BITBOARDS.pack(
        pawns | their_pawns,
        knights | their_knights,
        diagonals | their_diagonals,
        orthogonals | their_orthogonals,
        1 << king | 1 << their_king,
        own if white else theirs,
    )
    ranks = [packed[rank::8] for rank in (7, 6, 5, 4, 3, 2, 1, 0)]
    return "/".join([_rank_texts.get(rank) or _write_rank(rank) for rank in ranks])


def write_fen(state: State, legal_en_passant: bool = False) -> str:
    """Return the six fields of a FEN.

    The en passant square follows every double step, as the standard says; with
    `legal_en_passant` it is written only where the capture is legal.
    """
    en_passant = state[13] if legal_en_passant else state[17]
    counters = state[16]
    return (
        f"{write_placement(state)} {'w' if state[14] else 'b'} {write_castling(state)} "
        f"{SQUARE_NAMES[en_passant.bit_length() - 1] if en_passant else '-'} "
        f"{counters & CLOCK} {(counters >> CLOCK_BITS) // 2 + 1}"
    )


def write_castling(state: State) -> str:
    """Return the castling field: `KQkq`, with a file where X-FEN needs one, or Shredder-FEN."""
    rights = state[12]
    shredder = state[15] == CHESS960_SHREDDER
    if not shredder:
        usual = _castling_texts.get(rights)
        if usual is not None:
            return usual
    text = ""
    white, black = (state[:6], state[6:12]) if state[14] else (state[6:12], state[:6])
    for side, back_rank in ((white, RANK_MASKS[0]), (black, RANK_MASKS[7])):
        king = side[4]
        rooks = squares_of(side[3] & ~side[2] & back_rank)
        letters = ""
        for rook in squares_of(rights & back_rank):
            outermost = rooks[0] if rook > king else rooks[-1]
            if shredder or rook != outermost:
                letters += FILES[rook % 8]
            else:
                letters += "k" if rook > king else "q"
        text += letters.upper() if side is white else letters
    return text or "-"
