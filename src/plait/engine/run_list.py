"""Runs as lists show them: their rows, and for those that wait on a queue whether it has workers."""

from __future__ import annotations

from msgspec.structs import replace

from plait.kernel.kernel import Kernel
from plait.kernel.store import RunFilter, RunRow
from plait.kernel.view import Reason

from .seen_workers import RECENTLY
from .stalled import stalled_runs


async def listed(kernel: Kernel, query: RunFilter) -> list[RunRow]:
    if query.stalled:
        return await stalled_runs(kernel, query)
    rows = await kernel.store.runs(query)
    waiting = {row.namespace for row in rows if _queue(row) is not None}
    if not waiting:
        return rows
    served = {
        (namespace, worker.queue)
        for namespace in waiting
        for worker in await kernel.store.queues.workers(namespace, RECENTLY)
    }
    return [_said(row, served) for row in rows]


def _said(row: RunRow, served: set[tuple[str, str]]) -> RunRow:
    queue = _queue(row)
    if queue is None or (row.namespace, queue) in served:
        return row
    return replace(row, waiting=Reason("queue", f"no worker on queue `{queue}`"))


def _queue(row: RunRow) -> str | None:
    """The queue on which it waits."""
    if row.waiting is None or row.waiting.kind != "queue" or row.claimed:
        return None
    return row.waiting.text.partition("`")[2].rpartition("`")[0]
