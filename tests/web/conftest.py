"""The page of a whole service in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import Complaints, Visitor, installed_chromium, running_chromium
from tests.support.servers import Served
from tests.web.page_service import PageProcess, page_process, serving_page
from tests.web.prompting import Stage


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser, one for all tests of a module."""
    with running_chromium(installed_chromium()) as browser:
        yield browser


@pytest.fixture(scope="module")
def stage() -> Stage:
    """Where tests meet players that do what they are told."""
    return Stage()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, stage: Stage) -> Iterator[Served]:
    """The whole service, one for all tests of a module."""
    with serving_page(tmp_path_factory.mktemp("service"), stage.catalogue()) as served:
        yield served


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[httpx.Client]:
    """A client of the service, for what happens besides the page."""
    with service.client() as client:
        yield client


@pytest.fixture
def visitor(chromium: Browser, service: Served) -> Iterator[Visitor]:
    """Somebody who opens pages of the service; fails the test if the browser complains."""
    with Visitor(chromium, service.url) as visitor:
        yield visitor


@pytest.fixture
def complaints(visitor: Visitor) -> Complaints:
    """What the browser complains of: to say which complaints are expected."""
    return visitor.complaints


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """An empty page, for the service: `page.goto("/")`."""
    return visitor.open()


@pytest.fixture
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageProcess]:
    """`kibitz serve` at an address that it keeps, to be started, killed and started again."""
    with page_process(tmp_path_factory.mktemp("process")) as process:
        yield process


@pytest.fixture
def visitor_of_process(chromium: Browser, process: PageProcess) -> Iterator[Visitor]:
    """Somebody who opens pages of the process."""
    with Visitor(chromium, process.url) as visitor:
        yield visitor
