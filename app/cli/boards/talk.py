"""Talk: what was said and refused in a turn of a match, as a terminal can show it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

#: More of a player's words nobody reads in a terminal.
MOST_WORDS = 4_000
#: More speeches, or refusals, in a turn nobody looks at.
MOST_SPEECHES = 30
#: What begins with ESC, or with its 8-bit twins, and tells a terminal what to do.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursors
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x07|\x9c|$)"  # titles, the clipboard
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Said:
    """What somebody said of a turn, all of it printable. While they speak there are only words."""

    by: str
    words: str = ""
    #: Moves with the reason for each, best first.
    candidates: tuple[tuple[str, str], ...] = ()
    abstained: str = ""
    is_speaking: bool = False
    #: The words of somebody who still speaks, as they came: the next may go on in their middle.
    raw: str = field(default="", repr=False)


@dataclass(frozen=True)
class Talk:
    """What was said and refused in a turn, in order, and by which move it was followed."""

    said: tuple[Said, ...] = ()
    #: The refused move, or nothing, and why.
    refused: tuple[tuple[str, str], ...] = ()
    before: str = ""

    def hearing(self, by: str, words: str) -> Talk:
        """Return it with more words of somebody who still speaks."""
        so_far = "".join(each.raw for each in self.said if each.is_speaking and each.by == by)
        raw = (so_far + words)[-MOST_WORDS:]
        return self.having(Said(by, printable(raw), is_speaking=True, raw=raw))

    def having(self, said: Said) -> Talk:
        """Return it with what somebody said in the end."""
        others = (each for each in self.said if not (each.is_speaking and each.by == said.by))
        return replace(self, said=(*others, said)[-MOST_SPEECHES:])

    def refusing(self, move: str, reason: str) -> Talk:
        """Return it with a move that was refused."""
        return replace(self, refused=(*self.refused, (move, reason))[-MOST_SPEECHES:])

    def hushed(self) -> Talk:
        """Return it without those who still speak: they will not go on."""
        return replace(self, said=tuple(each for each in self.said if not each.is_speaking))

    @property
    def is_empty(self) -> bool:
        """Whether nobody said anything, and nothing was refused."""
        return not self.said and not self.refused


def refusal(move: str, why: str) -> str:
    """Return why a move was refused, in words that name it."""
    return why if move in why else f"{move}: {why}"


def printable(text: str) -> str:
    """Return words on one line, without anything that a terminal would obey."""
    plain = "".join(char for char in _ESCAPES.sub("", text) if char.isprintable() or char.isspace())
    return " ".join(plain.split())
