"""Search: what the moves of a position lead to, by alpha-beta with quiescence.

It works on the flat states of `engine.state`, deepens ply by ply, and stops by nodes, by a
deadline or when told to. Every decision starts with empty memories, so that by nodes it depends on
the game alone. `docs/explanation/classical-team.md` says what is pruned and why.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from agents.classical.captures import (
    QUEEN,
    captures,
    is_guarded,
    is_safe,
    victim_worth,
    worth_at,
)
from agents.classical.evaluation import evaluate
from engine.chess_position import FIFTY_MOVES
from engine.material import is_dead
from engine.movegen import legal_moves
from engine.moves import Move
from engine.state import CLOCK, CLOCK_BITS, Key, State, is_check, make

MATE = 30_000
#: Scores beyond this are mates, so many plies away as they lack of `MATE`.
MATE_BOUND = MATE - 1_000
INFINITE = MATE + 1
MAX_DEPTH = 60
_MAX_PLY = 100
#: So many plies of captures are looked at beyond the horizon. Hardly any real exchange is as long,
#: and on a board full of queens they would never end.
_MAX_CAPTURES = 12

#: After so many nodes it looks at the clock: few, since on a full board each takes its time.
_BREATH = 32
#: At first not sooner than this, which is a ply of most positions: else who has no time left would
#: play the first move at hand. It is no more than a moment, and `nodes` are kept to all the same.
_FIRST_BREATH = 128
#: Positions that are remembered at a time: about 100 MB.
_TABLE_LIMIT = 120_000

_EXACT, _LOWER, _UPPER = 0, 1, 2
#: Depth, kind of bound, score as from this position, best move.
_Entry = tuple[int, int, int, Move | None]

_NULL_PLY = (1 << CLOCK_BITS) + 1
#: By how much a position may be over the window, for each ply left, to be given up as good enough.
_REVERSE_FUTILITY = 90
_FUTILITY = (0, 180, 320)
_DELTA = 180


class Stopped(Exception):
    """A limit is reached: the search is over, wherever it is."""


@dataclass(frozen=True, slots=True)
class Line:
    """A move of the position searched, what it is worth to the mover, and what is to follow."""

    move: Move
    score: int
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search found: the best line first, then others whose scores are near, and known.

    If it was stopped before it knew of any, the depth is 0, and the line is a move with the score
    of the position as it stands.
    """

    lines: tuple[Line, ...]
    depth: int
    nodes: int

    @property
    def best(self) -> Line:
        """The best line."""
        return self.lines[0]

    def line_of(self, move: Move) -> Line | None:
        """Return the line of a move, if its score is known."""
        return next((line for line in self.lines if line.move is move), None)


