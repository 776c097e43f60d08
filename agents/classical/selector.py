"""The selector: takes what one of the specialists proposes, and says why."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from agents.classical.search import Findings, Line
from agents.classical.words import pawns
from agents.player import Advice, Candidate
from engine.position import Position

SELECTOR = "selector"

#: By how much, in centipawns, a line may be behind the best and still count as sound.
MARGIN = 10
#: In the first plies of a game a lot is drawn among sound moves, so that games differ.
DRAWN_PLIES = 8
_DRAWN_AMONG = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """The line that was chosen, and the selector's words on it."""

    line: Line
    advice: Advice


def select(
    position: Position, findings: Findings, positional: Advice, lot: Random | None = None
) -> Choice:
    """Return the tactical favourite, unless the positional one is as sound.

    With a `lot` it is drawn among the moves that are as sound as the best. Where nothing could be
    searched it is the positional favourite, or else the first move at hand.
    """
    best = findings.best
    equals = findings.lines[:_DRAWN_AMONG]
    if lot is not None and len(equals) > 1:
        # In a fixed order: what the seed means must not depend on a centipawn.
        chosen = lot.choice(sorted(equals, key=lambda line: line.move.uci()))
        reason = f"one of {len(equals)} moves that are as sound, drawn by lot"
        return _choice(chosen, f"{reason} ({pawns(chosen.score)})")
    favourite = positional.candidates[0].move if positional.candidates else None
    if not findings.depth:
        whose = "the positional favourite" if favourite is best.move else "the first move at hand"
        return _choice(best, f"{whose}; there was no time to search ({pawns(best.score)})")
    if favourite is None:
        return _choice(best, f"the tactical favourite ({pawns(best.score)})")
    if favourite is best.move:
        return _choice(best, f"both specialists prefer it ({pawns(best.score)})")
    line = findings.line_of(favourite)
    if line is not None:
        behind = (best.score - line.score) / 100
        reason = f"the positional favourite, and tactically sound: {behind:.2f} behind the best"
        return _choice(line, f"{reason} ({pawns(line.score)})")
    san = position.san(favourite)
    reason = f"the tactical favourite; {san}, the positional one, is over {MARGIN / 100:.2f} worse"
    return _choice(best, f"{reason} ({pawns(best.score)})")


def _choice(line: Line, reason: str) -> Choice:
    return Choice(line, Advice(SELECTOR, (Candidate(line.move, reason),)))
