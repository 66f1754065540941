"""The group commit on SQLite."""

from pathlib import Path

import msgspec
import pytest
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId
from plait.kernel.store import RunPatch
from plait.kernel.view import Reason
from plait.stores.sqlite import SqliteStore
from tests.contract.stores.builders import claim_request, log_row, must, own_all, queued_task, run_row, timer


async def test_one_group_is_one_transaction(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    owner = await own_all(store)
    commits: list[str] = []
    db = store._db
    assert db is not None
    db.set_commit_hook(lambda: bool(commits.append("commit")))
    names = [f"run-{number}" for number in range(200)]
    await must(
        store, *(owner.write(name, create=run_row(name), log=log_row(1), timers=[timer(name)]) for name in names)
    )
    assert commits == ["commit"]
    await store.close()


@pytest.mark.parametrize("taken", [0, 20, 45])
async def test_one_taken_id_in_a_large_group_is_refused_and_the_others_are_made(tmp_path: Path, taken: int):
    """Its rows go to the table by several statements: it may be in the first, in a later one, or left over."""
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    owner = await own_all(store)
    names = [f"run-{number}" for number in range(46)]
    await must(store, owner.write(names[taken], create=run_row(names[taken]), log=log_row(1)))
    writes = [owner.write(name, create=run_row(name), log=log_row(1)) for name in names]
    verdicts = await store.commit(writes)
    assert verdicts == ["exists" if number == taken else "ok" for number in range(46)]
    assert [len(await store.log(RunId(name))) for name in names] == [1] * 46
    await store.close()


async def test_a_claim_is_not_waited_for_on_disk_and_what_follows_is(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    owner = await own_all(store)
    await must(store, owner.write("run-1", create=run_row("run-1"), queued=[queued_task("run-1")]))
    db = store._db
    assert db is not None
    statements: list[str] = []
    db.exec_trace = lambda _, statement, __: bool(statements.append(str(statement))) or True
    [held] = await store.queues.claim(claim_request())
    db.exec_trace = None
    assert held.task.run_id == "run-1"
    began, ended = statements.index("begin immediate"), statements.index("commit")
    assert any("synchronous" in each and "NORMAL" in each for each in statements[:began])
    assert not any("synchronous" in each for each in statements[began:ended])
    assert db.pragma("synchronous") == 2  # FULL
    await store.close()


async def test_runs_that_end_in_one_group_end_each_as_its_own_write_says(tmp_path: Path):
    """Their rows are changed by several statements: many at once, and some left over."""
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    owner = await own_all(store)
    names = [f"run-{number}" for number in range(46)]
    await must(store, *(owner.write(name, create=run_row(name), log=log_row(1)) for name in names))
    ends = {
        name: RunPatch(status="completed", awake=False, ended_at=Millis(number), output=Raw(str(number).encode()))
        for number, name in enumerate(names)
    }
    ends["run-7"] = RunPatch(status="failed", awake=False, error=ErrorInfo("a.code", "no luck"), recoveries=2)
    ends["run-44"] = RunPatch(status="running", awake=True, full=True, waiting=Reason("timer", "for `a`"))
    await must(store, *(owner.write(name, patch=patch) for name, patch in ends.items()))
    for name, patch in ends.items():
        row = await store.run(RunId(name))
        assert row is not None
        assert {field: getattr(row, field) for field in patch.__struct_fields__} == msgspec.structs.asdict(patch)
    await store.close()


async def test_a_row_that_can_not_be_changed_spoils_no_other_of_its_group(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    owner = await own_all(store)
    names = [f"run-{number}" for number in range(46)]
    await must(store, *(owner.write(name, create=run_row(name), log=log_row(1)) for name in names))
    ended = RunPatch(status="completed", awake=False)
    odd = RunPatch(status="unheard-of", awake=False)  # pyright: ignore[reportArgumentType]
    verdicts = await store.commit([owner.write(name, patch=odd if name == "run-20" else ended) for name in names])
    assert verdicts == ["conflict" if name == "run-20" else "ok" for name in names]
    rows = [await store.run(RunId(name)) for name in names]
    assert [row.status for row in rows if row] == ["running" if name == "run-20" else "completed" for name in names]
    await store.close()
