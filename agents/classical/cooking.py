"""King's Cooking: a search of its own, by the rules of the board and not by the solver's table.

It looks as far ahead as it may, and weighs what lies beyond by what is off the board, what is still
on it, and what could leave next.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from agents.classical.search import Findings, Line
from agents.player import Advice, Candidate
from engine.moves import Move
from engine.pieces import Color
from engine.variants.kings_cooking import KingsCookingPosition
from engine.variants.kings_cooking_board import BEYOND, EMPTY, Step, View, stepped, steps, turned

#: A game won by some pieces is worth so much for each, sooner rather than later: more than twice as
#: much as any board, and less than what would be a mate.
WON = 1_000
_SCORED, _PRESENT, _LEAVING = 100, 25, 30
_INFINITE = 1 << 30
_BREATH = 64
_MAX_DEPTH = 40
_REPETITIONS = 3

#: The board as the mover sees it, by how many pieces it leads, and whose move it is.
_Node: TypeAlias = tuple[View, int, bool]
#: Depth, score, whether it is exact, at least or at most, and the best step.
_Entry: TypeAlias = tuple[int, int, int, Step | None]
_EXACT, _LOWER, _UPPER = 0, 1, 2


class _Stop(Exception):
    """The search is over, wherever it is."""


def weigh(view: View, lead: int) -> int:
    """Return what a board is worth to its mover, who leads by so many pieces."""
    leaving = sum(target == BEYOND for _, target in steps(view))
    their_leaving = sum(target == BEYOND for _, target in steps(turned(view)))
    present = sum(map(str.isupper, view)) - sum(map(str.islower, view))
    return _SCORED * lead + _PRESENT * present + _LEAVING * (leaving - their_leaving)


class CookingSearch:
    """One search of one position of King's Cooking, given those of the game up to it."""

    def __init__(
        self,
        positions: Sequence[KingsCookingPosition],
        *,
        nodes: int | None = None,
        deadline: float | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> None:
        self._position = positions[-1]
        # Pieces that are gone stay gone, so in one game these tell positions apart.
        self._occurred = Counter(_node(position) for position in positions)
        self._limit = nodes
        self._deadline = deadline
        self._stopped = stopped
        self.nodes = 0
        self._next_breath = 0
        self._table: dict[_Node, _Entry] = {}

    def run(self, margin: int = 0) -> Findings:
        """Search deeper and deeper, and return the best line and those at most `margin` behind."""
        view, lead, white = _node(self._position)
        # The board's steps and the position's moves come in the same order.
        moves = dict(zip(steps(view), self._position.legal_moves(), strict=True))
        order = sorted(moves, key=lambda step: moves[step].uci())
        lines: list[Line] = []
        reached = 0
        for depth in range(1, _MAX_DEPTH + 1):
            # On nine squares the first ply is a handful of nodes: it need not be cut short.
            self._next_breath = 0 if depth > 1 else 1 << 62
            found: list[Line] = []
            best = -_INFINITE
            try:
                for step in order:
                    near = best - margin - 1
                    after = _after(view, lead, white, step)
                    score = -self._search(after, depth - 1, -_INFINITE, -near, 1)
                    if score > near:
                        found.append(Line(moves[step], score, (moves[step],)))
                        best = max(best, score)
            except _Stop:
                if not found:
                    break
            lines = sorted(
                (line for line in found if line.score >= best - margin),
                key=lambda line: -line.score,
            )
            if self._next_breath < 0:
                break
            reached = depth
            places = {line.move: place for place, line in enumerate(lines)}
            order.sort(key=lambda step: places.get(moves[step], len(places)))
            if abs(best) > WON // 2 or len(order) == 1:
                break  # the end is in sight
        return Findings(tuple(lines), max(reached, 1), self.nodes)

    def _search(self, node: _Node, depth: int, alpha: int, beta: int, ply: int) -> int:
        self.nodes += 1
        if self.nodes >= self._next_breath:
            self._breathe()
        view, lead, white = node
        ways = steps(view)
        if not ways or view == EMPTY or self._occurred[node] >= _REPETITIONS - 1:
            return _end(lead, ply)
        if depth <= 0:
            return weigh(view, lead)
        hinted: Step | None = None
        entry = self._table.get(node)
        if entry is not None:
            known, score, bound, hinted = entry
            if (
                known == depth
                and abs(score) < WON // 2
                and (
                    bound == _EXACT
                    or (bound == _LOWER and score >= beta)
                    or (bound == _UPPER and score <= alpha)
                )
            ):
                return score
        ways.sort(key=lambda step: (step != hinted, step[1] != BEYOND, view[step[1] % 9] == "."))
        best, best_step = -_INFINITE, None
        start = alpha
        self._occurred[node] += 1
        try:
            for step in ways:
                after = _after(view, lead, white, step)
                score = -self._search(after, depth - 1, -beta, -alpha, ply + 1)
                if score > best:
                    best, best_step = score, step
                    alpha = max(alpha, score)
                    if alpha >= beta:
                        break
        finally:
            self._occurred[node] -= 1
        bound = _LOWER if best >= beta else _EXACT if best > start else _UPPER
        self._table[node] = (depth, best, bound, best_step)
        return best

    def _breathe(self) -> None:
        over = self._limit is not None and self.nodes >= self._limit
        over = over or (self._deadline is not None and time.monotonic() >= self._deadline)
        if over or (self._stopped is not None and self._stopped()):
            self._next_breath = -1
            raise _Stop
        self._next_breath = self.nodes + _BREATH
        if self._limit is not None:
            self._next_breath = min(self._next_breath, self._limit)


def _node(position: KingsCookingPosition) -> _Node:
    turn = position.turn
    lead = position.score(turn) - position.score(turn.opponent)
    return position.view, lead, turn is Color.WHITE


def _after(view: View, lead: int, white: bool, step: Step) -> _Node:
    return turned(stepped(view, step)), -lead - (step[1] == BEYOND), not white


def _end(lead: int, ply: int) -> int:
    """Return what the end of a game is worth: a win sooner, a loss later."""
    if lead == 0:
        return 0
    return lead * WON - ply if lead > 0 else lead * WON + ply


# --- the specialists ---


def tactical(position: KingsCookingPosition, findings: Findings, most: int) -> Advice:
    """Return the advice of who searches."""
    return Advice(
        "tactical",
        tuple(
            Candidate(line.move, f"{_prospect(line.score)}, {findings.depth} plies ahead")
            for line in findings.lines[:most]
        ),
    )


def positional(position: KingsCookingPosition, most: int) -> Advice:
    """Return the advice of who weighs the board after each move, and no further."""
    ranked: list[tuple[int, str, Move]] = []
    for move in position.legal_moves():
        view, lead, _ = _node(position.play(move))
        ranked.append((weigh(view, lead), move.uci(), move))
    ranked.sort()
    return Advice(
        "positional",
        tuple(
            Candidate(move, f"off the board, on it and about to leave: {-worth / 100:+.2f}")
            for worth, _, move in ranked[:most]
        ),
    )


def _prospect(score: int) -> str:
    if abs(score) < WON // 2:
        return f"{score / 100:+.2f}"
    pieces = round(abs(score) / WON)
    ahead = f"by {pieces} piece{'s' if pieces > 1 else ''}"
    return f"wins {ahead}" if score > 0 else f"loses {ahead}"
