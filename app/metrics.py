"""Metrics: what Prometheus is told of the service, at `/metrics`.

What happens is counted as it happens. What is there is looked at when somebody asks, and the
database then at most every few seconds. Labels have few values, and none that a client makes up.
"""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.matches.match import UNFINISHED, MatchStatus
from app.persistence import evaluations
from app.persistence.errors import StorageError
from app.persistence.matches import count_by_status, count_claimable

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from app.persistence.database import Database
    from app.persistence.records import Change, ModelCallRecord

#: How old what was read from the database may be.
FRESH = timedelta(seconds=5)
#: How long the database may take; then what is known is told.
PATIENCE = timedelta(seconds=3)
#: What is beyond the bound of labels, or has no name of its own, is counted together.
OTHER = "other"

#: In seconds: from a random move to one of a team of large models.
_DECISIONS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0),
)
_ANSWERS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MOST_SERIES = 500
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

# When each series began would double their number, and Prometheus does without.
disable_created_metrics()  # type: ignore[no-untyped-call]

M = TypeVar("M", Counter, Histogram)


class FeedCounts(Protocol):
    """What is asked of a feed."""

    watchers: int
    delivered: int
    dropped: int


class Running(Protocol):
    """What is asked of a runner."""

    @property
    def worker(self) -> str:
        """The id under which it owns matches."""

    @property
    def running(self) -> int:
        """How many matches have an owner here."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted in the database, by status where there are several."""

    matches: Mapping[str, int]
    #: Matches that wait to be taken up.
    waiting: int
    evaluations: Mapping[str, int]
    games: Mapping[str, int]


class Metrics:
    """All that is counted: it observes owners, and is told what was committed.

    It belongs to one event loop. What it is told costs a few microseconds.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._database: Database | None = None
        self._worker = ""
        self._refreshed_at: float | None = None
        self._refreshing = asyncio.Lock()
        self._matches = Gauge(
            "kibitz_matches", "Matches by status.", ["status"], registry=self.registry
        )
        self._evaluations = Gauge(
            "kibitz_evaluations", "Evaluations by status.", ["status"], registry=self.registry
        )
        self._games = Gauge(
            "kibitz_evaluation_games",
            "Games of evaluations by status: void ones did not count and were played again.",
            ["status"],
            registry=self.registry,
        )
        self._queue = self._gauge("kibitz_queue_depth", "Matches that wait to be taken up.")
        self._owners = self._gauge("kibitz_running_matches", "Matches that this process runs.")
        self._database_up = self._gauge("kibitz_database_up", "Whether the database answered.")
        self._storage_errors = self._counter(
            "kibitz_storage_errors", "What the database could not do.", "error"
        )
        self._plies = self._counter("kibitz_plies", "Plies played.", "player")
        self._decisions = self._histogram(
            "kibitz_decision_seconds", "How long players took to decide.", _DECISIONS, "player"
        )
        self._rejections = self._counter(
            "kibitz_attempts_rejected", "Moves of players that were refused.", "player"
        )
        self._faults = self._counter(
            "kibitz_player_faults", "Turns that a player could not decide.", "player"
        )
        self._endings = self._counter(
            "kibitz_matches_ended", "Matches that ended.", "result", "termination"
        )
        self._calls = self._counter("kibitz_model_calls", "Calls of models.", "model", "outcome")
        self._tokens = self._counter(
            "kibitz_model_tokens",
            "Tokens of models; cached ones are among the prompt's, reasoning ones are completions.",
            "model",
            "kind",
        )
        self._cost = self._counter(
            "kibitz_model_cost_usd", "What calls of models cost, as far as it is known.", "model"
        )
        self._requests = self._counter(
            "kibitz_http_requests", "Requests answered.", "method", "route", "status"
        )
        self._answers = self._histogram(
            "kibitz_http_response_seconds", "How long answers took to begin.", _ANSWERS, "route"
        )
        build = {"version": version("kibitz"), "python": platform.python_version()}
        Info("kibitz_build", "What runs here.", registry=self.registry).info(build)
        ProcessCollector(registry=self.registry)  # named process_..., as everywhere

    # --- what is looked at when somebody asks ---

    def watch(self, database: Database, feed: FeedCounts, runner: Running) -> None:
        """Say where to look. Called once."""
        self._database = database
        self._worker = runner.worker
        self._owners.set_function(lambda: runner.running)
        self.registry.register(_FeedCollector(feed))

    async def scrape(self, accept: str = "") -> tuple[bytes, str]:
        """Return all metrics and their media type, as `Accept` wishes."""
        await self.refresh()
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type

    async def refresh(self) -> None:
        """Look at the database, unless that was done a moment ago.

        One that does not answer is told of in the metrics, beside all the rest.
        """
        if self._database is None:
            return
        async with self._refreshing:
            now = time.monotonic()
            if self._refreshed_at is not None and now - self._refreshed_at < FRESH.total_seconds():
                return
            try:
                async with asyncio.timeout(PATIENCE.total_seconds()):
                    counts = await self._database.read(self._count)
            except (StorageError, TimeoutError) as error:
                self.storage_failed(error)
                self._database_up.set(0)
            else:
                self._database_up.set(1)
                self._note(counts)
            self._refreshed_at = time.monotonic()

    def _count(self, connection: Connection) -> Counts:
        return Counts(
            count_by_status(connection),
            count_claimable(connection, self._worker),
            evaluations.count_by_status(connection),
            evaluations.count_games_by_status(connection),
        )

    def _note(self, counts: Counts) -> None:
        self._queue.set(counts.waiting)
        for gauge, statuses, found in (
            (self._matches, [each.value for each in MatchStatus], counts.matches),
            (self._evaluations, evaluations.STATUSES, counts.evaluations),
            (self._games, evaluations.GAME_STATUSES, counts.games),
        ):
            for status in statuses:
                gauge.labels(status).set(found.get(status, 0))

    # --- what happens ---

    def decided(self, player: str, took: timedelta) -> None:
        """Take note of a decision."""
        self._decisions.of(kind_of(player)).observe(took.total_seconds())

    def failed(self, player: str) -> None:
        """Take note of a player that could not decide."""
        self._faults.of(kind_of(player)).inc()

    def rejected(self, player: str) -> None:
        """Take note of a move that was refused."""
        self._rejections.of(kind_of(player)).inc()

    def published(self, changes: Sequence[Change]) -> None:
        """Take note of what was committed, once."""
        for change in changes:
            for ply in change.plies:
                self._plies.of(kind_of(ply.source)).inc()
            if change.status not in UNFINISHED:
                self._endings.of(change.result, change.termination or change.status).inc()

    def called(self, call: ModelCallRecord) -> None:
        """Take note of a call of a model."""
        model = call.model
        self._calls.of(model, call.outcome).inc()
        self._tokens.of(model, "prompt").inc(call.prompt_tokens)
        self._tokens.of(model, "cached").inc(call.cached_tokens)
        self._tokens.of(model, "reasoning").inc(call.reasoning_tokens)
        self._tokens.of(model, "completion").inc(call.completion_tokens)
        if call.cost_usd is not None:
            self._cost.of(model).inc(float(call.cost_usd))

    def storage_failed(self, error: Exception) -> None:
        """Take note of what the database could not do."""
        self._storage_errors.of(type(error).__name__).inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Take note of an answer that has begun."""
        self._requests.of(method if method in _METHODS else OTHER, route, str(status)).inc()
        self._answers.of(route).observe(seconds)

    # --- making them ---

    def _gauge(self, name: str, told: str) -> Gauge:
        return Gauge(name, told, registry=self.registry)

    def _counter(self, name: str, told: str, *labels: str) -> _Series[Counter]:
        return _Series(Counter(name, told, labels, registry=self.registry), len(labels))

    def _histogram(
        self, name: str, told: str, buckets: Sequence[float], *labels: str
    ) -> _Series[Histogram]:
        histogram = Histogram(name, told, labels, registry=self.registry, buckets=buckets)
        return _Series(histogram, len(labels))


