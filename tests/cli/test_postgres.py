"""The same commands on PostgreSQL."""

import asyncio

import pytest

from tests.cli.support import Desk
from tests.stores.looking_in import looking_in

COMPARE = """
create or replace function plait.compare(text, text) returns integer language sql immutable as 'select {}'
"""
INDEX = f"""
{COMPARE.format("bttextcmp($1, $2)")};
create operator class plait.odd for type text using btree as
    operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >, function 1 plait.compare(text, text);
create index runs_odd on plait.runs (id plait.odd)
"""
"""An index whose order is another when its function is changed, as after an upgrade of a system's collations."""


@pytest.fixture
def pg(desk: Desk, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("PLAIT_DB", postgres_url)
    return desk


def test_a_run_is_started_seen_and_examined(pg: Desk):
    ran = pg.run("hello", "--id", "h", "--input", '"Ada"')
    assert (ran.code, ran.out) == (0, '"hello Ada"\n')
    assert [run["id"] for run in pg.plait("runs", "--json").json] == ["h"]
    assert "✓ greet  step" in pg.plait("show", "h").out
    ran = pg.plait("doctor", "--json")
    assert (ran.code, ran.json["facts"]["store"]) == (0, "postgresql")
    assert ran.json["facts"]["shards"] == "0 of 64 owned"


async def test_a_deep_look_checks_indexes_where_the_server_can(pg: Desk, postgres_url: str):
    await asyncio.to_thread(pg.run, "hello", "--id", "h", "--input", '"Ada"')
    async with looking_in(postgres_url) as db:
        ran = await asyncio.to_thread(pg.plait, "doctor", "--deep", "--json")
        assert (ran.code, ran.json["problems"]) == (0, [])
        assert ran.json["facts"]["index checks"] == "none: an administrator may `create extension amcheck`"
        await db.execute("create extension amcheck")
        ran = await asyncio.to_thread(pg.plait, "doctor", "--deep", "--json")
        assert (ran.code, ran.json["facts"]["index checks"]) == (0, "by amcheck")


async def test_a_damaged_index_is_found_by_amcheck(pg: Desk, postgres_url: str):
    for id in ("a", "b"):
        await asyncio.to_thread(pg.run, "hello", "--id", id, "--input", '"Ada"')
    async with looking_in(postgres_url) as db:
        await db.execute("create extension amcheck")
        await db.execute(INDEX)
        await db.execute(COMPARE.format("-bttextcmp($1, $2)"))
    ran = await asyncio.to_thread(pg.plait, "doctor", "--deep", "--json")
    assert ran.code == 1
    [problem] = ran.json["problems"]
    assert (problem["code"], problem["title"]) == ("store.damaged", "the database is damaged")
    assert "index runs_odd: item order invariant violated" in problem["detail"]


def test_what_is_told_without_an_engine_is_kept(pg: Desk):
    pg.start("waits", "w")
    assert pg.plait("message", "w", "go", "1", "--json").json["taken"] is False
    assert pg.plait("cancel", "w", "--json").json["taken"] is False
    assert pg.plait("check", pg.module).code == 0


def test_a_server_that_is_away_is_a_clear_error(desk: Desk):
    ran = desk.plait("runs", "--db", "postgresql://nobody@127.0.0.1:1/nothing")
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err
