"""KingsCookingFacts: what the rules of King's Cooking tell of a position, also in words."""

from __future__ import annotations

from dataclasses import dataclass

from agents.team.chess_facts import PIECE_NAMES, PlacedPiece, WrittenMove, listed
from engine import Color, KingsCookingPosition, Move, Outcome, PieceType
from engine.moves import OFF
from engine.variants.kings_cooking_board import turned

QUIET = "Nothing to take or to score at once, for either side."


@dataclass(frozen=True)
class Capture:
    """A capture, what it takes, and the opponent's captures that would take it back."""

    written: WrittenMove
    taken: PlacedPiece
    taken_back_by: tuple[WrittenMove, ...]

    def __str__(self) -> str:
        back = listed(self.taken_back_by, " or ")
        return f"{self.written} takes the {self.taken.without_color}, " + (
            f"and {back} takes back" if back else "and cannot be taken back"
        )


@dataclass(frozen=True)
class LastMove:
    """A move that ends the game, and how."""

    written: WrittenMove
    outcome: Outcome

    def __str__(self) -> str:
        return f"{self.written}: {self.outcome}"


@dataclass(frozen=True)
class Standing:
    """Where the pieces of a side are that left the board: scored, or captured."""

    color: Color
    scored: tuple[PieceType, ...]
    captured: tuple[PieceType, ...]

    def __str__(self) -> str:
        scored = f" ({_named(self.scored)})" if self.scored else ""
        lost = f", lost {_named(self.captured)}" if self.captured else ""
        return f"{self.color.capitalize()} has scored {len(self.scored)}{scored}{lost}"


@dataclass(frozen=True)
class KingsCookingFacts:
    """What the rules tell of a position of King's Cooking.

    What the opponent threatens is what it could do were it to move now.
    """

    turn: Color
    outcome: Outcome | None
    #: How many moves are legal, and the move if it is the only one.
    choices: int
    only_move: WrittenMove | None
    standings: tuple[Standing, ...]
    #: Moves that end the game.
    last_moves: tuple[LastMove, ...]
    #: Moves that leave the board.
    scoring: tuple[WrittenMove, ...]
    captures: tuple[Capture, ...]
    threatened_ends: tuple[LastMove, ...]
    threatened_scoring: tuple[WrittenMove, ...]
    threatened_captures: tuple[Capture, ...]

    def text(self) -> str:
        """Return the facts as a Markdown list; where there is nothing to say, a line says so."""
        mover, opponent = self.turn.capitalize(), self.turn.opponent.capitalize()
        lines = [f"{listed(self.standings)}."]
        if self.outcome is not None:
            return f"- {lines[0]}\n- The game is over: {self.outcome}."
        if self.only_move is not None:
            lines.append(f"The only legal move: {self.only_move}.")
        said = [
            (f"{mover} can end the game", self.last_moves),
            (f"{mover} can score", self.scoring),
            (f"{mover} can capture", self.captures),
            (f"{opponent}, were it to move, could end the game", self.threatened_ends),
            (f"{opponent}, were it to move, could score", self.threatened_scoring),
            (f"{opponent}, were it to move, could capture", self.threatened_captures),
        ]
        lines += [f"{name}: {listed(facts)}." for name, facts in said if facts]
        if not any(facts for _, facts in said):
            lines.append(QUIET)
        return "\n".join(f"- {line}" for line in lines)


def survey_kings_cooking(position: KingsCookingPosition) -> KingsCookingFacts:
    """Return the facts of a position."""
    moves = _in_order(position)
    ours, theirs = _Survey(position), _Survey(_passed(position))
    return KingsCookingFacts(
        turn=position.turn,
        outcome=position.outcome(),
        choices=len(moves),
        only_move=WrittenMove(moves[0], position.san(moves[0])) if len(moves) == 1 else None,
        standings=tuple(_standing(position, color) for color in Color),
        last_moves=tuple(ours.last_moves),
        scoring=tuple(ours.scoring),
        captures=tuple(ours.captures),
        threatened_ends=tuple(theirs.last_moves),
        threatened_scoring=tuple(theirs.scoring),
        threatened_captures=tuple(theirs.captures),
    )


class _Survey:
    """What the side to move can do at once."""

    def __init__(self, position: KingsCookingPosition) -> None:
        self.last_moves: list[LastMove] = []
        self.scoring: list[WrittenMove] = []
        self.captures: list[Capture] = []
        for move in _in_order(position):
            written = WrittenMove(move, position.san(move))
            after = position.play(move)
            outcome = after.outcome()
            if outcome is not None:
                self.last_moves.append(LastMove(written, outcome))
            if move.to_square == OFF:
                self.scoring.append(written)
                continue
            there = position.piece_at(move.to_square)
            if there is not None:
                taken = PlacedPiece(*there, move.to_square)
                self.captures.append(Capture(written, taken, _taking_back(after, move)))


def _taking_back(after: KingsCookingPosition, move: Move) -> tuple[WrittenMove, ...]:
    return tuple(
        WrittenMove(reply, after.san(reply))
        for reply in _in_order(after)
        if reply.to_square == move.to_square
    )


def _in_order(position: KingsCookingPosition) -> list[Move]:
    return sorted(position.legal_moves(), key=Move.uci)


def _passed(position: KingsCookingPosition) -> KingsCookingPosition:
    """Return the position in which the other side is to move instead."""
    _, turn, scored, captured = position.key()
    view = turned(position.view)
    return KingsCookingPosition(view, turn.opponent, scored, captured, position.fullmove_number)


def _standing(position: KingsCookingPosition, color: Color) -> Standing:
    return Standing(
        color, _pieces(position.court(color.opponent)), _pieces(position.captured(color))
    )


def _pieces(letters: str) -> tuple[PieceType, ...]:
    return tuple(PieceType(letter.lower()) for letter in letters)


def _named(pieces: tuple[PieceType, ...]) -> str:
    return ", ".join(PIECE_NAMES[piece] for piece in pieces)
