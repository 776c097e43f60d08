"""Option: something that can be set in a UCI engine, as the engine itself declares it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from agents.uci.errors import InvalidOption
from engine.errors import shown

#: What a value may be given as; None presses a button.
Value = str | int | bool | None

_PARTS = frozenset({"name", "type", "default", "min", "max", "var"})
_LONGEST_VALUE = 4096
_MOST_OPTIONS = 1000
_TRUE, _FALSE, _EMPTY = "true", "false", "<empty>"


class Kind(StrEnum):
    """The types of options."""

    CHECK = "check"
    SPIN = "spin"
    COMBO = "combo"
    BUTTON = "button"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Option:
    """What an engine declares: a name, a type, the value at first, and which others it takes."""

    name: str
    kind: Kind
    default: str | None = None
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def parse(cls, words: list[str]) -> Option | None:
        """Read what follows `option`; None if it makes no sense."""
        parts: dict[str, list[str]] = {}
        choices: list[list[str]] = []
        into: list[str] | None = None
        for word in words:
            # A name may hold any word but `type`, and every part but `var` comes once.
            if word in _PARTS and (word == "var" or word not in parts) and _may_start(word, parts):
                into = []
                if word == "var":
                    choices.append(into)
                else:
                    parts[word] = into
            elif into is None:
                return None
            else:
                into.append(word)
        name, kind = " ".join(parts.get("name", ())), " ".join(parts.get("type", ()))
        if not name or kind not in set(Kind) or not all(map(str.isprintable, words)):
            return None
        return cls(
            name,
            Kind(kind),
            _default(Kind(kind), parts.get("default")),
            _integer(" ".join(parts.get("min", ()))),
            _integer(" ".join(parts.get("max", ()))),
            tuple(" ".join(each) for each in choices),
        )

    def text(self, value: Value) -> str:
        """Return a value as it is sent; raise ValueError, saying what would do, if it is none."""
        match self.kind:
            case Kind.BUTTON:
                if value not in (None, True, ""):
                    raise ValueError("it is a button, which takes no value")
                return ""
            case Kind.CHECK:
                return self._check(value)
            case Kind.SPIN:
                return self._spin(value)
            case Kind.COMBO:
                return self._combo(value)
            case Kind.STRING:
                # To an engine that declares nothing, `<empty>` may be the name of a file.
                return _string(value) or ("" if self.default == "" else _EMPTY)

    def _check(self, value: Value) -> str:
        text = str(value).lower()
        if text not in (_TRUE, _FALSE):
            raise ValueError(f"{shown(str(value))} is neither true nor false")
        return text

    def _spin(self, value: Value) -> str:
        number = None if isinstance(value, bool) else _integer(str(value).strip())
        low, high = self.low, self.high
        if (
            number is None
            or (low is not None and number < low)
            or (high is not None and number > high)
        ):
            least = "" if low is None else f" from {low}"
            most = "" if high is None else f" to {high}"
            raise ValueError(f"{shown(str(value))} is no whole number{least}{most}")
        return str(number)

    def _combo(self, value: Value) -> str:
        for choice in self.choices:
            if choice.lower() == str(value).lower():
                return choice
        raise ValueError(f"{shown(str(value))} is none of {', '.join(self.choices)}")


class Options:
    """All options of an engine: what it declared, and what has been set. Names have no case."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._declared: dict[str, Option] = {}
        self._set: dict[str, str] = {}

    def declare(self, option: Option) -> None:
        """Take note of an option."""
        if len(self._declared) < _MOST_OPTIONS:
            self._declared[option.name.lower()] = option

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._declared

    def __iter__(self) -> Iterator[Option]:
        return iter(self._declared.values())

    def accepts(self, name: str, value: Value) -> bool:
        """Return whether there is such an option, and it takes the value."""
        try:
            self._checked(name, value)
        except InvalidOption:
            return False
        return True

    def change(self, wanted: Mapping[str, Value]) -> list[tuple[Option, str]]:
        """Return what to send so that all that is wanted is set, and all else as it was at first.

        Raises `InvalidOption`; then nothing has changed.
        """
        now = dict(self._checked(name, value) for name, value in wanted.items())
        for name in self._set:
            default = self._declared[name].default
            if name not in now and default is not None:
                now[name] = default
        before, self._set = self._set, now
        return [
            (option, text)
            for option, text in ((self._declared[name], text) for name, text in now.items())
            if before.get(option.name.lower(), option.default) != text
        ]

    def _checked(self, name: str, value: Value) -> tuple[str, str]:
        key = str(name).strip().lower()
        option = self._declared.get(key)
        if option is None:
            known = ", ".join(sorted(each.name for each in self)) or "none"
            raise InvalidOption(self._engine, str(name), f"there is none of that name, but {known}")
        try:
            return key, option.text(value)
        except ValueError as error:
            raise InvalidOption(self._engine, option.name, str(error)) from None


def _default(kind: Kind, words: list[str] | None) -> str | None:
    """Return the value at first as it would be sent; None if there is none."""
    if kind is Kind.STRING:
        return _EMPTY if words is None else " ".join(words)
    if not words or kind is Kind.BUTTON:
        return None
    return " ".join(words).lower() if kind is Kind.CHECK else " ".join(words)


def _may_start(word: str, parts: dict[str, list[str]]) -> bool:
    return word in ("name", "type") or "type" in parts


def _integer(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and digits.isascii() and len(digits) < 20 else None


def _string(value: Value) -> str:
    text = "" if value is None else str(value)
    # A line break would smuggle in another command.
    if not text.isprintable() or len(text) > _LONGEST_VALUE:
        raise ValueError(f"{shown(text)} is no single line of up to {_LONGEST_VALUE} characters")
    return text
