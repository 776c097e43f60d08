"""ChessPosition: one legal state of chess or Chess960, and all one can ask of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import cast

from engine.errors import IllegalMove, UnknownVariant
from engine.fen import read_fields, write_fen
from engine.legality import why_illegal
from engine.material import can_checkmate, is_dead
from engine.movegen import can_move, is_legal, legal_moves, perft
from engine.moves import MOVES_FROM, Move
from engine.outcome import Outcome, Termination
from engine.pieces import Color, PieceType
from engine.position import Position
from engine.reading import parse_move
from engine.san import write_long_algebraic, write_san
from engine.setup import Setup, legal_state, piece_type
from engine.squares import SQUARE_OF_NAME, Square, squares_of
from engine.state import CLOCK, CLOCK_BITS, Key, State, checkers_of, is_check, make

STANDARD_NAME, CHESS960_NAME = "standard", "chess960"
_IS_CHESS960 = {STANDARD_NAME: False, CHESS960_NAME: True}

#: Half-moves without a capture or a pawn move after which a draw can be claimed, or is given.
FIFTY_MOVES = 100
SEVENTY_FIVE_MOVES = 150

#: A position cannot occur a third or fifth time after fewer quiet plies.
_THREEFOLD_PLIES, _FIVEFOLD_PLIES = 8, 16


class ChessPosition(Position):
    """A legal chess position. It never changes: `play` returns a new one.

    There are four ways to a position, and each refuses what is illegal: `start`, `from_fen`,
    `from_setup` and `play`. (`ChessPosition()` makes an object without a state, for this file only:
    a constructor that takes one would cost `play` a tenth of its time.)
    """

    __slots__ = ("_moves", "_state", "_vetted")

    _state: State
    #: All legal moves, once somebody asked for them.
    _moves: list[Move] | None
    #: Moves known to be legal: they need no second look when they are played.
    _vetted: Collection[Move]

    @classmethod
    def from_fen(cls, fen: str, variant: str = STANDARD_NAME) -> ChessPosition:
        """Read a FEN; missing fields at the end get their usual values.

        Raises `UnknownVariant`, `InvalidFen` or `IllegalPosition`.
        """
        chess960 = _IS_CHESS960.get(variant)
        if chess960 is None:
            raise UnknownVariant(str(variant), tuple(_IS_CHESS960))
        return position_of(legal_state(read_fields(fen), chess960))

    @classmethod
    def from_setup(cls, setup: Setup, variant: str = STANDARD_NAME) -> ChessPosition:
        """Return the position of a setup, or raise `IllegalPosition`."""
        if variant not in _IS_CHESS960:
            raise UnknownVariant(str(variant), tuple(_IS_CHESS960))
        return position_of(legal_state(setup, _IS_CHESS960[variant]))

    # --- what it is ---

    @property
    def state(self) -> State:
        """The flat tuple that the fast core works on; see `engine.state`."""
        return self._state

    @property
    def turn(self) -> Color:
        """The side to move."""
        return Color.WHITE if self._state[14] else Color.BLACK

    @property
    def variant(self) -> str:
        """The name of the variant: `standard` or `chess960`."""
        return CHESS960_NAME if self._state[15] else STANDARD_NAME

    @property
    def halfmove_clock(self) -> int:
        """Half-moves since the last capture or pawn move."""
        return self._state[16] & CLOCK

    @property
    def fullmove_number(self) -> int:
        """The number of the move, as FEN counts: up by one after Black's."""
        return (self._state[16] >> CLOCK_BITS) // 2 + 1

    def fen(self, legal_en_passant: bool = False) -> str:
        """Return the FEN, with the en passant square after every double step.

        With `legal_en_passant` the square is written only where the capture is legal, as lichess
        and Stockfish do.
        """
        return write_fen(self._state, legal_en_passant)

    def key(self) -> Key:
        """Return what is equal for two positions exactly when they count as a repetition.

        Placement, side to move, castling rights and *usable* en passant.
        """
        return self._state[:15]

    def piece_at(self, square: Square | str) -> tuple[Color, PieceType] | None:
        """Return the colour and kind of the piece on a square (`"e4"` or its number), or None."""
        if isinstance(square, str):
            square = SQUARE_OF_NAME.get(square, -1)
        if not 0 <= square < 64:
            raise ValueError("a square is named from a1 to h8, or numbered from 0 to 63")
        state = self._state
        for side, color in ((state[:6], self.turn), (state[6:12], self.turn.opponent)):
            pawns, knights, diagonals, orthogonals, king, _ = side
            kind = piece_type(pawns, knights, diagonals, orthogonals, 1 << king, square)
            if kind is not None:
                return color, kind
        return None

    def king(self, color: Color) -> Square:
        """Return where a side's king stands."""
        return self._state[4 if Color(color) is self.turn else 10]

    def checkers(self) -> list[Square]:
        """Return the squares of the pieces that give check."""
        return squares_of(checkers_of(self._state))

    def is_check(self) -> bool:
        """Return whether the side to move is in check."""
        return is_check(self._state)

    def checked_king(self) -> Square | None:
        """Return where the king stands that is in check, if it is."""
        return self._state[4] if is_check(self._state) else None

    # --- moves ---

    def legal_moves(self) -> list[Move]:
        """Return every legal move, in no particular order."""
        moves = self._moves
        if moves is None:
            moves = self._moves = legal_moves(self._state)
        return moves.copy()  # what the caller does to the list is the caller's business

    def is_legal(self, move: Move) -> bool:
        """Return whether a move is legal here."""
        return is_legal(self._state, move)

    def play(self, move: Move | str) -> ChessPosition:
        """Return the position after a move; text is read as by `parse`.

        Raises `IllegalMove` (or what `parse` raises); this position stays as it is.
        """
        try:
            if move not in self._vetted:
                move = self._vet(move)
        except TypeError:  # what cannot be hashed is no move, as this will say
            move = self._vet(move)
        position = ChessPosition()
        position._state = make(self._state, move)  # type: ignore[arg-type]  # only moves are vetted
        position._moves = None
        position._vetted = ()
        return position

    def _vet(self, move: Move | str) -> Move:
        """Return a legal move, or raise; remember what was found out on the way."""
        if not isinstance(move, Move):
            return self.parse(move)
        if self._moves is not None:
            # Most positions have one of their moves played; a set pays from the second on.
            if self._vetted:
                vetted = self._vetted = frozenset(self._moves)
                if move in vetted:
                    return move
            elif move in self._moves:
                self._vetted = (move,)
                return move
        elif is_legal(self._state, move):
            self._vetted = (move,)
            return move
        raise IllegalMove(move.uci(), self.fen(), why_illegal(self._state, move))

    def parse(self, text: str, default_promotion: PieceType | None = None) -> Move:
        """Return the legal move a text means, in any notation people use.

        Raises `UnreadableMove`, `AmbiguousMove` (with the candidates) or `IllegalMove` (with the
        reason). A pawn that must promote with no piece named is illegal unless `default_promotion`
        names one.
        """
        move = parse_move(self._state, text, default_promotion)
        if move not in self._vetted:
            self._vetted = (move,)
        return move

    def san(self, move: Move) -> str:
        """Return a legal move in SAN, or raise `IllegalMove`."""
        return write_san(self._state, move if move in self._vetted else self._vet(move))

    def long_algebraic(self, move: Move) -> str:
        """Return a legal move in long algebraic notation (`Ng1-f3`), or raise `IllegalMove`."""
        return write_long_algebraic(self._state, move if move in self._vetted else self._vet(move))

    def leaves(self, depth: int) -> int:
        """Count the leaves of the tree of legal moves, so many plies deep."""
        return perft(self._state, depth) if depth > 0 else 1

    # --- endings ---

    def outcome(self) -> Outcome | None:
        """Return how the game has ended by this position alone, or None.

        Repetitions and claims need the game's history: see `Game`.
        """
        state = self._state
        in_check = is_check(state)
        if not can_move(state, in_check):
            if in_check:
                return Outcome(self.turn.opponent, Termination.CHECKMATE)
            return Outcome(None, Termination.STALEMATE)
        return self.early_outcome(_once)  # by this position alone, it has occurred only once

    def can_move(self) -> bool:
        """Return whether there is any legal move."""
        return can_move(self._state, is_check(self._state))

    def may_end_early(self) -> bool:
        """Return False, cheaply, where neither repetition, move count nor material can draw."""
        state = self._state
        quiet = state[16] & CLOCK
        return quiet >= _THREEFOLD_PLIES or not (state[0] or state[6] or state[3] or state[9])

    def early_outcome(self, repetitions: Callable[[], int]) -> Outcome | None:
        """Return the draw that the Laws give by themselves, though a move could be made."""
        quiet = self._state[16] & CLOCK
        if is_dead(self._state):
            return Outcome(None, Termination.INSUFFICIENT_MATERIAL)
        if quiet >= SEVENTY_FIVE_MOVES:
            return Outcome(None, Termination.SEVENTY_FIVE_MOVES)
        if quiet >= _FIVEFOLD_PLIES and repetitions() >= 5:
            return Outcome(None, Termination.FIVEFOLD_REPETITION)
        return None

    def claims(self, repetitions: Callable[[], int]) -> list[Termination]:
        """Return the draws that a player may claim here: threefold repetition, fifty moves."""
        quiet = self._state[16] & CLOCK
        claims = []
        if quiet >= _THREEFOLD_PLIES and repetitions() >= 3:
            claims.append(Termination.THREEFOLD_REPETITION)
        if quiet >= FIFTY_MOVES:
            claims.append(Termination.FIFTY_MOVES)
        return claims

    def moves_that_may_claim(self, repeated: Collection[Hashable]) -> list[Move]:
        """Return every move near fifty quiet ones, else those that lead back to a repeated key."""
        if self.halfmove_clock + 1 >= FIFTY_MOVES:
            return self.legal_moves()
        own, theirs = self._state[5], self._state[11]
        # Once each: keys may differ by castling rights alone.
        moves: dict[Move, None] = {}
        for key in cast("Collection[Key]", repeated):
            # One piece of ours stands elsewhere there, and nothing of theirs.
            changed = own ^ key[11]
            if key[5] == theirs and changed.bit_count() == 2 and (origin := changed & own):
                target = changed ^ origin
                move = MOVES_FROM[origin.bit_length() - 1][target.bit_length() - 1]
                if self.is_legal(move):
                    moves[move] = None
        return list(moves)

    def is_checkmate(self) -> bool:
        """Return whether the side to move is checkmated."""
        state = self._state
        return is_check(state) and not can_move(state, True)

    def is_stalemate(self) -> bool:
        """Return whether the side to move is not in check and cannot move."""
        state = self._state
        return not is_check(state) and not can_move(state, False)

    def is_insufficient_material(self) -> bool:
        """Return whether neither side can checkmate any more."""
        return is_dead(self._state)

    def can_win(self, color: Color) -> bool:
        """Return whether a side could still win: it can checkmate."""
        return self.can_checkmate(color)

    def can_checkmate(self, color: Color) -> bool:
        """Return whether a side has the material to checkmate by any series of moves."""
        return can_checkmate(self._state, Color(color) is Color.WHITE)

    # --- as a value ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChessPosition):
            return NotImplemented
        one, two = self._state, other._state
        # How castling rights are printed is not part of the position.
        return one[:15] == two[:15] and one[16:] == two[16:] and bool(one[15]) == bool(two[15])

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        if self._state[15]:
            return f"Position.from_fen({self.fen()!r}, variant={self.variant!r})"
        return f"Position.from_fen({self.fen()!r})"

    def __reduce__(self) -> tuple[object, tuple[State]]:
        return position_of, (self._state,)


def _once() -> int:
    return 1


def position_of(state: State) -> ChessPosition:
    """Return the position of a state that came from `make` or `legal_state`, unchecked."""
    position = ChessPosition()
    position._state = state
    position._moves = None
    position._vetted = ()
    return position
