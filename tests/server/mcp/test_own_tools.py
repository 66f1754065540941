"""Steps of a run call the engine's own tools, in the run's namespace and with few rights."""

from pathlib import Path
from typing import Any

import pytest

from plait import Engine, refs
from plait.errors import RunFailed
from plait.server.site import Settings
from tests.server import flows
from tests.server.serving import serving


def calling(tool: str, input: dict[str, Any]) -> Any:
    return refs({"steps": [{"name": "a", "action": {"toolName": tool}, "input": input}]})


async def test_a_step_looks_at_runs_of_its_own_namespace_and_starts_one(db: str) -> None:
    async with serving(db, settings=Settings(open=False)) as served:
        await served.engine.start("asking", id="mine")
        await served.engine.start("asking", id="theirs", namespace="other")
        listing = await served.engine.start(calling("plait:RUN_LIST", {"definition": "asking"}))
        assert [run["id"] for run in (await listing.result())["runs"]] == ["mine"]
        starting = await served.engine.start(calling("RUN_START", {"definition": "asking", "id": "new"}))
        assert (await starting.result())["id"] == "new"
        assert await (await served.engine.get("new")).status() == "running"


async def test_an_engine_without_a_server_has_its_own_tools_too(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path / 'plait.db'}"
    for restarted in (False, True):
        async with Engine(db, definitions=[flows]) as engine:
            if not restarted:
                await engine.start("asking", id="mine")
                await engine.start("asking", id="theirs", namespace="other")
            listing = await engine.start(calling("plait:RUN_LIST", {"definition": "asking"}))
            assert [run["id"] for run in (await listing.result())["runs"]] == ["mine"]
            refused = await engine.start(calling("APPROVAL_DECIDE", {"id": "x", "decision": "approve"}))
            with pytest.raises(RunFailed, match=r"auth\.forbidden"):
                await refused.result()


@pytest.mark.parametrize(
    ("tool", "input"),
    [
        ("APPROVAL_DECIDE", {"id": "x", "decision": "approve"}),
        ("COLLECTION_WORKFLOW_CREATE", {"data": {"title": "x", "steps": []}}),
        ("RUN_GET", {"id": "theirs"}),
    ],
)
async def test_a_step_can_not_decide_or_save_or_see_what_is_others(db: str, tool: str, input: dict[str, Any]) -> None:
    async with serving(db, settings=Settings(open=False)) as served:
        await served.engine.start("asking", id="theirs", namespace="other")
        run = await served.engine.start(calling(f"plait:{tool}", input))
        with pytest.raises(Exception, match=r"auth\.forbidden|no run"):
            await run.result()
