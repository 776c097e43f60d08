"""Cells: what is written into a table that people open as a spreadsheet."""

from __future__ import annotations

from typing import TypeAlias

from app.evaluations.reports.markup import legible

Cell: TypeAlias = str | int | float | None

#: What makes a spreadsheet take a text for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe(cell: Cell) -> Cell:
    """Return a cell that a reader sees whole, and that no spreadsheet takes for a formula."""
    if not isinstance(cell, str):
        return cell
    cell = legible(cell)
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
