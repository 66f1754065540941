"""Snapshots of graphs: every 200 events or ten seconds, and what a recovery makes of them."""

from __future__ import annotations

from typing import Any

from plait import graph, handler
from plait.kernel.ids import RunId, Seq
from plait.kernel.store import LogRow
from plait.stores.memory import MemoryStore
from plait.testing import sim


@handler("count_up")
async def count_up(payload: Any) -> Any:
    return {"n": (payload or {}).get("n", 0) + 1}


def counting(upto: int) -> Any:
    """Counts, then waits for a message."""
    loop = {"condition": f"output.n < {upto}", "max_iterations": 1_000}
    return graph(
        {
            "nodes": [
                {"id": "count", "type": "task", "config": {"handler": "count_up"}, "loop": loop},
                {"id": "wait", "type": "wait", "config": {"message": "go"}},
                {"id": "last", "type": "transform", "config": {"output": {"n": "$nodes.count.n"}}},
            ],
            "edges": [{"from": "count", "to": "wait"}, {"from": "wait", "to": "last"}],
            "limits": {"max_hops": 1_000},
        }
    )


_FIRST = Seq(0)


class Watched(MemoryStore):
    """Notes from where logs are read."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[int] = []

    async def log(
        self, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        self.begun.append(after)
        return await super().log(run_id, after, upto, limit)


async def test_a_recovery_begins_at_the_snapshot_of_200_events():
    store = Watched()
    async with sim([count_up], store=store) as s:
        run = await s.start(counting(90), {"n": 0}, id="r")
        await s.settle()
        found = await store.snapshot(RunId("r"))
        assert found is not None
        assert 200 <= found.seq < 210
        before = await run.view()
        await s.crash()
        store.begun.clear()
        run = await s.engine.get("r")
        await run.message("go")
        await s.settle()
        assert await run.result() == {"last": {"n": 90}}
        assert min(store.begun) == found.seq
        after = await run.view()
        assert [node.attempts for node in after.nodes if node.id == "count"] == [
            node.attempts for node in before.nodes if node.id == "count"
        ]
    await store.dispose()


async def test_a_short_run_gets_one_after_ten_seconds_with_something_new():
    store = MemoryStore()
    async with sim([count_up], store=store) as s:
        await s.start(counting(5), {"n": 0}, id="r")
        await s.settle()
        assert await store.snapshot(RunId("r")) is None
        await s.clock.advance(11)
        assert await store.snapshot(RunId("r")) is None, "time alone decides nothing"
        run = await s.engine.get("r")
        await run.message("other")
        await s.settle()
        found = await store.snapshot(RunId("r"))
        assert found is not None
        assert found.seq >= 10
    await store.dispose()
