"""Loops that go on for years: old events are compacted, and what is left stays as large as it was."""

import gc
from typing import Any

import pytest

from plait import Context, Limits, Loop, Undo, step, workflow
from plait.dialects.code.events import MessageQueued
from plait.dialects.code.history import MAX_SEEN, History
from plait.errors import Conflict
from plait.kernel.ids import Epoch, Millis, RunId
from plait.kernel.values import NULL
from plait.testing import Sim, SimRun, sim

from .conftest import Simulate

LIMITS = Limits(max_events=4_000, keep_events=1_000)


@step
async def add_one(number: int) -> int:
    return number + 1


@step
async def take_back(undo: Undo) -> None:
    return None


@workflow
async def counting(ctx: Context, until: int) -> int:
    first = await ctx.step("first", lambda: 100)

    async def body(c: Context, n: int) -> Any:
        if n == until:
            return Loop.break_(n + first)
        if n == 3_500:
            await c.listen("go")
        return Loop.continue_(await c.step("add", add_one, n))

    return await ctx.loop("count", body, state=0)


async def counted(s: Sim, until: int) -> SimRun:
    run = await s.start(counting, until, id="long")
    await run.message("go")
    assert await s.result(run) == until + 100
    return run


async def test_a_loop_may_have_more_events_than_a_run_may_keep(simulate: Simulate) -> None:
    async with simulate(limits=LIMITS) as s:
        run = await counted(s, 4_000)
        events = (await run.history()).events
        assert events[-1].seq > 8_000
        assert len(events) < LIMITS.max_events
        compacted = next(event for event in events if event.type == "log.compacted")
        assert events[0].type == "run.started"
        assert compacted.data["events"] == compacted.seq - events.index(compacted)
        assert [event.seq for event in events[events.index(compacted) :]] == list(
            range(compacted.seq, events[-1].seq + 1)
        )


async def test_what_is_loaded_and_stored_stays_small() -> None:
    sizes: list[tuple[int, int]] = []
    for until in (3_000, 9_000):
        async with sim([counting], limits=LIMITS) as s:
            run = await counted(s, until)
            snapshot = await s.store.snapshot(RunId("long"))
            assert snapshot is not None
            sizes.append((len((await run.history()).events), len(snapshot.body)))
    (events, bytes_), (more_events, more_bytes) = sizes
    assert more_events < events + 2 * LIMITS.keep_events
    assert more_bytes < bytes_ * 1.2


async def test_a_run_without_loops_still_meets_the_limit() -> None:
    @workflow
    async def flat(ctx: Context) -> None:
        for n in range(3_000):
            await ctx.sleep(f"s{n}", 0)

    async with sim([flat], limits=LIMITS) as s:
        run = await s.start(flat)
        await s.skip_until(run.ended)
        row = await run.row()
        assert row.error is not None
        assert row.error.code == "kernel.limit_exceeded"


async def test_a_compacted_run_survives_a_crash(simulate: Simulate) -> None:
    async with simulate(limits=LIMITS) as s:
        run = await s.start(counting, 4_000, id="long")
        await s.settle()
        assert any(event.type == "log.compacted" for event in (await run.history()).events)
        await s.crash()
        await run.message("go")
        assert await s.result(run) == 4_100


async def test_moments_that_are_kept_can_be_looked_at_and_forked() -> None:
    async with sim([counting], limits=LIMITS) as s:
        await counted(s, 4_000)
        handle = await s.engine.get("long")
        events = await handle.events()
        begins = next(event.seq for event in events if event.type == "log.compacted")
        for at in (begins, begins + 1, begins + 777, events[-1].seq):
            assert (await handle.view(at)).nodes
        fork = await handle.fork(at=begins + 500, id="fork")
        assert await fork.result() == 4_100
        again = await (await s.engine.get("fork")).fork(at=begins + 500, id="again")
        assert await again.result() == 4_100
        assert (await handle.picture()).input == 4_000, "the beginning is kept"


async def test_a_moment_that_was_compacted_is_refused_with_the_way_out() -> None:
    async with sim([counting], limits=LIMITS) as s:
        await counted(s, 4_000)
        handle = await s.engine.get("long")
        begins = next(event.seq for event in await handle.events() if event.type == "log.compacted")
        for ask in (handle.view(begins - 1), handle.fork(at=begins - 1), handle.rewind("first")):
            with pytest.raises(Conflict, match=f"use an event from {begins:,} on") as caught:
                await ask
            assert caught.value.code == "kernel.compacted"


async def test_a_snapshot_of_another_release_is_not_read_as_if_events_were_there() -> None:
    async with sim([counting], limits=LIMITS) as s:
        run = await counted(s, 4_000)
        s.store._db.execute("""update snapshots set body = '{"kernel": 1}'""")  # type: ignore[union-attr]
        with pytest.raises(Conflict) as caught:
            await s.engine.kernel.loader.load(await run.row(), Epoch(0))
        assert caught.value.code == "kernel.unreadable_snapshot"


async def test_ids_of_old_messages_are_forgotten_in_the_order_they_came() -> None:
    history = History(RunId("run"))
    for number in range(MAX_SEEN + 5):
        history.evolve(MessageQueued(f"m{number}", "m", NULL, Millis(0)), Millis(0))
        history.queue.clear()
    restored = History(RunId("run"))
    restored.restore(history.snapshot())
    assert list(restored.seen) == list(history.seen) == [f"m{n}" for n in range(5, MAX_SEEN + 5)]


async def test_rollback_handlers_of_trimmed_iterations_are_not_kept_in_memory() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def body(c: Context, n: int) -> Any:
            await c.step("do", add_one, n, rollback=take_back)
            await c.listen("go") if n == 200 else None
            return Loop.continue_(n + 1)

        await ctx.loop("l", body, state=0)

    async with sim([w]) as s:
        await s.start(w, id="run")
        await s.settle()
        gc.collect()
        live = s.engine.kernel.run_cache.get(RunId("run"))
        assert live is not None
        assert len(live.machine._replay.handlers) <= 41  # type: ignore[attr-defined]
