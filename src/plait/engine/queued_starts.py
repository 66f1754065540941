"""Starting a run on a queue: what callers say about it, checked, and what becomes of a duplicate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.admission import EVERY_QUEUE
from plait.kernel.errors import Busy, Conflict, InvalidInput
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.inputs import Start
from plait.kernel.kernel import Kernel, millis
from plait.kernel.queued import QUEUE_RULE, is_queue
from plait.kernel.run_queues import QueuedRun, Queueing
from plait.kernel.store import RunRow

_LONGEST = 100 * 366 * 86_400.0
_PRIORITY = 2**31 - 1
_KEY = 400
"""Characters of a partition or a dedup id."""
_RETRY_AFTER = 5


def place_of(namespace: str, given: Queueing, deadline: Millis | None) -> QueuedRun | None:
    """None: it is started at once."""
    queue, dedup_id = given.get("queue"), given.get("dedup_id")
    delay, debounce = _span("delay", given.get("delay")), _span("debounce", given.get("debounce"))
    if queue is None:
        _must_have_queue(given)
        return None
    if not is_queue(queue):
        raise InvalidInput("queue.bad_name", f"queue={queue[:80]!r}", fix=QUEUE_RULE)
    if debounce and dedup_id is None:
        raise _bad("debounce without `dedup_id`", "give starts that are one the same `dedup_id`")
    if debounce and delay:
        raise _bad("both `delay` and `debounce`", "use one of them")
    return QueuedRun(
        namespace=namespace,
        queue=queue,
        partition=partition_of(given),
        priority=priority_of(given),
        dedup_id=None if dedup_id is None else _text("dedup_id", dedup_id),
        debounced=bool(debounce),
        delay=debounce or delay,
        deadline=deadline,
    )


def priority_of(given: Queueing) -> int:
    priority = given.get("priority", 0)
    if type(priority) is not int or abs(priority) > _PRIORITY:
        raise _bad(f"priority={priority!r}", "use a whole number; lower goes first")
    return priority


def partition_of(given: Queueing) -> str:
    partition = given.get("partition")
    return "" if partition is None else _text("partition", partition)


class Beginning:
    """A run that is about to be made."""

    def __init__(self, kernel: Kernel, row: RunRow, exists: Callable[[], Awaitable[bool]]) -> None:
        self._kernel = kernel
        self._row = row
        self._exists = exists
        """Whether the run's id is taken by the same start; raises if by another."""

    async def at_once(self, start: Start) -> bool:
        """Whether it was made now; durable when this returns."""
        while await self._kernel.create(self._row, start) != "ok":
            if await self._exists():
                return False
            # Whoever was first has failed to start it
        return True

    async def with_queueing(self, start: Start, place: QueuedRun | None, given: Queueing) -> tuple[RunId, bool]:
        """The run that the caller gets, and whether it was made now; durable when this returns."""
        queue = "" if place is None else place.queue
        start = replace(start, queue=queue, priority=priority_of(given), partition=partition_of(given))
        if place is None:
            return self._row.id, await self.at_once(start)
        return await self._put_on_queue(start, place, reject=given.get("reject", False))

    async def _put_on_queue(self, start: Start, place: QueuedRun, *, reject: bool) -> tuple[RunId, bool]:
        kernel, row = self._kernel, self._row
        await _check_limits(kernel, place)
        while await kernel.enqueue(row, start, place) != "ok":
            holder = await _holder(kernel, place)
            if holder is not None and reject:
                raise Conflict(
                    "queue.duplicate",
                    f"run {caller_id(holder)} on queue `{place.queue}` has the dedup id {place.dedup_id!r}",
                    why="it waits or runs",
                    fix="wait until it has ended, or start without `reject` to get that run",
                )
            if holder is not None and (not place.debounced or await kernel.debounce(holder, start, place.delay)):
                return holder, False
            if holder is None and await self._exists():
                return row.id, False
        return row.id, True


async def _holder(kernel: Kernel, place: QueuedRun) -> RunId | None:
    if place.dedup_id is None:
        return None
    return await kernel.store.run_queues.holder(place.namespace, place.queue, place.dedup_id)


async def _check_limits(kernel: Kernel, place: QueuedRun) -> None:
    """Those of the queue, and of all queues of the namespace together."""
    queues = kernel.store.run_queues
    for name in (EVERY_QUEUE, place.queue):
        settings = await queues.settings(place.namespace, name)
        if settings is None:
            continue
        if settings.partitioned and not place.partition:
            raise InvalidInput(
                "queue.no_partition",
                f"queue `{place.queue}` is partitioned, and the run has no key",
                why="its limits hold for each key",
                fix="start it with partition=…",
            )
        if settings.max_waiting is not None:
            key = place.partition if settings.partitioned else None
            if await queues.waiting(place.namespace, name, key) >= settings.max_waiting:
                raise _full(name, settings.max_waiting, key)


def _full(name: str, most: int, key: str | None) -> Busy:
    where = "queues of the namespace" if name == EVERY_QUEUE else f"queue `{name}`"
    refusal = Busy(
        "queue.full",
        f"{most:,} runs wait on {where}" + (f" for `{key}`" if key else ""),
        why="more are not allowed",
        fix="try again later",
    )
    refusal.retry_after = _RETRY_AFTER
    return refusal


def _must_have_queue(given: Queueing) -> None:
    wanting = [name for name in ("dedup_id", "reject", "delay", "debounce") if given.get(name)]
    if wanting:
        raise _bad(f"`{wanting[0]}` without a queue", "name the queue that the run waits on")


def _span(name: str, given: float | timedelta | None) -> Millis:
    if given is None:
        return Millis(0)
    try:
        seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds <= _LONGEST:
        raise _bad(f"{name}={given!r}", "use seconds or a timedelta, of at most 100 years")
    return millis(seconds)


def _text(name: str, given: str) -> str:
    if not values.text(f"`{name}`", given, max_length=_KEY):
        raise _bad(f"{name}={given!r}", "leave it out, or give it some text")
    return given


def _bad(what: str, fix: str) -> InvalidInput:
    return InvalidInput("queue.bad_option", what, fix=fix)
