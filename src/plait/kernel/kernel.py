"""The kernel: what an engine is made of, wired together.

    callers ──> ReadyQueue ──> RunLoop ──────────────────> Dispatcher ──> Worker
                    ▲          decide, resolve, commit          ▲            │
                    ├───────────────────────────────────────────┴── results ─┘
                    │
                 Delivery <── Inbox, Timers, Takeover

`Ownership` says which shards are ours, `Takeover` what follows when they change hands.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from . import values
from .admitter import Admitter, withdrawal
from .background import Background
from .bundle import Bundle
from .callers import Callers, Outcome
from .clock import Alarm, Clock
from .delivery import Delivery
from .dispatcher import Dispatcher
from .engine_code import EngineCode
from .errors import LeaseLost, Unavailable
from .handover import Handover
from .ids import Epoch, Ids, Millis, RunId, Shard, run_key, shard_of
from .inbox import Inbox
from .inputs import AnyInput, Cancel, Start
from .journal_waiters import JournalWaiters
from .leases import Leases
from .limits import Limits
from .loader import Loader
from .loop import RunLoop
from .notice import Notify, by_service
from .observer import Observers
from .ownership import Ownership
from .part import Part
from .quarantine import Quarantine
from .queue_watch import QueueWatch
from .ready_queue import ReadyQueue
from .resolver import Resolve, Resolver
from .run import Run
from .run_cache import RunCache
from .run_queues import QueuedRun, waiting_on
from .sources import Sources
from .store import InboxRow, RunRow, Store, Taken, Verdict, Write
from .subscriptions import Subscriptions
from .takeover import Takeover
from .task import Worker
from .task_logs import TaskLogs
from .timers import Timers

log = logging.getLogger("plait.kernel")

_DRAWS = 64
"""Ids drawn to find one in a shard of this engine."""
_START = "~start"
"""The inbox key of a run's start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    owner: str
    lease_ttl: Millis = Millis(10_000)
    cache_size: int = 1000
    """Parked runs kept in memory, so that their next input needs no replay."""
    own_shards: bool = True
    """False: only start runs, send inputs and read; leave execution to other engines."""
    queues: Mapping[str, str] = field(default_factory=dict[str, str])
    """Queues by kind of task, for tasks that name none."""


