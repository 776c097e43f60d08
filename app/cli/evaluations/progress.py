"""How far an evaluation is, while one waits: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import typer

from app.cli.boards.drawing import Drawing
from app.cli.evaluations.texts import (
    agent_texts,
    duration_text,
    games_text,
    progress_line,
    spending_text,
    sprt_text,
)
from app.cli.processes.stopping import Leaving

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

#: How many agents are shown at a time.
_MOST_AGENTS = 10
#: In seconds: how often a line is printed where there is no terminal.
_EVERY = 30.0


class Show(Leaving, Protocol):
    """Whatever shows progress. To be entered."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Show nothing any more."""

    def show(self, progress: Mapping[str, Any]) -> None:
        """Show how far it is."""

    def hush(self) -> None:
        """Show nothing any more: the terminal is gone."""


def show_of(name: str) -> Show:
    """Return what shows the progress of an evaluation on standard error."""
    from rich.console import Console

    console = Console(stderr=True)
    return Bars(name, console) if console.is_terminal else Lines()


class Lines:
    """Prints a line now and then."""

    def __init__(self, every: float = _EVERY) -> None:
        self._every = every
        self._told_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def show(self, progress: Mapping[str, Any]) -> None:
        """Print a line, unless there was one a moment ago."""
        if time.monotonic() - self._told_at >= self._every:
            self._told_at = time.monotonic()
            typer.echo(progress_line(progress), err=True)

    def hush(self) -> None:
        """Print nothing any more."""
        self._every = float("inf")

    def leave(self) -> None:
        """Have nothing on the terminal that could be taken away."""

    def come_back(self) -> None:
        """Go on."""


class Bars:
    """Draws a bar, and below it how each agent stands."""

    def __init__(self, name: str, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
        self._console = console
        self._bar = Progress(*columns)
        self._task = self._bar.add_task("", total=None, told="")
        self._name = name
        self._picture: RenderableType = self._bar
        self._drawing = Drawing(console, lambda: self._picture, is_transient=True, per_second=4)

    def __enter__(self) -> Self:
        self.come_back()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Draw no more, and give the terminal back."""
        self._drawing.leave()

    def come_back(self) -> None:
        """Draw where the terminal has got to."""
        self._drawing.come_back()

    def show(self, progress: Mapping[str, Any]) -> None:
        """Draw how far it is."""
        from rich.markup import escape

        games, eta = progress["games"], progress.get("eta_ms")
        left = "" if eta is None else f"{duration_text(eta)} left"
        if progress["phase"] == "analysing":
            left = f"{progress['analysed']} analysed"
        told = ", ".join(filter(None, (games_text(progress), left, spending_text(progress))))
        self._bar.update(
            self._task,
            description=escape(self._name),
            completed=games["scored"],
            total=max(games["expected"], games["scored"], 1),
            told=escape(told),
        )
        self._picture = self._drawn(progress)

    def _drawn(self, progress: Mapping[str, Any]) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        agents = agent_texts(progress)
        lines = [f"  {each}" for each in agents[:_MOST_AGENTS]]
        if len(agents) > _MOST_AGENTS:
            lines.append(f"  and {len(agents) - _MOST_AGENTS} more")
        lines += [f"  {each}" for each in (sprt_text(progress), progress["waiting"]) if each]
        return Group(self._bar, *(Text(line, overflow="ellipsis", no_wrap=True) for line in lines))

    def hush(self) -> None:
        """Draw nothing any more."""
        self._console.quiet = True
