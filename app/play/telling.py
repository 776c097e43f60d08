"""Telling: what happens in a match, in sentences for those who play it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from agents.catalogue import is_uci
from app.matches.events import Event, EventType
from app.matches.match import Match, MatchStatus, PauseCause
from engine import Color

if TYPE_CHECKING:
    from app.matches.private_ledger import PrivateLedger

#: More of what somebody says at a time nobody reads; and of their candidates only the best.
_MOST_WORDS = 400
_CANDIDATES = 3


class Teller:
    """Makes sentences of the events of one match; it remembers what was said in a turn."""

    def __init__(self) -> None:
        self._has_advised = False
        self._has_stumbled = False

    def stumbled(self) -> None:
        """Remember that a player could not decide; what comes of it is told with what follows."""
        self._has_stumbled = True

    def tell(self, event: Event, match: Match) -> Sequence[str]:
        """Return what is to be said of an event, once it has happened; nothing of most."""
        fields = event.fields
        match event.type:
            case EventType.ADVICE:
                self._has_advised = True
                return _advice(fields)
            case EventType.REJECTED:
                return [_rejected(fields, match)]
            case EventType.PLY:
                player = match.settings.player(Color(fields["color"]))
                # What a UCI engine gives is its score, which an opponent keeps to itself.
                is_told = not self._has_advised and not is_uci(player.name)
                reason = fields["decision"].get("reason", "") if is_told else ""
                self._has_advised = False
                return [] if player.is_human else [_ply(fields, match, reason)]
            case EventType.TURN:
                is_again, self._has_stumbled = self._has_stumbled, False
                is_again = is_again and match.status is MatchStatus.RUNNING
                return [f"{_side(fields)} could not decide, and tries again."] if is_again else []
            case EventType.DRAW_OFFERED:
                opponent = Color(fields["color"]).opponent
                told = f"{_side(fields)} offers a draw"
                if match.settings.player(opponent).is_human:
                    return [f"{told}: write `draw accept`, `draw decline`, or move on."]
                return [f"{told}."]
            case EventType.DRAW_DECLINED:
                return [f"{_side(fields)} declines the draw."]
            case EventType.TAKEN_BACK:
                self._has_advised = False
                return ["Taken back."]
            case EventType.PAUSED:
                return [tell_pause(match)]
            case EventType.RESUMED:
                return ["The game goes on."]
            case EventType.ENDED:
                return [tell_ending(match)]
        return []


def tell_pause(match: Match) -> str:
    """Return why a match that is paused is so, and what can be done."""
    why = one_line(match.pause_reason)
    if match.pause_cause is PauseCause.COMMAND:
        return "The clocks stand; write `resume` to play on."
    if match.pause_cause is PauseCause.BUDGET:
        return f"The game is paused: {why}. Write `resume USD` to allow so many dollars in all."
    return f"The game is paused: {why}. Write `resume` to try again."


def tell_ending(match: Match) -> str:
    """Return how a match ended."""
    result = "" if match.outcome is None else f" ({match.outcome.result})"
    return f"{match.ending[:1].upper()}{match.ending[1:]}{result}."


def tell_costs(ledger: PrivateLedger) -> Sequence[str]:
    """Return what the models of each side were asked, and what that cost, if they were."""
    told = []
    for color in Color:
        calls, cost = ledger.cost_of(color)
        if calls:
            count = "1 model call" if calls == 1 else f"{calls} model calls"
            told.append(f"{color.value.capitalize()}'s {count}: {_dollars(cost)}.")
    return told


def one_line(text: str, most: int = _MOST_WORDS) -> str:
    """Return words on one line, and not too many."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _dollars(cost: Decimal | None) -> str:
    return "nobody knows what they cost" if cost is None else f"${cost:.4f}"


def _side(fields: Mapping[str, Any]) -> str:
    return str(fields["color"]).capitalize()


def _ply(fields: Mapping[str, Any], match: Match, reason: str) -> str:
    played = match.game.plies[fields["ply"] - 1].before
    dots = "." if played.turn is Color.WHITE else "..."
    why = f": {one_line(reason)}" if reason else ""
    return f"{_side(fields)} plays {played.fullmove_number}{dots} {fields['san']}{why}"


def _advice(fields: Mapping[str, Any]) -> Sequence[str]:
    by = one_line(fields["by"], 40)
    if fields["abstained"]:
        return [f"  {by} has no advice: {one_line(fields['abstained'])}"]
    candidates = fields["candidates"][:_CANDIDATES]
    told = []
    for number, each in enumerate(candidates):
        reason = f": {one_line(each['reason'])}" if each["reason"] else ""
        told.append(f"  {by} {'or' if number else 'says'} {each['san']}{reason}")
    if not candidates and fields["words"]:
        told.append(f"  {by} says: {one_line(fields['words'])}")
    return told


def _rejected(fields: Mapping[str, Any], match: Match) -> str:
    detail = fields["detail"].replace(f" in {match.game.position.fen()}", "")
    attempts = match.settings.illegal_moves.retries + 1
    return (
        f"{_side(fields)}'s attempt {fields['attempt']} of {attempts} is refused:"
        f" {one_line(detail, 200)}"
    )
