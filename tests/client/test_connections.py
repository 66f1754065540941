"""Connections to a server that are kept: what comes over them, and when they are not used again."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from plait.client import Client
from plait.client.connections import Connections
from plait.errors import PlaitError
from tests.egress.authority import Authority

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


class Talk:
    """A server that answers each request on a connection with the next of these."""

    def __init__(self, *answers: bytes) -> None:
        self.left = list(answers)
        self.heads: list[str] = []
        self.connections = 0
        self.asked = asyncio.Event()
        self.url = ""
        self._writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        while self.left:
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            length = next((int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")), 0)
            self.heads.append(head + (await reader.readexactly(length)).decode())
            self.asked.set()
            given = self.left.pop(0)
            writer.write(given)
            if given and (b"connection: close" in given or not (b"content-length" in given or b"chunked" in given)):
                writer.close()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def talking(*answers: bytes, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Talk]:
    talk = Talk(*answers)
    server = await asyncio.start_server(talk.serve, "127.0.0.1", 0, ssl=tls)
    talk.url = f"{'https' if tls else 'http'}://localhost:{server.sockets[0].getsockname()[1]}"
    try:
        yield talk
    finally:
        server.close()
        talk.hang_up()


@asynccontextmanager
async def connected(url: str, timeout: float = 20, **more: Any) -> AsyncGenerator[Connections]:
    found = Connections(url, {"accept": "application/json"}, connect_timeout=5, timeout=timeout, **more)
    try:
        yield found
    finally:
        await found.close()


async def test_one_connection_serves_many_requests():
    async with talking(OK, OK, OK) as talk, connected(talk.url) as here:
        for _ in range(3):
            assert (await here.request("POST", "/a?b=c", b"{}")).content == b"ok"
        assert talk.connections == 1
        assert talk.heads[0].startswith("POST /a?b=c HTTP/1.1\r\nhost: localhost:")
        assert talk.heads[0].endswith("content-type: application/json\r\ncontent-length: 2\r\n\r\n{}")


async def test_requests_at_once_have_a_connection_each():
    async with talking(OK, OK, OK) as talk, connected(talk.url) as here:
        found = await asyncio.gather(*(here.request("GET", "/", None) for _ in range(3)))
        assert [each.content for each in found] == [b"ok"] * 3
        assert talk.connections == 3


@pytest.mark.parametrize(
    ("given", "status", "content", "kept"),
    [
        (CHUNKED + b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", 200, b"abc0123456789", True),
        (CHUNKED + b"1\r\na\r\n0\r\nsum: 1\r\n\r\n", 200, b"a", True),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, 200, b"ok", True),
        (b"HTTP/1.1 204 No Content\r\nx: content-length\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok", 200, b"ok", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", 200, b"ok", False),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, b"until the end", False),
        (b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", 200, b"", True),
    ],
)
async def test_every_way_to_send_an_answer_is_read(given: bytes, status: int, content: bytes, kept: bool):
    async with talking(given, OK) as talk, connected(talk.url) as here:
        found = await here.request("GET", "/", None)
        assert (found.status_code, found.content) == (status, content)
        assert (await here.request("GET", "/", None)).content == b"ok"
        assert talk.connections == (1 if kept else 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", "illegal"),
        (b"HTTP/2 200\r\n\r\n", "illegal"),
        (b"HTTP/1.1 okay\r\ncontent-length: 0\r\n\r\n", "illegal"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", "illegal"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, "illegal"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhalf", "closed the connection"),
        (b"HTTP/1.1 200 O", "closed the connection"),
    ],
)
async def test_an_answer_that_is_none_is_told_by_its_kind(given: bytes, said: str):
    async with talking(given) as talk, connected(talk.url) as here:
        with pytest.raises(httpx.RemoteProtocolError, match=said):
            await here.request("GET", "/", None)


async def test_a_server_that_is_killed_before_it_responds_is_told_in_plain_words():
    async with talking(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhalf") as talk:
        async with Client(talk.url) as client:
            with pytest.raises(PlaitError) as refused:
                await client.queues.claim("w", ["gpu"])
        assert str(refused.value).startswith(f"{talk.url} closed the connection before it responded. To fix: check")


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again():
    async with talking(OK, OK) as talk, connected(talk.url) as here:
        await here.request("GET", "/", None)
        talk.hang_up()
        await _until(lambda: not here._idle[0].is_open)  # pyright: ignore[reportPrivateUsage]
        assert (await here.request("POST", "/", b"{}")).content == b"ok"
        assert talk.connections == 2


async def test_the_answer_to_a_request_that_was_given_up_is_not_taken_for_the_next():
    async with talking(b"", OK) as talk, connected(talk.url) as here:
        given_up = asyncio.ensure_future(here.request("GET", "/slow", None))
        await talk.asked.wait()
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        assert (await here.request("GET", "/next", None)).content == b"ok"
        assert talk.connections == 2


async def test_a_server_that_says_nothing_is_not_waited_for_for_ever():
    async with talking(b"") as talk, connected(talk.url, timeout=0.05) as here:
        with pytest.raises(httpx.ReadTimeout):
            await here.request("GET", "/", None)


async def test_no_server_is_a_connect_error():
    async with connected("http://127.0.0.1:1") as here:
        with pytest.raises(httpx.ConnectError):
            await here.request("GET", "/", None)


async def test_certificates_are_checked(tmp_path: Any):
    authority = Authority(tmp_path)
    trusting = ssl.create_default_context(cafile=authority.ca_file)
    async with talking(OK, tls=authority.server("localhost")) as talk:
        async with connected(talk.url, tls=trusting) as here:
            assert (await here.request("GET", "/", None)).content == b"ok"
        async with connected(talk.url, tls=ssl.create_default_context()) as here:
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await here.request("GET", "/", None)


async def test_a_proxy_of_the_environment_is_used_for_servers_elsewhere(monkeypatch: pytest.MonkeyPatch):
    async with talking(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n") as talk:
        monkeypatch.setenv("http_proxy", talk.url)
        async with Client("http://plait.example") as client:
            with pytest.raises(PlaitError) as refused:
                await client.queues.release("x")
    assert refused.value.code == "client.gateway"
    assert talk.heads[0].startswith("POST http://plait.example/api/v1/tasks/release")


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 -- the end of a connection wakes nobody
        await asyncio.sleep(0)
