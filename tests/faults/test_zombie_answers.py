"""What an engine answers that has lost its shards, or is about to: only what the log has.

It may hold an old state of a run, because it has not noticed yet that another owns it; or one that never was, because
what it decided is on its way to a store that will refuse it.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from plait import Context, Engine, Handle, step, workflow
from plait.kernel.census import Standing
from plait.kernel.errors import Unavailable
from plait.kernel.ids import Millis, Shard
from plait.kernel.leases import Lease
from plait.kernel.store import Verdict, Write
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock

TTL = 30.0


@step
async def noted() -> None:
    """Nothing is left to do."""


@workflow
async def listening(ctx: Context) -> str:
    """Tells each caller what it has heard."""
    heard: list[str] = []
    ctx.on_query("heard", lambda: heard)
    while "stop" not in heard:
        message = await ctx.listen(f"word-{len(heard)}", "word")
        assert message is not None
        heard.append(message.body)
        ctx.publish("last", message.body)
        await ctx.step(f"note-{len(heard)}", noted)
    return " ".join(heard)


class CutOff(MemoryStore):
    """One engine's leases can't be renewed, and its commits wait, for as long as the test wants."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock=clock)
        self.zombie: str | None = None
        self.held: set[Shard] = set()
        """Commits to these wait."""
        self.let_go = asyncio.Event()
        self.holding = asyncio.Event()

    async def renew(self, owner: str, ttl: Millis) -> Standing:
        self._cut(owner)
        return await super().renew(owner, ttl)

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        self._cut(owner)
        return await super().claim(owner, ttl, want)

    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None:
        self._cut(owner)
        await super().release(owner, shards)

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        if any(write.epoch is not None and write.shard in self.held for write in writes):
            self.holding.set()
            await self.let_go.wait()
        return await super().commit(writes)

    def _cut(self, owner: str) -> None:
        if owner == self.zombie:
            raise Unavailable("store.unreachable", "the engine is cut off")


@asynccontextmanager
async def two_engines() -> AsyncIterator[tuple[CutOff, VirtualClock, Engine, Engine]]:
    clock = VirtualClock()
    store = CutOff(clock)
    await store.open()
    options: dict[str, Any] = {"store": store, "clock": clock, "lease_ttl": TTL, "definitions": [listening]}
    async with Engine(**options) as one, Engine(**options) as other:
        for _ in range(6):
            await clock.advance(TTL / 3)
        yield store, clock, one, other
        store.zombie = None
        await clock.advance(TTL)
    await store.dispose()


async def start_on(engine: Engine) -> Handle[str]:
    """A run that this engine owns."""
    for number in range(1000):
        if (handle := await engine.start(listening, id=f"run-{number}")) and engine.kernel.owns(handle._run_id):
            return handle
    raise AssertionError("it owns no shard")


async def nodes_done(handle: Handle[Any]) -> list[str]:
    return [node.id for node in (await handle.view()).nodes if node.status == "completed" and "note" in node.id]


async def test_an_engine_that_does_not_know_yet_that_it_lost_a_run_tells_what_the_new_owner_did():
    async with two_engines() as (store, clock, zombie, other):
        run = await start_on(zombie)
        await run.message("word", "one")
        await clock.advance(1)
        assert await nodes_done(run) == ["note-1"]
        store.zombie = zombie.kernel.owner
        for _ in range(6):
            await clock.advance(TTL / 3)
        assert other.kernel.owns(run._run_id)
        assert zombie.kernel.owns(run._run_id)  # or so it believes
        await (await other.get(run.id)).message("word", "two")
        await clock.advance(1)
        assert await run.query("heard") == ["one", "two"]
        assert await run.published("last") == "two"
        assert await nodes_done(run) == ["note-1", "note-2"]


async def test_what_is_decided_and_not_committed_is_told_to_nobody():
    async with two_engines() as (store, clock, zombie, _):
        run = await start_on(zombie)
        await run.message("word", "one")
        await clock.advance(1)
        store.held = {(await run.row()).shard}
        await run.message("word", "two")
        await store.holding.wait()
        assert await run.query("heard") == ["one"]
        assert await run.published("last") == "one"
        assert await nodes_done(run) == ["note-1"]
        assert "note-2" not in [node.id for node in (await run.view()).nodes]
        store.held = set()
        store.let_go.set()
        await clock.advance(1)
        assert await nodes_done(run) == ["note-1", "note-2"]
