"""Follows what a subscription is about: the stream of the catalog or of the nodes, or the log of one run.

Each follower reads from its own position. A bell only tells when to read again, so no event is missed or sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Generator
from contextlib import contextmanager, suppress

from plait.kernel.events import Recorded
from plait.kernel.ids import RunId, caller_id
from plait.kernel.loader import recorded
from plait.kernel.subscriptions import Bell
from plait.registry.engine import Engine

from .events import CATALOG, CLUSTER, FlowTeller, Told, catalog_event, cluster_event, flow_aggregate
from .state import listed_status

Tell = Callable[[list[str], Told], Awaitable[None]]

_BATCH = 500
_POLL = 0.5
"""Seconds between polls of the streams: no bell rings for what another process writes."""


async def follow_catalog(engine: Engine, after: int, tell: Tell) -> None:
    with _bell(engine.goals.catalogs.watch) as bell:
        async for event in _stream(engine, bell, engine.catalog.events, after):
            await tell(CATALOG, catalog_event(event))


async def follow_cluster(engine: Engine, after: int, tell: Tell) -> None:
    with _bell(engine.goals.health.watch) as bell:
        async for event in _stream(engine, bell, engine.catalog.health_events, after):
            await tell(CLUSTER, cluster_event(event))


@contextmanager
def _bell(watch: Callable[[Callable[[str, Collection[str]], object]], Callable[[], None]]) -> Generator[Bell]:
    bell = Bell()
    unwatch = watch(lambda namespace, step_ids: bell.set())
    try:
        yield bell
    finally:
        unwatch()


async def _stream(
    engine: Engine, bell: Bell, read: Callable[[int, int], Awaitable[list[Recorded]]], after: int
) -> AsyncIterator[Recorded]:
    while True:
        bell.clear()
        engine.kernel.must_live()
        while found := await read(after, _BATCH):
            for event in found:
                yield event
            after = found[-1].seq
        with suppress(TimeoutError):
            await asyncio.wait_for(bell.wait(), _POLL)


async def follow_flow(
    engine: Engine, run_id: RunId, after: int, tell: Tell, *, since: int = 0, to_the_end: bool = False
) -> int:
    """Sends events after number `after` that are not older than `since`. Continues past the end of the flow, which may
    be reopened. With `to_the_end`, returns the last number once the flow has ended and no work is in progress."""
    flow_id, store, seen = caller_id(run_id), engine.kernel.store, 0
    teller, aggregate = FlowTeller(flow_id), flow_aggregate(flow_id)
    with engine.kernel.subscriptions.run(run_id) as bell:
        while True:
            bell.clear()
            engine.kernel.must_live()
            over = to_the_end and await _is_over(engine, run_id)  # before reading: its last events are read then
            while found := await recorded(store, run_id, seen, _BATCH):
                for event in found:
                    for told in teller.tell(event):  # also earlier events: later ones depend on them
                        if event.seq > after and event.at >= since:
                            await tell(aggregate, told)
                seen = found[-1].seq
            if over:
                return seen
            await bell.wait()


async def _is_over(engine: Engine, run_id: RunId) -> bool:
    row = await engine.kernel.store.run(run_id)
    return row is not None and row.status != "running" and await listed_status(engine, row) != "active"
