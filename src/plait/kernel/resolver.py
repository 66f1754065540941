"""Children that a decision asks for by reference: resolved after the decision and before its commit.

Resolving reads what other processes saved, so it can't be part of a decision, and it must not hold up other runs. The
unit of work waits for it apart; then it goes to disk with the children in it, all or nothing as ever.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

from . import values
from .apply_effects import add_child, refuse_child
from .background import Background
from .bundle import Resolved
from .dispatcher import Dispatcher
from .effects import StartChild
from .errors import PlaitError, Unavailable
from .ready_queue import Entry, ReadyQueue
from .run import Run
from .run_cache import RunCache
from .unit_of_work import UnitOfWork

log = logging.getLogger("plait.kernel")


class Resolve(Protocol):
    """The same for children as for whoever starts a run."""

    async def __call__(self, dialect: str, definition: Any, input: object, namespace: str) -> Resolved: ...


class Resolver:
    def __init__(
        self,
        resolve: Resolve,
        queue: ReadyQueue,
        run_cache: RunCache,
        dispatcher: Dispatcher,
        background: Background,
        blob_threshold: int,
    ) -> None:
        self._resolve = resolve
        self._queue = queue
        self._run_cache = run_cache
        self._dispatcher = dispatcher
        self._background = background
        self._blob_threshold = blob_threshold
        self.resolving = 0
        """How many units of work wait for their children to be resolved: for a database, or for a compiler's thread."""

    def resolve(self, run: Run, unit: UnitOfWork) -> None:
        """Resolves the children of a unit of work, and then lets it be committed."""
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
            for child, resolved in zip(children, found, strict=True):
                if isinstance(resolved, Resolved):
                    add_child(child, resolved, run, unit)
                else:
                    refuse_child(child, resolved, run, unit)
            self._queue.add(Entry(unit.seal(self._blob_threshold), run, unit))
        except Exception as error:
            self._dispatcher.broken(run, error)

    async def _child(self, child: StartChild, run: Run) -> Resolved | Exception:
        try:
            return await self._resolve(child.dialect, child.definition, values.decode(child.input), run.info.namespace)
        except Unavailable:
            raise
        except PlaitError as refusal:
            return refusal
        except Exception as error:
            log.exception("child %s of run %s could not be resolved", child.run_id, run.id)
            return error
