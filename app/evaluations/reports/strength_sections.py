"""The sections of a report's page about strength: ratings, duel, table, controls, scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from app.evaluations.reports import numerals
from app.evaluations.reports.markup import (
    Column,
    Html,
    joined,
    paragraph,
    shortened,
    subsection,
    table,
)
from app.evaluations.sprt import are_alike

Row: TypeAlias = Mapping[str, Any]

_AGENT = Column("Agent", is_number=False)


def ratings(report: Row) -> Html:
    """Return who is how strong: chess with rules, and chess alone."""
    columns = [
        _AGENT,
        Column("Rating"),
        Column("95 % interval"),
        Column("Without forfeits"),
        Column("Forfeits"),
        Column("Positions" if report["kind"] == "positions" else "Games"),
        Column("Score"),
    ]
    is_narrowed = numerals.is_narrowed(report)
    if is_narrowed:
        columns.append(Column("± by the likelihood ratio"))
    rows = []
    for agent in report["agents"]:
        rating = agent["rating"]
        played, chess = rating["as_played"], rating["without_forfeits"]
        score = agent["score"] if agent["positions"] is None else agent["positions"]
        rows.append(
            [
                agent["label"],
                _rating(played),
                numerals.interval(played),
                _rating(chess),
                str(rating["forfeits"]),
                str(score["games"] if agent["positions"] is None else score["answers"]),
                numerals.percent(score["share"], 1),
                *([_wide_margin(played)] if is_narrowed else []),
            ]
        )
    kind = f"± and intervals are of 95 %, {numerals.interval_kind(report)}"
    return table(f"Ratings, {_scale(report)}; {kind}", columns, rows)


def controls(report: Row) -> Html:
    """Return what teams are worth beside one call with as many tokens."""
    columns = [
        Column("Team", is_number=False),
        Column("Control", is_number=False),
        Column("Difference, Elo"),
        Column("95 % interval"),
        Column("Tokens of control / team"),
    ]
    rows = [
        [
            each["team"],
            each["control"],
            numerals.NOTHING if each["difference"] is None else _difference(each["difference"]),
            numerals.interval(each["difference"], sign=True),
            numerals.number(each["token_ratio"], 2),
        ]
        for each in report["controls"]
        if each["is_measured"]
    ]
    sentences = [paragraph(numerals.proper_signs(each["text"])) for each in report["controls"]]
    measured = table("Teams beside their equal-token solo controls", columns, rows)
    return joined([*sentences, measured])


def duel(report: Row) -> Html:
    """Return how a duel stands by single games and by pairs, and what its test says."""
    the_duel = report["duel"]
    if the_duel is None:
        return Html("")
    columns = [
        Column("Counted", is_number=False),
        Column("Results", is_number=False),
        Column("Score"),
        Column("Elo"),
        Column("Normalized Elo"),
        Column("Likelihood of superiority"),
    ]
    names = (("trinomial", "games: won, drawn, lost"), ("pentanomial", "pairs: 2, 1½, 1, ½, 0"))
    rows = [
        [
            name,
            " · ".join(str(count) for count in reversed(the_duel[key]["counts"])),
            numerals.percent(the_duel[key]["score"], 1),
            *_statistics(the_duel[key]),
        ]
        for key, name in names
        if the_duel[key] is not None
    ]
    caption = f"{the_duel['first']} against {the_duel['second']}, as the first one sees it"
    test = the_duel["sprt"]
    verdict = Html("") if test is None else paragraph(numerals.proper_signs(test["text"]))
    said = paragraph(numerals.proper_signs(the_duel["text"]))
    return joined([verdict, said, table(caption, columns, rows)])


def crosstable(report: Row) -> Html:
    """Return who scored what against whom."""
    found = report["crosstable"]
    if found is None or not any(row["games"] for row in found["rows"]):
        return Html("")
    players = found["players"]
    columns = [Column("Player", is_number=False), Column("Points"), Column("Games")]
    columns += [Column(str(number)) for number in range(1, len(players) + 1)]
    rows = [
        [
            f"{number}. {row['player']}",
            numerals.points(row["points"]),
            str(row["games"]),
            *(_cell(cell, place == number) for place, cell in enumerate(row["cells"], 1)),
        ]
        for number, row in enumerate(found["rows"], 1)
    ]
    return table("Everybody against everybody: won-drawn-lost, the strongest first", columns, rows)


def scores(report: Row) -> Html:
    """Return won, drawn and lost games by opponent, by colour and by how they ended."""
    return joined([_by_opponent(report), _by_color(report), _terminations(report)])


def positions(report: Row) -> Html:
    """Return how many positions were solved, by difficulty."""
    columns = [
        _AGENT,
        Column("Difficulty", is_number=False),
        Column("Solved"),
        Column("Share"),
        Column("95 % interval"),
        Column("Expected"),
    ]
    rows = []
    for agent in report["agents"]:
        found = agent["positions"]
        if found is None or not found["answers"]:
            continue
        rows.append(_solved(agent["label"], "all", found))
        rows += [
            _solved(
                agent["label"], f"{numerals.elo(band['from'])} to {numerals.elo(band['to'])}", band
            )
            for band in found["bands"]
        ]
    return table("Positions solved, in all and by difficulty in Elo", columns, rows)


def headline(report: Row) -> str:
    """Return what was found, in a sentence or two."""
    test = report["duel"] and report["duel"]["sprt"]
    if test:
        return numerals.proper_signs(str(test["text"]))
    told = [
        f"{shortened(agent['label'], 40)}: {_rating(agent['rating']['as_played'])}"
        for agent in report["agents"][:4]
        if agent["rating"]["as_played"] is not None
    ]
    if not told:
        return "Nothing is known yet."
    kind = numerals.interval_kind(report)
    return f"{', '.join(told)} ({_scale(report)}; ± is half the 95 % interval, {kind})."


def _by_opponent(report: Row) -> Html:
    columns = [
        _AGENT,
        Column("Opponent", is_number=False),
        Column("Its rating"),
        Column("W-D-L"),
        Column("Points"),
        Column("Expected"),
        Column("Score"),
        Column("95 % interval"),
    ]
    rows = [
        [
            agent["label"],
            row["opponent"],
            _opponent_rating(row),
            numerals.results(row),
            numerals.points(row["points"]),
            numerals.number(row["expected"], 1),
            numerals.percent(row["share"]),
            numerals.share_interval(row),
        ]
        for agent in report["agents"]
        for row in agent["by_opponent"]
    ]
    found = table("Won, drawn and lost by opponent, and the points to be expected", columns, rows)
    return subsection("By opponent", found)


def _by_color(report: Row) -> Html:
    columns = [
        _AGENT,
        Column("Colour", is_number=False),
        Column("W-D-L"),
        Column("Points"),
        Column("Expected"),
        Column("Score"),
        Column("95 % interval"),
    ]
    rows = [
        [
            agent["label"],
            color.capitalize(),
            numerals.results(row),
            numerals.points(row["points"]),
            numerals.number(row["expected"], 1),
            numerals.percent(row["share"]),
            numerals.share_interval(row),
        ]
        for agent in report["agents"]
        for color, row in agent["by_color"].items()
        if row["games"]
    ]
    return subsection("By colour", table("Won, drawn and lost by colour", columns, rows))


def _terminations(report: Row) -> Html:
    columns = [
        _AGENT,
        Column("Ended by", is_number=False),
        Column("Games"),
        Column("W-D-L"),
    ]
    rows = [
        [
            agent["label"],
            row["termination"].replace("_", " "),
            str(row["games"]),
            numerals.results(row),
        ]
        for agent in report["agents"]
        for row in agent["terminations"]
    ]
    return subsection("How games ended", table("How the agents' games ended", columns, rows))


def _solved(label: str, which: str, row: Row) -> list[str]:
    return [
        label,
        which,
        f"{row['right']} of {row['answers']}",
        numerals.percent(row["share"]),
        numerals.share_interval(row),
        numerals.percent(row["expected_share"]),
    ]


def _scale(report: Row) -> str:
    match report["scale"]:
        case "anchors":
            return "in Elo on the anchors' scale"
        case "positions":
            return "in Elo on the scale of the positions' difficulties"
        case _ if report["reference"] is not None:
            return f"in Elo relative to {report['reference']}"
        case _:
            return "in Elo relative to the opponent"


def _rating(rating: Row | None) -> str:
    return numerals.NOTHING if rating is None else numerals.proper_signs(rating["text"])


def _wide_margin(rating: Row | None) -> str:
    if rating is None or rating["margin"] is None:
        return numerals.NOTHING
    return f"± {rating['margin']:.0f}"


def _statistics(found: Row) -> list[str]:
    """Return Elo, normalized Elo and likelihood; nothing where results do not vary."""
    if are_alike(found["counts"]):
        return [numerals.NOTHING] * 3
    return [
        _with_margin(found["elo"], found["elo_margin"]),
        _with_margin(found["nelo"], found["nelo_margin"]),
        numerals.likelihood(found["los"]),
    ]


def _difference(difference: Row) -> str:
    return numerals.proper_signs(difference["text"])


def _with_margin(value: float, margin: float) -> str:
    return f"{numerals.elo(value, sign=True)} ± {margin:.0f}"


def _opponent_rating(row: Row) -> str:
    if row["se"]:
        return f"{numerals.elo(row['elo'])} ± {1.96 * row['se']:.0f}"
    return numerals.elo(row["elo"])


def _cell(cell: Row | None, is_self: bool) -> str:
    if cell is None:
        return "×" if is_self else numerals.NOTHING
    return numerals.results(cell)
