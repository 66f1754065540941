"""The run loop: decide, commit, dispatch, again and again, for all runs of this engine together.

Everything ready when a round begins is decided and goes to disk as one transaction (group commit). New results that
arrive meanwhile are the next round. If the store commits in another process, the next round is decided during the
commit, for other runs: each run waits for its own commit. A run's effects start only when its own decision is durable.
A run whose commit was refused is dropped from memory, never patched up.
"""

from __future__ import annotations

import asyncio
import logging
import time

from .advance import advance
from .clock import Clock, sleep
from .dispatcher import Dispatcher
from .errors import InvalidInput, PlaitError, Unavailable
from .ids import Millis
from .limits import Limits
from .observer import Observers
from .ready_queue import Entry, ReadyQueue, tell
from .resolver import Resolver
from .run import Run
from .store import Store, Verdict

log = logging.getLogger("plait.kernel")

_RUNS_AT_ONCE = 512
"""Runs decided before a commit: bounded to keep the event loop responsive."""
_LONGEST_WAIT = 2.0
_PATIENCE = 5.0
"""Seconds to wait for the commit in flight when the engine closes."""


class RunLoop:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        limits: Limits,
        queue: ReadyQueue,
        resolver: Resolver,
        dispatcher: Dispatcher,
        observers: Observers,
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._queue = queue
        self._resolver = resolver
        self._dispatcher = dispatcher
        self._observers = observers
        self._under_way: list[Entry] = []
        self._ahead: list[Entry] = []
        """Entries decided during the commit in flight."""
        self.main: asyncio.Task[None] | None = None
        self._stopping = False
        self.alive = False
        """True from the start of the loop until it has ended, for whatever reason."""
        self.committing = False
        """A transaction is in flight."""

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self.main = asyncio.get_running_loop().create_task(self._run(), name="plait.loop")
        self.alive = True
        self.main.add_done_callback(self._died)

    async def drain(self) -> None:
        """Ends after the commit in flight."""
        self._stopping = True
        self._queue.ring()
        if self.main is not None:
            await asyncio.wait([self.main], timeout=_PATIENCE)

    async def stop(self) -> None:
        if self.main is not None:
            self.main.cancel()
            await asyncio.gather(self.main, return_exceptions=True)

    def abandon(self, error: PlaitError) -> None:
        """Fails all callers that wait for a write."""
        for entry in self._under_way:
            tell(entry, error)
        for entry in self._ahead:
            tell(entry, error)
        self._ahead.clear()
        self._under_way.clear()  # the garbage collector does not track entries: they would keep their runs for ever
        self._queue.abandon(error)

    def _died(self, main: asyncio.Task[None]) -> None:
        """The loop ended. Unless cancelled, that is a bug, or a crash simulated by a test."""
        self.alive = False
        if not main.cancelled() and (error := main.exception()) is not None:
            if isinstance(error, Exception):
                log.critical("the run loop died; this engine does nothing more", exc_info=error)
            refusal = Unavailable("kernel.dead", "the engine died", why=str(error), fix="start it again")
            self.abandon(refusal)
            self._dispatcher.abandon(refusal)

    @property
    def task(self) -> asyncio.Task[None]:
        if self.main is None:
            raise RuntimeError("the kernel is not open")
        return self.main

    @property
    def idle(self) -> bool:
        return not (self._queue or self.committing or self._ahead)

    # -- a round -------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Runs until it is stopped, or a crash is simulated."""
        queue = self._queue
        while not self._stopping:
            if not (queue.runs or queue.entries or self._ahead):
                await queue.wait()
            entries, self._ahead = self._ahead, []
            if queue.entries:
                entries += queue.take()
            self._decide(entries)
            if entries:
                self._under_way = entries
                self.committing = True
                await (self._commit_and_decide(entries) if self._store.commits_elsewhere else self._commit(entries))
                self.committing = False
            await asyncio.sleep(0)  # let tasks that were just started run

    async def _commit_and_decide(self, entries: list[Entry]) -> None:
        """Commits, and decides other runs meanwhile."""
        queue = self._queue
        commit = asyncio.get_running_loop().create_task(self._commit(entries), name="plait.commit")
        commit.add_done_callback(lambda _: queue.ring())
        try:
            while not commit.done() and len(self._ahead) < _RUNS_AT_ONCE and not self._stopping:
                if queue.runs or queue.entries:
                    self._ahead += queue.take()
                    self._decide(self._ahead)
                    await asyncio.sleep(0)
                else:
                    await queue.wait()
            await commit
        finally:
            commit.cancel()  # not done only if the loop is being stopped

    def _decide(self, entries: list[Entry]) -> None:
        """Decides the runs that have inputs, and adds their writes."""
        now = self._clock.now()
        ready = self._queue.runs
        for _ in range(min(len(ready), _RUNS_AT_ONCE)):
            run = ready.popleft()
            if not run.mailbox:  # dropped since
                run.queued = False
                continue
            try:
                entry = self._advance(run, now)
            except Exception as error:
                log.critical("run %s could not be advanced; it is left as the log has it", run.id, exc_info=True)
                self._dispatcher.broken(run, error)
                continue
            if entry is not None:
                entries.append(entry)

    def _advance(self, run: Run, now: Millis) -> Entry | None:
        """The write of a run's round; None if there is nothing to write, or if the run's children must be resolved
        first."""
        unit = advance(run, now)
        if unit.unresolved is not None:
            self._resolver.resolve(run, unit)
            return None
        if not unit.events and unit.empty:
            run.queued = False
            # Nothing to write, but durable work may have to be started again
            self._dispatcher.committed(run, unit)
            self._queue.again(run)
            return None
        return Entry(unit.seal(self._limits.blob_threshold), run, unit)

    async def _commit(self, entries: list[Entry]) -> None:
        """Commits all entries in one transaction. While the store is unavailable, writes owed to the log are
        retried."""
        wait = 0.05
        while entries:
            try:
                began = time.perf_counter()
                verdicts = await self._store.commit([entry.write for entry in entries])
            except Unavailable as error:
                self._observers.unavailable(error)
                entries = [entry for entry in entries if not self._tell(entry, error)]
                self._tell_newcomers(error)
                if self._stopping or not entries:
                    return
                log.error("could not commit, will try again in %.2f s: %s", wait, error)
                await sleep(self._clock, wait)
                wait = min(wait * 2, _LONGEST_WAIT)
            except Exception as error:
                await self._commit_apart(entries, error)
                return
            else:
                if self._observers.any:
                    self._observers.grouped(len(entries), time.perf_counter() - began)
                entries.reverse()
                for verdict in verdicts:  # each entry is freed once settled, while it is in the CPU cache
                    self._settle(entries.pop(), verdict)
                return

    async def _commit_apart(self, entries: list[Entry], error: Exception) -> None:
        """One entry can't be stored at all: commits each by itself, so that the others don't suffer."""
        if len(entries) > 1:
            for entry in entries:
                await self._commit([entry])
            return
        [entry] = entries
        log.critical(
            "run %s: a write can't be stored; the run is left as the log has it", entry.write.run_id, exc_info=error
        )
        refusal = InvalidInput("store.unstorable", "this can't be stored", why=str(error))
        if not self._tell(entry, refusal) and entry.run is not None:
            self._dispatcher.broken(entry.run, error)

    def _settle(self, entry: Entry, verdict: Verdict) -> None:
        run, unit = entry.run, entry.unit
        if run is None or unit is None:
            if verdict == "ok":
                self._dispatcher.appended(entry.write)
            if entry.done is not None and not entry.done.done():
                entry.done.set_result(verdict)
            return
        run.queued = False
        if verdict == "ok":
            self._dispatcher.committed(run, unit)
            if run.mailbox:
                self._queue.again(run)
        else:
            self._dispatcher.refused(run, unit, verdict)

    # -- when the store is away ----------------------------------------------------------------------------------

    def _tell(self, entry: Entry, error: PlaitError) -> bool:
        """Fails the caller that waits for a write; False if there is none and the write is owed to the log."""
        if entry.done is not None:
            tell(entry, error)
            self._dispatcher.appended(entry.write)  # it may have been written all the same
            return True
        if entry.run is not None and entry.unit is not None and entry.write.create is not None:
            entry.run.queued = False
            self._dispatcher.failed(entry.run, error)
            return True
        return False

    def _tell_newcomers(self, error: PlaitError) -> None:
        """Fails callers that arrived during the tries: they must not wait until the store is available again."""
        self._ahead = [entry for entry in self._ahead if not self._tell(entry, error)]
        came = self._queue.take()
        self._queue.entries += [entry for entry in came if not self._tell(entry, error)]
        for run in [run for run in self._queue.runs if run.create is not None]:
            self._queue.runs.remove(run)
            run.queued = False
            self._dispatcher.failed(run, error)
