"""Delivers inputs to their run: to a live one, or to one loaded from the store."""

from __future__ import annotations

from .background import Background
from .handover import Handover
from .ids import RunId
from .inputs import AnyInput, Loaded
from .leases import Leases
from .quarantine import Quarantine, unreadable
from .ready_queue import ReadyQueue
from .run import Run
from .run_cache import Elsewhere, RunCache, Unreadable
from .sources import Sources
from .store import RunRow
from .task import Worker


class Delivery:
    def __init__(
        self,
        queue: ReadyQueue,
        run_cache: RunCache,
        leases: Leases,
        quarantine: Quarantine,
        sources: Sources,
        worker: Worker,
        background: Background,
        handover: Handover,
    ) -> None:
        self._queue = queue
        self._run_cache = run_cache
        self._leases = leases
        self._quarantine = quarantine
        self._sources = sources
        self._worker = worker
        self._background = background
        self._handover = handover

    def deliver(self, run_id: RunId, input: AnyInput, key: str | None) -> None:
        run = self._run_cache.wake(run_id)
        if run is not None:
            self._queue.post(run, input, key)
            return
        if self._quarantine.holds(run_id):
            return
        unclaimed = self._run_cache.claim(run_id)
        self._run_cache.hold(run_id, input, key)
        if unclaimed:
            self._background.keep_trying(lambda: self._load(run_id))

    async def take_over(self, row: RunRow, *, suspect: bool) -> None:
        """Loads a run that was in progress when its last owner stopped; `suspect`: the run may have caused that.
        Does nothing if the run is here, or an input for it came first."""
        if not self._run_cache.claim(row.id):
            return
        listed = [row]

        async def load() -> None:
            """Only the first try trusts the row as it was listed: by the next one, others may have owned the run."""
            await self._load(row.id, listed.pop() if listed else None, suspect=suspect)

        await self._background.now_or_later(load)

    async def _load(self, run_id: RunId, row: RunRow | None = None, *, suspect: bool = False) -> None:
        try:
            run, held = await self._run_cache.load(run_id, row)
        except Unreadable as problem:
            self._quarantine.add(run_id, unreadable(problem))
            return
        except Elsewhere as found:
            self._queue.owe(self._handover.write(found))
            return
        self._quarantine.discard(run_id)
        if run is None:
            if not self._leases.owns(run_id):
                self._sources.forget(run_id)  # otherwise it is unknown, and its inputs stay where they are
            return
        if suspect:
            run.suspect()
        for input, key in [(Loaded("wake" if row is None else "recover"), None), *held]:
            self._queue.post(run, input, key)

    def drop(self, run: Run) -> None:
        """Removes a run from memory; its new owner receives its inputs again."""
        self.stop(run)
        self._sources.forget(run.id)

    def moved(self, run_id: RunId) -> None:
        """The run moved to its pool, together with the inputs delivered here."""
        self._sources.forget(run_id)

    def gone(self, run_id: RunId) -> None:
        """The run was removed, together with its waiting inputs."""
        self._sources.forget(run_id)

    def stop(self, run: Run) -> None:
        for token in run.state.tasks:
            self._worker.cancel(run.id, token)
        run.mailbox.clear()
        self._run_cache.evict(run)
