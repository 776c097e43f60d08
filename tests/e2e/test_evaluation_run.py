"""Evaluations by `kibitz eval`, as real processes: what they find, and what survives `kill -9`."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom

import pytest

from app.persistence.database import Database
from app.persistence.evaluations import EvaluationRecord, GameRecord, games_of, list_evaluations
from app.persistence.plies import plies_of
from engine import read_games
from tests.support.processes import HANGS_AFTER, LINUX, until
from tests.support.services import ROOT, Machine, Ration, Service, template

KIBITZ = Path(sys.executable).with_name("kibitz")
#: Repeats the kills of a run, as far as clocks let it.
SEED = int(os.environ.get("KIBITZ_CRASH_SEED") or SystemRandom().getrandbits(32))

needs_processes = pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc")


# --- what a small evaluation finds ---


def test_the_ladder_rates_random_far_below_the_classical_team(
    tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    """The plan that comes with Kibitz, by the program as it is installed."""
    environment = {name: value for name, value in os.environ.items() if name[:3] != "COV"}
    environment |= {"KIBITZ_DATA_FOLDER": str(tmp_path / "data")}
    environment["PATH"] += f"{os.pathsep}/usr/games"

    def kibitz(*arguments: str) -> str:
        run = subprocess.run(
            [KIBITZ, *arguments],
            capture_output=True,
            text=True,
            timeout=5 * HANGS_AFTER,
            check=False,
            env=environment,
            cwd=ROOT,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    out = tmp_path / "out"
    report = json.loads(kibitz("eval", "run", "plans/ci.toml", "--json", "--output", str(out)))
    ratings = {each["label"]: each["rating"]["as_played"] for each in report["agents"]}
    for label, rating in ratings.items():
        ends = ("?" if end is None else f"{end:.0f}" for end in (rating["low"], rating["high"]))
        told = f"{label}: {rating['text']} Elo, by the likelihood ratio from {' to '.join(ends)}"
        record_property("told", told)
    dice, team = ratings.values()
    assert dice["high"] < team["low"] - 300

    written = json.loads((out / "report.json").read_text())
    assert written == report
    games = report["counts"]["games"]
    assert report["counts"]["analysed"] == games
    rows = list(csv.DictReader(io.StringIO((out / "games.csv").read_text(), newline="")))
    assert [int(row["number"]) for row in rows] == list(range(1, games + 1))
    with (out / "games.pgn").open("rb") as file:
        played = list(read_games(file))
    assert [game.result for game in played] == [row["result"] for row in rows]
    html = (out / "report.html").read_text()
    assert "</html>" in html
    assert dice["text"].lstrip("-").partition(" ")[0] in html
    manifest = json.loads((out / "manifest.json").read_text())
    assert [each["name"] for each in manifest["engines"]] == ["stockfish"]

    assert dice["text"] in kibitz("eval", "show", report["id"])
    assert json.loads(kibitz("eval", "report", report["id"], "--format", "json")) == report
    board = json.loads(kibitz("eval", "ratings", "--json"))
    assert [row["label"] for row in board["rows"]] == list(ratings)[::-1]


# --- what survives ---

#: What `uci:slow` may play is rationed, so that there is something left for every kill to hit.
PLAN = {
    "kind": "pool",
    "name": "to be killed",
    "agents": ["random", "uci:slow"],
    "anchors": [{"name": "stockfish:2", "elo": 358}],
    "rounds": 2,
    "match": {"max_plies": 40},
    "analysis": {"nodes": 100},
}
#: Every two of three but for anchors, twice with each colour.
GAMES = 12
KILLS = 6
#: More moves than `uci:slow` makes in all of them.
PLENTY = 1_000
#: In seconds: how long all of the games may take, however slow the machine.
WHOLE = 5 * HANGS_AFTER


@dataclass(frozen=True)
class Seen:
    """How an evaluation stood at a moment."""

    record: EvaluationRecord
    games: list[GameRecord]
    #: By match.
    plies: dict[str, list[str]]

    @property
    def count(self) -> int:
        """How many plies are stored."""
        return sum(map(len, self.plies.values()))

    @property
    def under_way(self) -> list[GameRecord]:
        """The games in which somebody has moved, and that are not over."""
        return [
            game
            for game in self.games
            if game.match_status in ("running", "paused") and self.plies[game.match_id]
        ]


async def look(database: Database) -> Seen | None:
    """Return how the newest evaluation stands, if there is one."""

    def read(connection) -> Seen | None:
        records = list_evaluations(connection, None, None, 1)
        if not records:
            return None
        games = games_of(connection, records[0].id)
        plies = {
            game.match_id: [ply.uci for ply in plies_of(connection, game.match_id, 0, None)]
            for game in games
        }
        return Seen(records[0], games, plies)

    return await database.read(read)


@asynccontextmanager
async def looking(machine: Machine) -> AsyncIterator[Database]:
    """Look at the database of a machine, whoever uses it."""
    async with await Database.open(machine.database_url, exclusive=False) as database:
        yield database


async def played_on(
    database: Database, process: Service, ration: Ration, before: Seen | None, plies: int
) -> Seen:
    """Wait until a game is under way after so many more plies, or as many as the ration gives."""
    played = before.count if before else 0
    async with asyncio.timeout(WHOLE):
        while True:
            assert not process.has_ended
            seen = await look(database)
            count = seen.count if seen else 0
            if seen and seen.under_way and count > played:
                if count >= played + plies or ration.is_used_up:
                    return seen
            elif ration.is_used_up:  # by somebody who was orphaned, or in a game that is over
                ration.allow(1)
            await asyncio.sleep(0.01)


def announcements(complaints: Path) -> set[str]:
    """Return what was said on standard error, but for how far it is, which is told by the clock."""
    lines = complaints.read_text().splitlines()
    return {line for line in lines if not re.match(r"\d+ of \d+ games\b", line)}


def check_kept(before: Seen, after: Seen) -> None:
    """What there was before is there after it, in the same matches and to the ply."""
    later = {game.number: game for game in after.games}
    for game in before.games:
        assert later[game.number].match_id == game.match_id
        assert later[game.number].attempt == game.attempt == 1
        plies = before.plies[game.match_id]
        assert after.plies[game.match_id][: len(plies)] == plies
        if game.status == "scored":
            assert later[game.number].status == "scored"
            assert later[game.number].winner == game.winner


async def check_finished(database: Database, out: Path) -> Seen:
    """Every game was played once, and the report tells of all of them."""
    seen = await look(database)
    assert seen is not None
    assert seen.record.status == "finished"
    assert [(game.number, game.attempt, game.status) for game in seen.games] == [
        (number, 1, "scored") for number in range(1, GAMES + 1)
    ]
    assert {game.match_status for game in seen.games} == {"ended"}
    report = json.loads((out / "report.json").read_text())
    counts = report["counts"]
    assert (counts["games"], counts["analysed"], counts["void_games"]) == (GAMES, GAMES, 0)
    assert counts["plies"] == sum(game.ply_count for game in seen.games) == seen.count
    points = Counter[str]()
    for agent in report["agents"]:
        for row in agent["by_opponent"]:
            points[agent["label"]] += row["games"]
    assert points == {"random": 8, "uci:slow": 8}
    rows = list(csv.DictReader(io.StringIO((out / "games.csv").read_text(), newline="")))
    assert [row["match_id"] for row in rows] == [game.match_id for game in seen.games]
    return seen


@needs_processes
def test_no_game_is_lost_or_doubled_by_kills(machine: Machine, tmp_path: Path) -> None:
    print(f"KIBITZ_CRASH_SEED={SEED}")
    asyncio.run(_kill_and_resume(machine, tmp_path))


async def _kill_and_resume(machine: Machine, folder: Path) -> None:
    random = Random(SEED)
    plan, out = folder / "plan.json", folder / "out"
    plan.write_text(json.dumps(PLAN))
    options = ("--database", machine.database_url, "--output", str(out))
    hits = 0
    async with machine, template(machine) as preloaded, looking(machine) as database:
        with machine.rationing() as ration:
            start = ("eval", "run", str(plan), *options)
            dead: Seen | None = None
            while hits < KILLS:  # the last game under way may end just before it is hit
                ration.allow(random.randint(1, 5))
                process = await preloaded.start(*start)
                seen = await played_on(database, process, ration, dead, random.randint(1, 20))
                await process.kill()
                if dead is not None:
                    check_kept(dead, seen)
                dead = await look(database)
                assert dead is not None
                check_kept(seen, dead)
                hits += bool(dead.under_way)
                start = ("eval", "resume", dead.record.id, *options)
            ration.allow(PLENTY)
            process = await preloaded.start(*start)
            assert await process.wait(WHOLE) == 0
            check_kept(dead, await check_finished(database, out))
            await machine.deserted(preloaded.pid)
    assert announcements(machine.complaints) == {f"Evaluation {dead.record.id}"}


@needs_processes
def test_signals_pause_and_what_is_paused_goes_on(machine: Machine, tmp_path: Path) -> None:
    asyncio.run(_interrupt_and_resume(machine, tmp_path))


async def _interrupt_and_resume(machine: Machine, folder: Path) -> None:
    plan, out = folder / "plan.json", folder / "out"
    plan.write_text(json.dumps(PLAN))
    options = ("--database", machine.database_url, "--output", str(out))

    def announced() -> int:
        return machine.complaints.read_text().count("Evaluation ")

    async with machine, template(machine) as preloaded, looking(machine) as database:
        with machine.rationing() as ration:
            start = ("eval", "run", str(plan), *options)
            seen: Seen | None = None
            for numbers, codes in (
                ((signal.SIGINT,), {130}),
                ((signal.SIGTERM,), {143}),
                ((signal.SIGINT, signal.SIGTERM), {130, 143}),  # the kernel may swap them
            ):
                before = announced()
                process = await preloaded.start(*start)
                async with asyncio.timeout(WHOLE):
                    await until(lambda: announced() > before)  # noqa: B023
                seen = await _interrupted(process, database, ration, seen, numbers, codes)
                start = ("eval", "resume", seen.record.id, *options)
            ration.allow(PLENTY)
            process = await preloaded.start(*start)
            assert await process.wait(WHOLE) == 0
            check_kept(seen, await check_finished(database, out))
            assert await (await preloaded.start(*start)).wait() == 2  # it is over
            await machine.deserted(preloaded.pid)
    complaints = machine.complaints.read_text()
    assert complaints.count(f"go on with: kibitz eval resume {seen.record.id}\n") == 3
    assert "Traceback" not in complaints


async def _interrupted(
    process: Service,
    database: Database,
    ration: Ration,
    before: Seen | None,
    numbers: tuple[signal.Signals, ...],
    codes: set[int],
) -> Seen:
    """Interrupt an evaluation that was started or goes on, and return how it stands then."""
    ration.allow(6)
    seen = await played_on(database, process, ration, before, 15)
    process.send(signal.SIGSTOP)  # or the second signal might come after the end
    for number in numbers:
        process.send(number)
    process.send(signal.SIGCONT)
    ration.allow(2)  # so that nobody has to wait for it
    assert await process.wait() in codes
    ration.withdraw()
    after = await look(database)
    assert after is not None
    check_kept(seen, after)
    if before is not None:
        check_kept(before, after)
    if len(numbers) == 1:
        assert after.record.status == "paused"
        assert {game.match_status for game in after.games} <= {"paused", "ended"}
    else:
        assert after.record.status in ("paused", "running")
    return after
