"""A damaged event of a step catalog stops nobody who does not need it, and a deep check names it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from plait import Context, Engine, goals, workflow
from plait.catalog import catalog_step
from plait.engine.deep_check import DeepCheck
from plait.kernel.errors import Conflict, Damaged, PlaitError

HERE = "kind = 'catalog/default' and id like '%2'"
DAMAGES = {
    f"update records set body = '{{}}' where {HERE}": "event 0000000000000002 of catalog/default is damaged",
    f"update records set body = '[]' where {HERE}": "event 0000000000000002 of catalog/default is damaged",
    f"update records set body = '[{{}}]' where {HERE}": "event 0000000000000002 of catalog/default is damaged",
    f"delete from records where {HERE}": "event 2 is missing: what follows is number 3",
}
GREET = catalog_step("greet", "Greet").required("name", str).output("greeting", str).lua("return {greeting = name}")
TELEPATHY = """[{"type": "telepathy"}]"""


@workflow
async def brew(ctx: Context) -> str:
    return "tea"


async def filled(tmp_path: Path) -> Path:
    """A database with two catalogs; the first has three events."""
    path = tmp_path / "plait.db"
    async with Engine(f"sqlite:///{path}") as engine:
        for number in range(3):
            await engine.catalog.register(catalog_step(f"s{number}", "S").output(f"o{number}", str).lua("return {}"))
        await engine.catalog.of("other").register(GREET)
    return path


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as db:
        assert db.execute(statement).rowcount == 1
    db.close()


async def findings(engine: Engine) -> list[PlaitError]:
    return [error async for error in DeepCheck(engine.kernel.store).findings()]


async def work_beside_it(path: Path, expected: type[PlaitError]) -> None:
    """Everything but the damaged catalog works, in an engine with steps and runs of its own."""
    async with Engine(f"sqlite:///{path}", definitions=[brew, GREET]) as engine:
        assert await (await engine.start(brew)).result() == "tea"
        assert (await engine.catalog.of("other").get("greet")).id == "greet"
        with pytest.raises(expected, match="catalog/default"):
            await engine.start(goals("greet"), {"name": "Ann"})
        found = await (await engine.start(goals("greet"), {"name": "Ann"}, namespace="other")).result()
        assert found["greeting"] == "Ann"


@pytest.mark.parametrize(("statement", "what"), DAMAGES.items())
async def test_a_damaged_catalog_stops_nobody_else_and_is_found(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, statement: str, what: str
) -> None:
    path = await filled(tmp_path)
    async with Engine(f"sqlite:///{path}") as engine:
        assert await findings(engine) == []
    change(path, statement)
    await work_beside_it(path, PlaitError)
    assert "the steps of this program are not registered: " in caplog.text
    async with Engine(f"sqlite:///{path}") as engine:
        [found] = await findings(engine)
        assert isinstance(found, Damaged)
        assert what in str(found)


async def test_a_catalog_with_an_event_of_a_newer_release_stops_nobody_else(tmp_path: Path) -> None:
    path = await filled(tmp_path)
    change(path, f"update records set body = '{TELEPATHY}' where {HERE}")
    await work_beside_it(path, Conflict)
