"""Limits of queues, their slot holders, and pausing and resuming."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from plait.kernel.admission import EVERY_QUEUE, SECOND, QueueSettings
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.kernel import Kernel, millis
from plait.kernel.queued import QUEUE_RULE, SeenWorker, is_queue
from plait.kernel.run_queues import QueueState, SlotHolder

from .seen_workers import RECENTLY

_HOLDERS = 1_000
_MOST = 2**31 - 1
_LONGEST = 366 * 86_400.0


class QueueControl:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def set(
        self,
        name: str,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        concurrency: int | None = None,
        per_worker: int | None = None,
        rate: int | None = None,
        period: float | timedelta = 1.0,
        partitioned: bool = False,
        max_waiting: int | None = None,
    ) -> QueueSettings:
        """Replaces the limits of a queue: they apply in every process to all later starts. `rate` is the number of
        starts per `period`. The name `*` sets limits for all queues of the namespace together. A paused queue stays
        paused."""
        self._check_name(name)
        limits = {"concurrency": concurrency, "per_worker": per_worker, "rate": rate, "max_waiting": max_waiting}
        for option, given in limits.items():
            _check_count(option, given)
        wanted = QueueSettings(
            concurrency=concurrency,
            per_worker=per_worker,
            rate=rate,
            period=SECOND if rate is None else millis(_seconds(period)),
            partitioned=partitioned,
            max_waiting=max_waiting,
        )
        return await self._change(name, namespace, lambda known: replace(wanted, paused=known.paused))

    async def pause(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> QueueSettings:
        """Pauses the queue: nothing starts; what is running continues."""
        self._check_name(name)
        return await self._change(name, namespace, lambda known: replace(known, paused=True))

    async def resume(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> QueueSettings:
        self._check_name(name)
        return await self._change(name, namespace, lambda known: replace(known, paused=False))

    async def list(self, *, namespace: str = DEFAULT_NAMESPACE) -> list[QueueState]:
        """Queues that have limits, or waiting or running entries."""
        self._kernel.must_live()
        return await self._kernel.store.run_queues.states(namespace)

    async def show(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> QueueState:
        """The state of one queue; an unused queue is empty."""
        self._check_name(name)
        found = [state for state in await self.list(namespace=namespace) if state.name == name]
        if found:
            return found[0]
        await self._kernel.store.run_queues.settings(namespace, name)  # those that are damaged are on no list
        return QueueState(namespace=namespace, name=name, settings=None)

    async def holders(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> list[SlotHolder]:
        """The slot holders of a queue, longest first: runs, and workers with their tasks."""
        self._check_name(name)
        self._kernel.must_live()
        return await self._kernel.store.run_queues.holders(namespace, name, _HOLDERS)

    async def workers(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> list[SeenWorker]:
        """The workers that asked for tasks of a queue lately."""
        self._check_name(name)
        self._kernel.must_live()
        seen = await self._kernel.store.queues.workers(namespace, RECENTLY)
        return [each for each in seen if each.queue == name]

    async def _change(
        self, name: str, namespace: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> QueueSettings:
        self._kernel.must_live()
        settings = await self._kernel.store.run_queues.change(namespace, name, change)
        self._kernel.admitter.ring(namespace)
        self._kernel.queue_watch.ring()
        return settings

    def _check_name(self, name: str) -> None:
        if name != EVERY_QUEUE and not is_queue(name):
            raise InvalidInput("queue.bad_name", f"queue {name[:80]!r}", fix=f"{QUEUE_RULE}; or `*` for all together")


def _check_count(option: str, given: int | None) -> None:
    least = 0 if option == "max_waiting" else 1
    if given is not None and (type(given) is not int or not least <= given <= _MOST):
        fix = f"use a whole number from {least}, or leave it out for no limit; `pause` stops a queue"
        raise InvalidInput("queue.bad_limit", f"{option}={given!r}", fix=fix)


def _seconds(period: float | timedelta) -> float:
    seconds = period.total_seconds() if isinstance(period, timedelta) else period
    if not 0.001 <= seconds <= _LONGEST:
        raise InvalidInput("queue.bad_limit", f"period={period!r}", fix="use seconds or a timedelta, of 1 ms to a year")
    return seconds