class Kernel:
    def __init__(
        self,
        store: Store,
        bundles: Mapping[str, Bundle],
        worker: Worker,
        resolve: Resolve,
        *,
        clock: Clock,
        ids: Ids,
        limits: Limits,
        settings: Settings,
        observers: Observers | None = None,
        notify: Notify = by_service,
    ) -> None:
        self.store = store
        self.clock = clock
        self.ids = ids
        self.limits = limits
        self.observers = observers or Observers()
        self.code = EngineCode(bundles)
        self.loader = Loader(store, bundles, ids, limits, notify, settings.queues, self.code)
        self.leases = Leases()
        self.run_cache = RunCache(store, self.loader, self.leases, settings.cache_size, self.code)
        self.subscriptions = Subscriptions(store, clock, self.leases)
        self._worker = worker
        self._settings = settings
        self._queue = ReadyQueue()
        self._callers = Callers(store)
        self._background = Background(clock, self.observers)
        self.task_logs = TaskLogs(clock, self._queue)
        sources = Sources()
        quarantine = Quarantine(self._queue, sources)
        self.delivery = Delivery(
            self._queue,
            self.run_cache,
            self.leases,
            quarantine,
            sources,
            worker,
            self._background,
            Handover(self.code, clock),
        )
        self._inbox = Inbox(store, self.leases, self.delivery, self._background)
        self._timers = Timers(store, clock, self.leases, self.delivery, self._background)
        self.queue_watch = QueueWatch(store, clock, self.leases, self.delivery, self._background)
        self.admitter = Admitter(store, clock, self._queue, self._inbox, self._background, enabled=settings.own_shards)
        sources.add(self._inbox)
        sources.add(self._timers)
        self._takeover = Takeover(
            store=store,
            clock=clock,
            run_cache=self.run_cache,
            delivery=self.delivery,
            inbox=self._inbox,
            timers=self._timers,
            callers=self._callers,
            subscriptions=self.subscriptions,
            quarantine=quarantine,
            queue_watch=self.queue_watch,
            background=self._background,
            observers=self.observers,
        )
        self._ownership = Ownership(
            store, clock, settings.owner, settings.lease_ttl, self.leases, self._takeover, self._background, self.code
        )
        self.dispatcher = Dispatcher(
            worker=worker,
            queue=self._queue,
            run_cache=self.run_cache,
            delivery=self.delivery,
            inbox=self._inbox,
            timers=self._timers,
            callers=self._callers,
            subscriptions=self.subscriptions,
            task_logs=self.task_logs,
            journals=JournalWaiters(self._queue, self.run_cache),
            leases=self.leases,
            ownership=self._ownership,
            quarantine=quarantine,
            queue_watch=self.queue_watch,
            admitter=self.admitter,
            background=self._background,
            observers=self.observers,
        )
        self._resolver = Resolver(
            resolve,
            store.run_queues,
            self._queue,
            self.run_cache,
            self.dispatcher,
            self._background,
            limits.blob_threshold,
        )
        self.loop = RunLoop(store, clock, limits, self._queue, self._resolver, self.dispatcher, self.observers)
        self._news_heard: list[Callable[[], object]] = []
        self._closed = False

    # -- life ----------------------------------------------------------------------------------------------------

    @property
    def _parts(self) -> list[Part]:
        """The parts in start order; they are stopped in reverse."""
        owners: list[Part] = [self._ownership] if self._settings.own_shards else []
        return [
            self._background,
            self.loop,
            self.task_logs,
            self.subscriptions,
            self._timers,
            self.queue_watch,
            *owners,
            self.admitter,
        ]

    async def open(self, check: Callable[[], Awaitable[None]] | None = None) -> None:
        """Opens the kernel. `check` runs before any work: if it raises, the kernel stays closed."""
        await self.store.open()
        if check is not None:
            await check()
        self.store.watch(lambda: self._background.keep_trying(self._news), self._shown)
        if self.store.fleet is not None:
            self.store.fleet.watch(self._ownership.others_changed)
        for part in self._parts:
            await part.start()

    async def close(self) -> None:
        """Stops taking work, waits for the commit in flight, releases the shards."""
        if self.loop.alive:
            await self.task_logs.drain()
            await self.loop.drain()
            await self._takeover.leave_all()
        await self.crash()
        if self._settings.own_shards:
            try:
                await self._ownership.release()
            except Unavailable as error:
                log.warning("could not give up the shards; others take them when the leases run out: %s", error)
        await self.store.close()

    async def crash(self) -> None:
        """Drops everything at once, as `kill -9` does; the store keeps what was committed."""
        self._closed = True
        await self._worker.close()
        for part in reversed(self._parts):
            await part.stop()
        stopped = LeaseLost("the engine stopped")
        self.loop.abandon(stopped)
        self._callers.abandon(stopped)
        for run in self.run_cache.all():
            self.delivery.drop(run)

    @property
    def dead(self) -> asyncio.Task[None]:
        """Done when the run loop has died, which only a simulated crash or a bug causes."""
        return self.loop.task

    @property
    def renewal(self) -> Alarm | None:
        """Fires at the next renewal of the leases."""
        return self._ownership.alarm

    @property
    def closed(self) -> bool:
        return self._closed

    def must_live(self) -> None:
        """Raises if the engine is closed or dead: a caller would wait for ever."""
        if self._closed or not self.loop.alive:
            raise Unavailable("kernel.closed", "this engine is not open", fix="use it inside `async with Engine(...)`")

    @property
    def idle(self) -> bool:
        """Nothing happens until time passes or someone outside acts."""
        return self.loop.idle and not self._background and not self.run_cache.loading and not self.running

    @property
    def running(self) -> int:
        """How many tasks are in flight here."""
        return sum(run.state.tasks.running for run in self.run_cache.all())

    @property
    def resolving(self) -> int:
        """How many decisions wait for the definitions of their children."""
        return self._resolver.resolving

    @property
    def owner(self) -> str:
        return self._settings.owner

    def owns(self, run_id: RunId) -> bool:
        return self.leases.owns(run_id)

    async def shard_of(self, run_id: RunId) -> Shard:
        """The shard of a run in the store: by its id, unless it is in a pool."""
        row = None if self.store.fleet is None else await self.store.run(run_id)
        return shard_of(run_id) if row is None else row.shard

    async def _news(self) -> None:
        """Another process wrote something: an input, a task for workers, the end of a run, a released shard."""
        self._shown()
        self.queue_watch.ring()
        await self._callers.replies.look()
        await self._inbox.look()

    def _shown(self) -> None:
        """Runs of another process started, ended or were queued."""
        self.subscriptions.news()
        for heard in self._news_heard:
            heard()
        self.admitter.news()
        for run_id in list(self._callers.outcomes.waiting):
            if self.leases.may_be_elsewhere(run_id):
                self._callers.outcomes.notify(run_id, None)

    # -- what callers ask for ------------------------------------------------------------------------------------

    def new_row(
        self,
        namespace: str,
        id: str | None,
        dialect: str,
        definition: str,
        version: str | None,
        labels: dict[str, str],
        time_limit: Millis | None = None,
    ) -> RunRow:
        """The row of a new run."""
        now = self.clock.now()
        run_id = self._new_id(namespace, now) if id is None else run_key(namespace, id, new=True)
        return RunRow(
            id=run_id,
            namespace=namespace,
            dialect=dialect,
            definition=definition,
            version=version,
            shard=shard_of(run_id),
            labels=labels,
            created_at=now,
            deadline=None if time_limit is None else Millis(now + time_limit),
        )

    def _new_id(self, namespace: str, now: Millis) -> RunId:
        """A new id in a shard of this engine, if it has any: a run that another engine owns costs one more commit."""
        run_id = run_key(namespace, self.ids.run_id(now), new=True)
        for _ in range(_DRAWS if self.leases.epochs else 0):
            if shard_of(run_id) in self.leases:
                break
            run_id = run_key(namespace, self.ids.run_id(now), new=True)
        return run_id

    async def create(self, row: RunRow, start: Start) -> Verdict:
        """Creates a run; durable when this returns. `exists` if its id is taken."""
        while True:
            self.must_live()
            epoch = self.leases.epochs.get(row.shard)
            if epoch is None:
                return await self._create_for_others(row, start)
            if (pending := self._callers.starts.waiting.get(row.id)) is not None:
                await asyncio.wait([pending])
                return "exists"
            if row.id in self.run_cache.live:
                return "exists"
            run = self.run_cache.add_new(row, epoch)
            created = self._callers.starts.expect(row.id)
            self._queue.post(run, start)
            try:
                return await created
            except LeaseLost:
                if self._closed:
                    raise
                # The shard was lost before anything was written: create the run for its new owner

    async def _create_for_others(self, row: RunRow, start: Start) -> Verdict:
        inbox = InboxRow(row.id, row.shard, _START, values.plain(start), row.created_at)
        return await self._queue.append(Write(row.id, row.shard, None, create=row, inbox=[inbox]))

    async def enqueue(self, row: RunRow, start: Start, place: QueuedRun) -> Verdict:
        """Creates a run that waits on a queue; durable when this returns. `exists` if its id or its `dedup_id` is
        taken."""
        self.must_live()
        row.awake = False
        row.waiting = waiting_on(place.queue)
        inbox = InboxRow(row.id, row.shard, _START, values.plain(start), row.created_at)
        return await self._queue.append(Write(row.id, row.shard, None, create=row, inbox=[inbox], place=place))

    async def debounce(self, run_id: RunId, start: Start, delay: Millis) -> bool:
        """Replaces the start of a queued run and restarts its delay; False if it is no longer queued."""
        self.must_live()
        inbox = InboxRow(run_id, shard_of(run_id), _START, values.plain(start), self.clock.now())
        return await self._queue.append(Write(run_id, inbox.shard, None, inbox=[inbox], debounce=delay)) == "ok"

    async def send(self, run_id: RunId, input: AnyInput, key: str, *, queued: bool = False) -> None:
        """Puts an input into a run's inbox; durable when this returns. `queued`: the run may wait on a queue. It then
        gets the input once it has started; a cancel removes it from the queue."""
        self.must_live()
        row = InboxRow(run_id, shard_of(run_id), key, values.plain(input), self.clock.now(), behind=queued)
        if queued and isinstance(input, Cancel):
            await self._queue.append(withdrawal(run_id, input, key, row.at))
        else:
            await self._queue.append(Write(run_id, row.shard, None, inbox=[row]))

    async def reply(self, run_id: RunId, key: str) -> Taken:
        """Waits until the owner, here or in another process, has replied to an input."""
        self.must_live()
        return await self._callers.replies.reply(run_id, key)

    async def outcome(self, run_id: RunId) -> Outcome:
        """Waits until the run has ended or is blocked."""
        self.must_live()
        run = self.run_cache.get(run_id)
        moving = run is not None and run.state.status == "running" and run.blocked is None
        return await self._callers.outcomes.outcome(run_id, look_first=not moving)

    async def peek(self, row: RunRow) -> Run:
        """The run for reading, with exactly what is committed: the live one if it is here and matches the log,
        otherwise folded from the log. A pending decision may be refused, and an engine that lost its lease may not know
        that yet: the new owner may have continued the run."""
        head = (await self.store.heads([row.id])).get(row.id, 0)
        live = self.run_cache.get(row.id)
        if live is not None and not live.queued and live.state.seq == head:
            return live
        return await self.loader.load(row, Epoch(0))

    def on_news(self, heard: Callable[[], object]) -> None:
        """Registers a callback for writes by other processes."""
        self._news_heard.append(heard)

    def keep_trying(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs background work, and retries it while the store is unavailable."""
        self._background.keep_trying(work)

    def append(self, write: Write) -> asyncio.Future[Verdict]:
        """A write from outside any run; durable when the future is done."""
        self.must_live()
        return self._queue.append(write)


def millis(seconds: float) -> Millis:
    return Millis(round(seconds * 1000))
