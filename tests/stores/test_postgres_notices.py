"""Notices on PostgreSQL: one a transaction, none of our own, and none is lost for good with its connection."""

import asyncio

from plait.kernel.errors import ErrorInfo
from plait.kernel.store import RunPatch, Taken
from plait.stores.postgres import PostgresStore
from tests.contract.stores.builders import (
    ALL,
    create,
    ended,
    log_row,
    message,
    must,
    outside,
    own_all,
    run_row,
    timer,
)
from tests.stores.looking_in import END_CONNECTIONS, looking_in, opened_at


class Bell:
    """Counts its rings."""

    def __init__(self) -> None:
        self.rings = 0
        self._rang = asyncio.Event()

    def ring(self) -> None:
        self.rings += 1
        self._rang.set()

    async def next(self) -> None:
        await self._rang.wait()
        self._rang.clear()


async def listening(store: PostgresStore) -> Bell:
    bell = Bell()
    store.watch(bell.ring)
    await bell.next()
    return bell


async def test_a_transaction_sends_one_notice_whatever_it_holds(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        bell = await listening(one)
        names = [f"run-{number}" for number in range(50)]
        inbox = [message("run-0", str(number)) for number in range(50)]
        await must(two, *(outside(name, create=run_row(name)) for name in names), outside("run-0", inbox=inbox))
        await bell.next()
        await create(two, "last")
        await bell.next()
        assert bell.rings == 3  # the first was for the start


async def test_what_this_store_writes_itself_is_no_news_to_it(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        bell = await listening(one)
        await create(one, "a", "b")
        await one.release("nobody")
        await create(two, "c")
        await bell.next()
        assert bell.rings == 2


async def test_what_nobody_else_waits_for_is_not_announced(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        owner = await own_all(two)
        await create(two, "run")
        bell = await listening(one)
        quiet = RunPatch(status="running", awake=False)
        await must(two, owner.write("run", log=log_row(1), patch=quiet, timers=[timer("run")]))
        await create(two, "loud")
        await bell.next()
        assert bell.rings == 2


async def test_answers_and_ends_and_runs_that_are_stuck_are_announced(postgres_url: str):
    stuck = RunPatch(status="running", awake=False, blocked=ErrorInfo("code.nondeterministic", "changed"))
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        owner = await own_all(two)
        bell = await listening(one)
        for parts in ({"taken": [Taken("ask", b"1")]}, {"patch": ended()}, {"patch": stuck}):
            await must(two, owner.write("run", **parts))
            await bell.next()


async def test_runs_that_only_began_and_ended_are_something_to_show_and_nothing_to_do(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        owner = await own_all(two)
        due, shown = Bell(), Bell()
        one.watch(due.ring, shown.ring)
        await due.next()  # the start
        await must(two, owner.write("run", create=run_row("run"), log=log_row(1)))
        await shown.next()
        await must(two, owner.write("run", log=log_row(2), patch=ended()))
        await shown.next()
        assert due.rings == 1
        await must(two, outside("run", inbox=[message("run")]), owner.write("more", create=run_row("more")))
        await due.next()
        assert (due.rings, shown.rings) == (2, 2)


async def test_an_input_is_not_overlooked_among_notices_of_what_is_to_be_shown(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two, looking_in(postgres_url) as db:
        due, shown = Bell(), Bell()
        one.watch(due.ring, shown.ring)
        await due.next()
        async with db.transaction():  # they come together
            for notice in ("a shown", "b", "c shown"):
                await db.execute("select pg_notify('plait', $1)", notice)
        await due.next()
        assert (due.rings, shown.rings) == (2, 0)
        await create(two, "another")
        await due.next()


async def test_a_lost_connection_is_made_again_and_what_was_missed_is_made_good(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two, looking_in(postgres_url) as db:
        bell = await listening(one)
        for _ in range(2):
            assert await db.fetchval(END_CONNECTIONS, "plait listener") == 1
            await bell.next()
        await must(two, outside("run", inbox=[message("run")]))
        await bell.next()
        assert len(await one.inbox(ALL, 10)) == 1
