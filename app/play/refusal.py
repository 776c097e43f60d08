"""Refusal: what keeps a line from being obeyed, in one sentence for whoever wrote it."""

from __future__ import annotations

from app.matches.errors import CannotDo, MatchIsOver, UnplayableSettings
from app.matches.match import Match, MatchStatus
from engine import AmbiguousMove
from engine.errors import shown


def refusal(error: Exception, match: Match) -> str:
    """Return why something was not done; the position, which is to be seen, is left out."""
    position = match.game.position
    match error:
        case AmbiguousMove():
            moves = " or ".join(sorted(position.san(move) for move in error.candidates))
            return f"{shown(error.text)} is ambiguous: is it {moves}?"
        case MatchIsOver():
            return f"The game is over: {error.how}; write `new` for another."
        case CannotDo() if match.status is MatchStatus.PAUSED:
            return sentence(f"{error}; write `resume` to play on")
        case UnplayableSettings():
            return sentence(error.why)
    return sentence(str(error).replace(f" in {position.fen()}", ""))


def sentence(text: str) -> str:
    """Return words as a sentence: with a capital, and a full stop if it has no other end."""
    line = " ".join(text.split())
    return f"{line[:1].upper()}{line[1:]}{'' if line.endswith(('.', '?', '!')) else '.'}"