class Search:
    """One search of one position.

    `occurred` counts how often the positions of the game have occurred. The limits hold for
    whatever it is asked: `nodes` for each `run` and for all that it is asked before. With `among`
    only those moves are searched. Without `selective` it prunes nothing and extends nothing: then
    it finds what a plain search of that depth would.
    """

    def __init__(
        self,
        state: State,
        occurred: Mapping[Key, int] | None = None,
        *,
        nodes: int | None = None,
        deadline: float | None = None,
        stopped: Callable[[], bool] | None = None,
        selective: bool = True,
        among: Collection[Move] = (),
    ) -> None:
        self._root = state
        self._among = among
        self._occurred = occurred or {}
        self._limit = nodes
        self._deadline = deadline
        self._stopped = stopped
        self._selective = selective
        self._most_captures = _MAX_CAPTURES if selective else _MAX_PLY
        self.nodes = 0
        self._next_breath = 0
        self._table: dict[Key, _Entry] = {}
        self._worths: dict[Key, int] = {}
        self._killers: list[list[Move | None]] = [[None, None] for _ in range(_MAX_PLY + 2)]
        self._history: tuple[defaultdict[Move, int], defaultdict[Move, int]] = (
            defaultdict(int),
            defaultdict(int),
        )
        self._path: set[Key] = set()
        self._lines: list[list[Move]] = [[] for _ in range(_MAX_PLY + 2)]

    # --- from the root ---

    def moves(self) -> list[Move]:
        """Return the moves to search, in no particular order."""
        moves = legal_moves(self._root)
        return [move for move in moves if move in self._among] if self._among else moves

    def run(self, depth: int = MAX_DEPTH, margin: int = 0, first: Move | None = None) -> Findings:
        """Search deeper and deeper, and return the best line and those at most `margin` behind.

        There must be a legal move. `first` is tried before the others, and is what is left if there
        is no time for any.
        """
        self.nodes = 0
        # In a fixed order: which of two equal moves is best must not depend on how they were made.
        moves = sorted(self.moves(), key=Move.uci)
        moves.sort(key=lambda move: -victim_worth(self._root, move.to_bit))
        if first in moves:
            moves.sort(key=lambda move: move is not first)
        standing = Line(moves[0], evaluate(self._root), (moves[0],))
        findings = Findings((standing,), 0, 0)
        for each in range(1, min(depth, MAX_DEPTH) + 1):
            self._next_breath = 0 if each > 1 else self._within_limit(_FIRST_BREATH)
            lines, is_whole = self._iterate(moves, each, margin)
            if lines:
                findings = Findings(tuple(lines), each, self.nodes)
            if not is_whole:
                break
            best = lines[0].score
            places = {line.move: place for place, line in enumerate(lines)}
            moves.sort(key=lambda move: places.get(move, len(places)))
            if abs(best) > MATE_BOUND and MATE - abs(best) <= each:
                break  # a mate that is nearer than the horizon will not become nearer
            if len(moves) == 1 and each >= 5:
                break  # there is nothing to choose
        return Findings(findings.lines, findings.depth, self.nodes)

    def _iterate(self, moves: list[Move], depth: int, margin: int) -> tuple[list[Line], bool]:
        """Search every move to a depth; return the lines found, and whether all were searched."""
        found: list[Line] = []
        best = -INFINITE
        self._path = {self._root[:15]}
        try:
            for move in moves:
                after = make(self._root, move)
                near = best - (margin + 1 if abs(best) < MATE_BOUND else 0)
                if found:
                    score = -self._search(after, depth - 1, -near - 1, -near, 1, True)
                if not found or score > near:
                    score = -self._search(after, depth - 1, -INFINITE, -near, 1, True)
                    if score > near:
                        found.append(Line(move, score, (move, *self._lines[1])))
                        best = max(best, score)
        except Stopped:
            return _ranked(found, best, margin), False
        return _ranked(found, best, margin), True

    def holds(self, state: State, worth: int) -> bool:
        """Return whether who has moved keeps so much once all captures that matter are made.

        Raises `Stopped` if a limit is reached before that is known.
        """
        return -self._quiesce(state, -worth, 1 - worth, 1, 1 + self._most_captures) >= worth

    # --- within ---

    def _breathe(self) -> None:
        """Stop if a limit is reached."""
        if self._limit is not None and self.nodes >= self._limit:
            raise Stopped
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise Stopped
        if self._stopped is not None and self._stopped():
            raise Stopped
        self._next_breath = self._within_limit(self.nodes + _BREATH)

    def _within_limit(self, nodes: int) -> int:
        """Return when to breathe next, if not at so many nodes: then at the limit exactly."""
        return nodes if self._limit is None else min(nodes, self._limit)

    def _search(
        self, state: State, depth: int, alpha: int, beta: int, ply: int, may_pass: bool
    ) -> int:
        """Return what a position is worth to its mover, exactly if between alpha and beta."""
        if depth <= 0 or ply >= _MAX_PLY:
            bottom = min(ply + self._most_captures, _MAX_PLY)
            return self._quiesce(state, alpha, beta, ply, bottom)
        self.nodes += 1
        if self.nodes >= self._next_breath:
            self._breathe()
        is_open = beta - alpha > 1
        if is_open:
            self._lines[ply] = []
        key = state[:15]
        quiet_plies = state[16] & CLOCK
        in_check = is_check(state)
        if quiet_plies >= 4 and (key in self._path or self._occurred.get(key, 0) >= 2):
            return 0
        if quiet_plies >= FIFTY_MOVES and not (in_check and not legal_moves(state)):
            return 0
        if not (state[0] or state[3] or state[6] or state[9]) and is_dead(state):
            return 0
        entry = self._table.get(key)
        hinted: Move | None = None
        if entry is not None:
            known_depth, bound, score, hinted = entry
            if known_depth >= depth and not is_open:
                if score > MATE_BOUND:
                    score -= ply
                elif score < -MATE_BOUND:
                    score += ply
                if (
                    bound == _EXACT
                    or (bound == _LOWER and score >= beta)
                    or (bound == _UPPER and score <= alpha)
                ):
                    return score
        asked = depth
        is_futile = False
        if self._selective:
            if in_check:
                depth += 1
            elif not is_open and abs(beta) < MATE_BOUND:
                standing = self._worth(state, key)
                if depth <= 3 and standing - _REVERSE_FUTILITY * depth >= beta:
                    return standing
                if (
                    may_pass
                    and depth >= 3
                    and standing >= beta
                    and state[1] | state[2] | state[3]  # with pawns alone, passing may be best
                ):
                    score = -self._search(
                        _passed(state), depth - 3 - depth // 5, -beta, 1 - beta, ply + 1, False
                    )
                    if score >= beta:
                        return score if score < MATE_BOUND else beta
                is_futile = depth <= 2 and standing + _FUTILITY[depth] <= alpha
            if hinted is None and depth >= 5:
                depth -= 1  # nothing is known of it: rather find a first move sooner
        moves = self._ordered(state, hinted, ply)
        if not moves:
            return ply - MATE if in_check else 0
        self._path.add(key)
        theirs = state[11]
        best = -INFINITE
        best_move: Move | None = None
        start = alpha
        for index, move in enumerate(moves):
            is_quiet = not (move.to_bit & theirs or move.promotion)
            after = make(state, move)
            if index == 0:
                score = -self._search(after, depth - 1, -beta, -alpha, ply + 1, True)
            else:
                reduction = 0
                if self._selective and is_quiet and not in_check:
                    if is_futile and not is_check(after):
                        best = max(best, alpha)  # all that is known of it: not more
                        continue
                    if depth >= 3 and index >= 4:
                        reduction = 1 if index < 12 or depth < 5 else 2
                        if is_open:
                            reduction -= 1
                score = -self._search(
                    after, depth - 1 - reduction, -alpha - 1, -alpha, ply + 1, True
                )
                if score > alpha and (reduction or score < beta):
                    score = -self._search(after, depth - 1, -beta, -alpha, ply + 1, True)
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    best_move = move
                    if is_open:
                        self._lines[ply] = [move, *self._lines[ply + 1]]
                    if score >= beta:
                        if is_quiet:
                            self._remember(state, move, ply, depth)
                        break
        self._path.discard(key)
        self._store(key, asked, start, beta, best, best_move or hinted, ply)
        return best

    def _quiesce(self, state: State, alpha: int, beta: int, ply: int, bottom: int) -> int:
        """Return what a position is worth once all captures that matter are made.

        At the ply that is the `bottom` it is what it seems.
        """
        self.nodes += 1
        if self.nodes >= self._next_breath:
            self._breathe()
        is_open = beta - alpha > 1
        if is_open:
            self._lines[ply] = []
        if ply >= bottom:
            return evaluate(state)
        if is_check(state):
            return self._evade(state, alpha, beta, ply, bottom)
        selective = self._selective
        best = standing = self._worth(state, state[:15])
        if best >= beta:
            return best
        if best > alpha:
            alpha = best
        elif selective and standing + QUEEN + _DELTA <= alpha:
            return best
        for _, victim, move in captures(state):
            if selective:
                if standing + victim + _DELTA <= alpha:
                    continue
                if victim < worth_at(state, move.from_bit) - 20 and is_guarded(state, move):
                    continue
            if not is_safe(state, move):
                continue
            score = -self._quiesce(make(state, move), -beta, -alpha, ply + 1, bottom)
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    if is_open:
                        self._lines[ply] = [move, *self._lines[ply + 1]]
                    if score >= beta:
                        break
        return best

    def _evade(self, state: State, alpha: int, beta: int, ply: int, bottom: int) -> int:
        """Return what a position in check is worth: every way out counts."""
        moves = self._ordered(state, None, ply)
        is_open = beta - alpha > 1
        best = ply - MATE
        for move in moves:
            score = -self._quiesce(make(state, move), -beta, -alpha, ply + 1, bottom)
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    if is_open:
                        self._lines[ply] = [move, *self._lines[ply + 1]]
                    if score >= beta:
                        break
        return best

    # --- order, and memory ---

    def _worth(self, state: State, key: Key) -> int:
        """Return the evaluation of a position. A third of them come up again."""
        worth = self._worths.get(key)
        if worth is None:
            worth = self._worths[key] = evaluate(state)
            if len(self._worths) > _TABLE_LIMIT:
                self._worths.clear()
        return worth

    def _ordered(self, state: State, hinted: Move | None, ply: int) -> list[Move]:
        """Return the legal moves: remembered ones, good captures, killers, and then by history."""
        moves = legal_moves(state)
        theirs = state[11]
        taking = [move for move in moves if move.to_bit & theirs or move.promotion]
        quiet = [move for move in moves if not (move.to_bit & theirs or move.promotion)]
        quiet.sort(key=self._history[state[14]].__getitem__, reverse=True)
        ordered: list[Move] = []
        late: list[Move] = []
        if taking:
            promises: list[tuple[int, int, Move]] = []
            for move in taking:
                victim = victim_worth(state, move.to_bit)
                taker = worth_at(state, move.from_bit)
                if move.promotion:
                    victim += QUEEN if move.promotion == "q" else -QUEEN
                elif victim < taker - 20 and is_guarded(state, move):
                    late.append(move)
                    continue
                promises.append((taker - victim * 8, len(promises), move))
            promises.sort()
            ordered = [move for _, _, move in promises]
        for killer in self._killers[ply]:
            if killer is not None and killer in quiet:
                quiet.remove(killer)
                ordered.append(killer)
        ordered += quiet
        ordered += late
        if hinted is not None and ordered and ordered[0] is not hinted:
            ordered.remove(hinted)
            ordered.insert(0, hinted)
        return ordered

    def _remember(self, state: State, move: Move, ply: int, depth: int) -> None:
        killers = self._killers[ply]
        if killers[0] is not move:
            killers[1] = killers[0]
            killers[0] = move
        self._history[state[14]][move] += depth * depth

    def _store(
        self, key: Key, depth: int, alpha: int, beta: int, score: int, move: Move | None, ply: int
    ) -> None:
        bound = _LOWER if score >= beta else _EXACT if score > alpha else _UPPER
        # A mate is kept as seen from here, whatever the way that led here.
        if score > MATE_BOUND:
            score += ply
        elif score < -MATE_BOUND:
            score -= ply
        if len(self._table) >= _TABLE_LIMIT:
            self._table.clear()
        self._table[key] = (depth, bound, score, move)


def _ranked(lines: list[Line], best: int, margin: int) -> list[Line]:
    """Return the lines that are near the best, best first; equal ones as they were found."""
    near = best - (margin if abs(best) < MATE_BOUND else 0)
    return sorted((line for line in lines if line.score >= near), key=lambda line: -line.score)


def _passed(state: State) -> State:
    """Return the state after the mover has passed."""
    return (
        *state[6:12], *state[:6], state[12], 0, not state[14], state[15], state[16] + _NULL_PLY, 0
    )  # fmt: skip
