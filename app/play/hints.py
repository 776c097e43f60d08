"""Hints: what a person might play, by Stockfish, or by whoever has solved the variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.player import Turn
from agents.solver_player import SolverPlayer
from agents.uci.limits import Limit
from engine import Game

if TYPE_CHECKING:
    from agents.catalogue import Catalogue

#: It takes a second or two.
_LIMIT = Limit(nodes=1_000_000)
#: How much of the line is told after the move.
_ANSWERS = 3


async def hint(game: Game, catalogue: Catalogue) -> str:
    """Return a sentence on the move that the side to move might play.

    Raises what `Analyser.analyse` raises, and `UciNotFound`.
    """
    if game.variant in SolverPlayer.variants:
        decision = await catalogue.seat(SolverPlayer.name, game.variant).decide(Turn.of(game))
        best = decision.advice[0].candidates[0]
        return f"Perfect play is {game.position.san(best.move)}: {best.reason}."
    analysis = await catalogue.analyser().analyse(Turn.of(game), _LIMIT)
    best_line = analysis.best
    if best_line is None or not best_line.san:
        return "Stockfish has no move to tell."
    move, *answers = best_line.san
    told = f"Stockfish would play {move} ({best_line.score} for you)"
    return f"{told}, and then {' '.join(answers[:_ANSWERS])}." if answers else f"{told}."
