"""A real server for a test: engine, database file, socket and all, and a client for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from plait import Engine
from plait.observe.metrics import Metrics
from plait.server.app import make_app
from plait.server.argyll.webhooks import WebhookUrls
from plait.server.auth import AuthOptions
from plait.server.callbacks import ResultLinks
from plait.server.process import Process, listen
from plait.server.site import Settings, Site, site_of

from . import flows

API = "/api/v1"


@dataclass(frozen=True)
class Served:
    """A server that listens, and a client that is its friend."""

    engine: Engine
    site: Site
    process: Process
    client: httpx.AsyncClient

    @property
    def url(self) -> str:
        return self.process.url

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.client.get(API + path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return await self.client.post(API + path, **options)

    async def put(self, path: str, body: Any) -> httpx.Response:
        return await self.client.put(API + path, json=body)

    async def start(self, definition: str, input: Any = None, **more: Any) -> str:
        answer = await self.post("/runs", {"definition": definition, "input": input, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def ended(self, id: str, status: str = "completed", **params: str) -> dict[str, Any]:
        """The run, once it has that status."""
        return await soon(lambda: self._with_status(id, status, params))

    async def waits(self, id: str, kind: str) -> dict[str, Any]:
        """The run, once it waits for something of that kind."""
        return await soon(lambda: self._waiting(id, kind))

    async def _with_status(self, id: str, status: str, params: dict[str, str]) -> dict[str, Any] | None:
        found = (await self.get(f"/runs/{id}", params=params)).json()
        return found if found["run"]["status"] == status else None

    async def _waiting(self, id: str, kind: str) -> dict[str, Any] | None:
        found = (await self.get(f"/runs/{id}")).json()
        return found if any(reason["kind"] == kind for reason in found["waiting"]) else None


async def soon(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Asks again until the answer is not empty."""
    async with asyncio.timeout(20):
        while not (found := await ask()):  # noqa: ASYNC110 -- a client has nothing to wait for
            await asyncio.sleep(0.005)
        return found


@contextlib.asynccontextmanager
async def serving(
    db: str = "memory:",
    *,
    settings: Settings | None = None,
    options: AuthOptions | None = None,
    definitions: tuple[object, ...] = (flows,),
    headers: dict[str, str] | None = None,
    **engine_options: Any,
) -> AsyncGenerator[Served]:
    metrics = Metrics()
    async with (
        Engine(db, definitions=definitions, observers=[metrics], **engine_options) as engine,
        site_of(engine, settings or Settings(), options, metrics) as site,
    ):
        process = Process(site, make_app(site), listen("127.0.0.1", 0))
        engine.executors.callbacks = WebhookUrls(site.auth.secret, process.url)
        engine.executors.result_urls = ResultLinks(site.auth.links, process.url)
        serving = asyncio.ensure_future(process.serve())
        async with httpx.AsyncClient(base_url=process.url, headers=headers, timeout=20) as client:
            try:
                yield Served(engine, site, process, client)
            finally:
                process.stop()
                await asyncio.wait_for(serving, 15)


@dataclass(frozen=True)
class Frame:
    """One server-sent event as a browser would see it."""

    event: str
    id: str | None
    data: Any


@contextlib.asynccontextmanager
async def watching(
    served: Served, path: str, headers: dict[str, str] | None = None, **params: str
) -> AsyncGenerator[AsyncIterator[Frame]]:
    asked = {"accept": "text/event-stream", **(headers or {})}
    async with served.client.stream("GET", API + path, headers=asked, params=params) as answer:
        assert answer.status_code == 200, (await answer.aread()).decode()
        yield frames(answer.aiter_lines())


async def frames(lines: AsyncIterator[str]) -> AsyncIterator[Frame]:
    event, id, data = "message", None, None
    async for line in lines:
        name, _, value = line.partition(": ")
        match name:
            case "event":
                event = value
            case "id":
                id = value
            case "data":
                data = msgspec.json.decode(value)
            case "" if not line and data is not None:
                yield Frame(event, id, data)
                event, id, data = "message", None, None
            case _:
                pass


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem that an answer must be."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert (found["status"], found["code"], found["type"]) == (status, code, f"urn:plait:error:{code}")
    return found
