"""The group commit on PostgreSQL: one transaction, few round trips, and two processes that get in each other's way."""

import asyncio

from plait.kernel.ids import TaskToken
from plait.kernel.store import Taken, Write
from plait.stores.postgres import PostgresStore
from tests.contract.stores.builders import (
    approval,
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
from tests.stores.looking_in import WRITER_WAITS, looking_in, opened_at, until


async def test_one_group_is_one_transaction(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        names = [f"run-{number}" for number in range(200)]
        await must(
            store,
            *(owner.write(name, create=run_row(name), log=log_row(1), approvals=[approval(name)]) for name in names),
        )
        query = """
            select count(distinct xmin::text), count(*) from (
                select xmin from plait.log
                union all select xmin from plait.runs
                union all select xmin from plait.approvals
            ) as written
        """
        row = await db.fetchrow(query)
        assert row is not None
        assert tuple(row) == (1, 600)


async def test_what_most_decisions_consist_of_takes_one_round_trip(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await must(store, outside("a", create=run_row("a"), inbox=[message("a", "start")]))
        await create(store, "e", "f")
        queries = await count_queries(
            store,
            [
                owner.write("a", log=log_row(1), taken=[Taken("start")], patch=ended(), clear_all=True),
                owner.write("b", create=run_row("b"), log=log_row(1), inbox=[message("c")]),
                outside("d", create=run_row("d"), inbox=[message("d", "start")]),
                owner.write("e", log=log_row(1), timers=[timer("e")]),
                owner.write("f", log=log_row(1), cleared=[TaskToken("sleep")]),
            ],
        )
        assert queries == 1


async def count_queries(store: PostgresStore, writes: list[Write]) -> int:
    seen: list[str] = []
    writer = store._writer
    assert writer is not None
    async with writer.use() as connection:
        connection.add_query_logger(lambda record: seen.append(record.query))
    await must(store, *writes)
    await asyncio.sleep(0)  # the driver logs in a turn of its own
    return len(seen)


async def test_a_commit_waits_for_another_process_that_creates_the_same_run(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db, looking_in(postgres_url) as eye:
        await create(store, "model")
        async with db.transaction():
            await db.execute(
                "create temp table t on commit drop as select * from plait.runs;"
                "update t set id = 'run', number = 0; insert into plait.runs select * from t"
            )
            commit = asyncio.create_task(
                store.commit([outside("run", create=run_row()), outside("new", create=run_row("new"))])
            )
            await until(eye, WRITER_WAITS)
        assert await commit == ["exists", "ok"]


async def test_two_processes_that_create_the_same_runs_crosswise_both_get_their_verdicts(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        names = [f"run-{number}" for number in range(400)]
        forth = [outside(name, create=run_row(name, definition="forth")) for name in names]
        back = [outside(name, create=run_row(name, definition="back")) for name in reversed(names)]
        first, second = await asyncio.gather(one.commit(forth), two.commit(back))
        assert all({a, b} == {"ok", "exists"} for a, b in zip(first, reversed(second), strict=True))


async def test_two_processes_that_send_the_same_inputs_crosswise_are_both_fine(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        rows = [message("run", str(number)) for number in range(400)]
        verdicts = await asyncio.gather(
            one.commit([outside("run", inbox=rows)]), two.commit([outside("run", inbox=rows[::-1])])
        )
        assert verdicts == [["ok"], ["ok"]]
        assert len(await one.inbox([run_row("run").shard], 1_000)) == 400


async def test_a_deadlock_is_tried_again(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db, looking_in(postgres_url) as eye:
        await db.execute("set deadlock_timeout = '1h'")  # so that the store's side is the one to be ended
        await create(store, "model")
        blocker = db.transaction()
        await blocker.start()
        insert = (
            "insert into plait.inbox (run_id, shard, key, body, at) values ('run', 0, $1, '1', 0)"
            " on conflict (run_id, key) do nothing"
        )
        await db.execute(insert, "second")
        writes = [outside("run", inbox=[message("run", "first"), message("run", "second")])]
        commit = asyncio.create_task(store.commit(writes))
        await until(eye, WRITER_WAITS)
        await db.execute(insert, "first")  # waits for the store, which waits for us
        await blocker.rollback()
        assert await commit == ["ok"]
