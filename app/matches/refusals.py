"""Refusals: what a player is told of its illegal moves, and what happens after its last try."""

from __future__ import annotations

from random import Random

from agents.player import Decision, Rejection
from app.matches.match import Match
from app.matches.saying import printable
from app.matches.settings import Feedback, LastResort
from engine import Move, MoveError, Position

_TOLD = {Feedback.NONE: "", Feedback.ILLEGAL: "it is illegal"}


def read_move(position: Position, decision: Decision) -> tuple[Move | None, MoveError | None]:
    """Return the legal move that a player means, or why it is none if it named one."""
    move = decision.move
    if decision.fault is not None:
        return None, decision.fault
    try:
        if isinstance(move, Move):
            position.play(move)  # which says why it is illegal, if it is
            return move, None
        return None if move is None else position.parse(move), None
    except MoveError as error:
        return None, error


def said_by(decision: Decision) -> str:
    """Return the move of a decision as the player wrote it; empty if it named none."""
    move = decision.move
    return printable(move.uci() if isinstance(move, Move) else move or "", 200)


def rejections_of(match: Match) -> tuple[Rejection, ...]:
    """Return what the player is told of its refused attempts, also those before a restart."""
    feedback = match.settings.illegal_moves.feedback
    return tuple(
        Rejection(each["move"], _TOLD.get(feedback, each["detail"])) for each in match.attempts
    )


def last_resort(match: Match, decision: Decision) -> tuple[Move, LastResort] | None:
    """Return the move that is played when all tries are used up, and what it is.

    None: the player forfeits. Where there is no candidate, it is a random move.
    """
    position, resort = match.game.position, match.settings.illegal_moves.then
    if resort is LastResort.FORFEIT:
        return None
    if resort is LastResort.CANDIDATE:
        newest = (each.move for advice in decision.advice for each in advice.candidates)
        if (move := next(filter(position.is_legal, newest), None)) is not None:
            return move, resort
        older = (each for advice in match.advice for each in advice["candidates"])
        if (found := next(older, None)) is not None:
            return Move.from_uci(found["uci"]), resort
    random = Random(f"{match.settings.seed}/{len(match.game.line)}")  # noqa: S311
    return random.choice(sorted(position.legal_moves(), key=Move.uci)), LastResort.RANDOM
