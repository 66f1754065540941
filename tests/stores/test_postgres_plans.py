"""The queries that run all the time use their indexes once there is something in the tables."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from plait.kernel.store import RunFilter
from plait.stores.postgres.common import COMMITS
from plait.stores.postgres.database import SQL
from plait.stores.postgres.fleet import SQL as FLEET
from plait.stores.postgres.run_lists import ROWS, row_arguments
from plait.stores.postgres.task_queues import SQL as QUEUES
from plait.stores.run_lists import Index, Rows, Source, TextMatch
from tests.stores.looking_in import looking_in, opened_at
from tests.support.postgres import Postgres

FILL = """
insert into plait.runs (id, namespace, dialect, definition, shard, status, awake, parent, depth, labels, start_hash,
                        created_at)
select 'run-' || n, 'default', 'code', 'order', n % 64, case when n % 50 = 0 then 'running' else 'completed' end,
       n % 50 = 0, 'run-' || n / 3, 0, jsonb_build_object('n', n::text), '', n
from generate_series(1, 5000) as n;
insert into plait.log (run, seq, count, at, events)
select n % 50 + 1, n, 1, n, '[]' from generate_series(1, 5000) as n;
insert into plait.inbox (run_id, shard, key, body, at, taken)
select 'run-' || n, n % 64, 'key', '1', n, n < 4900 from generate_series(1, 5000) as n;
insert into plait.timers (run_id, token, shard, due)
select 'run-' || n, 'sleep', n % 64, n from generate_series(1, 5000) as n;
insert into plait.records (kind, namespace, id, at, body)
select 'catalog/default', 'default', lpad(n::text, 16, '0'), n, '[]' from generate_series(1, 5000) as n;
insert into plait.queued_tasks (run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label, node,
                                key, input, terms, enqueued_at, claim, worker, lease, expires)
select 'run-' || n, n % 64, 'default', 'step', 2, 1, 'q' || n % 3, 'step', 'f', '', '', '', '{}', '{}', n,
       case when n % 2 = 0 then 'c' end, 'w', 1000, 9999999999999 from generate_series(1, 5000) as n;
insert into plait.approvals (id, run_id, namespace, token, title, asked, asked_at, status)
select 'run-' || n || ':ok', 'run-' || n, 'default', 'ok', 'May I?', '', n,
       case when n % 500 = 0 then 'open' when n % 2 = 0 then 'approved' else 'rejected' end
from generate_series(1, 5000) as n;
insert into plait.dead_letters (id, run_id, namespace, token, label, attempts, error, at, status)
select 'run-' || n || ':pay', 'run-' || n, 'default', 'pay', 'pay', 3, '{}', n,
       case when n % 10 = 0 then 'retried' when n % 10 = 1 then 'discarded' else 'pending' end
