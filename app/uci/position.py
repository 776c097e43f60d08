"""Position: from the words of a GUI to a game with its history."""

from __future__ import annotations

from app.uci.commands import SetPosition
from app.uci.errors import PositionRefused
from engine import Game, Move, MoveError, Position, RulesError


class Board:
    """The game that the GUI has set up last. What cannot be set up leaves it as it was."""

    def __init__(self, variant: str = "standard") -> None:
        self.game = Game(variant=variant)
        self._said: tuple[str | None, tuple[str, ...]] = (None, ())

    def set_up(self, command: SetPosition) -> None:
        """Set up a position and the moves played from it, or raise `PositionRefused`.

        Moves that follow those that were there before are played on, without a new beginning.
        """
        if not command.is_named and not command.moves:
            raise PositionRefused("neither startpos nor a FEN is named")
        fen, moves = self._said
        goes_on = fen == command.fen and command.moves[: len(moves)] == moves
        played = len(moves) if goes_on else 0
        game = self.game if goes_on else _begun(command.fen, self.game.variant)
        # All moves are read before any is played: the game there is may not be left half way.
        position, steps = game.position, []
        for text in command.moves[played:]:
            try:
                move = _read(position, text)
            except MoveError as error:
                raise PositionRefused(str(error)) from None
            position = position.play(move)
            steps.append((move, position))
        for move, after in steps:
            # Not `Game.play`: a GUI may play on where the Laws would have ended the game.
            game.line.append(move, after)
        self.game = game
        self._said = command.fen, command.moves


def _begun(fen: str | None, variant: str) -> Game:
    try:
        return Game(Position.start(variant) if fen is None else fen, variant=variant)
    except RulesError as error:
        raise PositionRefused(str(error)) from None


def _read(position: Position, text: str) -> Move:
    """Return the move that a GUI means: as engines write moves, or else in any notation.

    So castling is understood as the king's move and as the king taking its rook, in both variants.
    """
    try:
        move = Move.from_uci(text.lower())
    except MoveError:
        move = None
    if move is not None and position.is_legal(move):
        return move
    return position.parse(text)


def moves_of(position: Position, texts: tuple[str, ...]) -> tuple[tuple[Move, ...], list[str]]:
    """Return which legal moves some words mean, and of the others why they are none."""
    moves: dict[Move, None] = {}
    refused = []
    for text in texts:
        try:
            moves[_read(position, text)] = None
        except MoveError as error:
            refused.append(str(error))
    return tuple(moves), refused
