"""Complaints: sentences on standard error, of what cannot be done."""

from __future__ import annotations

import typer


def complain(sentence: str) -> None:
    """Say on standard error what could not be done, perhaps while the rest goes on.

    What it quotes may come from anywhere, so nothing in it means anything to a terminal.
    """
    harmless = "".join(
        letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1]
        for letter in sentence
    )
    typer.echo(f"kibitz: {harmless}", err=True)
