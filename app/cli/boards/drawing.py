"""Drawing: a picture that is drawn anew, again and again, where a terminal has got to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live


class Drawing:
    """A picture on a terminal. To be entered; it may leave and come back meanwhile."""

    def __init__(
        self,
        console: Console,
        picture: Callable[[], RenderableType],
        *,
        is_transient: bool = False,
        per_second: float = 10,
    ) -> None:
        """A transient picture is gone at the end; else the last one stays."""
        self._console = console
        self._picture = picture
        self._is_transient = is_transient
        self._per_second = per_second
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self.come_back()
        return self

    def __exit__(self, *_error: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Draw no more, and give the terminal back."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def come_back(self) -> None:
        """Draw where the terminal has got to; an old `Live` would draw over what came between."""
        from rich.live import Live

        self._live = Live(
            console=self._console,
            get_renderable=self._picture,
            transient=self._is_transient,
            refresh_per_second=self._per_second,
            # Else Rich would print to its console, which may be standard error, what is for a file.
            redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
        )
        self._live.start()
