"""Info: what a UCI engine says of its search while it thinks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from engine import Color, Evaluation

_LONGEST_NUMBER = 18
_PLAIN = {
    "depth": "depth",
    "seldepth": "selective_depth",
    "multipv": "rank",
    "nodes": "nodes",
    "nps": "nodes_per_second",
    "hashfull": "hash_permille",
    "tbhits": "tablebase_hits",
}
#: Everything that starts a new part. What follows an unknown word is skipped up to the next one.
_KEYS = frozenset(_PLAIN) | {
    "score", "wdl", "time", "pv", "string", "currmove", "currmovenumber", "cpuload", "refutation",
    "currline", "sbhits", "lowerbound", "upperbound",
}  # fmt: skip


class Bound(StrEnum):
    """What a score is, if it is not exact."""

    LOWER = "lowerbound"
    UPPER = "upperbound"


_BOUNDS = frozenset(Bound)


@dataclass(frozen=True, slots=True)
class Score:
    """What a position is worth to the side to move: centipawns, or moves to mate.

    Mate is negative when the side to move will be mated, and 0 when it is.
    """

    centipawns: int | None = None
    mate: int | None = None
    bound: Bound | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, turn: Color) -> Score:
        """Return an evaluation, which is from White's side, as the side to move sees it."""
        sign = 1 if turn is Color.WHITE else -1
        if evaluation.mate is not None:
            return cls(mate=sign * evaluation.mate)
        return cls(centipawns=sign * (evaluation.centipawns or 0))

    def evaluation(self, turn: Color) -> Evaluation:
        """Return it from White's side, as games note it, given whose turn it is."""
        sign = 1 if turn is Color.WHITE else -1
        if self.mate is not None:
            return Evaluation(mate=sign * self.mate)
        return Evaluation(centipawns=sign * (self.centipawns or 0))

    def __str__(self) -> str:
        sign = {Bound.LOWER: "≥ ", Bound.UPPER: "≤ ", None: ""}[self.bound]
        if self.mate is not None:
            return f"{sign}mate in {self.mate}" if self.mate > 0 else f"{sign}mated in {-self.mate}"
        return f"{sign}{(self.centipawns or 0) / 100:+.2f}"


@dataclass(frozen=True, slots=True)
class Wdl:
    """What the side to move can expect: chances to win, draw and lose, in thousandths."""

    win: int
    draw: int
    loss: int


@dataclass(frozen=True, slots=True)
class Info:
    """One line of information. What an engine leaves out is None; `pv` is in UCI notation."""

    depth: int | None = None
    selective_depth: int | None = None
    #: The place of this line among the best ones, from 1.
    rank: int = 1
    score: Score | None = None
    wdl: Wdl | None = None
    nodes: int | None = None
    nodes_per_second: int | None = None
    hash_permille: int | None = None
    tablebase_hits: int | None = None
    time: timedelta | None = None
    pv: tuple[str, ...] = ()
    string: str | None = None

    @classmethod
    def parse(cls, text: str) -> Info:
        """Read what follows `info`. Whatever cannot be understood is left out."""
        found: dict[str, Any] = {}
        words = text.split()
        at = 0
        while at < len(words):
            key = words[at]
            at += 1
            if key in _PLAIN:
                number = _number(words, at)
                if number is not None and number >= 0 and not (key == "multipv" and number < 1):
                    found[_PLAIN[key]] = number
                    at += 1
            elif key == "score":
                score, at = _score(words, at)
                if score is not None:
                    found["score"] = score
            elif key in _BOUNDS:
                # Not read with the score, since Stockfish puts `wdl` in between.
                if "score" in found:
                    found["score"] = replace(found["score"], bound=Bound(key))
            elif key == "wdl":
                parts = [_number(words, at + place) for place in range(3)]
                chances = [part for part in parts if part is not None and part >= 0]
                if len(chances) == 3:
                    found["wdl"] = Wdl(*chances)
                    at += 3
            elif key == "time":
                number = _number(words, at)
                if number is not None and 0 <= number < 10**12:
                    found["time"] = timedelta(milliseconds=number)
                    at += 1
            elif key == "pv":
                end = at
                while end < len(words) and words[end] not in _KEYS:
                    end += 1
                found["pv"] = tuple(words[at:end])
                at = end
            elif key == "string":
                found["string"] = " ".join(words[at:])
                break
        return cls(**found)


def _number(words: list[str], at: int) -> int | None:
    word = words[at] if at < len(words) else ""
    if not word.isdecimal() and not (word[:1] == "-" and word[1:].isdecimal()):
        return None
    is_short = len(word) <= _LONGEST_NUMBER + (word[0] == "-")
    return int(word) if is_short and word.isascii() else None


def _score(words: list[str], at: int) -> tuple[Score | None, int]:
    """Read a score, and return it with the place after it."""
    value = _number(words, at + 1)
    if value is None or words[at] not in ("cp", "mate"):
        return None, at
    if words[at] == "cp":
        return Score(centipawns=value), at + 2
    return Score(mate=value), at + 2
