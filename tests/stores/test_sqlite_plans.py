"""The queries that run all the time use their indexes, whatever grows."""

import re
from pathlib import Path

import pytest

from plait.kernel.store import RunFilter
from plait.stores.sqlite import SqliteStore
from plait.stores.sqlite.commit import SQL
from plait.stores.sqlite.database import connect
from plait.stores.sqlite.run_lists import COUNTS, ROWS, bindings
from plait.stores.sqlite.task_queues import SQL as QUEUES


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("read_log", "log_place (run=? AND seq>? AND seq<?)"),
        ("waiting_inbox", "USING INDEX inbox_waiting"),
        ("due_timers", "timers_due (due<?)"),
        ("next_due", "USING INDEX timers_due (due>?)"),
        ("awake_runs", "runs_awake (shard=?)"),
        ("count_recovery", "runs_awake (shard=?)"),
        ("get_run", "runs_id (id=?)"),
        ("patch_run", "INTEGER PRIMARY KEY (rowid=?)"),
        ("number_of", "runs_id (id=?)"),
        ("read_reply", "inbox_key (run_id=? AND key=?)"),
        ("take_inbox", "inbox_key (run_id=? AND key=?)"),
        ("clear_timers", "PRIMARY KEY (run_id=?)"),
        ("get_approval", "PRIMARY KEY (id=?)"),
        ("change_approval", "approvals_open (run_id=? AND token=?)"),
        ("withdraw_approvals", "approvals_open (run_id=?)"),
        ("list_approvals", "approvals_status (namespace=? AND status=? AND (asked_at,id)>(?,?))"),
        ("list_newest_approvals", "approvals_status (namespace=? AND status=? AND (asked_at,id)<(?,?))"),
        ("list_all_approvals", "approvals_newest (namespace=? AND (asked_at,id)<(?,?))"),
        ("list_approvals_of_run", "approvals_run (run_id=? AND (asked_at,id)>(?,?))"),
        ("list_records", "PRIMARY KEY (kind=? AND id>?)"),
        ("list_records_of_namespace", "records_namespace (kind=? AND namespace=? AND id>?)"),
        ("list_records_of_namespace_newest", "records_namespace (kind=? AND namespace=?)"),
        ("list_dead_letters", "dead_letters_status (namespace=? AND status=? AND (at,id)>(?,?))"),
        ("list_dead_letters_of_namespace", "dead_letters_status (namespace=? AND status=? AND (at,id)>(?,?))"),
        ("list_dead_letters_of_run", "dead_letters_run (run_id=? AND (at,id)>(?,?))"),
        ("get_dead_letter", "PRIMARY KEY (id=?)"),
        ("any_free", "queued_tasks_free (namespace=? AND queue=?)"),
        ("free", "queued_tasks_free (namespace=? AND queue=?)"),
        ("finish", "queued_tasks_place (run_id=? AND token=?)"),
        ("beat", "queued_tasks_place (run_id=? AND token=?)"),
        ("expired", "queued_tasks_expires (expires<?)"),
    ],
)
async def test_a_hot_query_uses_its_index(tmp_path: Path, query: str, index: str):
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path)
    await store.open()
    await store.close()
    db = connect(path, "FULL", 0)
    sql = (SQL | QUEUES)[query]
    bindings = [None] * len(set(re.findall(r"\?\d+", sql)))
    plan = [step[3] for step in db.execute(f"explain query plan {sql}", bindings)]
    db.close()
    assert any(index in step for step in plan), plan
    assert not any(step.startswith("USE TEMP B-TREE") for step in plan) or query == "awake_runs", plan


@pytest.mark.parametrize("query", ["read_log", "waiting_inbox", "due_timers", "awake_runs", "get_run", "list_stalled"])
async def test_a_hot_query_is_compiled_once_whatever_it_is_asked_for(tmp_path: Path, query: str):
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path)
    await store.open()
    await store.close()
    db = connect(path, "FULL", 0)
    looked_at: list[str | None] = []

    def authorize(action: int, table: str | None, *parts: object) -> int:
        looked_at.append(table)  # asked of all that a statement touches, while it is compiled
        return 0

    db.authorizer = authorize
    compiled: list[int] = []
    for value in (1, 2, 3):
        db.execute(SQL[query], [value] * len(set(re.findall(r"\?\d+", SQL[query])))).fetchall()
        compiled.append(len(looked_at))
    db.close()
    assert compiled[0] > 0
    assert compiled[1:] == compiled[:1] * 2


@pytest.mark.parametrize("statement", ["insert_run", "patch_run", "insert_log"])
async def test_what_every_run_writes_needs_no_table_of_its_own(tmp_path: Path, statement: str):
    """As SQLite makes for `in` with more than two words, in a check constraint too: it costs as much as the row."""
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path)
    await store.open()
    await store.close()
    db = connect(path, "FULL", 0)
    places = re.findall(r"\?\d*", SQL[statement])  # those without a number are one each
    bindings = [None] * len(places if "?" in places else set(places))
    steps = [step[1] for step in db.execute(f"explain {SQL[statement]}", bindings)]
    db.close()
    assert "Insert" in steps
    assert "OpenEphemeral" not in steps


BOUNDS = "created_at>? AND (created_at,id)<(?,?))"


@pytest.mark.parametrize(
    ("source", "index"),
    [
        (
            "of_status",
            f"runs_status (namespace=? AND dialect=? AND <expr>=? AND {BOUNDS}",
        ),
        ("of_claimed", "runs_id (id=?)"),
        ("of_definition", "runs_definition (namespace=? AND definition=? AND created_at>? AND (created_at,id)<(?,?))"),
        ("of_label", "PRIMARY KEY (namespace=? AND key=? AND value=? AND created_at>? AND (created_at,run_id)<(?,?))"),
        ("of_parent", "runs_parent (parent=? AND created_at>? AND (created_at,id)<(?,?))"),
        ("of_prefix", "runs_id (id>? AND id<?)"),
        ("of_text", "VIRTUAL TABLE INDEX"),
    ],
)
async def test_a_list_reads_its_index_in_the_order_of_the_list(tmp_path: Path, source: str, index: str):
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path)
    await store.open()
    await store.close()
    db = connect(path, "FULL", 0)
    given = bindings(RunFilter(namespace="default", status="failed")) | dict.fromkeys(
        ["a", "b", "c", "match", "text"], ""
    )
    given |= {"definitions": "[]", "starts": "[]", "anywhere": True, "limit": 10}
    for sql in (ROWS[source], COUNTS[source]):
        plan = [step[3] for step in db.execute(f"explain query plan {sql}", given)]
        assert any(index in step for step in plan), plan
        assert not any(step.startswith("SCAN runs") or step == "SCAN r" for step in plan), plan
        assert not any("USE TEMP B-TREE FOR ORDER" in step for step in plan) or source in ("of_prefix", "of_claimed"), (
            plan
        )
    db.close()
