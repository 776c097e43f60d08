"""What the match service costs and bears: `make bench-service`.

1. Stockfish plays itself at `nodes 2000`, 60 games, two at a time, every ply durable in SQLite: the
   processor time of our process (all its threads, not the engines') per ply.
2. See `benchmarks.streaming`: a thousand watchers.
3. A hundred matches at a time, whose players take 400 ms to answer: decisions a second, beside the
   ideal of 250.
4. From the start of the process to the first `readyz`, with a database that is there and with none;
   and the memory of a match in which nothing happens.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median

import httpx

from agents.catalogue import Catalogue
from agents.player import Decision, Turn
from app.matches.openings import OPENINGS
from app.matches.settings import MatchSettings, PlayerSettings
from app.services import open_services
from app.settings import Settings

GAMES, CONCURRENT, NODES = 60, 2, 2000
MATCHES, ANSWER_AFTER, SECONDS = 100, 0.4, 20
STARTS, IDLE = 7, 1000


@dataclass(frozen=True)
class Row:
    """One figure, and its bar."""

    what: str
    figure: str
    bar: str
    is_reached: bool

    def __str__(self) -> str:
        verdict = "ok" if self.is_reached else "MISSED"
        return f"| {self.what} | {self.figure} | {self.bar} | {verdict} |"


# --- the service as a process ---


class Service:
    """A running `kibitz serve`."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.pid = process.pid
        self.client = httpx.Client(base_url=url, timeout=60)

    @property
    def cpu(self) -> float:
        """The processor time that it has taken, in seconds; of all threads and no children."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        """The memory that is its own, in bytes."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        return sum(int(kb) for kb in re.findall(r"^Private_\w+:\s+(\d+)", rollup, re.M)) * 1024

    def start_match(self, **body: object) -> None:
        answer = self.client.post("/api/matches", json=body)
        answer.raise_for_status()

    def is_busy(self) -> bool:
        """Return whether a match is not over; asked so that the answer costs next to nothing."""
        return any(
            self.client.get("/api/matches", params={"status": status, "limit": 1}).json()["matches"]
            for status in ("created", "running")
        )

    def matches(self, status: str) -> list[dict]:
        found, cursor = [], None
        while True:
            parameters = {"status": status, "limit": 200} | ({"cursor": cursor} if cursor else {})
            page = self.client.get("/api/matches", params=parameters).json()
            found += page["matches"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found


@contextmanager
def service(folder: Path, **settings: object) -> Iterator[Service]:
    """Run `kibitz serve` on a free port, until the context is left."""
    variables = {f"KIBITZ_{name.upper()}": str(value) for name, value in settings.items()}
    process = _start(folder, variables)
    try:
        url = process.stdout.readline().split()[-1]
        yield Service(process, url)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _start(folder: Path, variables: dict[str, str], port: int = 0) -> subprocess.Popen[str]:
    command = [Path(sys.executable).with_name("kibitz"), "serve", "--port", str(port)]
    environment = os.environ | {"KIBITZ_DATA_FOLDER": str(folder), "KIBITZ_LOG_LEVEL": "warning"}
    variables = environment | variables
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)  # noqa: S603


# --- what is measured ---


def cpu_per_ply(folder: Path, games: int) -> Row:
    """Let Stockfish play itself, and return what a ply costs us."""
    openings = cycle(OPENINGS)
    with service(folder, concurrent_matches=CONCURRENT, engine_processes=CONCURRENT) as running:
        engine = {"name": "stockfish:8", "nodes": NODES}
        running.start_match(white=engine, black=engine, max_plies=20)  # warms up
        while running.is_busy():
            time.sleep(0.1)
        before = running.cpu
        for _ in range(games):
            running.start_match(white=engine, black=engine, opening=next(openings).name)
        while running.is_busy():
            time.sleep(1)
        cpu = running.cpu - before
        played = running.matches("ended")[:games]
    plies = sum(match["ply_count"] - 1 for match in played)
    each = 1000 * cpu / plies
    return Row(
        f"CPU per ply, {games} games of Stockfish at nodes {NODES} ({plies} plies), two at a time",
        f"{each:.2f} ms",
        "2 ms",
        each <= 2,
    )


