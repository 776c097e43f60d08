"""Keys: what is pressed on a terminal while something is shown there, without Enter and unseen."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

_ESCAPE = b"\x1b"


@contextmanager
def keys_pressed(deeds: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Do what belongs to a key when it is pressed, and leave the terminal as it was.

    Ctrl-C and Ctrl-Z do what they always do. Where nobody can press a key, nothing is done.
    """
    descriptor = _keyboard()
    if descriptor is None:
        yield
        return
    import termios  # not on every system, but wherever there was a keyboard
    import tty

    def read() -> None:
        try:
            typed = os.read(descriptor, 1024)
        except OSError:  # the terminal is gone
            typed = b""
        if not typed:
            loop.remove_reader(descriptor)
        elif not typed.startswith(_ESCAPE):  # an arrow or the like is no letter
            for key in typed.decode(errors="ignore"):
                if deed := deeds.get(key.lower()):
                    deed()

    def restore(modes: list[Any]) -> None:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, modes)

    def take_again() -> None:
        with suppress(termios.error):  # who closes a terminal wakes whoever is stopped there
            tty.setcbreak(descriptor)

    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        modes = termios.tcgetattr(descriptor)
        # What was typed blindly is not for the shell.
        stack.callback(restore, modes)
        tty.setcbreak(descriptor)
        loop.add_reader(descriptor, read)
        stack.callback(loop.remove_reader, descriptor)
        # A shell has its own modes while we are stopped.
        loop.add_signal_handler(signal.SIGCONT, take_again)
        stack.callback(loop.remove_signal_handler, signal.SIGCONT)
        yield


def _keyboard() -> int | None:
    """Return the terminal that is typed at, if it is and we are in front."""
    try:
        descriptor = sys.stdin.fileno()
        is_ours = os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except (AttributeError, OSError, ValueError):  # there is none, or it is closed
        return None
    return descriptor if is_ours else None
