"""When a position is critical: the cheap test by which a team asks all of its specialists."""

from __future__ import annotations

from agents.team.chess_facts import ChessFacts, in_pawns
from agents.team.facts import Facts
from agents.team.kings_cooking_facts import KingsCookingFacts

#: What must be at stake in an exchange, in centipawns: a pawn.
AT_STAKE = 100
#: A passed pawn so near to promotion matters: on its sixth or seventh rank.
STEPS_LEFT = 2


def why_critical(facts: Facts) -> str:
    """Return why the position with these facts is critical, in words; empty if it is quiet.

    With one legal move there is nothing to decide, and no position is critical.
    """
    if facts.outcome is not None or facts.choices < 2:
        return ""
    if isinstance(facts, KingsCookingFacts):
        return "; ".join(_reasons_kings_cooking(facts))
    return "; ".join(_reasons(facts))


def _reasons(facts: ChessFacts) -> list[str]:
    mover, opponent = facts.turn.capitalize(), facts.turn.opponent.capitalize()
    reasons = []
    if facts.checkers:
        reasons.append(f"{mover} is in check")
    if facts.mates:
        reasons.append(f"{mover} has mate in one")
    if facts.threatened_mates:
        reasons.append(f"{opponent} threatens mate in one")
    won = max((each.value for each in facts.captures + facts.promotions), default=0)
    if won >= AT_STAKE:
        reasons.append(f"{mover} can win {in_pawns(won)} by exchange")
    lost = max((each.value for each in facts.threats), default=0)
    if lost >= AT_STAKE:
        reasons.append(f"{opponent} threatens to win {in_pawns(lost)} by exchange")
    far = [f"{pawn.color} {pawn}" for pawn in facts.passed_pawns if pawn.steps <= STEPS_LEFT]
    if far:
        reasons.append(f"passed pawn far advanced: {', '.join(far)}")
    return reasons


def _reasons_kings_cooking(facts: KingsCookingFacts) -> list[str]:
    mover, opponent = facts.turn.capitalize(), facts.turn.opponent.capitalize()
    reasons = []
    # Where every move ends the game alike, there is nothing to decide.
    ends = {each.outcome.winner for each in facts.last_moves}
    if len(ends) > 1 or 0 < len(facts.last_moves) < facts.choices:
        reasons.append(f"{mover} can end the game")
    if facts.threatened_ends:
        reasons.append(f"{opponent} threatens to end the game")
    if facts.captures:
        reasons.append(f"{mover} can capture")
    if facts.threatened_captures:
        reasons.append(f"{opponent} threatens to capture")
    return reasons
