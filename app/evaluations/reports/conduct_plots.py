"""Plots of how agents play: accuracy by phase, refused attempts, and what ratings cost."""

from __future__ import annotations

from app.evaluations.reports.drawing import (
    GRID,
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
from app.evaluations.reports.numerals import interval_kind

_PHASES = ("opening", "middlegame", "endgame")
#: What a move takes, by what is in the report: the most telling first.
_MEASURES = (
    ("cost_usd_per_move", "dollars a move"),
    ("tokens_per_move", "tokens a move"),
    ("think_ms_per_move", "milliseconds of thinking a move"),
)


def accuracy_plot(report: Row) -> Plot | None:
    """Return how accurate moves were in each phase."""
    agents = [each for each in report["agents"] if each["quality"]["accuracy"] is not None]
    agents = agents[:MOST_SERIES]
    if not agents:
        return None
    legend = [(each["label"], color, marker) for each, color, marker in styled(agents)]
    with drawing("accuracy", 220, legend=len(legend)) as paper:
        paper.legend(legend)
        axes = paper.axes
        ends = []
        for place, (agent, color, marker) in enumerate(styled(agents)):
            aside = (place - (len(agents) - 1) / 2) * 0.12
            for column, name in enumerate(_PHASES):
                phase = agent["quality"]["phases"][name]
                if phase["accuracy"] is None:
                    continue
                margin = phase["accuracy_margin"] or 0.0
                low = max(0.0, phase["accuracy"] - margin)
                high = min(100.0, phase["accuracy"] + margin)
                ends += [low, high]
                axes.plot([column + aside] * 2, [low, high], color=color)
                axes.plot(column + aside, phase["accuracy"], marker=marker, color=color)
        axes.set_xlim(-0.5, len(_PHASES) - 0.5)
        axes.set_xticks(range(len(_PHASES)), _PHASES)
        axes.grid(visible=False, axis="x")
        axes.set_ylim(max(0.0, min(ends) - 8), min(102.0, max(ends) + 8))
        axes.set_ylabel("accuracy, %")
        told = (
            f"{agent['label']}: "
            + ", ".join(
                f"{name} {_number(agent['quality']['phases'][name]['accuracy'])}"
                for name in _PHASES
            )
            for agent in agents
        )
        return Plot(
            "accuracy",
            "Accuracy by phase",
            "The mean of the games' accuracies with its 95 % interval, of the games that were "
            "analysed.",
            paper.svg("Accuracy by phase of the game", "; ".join(told)),
        )


def legality_plot(report: Row) -> Plot | None:
    """Return how often agents proposed what could not be played; None if nobody ever did."""
    agents = [each for each in report["agents"] if each["legality"]["turns"]]
    if not any(each["legality"]["illegal"] + each["legality"]["unreadable"] for each in agents):
        return None
    kinds = (("illegal", SERIES[1]), ("unreadable", SERIES[0]))
    with drawing("legality", len(agents) * ROW + 40, legend=2, left=NAMES_LEFT) as paper:
        axes = paper.axes
        paper.legend([(f"{kind} attempts", color, "s") for kind, color in kinds])
        for row, agent in enumerate(agents):
            start = 0.0
            for kind, color in kinds:
                width = agent["legality"][f"{kind}_per_1000"]
                axes.barh(row, width, left=start, height=0.55, color=color)
                start += width
            paper.row_name(row, agent["label"])
        paper.names_for_rows(len(agents))
        axes.set_xlim(left=0)
        axes.set_xlabel("refused attempts per 1000 plies")
        told = (
            f"{each['label']}: {each['legality']['illegal_per_1000']:.1f} illegal and "
            f"{each['legality']['unreadable_per_1000']:.1f} unreadable"
            for each in agents
        )
        return Plot(
            "legality",
            "Refused attempts",
            "Moves that the rules forbid, and replies in which no move could be found, for every "
            "1000 plies that were played; a turn that ended in a forfeit counts as one.",
            paper.svg("Refused attempts per 1000 plies", "; ".join(told)),
        )


def cost_plot(report: Row) -> Plot | None:
    """Return ratings by what a move takes: money, or else tokens, or else time.

    Whoever takes nothing of it stands at the left edge, and who takes nobody knows how much is
    left out.
    """
    rows = [row for row in report["rating_against_cost"] if row["elo"] is not None]
    agents = [row for row in rows if not row["is_anchor"]]
    measure, name = next(
        ((key, name) for key, name in _MEASURES if any(_taken(row, key) for row in agents)),
        ("", ""),
    )
    if not measure:
        return None
    named = [row for row in agents if row[measure] is not None][:MOST_SERIES]
    anchors = [row for row in rows if row["is_anchor"] and row[measure] is not None]
    legend = [(row["label"], color, marker) for row, color, marker in styled(named)]
    if anchors:
        legend.append(("anchors", MUTED, "D"))
    taken = [float(row[measure]) for row in (*named, *anchors)]
    least = min(value for value in taken if value)
    low, high, free = least / 2, max(taken) * 2, least / 8
    with drawing("cost", 250, legend=len(legend)) as paper:
        axes = paper.axes
        paper.legend(legend)
        paper.log_axis("x", low, high)
        for row, color, marker in styled(named):
            paper.upright(float(row[measure]) or free, row, color, marker)
        for row in anchors:
            paper.upright(float(row[measure]) or free, row, MUTED, "D", 5)
        if not min(taken):
            axes.axvspan(free / 2, free * 2, color=GRID, alpha=0.45, linewidth=0)
            above = axes.get_xaxis_transform()
            axes.text(free, 0.98, "none", transform=above, ha="center", va="top", color=MUTED)
            axes.set_xlim(free / 2, high)
        axes.margins(y=0.1)
        axes.set_xlabel(name)
        axes.set_ylabel(elo_label(report))
        left_out = [row["label"] for row in agents if row[measure] is None]
        told = (f"{row['label']}: {row['elo']:.0f} at {float(row[measure]):g}" for row in named)
        caption = (
            f"Rating with its 95 % interval ({interval_kind(report)}) by {name}, on a logarithmic "
            "scale."
        )
        if left_out:
            caption += f" Left out, since that is not known: {', '.join(left_out)}."
        return Plot(
            "cost",
            "Rating against cost",
            caption,
            paper.svg(f"Ratings by {name}", "; ".join(told)),
        )


def _taken(row: Row, measure: str) -> bool:
    return row[measure] is not None and float(row[measure]) > 0


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f} %"
