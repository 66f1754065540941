"""Tokens that move through workflows, by workflow and node, never by run: the metrics `workflow_…`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from plait.engine import Engine
from plait.kernel.events import Event, TaskRetryScheduled, TokenRejected
from plait.kernel.ids import Millis, RunId
from plait.kernel.measured import Flow, TokenCounter, flows

from .tally import OTHER, Tally

_HOPS = (10.0, 50.0, 100.0, 500.0, 1000.0, 5000.0)
_SERIES = 2_000
"""Maximum number of series per metric; further ones are counted as `other`, because programs may generate
definitions."""
_ON_THEIR_WAY = 100_000
"""Maximum number of tokens in flight whose time of emission is kept."""

Labels = tuple[str, ...]


class TokenFlow:
    def __init__(self) -> None:
        self.consumed: dict[Labels, int] = {}
        self.emitted: dict[Labels, int] = {}
        self.retries: dict[Labels, int] = {}
        self.rejections: dict[Labels, int] = {}
        self.hops: dict[Labels, Tally] = {}
        self._sent: dict[tuple[RunId, str], tuple[str, Millis]] = {}
        """Tokens in flight, with the node that emitted them and the time."""

    def note(self, run_id: RunId, workflow: str, node: str, event: Event, at: Millis) -> None:
        """Counts an event. `node`: for a kernel event, the node of its task."""
        match event:
            case TaskRetryScheduled():
                kind = (event.error.type or event.error.code).rpartition(":")[2]
                _add(self.retries, (workflow, node, kind), 1)
            case TokenRejected():
                _add(self.rejections, (workflow, event.node or node), 1)
            case _:
                for flow in flows(event):
                    self._moved(run_id, workflow, flow, at)

    def _moved(self, run_id: RunId, workflow: str, flow: Flow, at: Millis) -> None:
        if flow.kind == "emitted":
            _add(self.emitted, (workflow, flow.node, _fan_out(len(flow.to))), len(flow.tokens))
            for token in flow.tokens:
                self._sent[run_id, token] = (flow.node, at)
            while len(self._sent) > _ON_THEIR_WAY:
                del self._sent[next(iter(self._sent))]
            return
        _add(self.consumed, (workflow, flow.node), len(flow.tokens))
        for token in flow.tokens:
            if (sent := self._sent.pop((run_id, token), None)) is not None:
                key = _known(self.hops, (workflow, sent[0], flow.node))
                self.hops.setdefault(key, Tally(_HOPS)).add(at - sent[1])


def families(flow: TokenFlow, engine: Engine, dead_letters: int | None, stalled: int | None) -> Iterator[Metric]:
    counted = (
        ("workflow_tokens_consumed", "Tokens that nodes have consumed.", ("node",), flow.consumed),
        ("workflow_tokens_emitted", "Tokens that nodes have emitted.", ("node", "fan_out"), flow.emitted),
        ("workflow_retries", "Attempts that failed and are made again.", ("node", "error_type"), flow.retries),
        ("workflow_token_rejections", "Forged, damaged or foreign tasks and results.", ("node",), flow.rejections),
    )
    for name, help, labels, numbers in counted:
        family = CounterMetricFamily(name, help, labels=["workflow", *labels])
        for key, number in numbers.items():
            family.add_metric(key, number)
        yield family
    hops = HistogramMetricFamily(
        "workflow_hop_latency_ms",
        "From a token's emission to the end of the node that consumes it.",
        labels=["workflow", "from_node", "to_node"],
    )
    for key, tally in flow.hops.items():
        hops.add_metric(key, list(tally.buckets()), tally.total)
    yield hops
    yield from _counters(engine)
    if dead_letters is not None:
        yield GaugeMetricFamily("workflow_dlq_size", "Dead letters that wait for a person.", dead_letters)
    if stalled is not None:
        yield GaugeMetricFamily("workflow_stalled_runs", "Runs that nothing will move.", stalled)


def _counters(engine: Engine) -> Iterator[Metric]:
    value, divergence = dict[str, int](), dict[str, int]()
    for run in engine.kernel.run_cache.all():
        if run.state.status == "running" and isinstance(run.machine, TokenCounter):
            counter, off = run.machine.tokens()
            workflow = run.info.definition
            value[workflow] = value.get(workflow, 0) + counter
            divergence[workflow] = max(divergence.get(workflow, 0), off, key=abs)
    for name, help, numbers in (
        ("workflow_counter_value", "Tokens in flight, of runs in the memory of this engine.", value),
        ("workflow_counter_divergence", "Furthest that a counter is from its tokens; must be 0.", divergence),
    ):
        family = GaugeMetricFamily(name, help, labels=["workflow"])
        for workflow, number in chain(numbers.items(), () if numbers else [("", 0)]):
            family.add_metric([workflow], number)
        yield family


def _fan_out(targets: int) -> str:
    return "1" if targets <= 1 else "2-5" if targets <= 5 else "6-10" if targets <= 10 else "11+"


def _add(numbers: dict[Labels, int], key: Labels, number: int) -> None:
    key = _known(numbers, key)
    numbers[key] = numbers.get(key, 0) + number


def _known(numbers: dict[Labels, int] | dict[Labels, Tally], key: Labels) -> Labels:
    return key if key in numbers or len(numbers) < _SERIES else (OTHER,) * len(key)
