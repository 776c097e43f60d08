"""Seating: the players of a match, and what keeps them from playing it."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from agents.catalogue import Catalogue, takes_limit
from agents.classical.errors import InvalidThinking
from agents.errors import AgentError
from agents.models.budget import Budget
from agents.player import Player
from agents.uci.errors import InvalidLimit
from app.matches.errors import UnplayableSettings
from app.matches.settings import MatchSettings
from engine import Color
from engine.variant import find_variant

_log = structlog.get_logger(__name__)


def seat_player(catalogue: Catalogue, settings: MatchSettings, color: Color) -> Player:
    """Return the player of a seat; raises what `Catalogue.seat` raises, or `InvalidLimit`."""
    player = settings.player(color)
    # One seed makes both sides' dice, and not the same ones.
    seed = 2 * settings.seed + (color is Color.BLACK)
    return catalogue.seat(player.name, settings.variant, seed, player.limit)


async def warm(catalogue: Catalogue, settings: MatchSettings) -> None:
    """Start the processes of a timed match before its clocks run."""
    if settings.control is None:
        return
    names: Mapping[str, None] = dict.fromkeys(settings.player(color).name for color in Color)
    for name in names:
        try:
            await catalogue.warm(name)
        except AgentError as error:  # the turn will tell, and is tried again
            _log.warning("player could not be warmed", player=name, error=str(error))


def check_settings(settings: MatchSettings, catalogue: Catalogue) -> None:
    """Raise what keeps a match with these settings from being played, if anything does."""
    variant = find_variant(settings.variant)
    for color in Color:
        player = settings.player(color)
        if player.limit is not None and not takes_limit(player.name):
            raise UnplayableSettings(
                color.value, "depth, nodes and time_ms are for UCI engines and `classical`"
            )
        if not player.is_human:
            try:
                seat_player(catalogue, settings, color)
            except (InvalidLimit, InvalidThinking) as error:
                raise UnplayableSettings(color.value, str(error)) from error
    check_budget(settings, settings.budget, catalogue)
    if settings.analysis is not None:
        if not variant.has_uci_engines:
            raise UnplayableSettings("analysis", f"no UCI engine knows {variant.title}")
        catalogue.analyser()


def check_budget(settings: MatchSettings, budget: Budget, catalogue: Catalogue) -> None:
    """Raise `UnplayableSettings` for a budget that nobody could keep."""
    for color in Color:
        unpriced = catalogue.unpriced(settings.player(color).name)
        if unpriced and budget.usd is not None:
            raise UnplayableSettings(
                "budget",
                f"nobody knows what {unpriced[0]} costs, so no budget in USD can be kept;"
                " set its price, or a budget of tokens or calls",
            )
