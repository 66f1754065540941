"""``python -m bench.tools``: the time of a warm call of JavaScript, and of a tool beside the bare SDK.

python -m bench.tools
python -m bench.tools --calls 1000 --json
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from msgspec import Raw
from rich.console import Console
from rich.table import Table

from plait.egress import Egress
from plait.scripts.javascript import JavaScriptPool
from plait.workers.mcp.lookup import Found
from plait.workers.mcp.servers import McpServers

CALLS = 300
SCRIPT = "export default ({ items }) => ({ total: items.reduce((sum, item) => sum + item.price, 0) })"
ORDER = Raw(b'{"items": [{"price": 3}, {"price": 4}]}')
SERVER = Path(__file__).parents[2] / "tests/workers/mcp/raw_server.py"


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    value: float
    """Milliseconds, or a ratio."""
    limit: float

    @property
    def met(self) -> bool:
        return self.value <= self.limit


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.tools", description="JavaScript and MCP tools.")
    parser.add_argument("--calls", type=int, default=CALLS, help=f"calls of each (default: {CALLS})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = asyncio.run(measure(options.calls))
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) for figure in found], indent=2))
    else:
        show(Console(width=None if sys.stdout.isatty() else 120), found)
    return 0 if all(figure.met for figure in found) else 1


async def measure(calls: int) -> list[Figure]:
    script = await _javascript(calls)
    bare, ours = await _tools(calls)
    return [
        Figure("a warm call of JavaScript, p50 in ms", script, 1.0),
        Figure("a tool over stdio beside the bare SDK call, p50", ours / bare, 2.0),
    ]


async def _javascript(calls: int) -> float:
    async with JavaScriptPool(1) as pool:
        return await _median(lambda: pool.run(SCRIPT, ORDER), calls)


async def _tools(calls: int) -> tuple[float, float]:
    """In turns, so that a busy machine is busy for both."""
    args = [str(SERVER), "/dev/null"]
    servers = McpServers({"raw": {"command": sys.executable, "args": args}}, Egress())
    async with Client(StdioServerParameters(command=sys.executable, args=args)) as client:
        await client.list_tools()

        async def bare() -> Any:
            return await client.call_tool("ECHO", {"a": 1})

        async def ours() -> Any:
            found: Found = await servers.find("ECHO")
            return await servers.call(found, {"a": 1}, {}, 30.0, _nobody)

        try:
            await ours()
            times = [(await _once(bare), await _once(ours)) for _ in range(calls)]
        finally:
            await servers.close()
    return statistics.median(each[0] for each in times), statistics.median(each[1] for each in times)


async def _nobody(progress: float, total: float | None, message: str | None) -> None:
    """Who wants no progress."""


async def _median(call: Callable[[], Awaitable[Any]], calls: int) -> float:
    await call()
    return statistics.median([await _once(call) for _ in range(calls)])


async def _once(call: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1000


def show(console: Console, found: list[Figure]) -> None:
    table = Table(title="JavaScript and MCP tools")
    for title in ("what", "value", "limit", ""):
        table.add_column(title)
    for figure in found:
        table.add_row(figure.what, f"{figure.value:.2f}", f"{figure.limit:g}", "met" if figure.met else "MISSED")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
