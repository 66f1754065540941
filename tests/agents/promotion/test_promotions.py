"""Uses are counted once, and a pipeline is promoted once, whatever several processes do at the same time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plait.agents.promotion.promoted_tools import PromotedTools
from plait.agents.promotion.promotions import Promotions
from plait.agents.promotion.tool_list import ToolList
from plait.agents.tools.names import AllowedTools
from plait.agents.tools.tool import ToolUse
from plait.kernel.errors import NotFound
from plait.testing import VirtualClock
from tests.agents.tools.building import use
from tests.contract.stores.backends import Backend, Memory, PostgreSQL, Sqlite
from tests.kernel.filing import records_of

STEPS = [{"step": "table_sort", "field": "total"}, {"step": "top_k", "k": 3}]
HERE = "default"


def other(number: int) -> list[dict[str, Any]]:
    return [{"step": "top_k", "k": number}]


async def ran(steps: list[dict[str, Any]], use: ToolUse) -> Any:
    return {"ran": steps}


async def test_the_second_use_promotes_and_others_change_nothing() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        assert await promotions.used(HERE, STEPS, "x1/1/0") is None
        made = await promotions.used(HERE, STEPS, "x2/1/0")
        assert made is not None
        assert made.name == f"pipe_table_sort_top_k_{made.hash[:6]}"
        for n in range(3):
            assert await promotions.used(HERE, STEPS, f"x3/{n}/0") is None
        (event,) = await promotions.events(HERE)
        assert (event.type, event.data["name"], event.data["uses"]) == ("tool.promoted", made.name, 2)


async def test_the_same_call_told_twice_is_one_use() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        for _ in range(4):
            assert await promotions.used(HERE, STEPS, "x1/1/0") is None


async def test_a_use_that_a_crash_kept_from_promoting_promotes_when_it_is_told_again() -> None:
    async with records_of(Memory()) as records:
        clock = VirtualClock()
        promotions = Promotions(records, clock)
        await promotions.used(HERE, STEPS, "x1/1/0", 3)  # writes uses without being promoted by two of them
        await promotions.used(HERE, STEPS, "x2/1/0", 3)
        assert await Promotions(records, clock).used(HERE, STEPS, "x2/1/0") is not None


async def test_how_a_pipeline_is_typed_does_not_matter() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        await promotions.used(HERE, [{"step": "top_k", "k": 3}], "x1/1/0")
        assert await promotions.used(HERE, [{"k": 3, "step": "top_k"}], "x2/1/0") is not None


async def test_namespaces_count_for_themselves() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        await promotions.used("acme", STEPS, "x1/1/0")
        assert await promotions.used("other", STEPS, "x2/1/0") is None
        assert await promotions.used("acme", STEPS, "x3/1/0") is not None
        assert await promotions.list("other") == []


async def test_zero_uses_means_never() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        for n in range(3):
            assert await promotions.used(HERE, STEPS, f"x{n}/1/0", 0) is None


async def test_a_removed_tool_is_never_promoted_again() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        tools = ToolList(promotions)
        for n in range(2):
            await promotions.used(HERE, STEPS, f"x{n}/1/0")
        (found,) = await tools.list()
        await tools.remove(found.name)
        for n in range(5):
            assert await promotions.used(HERE, STEPS, f"y{n}/1/0") is None
        assert await tools.list() == []
        assert [event.type for event in await tools.events()] == ["tool.promoted", "tool.removed"]
        with pytest.raises(NotFound):
            await tools.remove(found.name)


async def test_a_node_that_may_execute_pipelines_is_offered_the_newest() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        names = [
            made.name for n in range(1, 6) if (made := await promotions.used(HERE, other(n), f"x{n}", 1)) is not None
        ]
        source = PromotedTools(promotions, ran, most=3)
        offered = await source.tools(HERE, AllowedTools(["execute_pipeline"]))
        assert {tool.name for tool in offered} == {*names[2:]}
        assert [tool.name for tool in await source.tools(HERE, AllowedTools([names[0]]))] == [names[0]]
        assert await source.tools(HERE, AllowedTools(["search_tools"])) == []


async def test_a_promoted_tool_runs_its_pipeline() -> None:
    async with records_of(Memory()) as records:
        promotions = Promotions(records, VirtualClock())
        await promotions.used(HERE, STEPS, "x1", 1)
        (tool,) = await PromotedTools(promotions, ran).tools(HERE, AllowedTools(["execute_pipeline"]))
        assert await tool.call({}, use()) == {"ran": STEPS}


async def _race(backend: Backend) -> None:
    """Two processes, each with its own store, tell of uses at the same moment."""
    clock = VirtualClock()
    async with records_of(backend) as here, records_of(backend) as there:
        processes = [Promotions(here, clock), Promotions(there, clock)]
        told = [
            processes[n % 2].used(HERE, steps, f"x{n}/{at}/0")
            for at, steps in enumerate((STEPS, other(7)))
            for n in range(6)
        ]
        made = [found for found in await asyncio.gather(*told) if found is not None]
        assert sorted(each.steps[0]["step"] for each in made) == ["table_sort", "top_k"]
        for process in processes:
            assert [event.type for event in await process.events(HERE)] == ["tool.promoted"] * 2
        name = made[0].name
        removed = await asyncio.gather(*(process.remove(HERE, name) for process in processes))
        assert sorted(removed) == [False, True]
        assert [event.type for event in await processes[0].events(HERE)].count("tool.removed") == 1


async def test_processes_on_one_sqlite_file_promote_once(tmp_path: Path) -> None:
    await _race(Sqlite(tmp_path / "plait.db"))


async def test_processes_on_one_postgresql_database_promote_once(postgres_url: str) -> None:
    await _race(PostgreSQL(postgres_url))
