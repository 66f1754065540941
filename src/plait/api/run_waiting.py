"""Waits for runs: a call that takes long reports the run's progress, and ends when its caller cancels it."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final
from urllib.parse import quote

from .mcp_tool import ToolCall

_FIRST: Final = 0.05
_LONGEST: Final = 1.0
"""Maximum seconds between two polls."""
_OVER: Final = ("completed", "failed", "skipped", "cancelled")


def run_path(id: str, *more: str) -> str:
    return "/".join(["/runs", quote(id, safe=""), *more])


async def wait_for_run(call: ToolCall, id: str, timeout_ms: int | None = None) -> dict[str, Any]:
    """Returns the run as the API shows it, when it has ended or the timeout has passed."""
    until = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
    pause, told = _FIRST, (-1, "")
    while True:
        detail = await call.api.get(run_path(id))
        if detail["run"]["status"] != "running" or (until is not None and time.monotonic() >= until):
            return detail
        nodes = detail["view"]["nodes"]
        done = sum(node["status"] in _OVER for node in nodes)
        waits = next((reason["text"] for reason in detail["waiting"]), "")
        if (done, waits) != told:
            told = done, waits
            await call.report(done, len(nodes) or None, waits or f"{done} of {len(nodes)} steps done")
            pause = _FIRST
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST)
