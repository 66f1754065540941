"""Warnings for tools and functions that nobody offers. They never block."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Engine, refs, step
from plait.errors import InvalidInput, RunFailed
from tests.dialects.refs.recording import shop_servers


@step(name="greet")
async def greet(name: str) -> str:
    return name


def definition(**action: Any) -> dict[str, Any]:
    return {"steps": [{"name": "a", "action": action, "input": {"name": "x"}}]}


async def warnings(engine: Engine, name: str, **action: Any) -> list[str]:
    saved = await engine.definitions.save("refs", name, definition(**action))
    planned = (await engine.plan(refs(definition(**action)))).notes
    assert planned == [*saved.warnings]
    return planned


async def test_tools_and_functions_that_nobody_offers_are_warned_of_when_a_workflow_is_saved_or_planned() -> None:
    servers = {"crm": shop_servers.crm(), "orders": shop_servers.orders(), "gone": {"command": "/no/such/command"}}
    servers |= {"shop": {"servers": ["crm", "orders"]}}
    async with Engine("memory:", definitions=[greet], mcp_servers=servers) as engine:
        assert await warnings(engine, "a", function="greet") == []
        assert await warnings(engine, "b", function="great") == ['Step "a": no function "great" is registered here']
        assert await warnings(engine, "c", toolName="GET_USER") == []
        assert await warnings(engine, "d", toolName="COLLECTION_WORKFLOW_EXECUTION_CREATE") == []
        (ambiguous,) = await warnings(engine, "e", toolName="LIST")
        assert 'Tool "LIST" is on several servers' in ambiguous
        (unavailable,) = await warnings(engine, "f", toolName="GET_USR")
        assert 'MCP server "gone" is not available' in unavailable
        scoped = definition(toolName="GET_USR") | {"servers": ["shop"]}
        assert (await engine.definitions.save("refs", "g", scoped)).warnings == (
            'Step "a": No MCP server has a tool "GET_USR". Did you mean "GET_USER"?',
        )
        with pytest.raises(RunFailed, match="GET_USR"):
            await (await engine.start("g")).result()


async def test_who_does_no_work_does_not_know_what_there_is() -> None:
    async with Engine("memory:", work=False) as engine:
        assert await warnings(engine, "a", toolName="GET_USER") == []
        assert await warnings(engine, "b", function="great") == []


async def test_a_workflow_without_steps_is_saved_but_not_started() -> None:
    async with Engine("memory:") as engine:
        await engine.definitions.save("refs", "empty", {"steps": []})
        for given in ("empty", refs({"steps": []}), refs("empty")):
            with pytest.raises(InvalidInput) as refused:
                await engine.start(given)
            assert [flaw.code for flaw in refused.value.flaws] == ["no_steps"]
