"""A server that is stopped, properly or not, loses nothing it has acknowledged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from plait import Engine
from tests.server import flows
from tests.server.serving import API, Served, serving

BODY = b'{"definition": "quick", "input": {"customer": "Ann"}}'


async def keep_starting(served: Served, acknowledged: list[str]) -> None:
    """Starts runs until the server takes no more."""
    async with httpx.AsyncClient(base_url=served.url, timeout=20) as client:
        while True:
            try:
                answer = await client.post(f"{API}/runs", content=BODY, headers={"content-type": "application/json"})
            except httpx.TransportError:
                return
            if answer.status_code == 201:
                acknowledged.append(answer.json()["id"])
            else:
                assert answer.status_code == 503, answer.text
                return


async def test_a_stop_under_load_loses_nothing(tmp_path: Path):
    db = f"sqlite:///{tmp_path}/plait.db"
    acknowledged: list[str] = []
    async with serving(db) as served:
        clients = [asyncio.ensure_future(keep_starting(served, acknowledged)) for _ in range(16)]
        while len(acknowledged) < 200:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        served.process.stop()
        await asyncio.gather(*clients)
    async with Engine(db, definitions=[flows]) as engine:
        for id in acknowledged:
            assert await (await engine.get(id)).result() == "1 on the way"


async def test_a_request_under_way_is_finished(db: str):
    async with serving(db) as served:
        host, port = served.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"POST {API}/runs HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        writer.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode())
        await writer.drain()
        while not served.site.in_flight:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        served.process.stop()
        while served.process.listening:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        writer.write(BODY)
        assert b" 201 " in await reader.readline()
        writer.close()


async def test_the_shards_are_given_up(tmp_path: Path):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with serving(db) as served:
        await served.start("order", {"customer": "Ann"}, id="o-1")
    async with Engine(db, definitions=[flows]) as engine:
        handle = await engine.get("o-1")
        await handle.message("go")
        assert await asyncio.wait_for(handle.result(), 5) == "1 on the way"
