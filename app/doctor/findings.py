"""Finding: what a check has found, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from agents.models.secrecy import without


class Sign(StrEnum):
    """How it is; in words, since not everybody sees colours."""

    OK = "ok"
    #: Worth knowing, and nothing to mend.
    NOTE = "note"
    #: Something cannot be used that one may do without.
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    subject: str
    sign: Sign
    #: What is the case, in a sentence.
    case: str
    #: What to do: a command to run, or a setting to write.
    advice: str = ""
    #: What programs may want to know of it.
    figures: Mapping[str, object] = field(default_factory=dict)

    def legible(self, secrets: Iterable[str]) -> Finding:
        """Return it as it can be shown: on one line, without a secret, wherever it came from."""
        hidden = sorted(secrets, key=len, reverse=True)
        figures = {name: _legible(each, hidden) for name, each in self.figures.items()}
        return replace(
            self,
            subject=_shown(self.subject, []),  # which is a name, or nobody would know what it is of
            case=_shown(self.case, hidden),
            advice=_shown(self.advice, hidden),
            figures=figures,
        )

    def to_json(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "subject": self.subject,
            "sign": self.sign.lower(),
            "case": self.case,
            "advice": self.advice or None,
            "figures": dict(self.figures),
        }


def fine(subject: str, case: str, **figures: object) -> Finding:
    """Say that all is well."""
    return Finding(subject, Sign.OK, case, figures=figures)


def note(subject: str, case: str, advice: str = "", **figures: object) -> Finding:
    """Say what is worth knowing."""
    return Finding(subject, Sign.NOTE, case, advice, figures)


def warning(subject: str, case: str, advice: str, **figures: object) -> Finding:
    """Say what cannot be used, and what to do."""
    return Finding(subject, Sign.WARN, case, advice, figures)


def failure(subject: str, case: str, advice: str, **figures: object) -> Finding:
    """Say what is wrong, and what to do."""
    return Finding(subject, Sign.FAIL, case, advice, figures)


def _legible(figure: object, secrets: list[str]) -> object:
    if isinstance(figure, str):
        return _shown(figure, secrets)
    return [_legible(each, secrets) for each in figure] if isinstance(figure, list) else figure


def _shown(text: str, secrets: list[str]) -> str:
    told = " ".join(without(secrets, text).split())
    # A path or an engine's last words may hold anything, such as what a terminal obeys.
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in told)
