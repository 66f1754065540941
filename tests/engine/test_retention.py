"""Ended runs go when their time is over: the right ones, whole, and while others go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from msgspec.structs import replace

from plait import Context, Engine, Retry, step_log, workflow
from plait.api.caller import NOBODY, Caller
from plait.api.retention import RetentionRules
from plait.codec.key_ring import LocalKeyRing, new_master_key
from plait.errors import InvalidInput, NotFound, Unavailable
from plait.kernel import values
from plait.kernel.ids import Millis, RunId, shard_of
from plait.kernel.inputs import Message
from plait.kernel.loader import recorded
from plait.kernel.store import InboxRow, RunRow, Store, Write
from plait.server.auth import Audit
from plait.stores.archive.archive import archive_of
from plait.stores.archive.archived_run import ArchivedRun, decode
from plait.stores.memory import MemoryStore
from plait.stores.sqlite import SqliteStore
from plait.testing import sim
from tests.engine.places import soon

DAY = 86_400
DAYS = DAY * 1000
LARGE = "x" * 50_000
NAME = "order ü" * 28


async def say(name: str) -> str:
    step_log(f"hello {name}")
    return name


async def refuse() -> None:
    raise ValueError("no")


@workflow
async def echo(ctx: Context, input: Any) -> Any:
    return await ctx.step("say", say, input)


@workflow
async def failing(ctx: Context) -> None:
    await ctx.step("refuse", refuse, retry=Retry(max_attempts=1))


@workflow
async def waiting(ctx: Context) -> Any:
    message = await ctx.listen("go")
    return message and message.body


@workflow
async def parent(ctx: Context) -> Any:
    await ctx.child("child", echo, "of the parent")
    return await ctx.listen("go")


@workflow
async def starter(ctx: Context) -> str:
    return await ctx.start_child("child", waiting, id="child")


FLOWS = [echo, failing, waiting, parent]


def rules(**ages: Any) -> RetentionRules:
    return RetentionRules(**ages)


async def left(engine: Engine) -> set[str]:
    return {row.id for row in await engine.runs()}


async def test_runs_go_by_namespace_and_status_when_their_time_is_over():
    async with sim(FLOWS) as s:
        engine = s.engine
        await engine.retention.set(rules(completed=7 * DAYS, failed=30 * DAYS))
        for id, flow, given in [("done", echo, "a"), ("failed", failing, None), ("busy", waiting, None)]:
            await s.start(flow, given, id=id) if given else await s.start(flow, id=id)
        cancelled = await s.start(waiting, id="cancelled")
        await cancelled.cancel()
        await engine.start(echo, "b", id="foreign", namespace="acme")
        await s.start(waiting, id="newest")
        await s.settle()
        assert await engine.retention.apply() == 0
        await s.clock.advance(8 * DAY)
        assert await engine.retention.apply() == 1
        assert await left(engine) == {"failed", "busy", "cancelled", "newest", "acme/foreign"}
        with pytest.raises(NotFound) as caught:
            await engine.get("done")
        assert caught.value.code == "kernel.no_run"
        await s.clock.advance(30 * DAY)
        assert await engine.retention.apply() == 1
        assert "failed" not in await left(engine)
        assert await engine.dlq.list(all=True) == []


async def test_a_child_goes_after_its_parent_and_not_before():
    async with sim(FLOWS) as s:
        await s.engine.retention.set(rules(completed=0))
        run = await s.start(parent, id="parent")
        await s.settle()
        await s.start(waiting, id="newest")
        assert await s.engine.retention.apply() == 0
        await run.message("go")
        await s.settle()
        assert await s.engine.retention.apply() == 2
        assert await left(s.engine) == {"newest"}


async def test_the_end_of_a_child_whose_parent_was_removed_does_not_wait_for_ever():
    """Else each look into the inbox would read it again, and `doctor` would show an input that nobody takes."""
    async with sim([*FLOWS, starter]) as s:
        await s.engine.retention.set(rules(completed=1 * DAYS))
        await s.start(starter, id="parent")
        await s.start(waiting, id="newest")
        await s.settle()
        await s.clock.advance(2 * DAY)
        assert await s.engine.retention.apply() == 1
        assert await left(s.engine) == {"child", "newest"}
        await (await s.engine.get("child")).message("go")
        await s.settle()
        store = s.engine.kernel.store
        assert (await store.census()).inbox == 1
        await s.clock.advance(DAY)
        await s.engine.retention.apply()
        assert (await store.census()).inbox == 0


async def test_runs_of_a_dialect_that_nothing_has_asked_for_since_the_start_go_too(tmp_path: Path):
    """A dialect is loaded with the first thing that needs it; the removal of a run does not."""
    path = tmp_path / "plait.db"
    store = SqliteStore(str(path))
    await store.open()
    done = RunId("done")
    row = RunRow(id=done, namespace="default", dialect="afl", definition="report", shard=shard_of(done), created_at=OLD)
    row.status, row.awake, row.ended_at = "completed", False, OLD
    assert await store.commit([Write(done, row.shard, None, create=row)]) == ["ok"]
    newest = replace(row, id=RunId("newest"), shard=shard_of(RunId("newest")))
    assert await store.commit([Write(newest.id, newest.shard, None, create=newest)]) == ["ok"]
    await store.close()
    script = _APPLY.format(url=f"sqlite:///{path}")
    applied = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert applied.stdout == "1 False\n"


OLD = Millis(1_700_000_000_000)
_APPLY = """
import asyncio
from plait import Engine
from plait.api.retention import RetentionRules

