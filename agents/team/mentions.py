"""Mention: a place in a text where a move, or something that looks like one, is written."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LETTERS = {"king": "K", "queen": "Q", "rook": "R", "bishop": "B", "knight": "N", "pawn": "P"}

#: Emphasis goes, figurines become letters, and every dash and quotation mark becomes the plain one.
#: So do the letters and digits of full width that are written among Chinese and Japanese signs.
_PLAIN: dict[int, int | str | None] = {
    **str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟–—−‐‑‒×", "KQRBNPKQRBNP------x"),
    **str.maketrans("“”„«»「」『』‘’‚：（）｛｝", '"' * 9 + "'" * 3 + ":(){}"),
    **str.maketrans("\u00a0\u2007\u202f\u3000", "    "),
    **dict.fromkeys(map(ord, "→⟶➔⇒"), "->"),
    **{0xFEE0 + code: chr(code) for code in (*range(48, 58), *range(65, 91), *range(97, 123))},
    **dict.fromkeys(map(ord, "*`$\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f")),
}  # fmt: skip
_LATEX = re.compile(
    r"\\(?:text|mathrm|mathbf|mathsf|mathit|textbf|texttt|textit|mathtt)\b\s?|\\[,;! ]"
)
_FEN = re.compile(
    r"(?<![\w/])(?:[1-8pnbrqkPNBRQK]{1,8}/){2,7}[1-8pnbrqkPNBRQK]{1,8}"
    r"(?:\s[wb]\s[KQkqA-Ha-h-]{1,4}(?:\s[a-hRNBrnb-][1-8RNBrnb]{0,2}){0,3}(?:\s\d{1,4}){0,2})?(?![\w/])"
)

_PIECE = "king|queen|rook|bishop|knight|pawn"
_TAKES = r"takes|captures|capturing|taking"
_TO = rf"(?:(?:moves|goes|going|moving|jumps|retreats|steps)\s)?(?:to|{_TAKES}|x)(?:\s(?:on|at))?"
_THERE = rf"(?:\s(?:the\s)?(?:(?:white|black)\s)?(?:{_PIECE})\s(?:on|at))?(?:\sthe)?"
_PROMOTED = r"(?:(?:\s?=\s?|/|\()?[qrbnQRBN]\)?|\s?=\s?(?i:queen|rook|bishop|knight)\b)?"
_MOVE = re.compile(
    rf"""(?<![A-Za-z0-9/])(?:
      (?P<castling>[O0o]-[O0o](?:-[O0o])?)
    | (?P<castle>(?i:castl(?:e|es|ing)\s(?:on\sthe\s|to\sthe\s)?(?P<to_side>king|queen|short|long)
        |(?P<on_side>king|queen|short|long)(?:[\s-]?side)?\scastl(?:e|es|ing))[\s-]?(?i:side)?)
    | (?P<off>(?:[RNB]|[RNB]?[A-Ca-c][1-3])\s?-?\s?(?i:off))
    | (?P<leaves>(?i:(?P<leaver>rook|bishop|knight)\s(?:(?:on|from|at)\s[a-c][1-3]\s)?
        (?:(?:moves|goes|runs|jumps)\s)?(?:off|leaves|exits|leaving)(?:\sthe\sboard)?))
    | (?P<both>[KQRBNP]?(?:[a-h][1-8](?:\s?(?:->|=>|-|x|:)\s?)?[a-h][1-8]
        |[A-H][1-8](?:\s?(?:->|-|x)\s?)?[A-H][1-8]){_PROMOTED})
    | (?P<words>(?i:(?:(?P<walker>{_PIECE})\s)?(?:(?:from|on|at)\s)?(?P<origin>[a-h][1-8])[,\s]\s?
        (?P<way>{_TO}){_THERE}\s(?P<target>[a-h][1-8])))
    | (?P<naming>(?i:(?P<named>{_PIECE})\s(?P<how>{_TO}){_THERE}\s(?P<there>[a-h][1-8])))
    | (?P<san>[KQRBNP][a-h]?[1-8]?[x:]?[a-h][1-8])
    | (?P<pawn>[a-h][x:][a-h][1-8]{_PROMOTED}
        |[a-h][18](?:\s?=\s?|/|\()?[QRBN]\)?|[a-h][18]\s?=\s?(?i:queen|rook|bishop|knight)\b)
    | (?P<square>[a-h][1-8])
    )(?![A-Za-z0-9])(?(both)|(?!-[A-Za-z]))""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"(?<![\w.])(\d{1,3})\s?(\.{1,3}|…)\s?\Z|(?:\A|[\s(])(\.\.\.|…)\Z")
#: What follows the name of two squares where a line of the board is meant, and not a move.
_LINE = re.compile(r"\s(?:diagonal|chain|complex|line|squares|files?|pawns)\b")


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a move is written, and the move in a notation that the rules engine reads."""

    start: int
    end: int
    text: str
    #: Only a square is named: a pawn's move perhaps, but perhaps just a square.
    is_square: bool = False
    #: The number in front, as on a score sheet, and whether dots say that it is Black's move.
    number: int | None = None
    is_dotted: bool = False


def plain(text: str) -> str:
    """Return a text without emphasis, typographic variety, LaTeX fonts and FENs."""
    # A FEN has no spaces before its first field ends, so few texts need the slow search.
    text = text.translate(_PLAIN)
    if "\\" in text:
        text = _LATEX.sub("", text)
    return _FEN.sub(" ", text) if "/" in text else text


def find_mentions(text: str) -> list[Mention]:
    """Return every place in a plain text where a move or a square is written, in order."""
    mentions = []
    for match in _MOVE.finditer(text):
        if match.lastgroup == "both" and _LINE.match(text, match.end()):
            continue
        start, end = match.span()
        number = _NUMBER.search(text[max(0, start - 8) : start])
        is_numbered = number is not None
        is_marked = text[end : end + 1] in ("!", "#", "+") and text[end : end + 1] != ""
        mentions.append(
            Mention(
                start,
                end,
                _notation(match),
                is_square=match["square"] is not None and not is_numbered and not is_marked,
                number=int(number[1]) if number and number[1] else None,
                is_dotted=bool(number and (number[3] or number[2] != ".")),
            )
        )
    return mentions


def _notation(match: re.Match[str]) -> str:
    """Return a move that is written in words, or has one in it, as the engine reads it."""
    if match["castle"]:
        side = (match["to_side"] or match["on_side"]).lower()
        return "O-O" if side in ("king", "short") else "O-O-O"
    if match["leaves"]:
        return _LETTERS[match["leaver"].lower()] + "off"
    if match["words"]:
        letter = _LETTERS[match["walker"].lower()] if match["walker"] else ""
        return letter + _joined(match["origin"], match["way"], match["target"])
    if match["naming"]:
        return _LETTERS[match["named"].lower()] + _joined("", match["how"], match["there"])
    written = match[0].replace("->", "-").replace("=>", "-")
    name = re.search(r"=\s?(queen|rook|bishop|knight)\Z", written, re.IGNORECASE)
    return f"{written[: name.start()]}={_LETTERS[name[1].lower()]}" if name else written


def _joined(origin: str, way: str, target: str) -> str:
    takes = re.search(rf"\b(?:{_TAKES}|x)\b", way, re.IGNORECASE)
    return f"{origin}{'x' if takes else ''}{target}".lower()
