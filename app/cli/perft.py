"""`kibitz perft`: count the leaves of the tree of legal moves."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from app.cli.completion.values import complete_variant
from engine import VARIANTS, Move, Position
from engine import perft as count_leaves

EXAMPLES = (
    "Examples: [bold]kibitz perft 5[/bold] | "
    '[bold]kibitz perft 3 --divide --fen "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"[/bold] | '
    "[bold]kibitz perft 4 --variant chess960[/bold]"
)


def perft(
    depth: Annotated[int, typer.Argument(min=0, max=20, help="How many plies deep to count.")],
    fen: Annotated[
        str | None, typer.Option(help="Where to start; the starting position if not given.")
    ] = None,
    variant: Annotated[
        str,
        typer.Option(help=f"One of: {', '.join(VARIANTS)}.", autocompletion=complete_variant),
    ] = "standard",
    divide: Annotated[bool, typer.Option("--divide", help="Count for each first move.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Count every sequence of legal moves of a given length.

    The number is known for many positions, so it checks a rules engine, and times it.
    """
    position = Position.start(variant) if fen is None else Position.from_fen(fen, variant)
    counts: dict[str, int] = {}
    if divide and depth:
        # Each line is printed as soon as it is known: deep counts take their time.
        for move in sorted(position.legal_moves(), key=Move.uci):
            counts[move.uci()] = count_leaves(position.play(move), depth - 1)
            if not as_json:
                typer.echo(f"{move.uci()}: {counts[move.uci()]}")
        total = sum(counts.values())
    else:
        total = count_leaves(position, depth)
    if as_json:
        result: dict[str, object] = {"fen": position.fen(), "depth": depth, "nodes": total}
        typer.echo(json.dumps(result | ({"divide": counts} if divide else {})))
    elif divide:
        typer.echo(f"\n{total}")
    else:
        typer.echo(total)
