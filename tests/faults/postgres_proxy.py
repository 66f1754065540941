"""A way to PostgreSQL that fails while a commit is on its way: it cuts before the server has it, keeps the answer to
itself and cuts, or lets the answer wait.

It reads the frontend's messages as far as it must: `Parse` says which statement writes logs, `Bind` that it is used.
"""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

Fault = Literal["cut", "drop", "stall"]
FAULTS: tuple[Fault, ...] = ("cut", "drop", "stall")
_STALL = 0.1
"""Seconds."""
_WRITES_LOGS = b"insert into plait.log"


class PostgresProxy:
    def __init__(self, url: str, seed: int, most: int) -> None:
        found = urlsplit(url)
        self._host, self._port, self._parts = found.hostname, found.port, found
        self._random = random.Random(seed)
        self._most = most
        self.faults: Counter[Fault] = Counter()
        self.url = ""

    def listens_at(self, port: int) -> None:
        place = f"{self._parts.username}@127.0.0.1:{port}"
        self.url = urlunsplit(self._parts._replace(netloc=place, query="sslmode=disable"))

    def draw(self) -> Fault | None:
        """What happens to a commit."""
        if self.faults.total() >= self._most or self._random.random() > 0.3:
            return None
        fault = self._random.choice(FAULTS)
        self.faults[fault] += 1
        return fault

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(self._host, self._port)
        way = _Way(self, reader, writer, answers, requests)
        both = [asyncio.ensure_future(way.ask()), asyncio.ensure_future(way.answer())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            for end in (requests, writer):
                end.transport.abort()


class _Way:
    """One connection."""

    def __init__(
        self,
        proxy: PostgresProxy,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answers: asyncio.StreamReader,
        requests: asyncio.StreamWriter,
    ) -> None:
        self._proxy, self._reader, self._writer = proxy, reader, writer
        self._answers, self._requests = answers, requests
        self._commits: set[bytes] = set()
        """Names of prepared statements."""
        self._started = False
        self._fault: Fault | None = None

    async def ask(self) -> None:
        waiting = b""
        while chunk := await self._reader.read(2**20):
            waiting += chunk
            messages, waiting = self._split(waiting)
            fault = self._proxy.draw() if any(list(map(self._is_commit, messages))) else None
            if fault == "cut":
                return
            self._fault = fault
            self._requests.write(b"".join(messages))
            await self._requests.drain()

    async def answer(self) -> None:
        while chunk := await self._answers.read(2**20):
            if self._fault == "drop":
                return
            if self._fault == "stall":
                self._fault = None
                await asyncio.sleep(_STALL)
            self._writer.write(chunk)
            await self._writer.drain()

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        """Whole messages, and the rest. The first of a connection has no type."""
        found: list[bytes] = []
        while True:
            head = 1 if self._started else 0
            if len(data) < head + 4:
                return found, data
            size = head + int.from_bytes(data[head : head + 4])
            if len(data) < size:
                return found, data
            self._started = True
            found.append(data[:size])
            data = data[size:]

    def _is_commit(self, message: bytes) -> bool:
        match message[:1]:
            case b"P":
                name, sql, *_ = message[5:].split(b"\0")
                if _WRITES_LOGS in sql:
                    self._commits.add(name)
            case b"B":
                _, name, *_ = message[5:].split(b"\0")
                return name in self._commits
            case _:
                pass
        return False


@contextlib.asynccontextmanager
async def failing(url: str, *, seed: int, most: int) -> AsyncGenerator[PostgresProxy]:
    """Lets `most` commits fail."""
    proxy = PostgresProxy(url, seed, most)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.listens_at(server.sockets[0].getsockname()[1])
    try:
        yield proxy
    finally:
        server.close()
