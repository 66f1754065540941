"""Real `plait serve` processes on one database, which a test may kill, and a client that is patient with them.

async with serving(database, ledger) as server:
    server.kill()                       # kill -9
    await server.start()                # same port, same database
    code = await server.stop()          # SIGTERM
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from tests.faults.work import LEDGER
from tests.server.serving import API, Frame, frames
from tests.support.ports import free_port
from tests.support.processes import Process, start

PATIENCE = 30.0


class ServeProcess:
    def __init__(self, database: str, ledger: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = (
            *("plait.cli.main", "serve", "tests.faults.work", "--open", "--json"),
            *("--log-level", "warning", "--db", database, "--port", str(self.port)),
            *options,
        )
        self.processes: list[int] = []
        """Of several, their ids when they were started."""
        self._environment = {**os.environ, LEDGER: str(ledger)}
        self.errors = ledger.with_name("stderr")
        """What it logs."""
        self._process: Process | None = None
        self._reading: asyncio.Future[str] | None = None

    def engines(self) -> list[int]:
        """Of several, the ids of those that there are now."""
        assert self._process is not None
        found = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        return [int(pid) for pid in found.split()]

    async def start(self) -> None:
        """Returns when it listens."""
        with self.errors.open("a") as errors:
            self._process = process = start(
                *self._command, env=self._environment, stdout=subprocess.PIPE, stderr=errors
            )
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            # Steps of before write there, too
            while not (line := await asyncio.to_thread(process.stdout.readline)).startswith("{"):
                assert line, "it did not start"
        said = json.loads(line)
        assert said["url"] == self.url
        self.processes = said.get("processes", [])
        self._reading = asyncio.ensure_future(asyncio.to_thread(process.stdout.read))

    async def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._over(self._process)

    def signal(self) -> None:
        assert self._process is not None
        self._process.terminate()

    async def ended(self) -> int:
        """Its exit code."""
        assert self._process is not None
        return await self._over(self._process)

    async def _over(self, process: Process) -> int:
        code = await asyncio.to_thread(process.wait, PATIENCE)
        if self._reading is not None:
            await self._reading
        with process:  # closes its pipes
            return code


@contextlib.asynccontextmanager
async def serving(database: str, ledger: Path, *options: str) -> AsyncGenerator[ServeProcess]:
    server = ServeProcess(database, ledger, *options)
    try:
        await server.start()
        yield server
    finally:
        await server.kill()


@contextlib.asynccontextmanager
async def client_of(server: ServeProcess) -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url + API, timeout=PATIENCE) as client:
        yield client


async def start_run(client: httpx.AsyncClient, number: int) -> httpx.Response:
    body = {"definition": "summing", "input": number, "id": f"sum-{number}"}
    return await client.post("/runs", json=body)


async def start_surely(client: httpx.AsyncClient, number: int) -> None:
    """Sends the same start until it is acknowledged, whatever becomes of the server meanwhile."""
    while True:
        with contextlib.suppress(httpx.NetworkError, httpx.ProtocolError):  # but no answer at all in time is a fault
            answer = await start_run(client, number)
            if answer.status_code in (200, 201):
                return
            assert answer.status_code in (429, 503), answer.text
        await asyncio.sleep(0.02)


async def finished(client: httpx.AsyncClient, number: int) -> Any:
    """The output of a run, once it has one."""
    while True:
        found = (await client.get(f"/runs/sum-{number}")).json()
        if found["run"]["status"] != "running":
            assert found["run"]["status"] == "completed", found
            return found["output"]
        await asyncio.sleep(0.02)


async def follow(client: httpx.AsyncClient, id: str, after: int = 0) -> AsyncIterator[Frame]:
    """Frames of one connection; ends when it does, however it does."""
    headers = {"accept": "text/event-stream"} | ({"last-event-id": str(after)} if after else {})
    with contextlib.suppress(httpx.NetworkError, httpx.ProtocolError):  # a stream that falls silent is a fault
        async with client.stream("GET", f"/runs/{id}/events", headers=headers) as answer:
            if answer.status_code == 200:
                async for frame in frames(answer.aiter_lines()):
                    yield frame


async def follow_to_the_end(client: httpx.AsyncClient, id: str, seen: list[int]) -> None:
    """As a browser does: connects again with the last number it had, until the end is told."""
    while True:
        async with contextlib.aclosing(follow(client, id, seen[-1] if seen else 0)) as found:  # type: ignore[type-var]
            async for frame in found:
                if frame.event == "end":
                    return
                seen.append(frame.data["seq"])
        await asyncio.sleep(0.02)
