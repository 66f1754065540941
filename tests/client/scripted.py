"""A server that says what a test tells it to: for answers and failures that a real one can't be made to give."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import cast

HANG, DROP = b"hang", b"drop"
"""Instead of an answer: none at all, or an end of the connection."""


def answer(body: str, status: str = "200 OK", kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body.encode())}\r\nconnection: close\r\n"
    return f"{head}{more}\r\n{body}".encode()


def stream(*frames: str) -> bytes:
    """Server-sent events, and then the connection ends, as if the server had died."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return (head + "".join(f"{len(frame.encode()):x}\r\n{frame}\r\n" for frame in frames)).encode()


@dataclass
class Scripted:
    url: str = ""
    asked: list[str] = field(default_factory=list[str])
    """The first line of each request."""


@asynccontextmanager
async def scripted(*answers: bytes) -> AsyncGenerator[Scripted]:
    """Gives these answers, one a connection."""
    found, left, serving = Scripted(), list(answers), list[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(cast("asyncio.Task[None]", asyncio.current_task()))
        head = await reader.readuntil(b"\r\n\r\n")
        found.asked.append(head.split(b"\r\n")[0].decode().removesuffix(" HTTP/1.1"))
        given = left.pop(0)
        if given == HANG:
            await reader.read()
        elif given != DROP:
            writer.write(given)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield found
        await asyncio.gather(*serving)
