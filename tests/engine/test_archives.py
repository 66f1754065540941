"""Runs that went to an archive are found there again: in a folder, and in object storage."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from plait import Context, Engine, step_log, workflow
from plait.api.retention import RetentionRules
from plait.engine.archived_store import with_archived
from plait.engine.archiving import gathered
from plait.errors import Unavailable
from plait.kernel.errors import Damaged
from plait.kernel.ids import Millis, RunId
from plait.stores.archive.archive import Archive, archive_of
from plait.stores.archive.archived_run import decode, encode
from plait.stores.archive.names import is_of
from plait.stores.memory import MemoryStore
from plait.testing import sim
from tests.engine.places import soon
from tests.support.object_storage import bucket

LARGE = "x" * 50_000
NAME = "order ü %1"
OLD = RetentionRules(completed=Millis(1), archive=True)


async def say(name: str) -> str:
    step_log("hello")
    return name


@workflow
async def echo(ctx: Context, given: str) -> str:
    return await ctx.step("say", say, given)


@asynccontextmanager
async def archive_at(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Archive]:
    if kind == "folder":
        yield archive_of(str(tmp_path))
        return
    async with bucket() as found:
        settings = {"ENDPOINT": found.url, "ALLOW_HTTP": "true", "REGION": "here"}
        for name, value in {**settings, "ACCESS_KEY_ID": "tests", "SECRET_ACCESS_KEY": "secret"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield archive_of("s3://runs/plait")


@pytest.mark.parametrize("kind", ["folder", "s3"])
async def test_a_run_that_went_to_the_archive_can_be_looked_at(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with archive_at(kind, tmp_path, monkeypatch) as archive, sim([echo]) as s:
        engine = s.engine
        engine.retention.archive = archive
        await engine.retention.set(OLD)
        for id in (NAME, f"{NAME}-1", "newest"):
            await s.start(echo, f"{id}: {LARGE}", id=id)
        await s.settle()
        await s.clock.advance(10)  # before the first round of the engine's own
        await soon(lambda: engine.kernel.store.lines(RunId(NAME), None, 0, 10))
        assert await engine.retention.apply() == 2
        store = await with_archived(MemoryStore(), archive, "default", NAME)
        assert store is not None
        async with Engine(store=store, definitions=[echo], work=False) as looking:
            run = await looking.get(NAME)
            picture = await run.picture()
            assert picture.input == f"{NAME}: {LARGE}"
            assert await run.result() == f"{NAME}: {LARGE}"
            assert [node.status for node in picture.view.nodes] == ["completed"]
            assert [line.text for line in await run.logs("say")] == ["hello"]
            assert [event.type for event in await run.events()][-1] == "run.completed"
        assert await with_archived(MemoryStore(), archive, "default", "b") is None
        assert await with_archived(MemoryStore(), archive, "acme", NAME) is None
        assert await with_archived(MemoryStore(), archive, "default", "newest") is None  # it stays, see operations


async def test_storage_that_refuses_keeps_the_run_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    async with bucket() as found, sim([echo]) as s:
        monkeypatch.setenv("AWS_ENDPOINT", found.url)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        archive = s.engine.retention.archive = archive_of("s3://runs/plait")
        await s.engine.retention.set(OLD)
        for id in ("a", "newest"):
            await s.start(echo, id, id=id)
        await s.settle()
        await s.clock.advance(10)
        with pytest.raises(Unavailable) as caught:
            await s.engine.retention.apply()
        assert caught.value.code == "archive.unwritable"
        assert len(await s.engine.runs()) == 2
        with pytest.raises(Unavailable) as caught:
            await archive.find("default", "a")
        assert caught.value.code == "archive.unreadable"


def test_a_name_is_of_the_run_with_that_id_and_no_other() -> None:
    assert is_of("a-170.jsonl.gz", "a")
    assert not is_of("a-1-170.jsonl.gz", "a")
    assert is_of("a-1-170.jsonl.gz", "a-1")
    assert not is_of(".a-170.jsonl.gz.77", "a")


async def test_what_else_lies_in_the_folder_of_a_namespace_hides_no_run(tmp_path: Path) -> None:
    """Old months are packed, moved and thinned with any tool."""
    archive = archive_of(str(tmp_path))
    await archive.put("default/2025-01/a-170.jsonl.gz", b"a")
    (tmp_path / "default" / "2024-12.tar.gz").write_bytes(b"packed")
    (tmp_path / "default" / "README").write_text("ours")
    assert await archive.find("default", "a") == b"a"
    assert await archive.find("default", "b") is None


async def test_whatever_bit_of_an_archived_run_changed_it_is_said_to_be_damaged(tmp_path: Path) -> None:
    async with sim([echo]) as s:
        await s.start(echo, "a", id="a")
        await s.settle()
        run = await gathered(RunId("a"), s.engine.kernel.store, s.engine.kernel.store)
        assert run is not None
        content = encode(run)
    for place in range(10, len(content)):  # what is before says when and where it was packed
        changed = bytes([*content[:place], content[place] ^ 16, *content[place + 1 :]])
        with pytest.raises(Damaged):
            decode(changed)
