"""Resolves the children that a decision requests by reference, after the decision and before its commit.

Resolving reads what other processes saved, so it can't be part of a decision, and it must not delay other runs. The
unit of work waits for it separately; then it is committed with the children in it, all or nothing as always.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from . import values
from .apply_effects import add_child, known_child, refuse_child
from .background import Background
from .bundle import Resolved
from .dispatcher import Dispatcher
from .effects import StartChild
from .errors import PlaitError, Unavailable
from .queue_options import check_limits, checked, place_of
from .ready_queue import Entry, ReadyQueue
from .run import Run
from .run_cache import RunCache
from .run_queues import ChildQueueing, QueuedRun, RunQueues
from .unit_of_work import UnitOfWork

log = logging.getLogger("plait.kernel")


class Resolve(Protocol):
    """Resolves a definition, for children and direct starts alike."""

    async def __call__(self, dialect: str, definition: Any, input: object, namespace: str) -> Resolved: ...


class Resolver:
    def __init__(
        self,
        resolve: Resolve,
        run_queues: RunQueues,
        queue: ReadyQueue,
        run_cache: RunCache,
        dispatcher: Dispatcher,
        background: Background,
        blob_threshold: int,
    ) -> None:
        self._resolve = resolve
        self._run_queues = run_queues
        self._queue = queue
        self._run_cache = run_cache
        self._dispatcher = dispatcher
        self._background = background
        self._blob_threshold = blob_threshold
        self.resolving = 0
        """How many units of work wait for their children to be resolved: for a database, or for a compiler's thread."""

    def resolve(self, run: Run, unit: UnitOfWork) -> None:
        """Resolves the children of a unit of work, and then submits it to be committed."""
        self._background.keep_trying(lambda: self._complete(run, unit))

    async def _complete(self, run: Run, unit: UnitOfWork) -> None:
        children = unit.unresolved or []
        self.resolving += 1
        try:
            found = [await self._child(child, run) for child in children]
        finally:
            self.resolving -= 1
        if not self._run_cache.has(run):
            return  # its shard was lost meanwhile
        unit.unresolved = None
        try:
            for child, each in zip(children, found, strict=True):
                if isinstance(each, Exception):
                    refuse_child(child, each, run, unit)
                else:
                    add_child(each.child, each.resolved, run, unit, each.place)
            self._queue.add(Entry(unit.seal(self._blob_threshold), run, unit))
        except Exception as error:
            self._dispatcher.broken(run, error)

    async def _child(self, child: StartChild, run: Run) -> _Ready | Exception:
        try:
            child = _inheriting(child, run)
            place = await self._place(child, run)
            if child.resolved is not None:
                return _Ready(child, known_child(child, child.resolved), place)
            input, namespace = values.decode(child.input), run.info.namespace
            return _Ready(child, await self._resolve(child.dialect, child.definition, input, namespace), place)
        except Unavailable:
            raise
        except PlaitError as refusal:
            return refusal
        except Exception as error:
            log.exception("child %s of run %s could not be resolved", child.run_id, run.id)
            return error

    async def _place(self, child: StartChild, run: Run) -> QueuedRun | None:
        """The child's place on its queue; raises if the queue can't take it."""
        if child.queueing is None:
            return None
        place = place_of(run.info.namespace, checked(child.queueing), child.deadline)
        if place is not None:
            await check_limits(self._run_queues, place)
        return place


class _Ready(NamedTuple):
    child: StartChild
    resolved: Resolved
    place: QueuedRun | None


def _inheriting(child: StartChild, run: Run) -> StartChild:
    """A queued child inherits its parent's priority and key, unless it names its own."""
    own = run.state.queueing
    if child.queueing is None or own is None:
        return child
    given: ChildQueueing = {"priority": own.priority, "partition": own.partition or None}
    given.update(child.queueing)
    return replace(child, queueing=given)
