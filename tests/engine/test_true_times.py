"""Forks and runs that were tried again: what is behind them, and how long they were at work."""

from plait import Context, CriticalError, step, workflow
from plait.testing import sim


class Bank:
    open = False


@step
async def pay() -> str:
    if not Bank.open:
        raise CriticalError("closed")
    return "paid"


@workflow
async def order(ctx: Context) -> str:
    await ctx.step("reserve", lambda: "hold")
    return await ctx.step("pay", pay)


async def test_the_time_between_an_end_and_the_next_try_is_not_counted():
    Bank.open = False
    async with sim([order]) as s:
        run = await s.start(order, id="o")
        await s.settle()
        ended = (await run.row()).ended_at
        await s.clock.advance(3600)
        Bank.open = True
        await run.retry()
        assert await s.result(run) == "paid"
        row = await run.row()
        assert row.past is not None
        assert (row.past.reopened, row.past.source) == (1, None)
        assert row.past.idle >= 3_600_000
        assert row.ended_at is not None
        assert row.ended_at - row.created_at - row.past.idle < 3_600_000
        view = await run.view()
        [pause] = view.pauses
        assert (pause.kind, pause.start) == ("reopened", ended)
        assert {node.id: node.attempts for node in view.nodes} == {"reserve": 1, "pay": 2}


async def test_a_fork_knows_its_source_and_what_it_shares():
    Bank.open = True
    async with sim([order]) as s:
        run = await s.start(order, id="o")
        await s.result(run)
        await s.clock.advance(3600)
        fork = await run.fork(at="pay")
        assert await s.result(fork) == "paid"
        past = (await fork.row()).past
        assert past is not None
        assert past.source == (await run.row()).id
        [pause] = (await fork.view()).pauses
        assert pause.kind == "forked"
        assert pause.end - pause.start >= 3_600_000
