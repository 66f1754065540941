"""The engine processes of a fleet."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from typing import Any

from bench.api.server import ends_with_us


class Member:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def hears(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("an engine ended")
        return json.loads(line)

    async def does(self, **order: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        await self.hears()

    async def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()


@contextlib.asynccontextmanager
async def fleet(url: str, count: int) -> AsyncGenerator[list[Member]]:
    """When each has its share."""
    members: list[Member] = []
    try:
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.fleet.engine_process", url, str(count)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                preexec_fn=ends_with_us,
            )
            members.append(Member(process))
        await asyncio.gather(*(member.hears() for member in members))
        yield members
    finally:
        await asyncio.gather(*(member.stop() for member in members))
