"""What agents use, by workflow, node and model, never by run: the metrics `workflow_agent_…`. Their cost has the label
namespace as well."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric

from plait.kernel.events import AgentFinished, TaskJournaled

from .tally import OTHER

_SERIES = 2_000
"""Maximum number of series per metric; further ones are counted as `other`."""
_TOOL = b'{"entry":"tool"'

Labels = tuple[str, ...]


class _ToolEntry(msgspec.Struct):
    tool: str
    error: str = ""
    denied: bool = False


_decode = msgspec.json.Decoder(_ToolEntry).decode


class AgentUse:
    def __init__(self) -> None:
        self.tokens: dict[Labels, float] = {}
        self.cost: dict[Labels, float] = {}
        self.tools: dict[Labels, float] = {}
        self.cache_hits: dict[Labels, float] = {}

    def finished(self, namespace: str, workflow: str, event: AgentFinished) -> None:
        who, usage = (workflow, event.node_id, event.model), event.usage
        for kind, number in (("input", usage.input), ("output", usage.output), ("cached", usage.cached)):
            _add(self.tokens, (*who, kind), number)
        if event.cost_usd is not None:
            _add(self.cost, (namespace, *who), event.cost_usd)
        _add(self.cache_hits, who, event.cache_hit)

    def journaled(self, event: TaskJournaled) -> None:
        if bytes(event.entry).startswith(_TOOL):
            entry = _decode(event.entry)
            status = "denied" if entry.denied else "failed" if entry.error else "completed"
            _add(self.tools, (entry.tool, status), 1)


def families(use: AgentUse) -> Iterator[Metric]:
    who = ["workflow", "node", "model"]
    tokens = "Tokens that language models used; cached ones are part of the input."
    yield _family("tokens", tokens, [*who, "kind"], use.tokens)
    yield _family("cost_usd", "What they cost, as far as prices are known.", ["namespace", *who], use.cost)
    yield _family("tool_calls", "Tool calls of agents.", ["tool", "status"], use.tools)
    yield _family("cache_hits", "Attempts of agents that a provider's cache served in part.", who, use.cache_hits)


def _family(name: str, help: str, labels: list[str], values: dict[Labels, float]) -> Metric:
    family = CounterMetricFamily(f"workflow_agent_{name}", help, labels=labels)
    for key, value in values.items():
        family.add_metric(list(key), value)
    return family


def _add(series: dict[Labels, float], key: Labels, value: float) -> None:
    if key not in series and len(series) >= _SERIES:
        key = tuple(OTHER for _ in key)
    series[key] = series.get(key, 0) + value
