"""Ready-made lists of moves, looked up by where a piece may go.

Where a piece may go is one bitboard; the list of moves it stands for is always the same, so it is
built once and then found in a dictionary. Generating costs per piece, not per move. A missing list
is joined from smaller ones (one line of a slider, one half of the pawns). There are so few of those
that they are soon all there: a position never seen before is cheap too.

Callers write `table.get(key) or add_...(table, ..., key)`. Every table is bounded: a full one is
emptied and fills again. The lists are shared: read them, never change them.
"""

from __future__ import annotations

from typing import TypeAlias

from engine.attacks import (
    BLACK_PAWN,
    DIAGONAL,
    DIAGONAL_RAYS,
    KNIGHT,
    ORTHOGONAL,
    ORTHOGONAL_RAYS,
    WHITE_PAWN,
)
from engine.moves import MOVES_FROM, Move
from engine.pieces import PieceType
from engine.squares import ALL, FILE_MASKS, RANK_MASKS, Bitboard, Square, squares_of

#: Entries one table may hold. A square sees a few hundred of them in real games.
LIMIT = 1 << 12
#: Lists that one set of pawns may hold.
PAWN_LIMIT = 1 << 8

_RANK_3, _RANK_6 = RANK_MASKS[2], RANK_MASKS[5]
_NOT_FILE_A = ALL ^ FILE_MASKS[0]
_NOT_FILE_H = ALL ^ FILE_MASKS[7]
_FILES_A_TO_D = sum(FILE_MASKS[:4])
_FILES_E_TO_H = sum(FILE_MASKS[4:])

PROMOTION_ORDER = (PieceType.QUEEN, PieceType.ROOK, PieceType.BISHOP, PieceType.KNIGHT)

#: Moves by the set of squares they go to.
MoveLists: TypeAlias = dict[Bitboard, tuple[Move, ...]]

# --- kings and knights ---------------------------------------------------------------------------

#: What a knight attacks, its lists of moves, and its square.
KnightMoves: TypeAlias = tuple[Bitboard, MoveLists, Square]

KING_MOVES: tuple[MoveLists, ...] = tuple({} for _ in range(64))
KNIGHT_MOVES: tuple[KnightMoves, ...] = tuple((KNIGHT[s], {}, s) for s in range(64))


def add_moves(lists: MoveLists, origin: Square, targets: Bitboard) -> tuple[Move, ...]:
    """Build, keep and return the moves from one square to a set of squares."""
    if len(lists) >= LIMIT:
        lists.clear()
    moves = lists[targets] = tuple(map(MOVES_FROM[origin].__getitem__, squares_of(targets)))
    return moves


# --- sliders -------------------------------------------------------------------------------------

#: A slider's mask, modulus and attacks (see `engine.attacks`), its lists of moves, and its square.
SliderMoves: TypeAlias = tuple[Bitboard, int, list[Bitboard], MoveLists, Square]

DIAGONAL_MOVES: tuple[SliderMoves, ...] = tuple((*DIAGONAL[s], {}, s) for s in range(64))
ORTHOGONAL_MOVES: tuple[SliderMoves, ...] = tuple((*ORTHOGONAL[s], {}, s) for s in range(64))

