"""A whole kernel on a virtual clock and a store in memory, with the toy dialect: everything real but time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from plait.kernel import values
from plait.kernel.bundle import Bundle, Resolved
from plait.kernel.callers import Outcome
from plait.kernel.errors import Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Ids, Millis, RunId, run_key, shard_of
from plait.kernel.inputs import AnyInput
from plait.kernel.kernel import Kernel, Settings
from plait.kernel.limits import Limits
from plait.kernel.loader import recorded
from plait.kernel.store import RunRow, Verdict, Write
from plait.stores.memory import MemoryStore, Moment
from plait.testing import VirtualClock
from plait.workers.local import LocalWorker
from tests.kernel.toy import Calls, Move, ToyBundle

LEASE = Millis(3_600_000)
_ROUNDS = 2_000


class CountingStore(MemoryStore):
    """Remembers every commit."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commits: list[list[Write]] = []
        self.gate: asyncio.Event | None = None
        """While there is one, a commit waits for it before it writes anything."""
        self.held: Callable[[Write], bool] = lambda write: False
        """A commit with such a write waits until it is let go."""
        self._let_go = asyncio.Event()
        self.holding = False
        self.away = False
        self.refusing: Callable[[Write], Verdict | None] = lambda write: None

    def release_held(self) -> None:
        self._let_go.set()

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        if any(map(self.held, writes)):
            self.holding = True
            await self._let_go.wait()
        if self.gate is not None:
            await self.gate.wait()
        if self.away:
            raise Unavailable("store.away", "the store is away")
        refused: dict[int, Verdict] = {
            index: verdict for index, write in enumerate(writes) if (verdict := self.refusing(write))
        }
        kept = [write for index, write in enumerate(writes) if index not in refused]
        self.commits.append(kept)
        verdicts = await super().commit(kept)
        for index in sorted(refused):
            verdicts.insert(index, refused[index])
        return verdicts


class SlowReads(CountingStore):
    """The first to read a run's row waits until it may."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.reading: asyncio.Event | None = None

    async def run(self, run_id: RunId) -> RunRow | None:
        if (reading := self.reading) is not None:
            self.reading = None
            await reading.wait()
        return await super().run(run_id)


class Rig:
    def __init__(
        self,
        store: MemoryStore | None = None,
        *,
        calls: Calls | None = None,
        dialect: Bundle | None = None,
        clock: VirtualClock | None = None,
        limits: Limits | None = None,
        cache_size: int = 1000,
        owner: str = "rig",
        own_shards: bool = True,
        ttl: Millis = LEASE,
    ) -> None:
        self.clock = clock or VirtualClock()
        self.store = store or CountingStore(clock=self.clock)
        self.clock.settle = self.settle
        self.dialect = dialect or ToyBundle(calls)
        self.kernel = Kernel(
            self.store,
            {self.dialect.name: self.dialect},
            LocalWorker(self.clock, executors=self.dialect.executors),
            self._resolve,
            clock=self.clock,
            ids=Ids(seed=7),
            limits=limits or Limits(),
            settings=Settings(owner=owner, lease_ttl=ttl, cache_size=cache_size, own_shards=own_shards),
        )

    async def _resolve(self, dialect: str, definition: Any, input: object, namespace: str) -> Resolved:
        return await self.dialect.resolve(self.dialect.read(definition), input, namespace)

    async def start(self, *program: Move, id: str = "run", namespace: str = DEFAULT_NAMESPACE, **more: Any) -> RunId:
        run_id = run_key(namespace, id)
        assert await self.create(*program, id=id, namespace=namespace, **more) == "ok"
        return run_id

    async def create(
        self,
        *program: Move,
        id: str = "run",
        namespace: str = DEFAULT_NAMESPACE,
        deadline: Millis | None = None,
        input: object = None,
    ) -> Verdict:
        resolved = await self.dialect.resolve(list(program), input, namespace)
        return await self.create_resolved(resolved, id, namespace, deadline)

    async def create_resolved(
        self, resolved: Resolved, id: str, namespace: str = DEFAULT_NAMESPACE, deadline: Millis | None = None
    ) -> Verdict:
        run_id = run_key(namespace, id)
        row = RunRow(
            id=run_id,
            namespace=namespace,
            dialect=self.dialect.name,
            definition=resolved.definition,
            version=resolved.version,
            shard=shard_of(run_id),
            created_at=self.clock.now(),
            deadline=deadline,
        )
        return await self.kernel.create(row, resolved.start(self.dialect.name, 1, deadline, {}))

    async def send(self, run_id: RunId, input: AnyInput, key: str) -> None:
        await self.kernel.send(run_id, input, key)
        await self.settle()

    async def ask(self, run_id: RunId, input: AnyInput, key: str = "asked") -> bytes | None:
        await self.kernel.send(run_id, input, key)
        return (await self.kernel.reply(run_id, key)).reply

    async def end(self, run_id: RunId) -> Outcome:
        """How the run ends; time that nobody uses is skipped."""
        waiting = asyncio.ensure_future(self.kernel.outcome(run_id))
        await self.settle()
        while not waiting.done():
            assert self.clock.ring(), f"nothing will ever happen to {run_id} again"
            await self.settle()
        return await waiting

    async def output(self, run_id: RunId) -> Any:
        outcome = await self.end(run_id)
        assert outcome.status == "completed", outcome
        return values.decode(outcome.output or values.NULL)

    async def row(self, run_id: RunId) -> RunRow:
        found = await self.store.run(run_id)
        assert found is not None
        return found

    async def types(self, run_id: RunId) -> list[str]:
        return [event.type for event in await recorded(self.store, run_id)]

    async def settle(self) -> None:
        """Until nothing moves, unless time passes, a step goes on by itself, or someone outside acts."""
        kernel, quiet = self.kernel, 0
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
            busy = kernel.dead.done() or not kernel.loop.idle or kernel.run_cache.loading
            quiet = 0 if busy else quiet + 1
            if kernel.dead.done() and not kernel.dead.cancelled() and kernel.dead.exception() is not None:
                raise Unavailable("kernel.dead", "the kernel died")
            if quiet > 10 or kernel.dead.done():
                return


@asynccontextmanager
async def rig(store: MemoryStore | None = None, **options: Any) -> AsyncIterator[Rig]:
    found = Rig(store, **options)
    await found.kernel.open()
    try:
        yield found
    finally:
        await found.kernel.close()
        if store is None:
            await found.store.dispose()


@asynccontextmanager
async def owner_and_client() -> AsyncIterator[tuple[Rig, Rig]]:
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with rig(store, clock=clock) as owner, rig(store, clock=clock, own_shards=False, owner="client") as client:
        yield owner, client
    await store.dispose()


async def news(*rigs: Rig) -> None:
    """What a store's `watch` says when another process has written."""
    for on in rigs:
        await on.kernel._news()  # pyright: ignore[reportPrivateUsage]
        await on.settle()


async def until(condition: Callable[[], bool]) -> None:
    """Lets the event loop go round until something is so; nothing sleeps."""
    for _ in range(_ROUNDS):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


class Outage:
    """Faults for a `MemoryStore`: away for some commits, at a moment of them."""

    def __init__(self, moment: Moment = "before", times: int = 1) -> None:
        self._moment = moment
        self.left = times

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        if self.left and moment == self._moment:
            self.left -= 1
            raise Unavailable("store.away", "the store is away")
