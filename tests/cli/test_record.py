"""`plait record`: a session that an MCP client feeds, drafted, saved and replayed from the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.dialects.refs.recording import shop_servers
from tests.server.mcp.clients import over_http
from tests.server.serving import serving
from tests.support.processes import start

pytestmark = [pytest.mark.costly, pytest.mark.timeout(240)]


async def plait(*args: str, code: int = 0) -> str:
    process = start("plait.cli.main", *args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = await asyncio.to_thread(process.communicate)
    assert process.returncode == code, output
    return output


async def test_a_session_is_started_fed_saved_and_replayed(tmp_path: Path):
    servers = {"crm": shop_servers.crm(), "orders": shop_servers.orders()}
    async with serving(f"sqlite:///{tmp_path}/plait.db", mcp_servers=servers) as served:
        at = ("--db", served.url)
        assert "recording rec is open" in await plait("record", "start", "-i", "customer=7", "--id", "rec", *at)
        assert "rec" in await plait("record", *at)
        async with over_http(f"{served.url}/mcp/record/rec") as call:
            await call.client.call_tool("GET_USER", {"id": "@input.customer"})
            await call.client.call_tool("CREATE_ORDER", {"userId": 42, "items": ["tea"]})
        assert "prices is set" in await plait("record", "preset", "rec", "prices", '{"tea": 4}', *at)
        shown = await plait("record", "draft", "rec", *at)
        assert "exploratory" in shown
        assert "@get_user_1.id" in shown
        draft: dict[str, Any] = json.loads(await plait("record", "draft", "rec", "--json", *at))
        (offered,) = [each for each in draft["suggestions"] if each["pointer"] == "/userId"]
        wrong = await plait("record", "save", "rec", "tea", "--exclude", "nope", *at, code=2)
        assert "There is no step" in wrong
        saved = await plait("record", "save", "rec", "tea", "--accept", offered["id"], *at)
        assert "saved tea@1" in saved
        await plait("record", "stop", "rec", *at)
        assert "order-43" in await plait("run", "tea", '{"customer": 8}', *at)
        assert "recording_not_found" in await plait("record", "draft", "none", *at, code=2)
