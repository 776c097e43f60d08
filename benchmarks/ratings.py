"""How many games a rating takes, and whether its interval holds: `make bench-ratings`.

Agents of known strength play simulated games against anchors, which are chosen exactly as a ladder
chooses them: once for each pair of games, until the 95 % interval is narrow enough. Beside it all
anchors are met in turn. Since an evaluation stops when it likes what it sees, that the interval
holds the true strength 95 times in 100 is not to be taken for granted: it is counted.

With `--anchor-se` the anchors' own ratings are uncertain: each is off by a random error in each
evaluation, and the interval has to carry it. The standard error of a coverage is printed with it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from statistics import mean
from time import process_time

from app.evaluations.adaptive import Anchor, choose_anchor, is_reached
from app.evaluations.ratings import AnchorResult, Estimate, estimate

STRENGTHS, ANCHORS, DRAWS = "200:2600:200", "400:2400:200", 0.12
MARGINS, RUNS, LADDER_RUNS = "150,100", 2000, 50
#: What is asked for at ±100: games, their share of the uniform ladder's, and coverage.
BAR_MARGIN, MOST_GAMES, MOST_SHARE, COVERAGE = 100, 50, 0.40, (0.93, 0.97)
#: An evaluation that got nowhere by then never will.
LONGEST = 20_000

#: Won, drawn and lost games against each anchor.
Tallies = tuple[tuple[int, int, int], ...]


class Scheduler:
    """What a ladder would do next, remembered: simulations often come to the same results."""

    def __init__(self, anchors: Sequence[Anchor]) -> None:
        self.anchors = anchors
        self._choices: dict[tuple[Tallies, tuple[int, ...]], int] = {}
        self._estimates: dict[Tallies, Estimate] = {}

    def choose(self, tallies: Tallies, under_way: Sequence[int]) -> int:
        """Return the number of the anchor to meet next, others being under way."""
        key = (tallies, tuple(sorted(under_way)))
        if key not in self._choices:
            pending: dict[str, int] = {}
            for index in under_way:
                label = self.anchors[index].label
                pending[label] = pending.get(label, 0) + 2
            anchor = choose_anchor(self.anchors, self._results(tallies), pending)
            self._choices[key] = self.anchors.index(anchor)
        return self._choices[key]

    def estimate(self, tallies: Tallies) -> Estimate:
        """Return the rating so far."""
        if tallies not in self._estimates:
            self._estimates[tallies] = estimate(self._results(tallies))
        return self._estimates[tallies]

    def forget(self) -> None:
        """Make room: agents of another strength come to other results."""
        self._choices.clear()
        self._estimates.clear()

    def _results(self, tallies: Tallies) -> list[AnchorResult]:
        return [
            AnchorResult(anchor.elo, *tally, elo_se=anchor.se, anchor=anchor.label)
            for anchor, tally in zip(self.anchors, tallies, strict=True)
            if any(tally)
        ]


@dataclass(frozen=True)
class Agent:
    """Whom a simulation measures."""

    strength: float
    draws: float
    #: What the anchors' ratings really are, in this evaluation.
    anchors: Sequence[float]

    def play(self, index: int, rng: Random) -> int:
        """Return 0 for a win, 1 for a draw, 2 for a loss."""
        chance = 1 / (1 + 10 ** ((self.anchors[index] - self.strength) / 400))
        # Where one side is far stronger, there cannot be so many draws.
        draws = min(self.draws, 2 * chance, 2 - 2 * chance)
        dice = rng.random()
        return 0 if dice < chance - draws / 2 else 1 if dice < chance + draws / 2 else 2


def evaluations(
    agent: Agent, scheduler: Scheduler, rng: Random, at_a_time: int, in_turn: bool
) -> Iterator[tuple[int, Estimate]]:
    """Play on without end; give the number of games and the rating after each pair."""
    count = len(scheduler.anchors)
    tallies: list[list[int]] = [[0, 0, 0] for _ in range(count)]
    frozen: Tallies = tuple((0, 0, 0) for _ in range(count))
    under_way: list[int] = []
    started = games = 0
    while True:
        while len(under_way) < at_a_time:
            under_way.append(started % count if in_turn else scheduler.choose(frozen, under_way))
            started += 1
        index = under_way.pop(0)
        for _ in range(2):
            tallies[index][agent.play(index, rng)] += 1
            games += 1
        frozen = tuple((wins, draws, losses) for wins, draws, losses in tallies)
        yield games, scheduler.estimate(frozen)


@dataclass
class Row:
    """How evaluations of one strength ended that stopped at one margin."""

    strength: float
    margin: float
    games: list[int] = field(default_factory=list)
    ladder_games: list[int] = field(default_factory=list)
    #: How often the draw-aware interval held the truth, and how often the plain one.
    held: int = 0
    plain_held: int = 0

    def add(self, games: int, rating: Estimate) -> None:
        """Count an evaluation."""
        self.games.append(games)
        self.held += holds(rating.draw_aware_low, self.strength, rating.draw_aware_high)
        self.plain_held += holds(rating.low, self.strength, rating.high)

    @property
    def coverage(self) -> float:
        """The share of intervals that held the truth."""
        return self.held / len(self.games)

    @property
    def coverage_error(self) -> float:
        """The standard error of that share, if it is 95 % really."""
        return sqrt(0.95 * 0.05 / len(self.games))

    def to_json(self) -> dict[str, float]:
        """Return the figures."""
        return {
            "strength": self.strength,
            "margin": self.margin,
            "runs": len(self.games),
            "games": mean(self.games),
            "ladder_games": mean(self.ladder_games) if self.ladder_games else 0.0,
            "coverage": self.coverage,
            "coverage_error": self.coverage_error,
            "plain_coverage": self.plain_held / len(self.games),
        }


def holds(low: float | None, value: float, high: float | None) -> bool:
    """Tell whether an interval holds a value."""
    return (low is None or low <= value) and (high is None or value <= high)


def plain_is_reached(rating: Estimate, margin: float) -> bool:
    """Tell whether the plain interval is narrow enough, which no ladder waits for."""
    return rating.margin is not None and rating.margin <= margin


def measure(strength: float, arguments: argparse.Namespace, scheduler: Scheduler) -> list[Row]:
    """Return a row for each margin."""
    margins = sorted(arguments.margins, reverse=True)
    rows = [Row(strength, margin) for margin in margins]
    for run in range(arguments.runs + arguments.ladder_runs):
        in_turn = run >= arguments.runs
        rng = Random(f"{arguments.seed} {strength} {run}")
        agent = Agent(
            strength,
            arguments.draws,
            [rng.gauss(anchor.elo, anchor.se) for anchor in scheduler.anchors],
        )
        waiting = list(rows)
        is_enough = plain_is_reached if arguments.plain else is_reached
        for games, rating in evaluations(agent, scheduler, rng, arguments.at_a_time, in_turn):
            while waiting and (is_enough(rating, waiting[0].margin) or games >= LONGEST):
                row = waiting.pop(0)
                if in_turn:
                    row.ladder_games.append(games)
                else:
                    row.add(games, rating)
            if not waiting:
                break
    return rows


def numbers(text: str) -> list[float]:
    """Read "1,2,3" or "1:9:2", which is 1, 3, 5, 7, 9."""
    if ":" not in text:
        return [float(part) for part in text.split(",")]
    first, last, step = (float(part) for part in text.split(":"))
    return [first + step * number for number in range(int((last - first) / step + 1e-9) + 1)]


def print_table(rows: Sequence[Row], has_ladder: bool) -> None:
    """Print what came out at one margin, and whether the bars were reached."""
    margin = rows[0].margin
    print(f"\nTo ±{margin:g} Elo:\n")
    print("| strength | games | all in turn | share | coverage | of the plain interval |")
    print("|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        data = row.to_json()
        ladder = data["ladder_games"]
        beside = f"{ladder:.1f} | {data['games'] / ladder:.0%}" if has_ladder else "|"
        print(
            f"| {row.strength:g} | {data['games']:.1f} | {beside} "
            f"| {row.coverage:.1%} ± {row.coverage_error:.1%} | {data['plain_coverage']:.1%} |"
        )
    games = mean(mean(row.games) for row in rows)
    ladder = mean(mean(row.ladder_games) for row in rows) if has_ladder else 0.0
    beside = f"{ladder:.1f} | {games / ladder:.0%}" if has_ladder else "|"
    runs = sum(len(row.games) for row in rows)
    whole = sum(row.held for row in rows) / runs
    plain = sum(row.plain_held for row in rows) / runs
    print(f"| all | {games:.1f} | {beside} | {whole:.1%} | {plain:.1%} |")
    if margin == BAR_MARGIN:
        low, high = COVERAGE
        verdicts = [
            (f"at most {MOST_GAMES} games on average", games <= MOST_GAMES),
            (f"coverage {low:.0%} to {high:.0%} everywhere",
             all(low <= row.coverage <= high for row in rows)),
        ]  # fmt: skip
        if has_ladder:
            verdicts.append(
                (f"at most {MOST_SHARE:.0%} of all in turn", games / ladder <= MOST_SHARE)
            )
        print()
        for what, is_met in verdicts:
            print(f"{what}: {'ok' if is_met else 'MISSED'}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratings", description=__doc__)
    lists = "as 1,2,3 or FIRST:LAST:STEP"
    parser.add_argument("--strengths", type=numbers, default=numbers(STRENGTHS), help=lists)
    parser.add_argument("--anchors", type=numbers, default=numbers(ANCHORS), help=lists)
    parser.add_argument(
        "--anchor-se", type=numbers, default=[0.0], help="their ratings' own error: one, or of each"
    )
    parser.add_argument("--draws", type=float, default=DRAWS, help="the share of drawn games")
    parser.add_argument("--margins", type=numbers, default=numbers(MARGINS), help=lists)
    parser.add_argument("--runs", type=int, default=RUNS, help="evaluations of each strength")
    parser.add_argument("--ladder-runs", type=int, default=LADDER_RUNS, help="all in turn")
    parser.add_argument("--at-a-time", type=int, default=1, help="pairs under way")
    parser.add_argument("--plain", action="store_true", help="stop by the plain interval")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    arguments = parser.parse_args()
    if arguments.runs < 1 or arguments.at_a_time < 1 or not 0 <= arguments.draws <= 1:
        parser.error("--runs and --at-a-time are at least 1, and --draws is a share")
    elos, errors = arguments.anchors, arguments.anchor_se
    if len(errors) == 1:
        errors = errors * len(elos)
    if len(errors) != len(elos):
        parser.error(f"there are {len(errors)} errors for {len(elos)} anchors")
    anchors = [Anchor(f"{elo:g}", elo, se) for elo, se in zip(elos, errors, strict=True)]
    scheduler = Scheduler(anchors)
    rows: list[Row] = []
    for strength in arguments.strengths:
        rows += measure(strength, arguments, scheduler)
        scheduler.forget()
        print(f"{strength:g} done, {process_time():.0f} s", file=sys.stderr)
    if arguments.json:
        print(json.dumps([row.to_json() for row in rows]))
        return
    listed = [each.label + (f" ± {each.se:g}" if each.se else "") for each in anchors]
    print(
        f"Anchors {', '.join(listed)}; {arguments.draws:.0%} draws; "
        f"{arguments.runs} evaluations of each strength."
    )
    for margin in sorted(arguments.margins, reverse=True):
        print_table([row for row in rows if row.margin == margin], arguments.ladder_runs > 0)


if __name__ == "__main__":
    main()
