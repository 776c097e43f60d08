"""Results of a series: its games, and what they tell of the two players."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from app.evaluations.games import EvaluationData, PlayedGame, SideRecord
from app.evaluations.ratings import Estimate
from app.evaluations.reports.duel import duel
from app.evaluations.scores import Score
from app.evaluations.sprt import are_alike
from app.evaluations.strengths import strengths_of
from app.series.plan import SeriesPlan
from engine import Color, Termination

_MILLISECOND = timedelta(milliseconds=1)
#: What nobody can tell by results that are all the same.
_UNTOLD = ("elo_margin", "los", "nelo", "nelo_margin")


class Status(StrEnum):
    """How a series stands."""

    PLAYING = "playing"
    #: All games were played, or the test has decided.
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    #: The budget does not pay for more.
    BUDGET = "budget"
    #: Something persists that keeps games from being played, or kept.
    FAILED = "failed"


@dataclass(frozen=True)
class Void:
    """A game that came to nothing by no fault of its players' play."""

    number: int
    why: str
    is_replayed: bool


@dataclass(frozen=True)
class SeriesResult:
    """What there is of a series, while it is played and after that."""

    plan: SeriesPlan
    status: Status
    #: Why it ended, in a sentence; empty if it is finished.
    detail: str
    #: Those that count, by their numbers.
    games: tuple[PlayedGame, ...]
    void: tuple[Void, ...]
    broken_off: int
    #: What each has done in all games, also in those that do not count, by label.
    spent: Mapping[str, SideRecord]
    began_at: datetime
    elapsed: timedelta

    def score_of(self, label: str, color: Color | None = None) -> Score:
        """Return what a player scored, in all games or with one colour."""
        games = self.games
        return Score.of(
            label, (each for each in games if color is None or each.color_of(label) is color)
        )

    def sprt(self) -> dict[str, Any] | None:
        """Return where the sequential test stands; None without one, or before the first pair."""
        pairs = self.duel(tests=False)["pentanomial"]
        verdict = None if pairs is None else self.plan.tested(pairs["counts"])
        return None if verdict is None else verdict.to_json()

    def duel(self, *, tests: bool = True) -> dict[str, Any]:
        """Return the statistics, as reports of evaluations have them, from the first's side."""
        data = self._data(tests=tests)
        found = duel(data, strengths_of(data, data.games, ()))
        if found is None:
            raise ValueError("a series has two players")
        return found

    def rating(self) -> Estimate | None:
        """Return how much stronger the first player is, by the likelihood; None without games."""
        data = self._data(tests=False)
        return strengths_of(data, data.games, ()).estimates[self.plan.labels[0]]

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        plan = self.plan
        rating = self.rating()
        statistics = self.duel()
        del statistics["course"]
        for found in filter(None, (statistics["trinomial"], statistics["pentanomial"])):
            if are_alike(found["counts"]):
                found.update(dict.fromkeys(_UNTOLD))
        return {
            "status": self.status.value,
            "detail": self.detail,
            "variant": plan.rules.variant,
            "time_control": plan.rules.time_control,
            "seed": plan.rules.seed,
            "wanted": plan.games,
            "elapsed_ms": self.elapsed // _MILLISECOND,
            **statistics,
            "rating": None if rating is None else rating.to_json(),
            "players": [self._player_json(label) for label in plan.labels],
            "terminations": {why.value: count for why, count in self.terminations().items()},
            "void": [
                {"game": each.number, "detail": each.why, "is_replayed": each.is_replayed}
                for each in self.void
            ],
            "broken_off": self.broken_off,
            "played": list(map(_game_json, self.games)),
        }

    def terminations(self) -> dict[Termination, int]:
        """Return how often games ended in which way, the most frequent first."""
        return dict(Counter(each.termination for each in self.games).most_common())

    def forfeits(self, label: str, termination: Termination) -> int:
        """Return how many games a player lost in one way."""
        return sum(
            each.termination is termination
            and each.winner is not None
            and each.winner is not each.color_of(label)
            for each in self.games
        )

    def played(self, label: str) -> SideRecord:
        """Return what a player has done in the games that count."""
        return SideRecord.total(each.side(each.color_of(label)) for each in self.games)

    def _player_json(self, label: str) -> dict[str, Any]:
        side, spent = self.played(label), self.spent[label]
        return {
            "player": label,
            **self.score_of(label).to_json(),
            **{f"as_{color.value}": self.score_of(label, color).to_json() for color in Color},
            "plies": side.plies,
            "think_ms": side.think_ms,
            "illegal": side.illegal,
            "unreadable": side.unreadable,
            "lost_on_time": self.forfeits(label, Termination.TIME_FORFEIT),
            "lost_by_rules": self.forfeits(label, Termination.RULES_INFRACTION),
            "spent": {
                "calls": spent.calls,
                "prompt_tokens": spent.prompt_tokens,
                "completion_tokens": spent.completion_tokens,
                "tokens": spent.tokens,
                "cost_usd": None if spent.cost_usd is None else str(spent.cost_usd),
            },
        }

    def _data(self, *, tests: bool) -> EvaluationData:
        """Return the games as a duel."""
        first, second = self.plan.labels
        rules = self.plan.rules
        return EvaluationData(
            id="",
            name=f"{first} against {second}",
            kind="duel",
            status=self.status.value,
            detail=self.detail,
            created_at=self.began_at,
            ended_at=None,
            plan={"variant": rules.variant},
            manifest={},
            agents=(first, second),
            games=self.games,
            sprt=self.plan.test if tests else None,
        )


def _game_json(game: PlayedGame) -> dict[str, Any]:
    return {
        "game": game.number,
        "pair": game.pair,
        "white": game.white,
        "black": game.black,
        "opening": game.opening,
        "result": game.result,
        "termination": game.termination.value,
        "plies": game.plies,
        "opening_plies": game.opening_plies,
    }
