"""What the UCI codec promises about anything an engine prints: it is read, or refused for people.

`check_uci` takes bytes, as they come out of a pipe. It is used as those in `fuzz.promises` are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from agents.uci.errors import (
    InvalidLevel,
    InvalidLimit,
    InvalidOption,
    InvalidRatings,
    PoolClosed,
    UciDied,
    UciError,
    UciFault,
    UciGarbled,
    UciIllegalAnswer,
    UciNotFound,
    UciTimedOut,
    UciWontStart,
)
from agents.uci.info import Info
from agents.uci.options import Option, Options, Value
from agents.uci.protocol import (
    BestMove,
    Declaration,
    Identity,
    InfoLine,
    LineSplitter,
    LineTooLong,
    Message,
    Noise,
    ReadyOk,
    UciOk,
    option_command,
    read,
)
from engine import Color
from fuzz.promises import POSITIONS, check_refusal, require

#: What the operator calls an engine: the one part of a message that no engine can choose.
TITLE = "Fairy-Stockfish on a server"
#: Values that somebody might give to any option.
VALUES: tuple[Value, ...] = (
    None, True, False, 0, 1, -1, 16, "", "1", " 2 ", "true", "FALSE", "a b", "a\nquit",
)  # fmt: skip

_LARGEST = 10**18


def check_uci(raw: bytes) -> None:
    """Check that all that an engine prints is read, line by line, and that errors can quote it."""
    options = []
    small = 1 + len(raw) // 40  # byte by byte, unless there are many
    for line in check_lines(raw + b"\n", (small, small + 1, 64)):
        check_message(line, read(line))
        check_info(line)
        option = Option.parse(line.split())
        if option is not None:
            options.append(option)
        for value in (line, *line.split()):
            for each in options[-3:]:
                check_value(each, value)
    check_options(options)
    for text in {raw.decode("latin-1"), raw.decode("utf-8", "surrogateescape")}:
        for error in errors_about(text):
            check_refusal(error)


# --- lines ---


def check_lines(raw: bytes, sizes: Iterable[int]) -> list[str]:
    """Return the lines of some bytes; check that they are the same in chunks of these sizes."""
    lines = split([raw])
    for size in sizes:
        chunks = [raw[start : start + size] for start in range(0, len(raw), size)]
        require(split(chunks) == lines, "lines do not depend on chunks", size, raw)
    for line in lines or ():
        require("\n" not in line and not line.endswith("\r"), "a line has no end", line)
    return lines or []


def split(chunks: Iterable[bytes]) -> list[str] | None:
    """Return the lines of bytes that come in chunks; None if one is too long."""
    splitter = LineSplitter()
    lines: list[str] = []
    try:
        for chunk in chunks:
            lines += splitter.feed(chunk)
    except LineTooLong:
        return None
    return lines


# --- messages ---


def check_message(line: str, message: Message) -> None:
    """Check that what a line was read as holds together."""
    match message:
        case BestMove(move, ponder):
            for word in (move, "" if ponder is None else ponder):
                require(word.split() == ([word] if word else []), "a move is a word", line, word)
            require(ponder != "", "no move to ponder is None", line)
        case InfoLine(text):
            check_info(text)
        case Declaration(option):
            for value in VALUES:
                check_value(option, value)
        case Identity(field, value):
            require(len(field.split()) <= 1 and value == value.strip(), "it is trimmed", line)
        case Noise(text):
            require(text == line, "noise is kept as it is", line, text)
        case UciOk() | ReadyOk():
            pass


def check_info(text: str) -> None:
    """Check that information is read, and that what could be read makes sense."""
    info = Info.parse(text)
    counts = (
        info.depth,
        info.selective_depth,
        info.nodes,
        info.nodes_per_second,
        info.hash_permille,
        info.tablebase_hits,
    )
    for count in counts:
        require(count is None or 0 <= count < _LARGEST, "a count is in range", text, count)
    require(1 <= info.rank < _LARGEST, "a rank is in range", text, info.rank)
    require(info.time is None or info.time >= timedelta(0), "a time is in range", text, info.time)
    require(all(word.split() == [word] for word in info.pv), "moves are words", text, info.pv)
    if info.wdl is not None:
        chances = (info.wdl.win, info.wdl.draw, info.wdl.loss)
        require(all(0 <= each < _LARGEST for each in chances), "chances are in range", text)
    if info.score is not None:
        check_score(info)


def check_score(info: Info) -> None:
    """Check that a score is of one kind, and can be told to people and noted in games."""
    score = info.score
    if score is None:
        return
    values = [value for value in (score.centipawns, score.mate) if value is not None]
    require(len(values) == 1, "a score is of one kind", score)
    require(abs(values[0]) < _LARGEST, "a score is in range", score)
    require(str(score).isprintable(), "a score can be shown", score)
    white, black = score.evaluation(Color.WHITE), score.evaluation(Color.BLACK)
    for ours, theirs in ((white.centipawns, black.centipawns), (white.mate, black.mate)):
        require(ours is theirs or ours == -(theirs or 0), "the sides see the opposite", score)


# --- options ---


def check_value(option: Option, value: Value) -> None:
    """Check that a value is refused, or sent on a line that says nothing else."""
    try:
        text = option.text(value)
    except ValueError:
        return
    check_command(option, text)
    require(option.text(text) == text, "what is sent is taken, too", option, value, text)


def check_command(option: Option, text: str) -> None:
    """Check that a value is sent on one line."""
    command = option_command(option, text)
    require(command.isprintable(), "a command is one line", command)
    require(command.startswith("setoption name "), "a command sets an option", command)


def check_options(declared: Sequence[Option]) -> None:
    """Check that setting what was declared is refused for people, or done once and for all."""
    options = Options(TITLE)
    for option in declared:
        options.declare(option)
    for wanted in _wishes(declared):
        try:
            changes = options.change(wanted)
        except InvalidOption as error:
            check_refusal(error)
            continue
        for option, text in changes:
            check_command(option, text)
        require(options.change(wanted) == [], "what is set is not set again", wanted)
    for option, text in options.change({}):
        check_command(option, text)
    require(options.change({}) == [], "what is as at first is left alone", declared)


def _wishes(declared: Sequence[Option]) -> Iterator[Mapping[str, Value]]:
    yield {"no such option": 1}
    for value in VALUES:
        for option in declared[:10]:
            yield {option.name: value}
        yield {option.name.upper(): value for option in declared[:10]}


# --- errors ---


def errors_about(text: str) -> list[UciError]:
    """Return every error there is, with a foreign text wherever it can hold one."""
    return [
        UciNotFound(TITLE, text),
        UciNotFound(TITLE, text, "install it, or say where it is"),
        UciWontStart(TITLE, text, text),
        UciFault(TITLE),
        UciDied(TITLE, "thinking", last_words=text),
        UciDied(TITLE, "getting ready", -9, text),
        UciDied(TITLE, "starting", 127, text),
        UciTimedOut(TITLE, "thinking", timedelta(seconds=2.5)),
        UciGarbled(TITLE, "it prints line after line of no meaning", text),
        UciIllegalAnswer(TITLE, text, POSITIONS[6].fen()),
        InvalidOption(TITLE, text, text),
        InvalidLimit("a search needs a limit"),
        InvalidLevel(text),
        InvalidRatings(text, text),
        PoolClosed(TITLE),
    ]
