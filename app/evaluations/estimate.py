"""Estimate of a plan: how many games, calls, tokens and dollars, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.catalogue import Catalogue
from agents.team.appraisal import Appraisal
from app.evaluations.contest import Contest
from app.evaluations.costs import MOVES, game_cost
from app.evaluations.plan import PositionsPlan, label_of
from app.evaluations.schedules.ladder import Ladder
from app.evaluations.treasurer import lack_of_money
from app.matches.settings import PlayerSettings

#: What is said to be likely is no more certain than that.
_NOTE = (
    "likely is 40 moves a game, and models that write half of what they may;"
    " at most is every game at its longest, with every retry used up"
)


@dataclass(frozen=True)
class AgentEstimate:
    """What one player will likely cost."""

    label: str
    games: int
    likely: Appraisal
    most: Appraisal


@dataclass(frozen=True)
class PlanEstimate:
    """What an evaluation will likely come to, and what it can come to at most."""

    games: int
    most_games: int
    players: tuple[AgentEstimate, ...]
    notes: tuple[str, ...]

    @property
    def likely(self) -> Appraisal:
        """What all will likely cost together."""
        return sum((each.likely for each in self.players), Appraisal())

    @property
    def most(self) -> Appraisal:
        """What all can cost together at most."""
        return sum((each.most for each in self.players), Appraisal())

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "games": self.games,
            "most_games": self.most_games,
            "likely": _appraisal_json(self.likely),
            "most": _appraisal_json(self.most),
            "players": [
                {
                    "player": each.label,
                    "games": each.games,
                    "likely": _appraisal_json(each.likely),
                    "most": _appraisal_json(each.most),
                }
                for each in self.players
            ],
            "notes": list(self.notes),
        }


def estimate_plan(contest: Contest, catalogue: Catalogue) -> PlanEstimate:
    """Return what a plan will likely come to."""
    games = contest.schedule.expected(())
    most_games = contest.most_games
    players = []
    for player in contest.players:
        share = _games_of(contest, player, games)
        most_share = share * most_games / games if games else 0.0
        likely = game_cost(contest, catalogue, player).times(share)
        most = _dearest_game(contest, catalogue, player).times(most_share)
        players.append(AgentEstimate(label_of(player), round(share), likely, most))
    return PlanEstimate(games, most_games, tuple(players), _notes(contest, catalogue))


def _dearest_game(contest: Contest, catalogue: Catalogue, player: PlayerSettings) -> Appraisal:
    rules = contest.plan.match
    is_position = isinstance(contest.plan, PositionsPlan)
    moves = 1 if is_position else ((rules.max_plies or 2 * MOVES) + 1) // 2
    attempts = 1 + rules.illegal_moves.retries
    return catalogue.appraise(player.name, written=1.0).times(moves * attempts)


def _games_of(contest: Contest, player: PlayerSettings, games: int) -> float:
    """Return in how many of the games a player takes part; anchors share them evenly."""
    schedule, agents = contest.schedule, contest.plan.players
    others = len(contest.players) - len(agents)
    if isinstance(schedule, Ladder):
        return games / len(agents) if player in agents else games / max(others, 1)
    if isinstance(contest.plan, PositionsPlan):
        return games / len(agents)
    return games * 2 / len(contest.players) if not others else _pool_share(contest, player)


def _pool_share(contest: Contest, player: PlayerSettings) -> float:
    pairings = getattr(contest.schedule, "pairings", ())
    rounds = getattr(contest.plan, "rounds", 1)
    return 2.0 * rounds * sum(player in pairing for pairing in pairings)


def _notes(contest: Contest, catalogue: Catalogue) -> tuple[str, ...]:
    notes = []
    unpriced = {model for player in contest.players for model in catalogue.unpriced(player.name)}
    if unpriced:
        notes.append(f"nobody knows what {', '.join(sorted(unpriced))} costs")
    notes += [
        f"{label_of(player)} cannot be seated yet: {lack}"
        for player in contest.players
        if (lack := catalogue.lack_of(player.name))
    ]
    if any(catalogue.models_of(player.name) for player in contest.players):
        notes.append(_NOTE)
    if lack := lack_of_money(contest, catalogue):
        notes.append(lack)
    if isinstance(contest.schedule, Ladder):
        notes += _ladder_notes(contest.schedule)
    return tuple(notes)


def _ladder_notes(ladder: Ladder) -> list[str]:
    """Say if no number of games could make the interval as narrow as it should be."""
    # With ever more games against every anchor, this much is left of their own uncertainty.
    errors = [each.anchor.se for each in ladder.opponents]
    if not errors or min(errors) <= 0:
        return []
    floor = 1.96 / sum(error**-2 for error in errors) ** 0.5
    if floor < ladder.margin:
        return []
    return [
        f"the anchors' own uncertainty alone is ±{floor:.0f}, so ±{ladder.margin:g} cannot be"
        " reached: calibrate longer, or ask for less"
    ]


def _appraisal_json(appraisal: Appraisal) -> dict[str, Any]:
    return {
        "calls": round(appraisal.calls),
        "prompt_tokens": round(appraisal.prompt_tokens),
        "completion_tokens": round(appraisal.completion_tokens),
        "cost_usd": None if appraisal.usd is None else f"{appraisal.usd:.4f}",
    }
