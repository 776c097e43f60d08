"""The sections of a report's page about how agents play: quality, rules, time and money."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from app.evaluations.reports import numerals
from app.evaluations.reports.markup import Column, Html, joined, paragraph, subsection, table

Row: TypeAlias = Mapping[str, Any]

_AGENT = Column("Agent", is_number=False)


def quality(report: Row) -> Html:
    """Return how good moves are by what an engine thinks of them, and who advised well."""
    agents = [agent for agent in report["agents"] if agent["quality"]["moves"]]
    if not agents:
        return Html("")
    return joined(
        [
            paragraph(
                "By what an engine thinks of every move. Accuracy and judgements follow the "
                "formulas that Lichess publishes; moves of the openings count for nobody."
            ),
            _by_phase(agents),
            subsection("Selector and specialists", _regret(agents), _specialists(agents)),
        ]
    )


def legality(report: Row) -> Html:
    """Return how often agents broke the rules, and what came of it."""
    columns = [
        _AGENT,
        Column("Plies"),
        Column("Illegal"),
        Column("Illegal per 1000"),
        Column("Unreadable"),
        Column("Unreadable per 1000"),
        Column("Lost by rules"),
        Column("Lost on time"),
        Column("Won by forfeit"),
    ]
    is_positions = report["kind"] == "positions"
    if is_positions:
        columns[6:] = [Column("Without an answer")]
    rows = []
    for agent in report["agents"]:
        found = agent["legality"]
        forfeits = found["forfeits"]
        row = [
            agent["label"],
            numerals.number(found["plies"]),
            str(found["illegal"]),
            numerals.number(found["illegal_per_1000"], 1),
            str(found["unreadable"]),
            numerals.number(found["unreadable_per_1000"], 1),
        ]
        if is_positions:
            row.append(str(forfeits["no_answer"]))
        else:
            row += [
                str(forfeits["rules_infraction"]),
                str(forfeits["time_forfeit"]),
                str(found["won_by_forfeit"]),
            ]
        rows.append(row)
    caption = (
        "Refused attempts, and games that they or the clock decided; for the rates, a turn that "
        "ended in a forfeit counts as a ply"
    )
    return table(caption, columns, rows)


def usage(report: Row) -> Html:
    """Return what moves took: time, tokens and money."""
    columns = [
        _AGENT,
        Column("Cost"),
        Column("Cost of a move"),
        Column("Calls"),
        Column("Tokens"),
        Column("Tokens a move"),
        Column("Latency of a call"),
        Column("Thinking a move"),
    ]
    rows = [
        [
            agent["label"],
            numerals.dollars(agent["usage"]["cost_usd"]),
            _dollars_a_move(agent["usage"]),
            numerals.number(agent["usage"]["calls"]),
            numerals.number(agent["usage"]["tokens"]),
            numerals.number(agent["usage"]["per_move"]["tokens"]),
            numerals.duration(agent["usage"]["latency_ms_per_call"]),
            numerals.duration(agent["usage"]["per_move"]["think_ms"]),
        ]
        for agent in report["agents"]
    ]
    found = table("What the agents took in games that count, in all and for a move", columns, rows)
    return joined([found, _spent(report["spent"])])


def _spent(spent: Row) -> Html:
    """Return what the whole evaluation took, if models were asked."""
    if not spent["calls"]:
        return Html("")
    void = spent["void"]
    told = f"All matches together took {_taken(spent)}"
    if void["calls"]:
        told += f"; of it {_taken(void)} went into games that do not count"
    return paragraph(f"{told}.")


def _taken(spent: Row) -> str:
    cost = "an unknown amount" if spent["cost_usd"] is None else numerals.dollars(spent["cost_usd"])
    calls = numerals.many(spent["calls"], "call")
    return f"{cost} for {calls} and {numerals.many(spent['tokens'], 'token')}"


def _by_phase(agents: list[Row]) -> Html:
    columns = [
        _AGENT,
        Column("Phase", is_number=False),
        Column("Games"),
        Column("Moves"),
        Column("Accuracy"),
        Column("ACPL"),
        Column("Inaccuracies"),
        Column("Mistakes"),
        Column("Blunders"),
    ]
    rows = []
    for agent in agents:
        found = agent["quality"]
        analysed = f"{found['analysed_games']} of {found['of_games']}"
        rows.append(_phase(agent["label"], "all", analysed, found))
        rows += [
            _phase(agent["label"], name, str(phase["games"]), phase)
            for name, phase in found["phases"].items()
            if phase["moves"]
        ]
    caption = (
        "Quality of moves in the games that were analysed; accuracy in percent with the margin of "
        "its 95 % interval, average centipawn loss, and judgements per 100 moves"
    )
    return table(caption, columns, rows)


def _phase(label: str, name: str, games: str, found: Row) -> list[str]:
    rates = found["per_100_moves"]
    accuracy = numerals.number(found["accuracy"], 1)
    if found["accuracy_margin"] is not None:
        accuracy += f" ± {found['accuracy_margin']:.1f}"
    return [
        label,
        name,
        games,
        numerals.number(found["moves"]),
        accuracy,
        numerals.number(found["acpl"]),
        numerals.number(rates["inaccuracy"], 1),
        numerals.number(rates["mistake"], 1),
        numerals.number(rates["blunder"], 1),
    ]


def _regret(agents: list[Row]) -> Html:
    columns = [
        _AGENT,
        Column("Plies with a choice"),
        Column("Regret, Win%"),
        Column("Regret over 5 points"),
        Column("Accuracy of what was played"),
    ]
    rows = []
    for agent in agents:
        found = agent["quality"]["regret"]
        if not found["plies"]:
            continue
        mean = numerals.number(found["mean"], 2)
        if found["margin"] is not None:
            mean += f" ± {found['margin']:.2f}"
        rows.append(
            [
                agent["label"],
                numerals.number(found["plies"]),
                mean,
                numerals.percent(found["great_share"], 1),
                numerals.number(found["played_accuracy"], 1),
            ]
        )
    caption = "Selector regret: Win% lost because a better candidate on the table was passed over"
    return table(caption, columns, rows)


def _specialists(agents: list[Row]) -> Html:
    columns = [
        _AGENT,
        Column("Specialist", is_number=False),
        Column("Asked"),
        Column("Abstained"),
        Column("Accuracy"),
        Column("Win% lost"),
        Column("First choice played"),
        Column("Any choice played"),
    ]
    rows = [
        [
            agent["label"],
            each["name"],
            numerals.number(each["asked"]),
            numerals.number(each["abstained"]),
            numerals.number(each["accuracy"], 1),
            numerals.number(each["mean_loss"], 2),
            numerals.percent(each["chosen_share"]),
            numerals.percent(each["followed_share"]),
        ]
        for agent in agents
        for each in agent["quality"]["specialists"]
    ]
    return table("Each specialist by itself, as if its first choice had been played", columns, rows)


def _dollars_a_move(usage: Row) -> str:
    if usage["per_move"]["cost_usd"] is None and usage["cost_usd"] is not None:
        return numerals.NOTHING  # there was no move
    return numerals.dollars(usage["per_move"]["cost_usd"])
