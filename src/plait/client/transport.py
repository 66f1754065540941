"""Requests to a server. Idempotent ones are sent again when the connection breaks or the server is busy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies

import httpx
import msgspec

from plait.api.transport import Parameters
from plait.kernel.errors import InvalidInput, PlaitError
from plait.kernel.version import __version__

from .address import Address
from .connections import Answer, Connections
from .errors import error_of, is_transient, not_plait, unreachable, unreadable
from .sse import Frame, Frames

T = TypeVar("T")

ATTEMPTS = 3
_PAUSE, _MAX_PAUSE = 0.2, 5.0
TIMEOUT = 30.0
"""Seconds that a server may take to respond."""
_CONNECT_TIMEOUT = 5.0
_STREAM_TIMEOUT = 45.0
"""Seconds without data after which a stream counts as broken: three heartbeats of a server."""


class HttpTransport:
    def __init__(self, url: str, key: str | None = None, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        self.address = Address.of(url)
        headers, local = _headers(key), self.address.local
        tls = httpx.create_ssl_context(trust_env=not local) if self.address.needs_certificate else False
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=_CONNECT_TIMEOUT),
            trust_env=not local,
            verify=tls,
        )
        origin = urlsplit(self.address.url)
        self._origin = f"{origin.scheme}://{origin.netloc}"
        self._direct = None
        if _is_plain(self._origin) and (local or not getproxies()):
            context = tls if tls and origin.scheme == "https" else None
            self._direct = Connections(
                self._origin, headers, connect_timeout=_CONNECT_TIMEOUT, timeout=timeout, tls=context
            )

    async def close(self) -> None:
        if self._direct is not None:
            await self._direct.close()
        await self._http.aclose()

    def path(self, *parts: str) -> str:
        return self.address.path(*parts)

    async def get(self, path: str, shape: type[T], query: Parameters | None = None) -> T:
        return self._read(await self._send("GET", path, query, idempotent=True), shape)

    async def post(
        self,
        path: str,
        shape: type[T],
        body: Mapping[str, Any],
        query: Parameters | None = None,
        *,
        idempotent: bool = False,
    ) -> T:
        """Sends a POST; leaves out fields of the body that are None."""
        return self._read(await self._send("POST", path, query, _filled(body), idempotent=idempotent), shape)

    async def put(self, path: str, shape: type[T], body: Mapping[str, Any], query: Parameters | None = None) -> T:
        return self._read(await self._send("PUT", path, query, _filled(body), idempotent=True), shape)

    async def delete(self, path: str, shape: type[T], query: Parameters | None = None) -> T:
        return self._read(await self._send("DELETE", path, query, idempotent=False), shape)

    @asynccontextmanager
    async def listen(self, path: str, query: Parameters) -> AsyncGenerator[AsyncIterator[list[Frame]]]:
        """Yields frames as they arrive, those of one chunk together; an empty list for heartbeats alone."""
        headers = {"accept": "text/event-stream"}
        try:
            timeout = httpx.Timeout(_STREAM_TIMEOUT, connect=_CONNECT_TIMEOUT)
            response = self._http.stream("GET", path, params=_given(query), headers=headers, timeout=timeout)
            async with response as answer:
                if not answer.is_success:
                    content = await answer.aread()
                    raise error_of(Answer(answer.status_code, answer.headers, content), self.address.url)
                yield _chunks(answer)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(error, self.address.url) from None

    async def _send(
        self, method: str, path: str, query: Parameters | None, body: object = None, *, idempotent: bool
    ) -> Answer:
        attempts = ATTEMPTS if idempotent else 1
        for number in range(1, attempts + 1):
            found = await self._send_once(method, path, query, body)
            if isinstance(found, Answer) and found.is_success:
                return found
            error = found if isinstance(found, PlaitError) else error_of(found, self.address.url)
            if number == attempts or not is_transient(error):
                raise error
            await asyncio.sleep(_pause(found, number))
        raise AssertionError("unreachable")

    async def _send_once(self, method: str, path: str, query: Parameters | None, body: object) -> Answer | PlaitError:
        content = None if body is None else msgspec.json.encode(body)
        try:
            if self._direct is not None:
                return await self._direct.request(method, self._target(path, query), content)
            return await self._by_httpx(method, path, query, content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return unreachable(error, self.address.url)

    def _target(self, path: str, query: Parameters | None) -> str:
        target, given = path.removeprefix(self._origin), _given(query)
        return f"{target}?{urlencode(given, doseq=True)}" if given else target

    async def _by_httpx(self, method: str, path: str, query: Parameters | None, content: bytes | None) -> Answer:
        headers = {} if content is None else {"content-type": "application/json"}
        found = await self._http.request(method, path, params=_given(query), content=content, headers=headers)
        return Answer(found.status_code, found.headers, found.content)

    def _read(self, answer: Answer, shape: type[T]) -> T:
        try:
            return _decoder(shape).decode(answer.content)
        except msgspec.ValidationError as error:
            raise unreadable(error) from None
        except msgspec.DecodeError:
            kind = answer.headers.get("content-type", "another type").partition(";")[0]
            raise not_plait(self.address.url, f"it responds with {kind[:80]}, not with JSON") from None


def decode(data: bytes, shape: type[T]) -> T:
    """Decodes the data of a frame."""
    try:
        return _decoder(shape).decode(data)
    except msgspec.DecodeError as error:
        raise unreadable(error) from None


@cache
def _decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(shape)


def _headers(key: str | None) -> dict[str, str]:
    found = {"accept": "application/json", "user-agent": f"plait/{__version__}"}
    if key:
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InvalidInput("client.bad_key", "the key contains invalid characters", fix="copy the whole key")
        found["authorization"] = f"Bearer {key}"
    return found


def _filled(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _is_plain(origin: str) -> bool:
    """Whether the origin can be part of a request without encoding."""
    return origin.isascii() and origin.isprintable() and " " not in origin


def _given(query: Parameters | None) -> dict[str, Any]:
    return {name: value for name, value in (query or {}).items() if value is not None}


async def _chunks(answer: httpx.Response) -> AsyncIterator[list[Frame]]:
    frames = Frames()
    async for chunk in answer.aiter_bytes():
        yield frames.feed(chunk)


def _pause(found: Answer | PlaitError, number: int) -> float:
    later = found.headers.get("retry-after", "") if isinstance(found, Answer) else ""
    return min(float(later), _MAX_PAUSE) if later.isdigit() else _PAUSE * number
