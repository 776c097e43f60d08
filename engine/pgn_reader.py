"""Reading PGN: every game of a text or file, one at a time.

Lenient where people and programs differ (notation, missing tags, odd spacing), strict about chess:
every move is checked, in variations too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from engine.chess_position import CHESS960_NAME, STANDARD_NAME, ChessPosition
from engine.errors import InvalidPgn, MoveError, RulesError, shown
from engine.game import Game
from engine.line import Evaluation, Line, Note
from engine.outcome import Outcome, Termination
from engine.pieces import Color
from engine.position import Position
from engine.reading import KNOWN_READINGS, find_move, readings_of
from engine.state import make
from engine.variant import VARIANTS

_TAG = re.compile(r'\[\s*([A-Za-z0-9_+#=:-]+)\s*"((?:[^"\\]|\\.)*)"\s*\]')
#: Some programs do not escape the quotes inside a value.
_LOOSE_TAG = re.compile(r'\[\s*([A-Za-z0-9_+#=:-]+)\s*"(.*)"\s*\]')
#: A token, with any move number before it left out. `a8(Q)` is one, whatever its brackets.
_TOKEN = re.compile(
    r"(?:\d+\s?\.[\s.]*)*(\{[^}]*\}?|;[^\n]*|\$\d+|[()]|[!?]+"
    r"|[^\s{}()$;!?]+(?:\([QRBNqrbn]\)[+#]?)?)"
)
_CLOCK = re.compile(r"\[%clk\s+(\d{1,6}):([0-5]?\d):([0-5]?\d(?:\.\d{1,6})?)\s*\]")
_EVALUATION = re.compile(r"\[%eval\s+(?:#(-?\d{1,6})|([+-]?\d{1,7}(?:\.\d{1,4})?))(?:,\d+)?\s*\]")
_RESULTS = {
    "1-0": Color.WHITE,
    "0-1": Color.BLACK,
    "1/2-1/2": None,
    "1/2": None,
    "½-½": None,
    "*": None,
}
#: Annotation glyphs, and signs that stand for them.
_GLYPHS = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
_SIGNS = {
    "=": 10, "∞": 13, "+=": 14, "+/=": 14, "⩲": 14, "=+": 15, "=/+": 15, "⩱": 15,
    "±": 16, "+/-": 16, "∓": 17, "-/+": 17, "+-": 18, "-+": 19, "N": 146,
}  # fmt: skip
_NULL_MOVES = frozenset(("--", "Z0", "0000", "@@@@"))
_EN_PASSANT = frozenset(("e.p.", "e.p", "ep"))
_MOVE_LETTERS = frozenset("abcdefghNBRQKO")
_LOOKS_LIKE_A_MOVE = _EN_PASSANT | {"N"}
_DEEPEST = 100

Lines = Iterable[str] | Iterable[bytes]


def read_games(
    source: str | bytes | bytearray | Lines, on_error: Callable[[InvalidPgn], None] | None = None
) -> Iterator[Game]:
    """Yield every game of a PGN text, or of a file or other source of lines.

    Raises `InvalidPgn` at the first game that cannot be read. With `on_error`, such games are
    handed to it as errors and the rest are read.
    """
    for first_line, tag_lines, movetext in _split(source):
        text = "\n".join(movetext)
        tokens = _TOKEN.findall(text)
        start = 0
        while start == 0 or start < len(tokens):
            reader = _Movetext(tokens, start)
            try:
                yield reader.game(first_line, [] if start else tag_lines)
                start = max(reader.token, 1)
            except _BadMovetext as error:
                line = first_line + len(tag_lines) + _line_of_token(text, reader.token)
                bad = InvalidPgn(line, error.reason)
                if on_error is None:
                    raise bad from error
                on_error(bad)
                break
            except InvalidPgn as error:
                if on_error is None:
                    raise
                on_error(error)
                break


# --- one game after another ---


def _lines(source: str | bytes | bytearray | Lines) -> Iterator[str]:
    if isinstance(source, bytes | bytearray):
        source = _decode(bytes(source))
    if isinstance(source, str):
        yield from source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return
    for line in source:
        text = line if isinstance(line, str) else _decode(line)
        if "\r" in text:  # as a binary file has them, also alone
            yield from text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        else:
            yield text.removesuffix("\n")


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")  # what the PGN standard once prescribed


def _split(source: str | bytes | bytearray | Lines) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield the number of the first line, the tag lines and the movetext lines of each game."""
    tags: list[str] = []
    movetext: list[str] = []
    first = 1
    has_moves = in_comment = False
    for number, line in enumerate(_lines(source), 1):
        if number == 1:
            line = line.removeprefix("\ufeff")
        if in_comment or not line.lstrip().startswith(("[", "%")):
            if not has_moves and line and not line.isspace():
                has_moves = True
                if not tags:
                    first, movetext = number, []
            movetext.append(line)
            if "{" in line or "}" in line:
                in_comment = _ends_in_comment(line, in_comment)
            continue
        if line.startswith("%"):  # an escape: not for us
            movetext.append("")
            continue
        # A tag starts the next game after moves, and also after a game that has none.
        if has_moves or (tags and movetext and line.lstrip().startswith("[Event ")):
            yield first, tags, movetext
            tags, movetext, has_moves = [], [], False
        if not tags:
            first, movetext = number, []
        tags.append(line)
    if tags or has_moves:
        yield first, tags, movetext


