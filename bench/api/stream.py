"""Reading server-sent events from a socket: chunks, frames, and the end of the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec

from bench.api.client import Broken
from bench.api.orders import API

SILENCE = 40.0
"""Seconds without a sign of life after which a stream counts as dead; the server gives one every 15."""


class Frame(msgspec.Struct, frozen=True):
    event: str
    id: int
    data: bytes


@asynccontextmanager
async def watching(port: int, common: str, path: str, last: int = 0) -> AsyncGenerator[AsyncGenerator[Frame]]:
    """Frames as they come. They end when the server ends the stream; `Broken` when it breaks off."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    except OSError as error:
        raise Broken(str(error)) from None
    resume = f"last-event-id: {last}\r\n" if last else ""
    head = f"GET {API}{path} HTTP/1.1\r\n{common}accept: text/event-stream\r\n{resume}\r\n"
    try:
        writer.write(head.encode())
        yield _frames(reader)
    except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
        raise Broken(f"{type(error).__name__}") from None
    finally:
        writer.close()


async def _frames(reader: asyncio.StreamReader) -> AsyncGenerator[Frame]:
    async with asyncio.timeout(SILENCE):
        head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head[:16]:
        raise Broken(head.partition(b"\r\n")[0].decode())
    text = b""
    while chunk := await _chunk(reader):
        text += chunk
        *whole, text = text.split(b"\n\n")
        for each in whole:
            if (found := _frame(each)) is not None:
                yield found


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(SILENCE):
        size = int(await reader.readuntil(b"\r\n"), 16)
        return (await reader.readexactly(size + 2))[:-2]


def _frame(text: bytes) -> Frame | None:
    event, id, data = "message", 0, b""
    for line in text.split(b"\n"):
        name, _, value = line.partition(b": ")
        match name:
            case b"event":
                event = value.decode()
            case b"id":
                id = int(value)
            case b"data":
                data = value
            case _:
                pass
    return Frame(event, id, data) if data else None
