"""How a game ends: who won, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.pieces import Color


class Termination(StrEnum):
    """Why a game ended."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    INSUFFICIENT_MATERIAL = "insufficient_material"
    SEVENTY_FIVE_MOVES = "seventy_five_moves"
    FIVEFOLD_REPETITION = "fivefold_repetition"
    FIFTY_MOVES = "fifty_moves"
    THREEFOLD_REPETITION = "threefold_repetition"
    #: Of King's Cooking; the courts decide who won.
    EMPTY_BOARD = "empty_board"
    NO_MOVES = "no_moves"
    REPETITION = "repetition"
    AGREEMENT = "agreement"
    RESIGNATION = "resignation"
    TIME_FORFEIT = "time_forfeit"
    #: By a referee: a player that brought forth no legal move, a score that left no doubt, a limit.
    RULES_INFRACTION = "rules_infraction"
    ADJUDICATION = "adjudication"
    MAX_PLIES = "max_plies"
    #: Ended by something that the moves do not show; a PGN tells only the result.
    UNKNOWN = "unknown"


_WON = frozenset((Termination.CHECKMATE, Termination.RESIGNATION, Termination.RULES_INFRACTION))
_DRAWN = frozenset(
    (
        Termination.STALEMATE,
        Termination.INSUFFICIENT_MATERIAL,
        Termination.SEVENTY_FIVE_MOVES,
        Termination.FIVEFOLD_REPETITION,
        Termination.FIFTY_MOVES,
        Termination.THREEFOLD_REPETITION,
        Termination.AGREEMENT,
        Termination.MAX_PLIES,
    )
)
_SENTENCES = {
    Termination.CHECKMATE: "{winner} wins by checkmate",
    Termination.STALEMATE: "draw by stalemate",
    Termination.INSUFFICIENT_MATERIAL: "draw: neither side can checkmate",
    Termination.SEVENTY_FIVE_MOVES: "draw: 75 moves without a capture or a pawn move",
    Termination.FIVEFOLD_REPETITION: "draw: the position occurred five times",
    Termination.FIFTY_MOVES: "draw: 50 moves without a capture or a pawn move",
    Termination.THREEFOLD_REPETITION: "draw: the position occurred three times",
    Termination.EMPTY_BOARD: "{winner} wins with more pieces off the board: none is left on it",
    Termination.NO_MOVES: "{winner} wins with more pieces off the board: no move is left",
    Termination.REPETITION: (
        "{winner} wins with more pieces off the board: the position occurred three times"
    ),
    Termination.AGREEMENT: "draw by agreement",
    Termination.RESIGNATION: "{winner} wins: {loser} resigned",
    Termination.TIME_FORFEIT: "{winner} wins on time",
    Termination.RULES_INFRACTION: "{winner} wins: {loser} made no legal move",
    Termination.ADJUDICATION: "{winner} wins by adjudication",
    Termination.MAX_PLIES: "draw: the match is as long as it may be",
    Termination.UNKNOWN: "{winner} wins",
}
_DRAWN_SENTENCES = {
    Termination.EMPTY_BOARD: "draw with as many pieces off the board: none is left on it",
    Termination.NO_MOVES: "draw with as many pieces off the board: no move is left",
    Termination.REPETITION: (
        "draw with as many pieces off the board: the position occurred three times"
    ),
    Termination.TIME_FORFEIT: "draw: time ran out, but the opponent cannot win",
    Termination.ADJUDICATION: "draw by adjudication",
    Termination.UNKNOWN: "draw",
}


@dataclass(frozen=True)
class Outcome:
    """The end of a game. `winner` is None for a draw."""

    winner: Color | None
    termination: Termination

    def __post_init__(self) -> None:
        if self.winner is None and self.termination in _WON:
            raise ValueError(f"{self.termination.value} has a winner")
        if self.winner is not None and self.termination in _DRAWN:
            raise ValueError(f"{self.termination.value} has no winner")

    @property
    def result(self) -> str:
        """The result as PGN writes it: `1-0`, `0-1` or `1/2-1/2`."""
        if self.winner is None:
            return "1/2-1/2"
        return "1-0" if self.winner is Color.WHITE else "0-1"

    def __str__(self) -> str:
        if self.winner is None:
            return _DRAWN_SENTENCES.get(self.termination) or _SENTENCES[self.termination]
        return _SENTENCES[self.termination].format(
            winner=self.winner.value.capitalize(), loser=self.winner.opponent.value.capitalize()
        )
