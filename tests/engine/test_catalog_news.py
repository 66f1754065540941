"""Engines that share a database know each other's steps, without being asked."""

import asyncio
from pathlib import Path

from plait import Engine, goals
from plait.catalog import catalog_step


async def test_a_step_that_another_engine_registered_is_known_here_soon(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    async with Engine(url) as here, Engine(url, work=False) as there:
        seen = asyncio.Event()
        here.goals.catalogs.watch(lambda namespace, ids: seen.set() if "greet" in ids else None)
        await there.catalog.register(catalog_step("greet").output("greeting", str).ale('{:greeting "hi"}'))
        await asyncio.wait_for(seen.wait(), 20)
        assert "greet" in here.goals.catalogs.get("default").steps


async def test_a_run_far_below_others_is_found_by_its_long_id(tmp_path: Path):
    depth = 6
    flows = [
        catalog_step(f"level-{i}").output(f"out-{i}", str, inner=f"out-{i + 1}").flow(f"level-{i + 1}")
        for i in range(depth)
    ]
    last = catalog_step(f"level-{depth}").output(f"out-{depth}", str).ale(f'{{:out-{depth} "deep"}}')
    async with Engine("memory:", definitions=[*flows, last]) as engine:
        handle = await engine.start(goals("level-0"))
        assert await handle.result() == {"out-0": "deep"}
        deepest = max(await engine.runs(), key=lambda row: row.depth)
        assert len(deepest.id) > 200
        assert await (await engine.get(deepest.id)).status() == "completed"
