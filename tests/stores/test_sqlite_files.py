"""SQLite files that can't be used: each says what happened, why, and what to do, and is left as it was."""

import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId
from plait.stores.sqlite import SqliteStore
from tests.contract.stores.builders import create, log_row, must, outside, own_all, run_row


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "plait.db"


async def opening_fails(path: Path, code: str) -> Unavailable:
    store = SqliteStore(str(path), busy_ms=0)
    with pytest.raises(Unavailable) as caught:
        await store.open()
    await store.close()
    assert caught.value.code == code
    assert str(path) in str(caught.value) or str(path.parent) in str(caught.value)
    assert caught.value.fix
    return caught.value


async def make(path: Path, statement: str = "select 1") -> None:
    """A Plait database, changed by hand."""
    store = SqliteStore(str(path))
    await store.open()
    await create(store, "run")
    await store.close()
    by_hand(path, statement)


def by_hand(path: Path, statement: str) -> None:
    with apsw.Connection(str(path)) as db:
        db.execute(statement)
    db.close()


async def test_a_file_of_a_newer_plait_is_refused(path: Path):
    await make(path, "pragma user_version = 999")
    error = await opening_fails(path, "store.schema_too_new")
    assert "999" in error.what


async def test_a_file_of_another_program_is_refused_and_untouched(path: Path):
    by_hand(path, "create table theirs (x)")
    before = path.read_bytes()
    await opening_fails(path, "store.not_plait")
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused_and_untouched(path: Path):
    path.write_bytes(b"Dear diary, " * 1_000)
    await opening_fails(path, "store.not_a_database")
    assert path.read_bytes() == b"Dear diary, " * 1_000


async def test_an_empty_file_becomes_a_database(path: Path):
    path.touch()
    await make(path)


async def test_a_new_database_and_all_files_beside_it_are_for_their_owner_only(path: Path):
    umask = os.umask(0)
    try:
        store = SqliteStore(str(path))
        await store.open()
        await own_all(store)
        await create(store, "run")
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        await store.close()
    finally:
        os.umask(umask)
    assert modes == dict.fromkeys(("plait.db", "plait.db-wal", "plait.db-shm", "plait.db-owner"), 0o600)


async def test_a_database_that_others_were_given_stays_theirs(path: Path):
    path.touch()
    path.chmod(0o660)
    umask = os.umask(0)
    try:
        store = SqliteStore(str(path))
        await store.open()
        await own_all(store)
        modes = {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        await store.close()
    finally:
        os.umask(umask)
    assert modes == {0o660}


async def test_a_folder_that_is_missing_is_named(path: Path):
    error = await opening_fails(path.parent / "missing" / "plait.db", "store.no_folder")
    assert "mkdir" in error.fix


async def test_a_folder_in_the_place_of_a_file_is_refused(path: Path):
    path.mkdir()
    await opening_fails(path, "store.unreadable")


async def test_a_file_that_may_not_be_written_is_refused():
    with tempfile.TemporaryDirectory() as folder:  # not `tmp_path`: only its owner may look into that
        path = Path(folder) / "plait.db"
        await make(path)
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        with without_privileges():
            await opening_fails(path, "store.read_only")


async def test_a_file_locked_by_another_program_can_be_written_when_it_is_let_go(path: Path):
    store = SqliteStore(str(path), busy_ms=0)
    await store.open()
    other = apsw.Connection(str(path))
    other.execute("begin immediate")
    with pytest.raises(Unavailable) as caught:
        await create(store, "run")
    assert caught.value.code == "store.locked"
    other.execute("rollback")
    other.close()
    await create(store, "run")
    await store.close()


async def test_a_full_disk_loses_nothing_and_work_goes_on_when_there_is_space(path: Path):
    store = SqliteStore(str(path))
    await store.open()
    owner = await own_all(store)
    await must(store, owner.write("run", create=run_row(), log=log_row(1)))
    await create(store, "small")
    limit_size(store, "pragma page_count")
    big = owner.write("run", log=log_row(2, note="x" * 100_000), inbox=[])
    with pytest.raises(Unavailable) as caught:
        await store.commit([owner.write("small", log=log_row(1)), big])
    assert caught.value.code == "store.full"
    assert await store.log(RunId("run")) == [log_row(1)]
    assert await store.log(RunId("small")) == []
    limit_size(store, "select 1000000")
    await must(store, big)
    await store.close()


async def test_what_was_committed_survives_a_process_that_does_not_close(path: Path):
    first = SqliteStore(str(path))
    await first.open()
    await create(first, "run")
    second = SqliteStore(str(path))
    await second.open()
    assert await second.run(RunId("run")) == run_row()
    await second.close()
    await first.close()


async def test_a_slow_disk_moves_commits_to_a_thread_and_nothing_else_changes(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("plait.stores.sqlite.store.SLOW_COMMIT", -1.0)
    store = SqliteStore(str(path))
    await store.open()
    await create(store, "first")
    assert "thread" in (await store.facts())["commits on"]
    await create(store, "second")
    assert await store.commit([outside("second", create=run_row("second"))]) == ["exists"]
    assert await store.run(RunId("second")) == run_row("second")
    await store.close()


def limit_size(store: SqliteStore, pages: str) -> None:
    db = store._db
    assert db is not None
    (limit,) = next(db.execute(pages))
    db.execute(f"pragma max_page_count = {limit}")


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may write anything; for a moment this process is nobody."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(user)


async def test_a_journal_that_grew_beside_a_long_read_is_cut_again(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.stores.sqlite.database._JOURNAL", 100_000)
    store = SqliteStore(str(path))
    await store.open()
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("begin; select count(*) from runs").fetchall()
    journal = path.with_name(f"{path.name}-wal")
    for number in range(200):
        await create(store, f"run-{number}", definition="x" * 100_000)
    grown = journal.stat().st_size
    reader.close()
    for number in range(200, 203):
        await create(store, f"run-{number}")
    assert grown > 16_000_000  # it was to be copied back, and could not
    assert journal.stat().st_size < 1_000_000
    await store.close()
