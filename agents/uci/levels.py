"""Level: how strong Stockfish plays, from 1 (a beginner) to 8 (all it can).

Stockfish's own `UCI_Elo` starts at 1350 and is known to be inaccurate. So the lower levels play its
weakest move (skill 0, depth 1), and now and then any legal move instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.epsilon_player import EpsilonPlayer
from agents.player import Player
from agents.uci.errors import MAX_LEVEL, MIN_LEVEL, InvalidLevel
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.player import UciPlayer
from agents.uci.pool import UciPool

STOCKFISH = "stockfish"


@dataclass(frozen=True)
class Level:
    """A strength of Stockfish."""

    number: int
    #: The chance of any legal move instead of Stockfish's.
    epsilon: float = 0.0
    options: Mapping[str, Value] = field(default_factory=dict)
    #: What always holds; without it, the clock does, or `UNTIMED`.
    limit: Limit | None = None

    @property
    def name(self) -> str:
        """The name to seat it by."""
        return f"{STOCKFISH}:{self.number}"

    @property
    def how(self) -> str:
        """How it plays, in a few words."""
        skill = self.options.get("Skill Level")
        if skill is None or self.limit is None:
            return f"full strength, by the clock or {UNTIMED.nodes} nodes"
        how = f"skill {skill}, depth {self.limit.depth}"
        return f"{self.epsilon:.0%} at random, else {how}" if self.epsilon else how

    def player(self, pool: UciPool, seed: int | None = None, limit: Limit | None = None) -> Player:
        """Return a player of this level. A `limit` holds instead of the level's own.

        At full strength a limit of nodes or depth makes its games repeatable. Limited skill rolls
        dice of Stockfish's own.
        """
        player = UciPlayer(
            self.name,
            pool,
            limit=limit if limit and limit.is_set else self.limit,
            untimed=UNTIMED,
            options=self.options,
            forgets=False if self.options else None,
        )
        return EpsilonPlayer(player, self.epsilon, seed) if self.epsilon else player


#: What full strength thinks without a clock.
UNTIMED = Limit(nodes=100_000)

_SKILL_0: Mapping[str, Value] = {"Skill Level": 0}
_DEPTH_1 = Limit(depth=1)

LEVELS = (
    Level(1, 0.60, _SKILL_0, _DEPTH_1),
    Level(2, 0.45, _SKILL_0, _DEPTH_1),
    Level(3, 0.30, _SKILL_0, _DEPTH_1),
    Level(4, 0.20, _SKILL_0, _DEPTH_1),
    Level(5, 0.10, _SKILL_0, _DEPTH_1),
    Level(6, 0.0, _SKILL_0, _DEPTH_1),
    Level(7, 0.0, {"Skill Level": 4}, Limit(depth=5)),
    Level(8),
)


def find_level(number: int | str) -> Level:
    """Return a level by its number, or raise `InvalidLevel`."""
    text = str(number)
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        raise InvalidLevel(text)
    if not MIN_LEVEL <= int(text) <= MAX_LEVEL:
        raise InvalidLevel(text)
    return LEVELS[int(text) - MIN_LEVEL]
