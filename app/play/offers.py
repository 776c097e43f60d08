"""Offers: what a line that is begun may go on with, for whoever presses Tab."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.matches.commands import DrawAction
from app.matches.match import Match
from app.play.commands import all_words, command_words
from engine.squares import SQUARE_NAMES

_WITH_SAVES = ("load", "save")


def wants_saves(text: str) -> bool:
    """Return whether what may follow are the names of saved games."""
    word, space, _ = text.lstrip().partition(" ")
    return bool(space) and word.lower() in _WITH_SAVES


def offers(text: str, match: Match, saves: Sequence[str] = ()) -> tuple[str, Sequence[str]]:
    """Return the end of a line that may be replaced, and by what: words that begin like it."""
    word, space, rest = text.lstrip().partition(" ")
    if not space:
        others = all_words() if word else []  # those that mean the same as others
        return word, _beginning(word, [*command_words(), *_moves(match), *others])
    rest = rest.lstrip()
    match word.lower():
        case "load" | "save":
            return rest, _beginning(rest, saves)
        case "help" | "?":
            return rest, _beginning(rest, command_words())
        case "move":
            return rest, _beginning(rest, _moves(match))
        case "moves":
            return rest, _beginning(rest, _squares(match))
        case "draw":
            action, space, intended = rest.partition(" ")
            if space and action == DrawAction.CLAIM:
                return intended, _beginning(intended, _moves(match))
            return rest, _beginning(rest, [each.value for each in DrawAction])
    return rest, []


def _moves(match: Match) -> Sequence[str]:
    position = match.game.position
    if match.is_over or not match.settings.player(match.color).is_human:
        return []
    return sorted(position.san(move) for move in position.legal_moves())


def _squares(match: Match) -> Sequence[str]:
    if match.is_over:
        return []
    return sorted({SQUARE_NAMES[move.from_square] for move in match.game.position.legal_moves()})


def _beginning(word: str, words: Iterable[str]) -> Sequence[str]:
    return [each for each in dict.fromkeys(words) if each.startswith(word)]
