"""Specialists: who looks at a position of chess, each in its own way, and says what it would play.

The tactical one searches, and tells what the best lines win. The positional one does not look
ahead further than the captures, and tells what a quiet move does to the terms of the evaluation.
"""

from __future__ import annotations

from agents.classical.evaluation import evaluate, terms
from agents.classical.search import Findings, Search, Stopped
from agents.classical.words import of_change, of_line
from agents.player import Advice, Candidate
from engine.chess_position import ChessPosition
from engine.moves import Move
from engine.state import make

TACTICAL, POSITIONAL = "tactical", "positional"

#: How many candidates a specialist names at most.
CANDIDATES = 3
#: What the other side may win by captures at once for a move to count as safe, in centipawns.
_SAFE = 40


def tactical(position: ChessPosition, findings: Findings) -> Advice:
    """Return the advice of who searches: the best lines, and what they win or lose."""
    if not findings.depth:
        return Advice(TACTICAL, abstained="it was stopped before it knew of any line")
    worth = evaluate(position.state)
    return Advice(
        TACTICAL,
        tuple(
            Candidate(line.move, of_line(position, line, worth, place == 0))
            for place, line in enumerate(findings.lines[:CANDIDATES])
        ),
    )


def positional(position: ChessPosition, search: Search) -> Advice:
    """Return the advice of who weighs: the quiet and safe moves that improve the position most.

    Where no quiet move is safe it names captures, and where nothing is, it abstains. When the
    search is stopped it names what it has found so far.
    """
    state = position.state
    weighed = [(-evaluate(make(state, move)), move) for move in search.moves()]
    weighed.sort(key=lambda each: (-each[0], each[1].uci()))
    quiet = [each for each in weighed if not (each[1].to_bit & state[11] or each[1].promotion)]
    chosen: list[Move] = []
    found_none = "no move is safe from captures"
    try:
        for moves in (quiet, weighed):
            # The best come first, so few are ever looked at.
            for worth, move in moves:
                if len(chosen) < CANDIDATES and search.holds(make(state, move), worth - _SAFE):
                    chosen.append(move)
            if chosen:
                break
    except Stopped:
        found_none = "it was stopped before it knew of a safe move"
    if not chosen:
        return Advice(POSITIONAL, abstained=found_none)
    before = terms(state)
    return Advice(
        POSITIONAL,
        tuple(Candidate(move, of_change(before, -terms(make(state, move)))) for move in chosen),
    )
