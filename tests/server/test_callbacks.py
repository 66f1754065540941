"""Handlers at an address: 200 is the result, 202 announces one that is reported to a signed address, once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import pytest

from plait import Engine, graph
from plait.egress import EgressSettings
from plait.errors import RunFailed
from tests.server.serving import Served, problem, serving

LOCAL = EgressSettings(private=True)


class Handler:
    """A service that answers every POST as it is told, and keeps what it got."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.got: asyncio.Queue[tuple[dict[str, str], dict[str, Any]]] = asyncio.Queue()
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(headers["content-length"]))
        self.got.put_nowait((headers, msgspec.json.decode(body)))
        sent = b'{"at":"once"}' if self.status == 200 else b""
        head_out = f"HTTP/1.1 {self.status} X\r\ncontent-length: {len(sent)}\r\nconnection: close\r\n\r\n"
        writer.write(head_out.encode() + sent)
        await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def handling(status: int) -> AsyncGenerator[Handler]:
    handler = Handler(status)
    server = await asyncio.start_server(handler.answer, "127.0.0.1", 0)
    handler.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/work"
    async with server:
        yield handler


async def start(served: Served, url: str) -> None:
    node = {"id": "print", "type": "task", "config": {"url": url, "copies": "$input.n"}, "retry": {"backoff_ms": 1}}
    body = {"dialect": "graph", "definition": {"nodes": [node]}, "input": {"n": 3}, "id": "job"}
    assert (await served.post("/runs", body)).status_code == 201


async def test_200_is_the_result_and_the_request_says_whose_it_is() -> None:
    async with handling(200) as handler, serving(egress=LOCAL) as served:
        await start(served, handler.url)
        assert (await served.ended("job"))["output"] == {"print": {"at": "once"}}
        headers, body = handler.got.get_nowait()
        assert (body["run_id"], body["node_id"], body["attempt"]) == ("job", "print", 1)
        assert (body["payload"], body["config"]["copies"]) == ({"n": 3}, 3)
        assert "idempotency-key" in headers


async def test_202_is_followed_by_the_result_which_is_taken_once() -> None:
    async with handling(202) as handler, serving(egress=LOCAL) as served:
        await start(served, handler.url)
        _, body = await handler.got.get()
        await served.waits("job", "callback")
        assert body["callback_url"].startswith(f"{served.url}/callbacks/")
        answer = await served.client.post(body["callback_url"], json={"printed": 3})
        assert answer.status_code == 200, answer.text
        assert (await served.ended("job"))["output"] == {"print": {"printed": 3}}
        problem(await served.client.post(body["callback_url"], json={"printed": 4}), 410, "auth.link_used")


async def test_a_problem_is_a_failed_attempt_and_the_next_one_has_an_address_of_its_own() -> None:
    async with handling(202) as handler, serving(egress=LOCAL) as served:
        await start(served, handler.url)
        _, first = await handler.got.get()
        jam = {"content-type": "application/problem+json"}
        told = b'{"detail":"paper jam"}'
        assert (await served.client.post(first["callback_url"], content=told, headers=jam)).status_code == 200
        _, second = await handler.got.get()
        assert second["attempt"] == 2
        assert second["token_id"] == first["token_id"]
        for_good = b'{"title":"no printer","retryable":false}'
        assert (await served.client.post(second["callback_url"], content=for_good, headers=jam)).status_code == 200
        assert "no printer" in str((await served.ended("job", "failed"))["run"])


async def test_an_address_that_was_changed_or_is_for_something_else_is_refused() -> None:
    async with handling(202) as handler, serving(egress=LOCAL) as served:
        await start(served, handler.url)
        _, body = await handler.got.get()
        url: str = body["callback_url"]
        problem(await served.client.post(f"{url[:-1]}{'A' if url[-1] != 'A' else 'B'}", json=1), 404, "auth.bad_link")
        problem(await served.client.post(url.replace("/callbacks/", "/hooks/"), json=1), 404, "auth.bad_link")
        bad = await served.client.post(url, content=b'"oops"', headers={"content-type": "application/problem+json"})
        problem(bad, 422, "http.bad_problem")
        assert (await served.client.post(url, json=1)).status_code == 200


async def test_without_a_server_202_fails_with_what_to_do() -> None:
    async with handling(202) as handler, Engine("memory:", egress=LOCAL) as engine:
        node = {"id": "print", "type": "task", "config": {"url": handler.url}}
        run = await engine.start(graph({"nodes": [node]}))
        with pytest.raises(RunFailed, match="returned 202"):
            await run.result()
        assert (await handler.got.get())[1]["callback_url"] is None
