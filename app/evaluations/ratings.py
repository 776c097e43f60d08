"""The rating of one agent from its games against anchors, whose ratings are known.

The chance of a point is logistic in the difference of two ratings (Elo's scale), and a draw counts
as half a win and half a loss. The rating is that of maximum likelihood, and its 95 % interval that
of the likelihood ratio. Whoever scored nothing or everything has a bound on one side only, which is
finite.

An anchor's rating may be uncertain itself. The agent's rating and its standard errors are those of
anchors taken at their word; the interval is not. For it the anchor's rating is a parameter of its
own, likely to be within its standard error of what is said, over which the likelihood is maximised:
games against an uncertain anchor narrow it no further than that anchor's rating is worth, however
many they are. The interval always holds the rating.

A draw is more certain than half a win and half a loss: where there are many, scores vary less than
this likelihood has it, and its interval is wider than it need be. The draw-aware interval ends
where 2 ln(likelihood) has fallen by as much less as scores vary less (statisticians call that a
quasi-likelihood). Without draws the two are the same.

    UnratableResults
    ├── NoGames             nothing was played
    ├── InvalidResult       a count or a rating that cannot be
    └── InvalidAdvantage    the advantage of having White is no number
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.errors import AppError
from app.evaluations.bradley_terry import NATURAL, TWO_SIDED
from app.evaluations.likelihood import Curve, Opponent, chance_of
from engine import Color
from engine.errors import shown

#: Ratings, errors and advantages beyond it are mistakes, and so are more games.
LARGEST_ELO = 1_000_000
MOST_GAMES = 1_000_000_000
#: An error below it is none.
LEAST_ERROR = 1e-6
#: Half a 95 % interval in standard errors, as tables print it.
WALD = 1.96
#: However many draws there are, the next game may be none.
LEAST_DISPERSION = 1e-3


class UnratableResults(AppError):
    """The root of all errors of results that give no rating."""


@dataclass(eq=False)
class NoGames(UnratableResults):
    """Results without any game."""

    def __str__(self) -> str:
        return "a rating needs at least one game"


@dataclass(eq=False)
class InvalidResult(UnratableResults):
    """A result that cannot be."""

    result: AnchorResult
    reason: str

    def __str__(self) -> str:
        anchor = shown(self.result.anchor) if self.result.anchor else f"{self.result.elo:g}"
        return f"the result against {anchor} cannot be: {self.reason}"


@dataclass(eq=False)
class InvalidAdvantage(UnratableResults):
    """An advantage of having White that is no finite number, or absurdly large."""

    advantage: float

    def __str__(self) -> str:
        return f"the advantage of White must be a number of Elo points, not {self.advantage}"


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """What an agent scored against one anchor."""

    elo: float
    wins: int
    draws: int
    losses: int
    #: The standard error of the anchor's own rating.
    elo_se: float = 0.0
    #: The agent's colour in these games, if it is known.
    color: Color | None = None
    #: Results with the same name and rating share the error of one anchor's rating.
    anchor: str = ""

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is a point, a draw half of one."""
        return self.wins + self.draws / 2


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the games tell of one agent's strength."""

    #: The rating of maximum likelihood, anchors taken for sure; the bound by the likelihood ratio
    #: where nothing or everything was scored.
    elo: float
    #: The ends of the 95 % interval; one is None where the other is a bound on one side.
    low: float | None
    high: float | None
    #: Of the games alone, anchors taken for sure: that of the model, and that of what was really
    #: scored (the sandwich).
    standard_error: float | None
    sandwich_error: float | None
    #: What `elo` is if it is not an estimate.
    bound: Literal["lower", "upper"] | None
    games: int
    points: float
    #: The 95 % interval again, narrower by what draws make scores vary less.
    draw_aware_low: float | None = None
    draw_aware_high: float | None = None

    @property
    def margin(self) -> float | None:
        """Half the width of the interval, or None where it is open."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def draw_aware_margin(self) -> float | None:
        """Half the width of the draw-aware interval, or None where it is open."""
        if self.draw_aware_low is None or self.draw_aware_high is None:
            return None
        return (self.draw_aware_high - self.draw_aware_low) / 2

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the draw-aware interval, where there is one, or else of the other."""
        if self.draw_aware_low is None and self.draw_aware_high is None:
            return self.low, self.high
        return self.draw_aware_low, self.draw_aware_high

    @property
    def wald_margin(self) -> float | None:
        """1.96 standard errors, which other tables publish as the margin."""
        return None if self.standard_error is None else WALD * self.standard_error

    def __str__(self) -> str:
        if self.margin is not None:
            return f"{self.elo:z.0f} ± {self.margin:.0f}"
        return f"{'>' if self.bound == 'lower' else '<'} {self.elo:z.0f}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, in which nothing is infinite."""
        return {
            "elo": self.elo,
            "low": self.low,
            "high": self.high,
            "margin": self.margin,
            "bound": self.bound,
            "standard_error": self.standard_error,
            "sandwich_error": self.sandwich_error,
            "wald_margin": self.wald_margin,
            "draw_aware_low": self.draw_aware_low,
            "draw_aware_high": self.draw_aware_high,
            "draw_aware_margin": self.draw_aware_margin,
            "games": self.games,
            "points": self.points,
        }


