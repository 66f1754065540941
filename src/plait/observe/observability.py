"""All of it together, for our own processes.

watch = Observability()
async with Engine(url, observers=watch.observers) as engine, watch.on(engine):
    ...  # serve `watch.metrics.render(engine)` and count with `watch.metrics.http`
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from plait.engine import Engine
from plait.extras import extra
from plait.kernel.observer import Observer

from . import traces
from .task_lines import TaskLines

with extra("server", "observability"):
    from .metrics import Metrics

if TYPE_CHECKING:
    from .spans import Traces


class Observability:
    """Metrics and log lines of steps always, traces if the environment configures them."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.traces: Traces | None = traces.from_environment() if traces.wanted() else None
        self._lines = TaskLines()

    @property
    def observers(self) -> list[Observer]:
        return [self.metrics] if self.traces is None else [self.metrics, self.traces]

    @asynccontextmanager
    async def on(self, engine: Engine) -> AsyncGenerator[None]:
        """A context around the life of the engine."""
        self.metrics.lag.start()
        self.metrics.follow(engine)
        self._lines.install()
        if self.traces is not None:
            self.traces.follow(engine)
        try:
            yield
        finally:
            self._lines.remove()
            self.metrics.lag.stop()
            if self.traces is not None:
                await self.traces.close()
