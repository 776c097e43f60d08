"""The part of a report about controls: what a team is worth beside one call with as many tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.evaluations.games import EvaluationData
from app.evaluations.reports.conduct import record_of
from app.evaluations.strengths import Difference, difference_of

_TEAM, _SOLO = "team:", "solo:"
#: By which factor the tokens of a team and its control may differ, and still be called equal.
_NEARLY_EQUAL = 1.25


def controls(data: EvaluationData) -> list[dict[str, Any]]:
    """Return one row for each team among the agents, whether its control was measured or not."""
    names = _names(data)
    return [_control(data, agent, names) for agent in data.agents if names[agent].startswith(_TEAM)]


def _names(data: EvaluationData) -> dict[str, str]:
    """Return who is behind the agents' labels, which may be titles that somebody gave them."""
    planned = data.plan.get("agents")
    names = {agent: agent for agent in data.agents}
    if not isinstance(planned, Sequence) or len(planned) != len(data.agents):
        return names
    for agent, player in zip(data.agents, planned, strict=True):
        name = player.get("name") if isinstance(player, Mapping) else player
        if isinstance(name, str):
            names[agent] = name
    return names


def _control(data: EvaluationData, team: str, names: Mapping[str, str]) -> dict[str, Any]:
    wanted = _SOLO + names[team].removeprefix(_TEAM)
    control = next((agent for agent in data.agents if names[agent] == wanted), None)
    if control is None:
        return {
            "team": team,
            "control": wanted,
            "is_measured": False,
            "difference": None,
            "token_ratio": None,
            "text": f"No control was measured: {wanted} did not take part. "
            f"So nothing is claimed for {team} as a team.",
        }
    difference = difference_of(data, team, control)
    ratio = _token_ratio(data, team, control)
    return {
        "team": team,
        "control": control,
        "is_measured": True,
        "difference": None if difference is None else difference.to_json(),
        "token_ratio": ratio,
        "text": _sentence(team, control, difference, ratio),
    }


def _token_ratio(data: EvaluationData, team: str, control: str) -> float | None:
    """Return how many tokens the control took for each one of the team's, by move."""
    own, other = record_of(data, team), record_of(data, control)
    if not (own.tokens and own.plies and other.plies):
        return None
    return (other.tokens / other.plies) / (own.tokens / own.plies)


def _sentence(team: str, control: str, difference: Difference | None, ratio: float | None) -> str:
    if difference is None:
        return f"The games of {team} and {control} do not tell yet which of them is better."
    tokens = "" if ratio is None else f", which took {ratio:.2f} times as many tokens a move"
    if ratio is not None and not 1 / _NEARLY_EQUAL <= ratio <= _NEARLY_EQUAL:
        tokens += " and so is no equal match"
    told = f"Beside {control}{tokens}, {team} is at {difference} Elo (95 %)"
    if difference.low is not None and difference.low > 0:
        return f"{told}: better than its control."
    if difference.high is not None and difference.high < 0:
        return f"{told}: worse than its control."
    return f"{told}: no difference is shown."