class Slow:
    """A player that takes its time, as a model does, and none of the processor's."""

    name = "slow"

    def __init__(self, _seed: int | None = None) -> None:
        pass

    async def decide(self, turn: Turn) -> Decision:
        await asyncio.sleep(ANSWER_AFTER)
        moves = turn.position.legal_moves()
        return Decision(moves[len(turn.plies) % len(moves)])


async def decisions_per_second(folder: Path, seconds: float) -> Row:
    """Run a hundred matches of slow players, and return how many decisions they make a second."""
    settings = Settings(data_folder=folder, concurrent_matches=MATCHES)
    catalogue = Catalogue(players={"slow": Slow})
    slow = PlayerSettings("slow")
    async with open_services(settings, catalogue) as services:
        for _ in range(MATCHES):
            await services.matches.create(MatchSettings(slow, slow), client="benchmark")
        await asyncio.sleep(2)  # until all have begun
        before, began, cpu = await _plies(services), time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds)
        after, took = await _plies(services), time.perf_counter() - began
        cpu = time.process_time() - cpu
    ideal = MATCHES / ANSWER_AFTER
    rate = (after - before) / took
    return Row(
        f"decisions a second, {MATCHES} matches of players that take {ANSWER_AFTER * 1000:.0f} ms",
        f"{rate:.1f}, {100 * rate / ideal:.1f} % of {ideal:.0f} "
        f"({1000 * cpu / max(1, after - before):.2f} ms CPU each)",
        "95 %",
        rate >= 0.95 * ideal,
    )


async def _plies(services) -> int:
    from sqlalchemy import text

    return await services.database.read(
        lambda connection: connection.execute(text("SELECT count(*) FROM plies")).scalar_one()
    )


def time_to_ready(folder: Path, starts: int, *, fresh: bool) -> Row:
    """Start the service several times, and return how long it takes until it is ready."""
    took = []
    for number in range(starts):
        place = folder / f"fresh-{number}" if fresh else folder
        port = _free_port()
        began = time.perf_counter()
        process = _start(place, {}, port)
        try:
            while True:
                try:
                    if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.005)
            took.append(time.perf_counter() - began)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
    state = "without a database" if fresh else "with its database"
    return Row(
        f"start to the first `readyz`, {state}, median of {starts}",
        f"{median(took):.2f} s ({min(took):.2f} to {max(took):.2f})",
        "1.5 s",
        median(took) < 1.5,
    )


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def memory_per_match(folder: Path, matches: int) -> Row:
    """Start matches in which nothing happens, and return what each takes."""
    with service(folder, max_matches_per_client=10**6, starts_per_minute=10**6) as running:
        for _ in range(50):  # what the first ones take is not theirs
            running.start_match(white="human", black="human")
        time.sleep(1)
        before = running.memory
        for _ in range(matches):
            running.start_match(white="human", black="human")
        time.sleep(1)
        each = (running.memory - before) / matches
    return Row(
        f"memory of an idle match, of {matches}", f"{each / 1000:.1f} kB", "50 kB", each < 50_000
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plies", action="store_true", help="the processor time of a ply alone")
    parser.add_argument("--quick", action="store_true", help="fewer games, starts and seconds")
    arguments = parser.parse_args()
    quick = arguments.quick
    print("| measured | figure | bar | |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as name:
        folder = Path(name)
        print(cpu_per_ply(folder / "plies", 6 if quick else GAMES), flush=True)
        if arguments.plies:
            return
        rate = decisions_per_second(folder / "slow", 5 if quick else SECONDS)
        print(asyncio.run(rate), flush=True)
        starts = 3 if quick else STARTS
        print(time_to_ready(folder / "plies", starts, fresh=False), flush=True)
        print(time_to_ready(folder / "fresh", starts, fresh=True), flush=True)
        print(memory_per_match(folder / "idle", 200 if quick else IDLE), flush=True)


if __name__ == "__main__":
    main()
