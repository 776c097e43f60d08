"""Writing PGN: tags, moves, comments, NAGs, variations, clocks and evaluations."""

from __future__ import annotations

import re
from datetime import timedelta
from textwrap import TextWrapper
from typing import TYPE_CHECKING

from engine.outcome import Termination
from engine.pieces import Color
from engine.position import Position
from engine.variant import find_variant

if TYPE_CHECKING:
    from engine.game import Game
    from engine.line import Evaluation, Line, Note

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
_START_TAGS = ("SetUp", "FEN", "Variant")
_UNKNOWN = {"Date": "????.??.??", "Result": "*"}
#: What the standard's tag says of endings that the moves do not show.
_TERMINATIONS = {
    Termination.TIME_FORFEIT: "time forfeit",
    Termination.RULES_INFRACTION: "rules infraction",
    Termination.ADJUDICATION: "adjudication",
    Termination.MAX_PLIES: "adjudication",
}
#: Stands for a space at which a line must not be broken; no comment can hold it.
_UNBREAKABLE = "\0"
_WRAPPER = TextWrapper(width=80, break_long_words=False, break_on_hyphens=False)


def write_game(game: Game) -> str:
    """Return a game as PGN, in the export format's order and line length."""
    tags = dict.fromkeys(ROSTER, "?") | _UNKNOWN | game.tags | {"Result": game.result}
    for name in _START_TAGS:
        tags.pop(name, None)  # the game knows better than what it was once given
    outcome = game.outcome
    if outcome is not None and outcome.termination in _TERMINATIONS:
        tags["Termination"] = _TERMINATIONS[outcome.termination]
    if game.clock is not None:
        tags["TimeControl"] = str(game.clock.control)
    standard = Position.start()
    if game.variant != standard.variant:
        tags["Variant"] = find_variant(game.variant).title
    if game.start != standard:
        tags |= {"SetUp": "1", "FEN": game.start.fen()}
    words = [f"{{{_comment(game.comment)}}}"] if game.comment else []
    _write_line(game.line, words)
    words.append(game.result)
    header = "".join(
        f'[{_tag_name(name)} "{_tag_value(str(tags[name]))}"]\n' for name in _ordered(tags)
    )
    movetext = _WRAPPER.fill(" ".join(words)).replace(_UNBREAKABLE, " ")
    return f"{header}\n{movetext}\n"


def _ordered(tags: dict[str, str]) -> list[str]:
    return [*ROSTER, *(name for name in tags if name not in ROSTER)]


def _tag_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_+#=:-]", "_", name) or "_"


def _tag_value(value: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in value)
    return plain.replace("\\", "\\\\").replace('"', '\\"')


def _comment(text: str) -> str:
    # PGN has no way to write a closing brace inside a comment.
    return " ".join(text.replace("}", ")").replace(_UNBREAKABLE, " ").split())


def _write_line(line: Line, words: list[str]) -> None:
    """Append a line's words, and its variations' in their places."""
    numbered = True  # whether Black's move needs its number, since something came between
    for index, move in enumerate(line.moves):
        before, note = line.positions[index], line.notes.get(index)
        if note and note.before:
            words.append(f"{{{_comment(note.before)}}}")
            numbered = True
        if before.turn is Color.WHITE:
            words.append(f"{before.fullmove_number}.")
        elif numbered:
            words.append(f"{before.fullmove_number}...")
        words.append(before.san(move))
        numbered = False
        if note is None:
            continue
        words += [f"${nag}" for nag in note.nags if 0 <= nag <= 255]
        if remark := _remark(note):
            words.append(f"{{{remark}}}")
            numbered = True
        for variation in note.variations:
            inner: list[str] = []
            _write_line(variation, inner)
            words += [f"({' '.join(inner)})"]
            numbered = True


def _remark(note: Note) -> str:
    commands = []
    if note.evaluation is not None:
        commands.append(f"[%eval{_UNBREAKABLE}{_evaluation(note.evaluation)}]")
    if note.clock is not None:
        commands.append(f"[%clk{_UNBREAKABLE}{_clock(note.clock)}]")
    return " ".join([*commands, _comment(note.comment)]).strip()


def _evaluation(evaluation: Evaluation) -> str:
    if evaluation.centipawns is None:
        return f"#{evaluation.mate}"
    return f"{evaluation.centipawns / 100:.2f}"


def _clock(clock: timedelta) -> str:
    seconds, milliseconds = divmod(max(clock, timedelta(0)) // timedelta(milliseconds=1), 1000)
    text = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{milliseconds:03}".rstrip("0") if milliseconds else text
