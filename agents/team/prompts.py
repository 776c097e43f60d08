"""Prompts: Markdown files, with a digest by which the ledger names them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from agents.team.errors import InvalidTeam

_SHIPPED = files("agents.team") / "prompts"
_SECTION = re.compile(r"^# ([a-z_]+)\n", re.MULTILINE)
MAX_PROMPT = 100_000


@dataclass(frozen=True)
class Prompt:
    """What a member is told of its task, and the digest of all that its requests are made of."""

    role: str
    digest: str


def load_prompt(team: str, file: str, folder: Path | None) -> str:
    """Return the text of a prompt: beside the team, or else of those that are shipped.

    Raises `InvalidTeam`.
    """
    try:
        if folder is not None and (own := folder / file).is_file():
            text = own.read_text(encoding="utf-8")
        else:
            text = (_SHIPPED / file).read_text(encoding="utf-8")
    except FileNotFoundError:
        where = "among those that are shipped" if folder is None else f"in {folder}"
        raise InvalidTeam(team, f"there is no prompt {file} {where}") from None
    except (OSError, UnicodeDecodeError) as error:
        why = "is not text" if isinstance(error, UnicodeDecodeError) else "cannot be read"
        raise InvalidTeam(team, f"its prompt {file} {why}") from None
    if not text.strip():
        raise InvalidTeam(team, f"its prompt {file} is empty")
    if len(text) > MAX_PROMPT:
        raise InvalidTeam(team, f"its prompt {file} has more than {MAX_PROMPT} characters")
    return text.strip()


def make_prompt(role: str, variant: str) -> Prompt:
    """Return the prompt of a member for games of a variant."""
    whole = "\0".join((rules_of(variant), role, _read("turn.md")))
    return Prompt(role, hashlib.sha256(whole.encode()).hexdigest())


@cache
def rules_of(variant: str) -> str:
    """Return what a model is told of the rules of a variant."""
    return _read(f"rules_{variant.replace('-', '_')}.md").strip()


@cache
def sections() -> Mapping[str, Template]:
    """Return the parts of a question, by name; `turn.md` holds them."""
    parts = _SECTION.split(_read("turn.md"))
    return {
        name: Template(text.strip()) for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


@cache
def _read(file: str) -> str:
    return (_SHIPPED / file).read_text(encoding="utf-8")
