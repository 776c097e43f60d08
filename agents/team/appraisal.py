"""Appraisal: what one decision of a team will likely cost, before anybody is asked.

What members are told is put together for a position of a real game, and its tokens are guessed from
its length. How much they will write nobody knows: likely is half of what they may.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from agents.models.model import Message
from agents.models.pricing import Prices
from agents.player import Turn
from agents.team.briefing import Briefing
from agents.team.consultation import model_of
from agents.team.definition import MemberDefinition, Mode
from agents.team.library import Team
from engine import Game

#: As a rule, of English and of moves.
_CHARACTERS_PER_TOKEN = 3.5
#: How many positions of a game an escalating team finds critical.
_CRITICAL = 0.5
#: Byrne against Fischer, 1956, as it stood in the middlegame.
_MOVES = (
    "Nf3 Nf6 c4 g6 Nc3 Bg7 d4 O-O Bf4 d5 Qb3 dxc4 Qxc4 c6 e4 Nbd7 Rd1 Nb6 Qc5 Bg4 Bg5 Na4 Qa3"
    " Nxc3 bxc3 Nxe4 Bxe7 Qb6"
)


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Calls, tokens and dollars; these are None if nobody knows the price of some model."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    usd: Decimal | None = Decimal(0)

    @property
    def tokens(self) -> float:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens

    def times(self, number: float) -> Appraisal:
        """Return what so many of it cost."""
        return Appraisal(
            self.calls * number,
            self.prompt_tokens * number,
            self.completion_tokens * number,
            None if self.usd is None else self.usd * Decimal(repr(number)),
        )

    def __add__(self, other: Appraisal) -> Appraisal:
        return Appraisal(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
        )


def appraise(team: Team, default_model: str, prices: Prices, *, written: float = 0.5) -> Appraisal:
    """Return what a decision costs if members write such a share of what they may."""
    briefing = Briefing(_sample(), team.definition)
    total = Appraisal()
    for member, times in _asked(team):
        prompt = team.prompt(member.prompt, "standard")
        messages = briefing.for_decider(prompt, ())
        told, said = round(_tokens(messages)), round(member.max_tokens * written)
        price = prices.worst(model_of(member, default_model), told, said)
        call = Appraisal(1, told, said, price)
        total += call.times(times)
    return total


def _asked(team: Team) -> Iterator[tuple[MemberDefinition, float]]:
    """Give who is asked in a decision, and how often."""
    definition = team.definition
    match definition.mode:
        case Mode.SOLO:
            yield definition.solo, 1
        case Mode.VOTE:
            yield definition.solo, definition.samples
        case Mode.ESCALATING:
            yield definition.solo, 1 - _CRITICAL
            for member in definition.members:
                yield member, _CRITICAL
        case Mode.CONCURRENT | Mode.SEQUENTIAL:
            for member in definition.members:
                yield member, 1


def _tokens(messages: tuple[Message, ...]) -> float:
    return sum(len(each.content) for each in messages) / _CHARACTERS_PER_TOKEN


@cache
def _sample() -> Turn:
    game = Game()
    for move in _MOVES.split():
        game.play(move)
    return Turn.of(game)
