"""Which process owns a SQLite file: the living one that was first, and at once the next when it died."""

from contextlib import ExitStack
from pathlib import Path

from plait.kernel.ids import SHARDS
from plait.stores.sqlite import SqliteStore
from tests.contract.stores.builders import LONG, create, own_all
from tests.stores.other_process import other_process


async def test_a_living_process_keeps_others_from_owning_and_a_dead_one_does_not(tmp_path: Path):
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path)
    await store.open()
    with other_process(path) as other:
        assert other.claimed == SHARDS
        assert await store.claim("me", LONG, SHARDS) == []
        await create(store, "run")  # it may still send work to the owner
        other.kill()
        await own_all(store)
    await store.close()


async def test_a_process_that_comes_second_owns_nothing(tmp_path: Path):
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path)
    await store.open()
    await own_all(store)
    with other_process(path) as other:
        assert other.claimed == 0
    assert (await store.renew("owner", LONG)).engines == 1
    await store.close()


async def test_of_processes_that_open_a_new_file_at_once_one_owns_it(tmp_path: Path):
    with ExitStack() as stack:
        others = [stack.enter_context(other_process(str(tmp_path / "plait.db"))) for _ in range(4)]
        assert sorted(other.claimed for other in others) == [0, 0, 0, SHARDS]
