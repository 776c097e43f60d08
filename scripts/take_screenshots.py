"""Take the pictures of the page for the docs, of real matches: `make screenshots`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
KIBITZ = Path(sys.executable).with_name("kibitz")
DESKTOP = {"width": 1200, "height": 800}
#: A minute, at the most, until something is to be seen.
PATIENCE_MS = 60_000

sys.path.insert(0, str(ROOT))
from benchmarks.service import service  # noqa: E402
from tests.support.browser import installed_chromium, running_chromium  # noqa: E402


@contextmanager
def looking(browser: Browser, address: str, path: str, **options: Any) -> Iterator[Page]:
    """Look at a page of the service."""
    settings: dict[str, Any] = {"viewport": DESKTOP, "base_url": address} | options
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(path)
    yield page
    context.close()


def take(page: Page, name: str) -> None:
    """Take a picture once everything that moves stands still."""
    page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
    page.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")


def start(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """Start a match."""
    match: dict[str, Any] = client.post("/api/matches", json=body).raise_for_status().json()
    return match


def take_all(browser: Browser, client: httpx.Client) -> None:
    """Let matches be played, and take all pictures."""
    address = str(client.base_url).rstrip("/")
    timed = {"time_control": "300+3", "analysis": True}
    thinking = {"name": "classical", "time_ms": 1500}
    shown = start(client, white=thinking, black="stockfish:6", opening="C65", **timed)
    for white, black, opening in (
        ("stockfish:7", thinking, "D37"),
        (thinking, "stockfish:5", "B90"),
        (thinking, thinking, "A01"),
        ("stockfish:4", thinking, "E62"),
    ):
        start(client, white=white, black=black, opening=opening, **timed)
    with looking(browser, address, f"/matches/{shown['id']}") as page:
        page.locator(".move").nth(27).wait_for()
        page.locator(".advice.selector").first.wait_for()
        take(page, "match")
    with looking(browser, address, "/") as page:
        page.locator("kibitz-board .piece").nth(60).wait_for()
        take(page, "lobby")
    with looking(browser, address, "/evaluations") as page:
        page.locator("main a[href^='/evaluations/0']").first.click()
        page.locator("main img[src^='blob:']").first.wait_for()
        page.locator("main img[src^='blob:']").first.scroll_into_view_if_needed()
        take(page, "evaluation")
    with looking(browser, address, "/leaderboard") as page:
        page.locator("main tbody tr").first.wait_for()
        take(page, "leaderboard")
    cooking = start(client, white="human", black="solver", variant="kings-cooking")
    seat = f"#seat=white:{cooking['seats']['white']['token']}"
    dark: dict[str, Any] = {"color_scheme": "dark"}
    with looking(browser, address, f"/matches/{cooking['id']}{seat}", **dark) as page:
        page.locator("#typed-move").fill("Rxa3")
        page.keyboard.press("Enter")
        page.locator(".move").nth(1).wait_for()
        page.locator("[data-square=a3]").click()
        take(page, "kings-cooking")
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
    with looking(browser, address, f"/matches/{shown['id']}", **phone, **dark) as page:
        page.locator(".move").first.wait_for()
        take(page, "phone")


def main() -> None:
    """Measure somebody, so that there is something to compare; then serve, and take pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"KIBITZ_DATA_FOLDER": folder}
        command = [
            str(KIBITZ),
            "eval",
            "run",
            str(ROOT / "plans" / "ci.toml"),
            "--output",
            f"{folder}/report",
        ]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        with service(Path(folder)) as served, running_chromium(installed_chromium()) as browser:
            take_all(browser, served.client)


if __name__ == "__main__":
    main()
