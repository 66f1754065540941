"""The server of a recording is killed while tools are called: nothing is called twice, and the recording goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.dialects.refs.recording import shop_servers
from tests.server.contract.processes import client_of, serving
from tests.support.effort import tries

CALLS = 24
KILLS = 1


async def call(client: httpx.AsyncClient, key: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What became of a call: sent under one key until it is answered, whatever becomes of the server meanwhile."""
    body = {"name": "call", "id": key, "body": {"tool": tool, "arguments": arguments}, "wait_ms": 10_000}
    while True:
        with contextlib.suppress(httpx.NetworkError, httpx.ProtocolError):
            answer = await client.post("/runs/rec/messages", json=body)
            if answer.status_code == 200 and answer.json()["answered"]:
                return answer.json()["answer"]
            assert answer.status_code in (202, 429, 503), answer.text
        await asyncio.sleep(0.02)


async def is_under_way(client: httpx.AsyncClient, step: str) -> None:
    async with asyncio.timeout(30):
        while True:
            events = (await client.get("/runs/rec/events", params={"limit": 5000})).json()["events"]
            if any(event["type"] == "step.started" and event["data"]["step"] == step for event in events):
                return
            await asyncio.sleep(0.01)


@pytest.mark.chance(again=True)
@pytest.mark.timeout(240)
async def test_killed_while_tools_are_called_nothing_is_called_twice_and_the_recording_goes_on(
    database: str, ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects, file = tmp_path / "effects", tmp_path / "servers.json"
    effects.touch()
    shop = [str(Path(shop_servers.__file__)), "orders"]
    orders = {"command": sys.executable, "args": shop, "env": {"SHOP_EFFECTS": str(effects)}}
    file.write_text(json.dumps({"mcpServers": {"orders": orders}}))
    monkeypatch.setenv("PLAIT_MCP", str(file))
    async with serving(database, ledger) as server, client_of(server) as client:
        start = {"dialect": "refs", "definition": {"mode": "recording"}, "id": "rec", "input": {"customer": 1000}}
        assert (await client.post("/runs", json=start)).status_code == 201
        for kill in range(tries(KILLS)):
            slow = asyncio.ensure_future(call(client, f"slow-{kill}", "SLOW", {}))  # under way for certain
            await is_under_way(client, f"slow_{kill + 1}")
            made = [
                asyncio.ensure_future(call(client, f"{kill}-{n}", "CREATE_ORDER", {"userId": n, "items": [str(kill)]}))
                for n in range(CALLS)
            ]
            await asyncio.wait(made, return_when=asyncio.FIRST_COMPLETED)
            await server.kill()
            await server.start()
            answers = await asyncio.gather(*made)
            assert (await slow)["error"]["code"] == "interrupted"
            lines = Counter(effects.read_text().splitlines())
            for n, answer in enumerate(answers):
                called = lines[f"order {n} {kill}"]
                if "error" in answer:
                    assert answer["error"]["code"] == "interrupted"
                    assert called <= 1
                else:
                    assert (called, answer["output"]["number"]) == (1, f"order-{n}")
        await recording_goes_on(client, effects)


async def recording_goes_on(client: httpx.AsyncClient, effects: Path) -> None:
    last = await call(client, "last", "CREATE_ORDER", {"userId": "@input.customer", "items": ["last"]})
    assert last["output"]["number"] == "order-1000"
    plan = (await client.post("/plan", json={"dialect": "refs", "from_run": "rec"})).json()["plan"]
    numbers = [re.fullmatch(r"(create_order|slow)_(\d+)", step["name"]) for step in plan["steps"]]
    assert all(numbers)
    assert len({step["name"] for step in plan["steps"]}) == len(numbers)
    assert plan["steps"][-1]["name"] == last["step"]
    assert {step["reason"] for step in plan["steps"]} <= {"success", "failed"}
    failed = [step["name"] for step in plan["steps"] if step["status"] == "failed"]
    kept = [step["name"] for step in plan["steps"] if step["included"]]
    assert not set(failed) & set(kept)
    body = {"dialect": "refs", "name": "again", "from_run": "rec", "options": {"exclude": kept[:-1]}}
    saved = await client.post("/definitions", json=body)
    assert saved.status_code == 201, saved.text
    before = len(effects.read_text().splitlines())
    await client.post(
        "/runs", json={"definition": "again", "dialect": "refs", "id": "replay", "input": {"customer": 7}}
    )
    async with asyncio.timeout(30):
        while (await client.get("/runs/replay")).json()["run"]["status"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert effects.read_text().splitlines()[before:] == ["order 7 last"]
