"""A deep check beside whoever works: what changes while it reads is no damage."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Context, workflow
from plait.api.retention import RetentionRules
from plait.engine.deep_check import DeepCheck
from plait.kernel.ids import Millis, RunId, Seq
from plait.kernel.store import LogRow, Snapshot, Store, Write
from plait.testing import sim

LARGE = "x" * 50_000


@workflow
async def echo(ctx: Context, given: str) -> str:
    return await ctx.step("say", lambda: given)


async def findings(store: Store) -> list[str]:
    return [str(error) async for error in DeepCheck(store).findings()]


async def test_a_run_that_is_removed_while_it_is_read_is_not_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    async with sim([echo]) as s:
        engine, store = s.engine, s.engine.kernel.store
        for id in ("old", "newest"):
            await s.start(echo, f"{id} {LARGE}", id=id)
        await s.settle()
        await engine.retention.set(RetentionRules(completed=Millis(1)))
        await s.clock.advance(10)
        read, removed = store.log, 0

        async def log(run_id: RunId, *place: Any) -> list[LogRow]:
            nonlocal removed
            found = await read(run_id, *place)
            if run_id == "old":
                removed += await engine.retention.apply()
            return found

        monkeypatch.setattr(store, "log", log)
        assert await findings(store) == []
        assert removed == 1


async def test_a_snapshot_that_is_made_while_the_log_is_read_is_not_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    async with sim([echo]) as s:
        store = s.engine.kernel.store
        await s.start(echo, "a", id="a")
        await s.settle()
        row = await store.run(RunId("a"))
        assert row is not None
        read = store.log

        async def log(run_id: RunId, *place: Any) -> list[LogRow]:
            found = await read(run_id, *place)
            snapshot = Snapshot(Seq(100), Millis(1), b"{}")  # of events that came after this look
            assert await store.commit([Write(row.id, row.shard, None, snapshot=snapshot)]) == ["ok"]
            return found

        monkeypatch.setattr(store, "log", log)
        assert await findings(store) == []
        monkeypatch.undo()
        [found] = await findings(store)  # nobody appended them
        assert "its last events are missing" in found
