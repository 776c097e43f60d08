"""Markup: the parts of a page, with everything that comes from others escaped."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NewType

#: Text that is markup already.
Html = NewType("Html", str)

#: Control characters, marks without a shape (such as those that turn text around), half
#: characters, and what is no character.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Cn"))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: what is above it, and whether it has numbers."""

    title: str
    is_number: bool = True


def legible(text: str) -> str:
    """Return a text in which every character is one that a reader sees."""
    return "".join(
        letter if letter in "\n\t" or unicodedata.category(letter) not in _HIDDEN else "\ufffd"
        for letter in text
    )


def shortened(name: str, longest: int) -> str:
    """Return a name on one line that is not too long."""
    name = " ".join(legible(name).split())
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def escaped(text: str) -> Html:
    """Return any text as markup that shows it."""
    return Html(html.escape(legible(text)))


def joined(parts: Iterable[Html]) -> Html:
    """Return several parts one after the other."""
    return Html("\n".join(part for part in parts if part))


def section(title: str, *parts: Html) -> Html:
    """Return a section with a heading; nothing, if it would be empty."""
    body = joined(parts)
    return Html(f"<section>\n<h2>{escaped(title)}</h2>\n{body}\n</section>") if body else Html("")


def subsection(title: str, *parts: Html) -> Html:
    """Return what belongs under a heading of a section; nothing, if it would be empty."""
    body = joined(parts)
    return Html(f"<h3>{escaped(title)}</h3>\n{body}") if body else Html("")


def paragraph(text: str, kind: str = "") -> Html:
    """Return a paragraph, of a class of ours if one is given."""
    opening = f'<p class="{kind}">' if kind else "<p>"
    return Html(f"{opening}{escaped(text)}</p>")


def items(texts: Iterable[str]) -> Html:
    """Return a list; nothing, if it would be empty."""
    rows = "\n".join(f"<li>{escaped(text)}</li>" for text in texts)
    return Html(f"<ul>\n{rows}\n</ul>" if rows else "")


def figure(svg: str, title: str, caption: str) -> Html:
    """Return a drawing, which is markup already, with what is to be said of it."""
    told = f"<strong>{escaped(title)}.</strong> {escaped(caption)}"
    return Html(f"<figure>\n{svg}\n<figcaption>{told}</figcaption>\n</figure>")


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Html:
    """Return a table whose first column names the rows; nothing, if there are none.

    A name that several rows in a row have stands there once. The table scrolls by itself where the
    page is narrow, also by keyboard.
    """
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[0])]
    if not groups:
        return Html("")
    head = "".join(
        f'<th scope="col"{_look(column)}>{escaped(column.title)}</th>' for column in columns
    )
    bodies = [_group(group, columns) for group in groups]
    if all(len(group) == 1 for group in groups):
        bodies = ["\n".join(bodies)]
    body = "\n".join(f"<tbody>\n{each}\n</tbody>" for each in bodies)
    return Html(
        f'<div class="scroll" role="region" aria-label="{escaped(caption)}" tabindex="0">\n'
        f"<table>\n<caption>{escaped(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n{body}\n</table>\n</div>"
    )


def details(summary: str, text: str) -> Html:
    """Return a text of a program that is shown when asked for."""
    return Html(
        f"<details>\n<summary>{escaped(summary)}</summary>\n<pre>{escaped(text)}</pre>\n</details>"
    )


def _group(rows: Sequence[Sequence[str]], columns: Sequence[Column]) -> str:
    """Return the rows of one name."""
    name = escaped(rows[0][0])
    cells = [_cells(row[1:], columns[1:]) for row in rows]
    if len(rows) == 1:
        return f'<tr><th scope="row">{name}</th>{cells[0]}</tr>'
    first = f'<tr><th scope="rowgroup" rowspan="{len(rows)}">{name}</th>{cells[0]}</tr>'
    others = "\n".join(f"<tr>{each}</tr>" for each in cells[1:])
    return f"{first}\n{others}"


def _cells(row: Sequence[str], columns: Sequence[Column]) -> str:
    return "".join(
        f"<td{_look(column)}>{escaped(cell)}</td>"
        for cell, column in zip(row, columns, strict=True)
    )


def _look(column: Column) -> str:
    return ' class="number"' if column.is_number else ""
