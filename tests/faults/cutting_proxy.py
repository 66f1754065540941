"""A way to a server that breaks between a request and its answer: what was asked is done, and nobody hears of it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit


class CuttingProxy:
    def __init__(self, url: str) -> None:
        found = urlsplit(url)
        self._host, self._port = found.hostname, found.port
        self.url = ""
        self.cuts: dict[bytes, int] = {}
        """How many answers are cut, by what is in the request."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(self._host, self._port)
        cut = asyncio.Event()
        ways = [
            asyncio.ensure_future(self._ask(reader, requests, cut)),
            asyncio.ensure_future(_answer(answers, writer, cut)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for each in (requests, writer):
                each.transport.abort()

    async def _ask(self, reader: asyncio.StreamReader, requests: asyncio.StreamWriter, cut: asyncio.Event) -> None:
        while chunk := await reader.read(2**20):
            for part in [part for part, left in self.cuts.items() if left and part in chunk]:
                self.cuts[part] -= 1
                cut.set()
            requests.write(chunk)
            await requests.drain()


async def _answer(answers: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: asyncio.Event) -> None:
    while (chunk := await answers.read(2**20)) and not cut.is_set():
        writer.write(chunk)
        await writer.drain()


@contextlib.asynccontextmanager
async def cutting(url: str) -> AsyncGenerator[CuttingProxy]:
    proxy = CuttingProxy(url)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
