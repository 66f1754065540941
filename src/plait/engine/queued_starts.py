"""Starts runs on queues, and handles duplicates."""

from __future__ import annotations

from msgspec.structs import replace

from plait.kernel.errors import Conflict
from plait.kernel.ids import RunId, caller_id
from plait.kernel.inputs import Start
from plait.kernel.kernel import Kernel
from plait.kernel.queue_options import check_key, check_limits, partition_of, priority_of
from plait.kernel.run_queues import QueuedRun, Queueing
from plait.kernel.store import RunRow

from .chosen_ids import ChosenIds


class Beginning:
    """A run about to be created."""

    def __init__(self, kernel: Kernel, row: RunRow, chosen_ids: ChosenIds, taken: str) -> None:
        self._kernel = kernel
        self._row = row
        self._chosen_ids = chosen_ids
        self._taken = taken
        """The error code if the run's id is taken by another start."""

    async def at_once(self, start: Start) -> bool:
        """Creates the run; False if it existed. Durable when this returns."""
        while await self._kernel.create(self._row, start) != "ok":
            if await self._chosen_ids.has(self._row, self._taken):
                return False
            # The first start has failed
        return True

    async def with_queueing(self, start: Start, place: QueuedRun | None, given: Queueing) -> tuple[RunId, bool]:
        """The resulting run, and whether it was created now; durable when this returns."""
        queue = "" if place is None else place.queue
        start = replace(start, queue=queue, priority=priority_of(given), partition=partition_of(given))
        if place is None:
            return self._row.id, await self.at_once(start)
        return await self._put_on_queue(start, place, reject=given.get("reject", False))

    async def _put_on_queue(self, start: Start, place: QueuedRun, *, reject: bool) -> tuple[RunId, bool]:
        kernel, row = self._kernel, self._row
        duplicate = await _holder(kernel, place) is not None  # a duplicate adds nothing to a full queue
        await (check_key if duplicate else check_limits)(kernel.store.run_queues, place)
        while await kernel.enqueue(row, start, place) != "ok":
            holder = await _holder(kernel, place)
            if holder is not None and reject:
                fix = "wait until it has ended, or start without `reject` to get that run"
                raise _duplicate(holder, place, "it waits or runs", fix)
            if holder is not None and (not place.debounced or await self._debounce(holder, start, place)):
                return holder, False
            if holder is None and await self._chosen_ids.has(row, self._taken):
                return row.id, False
        return row.id, True

    async def _debounce(self, holder: RunId, start: Start, place: QueuedRun) -> bool:
        """Whether the caller gets the holder: with this start, or unchanged, if it is running and keeps its id until it
        ends. False: it has released the id meanwhile."""
        kernel, row = self._kernel, self._row
        held = await kernel.store.run(holder)
        if held is not None and (held.dialect, held.definition) != (row.dialect, row.definition):
            fix = "use a `dedup_id` that runs of one definition have"
            raise _duplicate(holder, place, f"it is a run of {held.definition}, which can't have this input", fix)
        if await kernel.debounce(holder, start, place.delay):
            return True
        runs = await kernel.store.run_queues.place(holder) is None
        return runs and await _holder(kernel, place) == holder


def _duplicate(holder: RunId, place: QueuedRun, why: str, fix: str) -> Conflict:
    what = f"run {caller_id(holder)} on queue `{place.queue}` has the dedup id {place.dedup_id!r}"
    return Conflict("queue.duplicate", what, why=why, fix=fix)


async def _holder(kernel: Kernel, place: QueuedRun) -> RunId | None:
    if place.dedup_id is None:
        return None
    return await kernel.store.run_queues.holder(place.namespace, place.queue, place.dedup_id)
