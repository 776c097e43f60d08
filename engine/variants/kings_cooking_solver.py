"""King's Cooking solved: win, draw or loss of any position, and in how many plies.

By retrograde analysis: from the ends of the game backwards, over all positions that can follow the
one asked about. What was found is remembered, so that the next question is a look-up.

The third repetition needs care, for it ends the game by the score: the side that is ahead may like
it. In a new game it changes nothing (see docs/explanation/kings-cooking.md). Told which positions
have already occurred twice, the solver counts with them too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import inf
from threading import Lock
from typing import TypeAlias

from engine.errors import NotSolved
from engine.moves import Move
from engine.pieces import Color
from engine.position import Position
from engine.variants.kings_cooking import KingsCookingPosition
from engine.variants.kings_cooking_board import BEYOND, View, stepped, steps, turned

#: The board as the mover sees it, by how many pieces the mover leads, and whether it is White.
_Node: TypeAlias = tuple[View, int, bool]
#: By the number of a node: within how many plies something can be forced, or None.
_Plies: TypeAlias = list[float | None]
_MOVER, _OTHER = 0, 1


class Value(IntEnum):
    """What a position is worth to the side to move, both sides playing perfectly."""

    LOSS = -1
    DRAW = 0
    WIN = 1


@dataclass(frozen=True)
class Verdict:
    """What a position is worth to the side to move, and how soon the game ends.

    A win: the fewest plies in which it can be forced. A loss: the most for which it can be put off.
    A draw: the fewest plies in which the side to move can end the game without losing, whatever the
    opponent does. None, where no end can be forced and it is the third repetition that decides:
    never in a position that a new game can reach.
    """

    value: Value
    plies: int | None

    def __str__(self) -> str:
        when = "by repetition" if self.plies is None else f"in {self.plies}"
        return f"{self.value.name.lower()} {when}"


@dataclass(frozen=True)
class RatedMove:
    """A legal move, what it makes of the position, and how easily the opponent can go wrong.

    `verdict` is for the side that moves, and counts this ply: a move that ends the game is "in 1".
    `slips` is the share of the opponent's replies that give away what it could have had.
    """

    move: Move
    verdict: Verdict
    slips: float


class Solver:
    """Answers for any position of King's Cooking. Safe to share between threads."""

    def __init__(self) -> None:
        self._table = _Table()
        # The last one with a history: who asks for a verdict often asks for the moves as well.
        self._latest: tuple[_Node, set[_Node], tuple[_Table, int]] | None = None
        self._lock = Lock()

    def verdict(self, position: Position, occurred_twice: Collection[Position] = ()) -> Verdict:
        """Return what a position is worth, given what has already occurred twice in its game.

        Raises `NotSolved` for another game than King's Cooking.
        """
        table, root = self._solved(_node(position), occurred_twice)
        return table.verdict(root)

    def moves(
        self, position: Position, occurred_twice: Collection[Position] = ()
    ) -> list[RatedMove]:
        """Return every legal move with its verdict, best first.

        Among wins the quickest come first, among losses the longest. Among draws, those after which
        the opponent can go wrong most easily. Raises `NotSolved` for another game.
        """
        node = _node(position)
        table, _ = self._solved(node, occurred_twice)
        children = map(table.number, _following(node))
        rated = [
            RatedMove(move, table.verdict(child, ply=1), table.slips(child))
            for move, child in zip(position.legal_moves(), children, strict=True)
        ]
        return sorted(rated, key=_worth, reverse=True)

    def _solved(self, node: _Node, occurred_twice: Collection[Position]) -> tuple[_Table, int]:
        """Return a table in which a node is solved, and its number there."""
        # Positions with more pieces cannot come again, and those with fewer not have been.
        dead = {each for each in map(_node, occurred_twice) if _empty(each) == _empty(node)}
        with self._lock:
            root = self._table.solve(node)
            if not dead:
                return self._table, root
            if self._latest is None or self._latest[:2] != (node, dead):
                table = _Table(self._table, dead)
                self._latest = node, dead, (table, table.solve(node))
            return self._latest[2]


