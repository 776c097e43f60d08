"""A real browser, the system's Chromium, and all that it complains of while it shows the page.

    with running_chromium(installed_chromium()) as chromium:
        with Visitor(chromium, service.url) as visitor:
            page = visitor.open("/", color_scheme="dark")
            page.get_by_role("link", name="New match").click()
            check_accessibility(page)

Playwright's own thread of control is that of the test: no event loop may be run in a module that
has a browser, so it ends with the module.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    WebError,
    expect,
    sync_playwright,
)

from tests.support.processes import HANGS_AFTER

#: Names the program, and no other is looked for.
VARIABLE = "KIBITZ_CHROMIUM"
#: The same as in scripts/install-chromium.
_PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
_FOLDERS = ("/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/homebrew/bin")
_APPLICATIONS = ("Google Chrome", "Chromium")
#: Besides those that Playwright gives, which keep it from phoning home.
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-proxy-server",
    # Nothing but the service can be reached, whatever the page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
#: In milliseconds.
_PATIENCE = HANGS_AFTER * 1000 / 3
_DESKTOP = {"width": 1280, "height": 800}
_ACCESSIBILITY = {
    "runOnly": {
        "type": "tag",
        "values": [
            *("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"),
            "best-practice",
        ],
    },
    "resultTypes": ["violations"],
}


# --- the program ---


def find_chromium() -> Path | None:
    """Return the program of Chromium or Chrome, if it is there."""
    if named := os.environ.get(VARIABLE):
        return _program(named)
    for name in _PROGRAMS:
        for place in (*(f"{folder}/{name}" for folder in _FOLDERS), name):
            if found := _program(place):
                return found
    for name in _APPLICATIONS:
        if found := _program(f"/Applications/{name}.app/Contents/MacOS/{name}"):
            return found
    return None


def _program(place: str) -> Path | None:
    found = shutil.which(place)
    return None if found is None else Path(found)


def installed_chromium() -> Path:
    """Return the program, or skip the test; fail it where a browser should be there."""
    found = find_chromium()
    if found is None:
        named = os.environ.get(VARIABLE)
        reason = "Chromium is not installed" if not named else f"{VARIABLE}={named} is no program"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}: run scripts/install-chromium")
        pytest.skip(f"{reason}: run scripts/install-chromium")
    return found


@contextmanager
def running_chromium(program: Path) -> Iterator[Browser]:
    """Run the browser, without a window of its own; in the end nothing of it is left."""
    expect.set_options(timeout=_PATIENCE)
    with _untraced(), sync_playwright() as playwright:
        # Without a sandbox, which needs rights that containers lack: it shows our page only.
        browser = playwright.chromium.launch(
            executable_path=program, args=_ARGUMENTS, chromium_sandbox=False
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def _untraced() -> Iterator[None]:
    """Do not measure coverage of this thread, in which greenlets switch under the tracer's feet.

    Threads are measured, and so is a service that runs in one.
    """
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


# --- what it complains of ---


class Complaints:
    """All that went wrong in a browser: errors, warnings, failed requests, foreign requests."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._texts: list[str] = []
        self._expected: dict[str, int] = {}

    def expect(self, pattern: str, at_least: int = 1) -> None:
        """Say that complaints which have this pattern in them will come, at least so many.

        With 0 it is one that may come.
        """
        self._expected[pattern] = at_least

    def check(self) -> None:
        """See that nothing came but what was expected, and that this did."""
        unexpected = [
            text
            for text in self._texts
            if not any(re.search(pattern, text) for pattern in self._expected)
        ]
        assert not unexpected, "the browser complains:\n" + "\n".join(unexpected)
        for pattern, at_least in self._expected.items():
            count = sum(bool(re.search(pattern, text)) for text in self._texts)
            assert count >= at_least, f"{count} complaints like {pattern!r}, of {self._texts}"

    def listen(self, context: BrowserContext) -> None:
        """Hear what all pages of a context have to say."""
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("page", lambda page: page.on("crash", self._crash))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            place = message.location
            where = f"{place.get('url')}:{place.get('lineNumber')}"
            self._texts.append(f"console {message.type}: {message.text} ({where})")

    def _error(self, error: WebError) -> None:
        self._texts.append(f"error of the page: {error.error}\n{error.error.stack or ''}")

    def _crash(self, page: Page) -> None:
        self._texts.append(f"crash: {page.url}")

    def _request(self, request: Request) -> None:
        if _is_foreign(request.url, self._origin):
            self._texts.append(f"foreign request: {request.method} {request.url}")

    def _failed(self, request: Request) -> None:
        # The page itself lets go of a stream when it has no more use for it.
        if request.failure != "net::ERR_ABORTED":
            self._texts.append(f"failed: {request.method} {request.url}: {request.failure}")


def _is_foreign(url: str, origin: str) -> bool:
    there, here = urlsplit(url), urlsplit(origin)
    if there.scheme in ("data", "blob", "about"):  # made by the page, and not fetched
        return False
    return (there.scheme, there.netloc) != (here.scheme, here.netloc)


# --- who looks at the page ---


class Visitor:
    """Somebody with browsers of their own, who looks at the page of a service.

    To be entered; in the end nothing may have been complained of.
    """

    def __init__(self, browser: Browser, url: str) -> None:
        self.complaints = Complaints(url)
        self._browser = browser
        self._url = url
        self._contexts: list[BrowserContext] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        try:
            self.hear()
            self.complaints.check()
        finally:
            for context in self._contexts:
                context.close()

    def open(self, path: str | None = None, **options: Any) -> Page:
        """Open a page in a context of its own, with storage of its own, and go to a path.

        The options are those of `Browser.new_context`, such as `viewport`, `color_scheme` and
        `reduced_motion`.
        """
        defaults: dict[str, Any] = {
            "base_url": self._url,
            "viewport": _DESKTOP,
            "locale": "en-GB",
            "timezone_id": "UTC",
        }
        context = self._browser.new_context(**(defaults | options))
        self._contexts.append(context)
        context.set_default_timeout(_PATIENCE)
        self.complaints.listen(context)
        page = context.new_page()
        if path is not None:
            page.goto(path)
        return page

    def hear(self) -> None:
        """Take in what has been complained of so far, and is still on its way."""
        for context in self._contexts:
            for page in context.pages:
                with contextlib.suppress(Error):  # it has crashed, and that is a complaint
                    page.evaluate("0")


def check_accessibility(page: Page) -> None:
    """See that axe-core finds nothing which keeps people from using what is shown now."""
    found = Axe().run(page, options=_ACCESSIBILITY).response["violations"]
    told = [
        f"{each['id']} ({each['impact']}): {each['help']}, see {each['helpUrl']}\n"
        + "\n".join(f"    {node['target']}: {node['html']}" for node in each["nodes"])
        for each in found
    ]
    assert not told, "not accessible:\n" + "\n".join(told)
