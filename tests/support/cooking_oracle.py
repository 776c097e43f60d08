"""King's Cooking once more, as plainly as it can be written: an oracle for the engine.

It was written from the rules alone, by someone who had not seen the engine's own version. Squares
are (row, column), row 0 being Black's back row, and nothing is done cleverly except remembering.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

ROWS = COLUMNS = range(3)
#: In the order of the letters of a board.
SQUARES = [(row, column) for row in ROWS for column in COLUMNS]
ROOK_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1))
BISHOP_WAYS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
KNIGHT_JUMPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
EMPTY = "."


class Position(NamedTuple):
    """Everything but the move number: where each of the six pieces is, and whose move it is."""

    #: a3 b3 c3 a2 b2 c2 a1 b1 c1; RNB for White, rnb for Black, a dot for an empty square.
    board: str
    white_to_move: bool
    #: The letters of the pieces that left over the opponent's edge, sorted: "Rn".
    scored: str
    #: The letters of the captured pieces, sorted.
    captured: str


START = Position("rnb...RNB", white_to_move=True, scored="", captured="")


# --- the rules ---


class Step(NamedTuple):
    """What a move does: its name, the board after it, and who left or was captured ('' if none)."""

    name: str
    board: str
    scored: str
    captured: str


def moves(position: Position) -> dict[str, Position]:
    """Return the positions after each legal move, by the move's name: `a1a2`, `a3off`."""
    return {
        step.name: Position(
            step.board,
            not position.white_to_move,
            joined(position.scored, step.scored),
            joined(position.captured, step.captured),
        )
        for step in steps(position.board, position.white_to_move)
    }


@cache
def joined(letters: str, more: str) -> str:
    """Return the letters of both, sorted."""
    return "".join(sorted(letters + more))


# Many positions differ only in the fates of the pieces that are gone, which change no move.
@cache
def steps(board: str, white: bool) -> tuple[Step, ...]:
    """Return every legal move of a side on a board."""
    found = []
    for row, column in SQUARES:
        letter = at(board, row, column)
        if letter == EMPTY or letter.isupper() != white:
            continue
        origin = name_of(row, column)
        lifted = put(board, row, column, EMPTY)
        for to_row, to_column in targets(board, row, column):
            taken = at(board, to_row, to_column).replace(EMPTY, "")
            landed = put(lifted, to_row, to_column, letter)
            found.append(Step(origin + name_of(to_row, to_column), landed, "", taken))
        if may_leave(board, row, column):
            found.append(Step(origin + "off", lifted, letter, ""))
    return tuple(found)


def targets(board: str, row: int, column: int) -> Iterator[tuple[int, int]]:
    """Yield the squares that the piece on a square can go to, inside the board."""
    letter = at(board, row, column)
    kind = letter.upper()
    for down, right in {"R": ROOK_WAYS, "N": KNIGHT_JUMPS, "B": BISHOP_WAYS}[kind]:
        to_row, to_column = row + down, column + right
        while to_row in ROWS and to_column in COLUMNS:
            there = at(board, to_row, to_column)
            if there == EMPTY or there.isupper() != letter.isupper():
                yield to_row, to_column
            if there != EMPTY or kind == "N":
                break
            to_row, to_column = to_row + down, to_column + right


def may_leave(board: str, row: int, column: int) -> bool:
    """Return whether the piece on a square may leave over the opponent's back edge."""
    letter = at(board, row, column)
    white = letter.isupper()
    ahead = range(row) if white else range(row + 1, 3)
    match letter.upper():
        case "R":
            return all(at(board, between, column) == EMPTY for between in ahead)
        case "N":
            # Beyond the edge, but never over a side: a jump must not land beside the board.
            return any(
                (row + down < 0 if white else row + down > 2) and column + right in COLUMNS
                for down, right in KNIGHT_JUMPS
            )
        case _:
            # No bishop starts on the opponent's back row: who is there before its move stopped
            # there on an earlier turn.
            return not ahead


def is_over(position: Position) -> bool:
    """Return whether no piece is left, or the side to move has no legal move."""
    no_piece_left = set(position.board) == {EMPTY}
    return no_piece_left or not steps(position.board, position.white_to_move)


def score(position: Position) -> int:
    """Return how many more pieces White has in the opponent's court than Black."""
    return lead(position.scored)


@cache
def lead(scored: str) -> int:
    """Return how many more of these pieces are white than black."""
    return sum(1 if letter.isupper() else -1 for letter in scored)


@cache
def reachable() -> frozenset[Position]:
    """Return every position that legal moves lead to from the start.

    Repetition, which also ends games, can be ignored: the shortest way to a position visits none
    twice, and only a third visit ends the game.
    """
    found = {START}
    waiting = [START]
    while waiting:
        board, white, scored, captured = waiting.pop()
        for step in steps(board, white):
            after = Position(
                step.board,
                not white,
                joined(scored, step.scored),
                joined(captured, step.captured),
            )
            if after not in found:
                found.add(after)
                waiting.append(after)
    return frozenset(found)


# --- squares and text ---


def at(board: str, row: int, column: int) -> str:
    """Return the letter on a square."""
    return board[3 * row + column]


def put(board: str, row: int, column: int, letter: str) -> str:
    """Return the board with another letter on a square."""
    index = 3 * row + column
    return board[:index] + letter + board[index + 1 :]


def name_of(row: int, column: int) -> str:
    """Return a square's name: row 2 is rank 1."""
    return "abc"[column] + "321"[row]


