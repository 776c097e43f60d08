"""Status: how a match stands, in the few lines that are always to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from app.matches.match import Match, MatchStatus
from app.play.telling import one_line
from engine import Color, format_clock

#: What stands between the two sides.
_GAP = "  "
#: How many of those who speak at a time are shown.
_SPEAKERS = 3


class Voices:
    """What players say while they think, until their words are whole."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}

    def hear(self, by: str, words: str) -> None:
        """Take more words of somebody."""
        # As much as the widest window shows; what was before has been read by then.
        self._words[by] = (self._words.pop(by, "") + words)[-400:]

    def hush(self, by: str | None = None) -> None:
        """Forget what somebody has said, or everybody."""
        if by is None:
            self._words.clear()
        else:
            self._words.pop(by, None)

    def lines(self, width: int) -> Sequence[str]:
        """Return the last words of those who spoke last, a line for each."""
        told = []
        for by, words in list(self._words.items())[-_SPEAKERS:]:
            name = one_line(by, 20)
            said = " ".join(words.split())
            room = max(width - len(name) - 2, 2)
            end = said if len(said) <= room else f"…{said[1 - room :]}"
            told.append(_cut(f"{name}: {end}", width))
        return told


def status_lines(match: Match, voices: Voices, now: datetime, width: int) -> Sequence[str]:
    """Return both sides with their clocks, what is going on, and who speaks, as narrow as asked."""
    white, black = (_side(match, color, now) for color in Color)
    sides = f"{white}{_GAP}{black}"
    lines = [sides] if len(sides) <= width else [white, black]
    doing = _doing(match)
    if doing and len(lines) == 1 and len(sides) + len(_GAP) + len(doing) <= width:
        lines = [f"{sides}{_GAP}{doing}"]
    elif doing:
        lines.append(doing)
    return [*(_cut(line, width) for line in lines), *voices.lines(width)]


def time_left(match: Match, color: Color, now: datetime) -> timedelta | None:
    """Return what stands on a clock now, or stood there when it was over; None if not timed."""
    clock = match.game.clock
    stood = None if clock is None else clock.remaining(color)
    if stood is None or color is not match.color:
        return stood
    left = match.time_left(now)
    return stood if left is None else max(min(stood, left), timedelta(0))  # a delay comes before


def _side(match: Match, color: Color, now: datetime) -> str:
    player = match.settings.player(color)
    is_due = color is match.color and not match.is_over
    left = time_left(match, color, now)
    clock = "" if left is None else f" {format_clock(left)}"
    name = one_line(player.title or player.name, 24)
    return f"{'>' if is_due else ' '}{color.value.capitalize()} {name}{clock}"


def _doing(match: Match) -> str:
    if match.is_over:
        return match.ending
    if match.status is MatchStatus.PAUSED:
        return "paused"
    if match.settings.player(match.color).is_human:
        return "in check" if match.game.position.is_check() else ""
    return "thinking"


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: max(width - 1, 0)]}…"
