"""Plots of a report, as SVG. Each is None where there is nothing to show.

They take long enough to be drawn outside of an event loop, and may be in several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.evaluations.reports.conduct_plots import accuracy_plot, cost_plot, legality_plot
from app.evaluations.reports.drawing import (
    MOST_SERIES,
    MUTED,
    NAMES_LEFT,
    ROW,
    SERIES,
    Plot,
    Row,
    drawing,
    elo_label,
    styled,
)
from app.evaluations.reports.numerals import interval_kind, proper_signs
from app.evaluations.suites.solving import solving_chance

_MOST_ANCHORS = 16


def plots_of(report: Row) -> list[Plot]:
    """Return all plots for which a report has data, in the order in which they are read."""
    makers: Sequence[Callable[[Row], Plot | None]] = (
        rating_plot,
        score_plot,
        sprt_plot,
        solved_plot,
        accuracy_plot,
        legality_plot,
        cost_plot,
        margin_plot,
    )
    return [plot for make in makers if (plot := make(report)) is not None]


def rating_plot(report: Row) -> Plot | None:
    """Return the ratings of agents and of the anchors near them, with their intervals."""
    agents = [each for each in report["agents"] if each["rating"]["as_played"] is not None]
    if not agents:
        return None
    agents.sort(key=lambda each: -each["rating"]["as_played"]["elo"])
    anchors = _nearest(report["anchors"], [each["rating"]["as_played"]["elo"] for each in agents])
    rows = len(agents) + len(anchors)
    with drawing("rating", rows * ROW + 40, left=NAMES_LEFT) as paper:
        axes = paper.axes
        paper.names_for_rows(rows)
        axes.set_xlabel(elo_label(report))
        for row, agent in enumerate(agents):
            rating = agent["rating"]
            paper.lying(row, rating["as_played"], SERIES[0], "o")
            if rating["forfeits"] and rating["without_forfeits"] is not None:
                paper.lying(row + 0.28, rating["without_forfeits"], SERIES[1], "s", 4.5)
            paper.row_name(row, agent["label"])
        for row, anchor in enumerate(anchors, len(agents)):
            reach = 1.96 * anchor["se"]
            ends = {"low": anchor["elo"] - reach, "high": anchor["elo"] + reach}
            paper.lying(row, {**anchor, **ends, "bound": None}, MUTED, "D", 4.5)
            paper.row_name(row, anchor["label"], MUTED)
        axes.margins(x=0.08)
        axes.locator_params(axis="x", nbins=6)  # there is less room beside the names
        return Plot(
            "rating",
            "Rating",
            "Blue: as played. Orange: without forfeits, where there were any. Grey: anchors. Lines "
            f"are 95 % intervals, those of agents {interval_kind(report)}; an arrow means that "
            "only a bound is known.",
            paper.svg(
                "Ratings with 95 % intervals",
                "; ".join(
                    f"{each['label']}: {proper_signs(each['rating']['as_played']['text'])}"
                    for each in agents
                ),
            ),
        )


def score_plot(report: Row) -> Plot | None:
    """Return the scores against each opponent, beside the curve that the rating lets expect."""
    if report["kind"] not in ("ladder", "pool"):
        return None
    agents = [
        each
        for each in report["agents"]
        if each["rating"]["as_played"] is not None
        and any(row["elo"] is not None for row in each["by_opponent"])
    ][:MOST_SERIES]
    if not agents:
        return None
    legend = [(each["label"], color, marker) for each, color, marker in styled(agents)]
    rows = [row for each in agents for row in each["by_opponent"] if row["elo"] is not None]
    low, high = min(row["elo"] for row in rows) - 150, max(row["elo"] for row in rows) + 150
    with drawing("score", 250, legend=len(legend)) as paper:
        paper.legend(legend)
        for place, (agent, color, marker) in enumerate(styled(agents)):
            paper.expected(agent["rating"]["as_played"]["elo"], low, high, color)
            aside = (place - (len(agents) - 1) / 2) * (high - low) / 110
            for row in agent["by_opponent"]:
                if row["elo"] is not None:
                    paper.share(row["elo"] + aside, row, color, marker)
        paper.percent_axis("score, %")
        paper.axes.set_xlim(low, high)
        paper.axes.set_xlabel("rating of the opponent, Elo")
        told = (
            f"{agent['label']} scored {100 * row['share']:.0f} % against {row['opponent']} "
            f"({row['elo']:.0f}), expected {_percent(row['expected_share'])}"
            for agent in agents
            for row in agent["by_opponent"]
            if row["elo"] is not None
        )
        return Plot(
            "score",
            "Score against the expected curve",
            "Points are scores against one opponent with Wilson's 95 % interval; curves are what "
            "the rating lets expect, whichever the colour.",
            paper.svg("Scores by the opponents' ratings", "; ".join(told)),
        )


def sprt_plot(report: Row) -> Plot | None:
    """Return how the test of a duel went."""
    duel = report["duel"]
    if duel is None or duel["sprt"] is None or not duel["course"]:
        return None
    test, course = duel["sprt"], duel["course"]
    with drawing("sprt", 230) as paper:
        axes = paper.axes
        for bound, name, color in (
            (test["lower_bound"], "H0", SERIES[1]),
            (test["upper_bound"], "H1", SERIES[2]),
        ):
            axes.axhline(bound, color=color, linestyle="--", linewidth=1.3)
            paper.note(0, bound, proper_signs(f"{name}: {bound:.2f}"), below=bound < 0)
        axes.plot(
            [0, *(point["pairs"] for point in course)],
            [0, *(point["llr"] for point in course)],
            color=SERIES[0],
        )
        axes.plot(course[-1]["pairs"], course[-1]["llr"], marker="o", color=SERIES[0])
        axes.set_xlim(0, course[-1]["pairs"] * 1.03)
        ends = [test["lower_bound"], test["upper_bound"], *(each["llr"] for each in course)]
        room = 0.14 * (max(ends) - min(ends))
        axes.set_ylim(min(ends) - room, max(ends) + room)
        paper.whole_numbers()
        axes.set_xlabel("complete pairs")
        axes.set_ylabel("log-likelihood ratio")
        bounds = proper_signs(" against ".join(f"{bound:g}" for bound in test["bounds"]))
        return Plot(
            "sprt",
            "Course of the test",
            f"The log-likelihood ratio of {bounds} Elo ({test['model']}) after each pair. The test "
            "is decided where it leaves the band.",
            paper.svg("Log-likelihood ratio over pairs of games", proper_signs(test["text"])),
        )


def solved_plot(report: Row) -> Plot | None:
    """Return how many positions were solved, by their difficulty."""
    agents = [each for each in report["agents"] if each["positions"] and each["positions"]["bands"]]
    agents = agents[:MOST_SERIES]
    if not agents:
        return None
    legend = [(each["label"], color, marker) for each, color, marker in styled(agents)]
    bands = [band for each in agents for band in each["positions"]["bands"]]
    low, high = min(band["from"] for band in bands), max(band["to"] for band in bands)
    with drawing("solved", 240, legend=len(legend)) as paper:
        paper.legend(legend)
        for place, (agent, color, marker) in enumerate(styled(agents)):
            rating = agent["rating"]["as_played"]
            if rating is not None:
                paper.expected(rating["elo"], low, high, color, solving_chance)
            aside = (place - (len(agents) - 1) / 2) * (high - low) / 90
            for band in agent["positions"]["bands"]:
                paper.share((band["from"] + band["to"]) / 2 + aside, band, color, marker)
        paper.percent_axis("solved, %")
        paper.axes.set_xlim(low, high)
        paper.axes.set_xlabel("difficulty of the position, Elo")
        told = (
            f"{agent['label']}: {agent['positions']['right']} of {agent['positions']['answers']}"
            for agent in agents
        )
        return Plot(
            "solved",
            "Solved by difficulty",
            "Points are shares of positions solved, with Wilson's 95 % interval; curves are what "
            "the rating lets expect.",
            paper.svg("Positions solved by difficulty", "; ".join(told)),
        )


def margin_plot(report: Row) -> Plot | None:
    """Return how the intervals of a ladder narrowed with the games."""
    courses = [
        (agent, [point for point in agent["course"] if point["draw_aware_margin"] is not None])
        for agent in report["agents"]
    ]
    courses = [(agent, course) for agent, course in courses if len(course) > 1][:MOST_SERIES]
    if not courses:
        return None
    colors = [color for _, color, _ in styled([agent for agent, _ in courses])]
    labels = [agent["label"] for agent, _ in courses]
    with drawing("margin", 220, legend=len(courses)) as paper:
        paper.legend([(label, color, "o") for label, color in zip(labels, colors, strict=True)])
        axes = paper.axes
        ends = []
        for (_, course), color in zip(courses, colors, strict=True):
            games = [point["games"] for point in course]
            margins = [point["draw_aware_margin"] for point in course]
            axes.plot(games, margins, color=color)
            axes.plot(games[-1], margins[-1], marker="o", color=color)
            ends += margins
        goal = report["plan"].get("margin")
        if isinstance(goal, int | float) and goal > 0:
            axes.axhline(goal, color=MUTED, linestyle="--", linewidth=1.2)
            paper.note(0, goal, f"goal: ±{goal:g}")
            ends.append(goal)
        axes.set_xlim(left=0)
        paper.log_axis("y", min(ends) / 1.25, max(ends) * 1.25)
        paper.whole_numbers()
        axes.set_xlabel("games")
        axes.set_ylabel("margin, ± Elo")
        told = (
            f"{label}: ±{course[-1]['draw_aware_margin']:.0f} after {course[-1]['games']} games"
            for label, (_, course) in zip(labels, courses, strict=True)
        )
        return Plot(
            "margin",
            "Margin over games",
            "Half the 95 % interval after so many games, draws taken into account, by which a "
            "ladder decides whether to go on. It is open while everything or nothing was scored.",
            paper.svg("Margin of the rating over games", "; ".join(told)),
        )


def _nearest(anchors: Sequence[Row], elos: Sequence[float]) -> list[Row]:
    """Return the anchors that are not far from everybody, the strongest first."""

    def distance(anchor: Row) -> float:
        return min(abs(float(anchor["elo"]) - elo) for elo in elos)

    return sorted(sorted(anchors, key=distance)[:_MOST_ANCHORS], key=lambda each: -each["elo"])


def _percent(share: float | None) -> str:
    return "nothing known" if share is None else f"{100 * share:.0f} %"
