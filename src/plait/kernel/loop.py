"""The run loop: decide, commit, dispatch; over and over, for all runs of this engine together.

Whatever is ready when a round begins is decided and goes to disk as one transaction (group commit).
While that is under way new results pile up; they are the next round. A run's effects start only when
its own decision is durable. A run whose commit was refused is dropped from memory, never patched up.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from .clock import Clock
from .errors import InvalidInput, PlaitError, Unavailable
from .inputs import AnyInput
from .limits import Limits
from .observer import Observers
from .run import Run
from .store import Store, Verdict, Write
from .unit_of_work import UnitOfWork

log = logging.getLogger("plait.kernel")

_RUNS_AT_ONCE = 512
"""Runs decided before a commit: keeps the event loop responsive."""
_LONGEST_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the rest of the kernel does when something is on disk, or is not."""

    committed: Callable[[Run, UnitOfWork, Write], None]
    refused: Callable[[Run, UnitOfWork, Verdict], None]
    failed: Callable[[Run, PlaitError], None]
    broken: Callable[[Run, Exception], None]
    appended: Callable[[Write], None]


class _Entry(msgspec.Struct):
    """A write on its way to disk: of a run's decision, or of a caller who waits for it."""

    write: Write
    run: Run | None = None
    draft: UnitOfWork | None = None
    done: asyncio.Future[Verdict] | None = None
    """Without a run and a caller it is owed to the log: it is tried until it is there."""


class RunLoop:
    def __init__(self, store: Store, clock: Clock, limits: Limits, hooks: Hooks, observers: Observers) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._hooks = hooks
        self._observers = observers
        self._ready: deque[Run] = deque()
        self._outside: list[_Entry] = []
        self._under_way: list[_Entry] = []
        self._bell: asyncio.Future[None] | None = None
        self._stopping = False
        self.committing = False
        self.beats = 0
        """Grows with every round; the watchdog looks at it."""

    def post(self, run: Run, input: AnyInput, key: str | None = None) -> None:
        """Puts an input into a run's mailbox."""
        run.mailbox.append((input, key))
        if not run.queued:
            run.queued = True
            self._ready.append(run)
            self._ring()

    async def append(self, write: Write) -> Verdict:
        """A write from outside any run: durable when this returns."""
        done: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._outside.append(_Entry(write, done=done))
        self._ring()
        return await done

    def owe(self, write: Write) -> None:
        """A write that must get to disk, before anything that is decided from now on."""
        self._outside.append(_Entry(write))
        self._ring()

    @property
    def idle(self) -> bool:
        return not (self._ready or self._outside or self.committing)

    def stop(self) -> None:
        """Ends `main` after the commit that is under way."""
        self._stopping = True
        self._ring()

    async def main(self) -> None:
        """Runs until it is stopped, or a crash is simulated."""
        while not self._stopping:
            if not (self._ready or self._outside):
                self._bell = asyncio.get_running_loop().create_future()
                await self._bell
            self.beats += 1
            entries, self._outside = self._outside, []
            entries += self._decide()
            if entries:
                self._under_way = entries
                self.committing = True
                await self._commit(entries)
                self.committing = False
            await asyncio.sleep(0)  # let tasks that were just started run

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    def _decide(self) -> list[_Entry]:
        entries: list[_Entry] = []
        threshold = self._limits.blob_threshold
        now = self._clock.now()
        ready = self._ready
        for _ in range(min(len(ready), _RUNS_AT_ONCE)):
            run = ready.popleft()
            if not run.mailbox:  # dropped meanwhile
                run.queued = False
                continue
            try:
                draft = run.advance(now)
                write = None if draft.empty else draft.write(threshold)
            except Exception as error:
                log.critical("run %s could not be advanced; it is left as the log has it", run.id, exc_info=True)
                self._hooks.broken(run, error)
                continue
            if write is None:
                run.queued = False
                # Nothing to write, but what is durable already may have to be started again
                self._hooks.committed(run, draft, Write(run.id, run.shard, run.epoch))
                self._requeue(run)
            else:
                entries.append(_Entry(write, run, draft))
        return entries

    async def _commit(self, entries: list[_Entry]) -> None:
        """One transaction for all. While the store is away, what is owed to the log is tried again."""
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
                await self.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
            except Exception as error:
                await self._commit_apart(entries, error)
                return
            else:
                self._observers.grouped(len(entries), time.perf_counter() - began)
                for entry, verdict in zip(entries, verdicts, strict=True):
                    self._settle(entry, verdict)
                return

    async def _commit_apart(self, entries: list[_Entry], error: Exception) -> None:
        """One of them can't be stored at all; the others must not suffer for it."""
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
            self._hooks.broken(entry.run, error)

    def _settle(self, entry: _Entry, verdict: Verdict) -> None:
        run, draft = entry.run, entry.draft
        if run is None or draft is None:
            if verdict == "ok":
                self._hooks.appended(entry.write)
            if entry.done is not None and not entry.done.done():
                entry.done.set_result(verdict)
            return
        run.queued = False
        if verdict == "ok":
            self._hooks.committed(run, draft, entry.write)
            self._requeue(run)
        else:
            self._hooks.refused(run, draft, verdict)

    def _tell(self, entry: _Entry, error: PlaitError) -> bool:
        """Tells whoever waits for a write that it failed; False if nobody does and it is owed to the log."""
        if entry.done is not None:
            if not entry.done.done():
                entry.done.set_exception(error)
            self._hooks.appended(entry.write)  # it may be there all the same
            return True
        if entry.run is not None and entry.draft is not None and entry.draft.create is not None:
            entry.run.queued = False
            self._hooks.failed(entry.run, error)
            return True
        return False

    def _tell_newcomers(self, error: PlaitError) -> None:
        """Those who came while something else was tried: they must not wait for as long as the store is away."""
        came, self._outside = self._outside, []
        self._outside += [entry for entry in came if not self._tell(entry, error)]
        for run in [run for run in self._ready if run.create is not None]:
            self._ready.remove(run)
            run.queued = False
            self._hooks.failed(run, error)

    def _requeue(self, run: Run) -> None:
        if run.mailbox and not run.queued:
            run.queued = True
            self._ready.append(run)

    async def sleep(self, seconds: float) -> None:
        """By the kernel's clock."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._clock.call_later(seconds, lambda: woken.done() or woken.set_result(None))
        await woken

    def abandon(self, error: PlaitError) -> None:
        """The engine stops: whoever waits for a write is told."""
        for entry in [*self._under_way, *self._outside]:
            if entry.done is not None and not entry.done.done():
                entry.done.set_exception(error)
        self._outside.clear()
