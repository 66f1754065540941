"""Bytes to a server and back, for requests that no proper client sends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from tests.server.serving import Served

HOST = b"host: localhost\r\n"
JSON = HOST + b"content-type: application/json\r\n"
START = b"POST /api/v1/runs HTTP/1.1\r\n" + JSON
BODY = b'{"definition": "echo", "input": 1}'


def posted(body: bytes = BODY, head: bytes = b"") -> bytes:
    return START + head + b"content-length: %d\r\n\r\n" % len(body) + body


def got(path: bytes, head: bytes = b"") -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\n" + HOST + head + b"\r\n"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json", self
        found = json.loads(self.body)
        assert (found["status"], found["type"]) == (self.status, f"urn:plait:error:{found['code']}")
        return found


class Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # it may refuse the rest; what it answered counts
            self._writer.write(data)
            await self._writer.drain()

    async def reply(self) -> Reply:
        """The next answer; those that only say `go on` are passed over."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split()[1])
        if status == 100:
            return await self.reply()
        return Reply(status, headers, await self._body(headers))

    async def _body(self, headers: dict[str, str]) -> bytes:
        if "content-length" in headers:
            return await self._reader.readexactly(int(headers["content-length"]))
        return await self._reader.read() if headers.get("connection") == "close" else b""

    async def is_closed(self) -> bool:
        """Waits for the other side to end the connection, whatever it says before."""
        with contextlib.suppress(ConnectionError):
            await self._reader.read()
        return True

    def reset(self) -> None:
        """Breaks the connection off as a crash of the client does."""
        found: socket.socket = self._writer.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()


@contextlib.asynccontextmanager
async def wire(served: Served) -> AsyncGenerator[Wire]:
    host, port = served.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**24)
    found = Wire(reader, writer)
    try:
        yield found
    finally:
        found.close()


async def exchange(served: Served, data: bytes) -> Reply:
    async with wire(served) as line:
        await line.send(data)
        return await line.reply()
