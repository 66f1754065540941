"""Stalled runs: no event for five minutes, and no person, timer, child, retry or task to wait for.

They are shown, never ended: the cause, mostly a bug or a damaged row, is for a person to find.
"""

from __future__ import annotations

from plait.kernel.ids import Millis, Seq, caller_id
from plait.kernel.kernel import Kernel
from plait.kernel.store import RunFilter, RunRow
from plait.kernel.view import Reason
from plait.kernel.wait_reason import STALLED_KINDS

AFTER = 300_000
"""Milliseconds without an event."""
_MOST = 1_000


async def stalled_runs(kernel: Kernel, query: RunFilter) -> list[RunRow]:
    """Stalled runs, oldest first, at most a thousand."""
    before = Millis(kernel.clock.now() - AFTER)
    found = await kernel.store.stalled(before, query.namespace, min(query.limit, _MOST))
    rows = [await kernel.store.run(run_id) for run_id in found]
    return [row for row in rows if row is not None]


async def how_many(kernel: Kernel) -> int:
    return len(await kernel.store.stalled(Millis(kernel.clock.now() - AFTER), None, _MOST))


async def stalled_reason(kernel: Kernel, row: RunRow, reasons: list[Reason]) -> Reason | None:
    """The reason to show if the run is stalled; else None."""
    if row.phase != "waiting" or any(reason.kind not in STALLED_KINDS for reason in reasons):
        return None
    head = (await kernel.store.heads([row.id])).get(row.id, Seq(0))
    last = await kernel.store.log(row.id, Seq(head - 1))
    if not last or last[-1].at > kernel.clock.now() - AFTER:
        return None
    return Reason("stalled", f"stalled: nothing will move it; see `plait doctor --run {caller_id(row.id)}`")
