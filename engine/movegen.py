"""The legal moves of a state.

Checkers and pins are found first, so only legal moves are ever generated; each piece then costs a
look-up of where it may go (`engine.attacks`) and one of the moves that stand for it
(`engine.movelists`). `docs/explanation/move-generation.md` walks through it.
"""

from __future__ import annotations

from engine.attacks import (
    BETWEEN,
    BLACK_PAWN,
    DIAGONAL,
    DIAGONAL_RAYS,
    KING,
    KNIGHT,
    LINE,
    OFF_LINES,
    ORTHOGONAL,
    ORTHOGONAL_RAYS,
    WHITE_PAWN,
    is_attacked,
)
from engine.movelists import (
    BLACK_KING_ZONES,
    BLACK_PAWN_MOVES,
    BLACK_PAWNS,
    BLACK_SPAN,
    DIAGONAL_LINE,
    DIAGONAL_MOVES,
    DIAGONAL_SLIDERS,
    KING_MOVES,
    KNIGHT_SPAN,
    KNIGHTS,
    ORTHOGONAL_MOVES,
    ORTHOGONAL_SLIDERS,
    RANK_LINE,
    WHITE_KING_ZONES,
    WHITE_PAWN_MOVES,
    WHITE_PAWNS,
    WHITE_SPAN,
    add_diagonal_sliders,
    add_knights,
    add_moves,
    add_orthogonal_sliders,
    add_pawns,
    add_pushes,
    add_slider_moves,
    add_span,
    add_takes,
    add_zone,
)
from engine.moves import Move
from engine.squares import ALL, BACK_RANKS, BITS, RANK_MASKS, Bitboard, Square
from engine.state import CHESS960_CASTLES, STANDARD_CASTLES, Castle, State, en_passant_moves, make

_RANK_2 = RANK_MASKS[1]
_RANK_7 = RANK_MASKS[6]


