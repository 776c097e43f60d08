"""The command line: `kibitz`. Its commands are in `commands`."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TYPE_CHECKING

from app.garbage import ease

if TYPE_CHECKING:
    from typer.exceptions import TyperException

#: What a full or broken disk answers to those who write. (Typer sees to readers that go away.)
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
#: As a shell has it, of what SIGINT ended.
_INTERRUPTED = 130


def main() -> None:
    """Run `kibitz`: a user's mistake gets one sentence and exit code 2, never a traceback.

    Output that cannot be written gets one sentence, too, and exit code 1.
    """
    ease()  # else a tenth of the time until a command begins goes into looking for garbage
    _fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # Where only ASCII can be written, a question mark is better than no answer.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    try:
        try:
            code = _run()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # while it was still importing; later, Typer sees to it
        code = _INTERRUPTED
    except OSError as error:
        if error.errno not in _OUTPUT_ERRORS:
            raise
        from app.cli.complaints import complain
        from app.cli.processes.output import forget_output

        forget_output()

        with contextlib.suppress(OSError):
            complain(f"the output cannot be written: {error.strerror}")
        code = 1
    if code:
        sys.exit(code)


def _fill_closed_streams() -> None:
    """Let whoever has closed our output get none, as if it went to the null device.

    Files that are opened later would take its place, and be written to by programs that we start.
    The same holds for the input; to read from a closed one is a mistake of which commands tell.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _run() -> int:
    """Run the command that the arguments name, and return the exit code."""
    # What takes a while to import is imported in here, where Ctrl-C is no traceback.
    from typer.exceptions import Abort, TyperException

    from agents.errors import AgentError
    from app.cli.commands import run
    from app.cli.complaints import complain
    from app.cli.completion.shells import answer, is_asked_by_shell
    from app.errors import AppError
    from engine import RulesError

    if is_asked_by_shell():
        return answer()
    try:
        return run()
    except TyperException as error:
        return _explain(error)
    except Abort:
        complain("standard input has ended before there was an answer")
        return 1
    except (RulesError, AgentError, AppError) as error:
        complain(str(error))
        return 2


def _explain(error: TyperException) -> int:
    """Say what is wrong with the arguments, and return the exit code."""
    import typer

    from app.cli.complaints import complain

    sentence = error.format_message()
    if isinstance(error, typer.BadParameter) and error.param is None and error.message:
        sentence = error.message  # a command has found it, and named the option
    context: typer.Context | None = getattr(error, "ctx", None)
    if sentence:  # else it was the help, since nothing else was asked for
        # Pydantic, by which values are read, says so first of each that we have refused.
        complain(" ".join(sentence.replace("Value error, ", "").split()))
        if context is not None:
            hint = f"Try '{context.command_path} {context.help_option_names[-1]}' for help."
            typer.echo(hint, err=True)
    return error.exit_code
