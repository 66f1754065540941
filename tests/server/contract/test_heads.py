"""The head of a request has to come in time and within a size; what comes after it is not hurried by that."""

from __future__ import annotations

import asyncio
import time

from plait.server.site import Settings
from tests.server.serving import serving, soon, watching

from .raw import got, wire

SOON = 0.2


async def test_a_head_that_does_not_come_is_not_waited_for():
    async with serving(settings=Settings(head_seconds=SOON)) as served:
        for part in (b"GET /health HT", b"GET /health HTTP/1.1\r\nhost: loc", got(b"/health")[:-2]):
            async with wire(served) as line:
                await line.send(part)
                reply = await line.reply()
                assert (reply.status, reply.problem["code"]) == (408, "http.slow_head")
                assert await line.is_closed()


async def test_a_head_that_comes_byte_by_byte_has_a_time_limit_all_in_all():
    async with serving(settings=Settings(head_seconds=SOON)) as served, wire(served) as line:
        await line.send(b"GET /health HTTP/1.1\r\nx: ")
        asking = asyncio.ensure_future(line.reply())
        while not asking.done():
            await line.send(b"a")
            await asyncio.sleep(0.01)
        assert (await asking).status == 408


async def test_who_connects_and_says_nothing_is_hung_up_on():
    async with serving(settings=Settings(head_seconds=SOON)) as served:
        for words in (b"", b"\r\n", b"\r\n\r\n"):
            async with wire(served) as line:
                await line.send(words)
                assert await line.is_closed()


async def test_the_second_request_of_a_connection_is_not_waited_for_either():
    async with serving(settings=Settings(head_seconds=SOON)) as served, wire(served) as line:
        await line.send(got(b"/health"))
        assert (await line.reply()).status == 200
        await line.send(b"GET /health HTT")
        assert (await line.reply()).status == 408
        assert await line.is_closed()


async def test_a_body_that_nobody_asked_for_and_that_never_ends_does_not_keep_a_connection():
    async with serving(settings=Settings(head_seconds=SOON)) as served, wire(served) as line:
        await line.send(got(b"/health", b"transfer-encoding: chunked\r\n"))
        assert (await line.reply()).status == 200
        closing = asyncio.ensure_future(line.is_closed())
        while not closing.done():
            await line.send(b"1\r\na\r\n")
            await asyncio.sleep(0.01)


async def test_a_stream_goes_on_long_after_its_head(db: str):
    async with serving(db, settings=Settings(head_seconds=SOON, heartbeat=0.02)) as served:
        id = await served.start("order", {"customer": "Ann"})
        began = time.monotonic()
        async with watching(served, f"/runs/{id}/events") as stream:
            seen = [await anext(stream)]

            async def time_has_passed() -> bool:
                return time.monotonic() - began > 2 * SOON

            await soon(time_has_passed)
            await served.post(f"/runs/{id}/messages", {"name": "go"})
            seen += [frame async for frame in stream]
        assert seen[-1].event == "end"


async def test_a_head_that_is_too_large_is_refused_before_it_ends():
    heads = {
        "one line": b"x: " + b"a" * 70_000,
        "many lines": b"x: a\r\n" * 12_000,
        "many cookies": b"cookie: " + b"a=b; " * 14_000,
        "a long path": b"",
    }
    async with serving() as served:
        for name, head in heads.items():
            path = b"/health" if head else b"/" + b"a" * 70_000
            async with wire(served) as line:
                await line.send(b"GET " + path + (b" HTTP/1.1\r\n" + head if head else b""))
                reply = await line.reply()
                assert (reply.status, reply.problem["code"]) == (431, "http.head_too_large"), name
                assert await line.is_closed(), name
        assert (await served.client.get("/ready")).status_code == 200


async def test_a_head_without_end_is_not_collected():
    async with serving() as served, wire(served) as line:
        sent = 0
        closing = asyncio.ensure_future(line.is_closed())
        await line.send(b"GET /health HTTP/1.1\r\nx: ")
        while not closing.done() and sent < 200_000_000:
            await line.send(b"a" * 100_000)
            sent += 100_000
            await asyncio.sleep(0)
        assert sent < 50_000_000
        assert (await served.client.get("/ready")).status_code == 200
