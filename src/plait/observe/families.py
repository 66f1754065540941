"""The names of all metrics that Plait exports, with their help texts, in one place.

Times are in seconds. Names of counters end in `_total`. `docs/guides/observability.md` lists them.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from plait.engine import Engine
from plait.kernel.measured import HasCounters

from . import agent_use, token_flow
from .counters import Counters
from .lag import LoopLag
from .store_facts import StoreFacts
from .tally import Tally


@dataclass(frozen=True, slots=True)
class Snapshot:
    counted: Counters
    engine: Engine
    store: StoreFacts | None
    lag: LoopLag


def families(facts: Snapshot) -> Iterator[Metric]:
    yield _build()
    yield from _runs(facts.counted)
    yield from _tasks(facts.counted)
    yield from _commits(facts.counted)
    yield from _engine(facts.engine, facts.counted, facts.lag)
    yield from _store(facts.store)
    yield from _schedules(facts.engine)
    yield from _http(facts.counted)
    yield from _dialects(facts.engine)
    yield from agent_use.families(facts.counted.agents)
    store = facts.store
    dead_letters, stalled = (None, None) if store is None else (store.census.dead_letters, store.stalled)
    yield from token_flow.families(facts.counted.flow, facts.engine, dead_letters, stalled)


def _build() -> Metric:
    try:
        ours = version("plait")
    except PackageNotFoundError:  # run from a source tree that is not installed
        ours = "unknown"
    family = GaugeMetricFamily("plait_build_info", "What runs here; always 1.", labels=["version", "python"])
    family.add_metric([ours, platform.python_version()], 1)
    return family


def _runs(counted: Counters) -> Iterator[Metric]:
    started = CounterMetricFamily(
        "plait_runs_started", "Runs that began, or were reopened.", labels=["dialect", "definition", "how"]
    )
    ended = CounterMetricFamily("plait_runs_ended", "Runs that ended.", labels=["dialect", "definition", "status"])
    for (dialect, definition, step), number in counted.runs.items():
        family = started if step in ("started", "reopened") else ended
        family.add_metric([dialect, definition, step], number)
    yield started
    yield ended
    seconds = HistogramMetricFamily("plait_run_seconds", "From a run's creation to its end.", labels=["status"])
    for status, tally in counted.durations.items():
        seconds.add_metric([status], list(tally.buckets()), tally.total)
    yield seconds


def _tasks(counted: Counters) -> Iterator[Metric]:
    yield _counter("plait_task_attempts_started", "Attempts of tasks that began here.", counted.attempts)
    ended = CounterMetricFamily(
        "plait_task_attempts_ended", "Attempts that ended; stopped: cancelled or out of time.", labels=["outcome"]
    )
    ended.add_metric(["succeeded"], counted.succeeded)
    ended.add_metric(["failed"], counted.failed)
    ended.add_metric(["stopped"], counted.stopped)
    yield ended
    yield _counter("plait_task_retries", "Attempts that failed and will be made again.", counted.retries)
    yield _counter("plait_task_dead_letters", "Tasks that used up their attempts.", counted.dead_letters)
    yield _counter("plait_task_late_results", "Results that came too late to count.", counted.late)


def _commits(counted: Counters) -> Iterator[Metric]:
    yield _counter("plait_decisions", "Decisions of runs that are on disk.", counted.decisions)
    yield _counter("plait_events", "Events that are on disk.", counted.events)
    yield _histogram("plait_commit_seconds", "How long a group commit takes.", counted.commits)
    yield _histogram("plait_commit_writes", "How many writes one group commit carries.", counted.groups)
    yield _counter("plait_store_errors", "Times that the store could not do what was asked.", counted.store_errors)


def _engine(engine: Engine, counted: Counters, lag: LoopLag) -> Iterator[Metric]:
    kernel = engine.kernel
    live = kernel.run_cache.all()
    waiting = sum(len(run.mailbox) for run in live)
    yield _gauge("plait_runs_in_memory", "Runs in the memory of this engine.", len(live))
    yield _gauge("plait_runs_parked", "Of those, runs that wait for their next input.", kernel.run_cache.parked)
    yield _gauge("plait_tasks_running", "Attempts under way in this engine.", kernel.running)
    yield _gauge("plait_inputs_waiting", "Inputs that runs of this engine have not taken yet.", waiting)
    yield _gauge("plait_shards_owned", "Shards that this engine owns.", len(kernel.leases))
    yield _counter("plait_shards_lost", "Shards that another engine took over.", counted.lost_shards)
    yield _gauge("plait_feed_watchers", "Who watches runs live.", kernel.subscriptions.watchers)
    yield _counter("plait_lines_dropped", "Lines that tasks said and that were not kept.", kernel.task_logs.dropped)
    yield _gauge("plait_loop_lag_max_seconds", "Most the event loop was late within the last minute.", lag.worst)
    yield _histogram("plait_loop_lag_seconds", "How late the event loop is, four times a second.", lag.seconds)


def _dialects(engine: Engine) -> Iterator[Metric]:
    """Yields the metrics that dialects count themselves."""
    for bundle in engine.loaded_bundles:
        for counted in bundle.counters() if isinstance(bundle, HasCounters) else ():
            family = CounterMetricFamily(counted.name, counted.help, labels=[counted.label] if counted.label else [])
            for part, number in counted.parts.items():
                family.add_metric([part] if counted.label else [], number)
            yield family


def _store(facts: StoreFacts | None) -> Iterator[Metric]:
    """Yields metrics of the whole store, which every engine reports alike: take the maximum, not the sum."""
    yield _gauge("plait_store_up", "Whether the store answered when it was last asked.", int(facts is not None))
    if facts is None:
        return  # better no number than a stale one
    yield _gauge("plait_engines", "Engines that hold shards.", facts.engines)
    yield _gauge("plait_shards_unowned", "Shards that no living engine holds.", facts.unowned)
    yield _gauge("plait_inbox_waiting", "Inputs that no engine has taken yet.", facts.census.inbox)
    tasks = GaugeMetricFamily("plait_queue_tasks", "Tasks on queues.", labels=["namespace", "queue", "state"])
    for length in facts.queues:
        tasks.add_metric([length.namespace, length.queue, "waiting"], length.waiting)
        tasks.add_metric([length.namespace, length.queue, "claimed"], length.claimed)
    yield tasks
    runs = GaugeMetricFamily("plait_queue_runs", "Runs on queues.", labels=["namespace", "queue", "state"])
    oldest = GaugeMetricFamily(
        "plait_queue_oldest_run_seconds",
        "How long the oldest run has waited for a slot.",
        labels=["namespace", "queue"],
    )
    for backlog in facts.run_queues:
        for state in ("waiting", "delayed", "running"):
            runs.add_metric([backlog.namespace, backlog.queue, state], getattr(backlog, state))
        oldest.add_metric([backlog.namespace, backlog.queue], facts.age_of(backlog.oldest))
    yield runs
    yield oldest
    yield _gauge("plait_approvals_open", "Approvals that wait for a person.", facts.census.approvals)
    yield _gauge("plait_dead_letters_pending", "Dead letters that wait for a person.", facts.census.dead_letters)
    yield _gauge("plait_runs_blocked", "Runs that can't go on with the code that is loaded.", facts.census.blocked)
    yield _gauge("plait_timer_lag_seconds", "How long the oldest timer is overdue.", facts.timer_lag)


def _schedules(engine: Engine) -> Iterator[Metric]:
    counts = engine.schedules.counts
    times = CounterMetricFamily(
        "plait_schedule_times", "Times of schedules that were decided here.", labels=["cause", "outcome"]
    )
    for (cause, outcome), number in counts.times.items():
        times.add_metric([cause, outcome], number)
    yield times
    help = "How late runs of schedules were started here, all together."
    yield _counter("plait_schedule_delay_seconds", help, counts.delay_ms / 1000)


def _http(counted: Counters) -> Iterator[Metric]:
    requests = CounterMetricFamily("plait_http_requests", "HTTP requests answered.", labels=["route", "status"])
    for (route, status), number in counted.http.requests.items():
        requests.add_metric([route, str(status)], number)
    yield requests
    seconds = HistogramMetricFamily("plait_http_request_seconds", "Until the answer begins.", labels=["route"])
    for route, tally in counted.http.seconds.items():
        seconds.add_metric([route], list(tally.buckets()), tally.total)
    yield seconds


def _counter(name: str, help: str, value: float) -> Metric:
    return CounterMetricFamily(name, help, value=value)


def _gauge(name: str, help: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help, value=value)


def _histogram(name: str, help: str, tally: Tally) -> Metric:
    return HistogramMetricFamily(name, help, buckets=list(tally.buckets()), sum_value=tally.total)
