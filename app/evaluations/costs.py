"""Costs: what a game, and a decision, of a player will likely take, before any was played."""

from __future__ import annotations

from agents.catalogue import Catalogue
from agents.models.budget import Spending
from agents.team.appraisal import Appraisal
from app.evaluations.contest import Contest
from app.evaluations.plan import PositionsPlan
from app.matches.settings import PlayerSettings

#: How many moves of its own a player makes in a game, as a rule.
MOVES = 40


def game_cost(contest: Contest, catalogue: Catalogue, player: PlayerSettings) -> Appraisal:
    """Return what a game, or an answer, of a player will likely cost."""
    moves = 1 if isinstance(contest.plan, PositionsPlan) else MOVES
    most = contest.plan.match.max_plies
    if most is not None:
        moves = min(moves, (most + 1) // 2)
    return catalogue.appraise(player.name).times(moves)


def dearest_decision(catalogue: Catalogue, player: PlayerSettings) -> Appraisal:
    """Return what one decision costs at worst, with nothing refused."""
    return catalogue.appraise(player.name, written=1.0)


def likely_spending(appraisal: Appraisal) -> Spending:
    """Return an appraisal as a budget counts it."""
    return Spending(appraisal.usd, round(appraisal.tokens), round(appraisal.calls))
