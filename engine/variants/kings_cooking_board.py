"""The 3x3 board of King's Cooking: how pieces step on it and off it, as their mover sees it.

A `View` is the board as nine characters, row by row from the opponent's edge to the mover's own:
the mover's pieces are `RNB`, the opponent's `rnb`, an empty square is `.`. White's view is the
board as a FEN writes it; Black's is that board turned round. So the rules are written once, for a
side that plays upwards, and the solver can treat both sides alike.
"""

from __future__ import annotations

from typing import TypeAlias

from engine.errors import Illegality

View: TypeAlias = str
#: An index into a view: 0 is the opponent's corner on the a-file, 8 the mover's on the c-file.
Cell: TypeAlias = int
Step: TypeAlias = tuple[Cell, Cell]

SIDE = 3
EMPTY: View = "." * 9
#: Where a step ends that leaves the board over the opponent's edge.
BEYOND: Cell = 9

_CELLS = range(SIDE * SIDE)
_STRAIGHT = ((-1, 0), (1, 0), (0, -1), (0, 1))
_DIAGONAL = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_JUMPS = tuple(
    (rows, columns) for rows in (-2, -1, 1, 2) for columns in (-2, -1, 1, 2)
    if abs(rows) != abs(columns)
)  # fmt: skip


def _is_on(row: int, column: int) -> bool:
    return 0 <= row < SIDE and 0 <= column < SIDE


def _ray(cell: Cell, rows: int, columns: int) -> tuple[Cell, ...]:
    """Return the cells from one towards an edge, nearest first."""
    row, column = divmod(cell, SIDE)
    cells = []
    while _is_on(row := row + rows, column := column + columns):
        cells.append(SIDE * row + column)
    return tuple(cells)


def _rays(cell: Cell, ways: tuple[tuple[int, int], ...]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(ray for way in ways if (ray := _ray(cell, *way)))


def _jumps(cell: Cell) -> list[tuple[int, int]]:
    row, column = divmod(cell, SIDE)
    return [(row + rows, column + columns) for rows, columns in _JUMPS]


#: By kind and cell: the lines along which a piece moves until something is in its way. A knight's
#: are one cell long.
_LINES: dict[str, tuple[tuple[tuple[Cell, ...], ...], ...]] = {
    "R": tuple(_rays(cell, _STRAIGHT) for cell in _CELLS),
    "B": tuple(_rays(cell, _DIAGONAL) for cell in _CELLS),
    "N": tuple(
        tuple((SIDE * row + column,) for row, column in _jumps(cell) if _is_on(row, column))
        for cell in _CELLS
    ),
}
#: By kind and cell: the cells that must be empty for a piece to leave; None if it may not at all.
_WAYS_OFF: dict[str, tuple[tuple[Cell, ...] | None, ...]] = {
    "R": tuple(_ray(cell, -1, 0) for cell in _CELLS),
    # From the edge only: it must have stopped there on an earlier turn.
    "B": tuple(() if cell < SIDE else None for cell in _CELLS),
    "N": tuple(
        () if any(row < 0 and 0 <= column < SIDE for row, column in _jumps(cell)) else None
        for cell in _CELLS
    ),
}


def turned(view: View) -> View:
    """Return the same board as the other side sees it."""
    return (view[6:] + view[3:6] + view[:3]).swapcase()


def turned_cell(cell: Cell) -> Cell:
    """Return where the other side sees a cell."""
    return cell if cell == BEYOND else cell + (6, 0, -6)[cell // SIDE]


def steps(view: View) -> list[Step]:
    """Return every legal step of the mover, origin and target."""
    found = []
    for origin, piece in enumerate(view):
        if piece not in "RNB":
            continue
        for line in _LINES[piece][origin]:
            for target in line:
                there = view[target]
                if there == ".":
                    found.append((origin, target))
                    continue
                if there in "rnb":
                    found.append((origin, target))
                break
        way = _WAYS_OFF[piece][origin]
        if way is not None and all(view[cell] == "." for cell in way):
            found.append((origin, BEYOND))
    return found


def stepped(view: View, step: Step) -> View:
    """Return the board after a step, as the same side sees it."""
    origin, target = step
    cells = list(view)
    piece, cells[origin] = cells[origin], "."
    if target != BEYOND:
        cells[target] = piece
    return "".join(cells)


def why_no_step(view: View, step: Step) -> Illegality:
    """Return the rule that keeps the mover's piece on a cell from an illegal step."""
    origin, target = step
    piece = view[origin]
    if target == BEYOND:
        way = _WAYS_OFF[piece][origin]
        return Illegality.MAY_NOT_LEAVE if way is None else Illegality.BLOCKED
    if view[target] in "RNB":
        return Illegality.OWN_PIECE
    if any(target in line for line in _LINES[piece][origin]):
        return Illegality.BLOCKED
    return Illegality.NOT_HOW_IT_MOVES
