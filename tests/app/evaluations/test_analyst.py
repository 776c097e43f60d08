"""The analyst: what is tried again, what is left out, and when there is nothing more to do."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from agents.uci.errors import UciNotFound
from app.evaluations.analysis import analyst
from tests.support.evaluating import evaluating, hurry

pytestmark = pytest.mark.asyncio

DUEL = {
    "kind": "duel",
    "agents": ["strong", "weak"],
    "games": 2,
    "openings": "none",
    "analysis": {"nodes": 100},
}


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    hurry(monkeypatch)
    monkeypatch.setattr(analyst, "FIRST_PAUSE", timedelta(milliseconds=1))
    with capture_logs():
        yield


async def finished(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        evaluation_id = await play.start(**DUEL)
        await play.finished(evaluation_id)
        return (await play.evaluations.report(evaluation_id))["counts"]["analysed"]


@pytest.mark.parametrize(("faults", "analysed"), [(5, 2), (1000, 0)])
async def test_an_engine_that_is_away_for_a_while(
    faults, analysed, database_url, tmp_path, monkeypatch
):
    left = [UciNotFound("stockfish", "/nowhere")] * faults
    analyse = analyst.analyse_game

    async def failing(*parts, **options):
        if left:
            raise left.pop()
        return await analyse(*parts, **options)

    monkeypatch.setattr(analyst, "analyse_game", failing)
    assert await finished(database_url, tmp_path) == analysed


async def test_what_was_stored_while_it_was_looked_for_is_not_forgotten(
    database_url, tmp_path, monkeypatch
):
    """A conductor that reads everything again may be told what was so a moment ago."""
    async with evaluating(database_url, tmp_path) as play:
        evaluation_id = await play.start(**DUEL)
        await play.finished(evaluation_id)
        services, review = play.services, analyst.ReviewBody(nodes=100)
        known = analyst.Analyst(
            evaluation_id, review, services.database, services.matches, services.catalogue, list
        )
        await known.open()
        assert (known.analysed, known.is_idle) == (2, True)
        monkeypatch.setattr(analyst, "analysed_of", lambda *_: {})
        await known.open()
        assert (known.analysed, known.is_idle) == (2, True)
