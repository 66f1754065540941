"""Backups are whole while engines write, and what is made of them goes on where it was."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from plait import Context, Engine, workflow
from plait.engine.backups import backup, restore
from plait.engine.deep_check import DeepCheck
from plait.errors import PlaitError
from plait.kernel.errors import Damaged
from plait.kernel.ids import caller_id
from plait.stores.new_file import new_file
from tests.support.postgres import Postgres

LARGE = "x" * 50_000


@workflow
async def two_parts(ctx: Context, given: str) -> str:
    first = await ctx.step("first", len, given)
    await ctx.listen("go")
    return f"{first} and on"


@workflow
async def short(ctx: Context, given: int) -> int:
    return await ctx.step("double", lambda: given * 2)


@dataclass(frozen=True)
class Pair:
    """A database, and one that is not there yet."""

    url: str
    other: str


@pytest.fixture(params=["sqlite", "postgres"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    if request.param == "sqlite":
        yield Pair(f"sqlite:///{tmp_path}/a.db?synchronous=NORMAL", f"sqlite:///{tmp_path}/b.db?synchronous=NORMAL")
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    other = server.create_database()
    yield Pair(request.getfixturevalue("postgres_url"), other)
    server.drop_database(other)


async def test_a_backup_under_load_is_whole_and_its_runs_go_on(pair: Pair, tmp_path: Path) -> None:
    file, ended = tmp_path / "backup", 0

    async def load(engine: Engine) -> None:
        nonlocal ended
        while True:
            await (await engine.start(short, ended)).result()
            ended += 1

    async with Engine(pair.url, definitions=[two_parts, short]) as engine:
        done = await (await engine.start(short, 21, id="done")).result()
        await engine.start(two_parts, LARGE, id="waits")
        loads = [asyncio.ensure_future(load(engine)) for _ in range(4)]
        while ended < 40:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        before = ended
        await backup(pair.url, file)
        assert ended >= before
        for each in loads:
            each.cancel()
        await asyncio.gather(*loads, return_exceptions=True)
    assert file.stat().st_mode & 0o777 == 0o600

    await restore(pair.other, file)
    async with Engine(pair.other, definitions=[two_parts, short]) as engine:
        check = DeepCheck(engine.kernel.store)
        assert [found async for found in check.findings()] == []
        assert check.runs >= before + 2
        assert await (await engine.get("done")).result() == done == 42
        waits = await engine.get("waits")
        await waits.message("go")
        assert await waits.result() == "50000 and on"
        assert await (await engine.start(short, 4)).result() == 8


async def test_neither_a_backup_nor_a_database_is_written_over(pair: Pair, tmp_path: Path) -> None:
    async with Engine(pair.url, definitions=[short]) as engine:
        await (await engine.start(short, 1)).result()
    (tmp_path / "there").write_text("mine")
    with pytest.raises(PlaitError) as caught:
        await backup(pair.url, tmp_path / "there")
    assert caught.value.code == "backup.exists"
    assert (tmp_path / "there").read_text() == "mine"
    await backup(pair.url, tmp_path / "backup")
    with pytest.raises(PlaitError) as caught:
        await restore(pair.url, tmp_path / "backup")
    assert caught.value.code in ("backup.exists", "backup.not_empty")


async def test_what_is_no_backup_is_refused_and_leaves_nothing(pair: Pair, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no backup")
    with pytest.raises(PlaitError) as caught:
        await restore(pair.other, tmp_path / "text")
    assert caught.value.code.startswith(("backup.", "store."))
    assert not list(tmp_path.glob(".*"))
    assert not (tmp_path / "b.db").exists()
    async with Engine(pair.url, definitions=[short]) as engine:
        await (await engine.start(short, 1)).result()
    await backup(pair.url, tmp_path / "backup")
    content = (tmp_path / "backup").read_bytes()
    quarter = len(content) // 4
    (tmp_path / "cut").write_bytes(content[:quarter])
    (tmp_path / "bent").write_bytes(content[:quarter] + bytes(quarter) + content[2 * quarter :])
    for name in ("cut", "bent"):
        with pytest.raises(PlaitError):
            await restore(pair.other, tmp_path / name)
    await restore(pair.other, tmp_path / "backup")  # as if nothing had been tried before


async def test_a_folder_that_is_not_there_a_device_and_a_link_are_refused(pair: Pair, tmp_path: Path) -> None:
    async with Engine(pair.url, definitions=[short]) as engine:
        await (await engine.start(short, 1)).result()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, code in (("none/backup", "unwritable"), ("pipe", "exists"), ("link", "exists"), (".", "exists")):
        with pytest.raises(PlaitError) as caught:
            await backup(pair.url, tmp_path / name)
        assert caught.value.code == f"backup.{code}"
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()


def test_a_file_that_comes_while_another_is_written_stays(tmp_path: Path) -> None:
    with pytest.raises(PlaitError) as caught, new_file(tmp_path / "new"):
        (tmp_path / "new").write_text("theirs")
    assert caught.value.code == "backup.exists"
    assert [file.read_text() for file in tmp_path.iterdir()] == ["theirs"]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(PlaitError) as caught, new_file(tmp_path / "new"), open("/dev/full", "wb") as full:
        full.write(b"x")
    assert caught.value.code == "backup.unwritable"
    assert not list(tmp_path.iterdir())


async def test_a_journal_that_another_database_left_never_gets_into_a_restored_one(tmp_path: Path) -> None:
    """As after `kill -9`, when only the database itself was moved away."""
    url, path = f"sqlite:///{tmp_path}/a.db", tmp_path / "a.db"
    async with Engine(url, definitions=[short]) as engine:
        await (await engine.start(short, 1, id="before")).result()
    await backup(url, tmp_path / "backup")
    async with Engine(url, definitions=[short]) as engine:
        await (await engine.start(short, 2, id="after")).result()
        journal = (tmp_path / "a.db-wal").read_bytes()
    path.rename(tmp_path / "moved.db")
    (tmp_path / "a.db-wal").write_bytes(journal)
    with pytest.raises(PlaitError) as caught:
        await restore(url, tmp_path / "backup")
    assert (caught.value.code, path.exists()) == ("backup.exists", False)
    assert (tmp_path / "a.db-wal").read_bytes() == journal
    (tmp_path / "a.db-wal").unlink()
    await restore(url, tmp_path / "backup")
    async with Engine(url, definitions=[short]) as engine:
        assert [caller_id(run.id) for run in await engine.runs()] == ["before"]


async def test_a_backup_is_one_file_also_after_it_was_read(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    async with Engine(url, definitions=[short]) as engine:
        await (await engine.start(short, 1)).result()
    (tmp_path / "backups").mkdir()
    await backup(url, tmp_path / "backups" / "one")
    await restore(f"sqlite:///{tmp_path}/b.db", tmp_path / "backups" / "one")
    assert [file.name for file in (tmp_path / "backups").iterdir()] == ["one"]


@pytest.mark.parametrize("place", [8, 10], ids=["password", "way of packing"])
async def test_a_backup_whose_index_names_what_there_is_none_of_is_damaged(
    place: int, postgres_url: str, postgres_server: Postgres, tmp_path: Path
) -> None:
    other = postgres_server.create_database()
    async with Engine(postgres_url):
        pass
    await backup(postgres_url, tmp_path / "backup")
    content = bytearray((tmp_path / "backup").read_bytes())
    entry = content.rindex(b"PK\x01\x02")  # of the manifest, the last
    content[entry + place] ^= 1
    (tmp_path / "backup").write_bytes(content)
    with pytest.raises(Damaged):
        await restore(other, tmp_path / "backup")
    postgres_server.drop_database(other)