def seen_twice(positions: Iterable[Position]) -> list[Position]:
    """Return the positions that occur at least twice among those of a game."""
    once: set[object] = set()
    twice = {}
    for position in positions:
        key = position.key()
        if key in once:
            twice[key] = position
        once.add(key)
    return list(twice.values())


def _worth(rated: RatedMove) -> tuple[int, float, float, str]:
    value, plies = rated.verdict.value, rated.verdict.plies
    haste = inf if plies is None else plies
    if value is Value.LOSS:
        return value, haste, rated.slips, rated.move.uci()
    # After a winning move the opponent has nothing to give away: slips tell only draws apart.
    return value, rated.slips, -haste, rated.move.uci()


def _node(position: Position) -> _Node:
    if not isinstance(position, KingsCookingPosition):
        raise NotSolved(position.variant)
    lead = position.score(position.turn) - position.score(position.turn.opponent)
    return position.view, lead, position.turn is Color.WHITE


def _alike(node: _Node) -> _Node:
    """Return the node that stands for all that are alike: for either side, and mirrored."""
    view, lead, _ = node
    return _alike_view(view), lead, True


def _alike_view(view: View) -> View:
    return min(view, view[2::-1] + view[5:2:-1] + view[8:5:-1])


def _following(node: _Node) -> list[_Node]:
    """Return the nodes after each legal step, in the order of `legal_moves`."""
    view, lead, white = node
    return [(after, -lead - scored, not white) for after, scored in _views_after(view)]


def _following_alike(node: _Node) -> list[_Node]:
    """Return the nodes that stand for those after each legal step."""
    view, lead, white = node
    return [(after, -lead - scored, white) for after, scored in _alike_views_after(view)]


def _views_after(view: View) -> list[tuple[View, bool]]:
    """Return what the opponent sees after each legal step, and whether that step scored."""
    return [(turned(stepped(view, step)), step[1] == BEYOND) for step in steps(view)]


@lru_cache(maxsize=1 << 16)  # a view comes with several leads
def _alike_views_after(view: View) -> list[tuple[View, bool]]:
    return [(_alike_view(after), scored) for after, scored in _views_after(view)]


def _empty(node: _Node) -> int:
    return node[0].count(".")


