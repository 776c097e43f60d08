"""The catalogue: who can be seated, by name."""

from __future__ import annotations

from collections.abc import Callable

from agents.errors import CannotPlayVariant, UnknownPlayer
from agents.player import Player
from agents.random_player import RandomPlayer
from agents.solver_player import SolverPlayer
from engine import VARIANTS, Solver
from engine.variant import find_variant

#: Names of UCI engines, before a colon.
_UCI_KINDS = ("stockfish", "uci")


class Catalogue:
    """Makes players by their names. Those of one catalogue share what they work out."""

    def __init__(self) -> None:
        self._solver = Solver()
        self._makers: dict[str, Callable[[int | None], Player]] = {
            RandomPlayer.name: RandomPlayer,
            SolverPlayer.name: lambda seed: SolverPlayer(self._solver),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that can be seated."""
        return tuple(self._makers)

    def seat(self, name: str, variant: str = "standard", seed: int | None = None) -> Player:
        """Return a player for a game of a variant.

        Raises `UnknownVariant`, `CannotPlayVariant` or `UnknownPlayer`.
        """
        find_variant(variant)
        kind = name.partition(":")[0] if isinstance(name, str) else ""
        if name not in self.names and kind not in _UCI_KINDS:
            raise UnknownPlayer(str(name), self.names)
        plays = self._plays(kind)
        if variant not in plays:
            raise CannotPlayVariant(name, variant, plays)
        if kind in _UCI_KINDS:
            raise UnknownPlayer(name, self.names)
        return self._makers[name](seed)

    def _plays(self, kind: str) -> tuple[str, ...]:
        """Return the variants that a kind of player knows."""
        if kind == SolverPlayer.name:
            return SolverPlayer.variants
        if kind in _UCI_KINDS:
            return tuple(name for name, each in VARIANTS.items() if each.has_uci_engines)
        return tuple(VARIANTS)
