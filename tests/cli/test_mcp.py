"""`plait mcp` as a client's `.mcp.json` starts it: on a database, and on a server."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ToolListChangedNotification

from plait.registry.surfaces import SURFACES
from tests.server.mcp.clients import Caller
from tests.server.serving import serving, soon

_FLOWS = "tests.server.flows"
_ROOT = Path(__file__).parents[2]
_PLAIT = Path(sys.executable).parent / "plait"


@asynccontextmanager
async def started(config: Path, **options: Any) -> AsyncIterator[Caller]:
    """The server that a configuration names, as a client starts it."""
    found = json.loads(config.read_text())["mcpServers"]["plait"]
    parameters = StdioServerParameters(command=found["command"], args=found["args"], env=found.get("env"), cwd=_ROOT)
    async with Client(parameters, **options) as client:
        yield Caller(client)


def config(tmp_path: Path, *args: str, **env: str) -> Path:
    file = tmp_path / ".mcp.json"
    entry: dict[str, Any] = {"command": str(_PLAIT), "args": ["mcp", *args], "env": env}
    file.write_text(json.dumps({"mcpServers": {"plait": entry}}))
    return file


async def test_a_client_starts_waits_for_approves_and_reads_runs_on_a_database(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path / 'plait.db'}"
    async with started(config(tmp_path, _FLOWS, "--db", db)) as call:
        assert {"RUN_START", "COLLECTION_WORKFLOW_CREATE"} <= await call.names()
        done = await call("RUN_START", definition="quick", input={"customer": "ada"}, wait=True)
        assert done["output"] == "1 on the way"
        await call("RUN_START", definition="asking", id="q-1")
        waited = await call("RUN_WAIT", id="q-1", timeoutMs=100)
        assert waited["run"]["status"] == "running"
        (approval,) = (await call("APPROVAL_LIST", run="q-1"))["approvals"]
        await call("APPROVAL_DECIDE", id=approval["id"], decision="approve", comment="yes", by="boss")
        assert (await call("RUN_WAIT", id="q-1"))["output"] == "yes"
        steps = [{"name": "a", "action": {"code": "export default () => 7"}}]
        await call("COLLECTION_WORKFLOW_CREATE", data={"title": "Seven", "steps": steps})
        seven = await call("START_WORKFLOW_SEVEN", wait=True)
        assert (seven["status"], seven["output"]) == ("success", 7)


_ASKING = {
    "code": {"definition": "asking"},
    "graph": {"definition": "asking-graph", "dialect": "graph"},
    "refs": {"definition": "asking-refs", "dialect": "refs"},
    "goals": {"definition": "allow", "dialect": "goals"},
}


_TEXT = "namespace t { workflow Add(x: Long) => (y: Long) andThen { yield Add(y = $.x + 1) } }"
_AFL = {"sources": [{"name": "add.afl", "text": _TEXT}], "workflow": "t.Add"}


async def test_runs_of_every_dialect_are_listed_started_awaited_approved_cancelled_and_read(tmp_path: Path) -> None:
    assert {*_ASKING, "afl"} >= SURFACES.keys()  # AFL asks nobody itself
    db = f"sqlite:///{tmp_path / 'plait.db'}"
    async with started(config(tmp_path, "tests.cli.asking_app", "--db", db)) as call:
        for dialect, asked in _ASKING.items():
            await call("RUN_START", id=f"{dialect}-1", **asked)
            waiting = asyncio.ensure_future(call("RUN_WAIT", id=f"{dialect}-1"))
            approvals = await soon(lambda: _approvals(call))
            assert call.progress, dialect  # a call that takes long says how far it is
            (approval,) = approvals
            await call("APPROVAL_DECIDE", id=approval["id"], decision="approve", comment="yes", by="boss")
            done = await waiting
            assert done["run"]["status"] == "completed", dialect
            assert "yes" in json.dumps(done["output"]), dialect
            call.progress.clear()
            await call("RUN_START", id=f"{dialect}-2", **asked)
            waiting = asyncio.ensure_future(call("RUN_WAIT", id=f"{dialect}-2"))
            await soon(lambda: _approvals(call))
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert (await call("RUN_GET", id=f"{dialect}-2"))["run"]["status"] == "running", dialect
            await call("RUN_CANCEL", id=f"{dialect}-2", reason="enough")
            assert (await call("RUN_WAIT", id=f"{dialect}-2"))["run"]["status"] == "cancelled", dialect
            call.progress.clear()
        if "afl" in SURFACES:
            done = await call("RUN_START", definition=_AFL, dialect="afl", input={"x": 3}, id="afl-1", wait=True)
            assert (done["run"]["status"], done["output"]) == ("completed", {"y": 4})
        for dialect in _ASKING:
            listed = (await call("RUN_LIST", dialect=dialect))["runs"]
            assert {f"{dialect}-1", f"{dialect}-2"} <= {run["id"] for run in listed}


async def _approvals(call: Caller) -> Any:
    return (await call("APPROVAL_LIST"))["approvals"] if call.progress else None


async def test_a_client_reaches_a_server_through_the_command(tmp_path: Path) -> None:
    async with (
        serving(f"sqlite:///{tmp_path / 'plait.db'}") as served,
        started(config(tmp_path, "--url", served.url)) as call,
    ):
        done = await call("RUN_START", definition="quick", input={"customer": "ada"}, wait=True)
        assert done["output"] == "1 on the way"
        assert (await call.fails("RUN_GET", id="nope"))["status"] == 404


_STEPS = [{"name": "a", "action": {"code": "export default () => 7"}}]


@pytest.mark.parametrize("where", ["database", "server"])
async def test_a_client_hears_of_workflows_that_others_save(tmp_path: Path, where: str) -> None:
    heard = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    db = f"sqlite:///{tmp_path / 'plait.db'}"
    async with serving(db) as served:
        place = ["--db", db, "--no-work"] if where == "database" else ["--url", served.url]
        async with started(config(tmp_path, *place), mode="legacy", message_handler=hear) as call:
            assert "START_WORKFLOW_SEVEN" not in await call.names()
            definition = {"title": "Seven", "steps": _STEPS}
            saved = {"dialect": "refs", "name": "seven", "definition": definition}
            assert (await served.client.post("/api/v1/definitions", json=saved)).status_code == 201
            async with asyncio.timeout(30):
                await heard.wait()
            assert "START_WORKFLOW_SEVEN" in await call.names()
        async with started(config(tmp_path, *place)) as call, call.client.listen(tools_list_changed=True) as events:
            await served.client.delete("/api/v1/definitions/seven")
            async with asyncio.timeout(30):
                await anext(aiter(events))
            assert "START_WORKFLOW_SEVEN" not in await call.names()
