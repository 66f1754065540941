"""A server and workers, each a process of its own as people start them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import IO

from bench.api.orders import REPOSITORY
from bench.api.server import PLAIT, ends_with_us

_READY_SECONDS = 120.0
"""On a busy machine; else it takes one or two."""


class Process:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def ready(self) -> None:
        """It has said its first line."""
        assert self._process.stdout is not None
        if not await asyncio.wait_for(self._process.stdout.readline(), _READY_SECONDS):
            raise RuntimeError("a process ended before it was ready")

    async def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        await self._process.wait()


async def _start(log: IO[bytes], *arguments: str) -> Process:
    started = await asyncio.create_subprocess_exec(
        PLAIT,
        *arguments,
        "--json",
        cwd=REPOSITORY,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        preexec_fn=ends_with_us,
    )
    found = Process(started)
    await found.ready()
    return found


@contextlib.asynccontextmanager
async def server(db: str, port: int, log: IO[bytes]) -> AsyncGenerator[Process]:
    flags = ("--open", "--port", str(port), "--db", db, "--log-level", "warning")
    found = await _start(log, "serve", "bench.remote.flows", *flags)
    try:
        yield found
    finally:
        await found.stop()


@contextlib.asynccontextmanager
async def workers(url: str, count: int, log: IO[bytes]) -> AsyncGenerator[list[Process]]:
    flags = ("--queue", "bench", "--db", url, "--log-level", "warning", "--concurrency", "16")
    found = [await _start(log, "worker", "bench.remote.flows", *flags) for _ in range(count)]
    try:
        yield found
    finally:
        await asyncio.gather(*(each.stop() for each in found))