#: One of the two lines of a slider on each square (the other is what remains of its reach) ...
DIAGONAL_LINE = tuple(
    sum(1 << t for t in range(64) if t // 8 - t % 8 == s // 8 - s % 8) for s in range(64)
)
RANK_LINE = tuple(RANK_MASKS[s // 8] for s in range(64))
#: ... and the moves along single lines.
_LINE_MOVES: tuple[MoveLists, ...] = tuple({} for _ in range(64))


def add_slider_moves(
    lists: MoveLists, origin: Square, targets: Bitboard, one_line: tuple[Bitboard, ...]
) -> tuple[Move, ...]:
    """Build, keep and return a slider's moves to a set of squares, from those of its two lines."""
    if len(lists) >= LIMIT:
        lists.clear()
    line = _LINE_MOVES[origin]
    one = targets & one_line[origin]
    other = targets ^ one
    moves: tuple[Move, ...] = ()
    if one:
        moves = line.get(one) or add_moves(line, origin, one)
    if other:
        moves += line.get(other) or add_moves(line, origin, other)
    lists[targets] = moves
    return moves


# --- sets of pieces ------------------------------------------------------------------------------

#: The entries of `KNIGHT_MOVES`, `DIAGONAL_MOVES`, `ORTHOGONAL_MOVES` for each piece of a set.
KNIGHTS: dict[Bitboard, tuple[KnightMoves, ...]] = {}
DIAGONAL_SLIDERS: dict[Bitboard, tuple[SliderMoves, ...]] = {}
ORTHOGONAL_SLIDERS: dict[Bitboard, tuple[SliderMoves, ...]] = {}


def add_knights(knights: Bitboard) -> tuple[KnightMoves, ...]:
    """Keep and return the entries of a set of knights."""
    if len(KNIGHTS) >= LIMIT:
        KNIGHTS.clear()
    entries = KNIGHTS[knights] = tuple(map(KNIGHT_MOVES.__getitem__, squares_of(knights)))
    return entries


def add_diagonal_sliders(sliders: Bitboard) -> tuple[SliderMoves, ...]:
    """Keep and return the entries of a set of bishops and queens."""
    if len(DIAGONAL_SLIDERS) >= LIMIT:
        DIAGONAL_SLIDERS.clear()
    entries = DIAGONAL_SLIDERS[sliders] = tuple(
        map(DIAGONAL_MOVES.__getitem__, squares_of(sliders))
    )
    return entries


def add_orthogonal_sliders(sliders: Bitboard) -> tuple[SliderMoves, ...]:
    """Keep and return the entries of a set of rooks and queens."""
    if len(ORTHOGONAL_SLIDERS) >= LIMIT:
        ORTHOGONAL_SLIDERS.clear()
    entries = ORTHOGONAL_SLIDERS[sliders] = tuple(
        map(ORTHOGONAL_MOVES.__getitem__, squares_of(sliders))
    )
    return entries


#: All squares that a set of knights, or of pawns of one colour, attacks.
Span: TypeAlias = dict[Bitboard, Bitboard]
KNIGHT_SPAN: Span = {0: 0}
WHITE_SPAN: Span = {0: 0}
BLACK_SPAN: Span = {0: 0}


def add_span(spans: Span, attacks: tuple[Bitboard, ...], pieces: Bitboard) -> Bitboard:
    """Keep and return all squares that the pieces of a set attack."""
    if len(spans) >= LIMIT:
        spans.clear()
    span = 0
    for square in squares_of(pieces):
        span |= attacks[square]
    spans[pieces] = span
    return span


#: From where enemy pawns, diagonal and orthogonal sliders could ever attack a set of squares.
Zone: TypeAlias = tuple[Bitboard, Bitboard, Bitboard]
#: By the king's square, then by which of its neighbours it might step to.
WHITE_KING_ZONES: tuple[dict[Bitboard, Zone], ...] = tuple({} for _ in range(64))
BLACK_KING_ZONES: tuple[dict[Bitboard, Zone], ...] = tuple({} for _ in range(64))


def add_zone(
    zones: dict[Bitboard, Zone], pawn_attacks: tuple[Bitboard, ...], squares: Bitboard
) -> Zone:
    """Keep and return the zone of a set of squares; a king has at most 256 such sets."""
    pawn = diagonal = orthogonal = 0
    for square in squares_of(squares):
        pawn |= pawn_attacks[square]
        diagonal |= DIAGONAL_RAYS[square]
        orthogonal |= ORTHOGONAL_RAYS[square]
    zone = zones[squares] = pawn, diagonal, orthogonal
    return zone


# --- pawns ---------------------------------------------------------------------------------------

#: The squares in front (two for a pawn that may double-step) and the pushes by which are occupied;
#: the squares attacked and the captures by which hold an enemy.
PawnMoves: TypeAlias = tuple[Bitboard, MoveLists, Bitboard, MoveLists]
#: By the set of pawns. The entry of a set seen only once is still None: most are not seen again.
PawnTable: TypeAlias = dict[Bitboard, PawnMoves | None]


def _arrivals(origin: Square, target: Square) -> tuple[Move, ...]:
    if 8 <= target < 56:
        return (MOVES_FROM[origin][target],)
    return tuple(Move(origin, target, piece) for piece in PROMOTION_ORDER)


def _one_pawn(origin: Square, forward: int, attacks: tuple[Bitboard, ...]) -> PawnMoves:
    target = origin + forward
    step = _arrivals(origin, target)
    front = 1 << target
    pushes: MoveLists = {0: step, front: ()}
    if origin // 8 == (1 if forward > 0 else 6):
        beyond = 1 << target + forward
        pushes = {
            0: (*step, Move(origin, target + forward)),
            front: (),
            beyond: step,
            front | beyond: (),
        }
        front |= beyond
    takes: MoveLists = {0: ()}
    for corner in squares_of(attacks[origin]):
        more = _arrivals(origin, corner)
        takes |= {1 << corner | taken: moves + more for taken, moves in takes.items()}
    return front, pushes, attacks[origin], takes


#: What one pawn can do, by its square less 8.
WHITE_PAWN_MOVES = tuple(_one_pawn(s, 8, WHITE_PAWN) for s in range(8, 56))
BLACK_PAWN_MOVES = tuple(_one_pawn(s, -8, BLACK_PAWN) for s in range(8, 56))
#: What all pawns of a side can do together.
WHITE_PAWNS: PawnTable = {}
BLACK_PAWNS: PawnTable = {}

# The moves of pawns that all go the same way, by the squares they arrive on.
_WHITE_STEPS: MoveLists = {}
_WHITE_DOUBLE_STEPS: MoveLists = {}
_WHITE_TAKES_LEFT: MoveLists = {}
_WHITE_TAKES_RIGHT: MoveLists = {}
_BLACK_STEPS: MoveLists = {}
_BLACK_DOUBLE_STEPS: MoveLists = {}
_BLACK_TAKES_LEFT: MoveLists = {}
_BLACK_TAKES_RIGHT: MoveLists = {}


def _add_arrivals(lists: MoveLists, step: int, targets: Bitboard) -> tuple[Move, ...]:
    """Build, keep and return the moves of pawns that arrive on a set of squares by one step."""
    if len(lists) >= LIMIT:
        lists.clear()
    moves: list[Move] = []
    for target in squares_of(targets):
        moves += _arrivals(target - step, target)
    arrivals = lists[targets] = tuple(moves)
    return arrivals


def _extend_by_pushes(pushes: list[Move], white: bool, pawns: Bitboard, occupied: Bitboard) -> None:
    empty = ALL ^ occupied
    # Steps are looked up by halves of the board, of which few are ever new.
    if white:
        ahead = pawns << 8 & empty
        if half := ahead & _FILES_A_TO_D:
            pushes += _WHITE_STEPS.get(half) or _add_arrivals(_WHITE_STEPS, 8, half)
        if half := ahead & _FILES_E_TO_H:
            pushes += _WHITE_STEPS.get(half) or _add_arrivals(_WHITE_STEPS, 8, half)
        if twice := (ahead & _RANK_3) << 8 & empty:
            table = _WHITE_DOUBLE_STEPS
            pushes += table.get(twice) or _add_arrivals(table, 16, twice)
    else:
        ahead = pawns >> 8 & empty
        if half := ahead & _FILES_A_TO_D:
            pushes += _BLACK_STEPS.get(half) or _add_arrivals(_BLACK_STEPS, -8, half)
        if half := ahead & _FILES_E_TO_H:
            pushes += _BLACK_STEPS.get(half) or _add_arrivals(_BLACK_STEPS, -8, half)
        if twice := (ahead & _RANK_6) >> 8 & empty:
            table = _BLACK_DOUBLE_STEPS
            pushes += table.get(twice) or _add_arrivals(table, -16, twice)


def _extend_by_takes(takes: list[Move], white: bool, pawns: Bitboard, enemies: Bitboard) -> None:
    if white:
        if left := (pawns & _NOT_FILE_A) << 7 & enemies:
            takes += _WHITE_TAKES_LEFT.get(left) or _add_arrivals(_WHITE_TAKES_LEFT, 7, left)
        if right := (pawns & _NOT_FILE_H) << 9 & enemies:
            takes += _WHITE_TAKES_RIGHT.get(right) or _add_arrivals(_WHITE_TAKES_RIGHT, 9, right)
    else:
        if left := (pawns & _NOT_FILE_A) >> 9 & enemies:
            takes += _BLACK_TAKES_LEFT.get(left) or _add_arrivals(_BLACK_TAKES_LEFT, -9, left)
        if right := (pawns & _NOT_FILE_H) >> 7 & enemies:
            takes += _BLACK_TAKES_RIGHT.get(right) or _add_arrivals(_BLACK_TAKES_RIGHT, -7, right)


def add_pushes(
    pushes_by: MoveLists, white: bool, pawns: Bitboard, occupied: Bitboard
) -> tuple[Move, ...]:
    """Build, keep and return the pushes of a set of pawns, by what is occupied before them."""
    if len(pushes_by) >= PAWN_LIMIT:
        pushes_by.clear()
    moves: list[Move] = []
    _extend_by_pushes(moves, white, pawns, occupied)
    pushes = pushes_by[occupied] = tuple(moves)
    return pushes


def add_takes(
    takes_by: MoveLists, white: bool, pawns: Bitboard, enemies: Bitboard
) -> tuple[Move, ...]:
    """Build, keep and return the captures of a set of pawns, by which enemies they attack."""
    if len(takes_by) >= PAWN_LIMIT:
        takes_by.clear()
    moves: list[Move] = []
    _extend_by_takes(moves, white, pawns, enemies)
    takes = takes_by[enemies] = tuple(moves)
    return takes


def add_pawns(
    moves: list[Move], white: bool, pawns: Bitboard, occupied: Bitboard, theirs: Bitboard
) -> None:
    """Add the moves of a set of pawns that has no entry, and make one if it was seen before.

    Most sets are seen once and never again; for them an entry would be a waste.
    """
    _extend_by_pushes(moves, white, pawns, occupied)
    _extend_by_takes(moves, white, pawns, theirs)
    table = WHITE_PAWNS if white else BLACK_PAWNS
    if pawns not in table:
        if len(table) >= LIMIT:
            table.clear()
        table[pawns] = None
        return
    ahead = pawns << 8 if white else pawns >> 8
    first = ahead & (_RANK_3 if white else _RANK_6)
    front = ahead | (first << 8 if white else first >> 8)
    corners = (ahead & _NOT_FILE_A) >> 1 | (ahead & _NOT_FILE_H) << 1
    table[pawns] = (front, {}, corners, {})
