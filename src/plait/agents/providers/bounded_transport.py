"""A transport that reads no more bytes than the operator allows and refuses compressed responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from plait.egress import Egress
from plait.egress.httpx_transport import GuardedTransport


class BoundedTransport(GuardedTransport):
    def __init__(self, egress: Egress, most: int) -> None:
        super().__init__(egress)
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.RemoteProtocolError("the answer is encoded in a way that was not asked for", request=request)
        response.stream = _BoundedStream(response.stream, self._most, request)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, most: int, request: httpx2.Request) -> None:
        self._stream = stream
        self._most = most
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                what = f"the answer has more than {self._most:,} bytes"
                raise httpx2.RemoteProtocolError(what, request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
