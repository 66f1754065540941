"""A database that an older Plait left in the middle of its work: this one opens it, and finishes what was begun."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from plait.errors import Conflict
from plait.kernel.errors import Damaged
from plait.kernel.ids import RunId
from plait.kernel.run_matching import matches, mentions
from plait.kernel.store import RunFilter
from plait.stores.sqlite import SqliteStore

from .database import DATABASES, file_of, finish_everything, restored
from .flows import World

DUMPS = sorted(DATABASES.glob("*.sql"))
each_database = pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)


def test_the_database_of_todays_schema_is_stored():
    assert DUMPS


@each_database
async def test_every_run_in_it_goes_on_to_its_end(dump: Path, tmp_path: Path):
    World.mended = False
    async with restored(dump, tmp_path) as (s, endings):
        assert await finish_everything(s) == endings


@each_database
async def test_it_goes_on_after_one_more_crash_as_well(dump: Path, tmp_path: Path):
    World.mended = False
    async with restored(dump, tmp_path) as (s, endings):
        await s.crash()
        assert await finish_everything(s) == endings


@each_database
async def test_what_people_were_asked_is_an_open_approval(dump: Path, tmp_path: Path):
    """Also where it was a question, which was deleted once it was answered."""
    async with restored(dump, tmp_path) as (s, _):
        [asked] = await s.engine.approvals.list(run_id="decision")
        assert (asked.id, asked.status, asked.by, asked.required) == ("decision:ok", "open", "boss", 1)
        decided = await s.engine.approvals.decide(asked.id, "approve", by="ann")
        assert (decided.status, decided.decided_by) == ("approved", "ann")
        with pytest.raises(Conflict):
            await s.engine.approvals.decide(asked.id, "reject", by="bob")


@each_database
async def test_its_runs_are_listed_and_searched_as_new_ones_are(dump: Path, tmp_path: Path):
    file, _ = file_of(dump, tmp_path)
    store = SqliteStore(str(file))
    await store.open()
    everyone = await store.runs(RunFilter(limit=1_000))
    assert {row.id for row in everyone} >= {"decision", "nap", "broken"}
    for text in ("decis", "ROKEN", "everything"):
        found = await store.runs(RunFilter(text=text, limit=1_000))
        assert found == [row for row in everyone if mentions(row, text)] != []
    for status in ("waiting", "working", "blocked", "running", "completed"):
        query = RunFilter(status=status, limit=1_000)
        assert await store.runs(query) == [row for row in everyone if matches(query, row)]
    await store.close()


async def test_why_runs_waited_is_known_from_schema_6_on(tmp_path: Path):
    file, _ = file_of(DATABASES / "schema-6.sql", tmp_path)
    store = SqliteStore(str(file))
    await store.open()
    waiting = {row.id: row.waiting for row in await store.runs(RunFilter(status="waiting", limit=1_000))}
    await store.close()
    assert {"message", "nap", "decision"} <= waiting.keys()
    assert all(reason is not None and reason.text for reason in waiting.values())


async def test_a_row_that_is_damaged_does_not_keep_a_database_from_being_brought_up_to_date(tmp_path: Path):
    file, _ = file_of(DATABASES / "schema-6.sql", tmp_path)
    with sqlite3.connect(file) as db:
        db.execute("update runs set labels = '{oh' where id = 'nap'")
        db.execute("update runs set blocked = 'no json' where id = 'broken'")
        db.execute("update runs set labels = cast(x'ff7b7d' as text) where id = 'word'")
    db.close()
    store = SqliteStore(str(file))
    await store.open()
    assert [row.id for row in await store.runs(RunFilter(text="decision"))] == ["decision"]
    assert "decision" in [row.id for row in await store.runs(RunFilter())]  # one damaged row hides no other
    with pytest.raises(Damaged):
        await store.run(RunId("word"))
    await store.close()


def test_a_history_that_is_stored_is_not_recorded_again():
    command = [sys.executable, "-m", "tests.histories.record", "cancelled"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert "stored already" in done.stdout
