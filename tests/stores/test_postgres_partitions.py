"""The partitions of the log: new ones open, old ones go as a whole, and nobody who commits or reads notices."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from plait.engine.backups import backup, restore
from plait.kernel.errors import NotFound
from plait.kernel.ids import RunId
from plait.stores.postgres import PostgresStore, log_partitions
from plait.stores.postgres.common import COMMITS
from plait.stores.postgres.database import SQL
from plait.stores.postgres.log_partitions import FEWEST, SHORTEST, STRIDE, open_for
from tests.contract.stores.builders import Owner, create, ended, log_row, must, own_all
from tests.contract.stores.test_removals import blob, remove, stored_name, swept, with_value
from tests.stores.looking_in import looking_in, opened_at
from tests.support.postgres import Postgres

HOUR = 3_600_000
DAY = 24 * HOUR
SIZE = "select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'plait.log'::regclass"


async def ages(db: Any, by: int = SHORTEST) -> None:
    """As if so much time had passed."""
    await db.execute(
        "update plait.log_partitions set opened_at = opened_at - $1, removing_since = removing_since - $1", by
    )


async def opens_another(store: PostgresStore, db: Any) -> None:
    """After some time and many runs."""
    await ages(db)
    await db.execute("select setval('plait.run_numbers', last_value + $1) from plait.run_numbers", FEWEST)
    await store.removals.partitions.tend()
    store._numbers._drawn.clear()


async def partitions(db: Any) -> dict[str, int]:
    """Rows of each, by name."""
    names = await db.fetch("select inhrelid::regclass::text from pg_inherits where inhparent = 'plait.log'::regclass")
    return {name[6:]: await db.fetchval(f"select count(*) from {name}") for (name,) in sorted(names)}


async def begin(store: PostgresStore, owner: Owner, *run_ids: str, rows: int = 1) -> None:
    await create(store, *run_ids)
    for seq in range(1, rows + 1):
        await must(store, *(owner.write(run_id, log=log_row(seq)) for run_id in run_ids))


async def end(store: PostgresStore, owner: Owner, *run_ids: str) -> None:
    await must(store, *(owner.write(run_id, patch=ended()) for run_id in run_ids))


async def test_new_runs_are_in_a_new_partition_and_old_ones_stay_where_they_are(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "old")
        await opens_another(store, db)
        await begin(store, owner, "new")
        await must(store, owner.write("old", log=log_row(2)))
        assert await partitions(db) == {"log_0": 2, "log_1": 1, "log_rest": 0}
        assert [row.seq for row in await store.log(RunId("old"))] == [1, 2]
        assert await store.heads([RunId("old"), RunId("new")]) == {"old": 2, "new": 1}
        assert await store.integrity() == []


@pytest.mark.parametrize("missing", ["time", "runs"])
async def test_no_partition_opens_before_its_time_or_for_a_few_runs(postgres_url: str, missing: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        await ages(db, SHORTEST - 60_000 if missing == "time" else 400 * DAY)
        await db.execute("select setval('plait.run_numbers', $1)", FEWEST - 1 if missing == "runs" else 10**9)
        await store.removals.partitions.tend()
        assert list(await partitions(db)) == ["log_0", "log_rest"]


async def test_processes_that_care_at_once_open_one(postgres_url: str):
    async with opened_at(postgres_url) as store, opened_at(postgres_url) as other, looking_in(postgres_url) as db:
        await ages(db)
        await db.execute("select setval('plait.run_numbers', $1)", FEWEST)
        await asyncio.gather(*(each.removals.partitions.tend() for each in (store, other, store, other)))
        assert list(await partitions(db)) == ["log_0", "log_1", "log_rest"]


async def test_a_partition_whose_maker_died_before_the_jump_is_used_from_the_next_time_on(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        await opens_another(store, db)
        await db.execute("select setval('plait.run_numbers', $1)", FEWEST)  # as if there had been none
        await store.removals.partitions.tend()
        assert await db.fetchval("select nextval('plait.run_numbers')") == STRIDE


def kept_partitions(kept: int, years: float) -> int:
    """How many there are at the end, where runs come all the time and go after a while."""
    opened, now = [0], 0
    while now < years * 365 * DAY:
        now += SHORTEST
        opened = [at for at, after in zip(opened, [*opened[1:], now], strict=True) if now - after < kept]
        if now - opened[-1] >= open_for(now - opened[0]):
            opened.append(now)
    return len(opened)


@pytest.mark.parametrize(
    ("kept", "years", "between"),
    [(HOUR, 0.1, (6, 10)), (DAY, 0.1, (45, 55)), (30 * DAY, 1, (45, 55)), (100 * 365 * DAY, 10, (200, 600))],
)
def test_there_are_neither_a_handful_nor_thousands(kept: int, years: float, between: tuple[int, int]):
    assert between[0] <= kept_partitions(kept, years) <= between[1]


async def with_many(store: PostgresStore, db: Any, count: int = 40) -> None:
    for number in range(1, count):
        await log_partitions._make(db, number)
        await db.execute("insert into plait.log_partitions (partition, opened_at) values ($1, 0)", number)


async def locked(db: Any) -> set[str]:
    found = await db.fetch(
        "select relation::regclass::text from pg_locks join pg_class c on c.oid = relation"
        " where pid = pg_backend_pid() and c.relname ~ '^log_[0-9r]' and c.relkind = 'r'"
    )
    return {row[0] for row in found}


@pytest.mark.parametrize(
    "statement", ["read_log", "read_logs", "log_end", "drop_compacted", "mark_compacted", "remove_events"]
)
async def test_a_statement_about_one_run_touches_one_partition_however_often_it_is_used(
    postgres_url: str, statement: str
):
    number = 7 * STRIDE + 3
    asked: dict[str, tuple[str, tuple[Any, ...]]] = {
        "read_log": (SQL["read_log"], ("run", 1, 2**62, None, number)),
        "log_end": ("select plait.log_end($1)", (number,)),
        "read_logs": (SQL["read_logs"], ([number],)),
        "drop_compacted": (SQL["drop_compacted"], (number, 5)),
        "mark_compacted": (SQL["mark_compacted"], (number, 5, 0, "[]")),
        "remove_events": (log_partitions.BLOBS["remove_events"], ([number, number + 1], 10)),
    }
    query, args = asked[statement]
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        await with_many(store, db)
        for time in range(1, 10):
            async with db.transaction():
                await db.fetch(query, *args)
                # The sixth time the server makes a plan for any number, and finds it not as good
                assert time == 6 or await locked(db) == {"plait.log_7"}


@pytest.mark.parametrize(("commit", "others"), [(COMMITS[0], 0), (COMMITS[1], 37), (COMMITS[2], 59)])
async def test_a_commit_touches_the_partitions_of_its_runs_only(postgres_url: str, commit: str, others: int):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await with_many(store, db)
        await begin(store, owner, "run")
        logged = [[5], [9], [1], [0], ["[]"], [None], [None]]
        arguments: list[Any] = [[], [], None, *logged, *[[]] * others]
        async with db.transaction():
            await db.execute("set local enable_seqscan = off")
            await db.fetch(commit, *arguments)
            assert await locked(db) == {"plait.log_0"}
        plan = await db.fetchval(f"explain (format json) {commit}", *arguments)
        assert "log_" not in json.dumps(json.loads(plan))


async def test_a_partition_goes_as_a_whole_when_its_last_run_does(postgres_url: str):
    shared, own = blob("shared"), blob("own")
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "a")
        await create(store, "b")
        await must(store, owner.write("b", log=with_value(1, shared, own), blobs=[shared, own]))
        await opens_another(store, db)
        await create(store, "new")
        await must(store, owner.write("new", log=with_value(1, shared), blobs=[shared]))
        name = await stored_name(store, "new")
        await end(store, owner, "a", "b")
        await remove(store, owner, "a", "b")
        late = "insert into plait.run_texts select run, 'default', 0, 0, 'late' from plait.removed_runs"
        assert await db.execute(late) == "INSERT 0 2"  # by who was indexing them as they went
        assert await swept(store) == 0
        assert await partitions(db) == {"log_0": 2, "log_1": 1, "log_rest": 0}  # not yet: numbers of it may be in use
        await ages(db)
        assert await swept(store) == 0
        assert await partitions(db) == {"log_1": 1, "log_rest": 0}
        assert await store.blob(name) == shared[1]
        with pytest.raises(NotFound):
            await store.blob(own[0])
        assert await db.fetchval("select count(*) from plait.removed_runs") == 0
        assert await db.fetchval("select count(*) from plait.run_texts where text = 'late'") == 0
        assert await store.integrity() == []


async def test_a_run_that_gets_an_old_number_late_has_its_events_in_the_rest(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "first")
        late = list(store._numbers._drawn)
        await opens_another(store, db)
        await end(store, owner, "first")
        await remove(store, owner, "first")
        await ages(db)
        await swept(store)
        store._numbers._drawn.extend(late)
        await begin(store, owner, "late")
        assert await partitions(db) == {"log_1": 0, "log_rest": 1}
        assert len(await store.log(RunId("late"))) == 1
        await opens_another(store, db)  # also where the rest is not empty
        await end(store, owner, "late")
        await remove(store, owner, "late")
        assert await swept(store) == 1
        assert (await partitions(db))["log_rest"] == 0
        assert await store.integrity() == []


async def test_a_partition_that_is_read_stays_and_nobody_waits_for_it(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db, looking_in(postgres_url) as reader:
        owner = await own_all(store)
        await begin(store, owner, "old")
        await opens_another(store, db)
        await end(store, owner, "old")
        await remove(store, owner, "old")
        await ages(db)
        async with reader.transaction():
            await reader.fetch("select * from plait.log")
            assert await swept(store) == 0
            await begin(store, owner, "new")
            assert await partitions(db) == {"log_0": 1, "log_1": 1, "log_rest": 0}
        await swept(store)
        assert await partitions(db) == {"log_1": 1, "log_rest": 0}


async def test_a_run_that_lives_long_moves_so_that_the_others_leave_the_disk(postgres_url: str):
    others = [f"other-{n}" for n in range(40)]
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "long", *others, rows=5)
        await opens_another(store, db)
        before = await db.fetchval("select pg_total_relation_size('plait.log_0')")
        await end(store, owner, *others)
        await remove(store, owner, *others)
        await ages(db)
        await swept(store)
        assert (await partitions(db))["log_0"] == 205  # they wait for the end of the partition
        await ages(db, 2 * SHORTEST)
        await swept(store)
        assert await partitions(db) == {"log_0": 5, "log_1": 0, "log_rest": 0}
        assert await db.fetchval("select pg_total_relation_size('plait.log_0')") < before
        await must(store, owner.write("long", log=log_row(6)))
        assert [row.seq for row in await store.log(RunId("long"))] == [1, 2, 3, 4, 5, 6]
        assert await store.commit([owner.write("long", log=log_row(6))]) == ["conflict"]  # its index is there
        assert await db.fetchval("select count(*) from plait.removed_runs") == 0
        assert await store.integrity() == []


async def test_where_many_runs_live_long_the_others_go_row_by_row(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log_partitions, "_LEFT", 1)
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "long", "other", rows=2)
        await opens_another(store, db)
        await end(store, owner, "other")
        await remove(store, owner, "other")
        await swept(store)
        await ages(db, 2 * SHORTEST)
        assert await swept(store) == 2
        assert await partitions(db) == {"log_0": 2, "log_1": 0, "log_rest": 0}
        assert await store.integrity() == []


async def test_a_user_who_does_not_own_the_log_goes_on_without_new_partitions(
    postgres_url: str, caplog: pytest.LogCaptureFixture
):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "run", "other")
        await end(store, owner, "run")
        await remove(store, owner, "run")
        await ages(db)
        await db.execute("select setval('plait.run_numbers', $1)", FEWEST)
        await db.execute("drop role if exists plait_guest; create role plait_guest")
        try:
            await db.execute(
                "grant usage on schema plait to plait_guest; grant all on all tables in schema plait to plait_guest;"
                "grant all on all sequences in schema plait to plait_guest"
            )
            async with store._use(store._lists) as one, store._use(store._lists) as two:
                for connection in (one, two):
                    await connection.execute("set role plait_guest")
            assert await swept(store) == 1
            assert await swept(store) == 0
        finally:
            await db.execute("drop owned by plait_guest; drop role plait_guest")
        assert len([record for record in caplog.records if "no new partitions" in record.message]) == 1
        assert await partitions(db) == {"log_0": 1, "log_rest": 0}


async def test_a_backup_keeps_events_in_their_partitions(postgres_url: str, postgres_server: Postgres, tmp_path: Path):
    other = postgres_server.create_database()
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "first")
        await opens_another(store, db)
        await begin(store, owner, "second")
        await opens_another(store, db)
        await begin(store, owner, "third")
        await end(store, owner, "first")
        await remove(store, owner, "first")
        await ages(db)
        await swept(store)
        await backup(postgres_url, tmp_path / "backup")
    await restore(other, tmp_path / "backup")
    async with opened_at(other) as store, looking_in(other) as db:
        await store.release("owner")
        owner = await own_all(store)
        assert await partitions(db) == {"log_1": 1, "log_2": 1, "log_rest": 0}
        assert await db.fetchval("select to_regclass('plait.run_texts_groups') is not null")
        await begin(store, owner, "fourth")
        assert (await partitions(db))["log_2"] == 2
        assert [len(await store.log(RunId(each))) for each in ("second", "third", "fourth")] == [1, 1, 1]
        assert await store.integrity() == []
        await opens_another(store, db)
    postgres_server.drop_database(other)


async def test_events_of_runs_that_are_removed_during_a_backup_are_in_it(
    postgres_url: str, postgres_server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An emptied partition is empty for everyone, also for who reads an earlier moment."""
    from plait.stores.postgres import backup as backups

    other = postgres_server.create_database()
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await begin(store, owner, "old")
        await opens_another(store, db)
        await end(store, owner, "old")
        await ages(db)
        write = backups._write

        async def meanwhile(connection: Any, *given: Any) -> None:
            await connection.fetch("select 1 from plait.runs")  # the moment that it reads
            await remove(store, owner, "old")
            await swept(store)
            await write(connection, *given)

        monkeypatch.setattr(backups, "_write", meanwhile)
        await backup(postgres_url, tmp_path / "backup")
        await swept(store)
        assert list(await partitions(db)) == ["log_1", "log_rest"]
    await restore(other, tmp_path / "backup")
    async with opened_at(other) as store:
        assert len(await store.log(RunId("old"))) == 1
    postgres_server.drop_database(other)


async def test_a_log_that_keeps_a_day_is_as_large_after_a_month_as_after_a_few_days(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner, sizes, kept = await own_all(store), [], []
        for day in range(30):
            runs = [f"{day}-{n}" for n in range(20)]
            await begin(store, owner, *runs, rows=4)
            await end(store, owner, *runs)
            await opens_another(store, db)
            if day:
                await remove(store, owner, *(f"{day - 1}-{n}" for n in range(20)))
            await ages(db)
            await swept(store)
            kept.append(len(await partitions(db)))
            sizes.append(await db.fetchval(SIZE))
        assert len(set(kept[3:])) == 1
        assert sizes[-1] <= sizes[3]
        assert await db.fetchval("select count(*) from plait.removed_runs") == 0