def legal_moves(state: State) -> list[Move]:
    """Return every legal move, king first, in no promised order."""
    (
        pawns, knights, diagonals, orthogonals, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs,
        castling, en_passant, white, chess960, _, _,
    ) = state  # fmt: skip
    occupied = own | theirs
    targets = ALL ^ own
    moves: list[Move] = []

    pinned = 0
    if white:
        checkers = KNIGHT[king] & their_knights | WHITE_PAWN[king] & their_pawns
    else:
        checkers = KNIGHT[king] & their_knights | BLACK_PAWN[king] & their_pawns
    snipers = DIAGONAL_RAYS[king] & their_diagonals | ORTHOGONAL_RAYS[king] & their_orthogonals
    if snipers:
        between = BETWEEN[king]
        while snipers:
            sniper = BITS[snipers.bit_length() - 1]
            snipers ^= sniper
            blockers = between[sniper] & occupied
            if not blockers:
                checkers |= sniper
            elif not blockers & blockers - 1:
                pinned |= blockers & own

    flights = KING[king] & targets
    ways: list[Castle] = []
    if castling and castling & own and not checkers:
        castles = CHESS960_CASTLES if chess960 else STANDARD_CASTLES
        ways = [way for way in castles[king][castling & own] if not occupied & way.crossed]
    if flights or ways:
        if ways:  # the king may go further than one step: all attacks matter
            pawn = their_pawns
            diagonal = their_diagonals
            orthogonal = their_orthogonals
        else:
            if white:
                pawn, diagonal, orthogonal = WHITE_KING_ZONES[king].get(flights) or add_zone(
                    WHITE_KING_ZONES[king], WHITE_PAWN, flights
                )
            else:
                pawn, diagonal, orthogonal = BLACK_KING_ZONES[king].get(flights) or add_zone(
                    BLACK_KING_ZONES[king], BLACK_PAWN, flights
                )
            pawn &= their_pawns
            diagonal &= their_diagonals
            orthogonal &= their_orthogonals
        danger = KING[their_king]
        if their_knights:
            danger |= KNIGHT_SPAN.get(their_knights) or add_span(KNIGHT_SPAN, KNIGHT, their_knights)
        if pawn:
            if white:
                danger |= BLACK_SPAN.get(pawn) or add_span(BLACK_SPAN, BLACK_PAWN, pawn)
            else:
                danger |= WHITE_SPAN.get(pawn) or add_span(WHITE_SPAN, WHITE_PAWN, pawn)
        if diagonal or orthogonal:
            through_king = occupied ^ BITS[king]  # it cannot hide behind where it stood
            while diagonal:
                square = diagonal.bit_length() - 1
                diagonal ^= BITS[square]
                mask, modulus, attacks = DIAGONAL[square]
                danger |= attacks[(through_king & mask) % modulus]
            while orthogonal:
                square = orthogonal.bit_length() - 1
                orthogonal ^= BITS[square]
                mask, modulus, attacks = ORTHOGONAL[square]
                danger |= attacks[(through_king & mask) % modulus]
        flights ^= flights & danger
        if flights:
            lists = KING_MOVES[king]
            moves += lists.get(flights) or add_moves(lists, king, flights)
        for way in ways:
            if not danger & way.walked and not (way.may_expose and _exposes_king(state, way)):
                moves.append(way.move)

    if checkers:
        if checkers & checkers - 1:
            return moves  # a double check leaves only the king to move
        # Capture the checker or step between; a knight or pawn beside the king has no between.
        targets = BETWEEN[king].get(checkers, 0) | checkers

    if pinned:
        if pinned & knights:  # which cannot move along any line
            pinned ^= (pinned_knights := pinned & knights)
            knights ^= pinned_knights
        if pinned:
            moves += _pinned_moves(
                pinned, pawns, diagonals, orthogonals, king, occupied, theirs, targets, white
            )
            free = ALL ^ pinned
            pawns &= free
            diagonals &= free
            orthogonals &= free
    if knights:
        for attacked, lists, square in KNIGHTS.get(knights) or add_knights(knights):
            if reached := attacked & targets:
                moves += lists.get(reached) or add_moves(lists, square, reached)
    if diagonals:
        for mask, modulus, attacks, lists, square in DIAGONAL_SLIDERS.get(
            diagonals
        ) or add_diagonal_sliders(diagonals):
            if reached := attacks[(occupied & mask) % modulus] & targets:
                moves += lists.get(reached) or add_slider_moves(
                    lists, square, reached, DIAGONAL_LINE
                )
    if orthogonals:
        for mask, modulus, attacks, lists, square in ORTHOGONAL_SLIDERS.get(
            orthogonals
        ) or add_orthogonal_sliders(orthogonals):
            if reached := attacks[(occupied & mask) % modulus] & targets:
                moves += lists.get(reached) or add_slider_moves(lists, square, reached, RANK_LINE)
    if pawns:
        entry = (WHITE_PAWNS if white else BLACK_PAWNS).get(pawns)
        if entry is None:
            if checkers:
                found: list[Move] = []
                add_pawns(found, white, pawns, occupied, theirs)
                moves += [move for move in found if move.to_bit & targets]
            else:
                add_pawns(moves, white, pawns, occupied, theirs)
        else:
            front, pushes_by, corners, takes_by = entry
            key = occupied & front
            pushes = pushes_by.get(key)
            if pushes is None:
                pushes = add_pushes(pushes_by, white, pawns, key)
            takes: tuple[Move, ...] = ()
            if key := theirs & corners:
                takes = takes_by.get(key) or add_takes(takes_by, white, pawns, key)
            if checkers:
                moves += [move for move in pushes + takes if move.to_bit & targets]
            else:
                moves += pushes
                moves += takes
    if en_passant:
        moves += en_passant_moves(state)
    return moves


def _pinned_moves(
    pinned: Bitboard,
    pawns: Bitboard,
    diagonals: Bitboard,
    orthogonals: Bitboard,
    king: Square,
    occupied: Bitboard,
    theirs: Bitboard,
    targets: Bitboard,
    white: bool,
) -> list[Move]:
    """Return the moves of pinned pieces, which stay on the line between king and attacker."""
    moves: list[Move] = []
    line = LINE[king]
    while pinned:
        square = pinned.bit_length() - 1
        piece = BITS[square]
        pinned ^= piece
        along = line[piece] & targets
        if pawns & piece:
            front, pushes, corners, takes = (WHITE_PAWN_MOVES if white else BLACK_PAWN_MOVES)[
                square - 8
            ]
            if along & front:
                moves += [move for move in pushes[occupied & front] if move.to_bit & along]
            if taken := theirs & corners & along:
                moves += takes[taken]
        else:
            if diagonals & piece:
                mask, modulus, attacks, lists, _ = DIAGONAL_MOVES[square]
                if reached := attacks[(occupied & mask) % modulus] & along:
                    moves += lists.get(reached) or add_slider_moves(
                        lists, square, reached, DIAGONAL_LINE
                    )
            if orthogonals & piece:
                mask, modulus, attacks, lists, _ = ORTHOGONAL_MOVES[square]
                if reached := attacks[(occupied & mask) % modulus] & along:
                    moves += lists.get(reached) or add_slider_moves(
                        lists, square, reached, RANK_LINE
                    )
    return moves


