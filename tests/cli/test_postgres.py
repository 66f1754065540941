"""The same commands on PostgreSQL."""

import pytest

from tests.cli.support import Desk


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
