"""`plait retention`: shows and sets how long ended runs are kept."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from plait import Engine
from plait.api.retention import RetentionRules
from plait.kernel.ids import Millis
from plait.testing import VirtualClock
from tests.cli.support import Desk

DAY = 86_400_000


def test_everything_is_kept_unless_rules_say_otherwise(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    assert "everything is kept forever" in desk.plait("retention").out
    made = desk.plait("retention", "set", "--completed", "30d", "--failed", "12h", "--audit", "365d", "--json").json
    expected = {"completed": 30 * DAY, "failed": DAY // 2, "audit": 365 * DAY}
    assert made == expected
    shown = desk.plait("retention").out
    assert "removed 30 d 0 h after their end" in shown
    assert "kept forever" in shown
    assert desk.plait("retention", "show", "--json").json == made
    assert "kept forever" in desk.plait("retention", "show", "--namespace", "acme").out
    assert "everything is kept forever" in desk.plait("retention", "set").out


def test_a_run_that_went_to_the_archive_is_still_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLAIT_ARCHIVE", str(desk.folder / "archive"))
    desk.run("hello", "--input", '"Ada"', "--id", "old")
    desk.run("hello", "--input", '"Bo"', "--id", "newest")
    asyncio.run(_archive_all(desk))
    assert [each["id"] for each in desk.plait("runs", "--json").json] == ["newest"]
    shown = desk.plait("show", "old", "--json")
    assert shown.json["status"] == "completed"
    assert "from the archive" in shown.err
    assert "run.completed" in desk.plait("events", "old").out
    assert "no log lines" in desk.plait("logs", "old").out
    assert desk.plait("show", "none", "--json").problem["code"] == "kernel.no_run"


async def _archive_all(desk: Desk) -> None:
    clock = VirtualClock(datetime.now(UTC) + timedelta(days=2))
    async with Engine(desk.db, definitions=[desk.load()], clock=clock) as engine:
        await engine.retention.set(RetentionRules(completed=Millis(DAY), archive=True))
        assert await engine.retention.apply() == 1


def test_a_time_that_is_none_is_refused(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    refused = desk.plait("retention", "set", "--completed", "a month", "--json")
    assert refused.problem["code"] == "cli.bad_age"
    assert "everything is kept forever" in desk.plait("retention").out