def _exposes_king(state: State, way: Castle) -> bool:
    """Return whether the castling rook was all that shielded the king's new square."""
    after = (state[5] | state[11] | way.leaving) ^ way.leaving | way.rook_to
    return is_attacked(way.king_to, after, not state[14], *state[6:11])


def can_move(state: State, in_check: bool) -> bool:
    """Return whether there is any legal move, stopping at the first that is found cheaply."""
    king, own, theirs, white = state[4], state[5], state[11], state[14]
    if in_check:
        through_king = (own | theirs) ^ BITS[king]
        flights = KING[king] & (ALL ^ own)
        while flights:
            square = flights.bit_length() - 1
            if not is_attacked(square, through_king, not white, *state[6:11]):
                return True
            flights ^= BITS[square]
    else:
        free = OFF_LINES[king]  # from there, no piece can be pinned
        pushed = state[0] & free
        if (pushed << 8 if white else pushed >> 8) & (ALL ^ (own | theirs)):
            return True
        if knights := state[1] & free:
            span = KNIGHT_SPAN.get(knights) or add_span(KNIGHT_SPAN, KNIGHT, knights)
            if span & (ALL ^ own):
                return True
    return bool(legal_moves(state))


def is_legal(state: State, move: Move) -> bool:
    """Return whether one move is legal, without generating the others."""
    origin = move.from_bit
    target = move.to_bit
    square = move.from_square
    own = state[5]
    if not own & origin:
        return False
    king, theirs, white = state[4], state[11], state[14]
    if king == square:
        if own & target or not KING[king] & target:
            return move in legal_moves(state)  # castling, or nothing
        return move.promotion is None and not is_attacked(
            move.to_square, (own | theirs) ^ origin, not white, *state[6:11]
        )
    if own & target:
        return False
    if state[0] & origin:
        if (move.promotion is None) == bool(target & BACK_RANKS):
            return False
        if (WHITE_PAWN if white else BLACK_PAWN)[square] & target:
            if not theirs & target:
                return target == state[13] and move in en_passant_moves(state)
        elif theirs & target:
            return False
        elif move.is_double_step:
            if white:
                if not origin & _RANK_2 or theirs & origin << 8 or own & origin << 8:
                    return False
            elif not origin & _RANK_7 or theirs & origin >> 8 or own & origin >> 8:
                return False
        elif target != (origin << 8 if white else origin >> 8):
            return False
    elif move.promotion is not None:
        return False
    elif state[1] & origin:
        if not KNIGHT[square] & target:
            return False
    else:
        # A slider: the right kind of line, and nothing between.
        if not (state[2] & origin and DIAGONAL_RAYS[square] & target) and not (
            state[3] & origin and ORTHOGONAL_RAYS[square] & target
        ):
            return False
        if BETWEEN[square][target] & (own | theirs):
            return False
    return keeps_king_safe(state, origin, target)


def keeps_king_safe(state: State, origin: Bitboard, target: Bitboard) -> bool:
    """Return whether the king is not in check once another piece has moved, en passant aside."""
    king = state[4]
    # A knight or pawn that gives check must be taken; nothing can step between.
    leapers = KNIGHT[king] & state[7] or (WHITE_PAWN if state[14] else BLACK_PAWN)[king] & state[6]
    if leapers and leapers != target:
        return False
    sliders = state[8]
    if DIAGONAL_RAYS[king] & sliders:
        mask, modulus, attacks = DIAGONAL[king]
        occupied = (state[5] | state[11]) ^ origin | target
        checkers = attacks[(occupied & mask) % modulus] & sliders
        if checkers and checkers != target:
            return False
    sliders = state[9]
    if ORTHOGONAL_RAYS[king] & sliders:
        mask, modulus, attacks = ORTHOGONAL[king]
        occupied = (state[5] | state[11]) ^ origin | target
        checkers = attacks[(occupied & mask) % modulus] & sliders
        if checkers and checkers != target:
            return False
    return True


def perft(state: State, depth: int) -> int:
    """Count the leaves of the tree of legal moves, a ply deep or more, the last by its length."""
    moves = legal_moves(state)
    if depth == 1:
        return len(moves)
    leaves = 0
    if depth == 2:
        for move in moves:
            leaves += len(legal_moves(make(state, move)))
    else:
        for move in moves:
            leaves += perft(make(state, move), depth - 1)
    return leaves
