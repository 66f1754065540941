"""Requests that are no proper HTTP, on real sockets: refused clearly, and nobody else notices."""

from __future__ import annotations

import asyncio

from plait.server.site import Settings
from tests.server.serving import Served, serving, soon

from .raw import BODY, HOST, START, exchange, got, posted, wire


async def assert_fine(served: Served, runs: int = 0) -> None:
    """It works, has started what it should, and waits for nobody."""
    assert (await served.client.get("/ready")).status_code == 200
    assert len((await served.get("/runs")).json()["runs"]) == runs
    assert (served.site.in_flight, served.site.watchers) == (0, 0)


NO_HTTP: dict[str, bytes] = {
    "two lengths": START + b"content-length: 34\r\ncontent-length: 5\r\n\r\n" + BODY,
    "a list of lengths": START + b"content-length: 34, 34\r\n\r\n" + BODY,
    "a negative length": START + b"content-length: -1\r\n\r\n",
    "a length with a sign": START + b"content-length: +34\r\n\r\n" + BODY,
    "a length in words": START + b"content-length: ten\r\n\r\n",
    "a length beyond counting": START + b"content-length: " + b"9" * 40 + b"\r\n\r\n",
    "a length and chunks": START + b"content-length: 34\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": START + b"transfer-encoding: chunked\r\ncontent-length: 34\r\n\r\n0\r\n\r\n",
    "an unknown encoding": START + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked not last": START + b"transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a chunk that is none": START + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a negative chunk": START + b"transfer-encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
    "a chunk beyond counting": START + b"transfer-encoding: chunked\r\n\r\n" + b"f" * 20 + b"\r\n{}",
    "an unknown method": b"FOO /health HTTP/1.1\r\n" + HOST + b"\r\n",
    "a method in small letters": b"get /health HTTP/1.1\r\n" + HOST + b"\r\n",
    "a version of the future": b"GET /health HTTP/9.9\r\n" + HOST + b"\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(100),
    "noise": b"\x00\x01\x02\xff" * 20 + b"\r\n\r\n",
    "NUL in a header": got(b"/health", b"x: a\x00b\r\n"),
    "a folded header": got(b"/health", b"x: a\r\n b\r\n"),
    "a space before the colon": got(b"/health", b"x : a\r\n"),
    "bare line feeds": b"GET /health HTTP/1.1\nhost: localhost\n\n",
    "a space in the path": got(b"/api/v1/runs/a b"),
    "raw bytes in the path": got(b"/api/v1/runs/\xff\xfe"),
    "an endless path": got(b"/api/v1/runs/" + b"a" * 200_000),
}


async def test_what_is_no_http_is_refused_and_the_connection_closed():
    async with serving() as served:
        for name, data in NO_HTTP.items():
            async with wire(served) as line:
                await line.send(data)
                reply = await line.reply()
                assert reply.status in (400, 414, 431), name
                assert reply.problem["fix"], name
                assert reply.headers["x-content-type-options"] == "nosniff"
                assert await line.is_closed(), name
        await assert_fine(served)


NOTHING_TO_DO: dict[str, tuple[bytes, int]] = {
    "TRACE": (b"TRACE /api/v1/runs HTTP/1.1\r\n" + HOST + b"\r\n", 405),
    "NUL in the path": (got(b"/api/v1/runs/%00"), 404),
    "a path that is no UTF-8": (got(b"/api/v1/runs/%ff"), 404),
    "half a character in the path": (got(b"/api/v1/runs/%ed%a0%80"), 404),
    "a bad escape in the path": (got(b"/api/v1/runs/%zz"), 404),
    "a path that climbs": (got(b"/api/v1/runs/..%2f..%2fkeys"), 404),
    "NUL in the query": (got(b"/api/v1/runs?q=%00"), 400),
    "half a character in the query": (got(b"/api/v1/runs?q=%ed%a0%80"), 400),
    "a parameter twice": (got(b"/api/v1/runs?limit=1&limit=2"), 400),
    "a crowd of parameters": (got(b"/api/v1/runs?" + b"label=a:b&" * 200), 400),
    "a body in another encoding": (posted(b"\xff\xfe{}"), 400),
    "a length over the limit": (START + b"content-length: 99999999999\r\n\r\n{", 413),
    "a body that is not there": (b"POST /api/v1/runs HTTP/1.1\r\n" + HOST + b"content-length: 0\r\n\r\n", 415),
}


async def test_what_is_http_but_can_not_be_done_is_a_problem():
    async with serving() as served:
        for name, (data, status) in NOTHING_TO_DO.items():
            reply = await exchange(served, data)
            assert reply.status == status, name
            assert reply.problem["code"], name
        await assert_fine(served)


