"""``python -m bench.hops``: how far one run travels through our own code, on the memory store.

A profile hook counts, from `POST /runs` until nothing moves any more:

- calls: of functions of `plait`, each resumption of a coroutine too; comprehensions not, for newer Pythons inline them
- files: in which those functions are
- changes: of package (`plait.kernel`, `plait.server`, …) from one call to the next

`plait.egress` is left out: it is a client library to the rest, and its awaits would hide what is compared. The counts
are the lowest of some warm runs, for work in the background only adds to them. Nothing is timed, so they are the same
on every machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import AsyncGenerator, Generator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

import plait
from plait import Context, Engine, workflow
from plait import step as code_step
from plait.egress import EgressSettings
from plait.observe.metrics import Metrics
from plait.server.app import make_app
from plait.server.site import Settings, site_of

ROOT = f"{Path(plait.__file__).parent}/"
LEFT_OUT = ("egress/",)
WARM_UP = 3
SAMPLES = 7
STILL_SECONDS = 0.1
"""When nothing of ours was called for so long, the run has ended."""


@dataclasses.dataclass(frozen=True, slots=True)
class Hops:
    calls: int
    files: int
    changes: int


BEFORE = {
    "code": Hops(calls=396, files=61, changes=88),
    "goals": Hops(calls=529, files=75, changes=106),
}
"""Of commit e14bcc8, before the packages were cut anew, measured with this file."""

REQUESTS: dict[str, dict[str, Any]] = {
    "code": {"dialect": "code", "definition": "one_step", "input": 1},
    "goals": {"dialect": "goals", "definition": {"goals": ["remote"]}, "input": {"x": 1}},
}
TITLES = {"code": "a workflow of one code step", "goals": "a goals run of one HTTP step"}


@code_step
async def number(i: int) -> int:
    return i


@workflow
async def one_step(ctx: Context, i: int) -> int:
    return await ctx.step("number", number, i)


class Recorder:
    """The functions that were called, in order: file and name."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def recording(self) -> Generator[None]:
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT) or code.co_name.startswith("<"):
            return
        file = code.co_filename.removeprefix(ROOT)
        if not file.startswith(LEFT_OUT):
            self.calls.append((file, code.co_qualname))

    def hops(self) -> Hops:
        files = [file for file, _ in self.calls]
        changes = sum(one != next for one, next in pairwise(file.split("/")[0] for file in files))
        return Hops(len(files), len(set(files)), changes)


async def measure() -> dict[str, Recorder]:
    async with _step_service() as endpoint, _client(endpoint) as client:
        return {name: await _lowest(client, request) for name, request in REQUESTS.items()}


async def _lowest(client: httpx.AsyncClient, request: dict[str, Any]) -> Recorder:
    for _ in range(WARM_UP):
        await _one_run(client, request)
    found = [await _one_run(client, request) for _ in range(SAMPLES)]
    return min(found, key=lambda recorder: len(recorder.calls))


async def _one_run(client: httpx.AsyncClient, request: dict[str, Any]) -> Recorder:
    recorder = Recorder()
    with recorder.recording():
        answer = await client.post("/api/v1/runs", json=request)
        seen = -1
        while seen != (seen := len(recorder.calls)):
            await asyncio.sleep(STILL_SECONDS)
    answer.raise_for_status()
    run = (await client.get(f"/api/v1/runs/{answer.json()['id']}")).json()["run"]
    if run["status"] != "completed":
        raise AssertionError(f"the run is {run['status']}: {run}")
    return recorder


@contextlib.asynccontextmanager
async def _client(endpoint: str) -> AsyncGenerator[httpx.AsyncClient]:
    """Of the whole server without its socket."""
    metrics = Metrics()
    async with (
        Engine("memory:", definitions=[one_step], observers=[metrics], egress=EgressSettings(private=True)) as engine,
        site_of(engine, Settings(), None, metrics) as site,
    ):
        transport = httpx.ASGITransport(make_app(site), client=("127.0.0.1", 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            saved = await client.post("/api/v1/definitions", json={"dialect": "goals", "definition": _step(endpoint)})
            saved.raise_for_status()
            yield client


def _step(endpoint: str) -> dict[str, Any]:
    return {
        "id": "remote",
        "name": "Remote",
        "type": "sync",
        "attributes": {"x": {"role": "required", "type": "number"}, "y": {"role": "output", "type": "number"}},
        "http": {"endpoint": endpoint},
    }


@contextlib.asynccontextmanager
async def _step_service() -> AsyncGenerator[str]:
    """The smallest service that a sync step can call."""
    body = b'{"success": true, "outputs": {"y": 2}}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/"


def show(console: Console, found: dict[str, Hops]) -> None:
    table = Table(title="Hops of one run, from POST /runs until it has completed, memory store")
    table.add_column("run")
    for title in ("calls", "files", "changes of package"):
        table.add_column(title, justify="right")
    for name, hops in found.items():
        pairs = zip(dataclasses.astuple(hops), dataclasses.astuple(BEFORE[name]), strict=True)
        table.add_row(TITLES[name], *(f"{now} of {before} = {now / before:.0%}" for now, before in pairs))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hops", description="How far one run travels through plait.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--calls", choices=list(REQUESTS), help="print the calls of this run, one a line")
    options = parser.parse_args()
    recorded = asyncio.run(measure())
    found = {name: recorder.hops() for name, recorder in recorded.items()}
    if options.calls:
        print("\n".join(f"{file}  {name}" for file, name in recorded[options.calls].calls))
    elif options.json:
        parts = {"now": found, "before": BEFORE}
        print(json.dumps({k: {n: dataclasses.asdict(h) for n, h in part.items()} for k, part in parts.items()}))
    else:
        show(Console(width=None if sys.stdout.isatty() else 120), found)


if __name__ == "__main__":
    main()
