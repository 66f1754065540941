"""How a scenario is performed, whatever its dialect: clients serve their runs until all have ended, an inspector checks
now and then, and everything is checked at the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

from .cluster import Cluster
from .seeds import Endings, Logs
from .storm import Storm

_LOOKS = 0.05
"""Share of the quiet moments that are checked."""


class Root(Protocol):
    @property
    def id(self) -> str: ...


R_co = TypeVar("R_co", bound=Root, covariant=True)


class Serving(Protocol[R_co]):
    """The client of one run."""

    @property
    def root(self) -> R_co: ...
    @property
    def told(self) -> str: ...
    async def serve(self) -> None: ...


class Looking(Protocol):
    """Finds broken promises."""

    async def at_rest(self) -> None: ...
    async def at_the_end(self) -> None: ...


async def perform(
    cluster: Cluster,
    inspector: Looking,
    clients: Sequence[Serving[Root]],
    logs: Logs,
    *others: Awaitable[None],
    report_stale: Callable[[Storm], None] | None = None,
) -> Endings:
    """Fills the logs, and returns how each run ended. `others` act beside the clients for as long as it takes."""
    looking = Random(f"looking {cluster.scenario.seed}")
    await cluster.open()

    async def look() -> None:
        if report_stale is not None and cluster.storm is not None and cluster.storm.strikes("echo"):
            report_stale(cluster.storm)
        if looking.random() < _LOOKS:
            await inspector.at_rest()

    async def done() -> bool:
        if not all(task.done() for task in serving):
            return False
        return not await cluster.running()

    try:
        for other in others:
            cluster.spawn(other)
        serving = [cluster.spawn(client.serve()) for client in clients]
        await cluster.drive(done, look)
        await cluster.calm_down()
        await inspector.at_the_end()
        return {client.root.id: (client.told,) for client in clients}
    finally:
        logs.update(await cluster.logs.all())
        await cluster.close()
