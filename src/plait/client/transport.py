"""Requests to a server. What does no harm twice is sent again when the connection broke or the server is busy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar

import httpx
import msgspec

import plait
from plait.kernel.errors import InvalidInput, PlaitError

from .address import Address
from .errors import is_passing, not_plait, refusal_of, unreachable, unreadable
from .stream import Frame, Frames

T = TypeVar("T")

TRIES = 3
_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
TIMEOUT = 30.0
"""Seconds that a server may take to answer."""
_CONNECTING = 5.0
_SILENCE = 45.0
"""Seconds without a sign of life on a stream: three heartbeats of a server."""

Query = Mapping[str, str | int | list[str] | None]


class Transport:
    def __init__(self, url: str, key: str | None = None, timeout: float = TIMEOUT) -> None:
        self.address = Address.of(url)
        self._http = httpx.AsyncClient(
            headers=_headers(key),
            timeout=httpx.Timeout(timeout, connect=_CONNECTING),
            trust_env=not self.address.local,
            verify=self.address.foreign,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, path: str, shape: type[T], query: Query | None = None) -> T:
        return self._read(await self._ask("GET", path, query, again=True), shape)

    async def post(
        self, path: str, shape: type[T], body: Mapping[str, Any], query: Query | None = None, *, again: bool = False
    ) -> T:
        """`again`: it does no harm twice. Fields of the body that are None are left out."""
        given = {name: value for name, value in body.items() if value is not None}
        return self._read(await self._ask("POST", path, query, given, again=again), shape)

    async def delete(self, path: str, shape: type[T], query: Query | None = None) -> T:
        return self._read(await self._ask("DELETE", path, query, again=False), shape)

    @asynccontextmanager
    async def listen(self, path: str, query: Query) -> AsyncGenerator[AsyncIterator[list[Frame]]]:
        """Frames as they come, those of one piece together; none for a sign of life."""
        headers = {"accept": "text/event-stream"}
        try:
            timeout = httpx.Timeout(_SILENCE, connect=_CONNECTING)
            asking = self._http.stream("GET", path, params=_given(query), headers=headers, timeout=timeout)
            async with asking as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise refusal_of(answer, self.address.url)
                yield _pieces(answer)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(error, self.address.url) from None

    async def _ask(
        self, method: str, path: str, query: Query | None, body: object = None, *, again: bool
    ) -> httpx.Response:
        tries = TRIES if again else 1
        for number in range(1, tries + 1):
            found = await self._try(method, path, query, body)
            if isinstance(found, httpx.Response) and found.is_success:
                return found
            error = found if isinstance(found, PlaitError) else refusal_of(found, self.address.url)
            if number == tries or not is_passing(error):
                raise error
            await asyncio.sleep(_pause(found, number))
        raise AssertionError("unreachable")

    async def _try(self, method: str, path: str, query: Query | None, body: object) -> httpx.Response | PlaitError:
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            return await self._http.request(method, path, params=_given(query), content=content, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return unreachable(error, self.address.url)

    def _read(self, answer: httpx.Response, shape: type[T]) -> T:
        try:
            return _decoder(shape).decode(answer.content)
        except msgspec.ValidationError as error:
            raise unreadable(error) from None
        except msgspec.DecodeError:
            kind = answer.headers.get("content-type", "something else").partition(";")[0]
            raise not_plait(self.address.url, f"it answers with {kind[:80]}, not with JSON") from None


def decode(data: bytes, shape: type[T]) -> T:
    """Of a frame."""
    try:
        return _decoder(shape).decode(data)
    except msgspec.DecodeError as error:
        raise unreadable(error) from None


@cache
def _decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(shape)


def _headers(key: str | None) -> dict[str, str]:
    found = {"accept": "application/json", "user-agent": f"plait/{plait.__version__}"}
    if key:
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InvalidInput("client.bad_key", "the key holds characters that no key has", fix="copy it as a whole")
        found["authorization"] = f"Bearer {key}"
    return found


def _given(query: Query | None) -> dict[str, Any]:
    return {name: value for name, value in (query or {}).items() if value is not None}


async def _pieces(answer: httpx.Response) -> AsyncIterator[list[Frame]]:
    frames = Frames()
    async for piece in answer.aiter_bytes():
        yield frames.feed(piece)


def _pause(found: httpx.Response | PlaitError, number: int) -> float:
    later = found.headers.get("retry-after", "") if isinstance(found, httpx.Response) else ""
    return min(float(later), _LONGEST_PAUSE) if later.isdigit() else _PAUSE * number
