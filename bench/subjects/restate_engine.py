"""Restate: its server beside a service in this process, called over HTTP as its clients do.

Runs that must be found again after a crash are called with an idempotency key, and calling again with the same key
waits for the same run.
"""

# Peers live in environments of their own, where this file runs; the project's type checker cannot see them.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

import asyncio
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

import aiohttp
import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config

from bench.subjects.engine import GATE
from bench.subjects.restate_server import Ports, server_version, start_server
from bench.subjects.script import run_engine

UNLIMITED = 2**31 - 1
POLL_SECONDS = 0.02

service = restate.Service("bench")


async def number(i: int) -> int:
    return i


async def pass_gate(run: str) -> int:
    await GATE.passing(run)
    return 0


@service.handler()
async def sequential(ctx: restate.Context, steps: int) -> int:
    total = 0
    for i in range(steps):
        total += await ctx.run_typed(f"s{i}", number, i=i)
    return total


@service.handler()
async def parallel(ctx: restate.Context, width: int) -> int:
    done = await restate.gather(*(ctx.run_typed(f"s{i}", number, i=i) for i in range(width)))
    return sum([await each for each in done])


@service.handler()
async def held(ctx: restate.Context, plan: dict[str, Any]) -> int:
    for i in range(plan["before"]):
        await ctx.run_typed(f"before-{i}", number, i=i)
    await ctx.run_typed("gate", pass_gate, run=plan["run"])
    for i in range(plan["after"]):
        await ctx.run_typed(f"after-{i}", number, i=i)
    return plan["before"] + plan["after"]


@service.handler()
async def sleeping(ctx: restate.Context, days: int) -> None:
    await ctx.sleep(timedelta(days=days))


class RestateSubject:
    def __init__(self, target: str) -> None:
        self._folder = Path(target)
        self._ports = Ports.kept_in(self._folder)

    async def open(self) -> None:
        self._serving = asyncio.create_task(self._serve())
        self._server = await start_server(self._folder, self._ports)
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
        )
        await self._until_ok(f"http://127.0.0.1:{self._ports.admin}/health")
        await self._until_ok(f"http://127.0.0.1:{self._ports.ingress}/restate/health")
        await self._register()

    async def sequential(self, run: str, steps: int) -> int:
        return await self._call("sequential", steps)

    async def parallel(self, run: str, width: int) -> int:
        return await self._call("parallel", width)

    async def hold(self, run: str, before: int, after: int) -> None:
        plan = {"run": run, "before": before, "after": after}
        await self._call("held/send", plan, key=run)
        await GATE.arrival(run)

    async def resume(self, runs: list[str]) -> None:
        """One call first: a thousand at once before the server has its log again keep it from getting there."""
        await self._call("sequential", 0)
        await asyncio.gather(*(self._attach(run) for run in runs))

    async def sleep(self, run: str) -> None:
        await self._call("sleeping/send", 1)

    def helpers(self) -> list[int]:
        return [self._server]

    async def _serve(self) -> None:
        config = Config()
        config.bind = [f"127.0.0.1:{self._ports.service}"]
        config.h2_max_concurrent_streams = UNLIMITED
        config.keep_alive_max_requests = UNLIMITED
        config.loglevel = "ERROR"
        await serve(restate.app(services=[service]), config, shutdown_trigger=asyncio.Event().wait)

    async def _register(self) -> None:
        place = {"uri": f"http://127.0.0.1:{self._ports.service}", "force": True}
        async with self._http.post(f"http://127.0.0.1:{self._ports.admin}/deployments", json=place) as answer:
            answer.raise_for_status()

    async def _call(self, handler: str, body: Any, key: str | None = None) -> Any:
        headers = {"idempotency-key": key} if key else {}
        url = f"http://127.0.0.1:{self._ports.ingress}/bench/{handler}"
        async with self._http.post(url, json=body, headers=headers) as answer:
            answer.raise_for_status()
            return await answer.json()

    async def _attach(self, run: str) -> None:
        url = f"http://127.0.0.1:{self._ports.ingress}/restate/invocation/bench/held/{run}/attach"
        async with self._http.get(url) as answer:
            answer.raise_for_status()

    async def _until_ok(self, url: str) -> None:
        while True:
            try:
                async with self._http.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(POLL_SECONDS)


if __name__ == "__main__":
    run_engine(f"sdk {metadata.version('restate-sdk')}, server {server_version()}", RestateSubject)
