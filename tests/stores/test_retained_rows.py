"""A day of history, on real databases: whatever a day of work writes, and into which table, is gone a day later."""

from pathlib import Path

import pytest

from bench.retention.__main__ import month
from bench.retention.day import Work
from bench.retention.sizes import Place, PostgresPlace, SqlitePlace

LATE = {"plait.due_texts", "records", "plait.records", "run_texts", "run_text_groups", "(free pages)"}
"""Texts wait for others; a schedule keeps its last hundred times."""


DAYS, WEEK = 12, 3


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
async def test_no_table_of_a_database_that_keeps_a_day_grows_from_week_to_week(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    """Short weeks. Some rows more or less are those of runs that wake up at the turn of a day."""
    place: Place = SqlitePlace(tmp_path) if name == "sqlite" else PostgresPlace(request.getfixturevalue("postgres_url"))
    days = await month(place, DAYS, Work(24, steps=20))
    tables = set(days[-1]) - LATE
    early = {table: max(day[table].rows for day in days[2 : 2 + WEEK]) for table in tables}
    late = {table: max(day[table].rows for day in days[-WEEK:]) for table in tables}
    assert {table: rows for table, rows in late.items() if rows > 1.2 * early[table] + 4} == {}
    assert sum(late.values()) > 100
