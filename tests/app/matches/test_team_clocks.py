"""Teams under a clock: what a provider loses of the time is not charged, and wins none."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from app.matches.events import EventType
from app.matches.hearing import Hearing
from tests.app.matches.owning import run
from tests.app.matches.telling import after
from tests.support.model_server import (
    Asked,
    Behaviour,
    Fails,
    Hangs,
    ModelServer,
    Moment,
    rate_limited,
)
from tests.support.team_matches import GOOD, by_role, furnish, hurry, playing, solo


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


def test_what_a_provider_loses_of_the_time_is_not_charged(folder: Path) -> None:
    """Each of the faults takes what there is on the clock, or more; all matches run at once."""
    lost = timedelta(seconds=5)
    faults = {
        "limited": rate_limited(lost),
        "silent": Hangs(),
        "dumb": Hangs(Moment.AFTER_HEADERS),
        "stalled": Hangs(Moment.MID_STREAM),
        "down": Fails(503),
    }

    def fails_first(asked: Asked) -> Behaviour:
        name = asked.body["model"]
        is_first = all(each.body["model"] != name for each in server.requests)
        return faults[name] if is_first else GOOD

    async def main() -> None:
        nonlocal server
        teams = {
            f"{name}.toml": solo(selector={"model": f"loop/{name}", "timeout": 60})
            for name in faults
        }
        async with (
            ModelServer(fails_first) as server,
            playing(server, folder, teams=teams) as play,
        ):
            matches = {
                name: await play.start(f"team:{name}", time_control="4+0", max_plies=3)
                for name in faults
            }
            for name, match_id in matches.items():
                record = await play.ended(match_id)
                assert record.termination == "max_plies", name  # and not out of time
                first, _, third = await play.plies(match_id)
                assert first["elapsed_ms"] < 2500, name
                assert third["clocks"]["white_ms"] > 500, name
            # The fault has really taken so long.
            for name in ("silent", "dumb", "stalled"):
                silent = (await play.calls(matches[name]))[0]
                assert (silent.outcome, silent.latency_ms > 2500) == ("timed_out", True)

    server: ModelServer
    run(main())


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [(Hangs(), "timed_out"), (rate_limited(timedelta(seconds=50)), "rate_limited")],
    ids=["silent", "limited"],
)
def test_a_specialist_without_a_provider_costs_the_team_no_time_and_wins_none(
    fault: Behaviour, outcome: str, folder: Path
) -> None:
    """It is waited for as long as an eighth of the clock, which is four seconds."""

    async def main() -> None:
        script = by_role(tactical=fault)
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", time_control="32+0", max_plies=2)
            await play.ended(match_id)
            (abstention,) = await play.advice(match_id, "tactical")
            assert abstention["abstained"] == "it did not answer in time"
            outcomes = [
                each.outcome for each in await play.calls(match_id) if each.role == "tactical"
            ]
            assert outcomes[0] == outcome

            log = await play.log(match_id)
            played = next(each for each in log if each.type is EventType.PLY)
            turns = [
                each for each in log if each.type is EventType.TURN and each.fields["ply"] == 1
            ]
            assert played.at - turns[0].at > timedelta(seconds=3.5)
            assert played.fields["elapsed_ms"] < 3000
            # When it was given up the clock ran again, also if the provider wants us to wait on.
            assert turns[-1].at <= played.at

    run(main())


def test_a_model_that_is_never_in_time_is_not_asked_again_and_again(folder: Path) -> None:
    """It may be thinking in silence, and each call is billed."""

    async def main() -> None:
        async with ModelServer(Hangs()) as server, playing(server, folder) as play:
            match_id = await play.start("solo:default", time_control="2+0")
            reason = await play.paused(match_id)
            assert "and the clock left no more" in reason
            assert len(server.requests) == 2
            assert (await play.calls(match_id))[0].latency_ms < 2000

    run(main())


@pytest.mark.parametrize(
    ("times", "excused"),
    [
        ([(0, 3)], 3),
        ([(0, 3), (2, 5)], 5),
        ([(5, 10), (0, 6)], 10),
        ([(2, 3), (5, 6), (0, 8)], 8),
        ([(0, 8), (2, 3)], 8),
        ([(0, 1), (4, 5)], 2),
        ([(3, 3), (4, 2)], 0),
    ],
)
def test_a_time_that_several_are_kept_waiting_is_excused_once(
    times: list[tuple[int, int]], excused: int
) -> None:
    stirred: list[None] = []
    hearing = Hearing(lambda: stirred.append(None), lambda by, words: None)
    for since, until in times:
        hearing.excuse(after(since), after(until))
    assert hearing.has_news == bool(stirred) == bool(excused)
    assert hearing.take_excuse() == timedelta(seconds=excused)
    assert hearing.take_excuse() == timedelta(0)
    assert not hearing.has_news
