"""The group commit on SQLite."""

from pathlib import Path

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
