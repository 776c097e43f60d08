"""Position: one legal state of any variant, and what games, players and pages may ask of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from engine.drawing import draw_svg, draw_text
from engine.errors import UnknownStart, UnknownVariant
from engine.pieces import Color
from engine.variant import VARIANTS, find_variant

if TYPE_CHECKING:
    from engine.drawing import Court
    from engine.moves import Move
    from engine.outcome import Outcome, Termination
    from engine.pieces import PieceType
    from engine.setup import Setup
    from engine.squares import Square


class Position:
    """A legal position of some variant. It never changes: `play` returns a new one.

    Each variant has its own kind; `start` and `from_fen` choose it by the variant's name. Squares
    and moves are those of the 8x8 board, also on a smaller one: a1 is always a1.

    (It is no `abc.ABC`, whose metaclass would cost chess 4 % of `play`. That no variant lacks a
    method is for mypy and a test to see.)
    """

    __slots__ = ()

    #: How many squares a side of the board has.
    size: ClassVar[int] = 8

    @classmethod
    def start(cls, variant: str = "standard", number: int | None = None) -> Position:
        """Return a starting position; `number` chooses one of the 960 of Chess960.

        Raises `UnknownVariant` or `UnknownStart`.
        """
        found = find_variant(variant)
        if number is None:
            number = found.default_start
        elif not isinstance(number, int) or not 0 <= number < found.starts:
            raise UnknownStart(found.name, str(number), found.starts)
        if not issubclass(found.position_type, cls):
            ours = (name for name, each in VARIANTS.items() if issubclass(each.position_type, cls))
            raise UnknownVariant(found.name, tuple(ours))
        return _start(found.name, number)

    @classmethod
    def from_fen(cls, fen: str, variant: str = "standard") -> Position:
        """Read a FEN; missing fields at the end get their usual values.

        Raises `UnknownVariant`, `InvalidFen` or `IllegalPosition`.
        """
        try:
            position_type = VARIANTS[variant].position_type
        except (KeyError, TypeError):
            position_type = find_variant(variant).position_type  # which says what is wrong
        return position_type.from_fen(fen, variant)

    @classmethod
    def from_setup(cls, setup: Setup, variant: str = "standard") -> Position:
        """Return the position of a chess setup, or raise `IllegalPosition`."""
        return find_variant(variant).position_type.from_setup(setup, variant)

    # --- what it is ---

    @property
    @abstractmethod
    def variant(self) -> str:
        """The name of the variant."""

    @property
    @abstractmethod
    def turn(self) -> Color:
        """The side to move."""

    @property
    @abstractmethod
    def fullmove_number(self) -> int:
        """The number of the move, as score sheets count: up by one after Black's."""

    @abstractmethod
    def fen(self) -> str:
        """Return the position as one line of text, from which `from_fen` reads it."""

    @abstractmethod
    def key(self) -> Hashable:
        """Return what is equal for two positions exactly when they count as a repetition."""

    @abstractmethod
    def piece_at(self, square: Square | str) -> tuple[Color, PieceType] | None:
        """Return the colour and kind of the piece on a square (`"a1"` or its number), or None."""

    def is_check(self) -> bool:
        """Return whether the side to move is in check; never, where no king is on the board."""
        return self.checked_king() is not None

    def checked_king(self) -> Square | None:
        """Return where a king stands in check, if one does."""
        return None

    # --- moves ---

    @abstractmethod
    def legal_moves(self) -> list[Move]:
        """Return every legal move, in no particular order."""

    @abstractmethod
    def is_legal(self, move: Move) -> bool:
        """Return whether a move is legal here."""

    @abstractmethod
    def play(self, move: Move | str) -> Position:
        """Return the position after a move; text is read as by `parse`.

        Raises `IllegalMove` (or what `parse` raises); this position stays as it is.
        """

    @abstractmethod
    def parse(self, text: str, default_promotion: PieceType | None = None) -> Move:
        """Return the legal move a text means, in any notation people use.

        Raises `UnreadableMove`, `AmbiguousMove` (with the candidates) or `IllegalMove` (with the
        reason).
        """

    @abstractmethod
    def san(self, move: Move) -> str:
        """Return a legal move in short notation, or raise `IllegalMove`."""

    @abstractmethod
    def long_algebraic(self, move: Move) -> str:
        """Return a legal move in long notation, or raise `IllegalMove`."""

    def leaves(self, depth: int) -> int:
        """Count the leaves of the tree of legal moves, so many plies deep."""
        if depth <= 0:
            return 1
        return sum(self.play(move).leaves(depth - 1) for move in self.legal_moves())

    # --- endings ---

    @abstractmethod
    def outcome(self) -> Outcome | None:
        """Return how the game has ended by this position alone, or None.

        Repetitions and claims need the game's history: see `Game`.
        """

    @abstractmethod
    def can_move(self) -> bool:
        """Return whether there is any legal move."""

    def may_end_early(self) -> bool:
        """Return False, cheaply, where `early_outcome` and `claims` have nothing to say."""
        return True

    @abstractmethod
    def early_outcome(self, repetitions: Callable[[], int]) -> Outcome | None:
        """Return how the game has ended, though a move could be made, or None.

        `repetitions` tells how often the position has occurred; it is asked only if need be.
        """

    def claims(self, repetitions: Callable[[], int]) -> list[Termination]:
        """Return the draws that a player may claim here, given how often it has occurred."""
        return []

    def moves_that_may_claim(self, repeated: Collection[Hashable]) -> list[Move]:
        """Return the legal moves with which a draw might be claimed, if those keys occurred twice.

        It may name a move too many, but none too few.
        """
        return []

    @abstractmethod
    def can_win(self, color: Color) -> bool:
        """Return whether a side could still win, as far as its pieces tell."""

    # --- pictures ---

    def courts(self) -> Mapping[Color, Court] | None:
        """Return what lies beyond either edge of the board, in variants where something does."""
        return None

    def text(
        self,
        *,
        perspective: Color = Color.WHITE,
        figurines: bool = False,
        coordinates: bool = True,
    ) -> str:
        """Draw the board with one character a square: letters as in FEN, or figurines."""
        return draw_text(
            self,
            perspective=perspective,
            figurines=figurines,
            coordinates=coordinates,
            courts=self.courts(),
        )

    def svg(
        self,
        *,
        perspective: Color = Color.WHITE,
        last_move: Move | None = None,
        coordinates: bool = True,
        size: int = 400,
    ) -> str:
        """Draw the board as a self-contained SVG of some width, marking last move and check."""
        return draw_svg(
            self,
            perspective=perspective,
            last_move=last_move,
            coordinates=coordinates,
            size=size,
            courts=self.courts(),
        )

    def __str__(self) -> str:
        return self.fen()


@cache
def _start(variant: str, number: int) -> Position:
    found = find_variant(variant)
    return found.position_type.from_fen(found.start_fen(number), variant)
