"""Goals and the catalog through a real server, as an engine would have them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from plait import Engine, goals
from plait.catalog import catalog_step, python_step
from plait.errors import Conflict, InvalidInput, NotFound
from plait.registry.client import Client
from tests.server.serving import serving

GREET = (
    catalog_step("greet", "Greet").required("name", str).output("greeting", str).ale('{:greeting (str "hello " name)}')
)
SHOUT = (
    catalog_step("shout")
    .required("greeting", str)
    .output("loud", str)
    .ale('{:loud (str greeting "!")}')
    .labels(team="a")
)


@python_step
def measure(greeting: str) -> int:
    return len(greeting)


@asynccontextmanager
async def both() -> AsyncGenerator[tuple[Engine, Client]]:
    async with serving() as served, Client(served.url) as client:
        yield served.engine, client


async def test_steps_are_registered_however_they_are_written():
    async with both() as (engine, client):
        made = await client.catalog.register(GREET)
        await client.catalog.register(SHOUT.build())
        await client.catalog.register(measure)
        await client.catalog.register({**step_of("other"), "name": "Other"})
        assert made == await engine.catalog.get("greet")
        assert await client.catalog.list() == await engine.catalog.list()
        assert await client.catalog.get("measure") == measure.definition
        assert await client.catalog.attributes() == await engine.catalog.attributes()
        assert [each.id for each in await client.catalog.list({"team": "a"})] == ["shout"]
        assert (await client.catalog.health()).health == (await engine.catalog.health()).health


def step_of(id: str) -> dict[str, object]:
    return {"id": id, "type": "script", "script": {"language": "ale", "script": "1"}}


async def test_a_change_is_made_only_if_it_is_asked_for():
    async with both() as (_, client):
        await client.catalog.register(GREET)
        await client.catalog.register(GREET)
        with pytest.raises(Conflict, match="step 'greet' exists and differs in labels"):
            await client.catalog.register(GREET.labels(team="b"))
        assert (await client.catalog.update(GREET.labels(team="b"))).labels == {"team": "b"}
        assert (await client.catalog.upsert(GREET)).labels == {}
        with pytest.raises(NotFound, match="step 'shout' is not in the catalog"):
            await client.catalog.update(SHOUT)


async def test_what_is_wrong_with_a_step_is_told_with_its_place():
    async with both() as (_, client):
        with pytest.raises(InvalidInput) as refused:
            await client.catalog.register(
                {**step_of("x"), "name": "X", "predicate": {"language": "ale", "script": "(> y 1)"}}
            )
        assert refused.value.code == "goals.script_invalid"
        assert [flaw.pointer for flaw in refused.value.flaws] == ["/definition/predicate/script"]


async def test_a_step_is_taken_out():
    async with both() as (engine, client):
        await client.catalog.register(GREET)
        await client.catalog.register(SHOUT)
        assert (await client.catalog.unregister("greet")).orphans == {"greeting": ["shout"]}
        assert [each.id for each in await engine.catalog.list()] == ["shout"]
        with pytest.raises(NotFound):
            await client.catalog.unregister("greet")


async def test_namespaces_have_catalogs_of_their_own():
    async with both() as (engine, client):
        await client.catalog.of("other").register(GREET)
        assert await client.catalog.list() == []
        assert [each.id for each in await engine.catalog.of("other").list()] == ["greet"]
        run = await client.start(goals("greet"), {"name": "ann"}, namespace="other")
        assert await run.result() == {"greeting": "hello ann"}


async def test_goals_are_planned_and_reached():
    async with both() as (engine, client):
        await client.catalog.register(GREET)
        await client.catalog.register(SHOUT)
        given = {"name": "ann"}
        assert await client.plan(goals("shout"), given) == await engine.plan(goals("shout"), given)
        assert not (await client.plan(goals("shout"))).startable
        run = await client.start(goals("shout"), given, id="r")
        assert await run.result() == {"loud": "hello ann!"}
        handle = await engine.get("r")
        assert (await run.view()).details == (await handle.view()).details
        with pytest.raises(InvalidInput, match="required inputs not provided"):
            await client.start(goals("shout"))
        with pytest.raises(Conflict):
            await client.start(goals("shout"), {"name": "bob"}, id="r")