async def test_a_body_longer_than_it_says_is_never_taken_for_another_request():
    async with serving() as served, wire(served) as line:
        inner = b"DELETE /api/v1/session HTTP/1.1\r\n" + HOST + b"\r\n"
        await line.send(START + b"content-length: 2\r\n\r\n{}" + b"garbage " + inner)
        reply = await line.reply()
        assert reply.status in (400, 422)
        if reply.status == 422:
            assert (await line.reply()).status == 400
        assert await line.is_closed()
        await assert_fine(served)


async def test_a_body_shorter_than_it_says_is_given_up():
    async with serving(settings=Settings(body_seconds=0.2)) as served:
        for data in (
            START + b"content-length: 35\r\n\r\n" + BODY,
            START + b"transfer-encoding: chunked\r\n\r\n22\r\n" + BODY + b"\r\n",
        ):
            async with wire(served) as line:
                await line.send(data)
                reply = await line.reply()
                assert (reply.status, reply.problem["code"]) == (408, "http.slow_body")
                assert await line.is_closed()
        await assert_fine(served)


async def test_a_body_that_comes_byte_by_byte_has_a_time_limit_all_in_all():
    async with serving(settings=Settings(body_seconds=0.3)) as served, wire(served) as line:
        await line.send(START + b"content-length: 100000\r\n\r\n")
        asking = asyncio.ensure_future(line.reply())
        while not asking.done():
            await line.send(b" ")
            await asyncio.sleep(0.01)
        assert (await asking).status == 408
        await assert_fine(served)


async def test_requests_sent_at_once_are_answered_in_order():
    async with serving() as served, wire(served) as line:
        await line.send(got(b"/health") + posted() + got(b"/api/v1/runs/nope") + posted(b"{") + got(b"/health"))
        assert [(await line.reply()).status for _ in range(5)] == [200, 201, 404, 400, 200]
        await assert_fine(served, runs=1)


async def test_a_thousand_requests_in_one_packet_are_all_answered():
    async with serving() as served, wire(served) as line:
        await line.send(got(b"/health") * 1000)
        assert {(await line.reply()).status for _ in range(1000)} == {200}
        await assert_fine(served)


async def test_an_offer_to_change_the_protocol_is_passed_over():
    async with serving() as served:
        for offer in (b"websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13", b"h2c\r\nhttp2-settings: AAA"):
            reply = await exchange(served, got(b"/api/v1/runs", b"connection: upgrade\r\nupgrade: " + offer + b"\r\n"))
            assert reply.status == 200
        await assert_fine(served)


async def test_a_client_that_waits_for_leave_to_send_gets_it():
    async with serving() as served, wire(served) as line:
        await line.send(START + b"expect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(BODY))
        replying = asyncio.ensure_future(line.reply())
        await line.send(BODY)
        assert (await replying).status == 201


async def test_the_head_of_a_stream_can_be_asked_for_alone():
    """HEAD has no body, and so no end to wait for."""
    async with serving() as served:
        answer = await served.client.head("/api/v1/runs", headers={"accept": "text/event-stream"})
        assert (answer.status_code, answer.content) == (200, b"")
        await assert_fine(served)


async def test_two_names_of_the_host_are_one_too_many():
    async with serving() as served:
        for second in (b"localhost", b"evil.example"):
            data = b"GET /api/v1/runs HTTP/1.1\r\nhost: localhost\r\nhost: " + second + b"\r\n\r\n"
            assert (await exchange(served, data)).status in (400, 403)
        await assert_fine(served)


async def test_connections_that_break_off_anywhere_leave_nothing_behind(db: str):
    async with serving(db) as served:
        id = await served.start("order", {"customer": "Ann"})
        stream = got(f"/api/v1/runs/{id}/events".encode(), b"accept: text/event-stream\r\n")
        for data in (b"", b"GET", START, START + b"content-length: 100\r\n\r\n{", posted(), stream):
            for _ in range(10):
                async with wire(served) as line:
                    await line.send(data)
                    if data is stream:
                        await line.reply()
                    line.reset()

        async def is_quiet() -> bool:
            return (served.site.in_flight, served.site.watchers, served.engine.kernel.subscriptions.watchers) == (
                0,
                0,
                0,
            )

        await soon(is_quiet)
        assert (await served.client.get("/ready")).status_code == 200


async def test_hundreds_who_say_nothing_hold_up_nobody():
    async with serving() as served:
        host, port = served.url.removeprefix("http://").split(":")
        quiet = [(await asyncio.open_connection(host, int(port)))[1] for _ in range(300)]
        quiet[0].write(b"GET /health HT")
        await assert_fine(served)
        assert (await served.post("/runs", {"definition": "echo"})).status_code == 201
        for writer in quiet:
            writer.close()


async def test_a_packed_body_is_not_read_as_if_it_were_plain():
    async with serving() as served:
        reply = await exchange(served, posted(head=b"content-encoding: gzip\r\n"))
        assert (reply.status, reply.problem["status"]) == (415, 415)
        await assert_fine(served)