async def main():
    async with Engine("{url}") as engine:
        await engine.retention.set(RetentionRules(completed=0))
        print(await engine.retention.apply(), any(bundle.name == "afl" for bundle in engine.loaded_bundles))

asyncio.run(main())
"""


async def test_a_run_that_is_reopened_meanwhile_stays():
    """Its input is in the inbox when the removal is committed."""

    class Reopening(MemoryStore):
        armed = False

        async def commit(self, writes: Any) -> Any:
            if self.armed and any(write.removal is not None for write in writes):
                self.armed = False
                found = next(write for write in writes if write.removal is not None)
                await self._reopen(found)
            return await super().commit(writes)

        async def _reopen(self, write: Write) -> None:
            body = values.plain(Message("again", "again"))
            row = InboxRow(write.run_id, write.shard, "again", body, Millis(0))
            assert await super().commit([Write(write.run_id, write.shard, None, inbox=[row])]) == ["ok"]

    store = Reopening()
    async with sim(FLOWS, store=store) as s:
        await s.engine.retention.set(rules(failed=0))
        await s.start(failing, id="failed")
        await s.start(waiting, id="newest")
        await s.settle()
        store.armed = True
        assert await s.engine.retention.apply() == 0
        assert "failed" in await left(s.engine)
    await store.dispose()


async def test_a_month_of_work_with_a_day_of_history_leaves_a_day_of_rows():
    store = MemoryStore()
    async with sim(FLOWS, store=store) as s:
        await s.engine.retention.set(rules(completed=1 * DAYS, audit=1 * DAYS))
        audit = Audit(s.engine.records, s.engine.kernel.clock)
        rows: list[int] = []
        pages: list[int] = []
        for day in range(30):
            for hour in range(4):
                await s.start(echo, LARGE + f"{day} {hour}", id=f"{day}-{hour}")
                await audit.record(Caller("ada", "admin", "default", "open", id="k"), "run.start", f"{day}", "ok")
                await s.settle()
                await s.clock.advance(DAY / 4)
                await s.engine.retention.apply()
            rows.append(_rows(store))
            pages.append(int(str(next(_db(store).execute("pragma page_count"))[0])))
        assert max(rows[2:]) <= rows[1]
        assert max(pages[3:]) <= 1.05 * max(pages[:3])  # what goes makes room for what comes
        assert len(await left(s.engine)) <= 6
        assert await s.engine.kernel.store.integrity() == []
    await store.dispose()


def _db(store: MemoryStore) -> apsw.Connection:
    db = store._db  # pyright: ignore[reportPrivateUsage]
    assert db is not None
    return db


def _rows(store: MemoryStore) -> int:
    db = _db(store)
    tables = [str(row[0]) for row in db.execute("select name from sqlite_master where type = 'table'").fetchall()]
    counted = [name for name in tables if not name.startswith(("run_text_groups", "sqlite"))]
    return sum(int(str(next(db.execute(f"select count(*) from {name}"))[0])) for name in counted)


async def test_the_audit_log_is_trimmed_from_its_old_end():
    async with sim(FLOWS) as s:
        engine = s.engine
        audit = Audit(engine.records, engine.kernel.clock)
        caller = Caller("ada", "admin", "default", "open", id="k")
        for _ in range(25):
            await audit.record(caller, "run.start", "old", "ok")
        await s.clock.advance(10 * DAY)
        await audit.record(caller, "run.start", "new", "ok")
        await engine.retention.set(rules(audit=5 * DAYS))
        await engine.retention.apply()
        assert [entry.target for entry in (await audit.page("default")).entries] == ["new"]


async def test_entries_of_no_namespace_go_with_those_of_the_default_one():
    async with sim(FLOWS) as s:
        engine = s.engine
        audit = Audit(engine.records, engine.kernel.clock)
        for _ in range(3):
            await audit.record(NOBODY, "run.start", "stranger", "refused")
        await audit.record(Caller("ada", "admin", "acme", "open", id="k"), "run.start", "kept", "ok")
        await s.clock.advance(10 * DAY)
        await audit.record(NOBODY, "run.start", "new", "refused")
        await engine.retention.set(rules(audit=DAYS), "shop")
        await engine.retention.apply()
        assert len((await audit.page()).entries) == 5
        await engine.retention.set(rules(audit=5 * DAYS))
        await engine.retention.apply()
        assert [entry.target for entry in (await audit.page()).entries] == ["new", "kept"]


async def test_an_engine_at_work_removes_runs_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.engine.retention.EVERY", 0.01)
    async with Engine(f"sqlite:///{tmp_path / 'plait.db'}", definitions=FLOWS) as engine:
        await (await engine.start(echo, "a", id="done")).result()
        await engine.start(waiting, id="newest")
        await engine.retention.set(rules(completed=0))

        async def gone() -> bool:
            return await left(engine) == {"newest"}

        await soon(gone)


async def test_what_a_dead_engine_left_of_removed_runs_is_swept_by_the_next():
    store = MemoryStore()
    async with sim(FLOWS, store=store) as s:
        await s.start(echo, LARGE, id="done")
        await s.settle()
        await s.start(waiting, id="newest")
        kernel, shard = s.engine.kernel, shard_of(RunId("done"))
        write = Write(RunId("done"), shard, kernel.leases.epochs[shard], removal=kernel.clock.now())
        assert await kernel.append(write) == "ok"
        await s.crash()
        before = _rows(store)
        assert await s.engine.retention.apply() == 0
        assert _rows(store) < before
        assert not await store.removals.sweep(1)
    await store.dispose()


# -- the archive -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


async def archived_run(url: str, folder: Path, keys: LocalKeyRing | None = None) -> ArchivedRun:
    """One with a large value, a log line and a name that is no file name."""
    async with Engine(url, definitions=FLOWS, archive=str(folder), encryption=keys) as engine:
        await (await engine.start(echo, LARGE, id=NAME)).result()
        await engine.start(waiting, id="newest")
        await soon(lambda: engine.kernel.store.lines(RunId(NAME), None, 0, 10))
        await engine.retention.set(rules(completed=0, archive=True))
        assert await engine.retention.apply() == 1
        assert await left(engine) == {"newest"}
    [path] = folder.rglob("*.jsonl.gz")
    assert path.relative_to(folder).parts[0] == "default"
    assert path.stat().st_mode & 0o777 == 0o600
    return decode(path.read_bytes())


async def put_back(run: ArchivedRun, store: Store) -> None:
    """As a restore would."""
    row, [first, *rest] = run.row, run.log
    await store.open()
    writes = [Write(row.id, row.shard, None, create=row, copies=[first, *rest], blobs=run.blobs, lines=run.lines)]
    assert await store.commit(writes) == ["ok"]


async def test_an_archived_run_is_whole(tmp_path: Path, folder: Path):
    run = await archived_run(f"sqlite:///{tmp_path / 'plait.db'}", folder)
    store = MemoryStore()
    await put_back(run, store)
    row = await store.run(RunId(NAME))
    assert row is not None
    assert (row.status, row.definition) == ("completed", "echo")
    events = await recorded(store, row.id)
    assert events[0].type == "run.started"
    assert events[-1].data["output"] == LARGE
    [line] = await store.lines(row.id, None, 0, 10)
    assert line.text.startswith("hello xxx")
    await store.dispose()


async def test_an_archive_of_an_encrypted_database_is_encrypted_too(tmp_path: Path, folder: Path):
    keys = LocalKeyRing.parse(new_master_key(), "this test")
    run = await archived_run(f"sqlite:///{tmp_path / 'plait.db'}", folder, keys)
    held = msgspec.json.encode([row.events.decode() for row in run.log]) + b"".join(body for _, body in run.blobs)
    assert LARGE[:100].encode() not in held
    assert len(run.blobs) > 0


async def test_runs_that_must_be_archived_stay_while_there_is_no_archive(caplog: pytest.LogCaptureFixture):
    async with sim(FLOWS) as s:
        await s.engine.retention.set(rules(completed=0, archive=True))
        await s.start(echo, "a", id="done")
        await s.settle()
        await s.start(waiting, id="newest")
        assert [await s.engine.retention.apply() for _ in range(2)] == [0, 0]
        assert "done" in await left(s.engine)
        assert len([line for line in caplog.messages if "has no archive" in line]) == 1


async def test_an_archive_that_can_not_be_written_removes_nothing(tmp_path: Path, folder: Path):
    folder.write_text("a file is in its place")
    async with Engine(f"sqlite:///{tmp_path / 'plait.db'}", definitions=FLOWS, archive=str(folder)) as engine:
        await (await engine.start(echo, "a", id="done")).result()
        await engine.start(waiting, id="newest")
        await engine.retention.set(rules(completed=0, archive=True))
        with pytest.raises(Unavailable) as caught:
            await engine.retention.apply()
        assert caught.value.code == "archive.unwritable"
        assert "done" in await left(engine)


async def test_an_archive_that_is_away_keeps_only_what_is_to_be_archived(folder: Path):
    folder.write_text("a file is in its place")
    async with sim(FLOWS) as s:
        engine = s.engine
        engine.retention.archive = archive_of(str(folder))
        await engine.retention.set(rules(completed=0, archive=True, audit=DAYS), "acme")
        await engine.retention.set(rules(completed=0))
        audit = Audit(engine.records, engine.kernel.clock)
        await audit.record(Caller("ada", "admin", "acme", "open", id="k"), "run.start", "old", "ok")
        await engine.start(echo, LARGE, id="to-archive", namespace="acme")
        await s.start(echo, LARGE, id="done")
        await s.settle()
        await s.start(waiting, id="newest")
        await s.clock.advance(2 * DAY)
        with pytest.raises(Unavailable):
            await engine.retention.apply()
        assert await left(engine) == {"acme/to-archive", "newest"}
        assert (await audit.page("acme")).entries == []
        assert not await engine.kernel.store.removals.sweep(1)


@pytest.mark.parametrize("place", ["relative/folder", "ftp://host/folder", "s3://"])
def test_a_place_that_is_no_folder_is_refused(place: str):
    with pytest.raises(InvalidInput) as caught:
        Engine("memory:", archive=place)
    assert caught.value.code == "archive.bad_place"


async def test_rules_that_make_no_sense_are_refused():
    async with sim(FLOWS) as s:
        with pytest.raises(InvalidInput) as caught:
            await s.engine.retention.set(rules(completed=-1))
        assert caught.value.code == "retention.bad_rules"
