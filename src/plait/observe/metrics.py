"""Prometheus metrics of one engine.

    engine = Engine(url, observers=[metrics := Metrics()])
    body = await metrics.render(engine)          # for GET /metrics

While the engine works, only plain integers are counted; names, labels and texts are made when rendering. Nothing is
global: two engines in a process count separately.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric

from plait.engine import Engine
from plait.kernel.errors import Conflict
from plait.kernel.ids import RunId, TaskToken

from .counters import Counters
from .families import Snapshot, families
from .lag import LoopLag
from .store_facts import Counting

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics(Counters):
    def __init__(self) -> None:
        super().__init__()
        self.lag = LoopLag()
        self.registry = CollectorRegistry(auto_describe=False)
        """The registry, to which a program may add its own metrics."""
        self._counting = Counting()
        self._facts: Snapshot | None = None
        ProcessCollector(registry=self.registry)
        self.registry.register(self)

    async def render(self, engine: Engine) -> bytes:
        """Returns all metrics in Prometheus' text format."""
        self.follow(engine)
        self._facts = Snapshot(self, engine, await self._counting.take(engine), self.lag)
        return generate_latest(self.registry)

    def follow(self, engine: Engine) -> None:
        """Sets the engine, to look up the node of a retried task."""
        runs = engine.kernel.run_cache

        def node_of(run_id: RunId, token: TaskToken) -> str:
            run = runs.get(run_id)
            found = None if run is None else run.state.tasks.get(token)
            return "" if found is None else found.task.node or found.task.token

        self.node_of = node_of

    def collect(self) -> Iterable[Metric]:
        """Yields the metrics; called by the registry."""
        return () if self._facts is None else families(self._facts)


async def render(engine: Engine) -> bytes:
    """Renders the metrics of an engine that has a `Metrics` observer."""
    found = next((observer for observer in engine.observers if isinstance(observer, Metrics)), None)
    if found is None:
        raise Conflict("observe.no_metrics", "this engine counts nothing", fix="Engine(..., observers=[Metrics()])")
    return await found.render(engine)
