"""A program with an agent, killed wherever it makes a call: `python -m … DATABASE LEDGER POINT`.

A point is the number of a moment, counted in one life: before a call goes out, and after it has come back but is not
recorded. What a call does in the world is a line of the ledger, a file that outlives the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait import Context, Engine, workflow
from plait.agents import ModelReply, ModelRequest, tool
from plait.agents.tools import execute_pipeline
from plait.agents.tools.execute_pipeline import PipelineTool
from plait.agents.tools.tool import ToolUse
from plait.testing import ScriptedModel

SCRIPT: dict[str, list[Any]] = {
    "pay": [
        {"tool": "execute_pipeline", "args": {"pipeline": [{"step": "top_k", "k": 1}]}},
        [{"tool": "charge", "args": {"cents": 5}}, {"tool": "charge", "args": {"cents": 7}}],
        {"tool": "charge", "args": {"cents": 9}},
        {"output": {"paid": 21}},
    ]
}


class Life:
    """Ends by SIGKILL at its point."""

    def __init__(self, ledger: Path, point: int) -> None:
        self._ledger = ledger
        self._left = point

    def moment(self) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)

    def call(self, key: str) -> None:
        self.moment()
        with self._ledger.open("a") as file:
            file.write(f"{key}\n")
        self.moment()


life: Life


@tool
async def charge(cents: int, key: str) -> str:
    """Charges."""
    life.call(key)
    return f"charged {cents}"


class WatchedPipeline(PipelineTool):
    async def compute(self, arguments: Mapping[str, Any], use: ToolUse, load: Any) -> Any:
        life.call(use.key)
        return await super().compute(arguments, use, load)


class Model:
    def __init__(self) -> None:
        self._inner = ScriptedModel(SCRIPT)

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = await self._inner.complete(request)
        life.call(request.key)
        return reply


@workflow
async def shop(ctx: Context) -> dict[str, int]:
    return await ctx.agent("pay", "Charge all", [{"n": 1}, {"n": 2}], model="m", tools=["charge", "execute_pipeline"])


async def main(url: str) -> None:
    execute_pipeline.PipelineTool = WatchedPipeline
    async with Engine(url, definitions=[shop, charge], models={"m": Model()}, lease_ttl=0.5) as engine:
        handle = await engine.start(shop, id="run")
        print(json.dumps(await handle.result()), flush=True)


if __name__ == "__main__":
    life = Life(Path(sys.argv[2]), int(sys.argv[3]))
    asyncio.run(main(sys.argv[1]))
