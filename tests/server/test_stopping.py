"""A server that is stopped, properly or not, loses nothing it has acknowledged."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import httpx

from plait import Engine
from plait.server.site import Settings
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


async def accepted_late(served: Served) -> socket.socket:
    """A connection of a server that has closed its socket: it was accepted just before, and is set up only now."""
    ours, theirs = socket.socketpair()
    for each in (ours, theirs):
        each.setblocking(False)
    process: Any = served.process
    state = process._server.server_state
    make = process.config.http_protocol_class
    await asyncio.get_running_loop().connect_accepted_socket(
        lambda: make(config=process.config, server_state=state, app_state={}), theirs
    )
    return ours


async def stopping_with_a_request_under_way(served: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """One whose body has not come yet."""
    host, port = served.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST {API}/runs HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode())
    while not served.site.in_flight:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    served.process.stop()
    while served.process.listening:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    return reader, writer


async def test_a_connection_that_was_accepted_late_is_answered_once(db: str):
    """It used to be kept alive: a client that went on asking kept the server up for the whole time to drain."""
    async with serving(db) as served:
        _, under_way = await stopping_with_a_request_under_way(served)
        reader, writer = await asyncio.open_connection(sock=await accepted_late(served))
        for _ in range(2):
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 5)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert b"\r\nconnection: close\r\n" in answer
        under_way.write(BODY)
        writer.close()
        under_way.close()


async def test_a_connection_without_a_request_does_not_hold_up_a_stop(db: str):
    async with serving(db, settings=Settings(open=True, head_seconds=60)) as served:
        _, under_way = await stopping_with_a_request_under_way(served)
        reader, writer = await asyncio.open_connection(sock=await accepted_late(served))
        assert await asyncio.wait_for(reader.read(), 5) == b""
        under_way.write(BODY)
        writer.close()
        under_way.close()


async def test_the_last_answer_says_that_the_connection_closes(db: str):
    async with serving(db) as served:
        reader, writer = await stopping_with_a_request_under_way(served)
        writer.write(BODY)
        answer = await asyncio.wait_for(reader.read(), 5)
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert b"\r\nconnection: close\r\n" in answer
        writer.close()