from generate_series(1, 5000) as n;
insert into plait.run_texts (run, namespace, created_at, part, text)
select number, namespace, created_at, 0, id || ' customer-' || created_at from plait.runs;
insert into plait.run_labels (namespace, key, value, created_at, run_id)
select 'default', 'n', (n % 9)::text, n, 'run-' || n from generate_series(1, 5000) as n;
analyze;
"""
SHARDS = list(range(64))


@pytest.fixture(scope="module")
def filled(postgres_server: Postgres) -> Iterator[str]:
    """A database that is only asked how it would answer."""
    url = postgres_server.create_database()

    async def fill() -> None:
        async with opened_at(url), looking_in(url) as db:
            await db.execute(FILL)

    asyncio.run(fill())
    yield url
    postgres_server.drop_database(url)


@pytest.mark.parametrize(
    ("query", "args", "index"),
    [
        ("read_log", ("run-7", 4_000, 2**62, None, 7), "log_0_place"),
        ("read_logs", ([7, 8],), "log_0_place"),
        ("waiting_inbox", (SHARDS, 10), "inbox_waiting"),
        ("due_timers", (SHARDS, 20, 10), "timers_due"),
        ("next_due", (SHARDS, 0), "timers_due"),
        ("awake_runs", ([3, 4],), "runs_awake"),
        ("count_recoveries", ([3, 4], 3), "runs_awake"),
        ("get_run", ("run-7",), "runs_pkey"),
        ("read_reply", ("run-7", "key"), "inbox_key"),
        ("heads", (["run-7", "run-8"],), "runs_pkey"),
        ("numbers_of", (["run-7", "run-8"],), "runs_pkey"),
        ("claim", ("default", ["q1"], None, None, 10, "c", "w", 1000, 1000), "queued_tasks_free"),
        ("claim_by_code", (["graph:pack"], 10, "c", "w", 1000, 1000), "queued_tasks_code"),
        ("limited_by_code", (["graph:pack"],), "queued_tasks_code"),
        ("expired", (SHARDS, 10, 1_000), "queued_tasks_expires"),
        ("beat", ("run-7", "step", "c", 1, 1, None), "queued_tasks_place"),
        ("get_approval", ("run-7:ok",), "approvals_pkey"),
        ("list_approvals", ("default", "open", -1, "", 100), "approvals_status"),
        ("list_newest_approvals", ("default", "approved", 2**62, "", 100), "approvals_status"),
        ("list_all_approvals", ("default", 4_000, "run-4000:ok", 100), "approvals_newest"),
        ("list_approvals_of_run", ("run-7", None, -1, "", None), "approvals_run"),
        ("list_dead_letters", ("default", "pending", 4_000, "run-4000:pay", 100), "dead_letters_status"),
        ("list_dead_letters_of_namespace", ("default", 4_000, "run-4000:pay", 100), "dead_letters_status"),
        ("list_dead_letters_of_run", (None, "pending", "run-7", -1, "", 100), "dead_letters_run"),
        ("list_records", ("catalog/default", "0000000000004999", 200), "records_pkey"),
        ("hold_records", (["catalog/default"], ["default"], ["0000000000004999"], [4999]), "records_namespace"),
        (
            "list_records_of_namespace",
            ("catalog/default", "0000000000004999", "default", 200),
            "records_namespace",
        ),
    ],
)
async def test_a_hot_query_uses_its_index(filled: str, query: str, args: tuple[object, ...], index: str):
    async with looking_in(filled) as db:
        [plan] = json.loads(await db.fetchval(f"explain (format json) {(SQL | QUEUES)[query]}", *args))
    nodes = list(parts(plan["Plan"]))
    assert index in {node.get("Index Name") for node in nodes}, plan
    scanned = [node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"]
    assert not set(scanned) - {"queues"}, plan  # which has one row for each queue with limits: here none


@pytest.mark.parametrize(
    ("query", "args"),
    [
        ("list_dead_letters", ("default", "pending", -1, "", 100)),
        ("list_dead_letters_of_namespace", ("default", -1, "", 100)),
    ],
)
async def test_a_page_of_dead_letters_is_not_taken_out_of_all_of_them(
    filled: str, query: str, args: tuple[object, ...]
):
    async with looking_in(filled) as db:
        [plan] = json.loads(await db.fetchval(f"explain (format json) {SQL[query]}", *args))
    nodes = list(parts(plan["Plan"]))
    assert {node.get("Index Name") for node in nodes} <= {"dead_letters_status", None}, plan
    assert not {node["Node Type"] for node in nodes} & {"Seq Scan", "Bitmap Heap Scan"}, plan
    assert all(node["Plan Rows"] <= 300 for node in nodes if node["Node Type"] == "Sort"), plan


async def test_runs_of_pools_are_counted_without_a_look_at_the_others(filled: str):
    async with opened_at(filled), looking_in(filled) as db:
        await db.execute("insert into plait.shards (shard, pool) values (64, 'shop')")
        try:
            [plan] = json.loads(await db.fetchval(f"explain (format json) {FLEET['pools']}"))
        finally:
            await db.execute("delete from plait.shards where shard = 64")
    runs = [node for node in parts(plan["Plan"]) if node.get("Relation Name") == "runs"]
    assert {node.get("Index Name") for node in runs} <= {"runs_pooled", None}
    assert "Seq Scan" not in {node["Node Type"] for node in runs}, plan


async def test_the_end_of_a_log_is_found_by_its_index(filled: str):
    async with looking_in(filled) as db:
        body: str = await db.fetchval("select prosrc from pg_proc where oid = 'plait.log_end'::regproc")
        query = body[body.index("select") : body.index("limit 1") + 7].replace("into head, at ", "")
        plan = await db.fetchval(f"explain (format json) {query.replace('number', '$1')}", 7)
    assert {node.get("Index Name") for node in parts(json.loads(plan)[0]["Plan"])} == {None, "log_0_place"}, plan


@pytest.mark.parametrize(
    ("commit", "others", "tables"),
    [
        (COMMITS[0], 0, {"shards"}),
        (COMMITS[1], 37, {"shards", "runs"}),
        (COMMITS[2], 59, {"shards", "runs", "inbox", "timers", "approvals"}),
    ],
    ids=["logs", "runs", "all"],
)
async def test_a_commit_finds_the_rows_it_changes_by_their_keys_even_in_small_tables(
    postgres_url: str, commit: str, others: int, tables: set[str]
):
    """A plan may be kept for long: one that is only good for small tables would not stay good."""
    async with opened_at(postgres_url) as store:
        writer = store._writer
        assert writer is not None
        async with writer.use() as connection:
            arguments = [[], [], None, *[[]] * (7 + others)]
            [plan] = json.loads(await connection.fetchval(f"explain (format json) {commit}", *arguments))
    scans = [node for node in parts(plan["Plan"]) if node["Node Type"].endswith("Scan") and "Relation Name" in node]
    assert {node["Relation Name"] for node in scans} == tables
    assert "Seq Scan" not in {node["Node Type"] for node in scans}


@pytest.mark.parametrize(
    ("index", "key", "used"),
    [
        ("of_status", ("default", "code", "completed"), "runs_status"),
        ("of_definition", ("default", "order", "completed"), "runs_definition_status"),
        ("of_label", ("default", "n", "7"), "run_labels_place"),
        ("of_parent", ("run-7", "", ""), "runs_parent"),
        ("of_prefix", ("run-77", "run-78", ""), "runs_pkey"),
        ("of_text", ("default", "", ""), "run_texts_groups"),
    ],
)
async def test_a_list_reads_its_index(filled: str, index: Index, key: tuple[str, ...], used: str):
    text = TextMatch("customer-77", ("customer-77",), (), anywhere=True) if "text" in index else None
    step = Rows(Source(index, (key,)), text)
    async with opened_at(filled) as store, store._use(store._lists) as connection:
        arguments = row_arguments(RunFilter(namespace="default", limit=10), step)
        [plan] = json.loads(await connection.fetchval(f"explain (format json) {ROWS[index]}", *arguments))
    nodes = list(parts(plan["Plan"]))
    assert used in {node.get("Index Name") for node in nodes}, plan
    scanned = [node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"]
    assert not set(scanned) - {"queues"}, plan  # which has one row for each queue with limits: here none


def parts(node: dict[str, Any]):
    yield node
    for part in node.get("Plans", ()):
        yield from parts(part)
