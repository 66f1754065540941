"""The door for bodies: what is not JSON, too large, too slow or of the wrong shape gets a clear answer."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from plait.kernel import json_text
from plait.kernel.errors import TooLarge
from plait.kernel.values import pointer
from plait.server import body as bodies
from plait.server.site import Settings
from tests.server.serving import API, problem, serving

JSON = {"content-type": "application/json"}
RUNS = API + "/runs"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b'{"definition": "quick"} x',
        b'{"definition": "quick", "definition": "quick"}',
        b'{"definition": "echo", "input": {"a": 1, "a": 2}}',
        b'{"definition": "echo", "input": NaN}',
        b'{"definition": "echo", "input": 1e999}',
        b'{"definition": "echo", "input": "\\u0000"}',
        b'{"definition": "echo", "input": "\\ud800"}',
        b'{"definition": "echo", "input": ' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"definition": "echo", "input": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"definition": "echo", "input": ' + b"9" * 5000 + b"}",
        b"\xff\xfe{\x00}\x00",
        '{"definition": "quick"}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
    ],
)
async def test_what_is_not_strict_json_is_refused(body: bytes):
    async with serving() as served:
        answer = await served.client.post(RUNS, content=body, headers=JSON)
        assert problem(answer, 400, "http.malformed_json")["why"]
        assert (await served.get("/runs")).json() == {"runs": []}


async def test_a_duplicate_key_is_named():
    async with serving() as served:
        answer = await served.client.post(RUNS, content=b'{"id": "a", "id": "b"}', headers=JSON)
        assert "'id' stands twice" in problem(answer, 400, "http.malformed_json")["why"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_body_that_is_not_said_to_be_json_is_refused(kind: str):
    async with serving() as served:
        headers = {"content-type": kind} if kind else {}
        answer = await served.client.post(RUNS, content=b'{"definition": "quick"}', headers=headers)
        problem(answer, 415, "http.not_json")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"])
async def test_json_has_several_names(kind: str):
    async with serving() as served:
        body = b'{"definition": "echo", "input": "tea"}'
        answer = await served.client.post(RUNS, content=body, headers={"content-type": kind})
        assert answer.status_code == 201


async def test_a_large_body_within_the_limit_is_taken(db: str):
    async with serving(db) as served:
        text = "x" * 3_000_000
        id = await served.start("echo", text)
        assert (await served.ended(id))["output"] == text


@pytest.mark.parametrize(
    ("item", "status", "code"),
    [
        ("{}", 413, "value.too_many"),
        ("null", 413, "value.too_many"),
        ("[]", 413, "value.too_many"),
        ("1.5", 413, "value.too_many"),
        ("7" * 4000, 400, "http.malformed_json"),
    ],
)
async def test_a_large_body_that_would_stop_the_loop_is_refused_in_a_thread(
    item: str, status: int, code: str, monkeypatch: pytest.MonkeyPatch
):
    readers: list[threading.Thread] = []
    read = json_text.read

    def seen(text: str, **more: Any) -> object:
        readers.append(threading.current_thread())
        return read(text, **more)

    monkeypatch.setattr(json_text, "read", seen)
    many = ",".join([item] * ((4_000_000) // (len(item) + 1)))
    async with serving() as served:
        body = f'{{"definition": "echo", "input": [{many}]}}'.encode()
        problem(await served.client.post(RUNS, content=body, headers=JSON), status, code)
        assert [reader is threading.main_thread() for reader in readers] == [False]


@pytest.mark.parametrize("item", ["{}", "null", "7" * 4000])
async def test_no_body_stops_the_loop_for_long(item: str):
    """In processor time, so that a busy machine does not count."""
    many = ",".join([item] * (4_000_000 // (len(item) + 1)))
    body = f'{{"definition": "echo", "input": [{many}]}}'.encode()
    async with serving() as served:
        asked = asyncio.ensure_future(served.client.post(RUNS, content=pieces(body), headers=JSON))
        longest, last = 0.0, time.process_time()
        while not asked.done():
            await asyncio.sleep(0)
            now = time.process_time()
            longest, last = max(longest, now - last), now
        assert (await asked).status_code in (400, 413)
    assert longest < 0.05


@pytest.mark.parametrize("item", ["{}", "null", '{"a": [1.5, "b"]}'])
async def test_whoever_reads_a_large_body_lets_the_loop_have_its_turn(item: str, monkeypatch: pytest.MonkeyPatch):
    """The processor time between two rests: a thread that takes none keeps the interpreter for 5 ms each time that the
    loop comes back from a socket."""
    holds: list[float] = []
    now = time.thread_time

    def rest(seconds: float) -> None:
        assert seconds > 0, "the lock would be taken back at once"
        holds.append(now())

    monkeypatch.setattr(bodies, "time", SimpleNamespace(sleep=rest))
    with pytest.raises(TooLarge):
        await bodies.parse(b"[" + b",".join([item.encode()] * 300_000) + b"]")
    longest = max(after - before for before, after in itertools.pairwise(holds))
    assert len(holds) > 100
    assert longest < 0.004


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    """As they would come from afar: sending is not what is measured."""
    for at in range(0, len(body), 65_536):
        yield body[at : at + 65_536]
        await asyncio.sleep(0)


async def test_a_body_that_says_it_is_too_large_is_not_read():
    async with serving(settings=Settings(max_body=1000)) as served:
        problem(await served.post("/runs", {"definition": "echo", "input": "x" * 1000}), 413, "http.body_too_large")


async def test_a_body_that_turns_out_too_large_is_refused():
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 65_536

    async with serving(settings=Settings(max_body=100_000)) as served:
        problem(await served.client.post(RUNS, content=pieces(), headers=JSON), 413, "http.body_too_large")


async def test_a_body_without_end_is_not_read_on():
    async with serving(settings=Settings(max_body=100_000)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" % RUNS.encode())
        writer.write(b"transfer-encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):
            await _write_for_ever(writer)
        writer.close()
        assert served.site.in_flight == 0


async def _write_for_ever(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        await writer.drain()


async def test_a_body_that_does_not_come_in_time_is_given_up():
    async with serving(settings=Settings(body_seconds=0.1)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        for head in (b"content-length: 100\r\n\r\n", b"content-length: 100\r\n\r\n{"):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" % RUNS.encode())
            writer.write(head)
            status = await reader.readline()
            assert b" 408 " in status
            assert b"http.slow_body" in await reader.read()  # and the connection is closed
            writer.close()


async def test_a_client_that_goes_away_while_it_sends_leaves_nothing_behind():
    async with serving() as served:
        host, port = served.url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" % RUNS.encode())
        writer.write(b"content-length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert (await served.get("/runs")).json() == {"runs": []}
        assert served.site.in_flight == 0


async def test_an_optional_body_may_be_left_out(db: str):
    async with serving(db) as served:
        id = await served.start("order", {"customer": "Ann"})
        assert (await served.client.post(f"{RUNS}/{id}/cancel")).status_code == 200


async def test_a_whole_number_may_be_written_with_a_point(db: str):
    async with serving(db) as served:
        body = b'{"definition": "echo", "input": 1.5, "deadline_ms": 60000.0}'
        answer = await served.client.post(RUNS, content=body, headers=JSON)
        assert answer.status_code == 201
        assert (await served.ended(answer.json()["id"]))["input"] == 1.5
        body = b'{"definition": "echo", "deadline_ms": 60000.5}'
        problem(await served.client.post(RUNS, content=body, headers=JSON), 422, "http.bad_body")


@pytest.mark.parametrize(
    ("path", "expected"), [("", ""), ("$", ""), ("$.a", "/a"), ("$.a[0].b", "/a/0/b"), ("$.labels[...]", "/labels/-")]
)
def test_places_are_json_pointers(path: str, expected: str):
    assert pointer(path) == expected
