"""Commands: what a person may write at the board, and how a line is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from app.errors import AppError
from engine.errors import shown


@dataclass(frozen=True, slots=True)
class Spec:
    """A command, as `help` tells of it."""

    name: str
    #: What may come after it; nothing, if empty.
    takes: str
    does: str
    #: Lines that could be written just so.
    examples: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    more: str = ""

    @property
    def usage(self) -> str:
        """The command with what it takes."""
        return f"{self.name} {self.takes}".rstrip()


SPECS = (
    Spec(
        "move",
        "MOVE",
        "play a move; the word `move` may be left out",
        ("e4", "Nf3", "e2e4", "move O-O"),
        more="Any notation will do: e4, Nf3, exd5, e2e4, e2-e4, O-O, 0-0, e8=Q, e8q, nf3.",
    ),
    Spec(
        "new",
        "[MINUTES] [INCREMENT]",
        "begin another game, with so many minutes each and seconds a move",
        ("new", "new 10 5", "new 0"),
        more="Without numbers the clocks are as before; `new 0` is without clocks.",
    ),
    Spec("show", "", "draw the board", ("show",), ("board",)),
    Spec("moves", "[SQUARE]", "list the legal moves, or those of one piece", ("moves", "moves e2")),
    Spec("history", "", "list what was played", ("history",), ("log",)),
    Spec("fen", "", "print the position as FEN", ("fen",)),
    Spec(
        "load",
        "[FEN|NAME|NUMBER]",
        "begin from a position, or go on with a saved game",
        ("load", "load Sunday", "load 2", "load 4k3/8/8/8/8/8/4P3/4K3 w - -"),
        more="Without anything it lists the saved games to choose from.",
    ),
    Spec(
        "pgn", "[FILE]", "print the game as PGN, or write it to a new file", ("pgn", "pgn game.pgn")
    ),
    Spec(
        "undo",
        "",
        "take back your last move, and the answer to it",
        ("undo",),
        ("takeback",),
        more="No computer ever refuses. Two people take back one move at a time.",
    ),
    Spec(
        "hint",
        "",
        "ask Stockfish for a move, off the clock",
        ("hint",),
        more="In King's Cooking, which is solved, it is the perfect one.",
    ),
    Spec("resign", "", "give up", ("resign",)),
    Spec(
        "draw",
        "[offer|accept|decline|claim [MOVE]]",
        "offer a draw, answer an offer, or claim one",
        ("draw", "draw accept", "draw claim", "draw claim Nf3"),
        more="Alone it accepts an offer that stands, or else offers. A draw by repetition or fifty"
        " moves is claimed as the board stands, or with the move that you intend.",
    ),
    Spec(
        "save",
        "NAME",
        "keep the game; the service can open it, too",
        ("save Sunday", "save Sunday!", "save"),
        more="`save NAME!` puts it in the place of another game with that name.",
    ),
    Spec("saves", "", "list the saved games", ("saves",)),
    Spec("flip", "", "turn the board round", ("flip",)),
    Spec("pause", "", "stop the clocks", ("pause",)),
    Spec(
        "resume",
        "[USD]",
        "let the clocks run again, or let a player try again",
        ("resume", "resume 2"),
        more="With a number, model calls may from now on cost so many dollars in all.",
    ),
    Spec(
        "help",
        "[COMMAND]",
        "tell what can be written here, or more of one command",
        ("help", "help draw"),
        ("?",),
    ),
    Spec("quit", "", "leave", ("quit",), ("exit", "q", "bye")),
)

_BY_WORD = {word: spec for spec in SPECS for word in (spec.name, *spec.aliases)}
#: Of a line: more is nothing that anybody meant to write.
_LONGEST = 1000


class NotUnderstood(AppError):
    """A line that means nothing here; the message says what would."""


@dataclass(frozen=True, slots=True)
class Said:
    """A line as it was read: the name of a command, and what came after it."""

    command: str
    argument: str = ""


def read_line(line: str) -> Said | None:
    """Return what a line says, or None if it says nothing; raises `NotUnderstood`.

    What begins with no command is taken for a move.
    """
    text = " ".join(line.split())
    if not text:
        return None
    if len(text) > _LONGEST:
        raise NotUnderstood(f"that line has {len(text)} letters, which is too long for anything")
    word, _, argument = text.partition(" ")
    spec = _BY_WORD.get(word.lower())
    if spec is None:
        return Said("move", text)
    if argument and not spec.takes:
        raise NotUnderstood(f"{shown(word)} takes nothing after it")
    return Said(spec.name, argument)


def neither(text: str) -> NotUnderstood:
    """Return what to say of a line that is neither a command nor a move."""
    word = text.split()[0].lower()
    near = get_close_matches(word, _BY_WORD, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else "write help to see what can be written here"
    return NotUnderstood(f"{shown(text)} is neither a command nor a move; {hint}")


def help_text(about: str = "") -> Sequence[str]:
    """Return what can be written, or more of one command, as lines; raises `NotUnderstood`."""
    if not about:
        width = max(len(spec.usage) for spec in SPECS if len(spec.usage) < _HELP_WIDTH)
        lines = []
        for spec in SPECS:
            if len(spec.usage) > width:
                lines += [f"  {spec.usage}", f"  {'':{width}}  {spec.does}"]
            else:
                lines.append(f"  {spec.usage:{width}}  {spec.does}")
        return lines
    known = _BY_WORD.get(about.lower())
    if known is None:
        near = get_close_matches(about.lower(), _BY_WORD, 1, 0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise NotUnderstood(f"there is no command {shown(about)}{hint}")
    lines = [f"  {known.usage}: {known.does}."]
    if known.aliases:
        lines.append(f"  It is also written {', '.join(known.aliases)}.")
    if known.more:
        lines.append(f"  {known.more}")
    word = "Example" if len(known.examples) == 1 else "Examples"
    return [*lines, f"  {word}: {' | '.join(known.examples)}"]


_HELP_WIDTH = 24


def command_words() -> Sequence[str]:
    """Return the names of all commands, for completion."""
    return [spec.name for spec in SPECS]


def all_words() -> Sequence[str]:
    """Return every word that begins a command, also those that mean the same."""
    return list(_BY_WORD)
