"""Evaluations by `kibitz eval`, as real processes: what they find, and what survives `kill -9`."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom

import pytest

from app.persistence.database import Database
from app.persistence.evaluations import EvaluationRecord, GameRecord, games_of, list_evaluations
from app.persistence.plies import plies_of
from engine import read_games
from tests.support.processes import HANGS_AFTER, LINUX
from tests.support.services import ROOT, Machine, Service, Template, template

KIBITZ = Path(sys.executable).with_name("kibitz")
#: Repeats the kills of a run, as far as clocks let it.
SEED = int(os.environ.get("KIBITZ_CRASH_SEED") or SystemRandom().getrandbits(32))

needs_processes = pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc")


# --- what a small evaluation finds ---


def test_the_ladder_rates_random_far_below_the_classical_team(tmp_path: Path) -> None:
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
        print(f"{label}: {rating['text']}, 95 % from {rating['low']} to {rating['high']}")
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

#: Games take a second or two, so that kills hit some of them under way.
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


async def played_on(database: Database, process: Service, plies: int) -> Seen:
    """Wait until so many plies are stored, or the process has ended."""
    async with asyncio.timeout(HANGS_AFTER):
        while True:
            seen = await look(database)
            if seen is not None and (seen.count >= plies or process.has_ended):
                return seen
            await asyncio.sleep(0.01)


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
    async with machine, template(machine) as preloaded, looking(machine) as database:
        process = await preloaded.start("eval", "run", str(plan), *options)
        seen = await played_on(database, process, random.randint(1, 40))
        known = seen.record.id
        hits = 0
        for _ in range(KILLS):
            await process.kill()
            dead = await look(database)
            assert dead is not None
            check_kept(seen, dead)
            hits += bool(dead.under_way)
            process = await preloaded.start("eval", "resume", known, *options)
            seen = await played_on(database, process, dead.count + random.randint(5, 40))
            check_kept(dead, seen)
        assert await process.wait() == 0
        check_kept(seen, await check_finished(database, out))
        await machine.deserted(preloaded.pid)
    assert hits >= KILLS // 2  # between two games it hits none
    assert machine.complaints.read_text().splitlines() == [f"Evaluation {known}"] * (KILLS + 1)


@needs_processes
def test_signals_pause_and_what_is_paused_goes_on(machine: Machine, tmp_path: Path) -> None:
    asyncio.run(_interrupt_and_resume(machine, tmp_path))


async def _interrupt_and_resume(machine: Machine, folder: Path) -> None:
    plan, out = folder / "plan.json", folder / "out"
    plan.write_text(json.dumps(PLAN))
    options = ("--database", machine.database_url, "--output", str(out))
    async with machine, template(machine) as preloaded, looking(machine) as database:
        start = ("eval", "run", str(plan), *options)
        seen: Seen | None = None
        for numbers, code in (
            ((signal.SIGINT,), 130),
            ((signal.SIGTERM,), 143),
            ((signal.SIGINT, signal.SIGINT), 130),
        ):
            seen = await _interrupted(preloaded, database, start, seen, numbers, code)
            start = ("eval", "resume", seen.record.id, *options)
        process = await preloaded.start(*start)
        assert await process.wait() == 0
        check_kept(seen, await check_finished(database, out))
        assert await (await preloaded.start(*start)).wait() == 2  # it is over
        await machine.deserted(preloaded.pid)
    complaints = machine.complaints.read_text()
    assert complaints.count(f"go on with: kibitz eval resume {seen.record.id}\n") == 3
    assert "Traceback" not in complaints


async def _interrupted(
    preloaded: Template,
    database: Database,
    start: tuple[str, ...],
    before: Seen | None,
    numbers: tuple[signal.Signals, ...],
    code: int,
) -> Seen:
    """Start an evaluation or go on with it, interrupt it, and return how it stands then."""
    process = await preloaded.start(*start)
    seen = await played_on(database, process, (before.count if before else 0) + 15)
    for number in numbers:
        process.send(number)
        await asyncio.sleep(0.02)  # or the kernel makes one signal of two
    assert await process.wait() == code
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
