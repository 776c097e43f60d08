"""What the web page costs a browser, and whether a long match stays smooth: `make bench-page`.

A real Chromium watches a match of a thousand plies that two human seats play over HTTP. What it
works for a live ply is told for the first and for the last hundred plies, in one run, so the ratio
does not depend on the machine.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import CDPSession, Page

from benchmarks.service import service
from engine import Game
from tests.support.browser import installed_chromium, running_chromium

PLIES = 1_000
SAMPLE = 100
STEPS = 200
#: In seconds, between live plies of the samples: faster than people and models play.
PACE = 0.05
#: In milliseconds: what keeps the page busy for longer than that is felt.
LONG_TASK = 50
_WORK = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
_OBSERVE = """
() => {
  window.longTasks = [];
  const observer = new PerformanceObserver((list) =>
    window.longTasks.push(...list.getEntries().map((each) => each.duration)));
  observer.observe({ type: "longtask", buffered: true });
}
"""


def long_game(plies: int, seed: int = 1) -> list[str]:
    """Return moves of a game that does not end for so many plies: nobody takes unless he must."""
    dice, game, moves = random.Random(seed), Game(), []
    while len(moves) < plies:
        legal = list(game.position.legal_moves())
        dice.shuffle(legal)
        legal.sort(key=lambda move: game.position.piece_at(move.to_square) is not None)
        for move in legal:
            game.play(move)
            if not game.is_over:
                moves.append(move.uci())
                break
            game.undo()
        else:
            raise RuntimeError("every move ends the game")
    return moves


class Hands:
    """Both players of a match."""

    def __init__(self, client: httpx.Client, moves: list[str]) -> None:
        self._client, self._moves = client, moves
        body = {"white": "human", "black": "human"}
        match = client.post("/api/matches", json=body).raise_for_status().json()
        self.match_id = match["id"]
        self._tokens = [match["seats"][color]["token"] for color in ("white", "black")]
        self.played = 0

    def play(self, plies: int, pace: float = 0) -> None:
        """Play on."""
        for _ in range(plies):
            headers = {"X-Seat-Token": self._tokens[self.played % 2]}
            move = {"move": self._moves[self.played]}
            path = f"/api/matches/{self.match_id}/moves"
            self._client.post(path, json=move, headers=headers).raise_for_status()
            self.played += 1
            time.sleep(pace)


def worked(session: CDPSession) -> float:
    """Return the milliseconds that scripts, styles and layout of the page have taken until now.

    Painting is left out: without a graphics card, as here, it is nearly all that there is.
    """
    metrics: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
    return 1000 * sum(each["value"] for each in metrics if each["name"] in _WORK)


def shows(page: Page, plies: int) -> None:
    """Wait until the page shows so many plies."""
    page.wait_for_function("(n) => document.querySelectorAll('.move').length === n", arg=plies)


def weight(page: Page) -> str:
    """Return how much it took to show what is shown now, without what was asked of the API."""
    script = (
        "performance.getEntriesByType('resource').map((each) => [each.name, each.encodedBodySize])"
    )
    files = [size for name, size in page.evaluate(script) if "/assets/" in name]
    return f"{sum(files) / 1000:.0f} kB in {len(files)} files, compressed"


def main() -> None:
    """Print the table."""
    moves = long_game(PLIES + 1)
    rows: list[tuple[str, str]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        service(Path(folder)) as served,
        running_chromium(installed_chromium()) as browser,
    ):
        client = served.client
        address = str(client.base_url).rstrip("/")
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        hands = Hands(client, moves)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        page.goto(f"{address}/matches/{hands.match_id}")
        hands.play(2)
        shows(page, 2)
        rows.append(("the page of a match itself", weight(page)))
        live = []
        for plies in (SAMPLE, PLIES - 2 * SAMPLE - 2, SAMPLE):
            page.evaluate(_OBSERVE)
            before = worked(session)
            hands.play(plies, PACE if plies == SAMPLE else 0)
            shows(page, hands.played)
            live.append((worked(session) - before) / plies)
        felt = page.evaluate(f"window.longTasks.filter((each) => each > {LONG_TASK}).length")
        rows.append((f"a live ply among the first {SAMPLE}", f"{live[0]:.1f} ms"))
        rows.append((f"a live ply among the last {SAMPLE} of {PLIES}", f"{live[2]:.1f} ms"))
        rows.append(("ratio", f"{live[2] / live[0]:.2f}"))
        rows.append((f"of these, tasks over {LONG_TASK} ms", str(felt)))
        began, before = time.perf_counter(), worked(session)
        page.goto(f"{address}/matches/{hands.match_id}")
        shows(page, PLIES)
        seconds = time.perf_counter() - began
        # A new document counts anew.
        work = worked(session)
        work -= before if work > before else 0
        rows.append((f"opening the match at ply {PLIES}", f"{seconds:.2f} s, work {work:.0f} ms"))
        page.evaluate(_OBSERVE)
        before = worked(session)
        for _ in range(STEPS):
            page.keyboard.press("ArrowLeft")
        each = (worked(session) - before) / STEPS
        felt = page.evaluate(f"window.longTasks.filter((each) => each > {LONG_TASK}).length")
        rows.append(("leafing back by a ply", f"{each:.1f} ms, {felt} over {LONG_TASK} ms"))
    print("\n| what | |\n| --- | ---: |")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
