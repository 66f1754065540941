"""Real web servers on loopback addresses, small enough to misbehave in any way a test wants."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Caller:
    """The other end of a connection, for answers that are not plain."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def gone(self) -> None:
        """Returns when the client hangs up."""
        with suppress(ConnectionError):
            while await self._reader.read(1024):
                pass


Answer = Callable[[Asked, Caller], Awaitable[bytes | None]]
"""Gives the whole answer, or writes it by itself and gives None: the connection is then closed."""


@dataclass
class Site:
    host: str
    port: int
    scheme: str
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    servers_name: list[str | None] = field(default_factory=list)
    """What clients called it in their TLS greetings."""

    def url(self, path: str = "/", host: str | None = None) -> str:
        return f"{self.scheme}://{host or self.host}:{self.port}{path}"


def http(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("utf-8") + body


async def hello(asked: Asked, _: Caller) -> bytes:
    return http(body=b"hello")


async def silence(asked: Asked, caller: Caller) -> None:
    await caller.gone()


@asynccontextmanager
async def site(
    answer: Answer = hello, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Site]:
    found = Site(host, port, "http" if tls is None else "https")
    if tls is not None:
        tls.sni_callback = lambda _, name, __: found.servers_name.append(name)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        found.connections += 1
        try:
            while (asked := await _read(reader)) is not None:
                found.asked.append(asked)
                said = await answer(asked, Caller(reader, writer))
                if said is None:
                    break
                writer.write(said)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(serve, host, port, ssl=tls)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))
