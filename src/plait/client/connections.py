"""A pool of open connections to one server: the fast path for requests with small answers.

A worker's claim and report are one request each, and a general HTTP client takes longer over one than the server takes
to answer it. So this speaks just enough HTTP/1.1: no redirects, cookies, proxies or encodings. It raises the exceptions
of httpx, which handles the rest: streams, and servers behind a proxy.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

_AT_ONCE = 100
"""Maximum number of requests in progress; more wait for their turn."""
_BODILESS = (204, 304)
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    status_code: int
    headers: Mapping[str, str]
    """The headers, with names in lower case."""
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status_code < 400 and "location" in self.headers


class Connections:
    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        connect_timeout: float,
        timeout: float,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or (443 if tls else 80)
        self._fixed = _lines({"host": parts.netloc, **headers})
        self._connect_timeout, self._timeout = connect_timeout, timeout
        self._tls = tls
        self._idle: list[_Connection] = []
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def request(self, method: str, target: str, content: bytes | None) -> Answer:
        """Sends a request for `target`, a path and query. A request without an answer may still have taken effect."""
        async with self._turns:
            connection = self._ready() or await self._open()
            kept = False
            try:
                answer, kept = await connection.exchange(self._head(method, target, content), content or b"")
            finally:  # also when cancelled: an unread answer must not be taken for the next one
                if kept:
                    self._idle.append(connection)
                else:
                    connection.drop()
        return answer

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.drop()  # no request is in progress: TLS's closing handshake would only take time
        await asyncio.sleep(0)

    def _head(self, method: str, target: str, content: bytes | None) -> bytes:
        body = "" if content is None else f"content-type: application/json\r\ncontent-length: {len(content)}\r\n"
        return f"{method} {target} HTTP/1.1\r\n{self._fixed}{body}\r\n".encode("ascii")

    def _ready(self) -> _Connection | None:
        """Returns an idle connection that the server has not closed meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
            connection.drop()
        return None

    async def _open(self) -> _Connection:
        try:
            async with asyncio.timeout(self._connect_timeout):
                streams = await asyncio.open_connection(self._host, self._port, ssl=self._tls)
        except TimeoutError as error:
            raise httpx.ConnectTimeout("the connection timed out") from error
        except (OSError, ssl.SSLError) as error:
            raise httpx.ConnectError(str(error)) from error
        return _Connection(*streams, self._timeout)


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float) -> None:
        self._reader, self._writer = reader, writer
        self._timeout = timeout

    @property
    def is_open(self) -> bool:
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def exchange(self, head: bytes, content: bytes) -> tuple[Answer, bool]:
        """Returns the answer, and whether the connection can be reused."""
        try:
            self._writer.write(head + content)
            async with asyncio.timeout(self._timeout):
                await self._writer.drain()
            return await self._answer()
        except TimeoutError as error:
            raise httpx.ReadTimeout("no answer in time") from error
        except asyncio.IncompleteReadError as error:
            raise httpx.RemoteProtocolError("the server closed the connection") from error
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
        except (asyncio.LimitOverrunError, ValueError) as error:  # an endless head, or one that is not HTTP
            raise httpx.RemoteProtocolError("illegal response") from error

    def drop(self) -> None:
        self._writer.transport.abort()

    async def _answer(self) -> tuple[Answer, bool]:
        version, status, headers = await self._head()
        while 100 <= status < 200:  # an interim response
            version, status, headers = await self._head()
        kept = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        if status in _BODILESS:
            content = b""
        elif headers.get("transfer-encoding", "").lower() == "chunked":
            content = await self._chunks()
        elif "content-length" in headers:
            content = await self._exactly(int(headers["content-length"]))
        else:
            content, kept = await self._rest(), False
        return Answer(status, headers, content), kept

    async def _head(self) -> tuple[str, int, dict[str, str]]:
        try:
            head = await self._until(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if error.partial and not error.partial.startswith(b"HTTP/"):
                raise ValueError("not HTTP") from error
            raise
        first, *lines = head.decode("latin-1").split("\r\n")
        version, status, *_ = first.split(" ", 2)
        if version not in ("HTTP/1.1", "HTTP/1.0"):
            raise ValueError(version)
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return version, int(status), headers

    async def _chunks(self) -> bytes:
        found: list[bytes] = []
        while size := int((await self._until(b"\r\n")).partition(b";")[0], 16):
            found.append(await self._exactly(size))
            await self._until(b"\r\n")
        while await self._until(b"\r\n") != b"\r\n":
            pass  # a trailer
        return b"".join(found)

    async def _until(self, end: bytes) -> bytes:
        async with asyncio.timeout(self._timeout):
            return await self._reader.readuntil(end)

    async def _exactly(self, size: int) -> bytes:
        """Reads `size` bytes, however long that takes, as long as each read gets data in time."""
        found = bytearray()
        while len(found) < size:
            chunk = await self._some(size - len(found))
            if not chunk:
                raise asyncio.IncompleteReadError(bytes(found), size)
            found += chunk
        return bytes(found)

    async def _rest(self) -> bytes:
        found = bytearray()
        while chunk := await self._some(_CHUNK):
            found += chunk
        return bytes(found)

    async def _some(self, most: int) -> bytes:
        async with asyncio.timeout(self._timeout):
            return await self._reader.read(min(most, _CHUNK))


def _lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())
