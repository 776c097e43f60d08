"""Line editor: lines that are edited at a terminal, while above them the game goes on."""

from __future__ import annotations

import asyncio
import io
import signal
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from agents.timekeeping import now
from app.cli.processes.output import unless_hung_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.cli.boards.play_screen import ConsoleScreen
    from app.play.session import Session

#: In seconds: how often clocks that run are drawn.
_TICK = 0.1
#: In seconds: how long the line may take to vanish when the program is ended.
_PATIENCE = 2.0


class Above(io.TextIOBase):
    """Standard output while a line is edited: what is written comes above it.

    (`patch_stdout` does that from a thread, which may write into the middle of the next prompt.)
    """

    def __init__(self, app: Application[str]) -> None:
        self._app = app
        self._waiting: list[str] = []
        self._writing: asyncio.Future[None] | None = None

    def write(self, text: str) -> int:
        """Have it written as soon as the line can give way; at once, if none is edited."""
        self._waiting.append(text)
        if not self._app.is_running:
            self.flush()
        elif not self.is_writing:
            self._writing = asyncio.ensure_future(run_in_terminal(self._write_now))
        return len(text)

    def flush(self) -> None:
        """Write what waits, unless a line is edited, which will give way."""
        if not self._app.is_running:
            self._write_now()

    def _write_now(self) -> None:
        text, self._waiting = "".join(self._waiting), []
        with unless_hung_up():
            self._app.output.write_raw(text)
            self._app.output.flush()

    @property
    def is_writing(self) -> bool:
        """Whether the line gives way just now."""
        return self._writing is not None and not self._writing.done()

    def isatty(self) -> bool:
        """Return that it is a terminal, or there would be no editing."""
        return True

    def fileno(self) -> int:
        """Return the file behind it."""
        return self._app.output.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override] # as it is of files, too
        """The encoding of the terminal."""
        return self._app.output.encoding()


class _Interrupted(Exception):
    """Ctrl-C on an empty line; `KeyboardInterrupt` in a task would end the loop."""


class LineEditor:
    """Has lines edited, with a history, completion, and the status below, and has them obeyed."""

    def __init__(self, session: Session, screen: ConsoleScreen) -> None:
        self._session = session
        self._prompt: PromptSession[str] = PromptSession(
            completer=_Offers(session),
            complete_while_typing=False,
            key_bindings=_keys(),
            enable_suspend=True,
        )
        self._above = Above(self._prompt.app)
        self._obeying: asyncio.Task[None] | None = None
        self._is_broken_off = False
        screen.refreshed = self._prompt.app.invalidate

    async def run(self) -> None:
        """Take lines until somebody leaves."""
        with redirect_stdout(self._above), self._interruptible():
            ticking = asyncio.ensure_future(self._tick())
            try:
                while not self._session.has_left:
                    await self._take_one()
            finally:
                ticking.cancel()
                await asyncio.wait({ticking})
                self._above.flush()

    async def _take_one(self) -> None:
        session = self._session
        self._is_broken_off = False
        try:
            lines = await self._edited()
        except _Interrupted:
            await self._do(session.interrupt())
        except EOFError:
            await self._do(session.end())
        else:
            if not self._is_broken_off:
                await self._do(self._obey(lines.rstrip("\n").split("\n")))

    async def _edited(self) -> str:
        """Return what was written until Enter; raises `_Interrupted` or `EOFError`."""
        editing = asyncio.ensure_future(
            self._prompt.prompt_async(
                lambda: self._session.prompt,
                bottom_toolbar=self._status,
                handle_sigint=False,  # it would forget our handler in the end
            )
        )
        try:
            await asyncio.wait({editing})
        finally:
            if not editing.done():  # then we are ended ourselves
                editing.cancel()
                # Where the terminal is gone, it may wait for what cannot be written any more.
                await asyncio.wait({editing}, timeout=_PATIENCE)
        return editing.result()

    async def _obey(self, lines: Sequence[str]) -> None:
        """Have lines obeyed, of which there are several if they were pasted; each in its turn."""
        session = self._session
        for number, line in enumerate(lines):
            if number:
                await session.sitting.settled()
            if session.has_left:
                return
            await session.obey(line)

    async def _do(self, deed: Coroutine[Any, Any, None]) -> None:
        """Do something that Ctrl-C can break off."""
        self._obeying = asyncio.ensure_future(deed)
        try:
            await asyncio.wait({self._obeying})
        finally:
            if not self._obeying.done():  # then we are ended ourselves
                self._obeying.cancel()
                await asyncio.wait({self._obeying})
        if not self._obeying.cancelled():
            self._obeying.result()

    # --- keys and signals ---

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        """Take SIGINT, as the key sends it while no line is edited."""
        app = self._prompt.app
        if self._obeying is not None and not self._obeying.done():
            self._obeying.cancel()
        elif app.is_running and not app.is_done and not self._above.is_writing:
            # While something is written the terminal itself forgets what was typed.
            _clear_or_interrupt(app)
        elif app.is_done:
            self._is_broken_off = True  # Enter was pressed, and nothing done yet

    # --- what is to be seen ---

    def _status(self) -> StyleAndTextTuples:
        columns = self._prompt.app.output.get_size().columns
        # A line that is full would make some terminals begin another.
        lines = self._session.status(now(), max(columns - 1, 1))
        return [("class:bottom-toolbar", "\n".join(lines))]

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            if self._session.has_running_clock:
                self._prompt.app.invalidate()


class _Offers(Completer):
    """Offers what a session has to offer, to whoever presses Tab."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Offer nothing: whoever asks so cannot wait."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Offer what the line before the cursor may go on with."""
        end, offers = await self._session.offers(document.text_before_cursor)
        for each in offers:
            yield Completion(each, start_position=-len(end))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    def _interrupt(event: KeyPressEvent) -> None:
        _clear_or_interrupt(event.app)

    return keys


def _clear_or_interrupt(app: Application[str]) -> None:
    """Forget what was typed; if there is nothing, leave the prompt."""
    if app.current_buffer.text:
        app.current_buffer.reset()
    else:
        app.exit(exception=_Interrupted)
