"""Saved graphs through a real server, as an engine would have them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from plait import Engine
from plait.dialects.graph.graph import graph
from plait.errors import Conflict, InvalidInput
from plait.registry.client import Client
from tests.server.serving import serving
from tests.server.test_graph_definitions import ORDERS, RENAMED


@asynccontextmanager
async def both() -> AsyncGenerator[tuple[Engine, Client]]:
    async with serving() as served, Client(served.url) as client:
        yield served.engine, client


async def test_a_graph_is_saved_patched_and_compared():
    async with both() as (engine, client):
        assert (await client.definitions.save("graph", "orders", ORDERS)).version == "v1.0"
        saved = await client.definitions.patch("orders", RENAMED, description="Rename", expected="v1.0")
        assert (saved.version, saved.warnings) == ("v1.1", [])
        assert await client.definitions.get("orders") == await engine.definitions.get("orders")
        assert await client.definitions.diff("orders", "v1.0", "v1.1") == await engine.definitions.diff(
            "orders", "v1.0", "v1.1"
        )
        found = await client.definitions.version("orders", "v1.1")
        assert (found.base, found.definition["nodes"][0]) == ("v1.0", ORDERS["nodes"][0])
        run = await client.start(graph("orders@v1.0"), {"amount": 2})
        assert await run.result() == {"reply": {"total": 2}}
        run = await engine.start(graph("orders"), {"amount": 2})
        assert await run.result() == {"reply": {"sum": 2}}


async def test_tags_are_moved_undone_and_removed():
    async with both() as (engine, client):
        await client.definitions.save("graph", "orders", ORDERS)
        await client.definitions.patch("orders", RENAMED)
        await client.definitions.tag("orders", "prod", "v1.0")
        await client.definitions.tag("orders", "prod", "v1.1")
        assert (await client.definitions.undo("orders", "prod")).tags == {"main": "v1.1", "prod": "v1.0"}
        assert (await client.definitions.redo("orders", "prod", expected="v1.0")).tags["prod"] == "v1.1"
        with pytest.raises(Conflict) as caught:
            await client.definitions.tag("orders", "prod", "v1.0", expected="v1.0")
        assert caught.value.code == "definitions.tag_moved"
        assert (await client.definitions.untag("orders", "prod")).tags == {"main": "v1.1"}
        assert await client.definitions.tags("orders") == await engine.definitions.tags("orders")


async def test_what_is_wrong_with_a_graph_comes_with_its_places():
    async with both() as (_, client):
        with pytest.raises(InvalidInput) as caught:
            await client.definitions.save("graph", "orders", {"nodes": [{"id": "A", "type": "tsk"}]})
        assert [(flaw.code, flaw.pointer) for flaw in caught.value.flaws] == [("graph.unknown_type", "/nodes/0/type")]
