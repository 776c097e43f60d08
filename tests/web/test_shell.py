"""What every address of the page has in common."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.browser import Complaints, Visitor
from tests.web.page_service import PageProcess

ALIVE = '{"status":"alive"}'


def test_the_service_is_seen(page: Page, complaints: Complaints) -> None:
    complaints.expect("favicon.ico", at_least=0)
    page.goto("/healthz")
    expect(page.locator("body")).to_have_text(ALIVE)


def test_a_browser_comes_back_to_a_service_that_was_killed(
    visitor_of_process: Visitor, process: PageProcess
) -> None:
    visitor_of_process.complaints.expect("favicon.ico", at_least=0)
    process.start()
    page = visitor_of_process.open("/healthz")
    process.kill()
    visitor_of_process.complaints.expect("ERR_CONNECTION_REFUSED")
    page.evaluate("fetch('/healthz').catch(() => {})")
    process.start()
    page.reload()
    expect(page.locator("body")).to_have_text(ALIVE)
    process.stop()
