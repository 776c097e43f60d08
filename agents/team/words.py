"""Words: what is said in a reply that is still arriving, also where it is wrapped in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

_SPOKEN = frozenset({"reasoning", "reason"})
_FENCE = "```"
_RUNS = re.compile(r'[^"\\]+|.', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}


class Words:
    """Passes on the words of a reply as they come.

    Of a JSON object these are the reasons in it; anything else is passed on as it is.
    """

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._is_json: bool | None = None
        self._begun = ""
        self._in_string = False
        self._escape = ""
        self._string: list[str] = []
        self._key = ""
        self._expects_value = False

    def feed(self, text: str) -> None:
        """Take the next piece of the reply."""
        if self._is_json is None:
            text = self._begun + text
            start = text.lstrip()
            if not start or (len(start) < len(_FENCE) and _FENCE.startswith(start)):
                self._begun = text  # too little to tell
                return
            self._is_json = start.startswith(("{", _FENCE))
        if not self._is_json:
            self._hear(text)
            return
        spoken = "".join(map(self._take_run, _RUNS.findall(text)))
        if spoken:
            self._hear(spoken)

    def _take_run(self, run: str) -> str:
        """Take a run of characters none of which ends a string or begins an escape, or one."""
        if len(run) == 1:
            return self._take(run)
        if not self._in_string:
            for char in run:
                self._take_mark(char)
            return ""
        spoken = ""
        while self._escape and run:
            spoken += self._take(run[0])
            run = run[1:]
        return spoken + self._speak(run)

    def _take(self, char: str) -> str:
        """Take one character of JSON, and return what is said by it."""
        if not self._in_string:
            self._take_mark(char)
            return ""
        if self._escape:
            self._escape += char
            return self._speak(self._unescaped())
        if char == "\\":
            self._escape = char
            return ""
        if char == '"':
            return self._end_string()
        return self._speak(char)

    def _take_mark(self, char: str) -> None:
        if char == '"':
            self._in_string, self._string = True, []
        elif char == ":":
            self._expects_value = True
        elif char in ",{[":
            self._expects_value = False

    def _end_string(self) -> str:
        self._in_string = False
        if not self._expects_value:
            self._key = "".join(self._string)
            return ""
        self._expects_value = False
        return "\n" if self._key in _SPOKEN else ""

    def _speak(self, text: str) -> str:
        if not self._expects_value:
            self._string.append(text)
            return ""
        return text if self._key in _SPOKEN else ""

    def _unescaped(self) -> str:
        """Return the character that an escape stands for, once it is whole."""
        escape = self._escape
        if escape[1] != "u":
            self._escape = ""
            return _ESCAPES.get(escape[1], escape[1])
        if len(escape) < 6:
            return ""
        first = _code(escape[:6])
        if 0xD800 <= first < 0xDC00 and len(escape) < 12:  # half of a pair: wait for the other
            expected = "\\u"[: len(escape) - 6]
            if escape[6:8].startswith(expected) or len(escape) > 8:
                return ""
        self._escape = ""
        try:
            whole: str = json.loads(f'"{escape}"')
        except ValueError:
            return "\N{REPLACEMENT CHARACTER}"
        return whole.encode("utf-8", "replace").decode()


def _code(escape: str) -> int:
    try:
        return int(escape[2:], 16)
    except ValueError:
        return 0
