"""How soon 1,000 watchers see what was committed: part of `make bench-service`.

The service streams from a process of its own, as it does in earnest: SQLite that survives a power
cut, uvicorn, the real routes. The watchers are sockets in another process on the same machine. The
latency of a delivery is from the commit until the whole event is in the watcher's hands. Both
processes read the same monotonic clock.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles

WATCHERS, RATE, SECONDS = 1000, 10.0, 20.0
#: By how many matches the watchers are shared.
LAYOUTS = (1, 10)
#: What 99 of 100 deliveries may take at most, in milliseconds.
BAR = 150.0


@dataclass(frozen=True)
class Result:
    """Latencies are in milliseconds; the processor time of the service is in microseconds."""

    watchers: int
    matches: int
    deliveries: int
    deliveries_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    missing: int
    repeated: int
    dropped: int
    cpu_us_per_delivery: float
    reached: bool


def measure(matches: int, watchers: int, rate: float, seconds: float, processes: int) -> Result:
    """Let watchers watch some matches, with so many events a second in each."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server = stack.enter_context(_started("streaming_server", matches, rate, seconds))
        place = json.loads(_line(server))
        files = [Path(folder, str(number)) for number in range(processes)]
        clients = [
            stack.enter_context(
                _started(
                    "streaming_watchers",
                    place["port"],
                    watchers // processes + (number < watchers % processes),
                    file,
                    *place["matches"],
                )
            )
            for number, file in enumerate(files)
        ]
        for client in clients:
            _line(client)  # that all are connected
        print("go", file=server.stdin, flush=True)
        report = json.loads(_line(server))
        for process in (server, *clients):
            if process.wait(60):
                raise SystemExit(f"{process.args} failed")
        seen = [each for file in files for each in pickle.loads(file.read_bytes())]  # noqa: S301
    return _result(matches, seconds, report, seen)


@contextmanager
def _started(module: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start one of our processes, and see that it ends."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _line(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise SystemExit(f"{process.args} failed")
    return line


def _result(matches: int, seconds: float, report: dict, seen: list) -> Result:
    """Compare what was committed with what was received."""
    commits = {
        match_id: {int(number): time for number, time in times.items()}
        for match_id, times in report["commits"].items()
    }
    latencies: list[float] = []
    missing = repeated = 0
    for match_id, received in seen:
        numbers = [number for number, _ in received]
        missing += len(commits[match_id].keys() - set(numbers))
        repeated += len(numbers) - len(set(numbers)) + (numbers != sorted(numbers))
        latencies += [1000 * (time - commits[match_id][number]) for number, time in received]
    percentiles = quantiles(latencies, n=100)
    p99 = percentiles[98]
    return Result(
        watchers=len(seen),
        matches=matches,
        deliveries=len(latencies),
        deliveries_per_second=round(len(latencies) / seconds),
        p50_ms=round(percentiles[49], 1),
        p95_ms=round(percentiles[94], 1),
        p99_ms=round(p99, 1),
        max_ms=round(max(latencies), 1),
        missing=missing,
        repeated=repeated,
        dropped=report["dropped"],
        cpu_us_per_delivery=round(1e6 * report["cpu"] / report["delivered"], 1),
        reached=p99 <= BAR and not missing and not repeated and not report["dropped"],
    )


def main() -> None:
    """Print both layouts."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.streaming", description="From the commit to a thousand watchers."
    )
    parser.add_argument("--watchers", type=int, default=WATCHERS)
    parser.add_argument("--rate", type=float, default=RATE, help="events a second in each match")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--processes", type=int, default=1, help="that watch")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a socket is a file
    results = [
        measure(matches, arguments.watchers, arguments.rate, arguments.seconds, arguments.processes)
        for matches in LAYOUTS
    ]
    if arguments.json:
        for result in results:
            print(json.dumps(asdict(result)))
    else:
        print(f"From commit to receipt; 99 of 100 within {BAR:g} ms, none missing or repeated.\n")
        print("| watchers | matches | a second | p50, ms | p95 | p99 | most | missing | repeated "
              "| dropped | CPU, µs | |")  # fmt: skip
        print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
        for each in results:
            verdict = "ok" if each.reached else "MISSED"
            print(f"| {each.watchers} | {each.matches} | {each.deliveries_per_second:g} "
                  f"| {each.p50_ms} | {each.p95_ms} | {each.p99_ms} | {each.max_ms} "
                  f"| {each.missing} | {each.repeated} | {each.dropped} "
                  f"| {each.cpu_us_per_delivery} | {verdict} |")  # fmt: skip
    if not all(result.reached for result in results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
