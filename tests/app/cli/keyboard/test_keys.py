"""Keys that are pressed while something is shown, on a terminal that may go away."""

import sys

import pytest

from tests.support.terminal import on_terminal

pytestmark = pytest.mark.usefixtures("measured_processes")

WATCHED = """
import asyncio, os, signal
from contextlib import suppress

from app.cli.keyboard.keys import keys_pressed

def tell(words):
    with suppress(OSError):  # they may have been seen, and the terminal be gone, before their end
        os.write(1, words)

async def main():
    loop, gone, faults = asyncio.get_running_loop(), asyncio.Event(), []
    loop.set_exception_handler(lambda loop, context: faults.append(context))
    loop.add_signal_handler(signal.SIGHUP, gone.set)
    with keys_pressed({"k": lambda: tell(b"pressed")}):
        tell(b"ready")
        await gone.wait()
        for _ in range(3):  # so that what can be read is read
            await asyncio.sleep(0)
    return len(faults)

raise SystemExit(asyncio.run(main()))
"""


def test_a_terminal_that_goes_away_is_no_fault():
    with on_terminal("-c", WATCHED, command=sys.executable) as terminal:
        terminal.see("ready")
        terminal.type("k")
        terminal.see("pressed")
        assert terminal.hang_up() == 0