def kind_of(player: str) -> str:
    """Return the kind of a player, which is what comes before a colon or a remark."""
    return player.partition(":")[0].partition(" ")[0]


class _Series(Generic[M]):
    """The series of a metric by their labels, at hand at once, and not too many."""

    __slots__ = ("_known", "_metric", "_others")

    def __init__(self, metric: M, labels: int) -> None:
        self._metric: M = metric
        self._others = (OTHER,) * labels
        self._known: dict[tuple[str, ...], M] = {}

    def of(self, *labels: str) -> M:
        """Return the series with such labels."""
        found = self._known.get(labels)
        if found is None:
            if len(self._known) >= _MOST_SERIES:
                labels = self._others
            found = self._known[labels] = self._metric.labels(*labels)
        return found


class _FeedCollector(Collector):
    """Tells of a feed what it has counted itself."""

    def __init__(self, feed: FeedCounts) -> None:
        self._feed = feed

    def collect(self) -> Iterable[Metric]:
        """Return the metrics as they are now."""
        feed = self._feed
        yield GaugeMetricFamily("kibitz_sse_watchers", "Open streams.", feed.watchers)
        yield CounterMetricFamily(
            "kibitz_sse_deliveries", "Events that were handed to watchers.", feed.delivered
        )
        yield CounterMetricFamily(
            "kibitz_sse_drops", "Watchers that were dropped, being too slow.", feed.dropped
        )


class CountRequests:
    """Middleware that counts requests by the route that answers them, and not by their paths."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request when its answer begins: that of a stream may never end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        has_begun = False

        def note(status: int) -> None:
            nonlocal has_begun
            has_begun = True
            route = getattr(scope.get("route"), "path", OTHER)
            self._metrics.answered(scope["method"], route, status, time.perf_counter() - began)

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                note(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception:
            if not has_begun:
                note(500)  # which whoever comes before us makes of it
            raise
