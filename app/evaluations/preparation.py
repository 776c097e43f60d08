"""Preparation: finding out what a plan comes to, and what keeps it from being played.

Nothing is spent on it, and nobody is asked: no database, no process, no model.
"""

from __future__ import annotations

from agents.catalogue import Catalogue, takes_limit
from agents.errors import AgentError, PlayerUnavailable
from app.evaluations.contest import Contest, settled
from app.evaluations.errors import UnplayablePlan
from app.evaluations.plan import MOST_GAMES, Plan, PositionsPlan
from app.matches.errors import UnplayableSettings
from app.matches.seating import check_settings
from app.matches.settings import PlayerSettings
from engine.variant import find_variant

#: Fields of a match that a plan does not have, and where they come from.
_ORIGINS = {
    "initial_fen": "positions",
    "opening": "openings",
    "white": "agents",
    "black": "agents",
}


def prepare(plan: Plan, catalogue: Catalogue, *, may_lack: bool = False) -> Contest:
    """Return what a plan comes to, or raise `UnplayablePlan` and what else is wrong with it.

    With `may_lack`, players may lack what they need to be seated, such as a key: an estimate does
    not depend on it.
    """
    contest = Contest.of(settled(plan, catalogue))
    if contest.most_games > MOST_GAMES:
        raise UnplayablePlan(
            "rounds" if plan.kind == "pool" else "agents" if plan.kind == "positions" else "games",
            f"it may be {contest.most_games:,} games, and {MOST_GAMES:,} is the most there can be",
        )
    for place, player in enumerate(contest.players):
        field = "agents" if place < len(plan.agents) else "anchors"
        _check_seat(player, field, contest, catalogue, may_lack=may_lack)
    check_budgets(contest, catalogue)
    _check_openings(contest.plan)
    _check_analysis(contest.plan, catalogue)
    slot = contest.schedule.next_slot(())
    if slot is None:
        raise UnplayablePlan("agents", "there is no game to play")
    try:
        start = contest.known_start(slot)
        opening = None if start else contest.known_opening(slot.round)
        check_settings(contest.settings_of(slot, opening, start), catalogue)
    except UnplayableSettings as error:
        field = _ORIGINS.get(error.field, f"match.{error.field}")
        raise UnplayablePlan(field, error.why) from error
    except PlayerUnavailable:
        if not may_lack:
            raise
    return contest


def _check_seat(
    player: PlayerSettings, field: str, contest: Contest, catalogue: Catalogue, *, may_lack: bool
) -> None:
    """Raise `UnplayablePlan` if somebody cannot be seated."""
    try:
        catalogue.seat(player.name, contest.plan.variant, 0, player.limit)
    except PlayerUnavailable as error:
        if not may_lack:
            raise UnplayablePlan(field, str(error)) from error
    except AgentError as error:
        raise UnplayablePlan(field, str(error)) from error
    if player.limit is not None and not takes_limit(player.name):
        raise UnplayablePlan(
            field,
            f"{player.name} takes no limit: depth, nodes and time_ms are for UCI engines and"
            " `classical`",
        )


def _check_openings(plan: Plan) -> None:
    """Raise `UnplayablePlan` where Stockfish cannot say what is level."""
    variant = find_variant(plan.variant)
    openings = getattr(plan, "openings", None)
    if openings and openings.source == "balanced" and not variant.has_uci_engines:
        raise UnplayablePlan("openings", f"no UCI engine knows {variant.title}")


def _check_analysis(plan: Plan, catalogue: Catalogue) -> None:
    """Raise `UnplayablePlan` if games are to be analysed, and there is nobody to do it."""
    if isinstance(plan, PositionsPlan) or not plan.analysis.nodes:
        return
    if find_variant(plan.variant).has_uci_engines:
        try:
            catalogue.analyser()
        except AgentError as error:
            reason = f"games cannot be analysed: {error}; or leave them so, with nodes = 0"
            raise UnplayablePlan("analysis", reason) from error


def check_budgets(contest: Contest, catalogue: Catalogue) -> None:
    """Raise `UnplayablePlan` for a budget in dollars that nobody could keep."""
    plan = contest.plan
    budgets = {"budget": plan.whole_budget, "match.budget": plan.match.budget.settings()}
    for field, budget in budgets.items():
        for player in contest.players:
            unpriced = catalogue.unpriced(player.name)
            if budget.usd is not None and unpriced:
                raise UnplayablePlan(
                    field,
                    f"nobody knows what {unpriced[0]} costs, so no budget in USD can be kept;"
                    " set its price, or a budget of tokens or calls",
                )
