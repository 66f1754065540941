"""A database that an older Plait left in the middle of its work: this one opens it, and finishes what was begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plait.errors import Conflict

from .database import DATABASES, finish_everything, restored
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


def test_a_history_that_is_stored_is_not_recorded_again():
    command = [sys.executable, "-m", "tests.histories.record", "cancelled"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert "stored already" in done.stdout
