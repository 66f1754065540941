"""Clients of the mount that try again until they are answered, whatever becomes of the server meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx

from tests.server.contract.processes import PATIENCE

from .servers import ShopServer


class Client:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def register(self, *steps: dict[str, Any]) -> None:
        for step in steps:
            await self._surely("/engine/step", step)

    async def start(self, id: str, goal: str, **init: Any) -> None:
        values = {name: [value] for name, value in init.items()}
        await self._surely("/engine/flow", {"id": id, "goals": [goal], "init": values})

    async def _surely(self, path: str, body: dict[str, Any]) -> None:
        while True:
            with suppress(httpx.NetworkError, httpx.ProtocolError):  # but no answer at all in time is a fault
                answer = await self._http.post(path, json=body)
                if answer.status_code == 201:
                    return
                assert answer.status_code in (429, 503), answer.text
            await asyncio.sleep(0.02)


@asynccontextmanager
async def client_of(server: ShopServer) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as http:
        yield Client(http)
