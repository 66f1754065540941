"""`plait run` on a database: this process is the engine."""

from __future__ import annotations

import asyncio
from typing import Any

from plait.dialects.goals.definition import Goals
from plait.dialects.goals.running.children import definition_label
from plait.engine import Handle
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, caller_id, run_key, shard_of
from plait.kernel.store import RunRow
from plait.registry import Engine

from .loading import Startable
from .output import note
from .records import name_of
from .run_request import Order, Outcome, watched
from .session import working

_PARKED = {"message", "sleep", "approval", "child", "blocked"}
"""Reasons for which a run waits on disk, where new code does not reach it."""


async def run_here(order: Order, definitions: list[object], definition: Startable) -> Outcome:
    label = label_of(definition)
    async with working(order.where.url, definitions) as engine:
        known = await _known(engine, order)
        handle = await _start(engine, order, definition, known)
        order.id, key = handle.id, run_key(handle.namespace, handle.id)
        if not order.json:
            note(f"run {handle.id} of {label} in {order.where.url}", "bright_black")
            if not engine.kernel.owns(key):
                note("another engine works on this database: the run goes on there, with the code it has loaded")
        if known is not None and known.dialect == "code":
            await _take_up(engine, handle, key)
        return await watched(order, handle, label)


def label_of(definition: Startable) -> str:
    """What a run's record has as its definition."""
    return definition_label(definition.goals) if isinstance(definition, Goals) else definition.label


async def _known(engine: Engine, order: Order) -> RunRow | None:
    if order.id is None:
        return None
    return await engine.kernel.store.run(run_key(_namespace(order), order.id))


def _namespace(order: Order) -> str:
    return order.where.namespace or DEFAULT_NAMESPACE


async def _start(engine: Engine, order: Order, definition: Startable, known: RunRow | None) -> Handle[Any]:
    """A run that is known need not be told its input again; what is another run's is refused by `engine.start`."""
    if known is not None and not order.inputs and name_of(known) == label_of(definition):
        return await engine.get(caller_id(known.id), known.namespace)
    return await engine.start(
        definition,
        order.given,
        id=order.id,
        namespace=_namespace(order),
        deadline=order.deadline,
        labels=order.labels,
    )


async def _take_up(engine: Engine, handle: Handle[Any], run: RunId) -> None:
    """A run from before: first what it was told while no engine ran, for it may end or reopen it. Then it is played
    on the code as it is now, which may fit better or worse than the code it knew."""
    store, shard = engine.kernel.store, shard_of(run)
    while engine.kernel.owns(run) and any(  # noqa: ASYNC110 -- the store gives nothing to wait for
        row.run_id == run for row in await store.inbox([shard], 1000)
    ):
        await asyncio.sleep(0.01)
    reasons = {reason.kind for reason in await handle.waiting()}
    if reasons and reasons <= _PARKED and engine.kernel.owns(run):
        await handle.retry()  # does nothing to a run that is well; one that is not parked has been played already
