"""Ladder: agents against anchors, each until its rating is known well enough."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.evaluations.adaptive import Anchor, choose_anchor, is_reached
from app.evaluations.plan import label_of
from app.evaluations.ratings import AnchorResult, Estimate, estimate
from app.evaluations.schedules.schedule import Slot, Standing, begun, unfinished_pair
from app.matches.settings import PlayerSettings
from engine import Color

#: What a margin of 100 takes of games that are open, which is as many as tell most.
_GAMES_TO_100 = 46


@dataclass(frozen=True, slots=True)
class RatedOpponent:
    """An anchor, and how it is seated."""

    anchor: Anchor
    player: PlayerSettings


@dataclass(frozen=True)
class Ladder:
    """The schedule of a ladder."""

    #: None of them is an opponent as well.
    agents: tuple[PlayerSettings, ...]
    opponents: tuple[RatedOpponent, ...]
    #: Half the interval at which an agent is done, and the most games that it plays.
    margin: float
    most_games: int
    is_adaptive: bool = True
    white_advantage: float = 0.0

    def next_slot(self, games: Sequence[Standing]) -> Slot | None:
        """Return the next game of the agent that has played least, of those who are not done."""
        if second := unfinished_pair(games):
            return second
        own = by_label(games)
        waiting = [agent for agent in self.agents if self._wants_more(label_of(agent), own)]
        if not waiting:
            return None
        agent = min(waiting, key=lambda each: len(own[label_of(each)]))
        label = label_of(agent)
        round_number = len(own[label]) // 2 + 1
        opponent = self._opponent(label, round_number, own[label])
        return begun(len(games) + 1, agent, opponent.player, round_number)

    def verdict(self, games: Sequence[Standing]) -> str | None:
        """Return what every agent has come to, once all are done."""
        own, labels = by_label(games), [label_of(agent) for agent in self.agents]
        if len(games) % 2 or any(self._wants_more(label, own) for label in labels):
            return None
        reached = sum(self._is_reached(label, own[label]) for label in labels)
        if reached == len(self.agents):
            return f"every rating is known to ±{self.margin:g}"
        return (
            f"{reached} of {len(self.agents)} ratings are known to ±{self.margin:g};"
            f" the others have played {self.most_games} games"
        )

    def expected(self, games: Sequence[Standing]) -> int:
        """Return how many games it will be, by what the margins are so far."""
        own, labels = by_label(games), [label_of(agent) for agent in self.agents]
        return sum(self._expected(label, own[label]) for label in labels)

    def estimate_of(self, label: str, games: Sequence[Standing]) -> Estimate | None:
        """Return what is known of an agent's strength; None before its first game."""
        results = self.results_of(label, games)
        return _estimated(tuple(results), self.white_advantage) if results else None

    def results_of(self, label: str, games: Sequence[Standing]) -> list[AnchorResult]:
        """Return what an agent scored against each anchor with each colour."""
        anchors = {each.anchor.label: each.anchor for each in self.opponents}
        tallies: dict[tuple[str, Color | None], Counter[float]] = {}
        for game in games:
            color = game.slot.color_of(label)
            if game.is_scored and color is not None:
                key = _opponent_of(game, label), color
                tallies.setdefault(key, Counter())[game.score_of(label)] += 1
        return [
            AnchorResult(
                anchors[opponent].elo,
                tally[1.0],
                tally[0.5],
                tally[0.0],
                anchors[opponent].se,
                color,
                opponent,
            )
            for (opponent, color), tally in tallies.items()
        ]

    def _opponent(self, label: str, round_number: int, games: Sequence[Standing]) -> RatedOpponent:
        if not self.is_adaptive:
            return self.opponents[(round_number - 1) % len(self.opponents)]
        pending = Counter(_opponent_of(game, label) for game in games if not game.is_scored)
        anchors = [each.anchor for each in self.opponents]
        chosen = choose_anchor(anchors, self.results_of(label, games), pending)
        return next(each for each in self.opponents if each.anchor == chosen)

    def _wants_more(self, label: str, own: Mapping[str, Sequence[Standing]]) -> bool:
        games = own[label]
        return len(games) < self.most_games and not self._is_reached(label, games)

    def _is_reached(self, label: str, games: Sequence[Standing]) -> bool:
        known = self.estimate_of(label, games)
        return known is not None and is_reached(known, self.margin)

    def _expected(self, label: str, games: Sequence[Standing]) -> int:
        played = len(games)
        known = self.estimate_of(label, games)
        if known is not None and is_reached(known, self.margin):
            return played
        if known is None or known.margin is None:
            likely = _GAMES_TO_100 * (100 / self.margin) ** 2
        else:
            likely = known.games * (known.margin / self.margin) ** 2
        return max(played, min(self.most_games, 2 * round(likely / 2 + 0.5)))


def by_label(games: Sequence[Standing]) -> defaultdict[str, list[Standing]]:
    """Return the games of every player."""
    own: defaultdict[str, list[Standing]] = defaultdict(list)
    for game in games:
        for label in game.slot.labels:
            own[label].append(game)
    return own


@lru_cache(maxsize=4096)
def _estimated(results: tuple[AnchorResult, ...], white_advantage: float) -> Estimate:
    # With every game one agent's results change, and all are looked at.
    return estimate(results, white_advantage=white_advantage)


def _opponent_of(game: Standing, label: str) -> str:
    white, black = game.slot.labels
    return black if label == white else white