class _Table:
    """Nodes by number, what follows each, and what its mover or the other side can force.

    Without `dead` nodes, those that are alike share a number. With them, the table is about one
    game: a dead node ends it when it is entered once more, only nodes with as many pieces as the
    one asked about are looked into, and a `wider` table knows the rest.
    """

    def __init__(self, wider: _Table | None = None, dead: Collection[_Node] = ()) -> None:
        self._wider = wider
        self._dead = dead
        self._numbers: dict[_Node, int] = {}
        self._nodes: list[_Node] = []
        #: Empty where the game is over, and where there was no need to look.
        self._children: list[list[int]] = []
        # Of each node, within how many plies its mover, and the other side, can force a win, or a
        # result that is not a loss. `inf`, if only by going round in circles.
        self._wins: tuple[_Plies, _Plies] = ([], [])
        self._holds: tuple[_Plies, _Plies] = ([], [])
        self._taken_over: set[int] = set()

    def solve(self, node: _Node) -> int:
        """Return the number of a node, once everything about it is known."""
        if self._wider is None:
            node = _alike(node)
            if node in self._numbers:
                return self._numbers[node]
        # Where a game stands now has been entered already: it is not over, even if it is dead.
        root = self._add(node)
        if self._wider is None:
            self._numbers[node] = root
        by_empty: dict[int, list[int]] = {}
        for number in self._explore(root):
            by_empty.setdefault(_empty(self._nodes[number]), []).append(number)
        # Fewer pieces first: there is no way back to more.
        for _, numbers in sorted(by_empty.items(), reverse=True):
            self._force(numbers, self._wins)
            self._force(numbers, self._holds)
            self._settle_circles(numbers)
        return root

    def number(self, node: _Node) -> int:
        """Return the number of a node that follows one that is solved."""
        return self._numbers[_alike(node) if self._wider is None else node]

    def _add(self, node: _Node) -> int:
        self._nodes.append(node)
        self._children.append([])
        for plies in (*self._wins, *self._holds):
            plies.append(None)
        return len(self._nodes) - 1

    def _explore(self, root: int) -> list[int]:
        """Add all that can follow a node; return those to be worked out, and the node itself."""
        follow = _following_alike if self._wider is None else _following
        unknown = [root]
        for number in unknown:  # which grows
            followers = follow(self._nodes[number])
            if not followers:
                self._end(number)
            for follower in followers:
                known = self._numbers.get(follower)
                if known is None:
                    known = self._numbers[follower] = self._add(follower)
                    if self._wider is not None and _empty(follower) != _empty(self._nodes[root]):
                        self._take_over(known, self._wider)
                    elif follower in self._dead:
                        self._end(known)
                    else:
                        unknown.append(known)
                self._children[number].append(known)
        return unknown

    def _take_over(self, number: int, wider: _Table) -> None:
        """Take what another table knows of a node."""
        self._taken_over.add(number)
        there = wider.number(self._nodes[number])
        known = (*wider._wins, *wider._holds)
        for ours, theirs in zip((*self._wins, *self._holds), known, strict=True):
            ours[number] = theirs[there]

    def _end(self, number: int) -> None:
        """Let the game be over at a node, by the score."""
        lead = self._nodes[number][1]
        for side, side_lead in ((_MOVER, lead), (_OTHER, -lead)):
            if side_lead > 0:
                self._wins[side][number] = 0
            if side_lead >= 0:
                self._holds[side][number] = 0

    def _force(self, numbers: list[int], plies: tuple[_Plies, _Plies]) -> None:
        """Work out, backwards from what is known, what can be forced from nodes, and how soon."""
        parents: dict[int, list[int]] = {}
        open_replies: dict[int, int] = {}
        for number in numbers:
            replies = set(self._children[number])
            open_replies[number] = len(replies)
            for child in replies:
                parents.setdefault(child, []).append(number)
        #: By the number of plies: which nodes, and by which side.
        forced: dict[float, list[tuple[int, int]]] = {}
        for child in parents:
            for side in (_MOVER, _OTHER):
                count = plies[side][child]
                if count is not None:
                    forced.setdefault(count, []).append((child, side))
        while forced:
            count = min(forced)
            for child, side in forced.pop(count):
                for number in parents[child]:
                    if side == _MOVER:
                        # The mover there is the opponent here, who must have it after every reply.
                        open_replies[number] -= 1
                        if open_replies[number]:
                            continue
                    here = plies[1 - side]
                    if here[number] is None:
                        here[number] = count + 1
                        if number in parents:
                            forced.setdefault(count + 1, []).append((number, 1 - side))

    def _settle_circles(self, numbers: list[int]) -> None:
        """Give those their due who gain by going round, where nobody can force anything better.

        A circle pays by the score, so it is up to the side behind to end the game before that.
        """
        for number in numbers:
            lead = self._nodes[number][1]
            sides = ((_MOVER, lead), (_OTHER, -lead))
            if all(wins[number] is None for wins in self._wins):
                for side, side_lead in sides:
                    if side_lead > 0 and self._holds[1 - side][number] is None:
                        self._wins[side][number] = inf
            for side, _ in sides:
                if self._wins[1 - side][number] is None and self._holds[side][number] is None:
                    self._holds[side][number] = inf

    # --- answers ---

    def value(self, number: int) -> Value:
        """Return what a node is worth to its mover."""
        if self._wins[_MOVER][number] is not None:
            return Value.WIN
        return Value.DRAW if self._wins[_OTHER][number] is None else Value.LOSS

    def verdict(self, number: int, ply: int = 0) -> Verdict:
        """Return what a node is worth to its mover, or after one more ply, to the other side."""
        side, value = (_OTHER, -self.value(number)) if ply else (_MOVER, self.value(number))
        if value == Value.DRAW:
            plies = self._holds[side][number]
        else:
            plies = self._wins[side if value == Value.WIN else 1 - side][number]
        return Verdict(Value(value), None if plies is None or plies == inf else int(plies) + ply)

    def slips(self, number: int) -> float:
        """Return the share of moves from a node that are worse than its best."""
        best, following = self.value(number), self._children[number]
        if number in self._taken_over and self._wider is not None:
            return self._wider.slips(self._wider.number(self._nodes[number]))
        if not following:
            return 0.0
        return sum(-self.value(child) < best for child in following) / len(following)
