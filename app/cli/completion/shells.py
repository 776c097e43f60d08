"""Shells: what they are answered when somebody presses Tab."""

from __future__ import annotations

import contextlib
import io
import os
import re

from typer._click.shell_completion import split_arg_string

from app.cli.completion.bash import OPTION, Line

#: Set by the scripts of `--show-completion`: `complete_bash`, `complete_zsh`, `complete_fish`, ...
_VARIABLE = "_KIBITZ_COMPLETE"
#: Set by the scripts of zsh and fish: the line up to the cursor.
_ARGUMENTS = "_TYPER_COMPLETE_ARGS"
#: What zsh is told begins so, and each line is an offer.
_ZSH_OFFER = re.compile(r"""^(?:_arguments '\*: :\(\()?\"""")


def is_asked_by_shell() -> bool:
    """Whether it is a shell that runs us, to learn what it may offer."""
    return os.environ.get(_VARIABLE, "").startswith("complete_")


def answer() -> int:
    """Print what a shell may offer, and return the exit code that it wants.

    Whatever else is printed would land in the middle of a line that somebody writes, so nothing is,
    also where something fails: the command itself will say what.
    """
    from app.cli.commands import run

    line = Line.asked(os.environ)
    printed, code = io.StringIO(), 1
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except Exception:
            return code
    offers = [each for each in printed.getvalue().splitlines() if each]
    if line is not None:
        offers = line.completed(offers)
    elif os.environ[_VARIABLE] == "complete_zsh":
        # Typer doubles the apostrophes within apostrophes, and then zsh sees none.
        offers = [each.replace("''", "'\\''") for each in offers]
        option = _option()
        offers = [_ZSH_OFFER.sub(lambda begin: begin[0] + option, each) for each in offers]
    elif os.environ[_VARIABLE] == "complete_fish":
        offers = [_option() + each for each in offers]
    for each in offers:
        print(each)
    return code


def _option() -> str:
    """Return what of the last word stands before the value: `--format=`, or nothing."""
    asked = os.environ.get(_ARGUMENTS, "")
    words = split_arg_string(asked)
    found = OPTION.match(words[-1]) if words and not asked.endswith(" ") else None
    return found[0] if found else ""
