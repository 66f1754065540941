"""The id of a child may be another run's: its parent hears that at once, and every time."""

import asyncio

import pytest

from plait import Context, workflow
from plait.errors import RunExistsError

from .conftest import Simulate


@workflow
async def kid(ctx: Context) -> str:
    return "kid"


async def start(ctx: Context, name: str, id: str) -> str:
    try:
        return await ctx.child(name, kid, id=id)
    except RunExistsError:
        return "conflict"


@pytest.mark.parametrize("ended", [True, False])
async def test_every_child_whose_id_is_taken_is_refused(ended: bool, simulate: Simulate) -> None:
    @workflow
    async def sleeper(ctx: Context) -> None:
        await ctx.sleep("s", 1e6)

    @workflow
    async def w(ctx: Context) -> list[str]:
        one_by_one = [await start(ctx, f"c{n}", "taken") for n in range(3)]
        together = await asyncio.gather(*[start(ctx, f"d{n}", "taken") for n in range(3)])
        return [*one_by_one, *together, await start(ctx, "self", ctx.run_id), await start(ctx, "free", "free")]

    async with simulate([kid]) as s:
        other = await s.start(kid if ended else sleeper, id="taken")
        if ended:
            await s.result(other)
        for n in range(2):
            run = await s.start(w, id=f"r{n}")
            await s.settle()
            assert await s.result(run) == [*["conflict"] * 7, "conflict" if n else "kid"]


async def test_a_rewind_over_a_child_with_an_id_of_its_own_is_told_every_time(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        return await start(ctx, "c", "fixed")

    async with simulate([kid]) as s:
        run = await s.start(w)
        found = [await s.result(run)]
        for _ in range(3):
            await run.rewind()
            found.append(await s.result(run))
        assert found == ["kid", "conflict", "conflict", "conflict"]
