"""The worker process: questions come in as lines, answers go out as lines.

A thread reads, so that a search can be told to stop, and so that the process ends with its parent:
however that ended, the pipe is then closed, and at that it exits at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import BinaryIO, TypeAlias

from agents.classical.thinking import Question, think

READY = b"ready\n"

#: A question and when it came; None at the end.
_Asked: TypeAlias = "tuple[Question, float] | None"


class Worker:
    """Answers one question after the other. A `stop` ends what was asked before it."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._asked: SimpleQueue[_Asked] = SimpleQueue()
        self._stopped = 0  # the number of the last question that nobody waits for

    def listen(self, lines: Iterable[bytes], at_end: Callable[[], None]) -> None:
        """Take in lines until there are no more, then call `at_end`."""
        for line in lines:
            message = json.loads(line)
            if "stop" in message:
                self._stopped = max(self._stopped, message["stop"])
            else:
                self._asked.put((Question.read(message["ask"]), time.monotonic()))
        self._asked.put(None)
        at_end()

    def answer(self) -> None:
        """Answer until the end of input."""
        while (asked := self._asked.get()) is not None:
            question, came = asked
            number = question.number
            answer = think(question, came, lambda: self._stopped >= number)  # noqa: B023
            self._output.write(answer.line().encode() + b"\n")
            self._output.flush()


def main() -> None:
    """Serve the parent by standard input and output."""
    worker = Worker(sys.stdout.buffer)
    # At the end of input nobody is there to be told anything: not even a search is worth ending.
    reader = threading.Thread(
        target=worker.listen, args=(sys.stdin.buffer, lambda: os._exit(0)), daemon=True
    )
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    reader.start()
    try:
        worker.answer()
    except BrokenPipeError:
        os._exit(0)  # the parent is gone


if __name__ == "__main__":
    main()
