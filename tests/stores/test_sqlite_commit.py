"""The group commit on SQLite."""

from pathlib import Path

import pytest

from plait.kernel.ids import RunId
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
