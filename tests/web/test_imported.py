"""A match that was imported while the service runs, as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.browser import Visitor
from tests.support.command_line import process
from tests.support.servers import Served
from tests.web.match_page import MatchPage
from tests.web.page_service import serving_page
from tests.web.prompting import Stage

PGN = """[White "Anderssen, Adolf"]
[Black "Kieseritzky, Lionel"]
[Date "1851.06.21"]
[Result "1-0"]

1. e4 {[%clk 0:05:00]} e5 2. f4 exf4 3. Bc4 {[%clk 0:04:30] [%eval 0.3]} 1-0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the service keeps its data."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def service(folder: Path, stage: Stage) -> Iterator[Served]:
    """The whole service, with data that others can get at."""
    with serving_page(folder, stage.catalogue()) as served:
        yield served


def test_an_imported_match_is_shown_with_what_the_pgn_tells(
    visitor: Visitor, client: httpx.Client, folder: Path
) -> None:
    (folder / "games.pgn").write_text(PGN)
    imported = process("import", str(folder / "games.pgn"), KIBITZ_DATA_FOLDER=str(folder))
    assert (imported.stdout, imported.stderr) == ("1 imported.\n", "")
    page = visitor.open()
    page.goto("/?tag=imported")
    expect(page.get_by_text("Anderssen, Adolf")).to_be_visible()
    (match,) = client.get("/api/matches", params={"tag": "imported"}).json()["matches"]
    shown = MatchPage.open(visitor, match)
    expect(shown.status).to_have_text("1–0 White wins.")
    facts = shown.page.locator(".match-facts")
    expect(facts).to_contain_text("1851")
    expect(facts).to_contain_text("#imported")
    shown.expect_moves("e4", "e5", "f4", "exf4", "Bc4")
    # Nobody of ours can meet them again, nor manage what is over.
    expect(shown.page.get_by_role("link", name="Rematch")).to_have_count(0)
    expect(shown.page.locator(".manage-panel")).to_be_hidden()
