"""Move: where from, where to, and what a pawn becomes."""

from __future__ import annotations

from typing import ClassVar

from engine.errors import UnreadableMove
from engine.pieces import PieceType
from engine.squares import (
    KING_STEPS,
    KNIGHT_STEPS,
    SQUARE_NAMES,
    SQUARE_OF_NAME,
    Bitboard,
    Square,
    ray,
    squares_of,
    steps,
)

#: Where a piece goes that leaves the board: no square, and outside every bitboard.
OFF: Square = 64
_NAMES = (*SQUARE_NAMES, "off")


class Move:
    """A move on the 8x8 board. Each move exists once, so `==` is `is` and hashing is free.

    Castling is the king's move: two squares sideways in standard chess (`e1g1`), onto its own rook
    in Chess960 (`e1h1`). In King's Cooking, a piece may leave the board: `a3off`.
    """

    __slots__ = (
        "_uci",
        "bits",
        "from_bit",
        "from_square",
        "is_double_step",
        "promotion",
        "to_bit",
        "to_square",
    )

    from_square: Square
    to_square: Square
    promotion: PieceType | None
    from_bit: Bitboard
    to_bit: Bitboard
    bits: Bitboard
    _uci: str
    #: Two ranks straight ahead: what a pawn's first move may be.
    is_double_step: bool

    _all: ClassVar[dict[tuple[Square, Square, PieceType | None], Move]] = {}

    def __new__(  # noqa: D102
        cls, from_square: Square, to_square: Square, promotion: PieceType | None = None
    ) -> Move:
        known = cls._all.get((from_square, to_square, promotion))
        if known is not None:
            return known
        move = object.__new__(cls)
        from_bit, to_bit = 1 << from_square, 1 << to_square
        for name, value in (
            ("from_square", from_square),
            ("to_square", to_square),
            ("promotion", promotion),
            ("from_bit", from_bit),
            ("to_bit", to_bit),
            ("bits", from_bit | to_bit),
            ("is_double_step", abs(from_square - to_square) == 16 and to_square != OFF),
            ("_uci", SQUARE_NAMES[from_square] + _NAMES[to_square] + (promotion or "")),
        ):
            object.__setattr__(move, name, value)
        return cls._all.setdefault((from_square, to_square, promotion), move)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a move cannot be changed: {self} is shared by all who use it")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    @classmethod
    def from_uci(cls, text: str) -> Move:
        """Read `e2e4`, `e7e8q` or `a3off`.

        Raises `UnreadableMove` for anything else; whether the move is legal depends on a position.
        """
        if not isinstance(text, str) or text[:2] == text[2:4]:
            raise UnreadableMove(str(text))
        try:
            if text[2:] == "off":
                return cls(SQUARE_OF_NAME[text[:2]], OFF)
            return cls(
                SQUARE_OF_NAME[text[:2]],
                SQUARE_OF_NAME[text[2:4]],
                PROMOTIONS[text[4:]] if text[4:] else None,
            )
        except KeyError:
            raise UnreadableMove(text) from None

    def uci(self) -> str:
        """Return the move as UCI engines write it."""
        return self._uci

    def __str__(self) -> str:
        return self._uci

    def __repr__(self) -> str:
        return f"Move.from_uci({self._uci!r})"

    def __reduce__(self) -> tuple[type[Move], tuple[Square, Square, PieceType | None]]:
        return Move, (self.from_square, self.to_square, self.promotion)


PROMOTIONS: dict[str, PieceType] = {
    piece.value: piece
    for piece in (PieceType.QUEEN, PieceType.ROOK, PieceType.BISHOP, PieceType.KNIGHT)
}

# Moves that some piece can make are created first, so that they lie together in memory.
for _origin in range(64):
    for _step in KING_STEPS:
        for _target in ray(_origin, *_step):
            Move(_origin, _target)
    for _target in squares_of(steps(_origin, KNIGHT_STEPS)):
        Move(_origin, _target)

#: MOVES_FROM[origin][target]: every move without promotion. The diagonal is not a move and unused.
MOVES_FROM: tuple[tuple[Move, ...], ...] = tuple(
    tuple(Move(origin, target) for target in range(64)) for origin in range(64)
)
