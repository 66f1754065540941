"""The group commit on SQLite."""

from pathlib import Path

from plait.stores.sqlite import SqliteStore
from tests.contract.stores.builders import log_row, must, own_all, run_row, timer


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
