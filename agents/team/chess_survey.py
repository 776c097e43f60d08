"""The survey of a chess position that finds its facts, each thing once.

It works on the engine's states: a team has a few milliseconds for all it does besides waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from agents.team.chess_facts import (
    ChessFacts,
    HangingPiece,
    Material,
    PassedPawn,
    Pin,
    PlacedPiece,
    RatedByExchange,
    WrittenMove,
)
from engine import ChessPosition, Color, Move, PieceType
from engine.attacks import BETWEEN, DIAGONAL_RAYS, ORTHOGONAL_RAYS
from engine.exchange import PIECE_VALUES, exchange_of
from engine.movegen import can_move, legal_moves
from engine.san import write_san
from engine.setup import piece_type
from engine.squares import FILE_MASKS, RANK_MASKS, Bitboard, Square, squares_of
from engine.state import State, checkers_of, is_check, make

_QUEEN = PieceType.QUEEN
#: Pawns, knights, diagonals, orthogonals, king, all: the half of a state that is one side's.
_Half: TypeAlias = tuple[Bitboard, Bitboard, Bitboard, Bitboard, Square, Bitboard]
_Rated: TypeAlias = tuple[Move, int]


def survey(position: ChessPosition) -> ChessFacts:
    """Return the facts of a position."""
    state = position.state
    turn, opponent = position.turn, position.turn.opponent
    own, their = state[:6], state[6:12]
    moves = position.legal_moves()
    checkers = checkers_of(state)
    checks, mates, stalemates = _effects(state, moves)
    captures, promotions = _exchanges(state, moves)

    threats: list[_Rated] = []
    threatened_mates: list[Move] = []
    passed = state if checkers else _passed(state)
    if not checkers:
        replies = legal_moves(passed)
        threatened_mates = _mates(passed, replies)
        taken, promoted = _exchanges(passed, replies)
        threats = [rated for rated in taken + promoted if rated[1] > 0]

    write = _writer(state)
    write_reply = _writer(passed)
    white, black = (own, their) if turn is Color.WHITE else (their, own)
    # Where the pawn stands that can be taken en passant: the state has its square only if it can.
    en_passant = state[13] >> 8 if turn is Color.WHITE else state[13] << 8
    return ChessFacts(
        turn=turn,
        outcome=position.outcome(),
        choices=len(moves),
        only_move=write(moves[0]) if len(moves) == 1 else None,
        checkers=tuple(_placed(their, opponent, square) for square in squares_of(checkers)[::-1]),
        mates=_written(mates, write),
        threatened_mates=_written(threatened_mates, write_reply),
        stalemates=_written(stalemates, write),
        checks=_best_first(((move, exchange_of(state, move)) for move in checks), write),
        captures=_best_first(captures, write),
        promotions=_best_first(promotions, write),
        threats=_best_first(threats, write_reply),
        hanging=(
            *_hanging(captures, their, opponent, state[13]),
            *_hanging(threats, own, turn, 0),
        ),
        pins=(
            *_pins(white, black, Color.WHITE),
            *_pins(black, white, Color.BLACK),
        ),
        passed_pawns=(
            *_passed_pawns(white[0], black[0], Color.WHITE, en_passant),
            *_passed_pawns(black[0], white[0], Color.BLACK, en_passant),
        ),
        material=Material(_counts(white), _counts(black)),
    )


def _passed(state: State) -> State:
    """Return the state in which the other side is to move instead; nobody may be in check."""
    return (*state[6:12], *state[:6], state[12], 0, not state[14], state[15], state[16], 0)


# --- moves ---


def _effects(state: State, moves: Iterable[Move]) -> tuple[list[Move], list[Move], list[Move]]:
    """Return the moves that give check, those of them that mate, and those that stalemate."""
    checks, mates, stalemates = [], [], []
    for move in moves:
        after = make(state, move)
        if is_check(after):
            checks.append(move)
            if not can_move(after, True):
                mates.append(move)
        elif not can_move(after, False):
            stalemates.append(move)
    return checks, mates, stalemates


def _mates(state: State, moves: Iterable[Move]) -> list[Move]:
    return [
        move for move in moves if is_check(after := make(state, move)) and not can_move(after, True)
    ]


def _exchanges(state: State, moves: Iterable[Move]) -> tuple[list[_Rated], list[_Rated]]:
    """Return the captures and the other promotions with what each wins, to a queen if any."""
    pawns, theirs, en_passant = state[0], state[11], state[13]
    captures, promotions = [], []
    for move in moves:
        promotion = move.promotion
        if promotion is not None and promotion is not _QUEEN:
            continue
        if move.to_bit & theirs or (move.to_bit == en_passant and move.from_bit & pawns):
            captures.append((move, exchange_of(state, move)))
        elif promotion is not None:
            promotions.append((move, exchange_of(state, move)))
    return captures, promotions


def _writer(state: State) -> Callable[[Move], WrittenMove]:
    """Return what writes moves of a state, each once: a capture may be a check as well."""
    known: dict[Move, WrittenMove] = {}

    def write(move: Move) -> WrittenMove:
        written = known.get(move)
        if written is None:
            written = known[move] = WrittenMove(move, write_san(state, move))
        return written

    return write


def _written(
    moves: Iterable[Move], write: Callable[[Move], WrittenMove]
) -> tuple[WrittenMove, ...]:
    return tuple(map(write, sorted(moves, key=Move.uci)))


def _best_first(
    rated: Iterable[_Rated], write: Callable[[Move], WrittenMove]
) -> tuple[RatedByExchange, ...]:
    in_order = sorted(rated, key=lambda each: (-each[1], each[0].uci()))
    return tuple(RatedByExchange(write(move), value) for move, value in in_order)


# --- pieces ---


def _placed(half: _Half, color: Color, square: Square) -> PlacedPiece:
    kind = piece_type(*half[:4], 1 << half[4], square)
    assert kind is not None, "only squares of the side's own pieces are asked about"  # noqa: S101
    return PlacedPiece(color, kind, square)


def _hanging(
    captures: Iterable[_Rated], half: _Half, color: Color, en_passant: Bitboard
) -> list[HangingPiece]:
    """Return the pieces of a side that some capture wins, the dearest loss first."""
    best: dict[Square, int] = {}
    for move, value in captures:
        square = move.to_square
        if move.to_bit == en_passant and not half[5] & move.to_bit:
            square += -8 if color is Color.BLACK else 8
        if value > 0 and half[5] >> square & 1:
            best[square] = max(value, best.get(square, 0))
    hanging = []
    for square, value in best.items():
        placed = _placed(half, color, square)
        # What a pawn gains by promoting there is not the loss of what it takes.
        hanging.append(HangingPiece(placed, min(value, PIECE_VALUES[placed.piece])))
    return sorted(hanging, key=lambda each: (-each.value, each.placed.square))


def _pins(half: _Half, other: _Half, color: Color) -> list[Pin]:
    """Return the absolute pins of a side's pieces, from a1 on."""
    king = half[4]
    occupied = half[5] | other[5]
    pins = []
    for sniper in squares_of(DIAGONAL_RAYS[king] & other[2] | ORTHOGONAL_RAYS[king] & other[3]):
        blockers = BETWEEN[king][1 << sniper] & occupied
        if blockers and not blockers & blockers - 1 and blockers & half[5]:
            pinned = _placed(half, color, blockers.bit_length() - 1)
            pins.append(Pin(pinned, _placed(other, color.opponent, sniper), king))
    return sorted(pins, key=lambda pin: pin.pinned.square)


