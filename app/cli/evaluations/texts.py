"""What the terminal says of evaluations: how far they are, what they found, what they will cost."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from app.evaluations.reports import numerals

if TYPE_CHECKING:
    from rich.table import Table

    from app.evaluations.estimate import PlanEstimate

#: Where there is no terminal, nothing is gained by breaking lines at 80 columns.
_WIDTH = 150
_UNKNOWN = "–"


def rating_text(rating: Mapping[str, Any] | None) -> str:
    """Return a rating with its margin, such as `1028 ± 138`, or `> 1536` if it is a bound."""
    return _UNKNOWN if rating is None else numerals.rating(rating)


def duration_text(milliseconds: int) -> str:
    """Return how long something takes, as people say it."""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min" if minutes >= 10 else f"{minutes}:{seconds:02}"


def spending_text(progress: Mapping[str, Any]) -> str:
    """Return what was spent of which budget; nothing, if no model was asked and there is none."""
    spent, budget = progress["spent"], progress["budget"]
    parts = []
    if budget["usd"] is not None or spent["calls"]:
        bound = "" if budget["usd"] is None else f" of ${_money(budget['usd'])}"
        parts.append(f"${_money(spent['cost_usd'])}{bound}")
    parts += [
        f"{spent[unit]:,} of {budget[unit]:,} {unit}"
        for unit in ("tokens", "calls")
        if budget[unit] is not None
    ]
    return ", ".join(parts)


def games_text(progress: Mapping[str, Any]) -> str:
    """Return how many games are played, and of how many."""
    games = progress["games"]
    done, expected = games["scored"], max(games["expected"], games["scored"])
    return f"{done} of {expected} games" if done < expected else f"{done} games"


def agent_texts(progress: Mapping[str, Any]) -> list[str]:
    """Return how each agent stands, in a few words."""
    return [_agent(each) for each in progress["agents"]]


def _agent(agent: Mapping[str, Any]) -> str:
    label = agent["agent"]
    if "wins" not in agent:
        return f"{label} {agent['games']} answers"
    score = f"+{agent['wins']} ={agent['draws']} -{agent['losses']}"
    if agent["rating"] is None:
        return f"{label} {score}"
    return f"{label} {rating_text(agent['rating'])} ({score})"


def sprt_text(progress: Mapping[str, Any]) -> str:
    """Return where the sequential test of a duel stands; nothing, if there is none."""
    test = progress["sprt"]
    if test is None:
        return ""
    return f"LLR {test['llr']:.2f} of {test['lower_bound']:.2f} to {test['upper_bound']:.2f}"


def progress_line(progress: Mapping[str, Any]) -> str:
    """Return all of it as one line."""
    eta = progress.get("eta_ms")
    left = f"{duration_text(eta)} left" if eta is not None else ""
    if progress["phase"] == "analysing":
        left = f"{progress['analysed']} of them analysed"
    head = (games_text(progress), left, spending_text(progress), sprt_text(progress))
    tail = (*agent_texts(progress), progress["waiting"])
    return "; ".join((", ".join(filter(None, head)), *filter(None, tail)))


# --- what was found ---


def print_summary(report: Mapping[str, Any]) -> None:
    """Print what an evaluation found as a table, and what to keep in mind about it."""
    _print_table(_summary(report))
    ratings = [agent["rating"]["as_played"] for agent in report["agents"]]
    if any(each is not None and numerals.margin(each) is not None for each in ratings):
        typer.echo(f"± is half the 95 % interval, {numerals.interval_kind(report)}.")
    if report["spent"]["calls"]:
        typer.echo(_spent(report["spent"]))
    duel = report["duel"]
    if duel is not None:
        typer.echo(duel["text"])
        if duel["sprt"] is not None:
            typer.echo(duel["sprt"]["text"])
    for note in report["notes"]:
        typer.echo(f"Note: {note['text']}")
    detail = f": {report['detail']}" if report["detail"] else ""
    typer.echo(f"The evaluation is {report['status']}{detail}.")


def _summary(report: Mapping[str, Any]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    is_suite = report["kind"] == "positions"
    names = ("agent", "rating", "without forfeits", "solved" if is_suite else "W-D-L")
    table = Table(*names, "accuracy", "illegal/1000", "cost")
    for column in table.columns[1:]:
        column.justify = "right"
        column.no_wrap = True
    for agent in report["agents"]:
        rating = agent["rating"]
        table.add_row(
            escape(agent["label"]),
            *(_rating(rating[name]) for name in ("as_played", "without_forfeits")),
            _solved(agent["positions"]) if is_suite else _score(agent["score"]),
            _number(agent["quality"]["accuracy"], ".1f"),
            _number(agent["legality"]["illegal_per_1000"], ".1f"),
            _cost(agent["usage"]),
        )
    return table


def _rating(rating: Mapping[str, Any] | None) -> str:
    return _UNKNOWN if rating is None else str(rating["text"])


def _score(score: Mapping[str, Any]) -> str:
    return f"{score['wins']}-{score['draws']}-{score['losses']}"


def _solved(positions: Mapping[str, Any] | None) -> str:
    return _UNKNOWN if positions is None else f"{positions['right']} of {positions['answers']}"


def _cost(usage: Mapping[str, Any]) -> str:
    return f"${_money(usage['cost_usd'])}" if usage["calls"] else "$0"


def _spent(spent: Mapping[str, Any]) -> str:
    told = f"Spent in all: {_taken(spent)}"
    if spent["void"]["calls"]:
        told += f"; of it in games that do not count: {_taken(spent['void'])}"
    return f"{told}."


def _taken(spent: Mapping[str, Any]) -> str:
    return f"${_money(spent['cost_usd'])}, {spent['calls']:,} calls, {spent['tokens']:,} tokens"


def _number(number: float | None, form: str) -> str:
    return _UNKNOWN if number is None else format(number, form)


def _money(usd: str | None) -> str:
    return "?" if usd is None else f"{float(usd):.4f}" if float(usd) < 1 else f"{float(usd):.2f}"


# --- what it will cost ---


def print_estimate(name: str, estimate: PlanEstimate, budget: Mapping[str, Any]) -> None:
    """Print how many games, calls, tokens and dollars a plan will likely come to."""
    from rich.markup import escape
    from rich.table import Table

    data = estimate.to_json()
    asking = [each for each in data["players"] if each["most"]["calls"]]
    if asking:
        table = Table("player", "games", "calls", "tokens", "cost", "at most", title=escape(name))
        for column in table.columns[1:]:
            column.justify = "right"
        rows = [(escape(each["player"]), str(each["games"]), each) for each in asking]
        for label, games, each in [*rows, ("in all", str(data["games"]), data)]:
            likely = each["likely"]
            tokens = likely["prompt_tokens"] + likely["completion_tokens"]
            costs = (f"${_money(each[which]['cost_usd'])}" for which in ("likely", "most"))
            table.add_row(label, games, f"{likely['calls']:,}", f"{tokens:,}", *costs)
        _print_table(table)
    else:
        typer.echo("Nobody asks a model, so it costs nothing but time.")
    typer.echo(f"Likely {data['games']} games, at most {data['most_games']}.")
    bounds = _bounds(budget)
    if bounds:
        typer.echo(f"No more is spent than the budget allows: {bounds}.")
    for note in data["notes"]:
        typer.echo(f"Note: {note}.")
    typer.echo("Nothing was played, and nothing stored.")


def _bounds(budget: Mapping[str, Any]) -> str:
    bounds = [f"${_money(budget['usd'])}"] if budget["usd"] is not None else []
    bounds += [f"{budget[unit]:,} {unit}" for unit in ("tokens", "calls") if budget[unit]]
    return ", ".join(bounds)


# --- lists ---


def print_rows(names: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str]) -> None:
    """Print a table; the columns of `numbers` are set right."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(*names)
    for column in table.columns:
        column.justify = "right" if column.header in numbers else "left"
    for row in rows:
        table.add_row(*map(escape, row))
    _print_table(table)


def _print_table(table: Table) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table)
