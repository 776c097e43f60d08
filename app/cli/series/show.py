"""How far a series of games is: a live board, a bar, a line for each game, or nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import typer

from agents.timekeeping import now
from app.cli.boards.board import Look
from app.cli.boards.drawing import Drawing
from app.cli.boards.scene import Scene
from app.cli.evaluations.progress import Bars
from app.cli.processes.stopping import Leaving
from app.cli.series.texts import elo_text, game_sentence, score_text
from app.evaluations.games import PlayedGame
from app.evaluations.schedules.schedule import Slot
from app.evaluations.scores import Score
from app.matches.events import Event
from app.matches.settings import budget_json
from app.series.plan import SeriesPlan
from app.series.results import SeriesResult
from app.series.series import Watcher

if TYPE_CHECKING:
    from rich.console import Console

    from app.cli.boards.picture import Picture

#: In seconds: how soon the standings are worked out anew, which takes a while after many games.
_SOONEST = 0.2


class Show(Watcher, Leaving, Protocol):
    """A watcher that shows what it hears. To be entered."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def hush(self) -> None:
        """Show nothing any more: the terminal is gone."""


def show_of(plan: SeriesPlan, *, quiet: bool, lines_to_err: bool) -> Show:
    """Return what shows a series: on a terminal standard error is drawn on."""
    from rich.console import Console

    if quiet:
        return Silence()
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        return GameLines(plan, err=lines_to_err)
    return BoardShow(plan, console) if plan.concurrency == 1 else BarShow(plan, console)


class Silence:
    """Shows nothing but faults."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave nothing behind."""

    def hush(self) -> None:
        """Stay as it is."""

    def leave(self) -> None:
        """Have nothing on the terminal that could be taken away."""

    def come_back(self) -> None:
        """Go on."""

    def began(self, slot: Slot) -> None:
        """Let it pass."""

    def told(self, slot: Slot, event: Event) -> None:
        """Let it pass."""

    def said(self, slot: Slot, by: str, words: str) -> None:
        """Let it pass."""

    def ended(self, game: PlayedGame, so_far: Callable[[], SeriesResult]) -> None:
        """Let it pass."""

    def noted(self, sentence: str) -> None:
        """Say on standard error what went wrong."""
        typer.echo(f"kibitz: {sentence}", err=True)


class GameLines(Silence):
    """Prints a line for each game; a single one is told by the result alone."""

    def __init__(self, plan: SeriesPlan, *, err: bool) -> None:
        self._plan = plan
        self._err = err
        self._is_hushed = False
        self._games: list[PlayedGame] = []

    def ended(self, game: PlayedGame, so_far: Callable[[], SeriesResult]) -> None:
        """Print the game, and how the first player stands."""
        if self._plan.games == 1 or self._is_hushed:
            return
        self._games.append(game)
        first = self._plan.labels[0]
        stands = score_text(first, Score.of(first, self._games))
        typer.echo(f"Game {game.number}: {game_sentence(game)}; {stands}", err=self._err)

    def hush(self) -> None:
        """Print nothing any more."""
        self._is_hushed = True


class BarShow(Silence):
    """Draws a bar, and how the players stand."""

    def __init__(self, plan: SeriesPlan, console: Console) -> None:
        self._plan = plan
        self._bars = Bars(" - ".join(plan.labels), console)
        self._drawn_at = -_SOONEST
        self._due: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._bars.__enter__()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._due is not None:
            self._due.cancel()
        self._bars.__exit__(None, None, None)

    def hush(self) -> None:
        """Draw nothing any more."""
        self._bars.hush()

    def leave(self) -> None:
        """Draw no more, and give the terminal back."""
        self._bars.leave()

    def come_back(self) -> None:
        """Draw where the terminal has got to."""
        self._bars.come_back()

    def ended(self, game: PlayedGame, so_far: Callable[[], SeriesResult]) -> None:
        """Have it drawn how it stands: soon, if that was done a moment ago."""
        if self._due is None:
            wait = max(0.0, self._drawn_at + _SOONEST - time.monotonic())
            self._due = asyncio.get_running_loop().call_later(wait, self._draw, so_far)

    def _draw(self, so_far: Callable[[], SeriesResult]) -> None:
        self._due = None
        self._drawn_at = time.monotonic()
        self._bars.show(progress_of(so_far()))


class BoardShow(Silence):
    """Draws the board of the game that is played."""

    def __init__(self, plan: SeriesPlan, console: Console) -> None:
        self._plan = plan
        self._console = console
        self._look = Look.of(console)
        self._scene = Scene()
        self._note = ""
        self._games: list[PlayedGame] = []
        self._score = Score()
        self._drawing = Drawing(console, self._picture, is_transient=plan.games > 1)

    def __enter__(self) -> Self:
        self.come_back()
        return self

    def __exit__(self, *_error: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Draw no more, and give the terminal back."""
        self._drawing.leave()

    def come_back(self) -> None:
        """Draw where the terminal has got to."""
        self._drawing.come_back()

    def hush(self) -> None:
        """Draw nothing any more."""
        self._console.quiet = True

    def began(self, slot: Slot) -> None:
        """Draw another game from now on."""
        self._scene = Scene()
        if self._plan.games > 1:
            stands = score_text(self._plan.labels[0], self._score)
            self._note = f"Game {slot.number} of {self._plan.games}; {stands}"

    def told(self, slot: Slot, event: Event) -> None:
        """Have it seen when the board is next drawn."""
        self._scene = self._scene.after(event)

    def said(self, slot: Slot, by: str, words: str) -> None:
        """Have it seen when the board is next drawn."""
        self._scene = self._scene.hearing(by, words)

    def ended(self, game: PlayedGame, so_far: Callable[[], SeriesResult]) -> None:
        """Keep in mind how the first player stands."""
        self._games.append(game)
        self._score = Score.of(self._plan.labels[0], self._games)

    def _picture(self) -> Picture:
        from app.cli.boards.picture import Picture

        return Picture.of(self._scene, self._look, now(), note=self._note)


def progress_of(result: SeriesResult) -> dict[str, Any]:
    """Return how far a series is, as evaluations tell it."""
    plan, first = result.plan, result.plan.labels[0]
    done, budget = len(result.games), plan.rules.budget
    score = result.score_of(first)
    left = max(plan.games - done, 0)
    spent = [each.cost_usd for each in result.spent.values()]
    known = [each for each in spent if each is not None]
    return {
        "phase": "playing",
        "games": {"scored": done, "expected": plan.games},
        "eta_ms": round(result.elapsed.total_seconds() * 1000 / done * left) if done else None,
        "spent": {
            "calls": sum(each.calls for each in result.spent.values()),
            "tokens": sum(each.tokens for each in result.spent.values()),
            "cost_usd": str(sum(known, Decimal(0))) if len(known) == len(spent) else None,
        },
        "budget": budget_json(budget),
        "agents": [
            {
                "agent": first,
                "wins": score.wins,
                "draws": score.draws,
                "losses": score.losses,
                "rating": None,
            }
        ],
        "sprt": result.sprt(),
        # Short, since what the terminal echoes of Ctrl-C would break a line that is full.
        "waiting": elo_text(result),
    }
