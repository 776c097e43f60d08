"""What the other tests of the page rely on: no complaint of the browser is missed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.support.browser import Visitor, check_accessibility, find_chromium, installed_chromium
from tests.support.servers import Served, serving

PAGE = """<!doctype html>
<html lang="en"><head><title>{title}</title><link rel="icon" href="data:,"></head>
<body><main><h1>{title}</h1>{content}</main></body></html>"""
#: By path: what is on a page, and what is complained of.
MISDEEDS = {
    "/error": ("<script>console.error('too bad')</script>", "console error: too bad"),
    "/warning": ("<script>console.warn('beware')</script>", "console warning: beware"),
    "/assertion": ("<script>console.assert(false, 'no')</script>", "console assert: no"),
    "/exception": ("<script>nobody()</script>", "error of the page: nobody is not defined"),
    "/rejection": ("<script>Promise.reject(new Error('nobody cares'))</script>", "nobody cares"),
    "/missing": ("<script>fetch('/nowhere')</script>", "404"),
    "/unreachable": (
        "<script>fetch('http://127.0.0.1:1/').catch(() => {})</script>",
        r"failed: GET http://127\.0\.0\.1:1/: net::ERR_",
    ),
    "/foreign": (
        "<img alt='' src='http://example.com/tracker.gif'>",
        r"foreign request: GET http://example\.com/tracker\.gif",
    ),
    "/forbidden": (
        "<script>document.querySelector('h1').innerHTML = 'x'</script>",
        "TrustedHTML",
    ),
}


def _showing(content: str, **headers: str) -> Route:
    page = HTMLResponse(PAGE.format(title="A page", content=content), headers=headers)
    return lambda _: page


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    """Pages that misbehave, each in its own way, and a good one."""
    routes = [Route(path, _showing(content)) for path, (content, _) in MISDEEDS.items()]
    policy = {"Content-Security-Policy": "require-trusted-types-for 'script'"}
    routes[-1] = Route("/forbidden", _showing(MISDEEDS["/forbidden"][0], **policy))
    stream = "<script>const c = new AbortController(); fetch('/slow', {signal: c.signal})"
    routes += [
        Route("/good", _showing("<p>All is well.</p><img alt='' src='data:image/gif;base64,'>")),
        Route("/strict", _showing("<button></button>", **policy)),
        Route("/letting-go", _showing(stream + ".catch(() => {}); c.abort()</script>")),
        Route("/slow", lambda _: Response("late")),
    ]
    with serving(Starlette(routes=routes), lifespan="off") as served:
        yield served


@pytest.mark.parametrize("path", MISDEEDS)
def test_a_misdeed_fails_the_test_that_sees_it(
    chromium: Browser, service: Served, path: str
) -> None:
    visitor = Visitor(chromium, service.url)
    with pytest.raises(AssertionError, match=rf"(?s)complains:.*{MISDEEDS[path][1]}"), visitor:
        visitor.open(path).wait_for_load_state("networkidle")


def test_a_misdeed_may_be_expected(visitor: Visitor) -> None:
    visitor.complaints.expect("404")
    visitor.open("/missing").wait_for_load_state("networkidle")


def test_what_is_expected_has_to_come(chromium: Browser, service: Served) -> None:
    visitor = Visitor(chromium, service.url)
    visitor.complaints.expect("thunder")
    visitor.complaints.expect("rain", at_least=0)
    with pytest.raises(AssertionError, match="0 complaints like 'thunder'"), visitor:
        visitor.open("/good")


@pytest.mark.parametrize("path", ["/good", "/letting-go"])
def test_nothing_is_wrong_with_good_pages(visitor: Visitor, path: str) -> None:
    visitor.open(path).wait_for_load_state("networkidle")


def test_a_crash_is_a_complaint(chromium: Browser, service: Served) -> None:
    with Visitor(chromium, service.url) as visitor:
        page = visitor.open("/good")
        with page.expect_event("crash"), pytest.raises(Error, match="crash"):
            page.goto("chrome://crash")
        with pytest.raises(AssertionError, match="crash: "):
            visitor.complaints.check()
        visitor.complaints.expect("crash: ")


def test_every_page_is_as_it_was_asked_for(visitor: Visitor) -> None:
    page = visitor.open(
        "/good",
        viewport={"width": 320, "height": 500},
        color_scheme="dark",
        reduced_motion="reduce",
    )
    assert page.evaluate("innerWidth") == 320
    for feature in ("prefers-color-scheme: dark", "prefers-reduced-motion: reduce"):
        assert page.evaluate(f"matchMedia('({feature})').matches")
    page.evaluate("localStorage.setItem('mine', 1)")
    assert visitor.open("/good").evaluate("localStorage.getItem('mine')") is None


def test_what_is_not_accessible_is_told(visitor: Visitor) -> None:
    check_accessibility(visitor.open("/good"))
    with pytest.raises(AssertionError, match=r"button-name \(critical\): .*\n    \['button'\]"):
        check_accessibility(visitor.open("/strict"))


@pytest.mark.parametrize(
    ("ci", "exception"),
    [("", pytest.skip.Exception), ("true", pytest.fail.Exception)],
    ids=["elsewhere", "in CI"],
)
def test_a_missing_browser_is_skipped_but_not_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, exception: type[Exception]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("KIBITZ_CHROMIUM", "/nowhere/chromium")
    assert find_chromium() is None
    with pytest.raises(exception, match="/nowhere/chromium is no program: run scripts/install-"):
        installed_chromium()