def _ends_in_comment(line: str, in_comment: bool) -> bool:
    for match in re.finditer(r"[{};]", line):
        if in_comment:
            in_comment = match[0] != "}"
        elif match[0] == ";":
            return False
        else:
            in_comment = match[0] == "{"
    return in_comment


def _read_tags(first_line: int, lines: list[str]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for number, line in enumerate(lines, first_line):
        match = _TAG.fullmatch(line.strip())
        found = [match.groups()] if match else _TAG.findall(line)
        if not match and _TAG.sub("", line).strip():
            loose = _LOOSE_TAG.fullmatch(line.strip())
            if loose is None:
                raise InvalidPgn(number, f"{shown(line)} is not a tag")
            found = [loose.groups()]
        for name, value in found:
            tags[name] = re.sub(r"\\(.)", r"\1", value) if "\\" in value else value
    return tags


def _start(first_line: int, tags: dict[str, str]) -> Position:
    variant = _variant(tags.get("Variant", ""))
    if variant is None:
        raise InvalidPgn(first_line, f"the variant {shown(tags['Variant'])} is not known")
    try:
        if "FEN" in tags:
            return Position.from_fen(tags["FEN"], variant)
        return Position.start(variant)
    except RulesError as error:
        raise InvalidPgn(first_line, str(error)) from error


def _variant(tag: str) -> str | None:
    """Return the name of the variant that a tag means, however it is written, or None."""
    plain = _plain(tag) if tag else ""
    if plain in ("", "chess", "normal", "fromposition"):
        return STANDARD_NAME
    if "960" in plain or plain.startswith("fischer"):
        return CHESS960_NAME
    return next((name for name in VARIANTS if _plain(name) == plain), None)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _line_of_token(text: str, index: int) -> int:
    for number, match in enumerate(_TOKEN.finditer(text)):
        if number == index:
            return text.count("\n", 0, match.start(1))
    return text.count("\n")


def _set_outcome(game: Game, result: str, termination: str) -> None:
    """Note the result the PGN tells, if the moves do not already decide it."""
    if result not in _RESULTS or result == "*":
        return
    last = game.line.last
    # A draw by repetition in chess is the players' to notice, and what they recorded stands.
    if last.outcome() or (
        not isinstance(last, ChessPosition) and last.early_outcome(game.repetitions)
    ):
        return
    winner, told = _RESULTS[result], termination.lower()
    why = Termination.UNKNOWN
    if "time" in told:
        why = Termination.TIME_FORFEIT
    elif "adjudication" in told:
        why = Termination.ADJUDICATION
    elif "infraction" in told and winner is not None:
        why = Termination.RULES_INFRACTION
    game.record_outcome(Outcome(winner, why))


# --- the moves of a game ---


@dataclass(eq=False)
class _BadMovetext(RulesError):
    """What is wrong with the movetext, before its line is known."""

    reason: str


class _Movetext:
    """Reads one game from tokens; `token` is the index of the one in hand."""

    def __init__(self, tokens: list[str], start: int) -> None:
        self.tokens = tokens
        self.token = start
        #: The lines that the one in hand varies from, outermost first.
        self._outer: list[Line] = []
        self._comments: dict[tuple[int, str], tuple[Note | Game, list[str]]] = {}

    def game(self, first_line: int, tag_lines: list[str]) -> Game:
        """Return the game; `token` is then where the next one starts."""
        tags = _read_tags(first_line, tag_lines)
        game = Game(_start(first_line, tags), tags=tags)
        try:
            result = self._read(game)
        except MoveError as error:
            raise _BadMovetext(str(error)) from error
        for (_, name), (holder, parts) in self._comments.items():
            setattr(holder, name, " ".join(parts))
        _set_outcome(game, result or tags.get("Result", "*"), tags.get("Termination", ""))
        return game

    def _read(self, game: Game) -> str | None:
        """Read moves and all else up to a result, or to the end; return the result."""
        if isinstance(game.start, ChessPosition):
            return self._read_chess(game)
        line = game.line
        while self.token < len(self.tokens):
            if self.tokens[self.token] in _RESULTS and not self._outer:
                return self._read_result(game, line)
            line = self._read_other(game, line)
        self._check_end()
        return None

    def _read_chess(self, game: Game) -> str | None:
        """Do the same for chess, fast."""
        outer = self._outer
        tokens, count = self.tokens, len(self.tokens)
        line = game.line
        moves, states, state = line.lists()
        index = self.token
        while index < count:
            token = tokens[index]
            readings = KNOWN_READINGS.get(token)
            if readings is None and token[0] in _MOVE_LETTERS and token not in _LOOKS_LIKE_A_MOVE:
                self.token = index
                readings = readings_of(token)
            if readings is not None:
                # The common case, kept short: a move and nothing else.
                try:
                    move = find_move(state, token, readings)
                except MoveError:
                    self.token = index
                    raise
                state = make(state, move)
                moves.append(move)
                states.append(state)
                index += 1
                continue
            self.token = index
            if token in _RESULTS and not outer:
                return self._read_result(game, line)
            line = self._read_other(game, line)
            moves, states, state = line.lists()
            index = self.token
        self.token = index
        self._check_end()
        return None

    def _read_result(self, game: Game, line: Line) -> str:
        """Return the result in hand, once the comments that follow it are read."""
        result = self.tokens[self.token]
        self.token = self._read_comments(game, line, self.token + 1)
        return result

    def _check_end(self) -> None:
        if self._outer:
            raise _BadMovetext("a variation is not closed")

    def _read_other(self, game: Game, line: Line) -> Line:
        """Read a token that is no result and no plain move; return the line it leaves us in."""
        token = self.tokens[self.token]
        if token in _NULL_MOVES:
            self.token = self._skip_variation(line, self.token)
            return self._outer.pop()
        if token == "(":
            line = self._open_variation(line)
        elif token == ")":
            line = self._close_variation(line)
        elif token not in _RESULTS:
            self._read_mark(game, line, token)
        self.token += 1
        return line

    def _read_mark(self, game: Game, line: Line, token: str) -> None:
        """Read what is neither a plain move nor a bracket: comments, glyphs, signs, odd moves."""
        if token[0] in "{;":
            self._read_comment(game, line, token)
        elif token[0] == "$":
            self._note_nag(line, int(token[1:5]))
        elif token[0] in "!?":
            if token in _GLYPHS:
                self._note_nag(line, _GLYPHS[token])
        elif token in _SIGNS:
            self._note_nag(line, _SIGNS[token])
        elif not (token.isdecimal() or token.strip(".") == "" or token in _EN_PASSANT):
            # Anything but a move number without its dot, or a dot of its own, is a move.
            position = line.positions[-1]
            move = position.parse(token)
            line.append(move, position.play(move))

    # --- variations ---

    def _open_variation(self, line: Line) -> Line:
        if not line.moves:
            raise _BadMovetext("a variation stands before the first move")
        if len(self._outer) >= _DEEPEST:
            raise _BadMovetext(f"variations nest deeper than {_DEEPEST}")
        self._outer.append(line)
        variation = Line(line.positions[-2])
        line.note(len(line) - 1).variations.append(variation)
        return variation

    def _close_variation(self, line: Line) -> Line:
        if not self._outer:
            raise _BadMovetext("a variation is closed that was not opened")
        outer = self._outer.pop()
        if not line.moves:
            outer.note(len(outer) - 1).variations.remove(line)
        return outer

    def _skip_variation(self, line: Line, index: int) -> int:
        """Keep a null move and the rest of its variation as a remark: they are no chess moves.

        Return the index of the token after the variation.
        """
        if not self._outer:
            raise _BadMovetext("a null move stands in the main line")
        outer = self._outer[-1]
        holder = line.note(len(line) - 1) if line.moves else outer.note(len(outer) - 1)
        if not line.moves:
            holder.variations.remove(line)
        depth = 1
        while index < len(self.tokens):
            token = self.tokens[index]
            depth += {"(": 1, ")": -1}.get(token, 0)
            index += 1
            if not depth:
                return index
            self._add(holder, "comment", token.strip("{}").replace("\0", " "))
        raise _BadMovetext("a variation is not closed")

    # --- notes ---

    def _note_nag(self, line: Line, nag: int) -> None:
        if nag > 255:
            raise _BadMovetext(f"${nag} is no annotation glyph: they go up to $255")
        if not len(line):
            raise _BadMovetext("an annotation glyph stands before the first move")
        nags = line.note(len(line) - 1).nags
        if nag not in nags:
            nags.append(nag)

    def _read_comments(self, game: Game, line: Line, index: int) -> int:
        """Read the comments that follow a result; return the index of the token after them."""
        while index < len(self.tokens) and self.tokens[index][0] in "{;":
            self._read_comment(game, line, self.tokens[index])
            index += 1
        return index

    def _read_comment(self, game: Game, line: Line, token: str) -> None:
        """Note a comment where it stands: before the game, before a variation, after a move."""
        token = token.replace("\0", " ")  # which could not be written back
        text = token[1:].removesuffix("}") if token[0] == "{" else token[1:]
        if len(line):
            note = line.note(len(line) - 1)
            if "[%" in text:
                text = self._read_commands(note, text)
            self._add(note, "comment", text)
        elif line is game.line:
            self._add(game, "comment", text)
        else:
            self._add(line.note(0), "before", text)

    def _add(self, holder: Note | Game, name: str, text: str) -> None:
        """Add to a comment. All its parts are joined at the end: there may be a great many."""
        if text := " ".join(text.split()):
            self._comments.setdefault((id(holder), name), (holder, []))[1].append(text)

    def _read_commands(self, note: Note, text: str) -> str:
        """Note clock and evaluation, and return the comment without them."""
        if match := _CLOCK.search(text):
            hours, minutes, seconds = match.groups()
            note.clock = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
            text = text.replace(match[0], " ", 1)
        if match := _EVALUATION.search(text):
            mate, pawns = match.groups()
            if mate is not None:
                note.evaluation = Evaluation(mate=int(mate))
            else:
                note.evaluation = Evaluation(centipawns=round(float(pawns) * 100))
            text = text.replace(match[0], " ", 1)
        return text
