"""Ratings: how strong the levels and other UCI engines are, as a calibration found them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from agents.uci.errors import InvalidRatings

_FORMAT = 1
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class RatedPlayer:
    """One player's Elo with its 95 % interval.

    If all games were won, or all lost, only a bound is known at most, and the rest is None.
    """

    elo: float | None
    low: float | None
    high: float | None
    games: int

    def __str__(self) -> str:
        if self.elo is None:
            if self.low is None and self.high is None:
                return "unknown"
            return f"> {self.low:.0f}" if self.low is not None else f"< {self.high:.0f}"
        if self.low is None or self.high is None or self.low == self.high:
            return f"{self.elo:.0f}"
        return f"{self.elo:.0f} ± {(self.high - self.low) / 2:.0f}"


@dataclass(frozen=True)
class Ratings:
    """What a calibration found: ratings by player, on a scale that an anchor fixes."""

    #: As the engine of the levels introduced itself: `Stockfish 15.1`.
    engine: str
    measured_at: datetime
    anchors: Mapping[str, float]
    players: Mapping[str, RatedPlayer] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | None = None) -> Ratings:
        """Read a file, or else what was measured for the project; raise `InvalidRatings`."""
        source = files(__package__) / "ratings.json" if path is None else path
        try:
            text = source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise InvalidRatings(str(source), reason) from None
        return cls.from_json(text, str(source))

    @classmethod
    def from_json(cls, text: str, path: str = "") -> Ratings:
        """Read what `to_json` wrote, or raise `InvalidRatings`."""
        try:
            data = json.loads(text)
            if data["kibitz_ratings"] != _FORMAT:
                raise ValueError("it has an unknown format")
            measured_at = datetime.fromisoformat(data["measured_at"])
            if measured_at.tzinfo is None:
                raise ValueError("its time has no zone")
            anchors = {str(name): _number(elo) for name, elo in data["anchors"].items()}
            players = {str(name): _player(each) for name, each in data["players"].items()}
            return cls(str(data["engine"]), measured_at, anchors, players)
        except KeyError as error:
            raise InvalidRatings(path, f"{error} is missing") from None
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidRatings(path, str(error)) from None

    def to_json(self) -> str:
        """Write it as text."""
        data = {
            "kibitz_ratings": _FORMAT,
            "engine": self.engine,
            "measured_at": self.measured_at.isoformat(timespec="seconds"),
            "anchors": dict(self.anchors),
            "players": {name: asdict(player) for name, player in self.players.items()},
        }
        return json.dumps(data, indent=2) + "\n"


def _player(data: Mapping[str, object]) -> RatedPlayer:
    elo, low, high = (_number_or_none(data[key]) for key in ("elo", "low", "high"))
    games = data["games"]
    if type(games) is not int or games < 0:
        raise ValueError("a number of games is no number")
    if elo is None and low is not None and high is not None:
        raise ValueError("a player with both bounds has a rating")
    return RatedPlayer(elo, low, high, games)


def _number_or_none(value: object) -> float | None:
    return None if value is None else _number(value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a rating is no number")
    if abs(value) > _LARGEST or math.isnan(value):
        raise ValueError("a rating is out of bounds")
    return float(value)
