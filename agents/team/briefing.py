"""Briefing: what members are told in a turn. What never changes comes first, for the caches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from agents.models.model import Message, Role
from agents.player import Advice, Turn
from agents.team.answers import one_line
from agents.team.definition import TeamDefinition
from agents.team.facts import Facts, facts_of
from agents.team.prompts import Prompt, rules_of, sections
from engine import Color, Move, Ply, Position


class Briefing:
    """One turn, in words. Its parts are put together once, whoever is told them."""

    def __init__(self, turn: Turn, definition: TeamDefinition) -> None:
        self._turn = turn
        self._definition = definition
        self._position = turn.position

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """The legal moves, or those of them that are wanted."""
        return self._turn.moves

    @cached_property
    def told_moves(self) -> tuple[str, ...] | None:
        """The legal moves as they are told, or None if they are not."""
        return tuple(map(Move.uci, self.moves)) if self._definition.legal_moves else None

    @cached_property
    def facts(self) -> Facts:
        """What the rules engine sees."""
        return facts_of(self._position)

    def for_specialist(self, prompt: Prompt, advice: Sequence[Advice]) -> tuple[Message, ...]:
        """Return what a specialist is told; advice is that of those who spoke before."""
        ask = _section("ask_candidates", count=self._definition.candidates)
        return self._messages(prompt, *_told(advice, self._position), ask)

    def for_decider(self, prompt: Prompt, advice: Sequence[Advice]) -> tuple[Message, ...]:
        """Return what whoever decides is told: all advice, and what was refused."""
        refused = [
            _section("rejected", move=_tried(each.move), reason=f" ({each.reason})")
            for each in self._turn.rejections
            if each.reason
        ]
        is_offered = self._turn.draw_offered
        offer = [_section("draw_offered")] if is_offered else []
        ask = _section("ask_move_or_draw" if is_offered else "ask_move")
        return self._messages(prompt, *_told(advice, self._position), *offer, *refused, ask)

    def _messages(self, prompt: Prompt, *parts: str) -> tuple[Message, ...]:
        system = f"{rules_of(self._position.variant)}\n\n{prompt.role}"
        question = "\n\n".join((*self._situation, *parts))
        return Message(Role.SYSTEM, system), Message(Role.USER, question)

    @cached_property
    def _situation(self) -> tuple[str, ...]:
        """What all members are told alike."""
        turn, position, definition = self._turn, self._position, self._definition
        parts = []
        if definition.history:
            if turn.start.fen() != Position.start(position.variant).fen():
                parts.append(_section("start", fen=turn.start.fen()))
            parts.append(_history(turn.plies))
        color = position.turn.value.capitalize()
        parts.append(_section("position", color=color, fen=position.fen(), board=position.text()))
        if definition.legal_moves:
            moves = ", ".join(f"{move.uci()} ({position.san(move)})" for move in self.moves)
            parts.append(_section("legal_moves", moves=moves))
        if definition.facts:
            parts.append(_section("facts", facts=self.facts.text()))
        return tuple(parts)


def _tried(move: str) -> str:
    return one_line(move, 100) or "to say nothing"


def _history(plies: Sequence[Ply]) -> str:
    if not plies:
        return _section("no_history")
    words = []
    for ply in plies:
        before = ply.before
        if before.turn is Color.WHITE:
            words.append(f"{before.fullmove_number}.")
        elif not words:
            words.append(f"{before.fullmove_number}...")
        words.append(before.san(ply.move))
    return _section("history", moves=" ".join(words))


def _told(advice: Sequence[Advice], position: Position) -> list[str]:
    lines = []
    for each in advice:
        if not each.candidates:
            lines.append(f"- {each.by} abstains.")
        for number, candidate in enumerate(each.candidates, 1):
            move = f"{candidate.move.uci()} ({position.san(candidate.move)})"
            lines.append(f"- {each.by}, choice {number}: {move}: {candidate.reason}")
    return [_section("advice", advice="\n".join(lines))] if lines else []


def _section(name: str, **fields: object) -> str:
    return sections()[name].substitute(fields)
