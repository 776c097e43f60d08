"""Questions: the positions whose worth an analysis of a game needs to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from agents.player import Turn
from app.errors import AppError
from app.evaluations.analysis.table import Table
from engine import VARIANTS, Evaluation, Game, Move, Outcome, Ply, Position


@dataclass(eq=False)
class CannotAnalyseVariant(AppError):
    """A game of a variant that no UCI engine plays."""

    variant: str

    def __str__(self) -> str:
        return f"games of {self.variant} cannot be analysed: no UCI engine plays it"


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """A position with its history, and what it is worth if the rules tell. Two are never equal."""

    turn: Turn
    #: From White's side. A mate in 0 is that of whoever moved last.
    known: Evaluation | None


class Questions:
    """The questions of a game: every position once, and those after moves that were not played."""

    def __init__(self, game: Game, tables: Mapping[int, Table]) -> None:
        """Raise `CannotAnalyseVariant`, or `MoveError` for a table that does not fit the game."""
        if not VARIANTS[game.variant].has_uci_engines:
            raise CannotAnalyseVariant(game.variant)
        self.tables = tables
        #: From the first position of the game to the last.
        self.positions: list[Question] = []
        #: By the number of the ply and the move that could have been played.
        self.others: dict[tuple[int, Move], Question] = {}
        occurred: Counter[Hashable] = Counter()
        start, plies = game.start, game.plies
        for number, position in enumerate(game.line.positions, 1):
            so_far = plies[: number - 1]
            occurred[position.key()] += 1
            known = _known(game, position, occurred[position.key()], number > len(plies))
            self.positions.append(Question(Turn(start, so_far), known))
            if number > len(plies) or number not in tables:
                continue
            for move in tables[number].moves:
                if move is plies[number - 1].move:
                    continue
                after = position.play(move)
                ply = Ply(number, move, position, after, None)
                known = _known(game, after, occurred[after.key()] + 1, is_last=False)
                self.others[number, move] = Question(Turn(start, (*so_far, ply)), known)

    @property
    def searches(self) -> list[Question]:
        """Those that only an engine can answer."""
        return [each for each in (*self.positions, *self.others.values()) if each.known is None]


def _known(game: Game, position: Position, occurred: int, is_last: bool) -> Evaluation | None:
    """Return what a position is worth in which the game is over by the rules, or None."""
    outcome = position.outcome() or position.early_outcome(lambda: occurred)
    if outcome is None and position.may_end_early():
        outcome = _claimed(game, position, occurred, is_last)
    if outcome is None:
        return None
    return Evaluation(centipawns=0) if outcome.winner is None else Evaluation(mate=0)


def _claimed(game: Game, position: Position, occurred: int, is_last: bool) -> Outcome | None:
    """Return the draw that is claimed in a position: in the last one by a player, if it was."""
    claims = position.claims(lambda: occurred)
    ending = game.outcome if is_last else None
    was_claimed = ending is not None and ending.termination in claims
    return Outcome(None, claims[0]) if claims and (game.claims_draws or was_claimed) else None
