"""The part of a report about results: by colour, by opponent, by how games ended, and crosswise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.evaluations.games import EvaluationData, PlayedGame
from app.evaluations.scores import Score, expected_score
from app.evaluations.strengths import Strengths
from engine import Color


class Scorecard:
    """What one agent scored, and what its rating lets expect."""

    def __init__(self, data: EvaluationData, agent: str, strengths: Strengths) -> None:
        """`strengths` tells the ratings by which scores are expected."""
        self._agent = agent
        self._games = [game for game in data.games if agent in (game.white, game.black)]
        own = strengths.estimates.get(agent)
        self._elo = None if own is None else own.elo
        self._opponents = strengths.opponents
        # A pool is rated without it, since everybody has both colours equally often.
        self._advantage = 0.0 if data.kind == "pool" else data.white_advantage
        self._anchors = {anchor.label: anchor for anchor in data.anchors}

    def overall(self) -> dict[str, Any]:
        """Return the score of all games."""
        return self._scored(self._games)

    def by_color(self) -> dict[str, Any]:
        """Return the score with either colour."""
        return {
            color.value: self._scored(
                [game for game in self._games if game.color_of(self._agent) is color]
            )
            for color in Color
        }

    def by_opponent(self) -> list[dict[str, Any]]:
        """Return the score against each opponent, the weakest first, those unrated last."""
        met: dict[str, list[PlayedGame]] = {}
        for game in self._games:
            met.setdefault(game.opponent_of(self._agent), []).append(game)
        return [self._against(label, met[label]) for label in sorted(met, key=self._strength)]

    def terminations(self) -> list[dict[str, Any]]:
        """Return how games ended, the most frequent way first."""
        ways = {game.termination for game in self._games}
        rows = []
        for way in ways:
            games = (game for game in self._games if game.termination is way)
            score = Score.of(self._agent, games)
            rows.append(
                {
                    "termination": way.value,
                    "games": score.games,
                    "wins": score.wins,
                    "draws": score.draws,
                    "losses": score.losses,
                }
            )
        return sorted(rows, key=lambda row: (-row["games"], row["termination"]))

    def _against(self, opponent: str, games: Sequence[PlayedGame]) -> dict[str, Any]:
        anchor = self._anchors.get(opponent)
        elo = self._opponents.get(opponent) if anchor is None else anchor.elo
        return {
            "opponent": opponent,
            "is_anchor": anchor is not None,
            "elo": elo,
            "se": None if anchor is None else anchor.se,
            **self._scored(games),
        }

    def _strength(self, opponent: str) -> tuple[bool, float, str]:
        elo = self._opponents.get(opponent)
        return elo is None, elo or 0.0, opponent

    def _scored(self, games: Sequence[PlayedGame]) -> dict[str, Any]:
        score = Score.of(self._agent, games)
        expected = self._expected(games) if games else None
        return {
            **score.to_json(),
            "expected": expected,
            "expected_share": None if expected is None else expected / score.games,
        }

    def _expected(self, games: Iterable[PlayedGame]) -> float | None:
        """Return the points that both sides' ratings let expect; None if one is unknown."""
        points = 0.0
        for game in games:
            opponent = self._opponents.get(game.opponent_of(self._agent))
            if self._elo is None or opponent is None:
                return None
            color = game.color_of(self._agent)
            points += expected_score(self._elo, opponent, color, self._advantage)
        return points


def crosstable(data: EvaluationData, elos: Mapping[str, float]) -> dict[str, Any]:
    """Return who scored what against whom, the strongest first, those unrated last.

    A row's `cells` are in the order of the players; the cell against oneself, or against somebody
    not met, is null.
    """
    met: dict[tuple[str, str], list[PlayedGame]] = {}
    for game in data.games:
        met.setdefault((game.white, game.black), []).append(game)
        met.setdefault((game.black, game.white), []).append(game)
    labels = dict.fromkeys((*data.agents, *(anchor.label for anchor in data.anchors)))
    labels.update(dict.fromkeys(label for label, _ in met))
    players = sorted(labels, key=lambda label: (label not in elos, -elos.get(label, 0.0)))
    rows = []
    for player in players:
        scores = [
            Score.of(player, met[player, opponent]) if (player, opponent) in met else None
            for opponent in players
        ]
        rows.append(
            {
                "player": player,
                "cells": [None if score is None else _cell(score) for score in scores],
                **_sum(score for score in scores if score is not None).to_json(),
            }
        )
    return {"players": players, "rows": rows}


def _cell(score: Score) -> dict[str, int]:
    return {"wins": score.wins, "draws": score.draws, "losses": score.losses}


def _sum(scores: Iterable[Score]) -> Score:
    total = Score()
    for score in scores:
        total = Score(
            total.wins + score.wins, total.draws + score.draws, total.losses + score.losses
        )
    return total
