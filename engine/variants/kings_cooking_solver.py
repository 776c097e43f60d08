"""King's Cooking solved: win, draw or loss of any position, and in how many plies.

By retrograde analysis: from the ends of the game backwards, over all positions that can follow the
one asked about. What was found is remembered, so that the next question is a look-up.

The third repetition needs care, for it ends the game by the score: the side that is ahead may like
it. In a new game it changes nothing (see docs/explanation/kings-cooking.md). Told which positions
have already occurred twice, the solver counts with them too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

from engine.moves import Move
from engine.pieces import Color
from engine.position import Position
from engine.variants.kings_cooking import KingsCookingPosition
from engine.variants.kings_cooking_board import BEYOND, View, stepped, steps, turned

#: The board as the mover sees it, by how many pieces the mover leads, and whether it is White.
_Node: TypeAlias = tuple[View, int, bool]
#: By the number of a node: within how many plies something can be forced.
_Plies: TypeAlias = list[int | None]


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
        self._lock = Lock()

    def verdict(
        self, position: KingsCookingPosition, occurred_twice: Collection[Position] = ()
    ) -> Verdict:
        """Return what a position is worth, given what has already occurred twice in its game."""
        table, root = self._solved(position, occurred_twice)
        return table.verdict(root)

    def moves(
        self, position: KingsCookingPosition, occurred_twice: Collection[Position] = ()
    ) -> list[RatedMove]:
        """Return every legal move with its verdict, best first.

        Among wins the quickest come first, among losses the longest. Among draws, those after which
        the opponent can go wrong most easily.
        """
        table, _ = self._solved(position, occurred_twice)
        children = map(table.number, _following(_node(position)))
        rated = [
            RatedMove(move, table.verdict_before(child), table.slips(child))
            for move, child in zip(position.legal_moves(), children, strict=True)
        ]
        return sorted(rated, key=_worth, reverse=True)

    def _solved(
        self, position: KingsCookingPosition, occurred_twice: Collection[Position]
    ) -> tuple[_Table, int]:
        with self._lock:
            root = self._table.solve(_node(position))
        # Positions with more pieces cannot come again, and those with fewer not have been.
        pieces = position.view.count(".")
        dead = {
            _node(other)
            for other in occurred_twice
            if isinstance(other, KingsCookingPosition) and other.view.count(".") == pieces
        }
        if not dead:
            return self._table, root
        table = _Table(self._table, dead)
        return table, table.solve(_node(position))


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
    haste = float("inf") if plies is None else plies
    if value is Value.LOSS:
        return value, haste, rated.slips, rated.move.uci()
    # After a winning move the opponent has nothing to give away: slips tell only draws apart.
    return value, rated.slips, -haste, rated.move.uci()


def _node(position: KingsCookingPosition) -> _Node:
    lead = position.score(position.turn) - position.score(position.turn.opponent)
    return position.view, lead, position.turn is Color.WHITE


def _alike(node: _Node) -> _Node:
    """Return the node that stands for all that are alike: for either side, and mirrored."""
    view, lead, _ = node
    return min(view, view[2::-1] + view[5:2:-1] + view[8:5:-1]), lead, True


def _following(node: _Node) -> list[_Node]:
    """Return the nodes after each legal step, in the order of `legal_moves`."""
    view, lead, white = node
    return [(after, -lead - scored, not white) for after, scored in _views_after(view)]


@lru_cache(maxsize=1 << 16)
def _views_after(view: View) -> list[tuple[View, bool]]:
    """Return what the opponent sees after each legal step, and whether that step scored."""
    return [(turned(stepped(view, step)), step[1] == BEYOND) for step in steps(view)]


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
        self.nodes: list[_Node] = []
        #: Empty where the game is over.
        self.children: list[list[int]] = []
        # Of each node, within how many plies its mover, or the other side, can force an end that
        # it wins, or one that it does not lose.
        self._wins: tuple[_Plies, _Plies] = ([], [])
        self._holds: tuple[_Plies, _Plies] = ([], [])

    def solve(self, node: _Node) -> int:
        """Return the number of a node, once everything about it is known."""
        if self._wider is None:
            node = _alike(node)
            if node in self._numbers:
                return self._numbers[node]
        first_new = len(self.nodes)
        # Where a game stands now has been entered already: it is not over, even if it is dead.
        root = self._add(node)
        unseen = [root]
        while unseen:
            number = unseen.pop()
            for follower in _following(self.nodes[number]):
                if self._wider is None:
                    follower = _alike(follower)
                known = self._numbers.get(follower)
                if known is None:
                    known = self._numbers[follower] = self._add(follower)
                    if not self._is_settled(follower):
                        unseen.append(known)
                self.children[number].append(known)
        self._force(first_new, self._wins, lambda lead: lead > 0)
        self._force(first_new, self._holds, lambda lead: lead >= 0)
        if self._wider is None:
            self._numbers[node] = root
        return root

    def number(self, node: _Node) -> int:
        """Return the number of a node that follows one that is solved."""
        return self._numbers[_alike(node) if self._wider is None else node]

    def _add(self, node: _Node) -> int:
        self.nodes.append(node)
        self.children.append([])
        for plies in (*self._wins, *self._holds):
            plies.append(None)
        return len(self.nodes) - 1

    def _is_settled(self, node: _Node) -> bool:
        """Return whether there is nothing to look into: the game is over, or known elsewhere."""
        return self._wider is not None and (node in self._dead or self._is_wider(node))

    def _is_wider(self, node: _Node) -> bool:
        return node[0].count(".") != self.nodes[0][0].count(".")

    def _force(
        self, first_new: int, plies: tuple[_Plies, _Plies], is_wanted: Callable[[int], bool]
    ) -> None:
        """Work out, from the ends backwards, who can force a wanted end, and how soon."""
        by_mover, by_other = plies
        parents: dict[int, list[int]] = {}
        open_replies: dict[int, int] = {}
        #: By the number of plies: what can be forced in so many, and whether by the mover.
        found: list[list[tuple[int, bool]]] = [[]]

        def note(number: int, of_mover: bool, count: int) -> None:
            (by_mover if of_mover else by_other)[number] = count
            while len(found) <= count:
                found.append([])
            found[count].append((number, of_mover))

        for number in range(first_new, len(self.nodes)):
            replies = set(self.children[number])
            open_replies[number] = len(replies)
            for child in replies:
                parents.setdefault(child, []).append(number)
        known_before = [number for number in parents if number < first_new]
        for number in (*known_before, *range(first_new, len(self.nodes))):
            node = self.nodes[number]
            if number < first_new:
                known = by_mover[number], by_other[number]
            elif self._wider is not None and self._is_wider(node):
                known = self._wider._known(node, plies is self._wins)
            elif not self.children[number]:
                known = (0 if is_wanted(node[1]) else None), (0 if is_wanted(-node[1]) else None)
            else:
                continue
            for of_mover, count in zip((True, False), known, strict=True):
                if count is not None:
                    note(number, of_mover, count)
        count = 0
        while count < len(found):
            for child, of_mover in found[count]:
                for number in parents.get(child, ()):
                    if not of_mover:
                        # Who is not to move there moved last: one such move is enough.
                        if by_mover[number] is None:
                            note(number, True, count + 1)
                        continue
                    open_replies[number] -= 1
                    if not open_replies[number]:
                        note(number, False, count + 1)
            count += 1

    def _known(self, node: _Node, wins: bool) -> tuple[int | None, int | None]:
        number = self.number(node)
        by_mover, by_other = self._wins if wins else self._holds
        return by_mover[number], by_other[number]

    # --- answers ---

    def value(self, number: int) -> Value:
        """Return what a node is worth to its mover."""
        if self._wins[0][number] is not None:
            return Value.WIN
        if self._wins[1][number] is not None:
            return Value.LOSS
        # Nobody can force a win. Going round in circles pays by the score, so it is up to the side
        # that is behind to end the game before that.
        lead = self.nodes[number][1]
        if lead < 0 and self._holds[0][number] is None:
            return Value.LOSS
        if lead > 0 and self._holds[1][number] is None:
            return Value.WIN
        return Value.DRAW

    def verdict(self, number: int) -> Verdict:
        """Return what a node is worth to its mover, and how soon."""
        value = self.value(number)
        if value is Value.DRAW:
            return Verdict(value, self._holds[0][number])
        return Verdict(value, self._wins[0 if value is Value.WIN else 1][number])

    def verdict_before(self, number: int) -> Verdict:
        """Return what a node is worth to the side that has just moved there, counting that ply."""
        value = Value(-self.value(number))
        if value is Value.DRAW:
            plies = self._holds[1][number]
        else:
            plies = self._wins[1 if value is Value.WIN else 0][number]
        return Verdict(value, None if plies is None else plies + 1)

    def slips(self, number: int) -> float:
        """Return the share of moves from a node that are worse than its best."""
        best, following = self.value(number), self.children[number]
        if not following:
            return 0.0
        return sum(-self.value(child) < best for child in following) / len(following)
