"""A graph's node, a step of goals and a step of refs call the same tools, and run the same JavaScript."""

import sys
from pathlib import Path
from typing import Any

import pytest

from plait import Engine, goals, graph, refs
from plait.catalog import catalog_step

pytestmark = pytest.mark.costly

_SERVER = Path(__file__).with_name("raw_server.py")


def engine(tmp_path: Path) -> Engine:
    notes = tmp_path / "notes"
    servers = {"crm": {"command": sys.executable, "args": [str(_SERVER), str(notes)]}}
    return Engine(f"sqlite:///{tmp_path / 'plait.db'}", mcp_servers=servers)


async def test_a_graph_calls_a_tool_and_runs_javascript(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "nodes": [
            {"id": "ask", "type": "tool", "config": {"tool": "crm:ECHO", "arguments": {"who": "${input.who}"}}},
            {
                "id": "shape",
                "type": "transform",
                "config": {
                    "script": {
                        "language": "javascript",
                        "code": "export default ({ payload }: { payload: any }) => payload.arguments.who.toUpperCase()",
                    }
                },
            },
        ],
        "edges": [{"from": "ask", "to": "shape"}],
    }
    async with engine(tmp_path) as found:
        run = await found.start(graph(document), {"who": "ada"})
        assert await run.result() == {"shape": "ADA"}


async def test_goals_call_a_tool_and_run_javascript(tmp_path: Path) -> None:
    async with engine(tmp_path) as found:
        await found.catalog.register(catalog_step("ask").required("who", str).output("arguments").tool("ECHO"))
        await found.catalog.register(
            catalog_step("shout")
            .required("arguments")
            .output("loud", str)
            .javascript("export default ({ arguments: given }) => ({ loud: given.who.toUpperCase() })")
        )
        run = await found.start(goals("shout"), {"who": "ada"})
        assert (await run.result())["loud"] == "ADA"


async def test_refs_call_a_tool_and_run_javascript(tmp_path: Path) -> None:
    steps = [
        {"name": "ask", "action": {"toolName": "ECHO"}, "input": {"who": "@input.who"}},
        {"name": "shout", "action": {"code": "export default ({ who }) => who.toUpperCase()"},
         "input": {"who": "@ask.arguments.who"}},
    ]  # fmt: skip
    async with engine(tmp_path) as found:
        run = await found.start(refs({"steps": steps}), {"who": "ada"})
        assert await run.result() == "ADA"
        slow = [{"name": "a", "action": {"toolName": "HANG"}, "config": {"timeoutMs": 300}}]
        hung = await found.start(refs({"steps": slow}))
        with pytest.raises(Exception, match=r"did not answer|timed out|tool_timeout"):
            await hung.result()
    assert "cancelled" in (tmp_path / "notes").read_text()
