"""Engines that share one store and one clock; they crash, are cut off, lose their shards, and come back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from plait.dialects.code.steps import StepInfo
from plait.engine.bundles import LazyBundle
from plait.engine.services import Services
from plait.kernel.approval import Approval
from plait.kernel.bundle import Bundle
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Epoch, Ids, Millis, RunId, Shard
from plait.kernel.limits import Limits
from plait.kernel.store import RunFilter, RunRow, Store, Write
from plait.registry.engine import Engine
from plait.stores.memory import MemoryStore
from plait.testing.clock import VirtualClock

from .door import Calm, Door
from .event_loop import ROUND
from .follow import DEFINITIONS
from .log_reader import LogReader
from .simulator import LEASE, SimulatedCrash
from .storm import Storm
from .world import World

TTL = 60.0
"""Seconds that a lease lasts if several engines compete."""
_CALM = 600.0
"""Seconds after the last storm in which engines come back, leases expire, and work that outlived its run is checked
again."""
_AN_AGE = 200 * 366 * 86_400_000
"""Milliseconds; an alarm further away than that is a lease renewal."""
_RINGS = 5_000
"""Timers without a commit after which a simulation counts as stuck."""
_LOOK = 2.0
"""Seconds within which an engine surely checks once for dead workers."""
_IDLE_RINGS = 6
"""Timers without a commit after which time is skipped that would bring nothing but lease renewals."""
_ALL_RINGS = 20_000
"""Timers in total, ten times as many as the longest simulation has needed."""
_ROUNDS = 200_000
"""Rounds of the event loop at one moment."""


class SimIds(Ids):
    """Draws the same seed for every run: one lost in a crash must not show in the output."""

    def seed(self) -> int:
        return 1


class SimEngine(Engine):
    """An engine with only the dialects it needs: a process that simulates all of them has all of them loaded."""

    def __init__(self, dialects: Collection[str], store: Store, **settings: Any) -> None:
        self._dialects = dialects
        super().__init__(store=store, **settings)

    def make_bundles(self, services: Services) -> Iterable[Bundle | LazyBundle]:
        return (each for each in super().make_bundles(services) if each.name in self._dialects)


class BrokenPromise(AssertionError):
    """The engine broke one of its guarantees."""


@dataclass(slots=True, eq=False)
class Place:
    """Where an engine runs, or will run again."""

    engine: Engine | None = None
    door: Door | None = None


class Setting(Protocol):
    """What a cluster needs to know of its scenario."""

    @property
    def seed(self) -> int: ...
    @property
    def engines(self) -> int: ...
    @property
    def code_cache(self) -> int: ...
    @property
    def blob_threshold(self) -> int: ...


class Cluster:
    def __init__(
        self,
        scenario: Setting,
        storm: Storm | None,
        definitions: Sequence[object] = DEFINITIONS,
        furnish: Callable[[Engine], None] = lambda engine: None,
        dialect: str = "code",
    ) -> None:
        """`furnish` is called with every engine before it opens. `dialect` is that of the runs; children may be
        code."""
        self.scenario = scenario
        self.definitions = definitions
        self.furnish = furnish
        self.dialects = ("code", dialect)
        self.storm = storm
        self.clock = VirtualClock()
        self.store = MemoryStore(clock=self.clock)
        self.logs = LogReader(self.store)
        self.world = World.current = World(self.clock, self._witness)
        self.approvals = asyncio.Event()
        self.queued = asyncio.Event()
        """Set when there are new approvals, or new tasks for workers."""
        self._opened = asyncio.Event()
        self.places = [Place() for _ in range(scenario.engines if storm else 1)]
        self._ids = SimIds(scenario.seed)
        self._doors: list[Door] = []
        self._rings_in_vain = 0
        self.commits = 0
        """Attempted commits."""
        self._running: tuple[int, list[RunRow]] = (-1, [])
        """The runs as of this many commits."""
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._ttl = TTL if len(self.places) > 1 else LEASE

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        await self.store.open()
        for place in self.places:
            self.spawn(self._open(place))

    async def close(self) -> None:
        for place in self.places:
            if place.engine is not None:
                await self._bury(place)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.store.dispose()

    def spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks[task] = None
        return task

    @property
    def alive(self) -> list[Engine]:
        return [place.engine for place in self.places if place.engine is not None]

    async def one_alive(self) -> list[Engine]:
        """Waits until at least one engine is alive; returns the live ones."""
        while not (found := self.alive):
            self._opened.clear()
            await self._opened.wait()
        return found

    async def _open(self, place: Place) -> None:
        scenario = self.scenario
        while True:
            door = Door(self.store, self.storm or Calm(), self._doors, self._notice)
            engine = SimEngine(
                self.dialects,
                definitions=self.definitions,
                code_cache=scenario.code_cache,
                limits=Limits(max_recoveries=1000, blob_threshold=scenario.blob_threshold),
                lease_ttl=self._ttl,
                store=door,
                clock=self.clock,
                ids=self._ids,
            )
            door.kernel = engine.kernel
            self.furnish(engine)
            try:
                await engine.__aenter__()
            except Unavailable:
                await self._leave(door)
                await self.clock.sleep(1.0)
            else:
                place.engine, place.door = engine, door
                self._opened.set()
                return

    async def _leave(self, door: Door) -> None:
        """The engine behind the door is gone, without a word to the store."""
        door.leave()
        if len(self.places) == 1 and door.kernel is not None:
            await self.store.release(door.kernel.owner)  # so that nobody else waits for the lease to expire

    async def crash(self, place: Place) -> None:
        await self._bury(place)
        pause = self.storm.random.choice((0.0, 1.0, 90.0)) if self.storm else 0.0
        self.clock.call_later(pause, lambda: self.spawn(self._open(place)))

    async def _bury(self, place: Place) -> None:
        engine, door = place.engine, place.door
        place.engine = place.door = None
        if engine is not None and door is not None:
            door.leave()
            await engine.kernel.crash()
            await self._leave(door)

    # -- time ----------------------------------------------------------------------------------------------------

    async def drive(self, done: Callable[[], Awaitable[bool]], look: Callable[[], Awaitable[None]]) -> None:
        """Lets everything happen, moment by moment, until `done`; `look` is called between the moments."""
        self._rings_in_vain = 0
        for _ in range(_ALL_RINGS):
            await self.quiesce()
            await look()
            if await done():
                return
            if self.storm is not None:
                await self._weather(self.storm)
                await self.quiesce()
            self._rings_in_vain += 1
            if self._rings_in_vain > _IDLE_RINGS:
                await self._skip_idle_time()
            if self._rings_in_vain > _RINGS or not self.clock.ring(self.clock.elapsed + _AN_AGE):
                break
        raise BrokenPromise(f"not all runs ended:\n{await self._why()}")

    async def _skip_idle_time(self) -> None:
        """Skips time that changes nothing: two engines that renew their leases through hours of sleep, or one that
        checks every second for a dead worker, take longer than everything else."""
        kernels = [engine.kernel for engine in self.alive]
        renewals = [kernel.renewal for kernel in kernels]
        looks = [kernel.queue_watch.alarm for kernel in kernels if kernel.queue_watch.alarm is not None]
        if not self._span([*renewals, *looks], _LOOK) or (looks and await self._any_claimed()):
            return
        idle = [*renewals, *looks]
        if len(self.places) > 1 and self._span(idle, self._ttl) and await self._at_ease():
            self.clock.skip(self._span(idle, self._ttl), idle)
            for engine in self.alive:
                await self._renew(engine)
        if looks and (span := self._span(looks, _LOOK)):
            self.clock.skip(span, looks)

    def _span(self, idle: Collection[object], margin: float) -> int:
        """Milliseconds until `margin` seconds before something else happens; 0 if that is soon."""
        due = self.clock.due_besides(idle)
        return 0 if due is None else max(0, due - self.clock.elapsed - round(margin * 1000))

    async def _any_claimed(self) -> bool:
        """Whether a worker has claimed a task of some run, which may expire."""
        rows = await self.store.runs(RunFilter(status="running", limit=1000))
        held = [task for row in rows for task in await self.store.queues.held(row.id)]
        return any(task.claim is not None for task in held)

    async def _at_ease(self) -> bool:
        """Every engine is alive, idle and has its share of shards; a running step that sleeps counts as idle."""
        for place in self.places:
            if place.engine is None or place.door is None or not place.door.open_wide:
                return False
            kernel = place.engine.kernel
            held = await self._renew(place.engine) if kernel.loop.idle else {}
            if held != kernel.leases.epochs or len(held) != SHARDS // len(self.places):
                return False
        return True

    async def _renew(self, engine: Engine) -> dict[Shard, Epoch]:
        standing = await self.store.renew(engine.kernel.owner, Millis(round(self._ttl * 1000)))
        return {lease.shard: lease.epoch for lease in standing.leases}

    async def calm_down(self) -> None:
        """Gives the engines time to process the last events."""
        self.storm = None
        limit = self.clock.elapsed + round(_CALM * 1000)
        for _ in range(_ALL_RINGS):
            if not self.clock.ring(limit):
                return
            await self.quiesce()
        raise BrokenPromise(f"the engines don't come to rest at {self.clock.time}")

    async def quiesce(self) -> None:
        """Runs until nobody has anything to do at this moment."""
        ready: object = getattr(asyncio.get_running_loop(), "_ready", None)
        if ready is None:
            raise RuntimeError("the simulation needs asyncio's own event loop")
        for _ in range(_ROUNDS):
            await ROUND
            for place in self.places:
                if place.engine is not None and place.engine.kernel.dead.done():
                    dead = place.engine.kernel.dead.exception()
                    if not isinstance(dead, SimulatedCrash):
                        raise BrokenPromise(f"the engine died: {dead!r}") from dead
                    await self.crash(place)
            if not ready:
                self._raise_failures()
                return
        raise BrokenPromise(f"there is always something to do at {self.clock.time}, and time can't pass")

    def _raise_failures(self) -> None:
        for task in [task for task in self._tasks if task.done()]:
            del self._tasks[task]
            if not task.cancelled():
                task.result()

    async def _weather(self, storm: Storm) -> None:
        random = storm.random
        living = [place for place in self.places if place.engine is not None]
        if living and storm.strikes("crash"):
            storm.seen.append("crash between commits")
            await self.crash(random.choice(living))
        if storm.strikes("steal"):
            await self._steal(storm)
        doors = [place.door for place in living if place.door is not None and place.door.open_wide]
        if doors and storm.strikes("cut"):
            self._cut(storm, random.choice(doors))
        if storm.strikes("clock"):
            shift = random.choice((-60, -5, 5, 60))
            storm.seen.append(f"the clock is set by {shift} s")
            self.clock.set(self.clock.time + timedelta(seconds=shift))

    async def _steal(self, storm: Storm) -> None:
        """As if its leases had expired: the first engine to look takes the shards, and the owner does not know."""
        if not self.alive:
            return
        victim = storm.random.choice(self.alive)
        shards = [Shard(number) for number in range(SHARDS) if storm.random.random() < 0.7]
        await self.store.release(victim.kernel.owner, shards)
        if storm.random.random() < 0.5:
            storm.seen.append(f"{len(shards)} shards are up for grabs")
        else:
            taken = await self.store.claim("a third engine, which dies at once", Millis(1000), SHARDS)
            storm.seen.append(f"{len(taken)} shards change hands")

    def _cut(self, storm: Storm, door: Door) -> None:
        seconds = storm.random.choice((5.0, 40.0, 150.0))
        whole = storm.random.random() < 0.4
        storm.seen.append(f"an engine is cut off for {seconds:g} s{'' if whole else ', but commits'}")
        door.shut, door.deaf = whole, not whole

        def reconnect() -> None:
            door.shut = door.deaf = False
            door.hear()  # it has missed the notifications sent meanwhile

        self.clock.call_later(seconds, reconnect)

    def _notice(self, writes: Sequence[Write]) -> None:
        """A commit was attempted."""
        self._rings_in_vain = 0
        self.commits += 1
        self.logs.changed()
        if any(isinstance(each, Approval) for write in writes for each in write.approvals):
            self.approvals.set()
        if any(write.queued for write in writes):
            self.queued.set()

    # -- looking -------------------------------------------------------------------------------------------------

    async def running(self) -> list[RunRow]:
        """The runs that have not ended, read again only after an attempted commit."""
        if self._running[0] != self.commits:
            commits = self.commits
            self._running = commits, await self.store.runs(RunFilter(status="running", limit=1000))
        return self._running[1]

    async def _witness(self, info: StepInfo) -> None:
        """Effects follow the commit: a step may begin only once its opening is on disk."""
        if not await self.logs.has(RunId(info.run_id), f'"at":"{info.path}"'.encode()):
            self.world.complaints.append(f"{info.run_id}: `{info.path}` began before it was on disk")

    async def _why(self) -> str:
        lines: list[str] = []
        loader = SimEngine(
            self.dialects, store=self.store, definitions=self.definitions, clock=self.clock
        ).kernel.loader
        for row in await self.store.runs(RunFilter(status="running", limit=1000)):
            run = await loader.load(row, Epoch(0))
            reasons = "; ".join(reason.text for reason in run.machine.waiting(run.state.tasks.facts()))
            lines.append(f"  {row.id} (awake={row.awake}, blocked={row.blocked}): {reasons}")
        return "\n".join(lines)
