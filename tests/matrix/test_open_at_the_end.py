"""What a run had open when it ended does not go on: nothing of it is shown as running. What outlives it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import Context, Engine, workflow
from plait.dialects.code.op import Op
from plait.engine.handle import Handle
from plait.errors import RunFailed
from tests.matrix.families import PAIRS, Family
from tests.matrix.world import World


class Held(World):
    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def do(self, name: str, given: object) -> dict[str, int]:
        if name == "second":
            self.reached.set()
            await asyncio.Event().wait()
        return {"n": 1, name: 1}


async def shown(handle: Handle[Any]) -> dict[str, str]:
    with pytest.raises(RunFailed):
        await handle.result()
    return {node.id: node.status for node in (await handle.view()).nodes}


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{one}-{other}" for one, other in PAIRS])
async def test_nothing_of_a_cancelled_family_is_shown_as_running(one: str, other: str) -> None:
    world = Held()
    family = Family(one, other, world, undoable=False)
    async with Engine("memory:", definitions=family.definitions) as engine:
        handle = await engine.start(family.parent, {"n": 1}, id="top")
        await world.reached.wait()
        [inner] = [row for row in await engine.runs() if row.parent is not None]
        await handle.cancel()
        await shown(await engine.get(inner.id))
        for run in (handle, await engine.get(inner.id)):
            statuses = (await shown(run)).values()
            assert not {"cancelled", "failed"}.isdisjoint(statuses)  # a step of refs fails with its cancelled child
            assert {"running", "waiting", "retrying"}.isdisjoint(statuses)


@workflow
async def child(ctx: Context) -> None:
    await ctx.listen("never")


@workflow
async def parent(ctx: Context) -> None:
    waits = asyncio.create_task(wait(ctx.child("run", child, id="inner", on_parent_close="abandon")))
    await ctx.listen("end")
    raise ValueError(f"the end, before that of {waits}")


async def wait(op: Op[None]) -> None:
    await op


@workflow
async def parent_of_many(ctx: Context) -> None:
    names = [f"run {number}" for number in range(120)]
    waits = [asyncio.create_task(wait(ctx.child(name, child, id=name, on_parent_close="abandon"))) for name in names]
    await ctx.listen("end")
    raise ValueError(f"the end, before that of {len(waits)}")


async def test_all_of_many_children_that_outlive_their_parent_are_shown_as_running() -> None:
    async with Engine("memory:", definitions=[parent_of_many, child]) as engine:
        handle = await engine.start(parent_of_many)
        await handle.message("end")
        assert set((await shown(handle)).values()) == {"running", "completed"}  # the message is completed


async def test_a_child_that_outlives_its_parent_is_shown_as_running_until_it_ends() -> None:
    async with Engine("memory:", definitions=[parent, child]) as engine:
        handle = await engine.start(parent, id="top")
        await handle.message("end")
        assert (await shown(handle))["run"] == "running"
        inner = await engine.get("inner")
        await inner.cancel()
        await shown(inner)
        assert (await shown(handle))["run"] == "cancelled"