def _front_spans() -> tuple[tuple[Bitboard, ...], tuple[Bitboard, ...]]:
    """Return, for either colour and each square, where an enemy pawn could still stop a pawn."""
    white, black = [], []
    for square in range(64):
        file, rank = square % 8, square // 8
        files = sum(FILE_MASKS[each] for each in range(max(0, file - 1), min(7, file + 1) + 1))
        white.append(files & sum(RANK_MASKS[rank + 1 :]))
        black.append(files & sum(RANK_MASKS[:rank]))
    return tuple(white), tuple(black)


_WHITE_FRONT, _BLACK_FRONT = _front_spans()


def _passed_pawns(
    pawns: Bitboard, their_pawns: Bitboard, color: Color, en_passant: Bitboard
) -> list[PassedPawn]:
    """Return the passed pawns of a side, the most advanced first.

    The pawn that can be taken `en_passant` now is none: it has not got past yet.
    """
    front = _WHITE_FRONT if color is Color.WHITE else _BLACK_FRONT
    passed = [
        PassedPawn(color, square)
        for square in squares_of(pawns & ~en_passant)
        if not front[square] & their_pawns
    ]
    return sorted(passed, key=lambda pawn: (pawn.steps, pawn.square))


def _counts(half: _Half) -> tuple[int, ...]:
    pawns, knights, diagonals, orthogonals, _, _ = half
    queens = (diagonals & orthogonals).bit_count()
    return (
        queens,
        orthogonals.bit_count() - queens,
        diagonals.bit_count() - queens,
        knights.bit_count(),
        pawns.bit_count(),
    )
