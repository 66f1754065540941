"""The kernel: what an engine is made of, wired together.

start, send ──> RunLoop (decide, commit, dispatch) ──> Worker
                  ▲   ▲   ▲                              │ results
       Inbox ──────┘   │   └──────────────────────────────┘
       Timers ────────┘        Ownership says which shards are ours
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from . import values
from .background import Background
from .births import Births
from .callers import Outcome, Waiters, outcome_of
from .clock import Clock
from .errors import LeaseLost, PlaitError, Unavailable
from .ids import Epoch, Ids, Millis, RunId, Shard, shard_of
from .inbox import Inbox
from .inputs import AnyInput, Resume, Start, TaskResult, TimerFired
from .limits import Limits
from .loader import Loader, info_of
from .loop import Hooks, RunLoop
from .machine import Dialect
from .observer import Observers
from .ownership import Ownership
from .quarantine import Quarantine, unreadable
from .replies import Replies
from .run import Run
from .run_cache import RunCache, Unreadable
from .store import InboxRow, RunRow, Store, Taken, TimerRow, Verdict, Write
from .subscriptions import Subscriptions
from .takeover import Recovery
from .task import Attempt, Worker
from .task_logs import TaskLogs
from .timers import Timers
from .unit_of_work import UnitOfWork

log = logging.getLogger("plait.kernel")

_CLOSING_PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    owner: str
    lease_ttl: Millis = Millis(10_000)
    cache_size: int = 1000
    """Parked runs kept in memory, so that their next input needs no replay."""
    own_shards: bool = True
    """False: only start runs, send inputs and read; leave the work to other engines."""


class Kernel:
    def __init__(
        self,
        store: Store,
        dialects: Mapping[str, Dialect],
        worker: Worker,
        *,
        clock: Clock,
        ids: Ids,
        limits: Limits,
        settings: Settings,
        observers: Observers | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.ids = ids
        self.limits = limits
        self.loader = Loader(store, dialects, ids, limits)
        self._worker = worker
        self._settings = settings
        self._births = Births()
        self._waiters = Waiters(store)
        self._replies = Replies(store)
        self._closed = False
        self._main: asyncio.Task[None] | None = None
        hooks = Hooks(
            committed=self._committed,
            refused=self._refused,
            failed=self._failed,
            broken=self._broken,
            appended=self._appended,
        )
        self.observers = observers or Observers()
        self._background = Background(clock, self.observers)
        self.loop = RunLoop(store, clock, limits, hooks, self.observers)
        self.task_logs = TaskLogs(clock, self.append)
        self._ownership = Ownership(
            store, clock, settings.owner, settings.lease_ttl, gained=self._gained, lost=self._lost, leave=self._leave
        )
        self.feed = Subscriptions(store, clock, self.owns)
        self.run_cache = RunCache(store, self.loader, self._ownership.epoch, settings.cache_size)
        self._recovery = Recovery(store, clock, self.run_cache, self._load_row, self.loop.sleep)
        self._inbox = Inbox(store, lambda: self._ownership.shards, self.deliver)
        self._timers = Timers(store, clock, lambda: self._ownership.shards, self._fire, self._background.keep_trying)
        self._quarantine = Quarantine(self._redeliver)

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        await self.store.open()
        self._main = asyncio.get_running_loop().create_task(self.loop.main(), name="plait.loop")
        self._main.add_done_callback(self._died)
        self.task_logs.open()
        self.store.watch(lambda: self._background.keep_trying(self._news))
        if self._settings.own_shards:
            self._ownership.keep(self._background.spawn)
            await self._ownership.refresh()

    async def close(self) -> None:
        """Stops taking work, lets the commit under way end, gives up the shards."""
        if self._main is not None and not self._main.done():
            await self.task_logs.close()
        self.loop.stop()
        if self._main is not None:
            await asyncio.wait([self._main], timeout=_CLOSING_PATIENCE)
            await self._recovery.part(self._recovery.parting(self.run_cache.all()))
        await self.crash()
        if self._settings.own_shards:
            try:
                await self._ownership.release()
            except Unavailable as error:
                log.warning("could not give up the shards; others take them when the leases run out: %s", error)
        await self.store.close()

    async def crash(self) -> None:
        """Drops everything without a word, as `kill -9` does; the store keeps what was committed."""
        self._closed = True
        self.feed.close()
        self._ownership.stop()
        self._timers.stop()
        await self._worker.close()
        await self._background.close()
        if self._main is not None:
            self._main.cancel()
            await asyncio.gather(self._main, return_exceptions=True)
        self._abandon(LeaseLost("the engine stopped"))
        for run in self.run_cache.all():
            self._drop(run)

    def _died(self, main: asyncio.Task[None]) -> None:
        """The run loop ended by itself: a bug, or a crash that a test made."""
        if not main.cancelled() and (error := main.exception()) is not None:
            if isinstance(error, Exception):
                log.critical("the run loop died; this engine does nothing more", exc_info=error)
            self._abandon(Unavailable("kernel.dead", "the engine died", why=str(error), fix="start it again"))

    @property
    def dead(self) -> asyncio.Task[None]:
        """Done when the run loop has died, which only a simulated crash or a bug makes it do."""
        if self._main is None:
            raise RuntimeError("the kernel is not open")
        return self._main

    def _abandon(self, error: PlaitError) -> None:
        """Whoever waits for something is told that it won't come from here."""
        self.loop.abandon(error)
        self._waiters.abandon(error)
        self._replies.abandon(error)
        self._births.abandon(error)

    @property
    def closed(self) -> bool:
        return self._closed

    def must_live(self) -> None:
        """Nobody may wait for an engine that does nothing more."""
        if self._closed or self._main is None or self._main.done():
            raise Unavailable("kernel.closed", "this engine is not open", fix="use it inside `async with Engine(...)`")

    @property
    def idle(self) -> bool:
        """Nothing moves until time passes or someone outside acts."""
        return self.loop.idle and not self._background and not self.run_cache.loading and not self.running

    @property
    def running(self) -> int:
        """How many tasks are under way here."""
        return sum(run.state.tasks.running for run in self.run_cache.all())

    @property
    def owner(self) -> str:
        return self._settings.owner

    @property
    def shards(self) -> int:
        """How many shards this engine owns."""
        return len(self._ownership.shards)

    def owns(self, run_id: RunId) -> bool:
        return self._ownership.epoch(shard_of(run_id)) is not None

    # -- what callers ask for ------------------------------------------------------------------------------------

    async def create(self, row: RunRow, start: Start) -> Verdict:
        """Makes a run; durable when this returns. `exists` if its id is taken."""
        while True:
            self.must_live()
            try:
                return await self._create(row, start)
            except LeaseLost:
                if self._closed:
                    raise
                # The shard went before anything was written: made for whoever owns it now

    async def _create(self, row: RunRow, start: Start) -> Verdict:
        epoch = self._ownership.epoch(row.shard)
        if epoch is None:
            inbox = InboxRow(row.id, row.shard, "~start", values.plain(start), row.created_at)
            return await self.loop.append(Write(row.id, row.shard, None, create=row, inbox=[inbox]))
        if (pending := self._births.get(row.id)) is not None:
            await asyncio.wait([pending])
            return "exists"
        if self.run_cache.get(row.id) is not None:
            return "exists"
        run = self.loader.fresh(info_of(row), epoch)
        run.create = row
        created = self._births.expect(row.id)
        self.run_cache.add(run)
        self.loop.post(run, start)
        return await created

    async def send(self, run_id: RunId, input: AnyInput, key: str) -> None:
        """Puts an input into a run's inbox; durable when this returns."""
        self.must_live()
        row = InboxRow(run_id, shard_of(run_id), key, values.plain(input), self.clock.now())
        await self.loop.append(Write(run_id, row.shard, None, inbox=[row]))

    async def ask(self, run_id: RunId, input: AnyInput, key: str) -> Taken:
        """Sends an input and waits until its owner, here or elsewhere, has answered it."""
        return await self._replies.ask(run_id, key, lambda: self.send(run_id, input, key))

    async def outcome(self, run_id: RunId) -> Outcome:
        """Waits until the run has ended, or is blocked."""
        self.must_live()
        run = self.run_cache.get(run_id)
        moving = run is not None and run.state.status == "running" and run.blocked is None
        return await self._waiters.outcome(run_id, look_first=not moving)

    async def peek(self, row: RunRow) -> Run:
        """The run for reading: the live one if it is here, else folded from the log."""
        return self.run_cache.get(row.id) or await self.loader.load(row, Epoch(0))

    async def append(self, write: Write) -> Verdict:
        self.must_live()
        return await self.loop.append(write)

    # -- inputs on their way in ----------------------------------------------------------------------------------

    def deliver(self, run_id: RunId, input: AnyInput, key: str | None) -> None:
        run = self.run_cache.wake(run_id)
        if run is not None:
            self.loop.post(run, input, key)
            return
        if self._quarantine.holds(run_id):
            return
        loading = self.run_cache.is_loading(run_id)
        self.run_cache.hold(run_id, input, key)
        if not loading:
            self._background.keep_trying(lambda: self._load(run_id))

    def _fire(self, timer: TimerRow) -> None:
        self.deliver(timer.run_id, TimerFired(timer.token), None)

    def report(self, run_id: RunId, result: TaskResult) -> None:
        """A worker says how an attempt ended."""
        run = self.run_cache.get(run_id)
        if run is not None:
            self.loop.post(run, result)

    async def _load(self, run_id: RunId, row: RunRow | None = None, *, suspect: bool = False) -> None:
        try:
            run, held = await self.run_cache.load(run_id, row)
        except Unreadable as problem:
            self._set_aside(run_id, unreadable(problem))
            return
        self._quarantine.discard(run_id)
        if run is None:
            if not self.owns(run_id):
                self._forget(run_id)  # else nobody knows it: its inputs stay where they are
            return
        if suspect:
            run.suspect()
        for input, key in [(Resume("wake" if row is None else "recover"), None), *held]:
            self.loop.post(run, input, key)

    # -- ownership -----------------------------------------------------------------------------------------------

    async def _gained(self, shards: list[Shard]) -> None:
        await self._background.now_or_later(lambda: self._recover(shards))

    async def _recover(self, shards: list[Shard]) -> None:
        suspects = await self._recovery.take_up(shards)
        self._waiters.look_again(shards)  # the owner before us may have ended a run that is waited for here
        self.feed.gained(shards)
        if suspects:
            self._background.spawn(self._recovery.one_by_one(suspects))
        await self._background.now_or_later(self._inbox.look)
        await self._background.now_or_later(self._timers.look)

    async def _load_row(self, row: RunRow, suspect: bool) -> None:
        await self._background.now_or_later(lambda: self._load(row.id, row, suspect=suspect))

    async def _leave(self, shards: set[Shard]) -> None:
        """Gives runs up that their next owner can have in peace."""
        left = self._recovery.parting([run for run in self.run_cache.all() if run.shard in shards])
        self._drop_shards(shards)
        await self._recovery.part(left)

    def _lost(self, shards: set[Shard]) -> None:
        self.observers.lost(len(shards))
        self._drop_shards(shards)

    def _drop_shards(self, shards: set[Shard]) -> None:
        self._quarantine.lost(shards)
        for run in [run for run in self.run_cache.all() if run.shard in shards]:
            if run.create is not None:  # nothing of it is on its way to the disk yet
                self._births.failed(run.id, LeaseLost())
            self._drop(run)
        self._background.keep_trying(self._news)  # what ended or was answered there already is not announced again

    async def _news(self) -> None:
        """Another process wrote something: an input, the end of a run, a shard given up."""
        self.feed.news()
        for run_id in self._waiters.awaited():
            if not self.owns(run_id):
                self._waiters.notify(run_id, None)
        await self._replies.look()
        await self._inbox.look()

    # -- after a commit ------------------------------------------------------------------------------------------

    def _committed(self, run: Run, draft: UnitOfWork, write: Write) -> None:
        if draft.create is not None:
            self._births.came(run.id, "ok")
        self._note_rows(write)
        self.feed.moved(run.id, listed=draft.create is not None or draft.patch is not None)
        if draft.events:
            self.observers.committed(run.info, draft.events, draft.at)
        if draft.ended or run.blocked is not None:
            self._waiters.notify(run.id, outcome_of(run))
        if not self.run_cache.has(run):
            return  # its shard was lost meanwhile: the new owner starts what follows
        for token in draft.revoked or ():
            self._worker.cancel(run.id, token)
        for task, attempt in draft.tasks:
            current = run.state.tasks.get(task.token)
            if current is not None and current.attempt == attempt and current.retry_at is None:
                self._worker.start(Attempt(run.id, task, attempt, current.progress, self.report, self.task_logs.note))
        if draft.more:
            self.loop.post(run, Resume("continue"))
        if not run.mailbox and not run.state.tasks.running:
            self.run_cache.park(run)

    def _note_rows(self, write: Write) -> None:
        run_id = write.run_id
        for taken in write.taken:
            self._inbox.taken(run_id, taken.key)
            self._replies.came(run_id, taken)
        for token in write.cleared:
            self._timers.fired(run_id, token)
        for timer in write.timers:
            self._timers.note(timer.due)
        for child in write.children:
            if self.owns(child.row.id):
                self._inbox.came(child.start)
        for row in write.inbox:
            if row.fallback is not None:  # it may have become a dead letter
                self._background.keep_trying(self._inbox.look)
            elif self.owns(row.run_id):
                self._inbox.came(row)

    def _appended(self, write: Write) -> None:
        self.feed.moved(write.run_id, listed=write.create is not None or write.patch is not None)
        if write.epoch is not None:  # of a run that was set aside
            self._note_rows(write)
            self._waiters.notify(write.run_id, None)
            self._quarantine.written(write.run_id)
        elif write.inbox and self.owns(write.run_id):
            self._background.keep_trying(self._inbox.look)

    # -- when a commit is refused --------------------------------------------------------------------------------

    def _refused(self, run: Run, draft: UnitOfWork, verdict: Verdict) -> None:
        self._drop(run)
        if verdict == "fenced":
            self._ownership.forget(run.shard, run.epoch)
            self._births.failed(run.id, LeaseLost())
            return
        if draft.create is None:
            log.warning("the log of run %s has moved on; reading it again", run.id)
            self._look_again(run.id)
        self._births.came(run.id, verdict)

    def _failed(self, run: Run, error: PlaitError) -> None:
        self._drop(run)
        if isinstance(error, Unavailable):
            self._look_again(run.id)
        self._births.failed(run.id, error)

    def _broken(self, run: Run, error: Exception) -> None:
        """Nothing of its round is kept. Who starts it is told; else it is blocked, until something new comes for it."""
        unborn = PlaitError("kernel.machine_error", "the run can't be started", why=str(error))
        if self._births.failed(run.id, unborn):
            self._drop(run)
            return
        self._set_aside(run.id, run.broken(error))
        self._stop(run)

    def _set_aside(self, run_id: RunId, write: Write) -> None:
        self._quarantine.add(run_id)
        self.loop.owe(write)

    def _redeliver(self, run_id: RunId) -> None:
        """Whatever waits for a run that was set aside, from the first on."""
        self._forget(run_id)
        self._background.keep_trying(self._inbox.look)
        self._background.keep_trying(self._timers.look)

    def _look_again(self, run_id: RunId) -> None:
        """A write of ours may be on disk although its answer was lost: nothing that came with it must be missed."""
        self.deliver(run_id, Resume("wake"), None)
        self._waiters.notify(run_id, None)
        self._background.keep_trying(self._news)
        self._background.keep_trying(self._timers.look)

    def _drop(self, run: Run) -> None:
        self._stop(run)
        self._forget(run.id)

    def _stop(self, run: Run) -> None:
        for token in run.state.tasks:
            self._worker.cancel(run.id, token)
        run.mailbox.clear()
        self.run_cache.evict(run)

    def _forget(self, run_id: RunId) -> None:
        self._inbox.forget(run_id)
        self._timers.forget(run_id)


def millis(seconds: float) -> Millis:
    return Millis(round(seconds * 1000))