def line(position: Position) -> str:
    """Return the engine's one-line text of a position, without the move number at its end."""
    rows = [position.board[first : first + 3] for first in (0, 3, 6)]
    board = "/".join(rows).replace("...", "3").replace("..", "2").replace(".", "1")
    turn = "w" if position.white_to_move else "b"
    # A court is a place: what scored over White's back edge, into White's court, is black. So the
    # lists are white_court, black_court, captured_white, captured_black.
    lists = [
        "".join(letter for letter in order if letter in letters) or "-"
        for letters, colors in ((position.scored, "rnb RNB"), (position.captured, "RNB rnb"))
        for order in colors.split()
    ]
    return " ".join((board, turn, *lists))


# --- the plain search ---


class Reduced(NamedTuple):
    """What the result depends on: of the pieces that are gone, only the score they made."""

    board: str
    white_to_move: bool
    difference: int


class Bounds(NamedTuple):
    """The least and the most that the side to move can still get: -1 loses, 0 draws, +1 wins."""

    low: int
    high: int


#: What is proved before anything was looked at.
UNKNOWN = Bounds(-1, +1)


class Result(NamedTuple):
    """What the side to move gets when both play well, and in how many plies it can be had."""

    value: int
    plies: int


def bounds(position: Position, depth: int) -> Bounds:
    """Return what a search of so many plies proves about the result for the side to move."""
    return search(reduced(position), depth)


@cache
def search(position: Reduced, depth: int) -> Bounds:
    """Search so many plies deep, knowing nothing of what comes after them."""
    after = children(position)
    if not after:
        return at_the_end(position)
    if depth == 0:
        return UNKNOWN
    return best([search(child, depth - 1) for child in after])


def at_the_end(position: Reduced) -> Bounds:
    """Return what the side to move has got when the game is over."""
    difference = position.difference if position.white_to_move else -position.difference
    value = (difference > 0) - (difference < 0)
    return Bounds(value, value)


def best(after: list[Bounds]) -> Bounds:
    """Return the bounds of the side to move, given those of the opponent after each move."""
    return Bounds(max(-high for _, high in after), max(-low for low, _ in after))


def children(position: Reduced) -> list[Reduced]:
    """Return what the legal moves lead to: nothing exactly when the game is over.

    On a board without pieces nobody has a move, so both ends of the game are this one.
    """
    board, white, difference = position
    gain = 1 if white else -1
    return [
        Reduced(step.board, not white, difference + gain * bool(step.scored))
        for step in steps(board, white)
    ]


def reduced(position: Position) -> Reduced:
    """Forget which pieces scored and which were captured."""
    return Reduced(position.board, position.white_to_move, score(position))


def solve(positions: Iterable[Position]) -> dict[Position, Result]:
    """Return the result of each position, by the search of `bounds` to depth 0, 1, 2 and so on.

    The plies are the least depth that proves a win (low is +1), a loss (high is -1), or, in a drawn
    position, that the side to move can bring the game to an end without losing it (low is 0).

    Every depth is searched for all positions at once, from what the depth before found. Positions
    whose bounds have met are left alone: looking deeper changes nothing. Results take no account
    of repetition, and need not: who plays for a result shortens the way to it with every move, so
    no position comes twice.

    Raises:
        ValueError: when going deeper proves nothing more, and some bounds have not met.
    """
    wanted = {position: reduced(position) for position in positions}
    nodes, after = tree(wanted.values())
    # Of each node, by its number: numbers are found faster than positions, and there are many.
    lows, highs, depths_not_lost = [], [], [-1] * len(nodes)
    for node, children_there in zip(nodes, after, strict=True):
        low, high = UNKNOWN if children_there else at_the_end(node)
        lows.append(low)
        highs.append(high)
    results: dict[Reduced, Result] = {}
    undecided = deeper = range(len(nodes))
    depth = 0
    while True:
        for number in deeper:
            low = lows[number]
            if low >= 0 and depths_not_lost[number] < 0:
                depths_not_lost[number] = depth  # the least at which low is 0 or more
            if low == highs[number]:
                plies = depths_not_lost[number] if low == 0 else depth
                results[nodes[number]] = Result(low, plies)
        undecided = [number for number in undecided if lows[number] != highs[number]]
        if not undecided:
            return {position: results[node] for position, node in wanted.items()}
        depth += 1
        # All of this depth before any of it is kept: it rests on the depth before alone. As in
        # `best`, the most that one side gets is what the other is left with at the least.
        low_of, high_of = lows.__getitem__, highs.__getitem__
        found = [(-min(map(high_of, after[n])), -min(map(low_of, after[n]))) for n in undecided]
        deeper = []
        for number, (low, high) in zip(undecided, found, strict=True):
            if low != lows[number] or high != highs[number]:
                deeper.append(number)
                lows[number], highs[number] = low, high
        if not deeper:
            raise ValueError(f"{len(undecided)} positions stay undecided at any depth")


def tree(roots: Iterable[Reduced]) -> tuple[list[Reduced], list[list[int]]]:
    """Return every position that the roots lead to, and the numbers of the children of each."""
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    nodes = list(numbers)
    after = []
    for node in nodes:  # which grows
        following = children(node)
        for child in following:
            if child not in numbers:
                numbers[child] = len(nodes)
                nodes.append(child)
        after.append([numbers[child] for child in following])
    return nodes, after
