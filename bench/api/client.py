"""A small HTTP/1.1 client: connections that are kept, requests that are bytes, answers that are a status and a body.

It does only what the load needs, and so costs little enough to leave the machine to the server.
"""

from __future__ import annotations

import asyncio
import collections
from typing import Any

from bench.api.orders import API

PATIENCE = 30.0


class Broken(Exception):
    """The connection could not be made, or ended before the answer."""


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        length = length_of(head)
        if len(rest) >= length and self._answer is not None and not self._answer.done():
            self._buffer = rest[length:]
            self._answer.set_result((int(head[9:12]), rest[:length]))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Broken("the connection ended"))

    @property
    def usable(self) -> bool:
        return not self._transport.is_closing()

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        self._transport.close()


def length_of(head: bytes) -> int:
    start = head.lower().find(b"content-length:")
    return 0 if start < 0 else int(head[start + 15 :].partition(b"\r\n")[0])


class Client:
    """A bounded number of connections to one server; who finds none free waits in line."""

    def __init__(self, port: int, key: str, most: int) -> None:
        self._port = port
        self._free = collections.deque[Connection]()
        self._places = asyncio.Semaphore(most)
        self.common = f"host: 127.0.0.1:{port}\r\nauthorization: Bearer {key}\r\n"

    async def get(self, path: str) -> tuple[int, bytes]:
        return await self.ask(f"GET {API}{path} HTTP/1.1\r\n{self.common}\r\n".encode())

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        head = f"POST {API}{path} HTTP/1.1\r\n{self.common}content-type: application/json\r\n"
        return await self.ask(b"%scontent-length: %d\r\n\r\n%s" % (head.encode(), len(body), body))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Raises `Broken` when there is no answer."""
        async with self._places:
            connection = await self._connection()
            try:
                async with asyncio.timeout(PATIENCE):
                    answer = await connection.ask(request)
            except TimeoutError:
                connection.close()
                raise Broken(f"no answer within {PATIENCE:.0f} s") from None
            self._free.append(connection)
            return answer

    async def _connection(self) -> Connection:
        while self._free:
            found = self._free.pop()
            if found.usable:
                return found
        try:
            loop = asyncio.get_running_loop()
            _, made = await loop.create_connection(Connection, "127.0.0.1", self._port)
        except OSError as error:
            raise Broken(str(error)) from None
        return made

    def close(self) -> None:
        for each in self._free:
            each.close()
