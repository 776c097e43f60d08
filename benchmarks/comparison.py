"""Timing two sides against each other, fairly, on a machine that is busy with other things too.

Both run in one process, in short rounds, one after the other, and which one starts alternates. Only
processor time counts. Every round gives a ratio, and the median of the ratios is what is reported:
whatever disturbs the machine for longer than a round disturbs both sides alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median, quantiles
from time import process_time
from typing import Any

#: How long one side's turn in a round should take, in seconds.
TURN = 0.025


class Objects(Enum):
    """What the passes of a comparison work on."""

    REUSED = "the same objects in every pass"
    RENEWED = "new objects in every pass, of the same positions"
    UNSEEN = "new objects in every round, of positions that were never seen before"


@dataclass(frozen=True)
class Side:
    """One contestant: `prepare` turns material into what `run` takes, and only `run` is timed."""

    prepare: Callable[[Any], Any]
    run: Callable[[Any], object]


@dataclass(frozen=True)
class Comparison:
    """One operation on both sides.

    Each of the `cases` returns the material of a pass, and `count` how many operations a pass over
    it is. The ratios of all cases are taken together. Without a `bar` it is for information.
    """

    name: str
    measures: str
    ours: Side
    theirs: Side
    cases: Sequence[Callable[[], Any]]
    count: Callable[[Any], int] = len
    bar: float | None = None
    objects: Objects = Objects.REUSED


@dataclass(frozen=True)
class Result:
    """What a comparison came to: microseconds for one operation, and theirs by ours."""

    comparison: Comparison
    ours: float
    theirs: float
    ratio: float
    #: The middle half of the ratios lies between these.
    quartiles: tuple[float, float]
    rounds: int

    @property
    def reached(self) -> bool | None:
        """Whether the bar is reached, or None if there is none."""
        bar = self.comparison.bar
        return None if bar is None else self.ratio >= bar

    def as_dict(self) -> dict[str, object]:
        """Return the result as JSON can hold it."""
        return {
            "name": self.comparison.name,
            "measures": self.comparison.measures,
            "bar": self.comparison.bar,
            "ours_us": round(self.ours, 3),
            "python_chess_us": round(self.theirs, 3),
            "ratio": round(self.ratio, 3),
            "ratio_quartiles": [round(bound, 3) for bound in self.quartiles],
            "rounds": self.rounds,
            "reached": self.reached,
        }


class _Turns:
    """One side's turns in the rounds of one case."""

    def __init__(self, side: Side, objects: Objects, material: Any) -> None:
        self.side = side
        self.objects = objects
        self.passes = 1
        self.material = material
        self.batch = [side.prepare(material)]

    def warm_up(self) -> None:
        """Run once without counting, and see how many passes make a turn."""
        seconds = self.take()
        if self.objects is not Objects.UNSEEN:
            self.passes = max(1, round(TURN / max(seconds, 1e-6)))
            self.batch *= self.passes

    def renew(self, material: Any) -> None:
        """Get ready for the next round."""
        if self.objects is not Objects.REUSED:
            self.batch = [self.side.prepare(material) for _ in range(self.passes)]

    def take(self) -> float:
        """Return the seconds that this turn took."""
        run = self.side.run
        batch = self.batch
        start = process_time()
        for items in batch:
            run(items)
        return process_time() - start


def compare(comparison: Comparison, rounds: int) -> Result:
    """Run every case of a comparison for a number of rounds, and one more to warm up."""
    ours: list[float] = []
    theirs: list[float] = []
    for case in comparison.cases:
        material = case()
        sides = [
            (_Turns(side, comparison.objects, material), times)
            for side, times in ((comparison.ours, ours), (comparison.theirs, theirs))
        ]
        for turns, _ in sides:
            turns.warm_up()
        for number in range(rounds):
            if comparison.objects is Objects.UNSEEN:
                material = case()
            for turns, _ in sides:
                turns.renew(material)
            operations = comparison.count(material)
            for turns, times in reversed(sides) if number % 2 else sides:
                times.append(turns.take() / turns.passes / operations * 1e6)
    ratios = [theirs_now / ours_now for ours_now, theirs_now in zip(ours, theirs, strict=True)]
    low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Result(comparison, median(ours), median(theirs), median(ratios), (low, high), rounds)


def table(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    rows = [("operation", "measured", "ours, µs", "python-chess, µs", "ratio", "bar", "")]
    for result in results:
        bar, reached = result.comparison.bar, result.reached
        rows.append(
            (
                result.comparison.name,
                result.comparison.measures,
                f"{result.ours:.2f}",
                f"{result.theirs:.2f}",
                f"{result.ratio:.2f}x",
                "" if bar is None else f"{bar:g}x",
                "" if reached is None else "ok" if reached else "MISSED",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    numeric = (2, 3, 4, 5)
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if column in numeric else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(cells)} |")
    rules = [
        "-" * (width + 1) + ":" if column in numeric else "-" * (width + 2)
        for column, width in enumerate(widths)
    ]
    lines.insert(1, f"|{'|'.join(rules)}|")
    return "\n".join(lines)


def verdict(results: Sequence[Result]) -> str:
    """Say how many bars were missed, and which."""
    barred = [result for result in results if result.reached is not None]
    missed = [result.comparison.name for result in barred if not result.reached]
    if not missed:
        return f"All {len(barred)} bars reached."
    return f"{len(missed)} of {len(barred)} bars MISSED: {', '.join(missed)}."
