"""What the terminal says of a series of games: each game in a line, and all of them in a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from app.cli.evaluations.texts import duration_text
from app.evaluations.games import PlayedGame
from app.evaluations.reports import numerals
from app.evaluations.reports.duel import are_few
from app.evaluations.scores import Score
from app.evaluations.sprt import are_alike
from app.series.results import SeriesResult, Status
from engine import Color, Outcome, Termination

if TYPE_CHECKING:
    from rich.table import Table

#: Where there is no terminal, nothing is gained by breaking lines at 80 columns.
_WIDTH = 150


def game_sentence(game: PlayedGame) -> str:
    """Return who played whom, and how it ended."""
    ending = str(Outcome(game.winner, game.termination))
    moves = (game.plies + 1) // 2
    return (
        f"{game.white} (White) against {game.black} (Black): {game.result},"
        f" {ending} ({numerals.many(moves, 'move')})"
    )


def score_text(first: str, score: Score) -> str:
    """Return how the first player stands."""
    return f"{first} +{score.wins} ={score.draws} -{score.losses}"


def elo_text(result: SeriesResult) -> str:
    """Return how much stronger the first player is, in a few words; nothing without games."""
    found, rating = result.duel(tests=False), result.rating()
    statistics = found["pentanomial"] or found["trinomial"]
    if statistics is None or rating is None:
        return ""
    if are_alike(statistics["counts"]):
        return f"Elo {numerals.rating(rating.to_json(), sign=True)}"
    elo, margin, likely = (statistics[name] for name in ("elo", "elo_margin", "los"))
    stronger = f"the stronger one with a likelihood of {numerals.likelihood(likely)}"
    return f"Elo {elo:+z.0f} ± {margin:.0f}, {stronger}"


def print_result(result: SeriesResult, *, err: bool = False) -> None:
    """Print what a series has come to: of a single game, one sentence."""
    if result.plan.games == 1 and len(result.games) == 1:
        typer.echo(f"{game_sentence(result.games[0])}.", err=err)
        spent = _spent(result)
        if spent:
            typer.echo(spent, err=err)
        return
    if result.games:
        _print_table(_table(result), err=err)
        for line in _findings(result):
            typer.echo(line, err=err)
    for line in (_ends(result), _void(result), _spent(result)):
        if line:
            typer.echo(line, err=err)


def _findings(result: SeriesResult) -> list[str]:
    found = result.duel()
    lines = [found["text"]]
    statistics: dict[str, Any] = found["pentanomial"] or found["trinomial"]
    counts: list[int] = statistics["counts"]
    if are_few(counts) and not are_alike(counts):
        count = numerals.many(sum(counts), "pair" if found["pentanomial"] else "game")
        lines.append(f"That rests on {count}, too few or too much alike for more than a hint.")
    if found["sprt"] is not None:
        lines.append(found["sprt"]["text"])
    endings = ", ".join(
        f"{why.value.replace('_', ' ')} {count}" for why, count in result.terminations().items()
    )
    return [*lines, f"Games ended by: {endings}."]


def _table(result: SeriesResult) -> Table:
    """Return a column for each player, since two of them fit into narrow windows, too."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("", *map(escape, result.plan.labels))
    for column in table.columns[1:]:
        column.justify = "right"
        column.overflow = "fold"
    columns = [_facts(result, label) for label in result.plan.labels]
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    return table


def _facts(result: SeriesResult, label: str) -> dict[str, str]:
    """Return what is to be told of a player, by the name of each row."""
    score, side, spent = result.score_of(label), result.played(label), result.spent[label]
    facts = {
        "points": f"{score.points:g} of {score.games}",
        "won-drawn-lost": str(score),
        **{f"as {color.value.capitalize()}": str(result.score_of(label, color)) for color in Color},
        "illegal tries": str(side.illegal + side.unreadable),
        **{f"lost {how}": str(result.forfeits(label, why)) for how, why in _FORFEITS.items()},
    }
    if any(each.calls for each in result.spent.values()):
        cost = None if spent.cost_usd is None else str(spent.cost_usd)
        facts |= {
            "calls": f"{spent.calls:,}",
            "tokens": f"{spent.tokens:,}",
            "cost": numerals.dollars(cost),
        }
    return facts


_FORFEITS = {
    "on time": Termination.TIME_FORFEIT,
    "by illegal moves": Termination.RULES_INFRACTION,
}


def _ends(result: SeriesResult) -> str:
    played, wanted = len(result.games), result.plan.games
    if wanted == 1:
        return "The game was not played to its end."
    count = "All" if played == wanted else f"{played:,} of"
    took = duration_text(round(result.elapsed.total_seconds() * 1000))
    told = f"{count} {numerals.many(wanted, 'game')} were played in {took}"
    if result.status is Status.INTERRUPTED:
        told += ", then it was interrupted"
    elif result.status is Status.FINISHED and played < wanted:
        told += ", then the test had decided"
    if result.broken_off:
        verb = "was" if result.broken_off == 1 else "were"
        told += f"; {numerals.many(result.broken_off, 'game')} {verb} broken off"
    return f"{told}. The seed is {result.plan.rules.seed}."


def _void(result: SeriesResult) -> str:
    if not result.void:
        return ""
    replayed = sum(each.is_replayed for each in result.void)
    return (
        f"Void, and not scored: {numerals.many(len(result.void), 'game')},"
        f" {replayed} of them played again."
    )


def _spent(result: SeriesResult) -> str:
    spent = list(result.spent.values())
    calls = sum(each.calls for each in spent)
    if not calls:
        return ""
    known = [each.cost_usd for each in spent if each.cost_usd is not None]
    cost = numerals.dollars(str(sum(known)) if len(known) == len(spent) else None)
    tokens = sum(each.tokens for each in spent)
    return f"Spent in all: {cost}, {numerals.many(calls, 'call')}, {tokens:,} tokens."


def _print_table(table: Table, *, err: bool) -> None:
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    if stream is not None:  # as it is where it was closed
        Console(stderr=err, width=None if stream.isatty() else _WIDTH).print(table)
