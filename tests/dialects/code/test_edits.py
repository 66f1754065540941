"""Edits of a fork: other results for what is played again, and nothing else."""

from typing import Any

from plait import Context, workflow

from .conftest import Simulate
from .support import refused


@workflow
async def joined(ctx: Context) -> Any:
    found = await ctx.join("j", a=lambda c: c.step("s", lambda: 1))
    await ctx.listen("go")
    return found["a"]


async def test_an_edit_inside_a_closed_join_is_refused(simulate: Simulate) -> None:
    async with simulate([joined]) as s:
        await s.start(joined, id="run")
        await s.settle()
        handle = await s.engine.get("run")
        with refused("kernel.bad_edit", "join `j` has ended", "fork before the end of `j`"):
            await handle.fork(edits={"j/a/s": 5})
        closed = next(e for e in await handle.events() if e.type == "branch.closed")
        fork = await handle.fork(at=closed.seq - 1, edits={"j/a/s": 5}, id="fork")
        await fork.message("go")
        assert await fork.result() == 5
