"""Verdict: what the rules say of a move that a text names, and of two that are named together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from agents.team.command import Command
from agents.team.cues import REACH, is_alternative, is_next, sentence_start
from agents.team.illegal import by_squares
from agents.team.mentions import Mention, find_mentions
from engine import (
    AmbiguousMove,
    Illegality,
    IllegalMove,
    Move,
    MoveError,
    PieceType,
    Position,
    UnreadableMove,
)

#: What a text says: a move, why it is none, or nothing, which alone is false.
Verdict: TypeAlias = Move | MoveError | None

_CAPITALS = re.compile(r"[A-H][1-8][\s-]?[A-H][1-8]=?[QRBN]?")
_PIECES = {piece.name.lower(): piece for piece in PieceType}
_PROMOTES_TO = re.compile(
    r"\A\W{0,4}(?:(?:and|by|to|,|then)\s){0,2}(?:promot\w*|becom\w*|mak\w*)\W{1,3}"
    r"(?:(?:it|the|pawn|a|an|my|new|into|to|as)\s){0,5}(queen|rook|bishop|knight)\b"
    r"|\A\W{0,4}(?:=|to\sa)\W{0,3}(queen|rook|bishop|knight)\b",
    re.IGNORECASE,
)
_PROMOTED_BY = re.compile(
    r"\bpromot\w*\W[^.\n]{0,30}?\b(queen|rook|bishop|knight)\b[^.\n]{0,20}\Z", re.IGNORECASE
)


class Verdicts:
    """Verdicts on moves in one position; none is sought twice."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self._judged: dict[tuple[str, PieceType | None], Verdict] = {}

    def of(self, text: str, promotion: PieceType | None = None) -> Verdict:
        """Return what a text is as a whole."""
        # B8D7 names two squares: a bishop from the eighth rank would go to a small d7.
        text = text.lower() if _CAPITALS.fullmatch(text) else text
        key = text, promotion
        if key not in self._judged:
            try:
                self._judged[key] = self.position.parse(text, promotion)
            except IllegalMove as error:
                mentions = find_mentions(text)
                written = mentions[0].text if len(mentions) == 1 else text
                self._judged[key] = by_squares(error, written, self.position)
            except AmbiguousMove as error:
                self._judged[key] = error
            except UnreadableMove:
                self._judged[key] = None
        return self._judged[key]

    def is_legal(self, text: str) -> bool:
        """Return whether a text is a legal move."""
        return isinstance(self.of(text), Move)

    def of_command(self, text: str, command: Command) -> Verdict:
        """Judge a command where it stands."""
        if command.piece and _must_promote(self.of(command.squares)):
            return self.of(command.squares + command.piece)
        return self.of_mention(text, Mention(command.start, command.end, command.squares))

    def of_mention(self, text: str, mention: Mention) -> Verdict:
        """Judge a move where it stands: what a pawn becomes may be said beside it."""
        verdict = self.of(mention.text)
        if _must_promote(verdict):
            beside = _PROMOTES_TO.match(text[mention.end : mention.end + REACH])
            beside = beside or _PROMOTED_BY.search(
                text[sentence_start(text, mention.start) : mention.start]
            )
            if beside:
                piece = next(name for name in beside.groups() if name)
                return self.of(mention.text, _PIECES[piece.lower()])
        return verdict

    def settled(self, text: str, mentions: Sequence[Mention], index: int) -> Verdict:
        """Return what a chosen mention means, given the mention right after it."""
        mention = mentions[index]
        verdict = self.of_mention(text, mention)
        if index + 1 == len(mentions):
            return verdict
        following = mentions[index + 1]
        gap = text[mention.end : following.start]
        second = self.of_mention(text, following)
        if second is None or same(verdict, second):
            return verdict
        if isinstance(verdict, AmbiguousMove):
            is_told = is_next(gap) and second in verdict.candidates
            return second if is_told else verdict
        if isinstance(verdict, IllegalMove) or not isinstance(second, Move):
            return verdict
        is_list = is_next(gap) and following.number is None and "(" not in gap
        if is_alternative(gap) or (is_list and following.is_square <= mention.is_square):
            return self.contradiction(text[mention.start :], verdict, second)
        return verdict

    def contradiction(self, text: str, first: Verdict, second: Verdict) -> Verdict:
        """Return what two different moves of equal standing mean: a line of play, or nothing."""
        if self.is_line((first, second)):
            return first
        moves = tuple(each for each in (first, second) if isinstance(each, Move))
        if len(moves) < 2:
            return UnreadableMove(text)
        return AmbiguousMove(text[:200], self.position.fen(), moves)

    def is_line(self, verdicts: Sequence[Verdict]) -> bool:
        """Return whether moves can be played one after the other, and the second not now."""
        if not isinstance(verdicts[0], Move) or not isinstance(verdicts[1], IllegalMove):
            return False
        position = self.position
        try:
            for each in verdicts:
                position = position.play(each.move if isinstance(each, IllegalMove) else str(each))
        except MoveError:
            return False
        return True


def _must_promote(verdict: Verdict) -> bool:
    return isinstance(verdict, IllegalMove) and verdict.reason is Illegality.MUST_PROMOTE


def same(first: Verdict, second: Verdict) -> bool:
    """Return whether two verdicts are of the same move."""
    if isinstance(first, Move) or isinstance(second, Move):
        return first is second
    return getattr(first, "move", None) == getattr(second, "move", None)
