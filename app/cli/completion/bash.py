"""Completion in bash, which knows nothing of values with colons, spaces or quotes in them.

What bash replaces when somebody presses Tab is only what follows the last of `COMP_WORDBREAKS`, and
a colon is one of them; what it inserts, it does not quote. So our script hands over the line as it
is, and gets what belongs there, letter by letter. Typer does the rest, as for other shells.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Self

from typer._completion_classes import BashComplete
from typer._completion_shared import _completion_scripts

#: In the environment, by the script: the line up to the cursor, and what breaks words.
_LINE, _BREAKS = "_KIBITZ_LINE", "_KIBITZ_BREAKS"

# `nosort` keeps the newest first; bash before 4.4 does not know it. Where nothing is offered,
# `default` has bash offer files.
_SCRIPT = f"""
%(complete_func)s() {{
    local offer
    COMPREPLY=()
    while IFS= read -r offer; do
        COMPREPLY+=("$offer")
    done < <({_LINE}="${{COMP_LINE:0:COMP_POINT}}" {_BREAKS}="$COMP_WORDBREAKS" \\
             %(autocomplete_var)s=complete_bash "$1" 2>/dev/null)
}}
complete -o nosort -o default -F %(complete_func)s %(prog_name)s 2>/dev/null ||
    complete -o default -F %(complete_func)s %(prog_name)s
"""

#: What stands before a value in the same word.
OPTION = re.compile(r"--?[^=]+=")
_SEPARATORS = " \t\n"
_REDIRECTIONS = "<>"
#: What breaks words, and is replaced with the rest nevertheless.
_KEPT_NOT = "@$"
#: What needs a backslash in bash: outside of quotes, and within double ones.
_SPECIAL = re.compile(r"""([\s|&;<>()$`\\"'*?\[\]#~!{}])""")
_SPECIAL_IN_QUOTES = re.compile(r'([$`\\"])')


def teach_typer() -> None:
    """Have `--show-completion` and `--install-completion` give bash our script."""
    _completion_scripts["bash"] = _SCRIPT
    BashComplete.source_template = _SCRIPT


@dataclass(frozen=True, slots=True)
class Line:
    """A command line that somebody writes, up to the cursor."""

    #: Without quotes; the last one is what is to be completed, and may be empty.
    words: tuple[str, ...]
    #: What of the last word stays, since bash does not replace it.
    kept: str
    #: The quote that is open at the cursor, if one is.
    quote: str
    #: Whether the last word is where something is read from or written to.
    is_redirected: bool

    @classmethod
    def read(cls, text: str, breaks: str) -> Self:
        """Read a line as bash does; `breaks` are its COMP_WORDBREAKS."""
        words: list[str] = []
        word, kept, kept_outside, quote = "", "", "", ""
        has_word = is_escaped = skips_word = False
        for letter in text:
            if is_escaped:
                keeps_backslash = quote and not _SPECIAL_IN_QUOTES.match(letter)
                word += f"\\{letter}" if keeps_backslash else letter
                is_escaped = False
            elif letter == "\\" and quote != "'":
                is_escaped = has_word = True
            elif quote:
                if letter == quote:
                    quote, kept = "", kept_outside
                else:
                    word += letter
            elif letter in _SEPARATORS or letter in _REDIRECTIONS:
                if has_word and not skips_word:
                    words.append(word)
                skips_word = letter in _REDIRECTIONS or (skips_word and not has_word)
                word, kept, has_word = "", "", False
            else:
                has_word = True
                if letter in "\"'":
                    quote, kept, kept_outside = letter, word, kept
                else:
                    if letter in _KEPT_NOT and letter in breaks:
                        kept = word
                    word += letter
                    if letter in breaks and letter not in _KEPT_NOT:
                        kept = word
        return cls((*words, word), kept, quote, skips_word)

    @classmethod
    def asked(cls, environment: MutableMapping[str, str]) -> Self | None:
        """Return what our script asks for, and tell Typer in its own words; None if none does."""
        if _LINE not in environment:
            return None
        line = cls.read(environment[_LINE], environment.get(_BREAKS, ""))
        environment["COMP_WORDS"] = shlex.join(line.words)
        environment["COMP_CWORD"] = str(len(line.words) - 1)
        return line

    def completed(self, offers: Iterable[str]) -> list[str]:
        """Return what bash is to put in the place of what it replaces, for each of some values."""
        if self.is_redirected:
            return []
        option = OPTION.match(self.words[-1])
        wholes = (f"{option[0] if option else ''}{offer}" for offer in offers)
        return [
            self._quoted(whole.removeprefix(self.kept))
            for whole in wholes
            if whole.startswith(self.kept)
        ]

    def _quoted(self, text: str) -> str:
        if self.quote == "'":
            return text.replace("'", "'\\''")
        special = _SPECIAL_IN_QUOTES if self.quote else _SPECIAL
        return special.sub(r"\\\1", text)