def estimate(results: Iterable[AnchorResult], *, white_advantage: float = 0.0) -> Estimate:
    """Return the rating that the results are likeliest with, and its 95 % interval.

    Raises `NoGames`, `InvalidResult` or `InvalidAdvantage`.
    """
    if not abs(white_advantage) <= LARGEST_ELO:
        raise InvalidAdvantage(white_advantage)
    played = [result for result in results if _check(result).games]
    games, points = sum(each.games for each in played), sum(each.points for each in played)
    if not games:
        raise NoGames
    if games > MOST_GAMES:
        raise InvalidResult(played[0], f"there are more than {MOST_GAMES:,} games")
    sure = Curve(_opponents((replace(each, elo_se=0.0) for each in played), white_advantage))
    curve = Curve(_opponents(played, white_advantage))
    if not 0 < points < games:
        bound: Literal["lower", "upper"] = "lower" if points else "upper"
        elo = curve.one_sided(bound) / NATURAL
        low, high = (elo, None) if points else (None, elo)
        return Estimate(elo, low, high, None, None, bound, games, points, low, high)
    peak = sure.peak()
    crest = peak if curve == sure else curve.peak()
    spread = _Spread.of(played, peak, white_advantage)
    elo = peak / NATURAL
    low, high = (end / NATURAL for end in curve.two_sided(crest))
    narrow = curve if spread.dispersion == 1 else curve.dispersed(spread.dispersion)
    narrow_low, narrow_high = (end / NATURAL for end in narrow.two_sided(crest, spread.dispersion))
    return Estimate(
        # Uncertain anchors that contradict each other could leave the rating outside, and move the
        # narrower interval to one side.
        elo, min(low, elo), max(high, elo),
        spread.model_error, spread.sandwich_error, None, games, points,
        min(elo, max(low, narrow_low)), max(elo, min(high, narrow_high)),
    )  # fmt: skip


def _check(result: AnchorResult) -> AnchorResult:
    if not all(0 <= count <= MOST_GAMES for count in (result.wins, result.draws, result.losses)):
        raise InvalidResult(result, "a count is no number of games")
    if not abs(result.elo) <= LARGEST_ELO:
        raise InvalidResult(result, "the anchor's rating is no number of Elo points")
    if not 0 <= result.elo_se <= LARGEST_ELO:
        raise InvalidResult(result, "the error of the anchor's rating is no number of Elo points")
    return result


def _rating_met(result: AnchorResult, white_advantage: float) -> float:
    """Return what the anchor's rating amounts to with the colours as they were."""
    if result.color is None:
        return result.elo
    return result.elo + (-white_advantage if result.color is Color.WHITE else white_advantage)


@dataclass(frozen=True, slots=True)
class _Spread:
    """How much scores vary: as the model has it, and as they did; in natural units."""

    #: Fisher's information of all games.
    information: float
    #: The squares of what was scored less what was expected.
    squares: float
    #: How much less than the model's the variance is for the draws that there were.
    drawn: float

    @classmethod
    def of(cls, played: Sequence[AnchorResult], peak: float, white_advantage: float) -> _Spread:
        information = squares = 0.0
        games = draws = 0
        for each in played:
            distance = peak - _rating_met(each, white_advantage) * NATURAL
            won, lost = chance_of(distance), chance_of(-distance)
            games, draws = games + each.games, draws + each.draws
            information += each.games * won * lost
            squares += each.wins * lost**2 + each.draws * (0.5 - won) ** 2 + each.losses * won**2
        # As if some games more had been played without a draw, since when hardly anything was
        # played, much would hang on a draw or two: as many as Wilson's interval adds.
        return cls(information, squares, draws / 4 * games / (games + TWO_SIDED))

    @property
    def model_error(self) -> float | None:
        """None where the anchors are so far away that no game tells anything."""
        return self._in_elo(math.sqrt(self.information))

    @property
    def sandwich_error(self) -> float | None:
        return self._in_elo(math.sqrt(self.squares))

    def _in_elo(self, root: float) -> float | None:
        error = root / self.information / NATURAL if self.information else math.inf
        return error if math.isfinite(error) else None

    @property
    def dispersion(self) -> float:
        """Return the variance of scores by that of the model, 1 at most.

        The squares alone would be too small by chance now and then, and an evaluation that stops
        at a narrow interval would stop just then. Draws are counted instead: they tell the same
        with less chance in it, unless the agent drew where it should not have.
        """
        if not self.drawn or not self.information:
            return 1.0
        varied = max(self.information - self.drawn, self.squares) / self.information
        return min(1.0, max(LEAST_DISPERSION, varied))


def _opponents(played: Iterable[AnchorResult], white_advantage: float) -> tuple[Opponent, ...]:
    """Gather the results by anchor, and of each by the rating met."""
    gathered: dict[tuple[str, float, float], dict[float, tuple[float, float]]] = {}
    for result in played:
        error = result.elo_se if result.elo_se >= LEAST_ERROR else 0.0
        # An anchor without uncertainty has nothing to share.
        key = (result.anchor if error else "", result.elo, error)
        series = gathered.setdefault(key, {})
        met = _rating_met(result, white_advantage) * NATURAL
        own, other = series.get(met, (0.0, 0.0))
        series[met] = (own + result.points, other + result.games - result.points)
    return tuple(
        Opponent(
            1 / (se * NATURAL) ** 2 if se else math.inf,
            tuple((met, own, other) for met, (own, other) in sorted(series.items())),
        )
        for (_, _, se), series in sorted(gathered.items())
    )
