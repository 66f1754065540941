"""Sends one hop to addresses that the rules have admitted. Everything that needs httpcore is below this module, which
is imported with the first request."""

from __future__ import annotations

import time
from collections.abc import Sequence

import httpcore

from .body import read_body
from .connections import Connections
from .errors import AnswerTooLarge, ProtocolError
from .exchange import Unreached, exchange
from .messages import NO_HEADERS, Headers, Response
from .redirects import Hop, next_hop
from .sending import Sending
from .settings import EgressSettings
from .trust import Trust
from .url import Address, Target

_ADDRESSES_TRIED = 3


class Transport:
    """Keeps connections and sends requests on them."""

    def __init__(self, settings: EgressSettings, trust: Trust) -> None:
        self._settings = settings
        self._connections = Connections(settings, trust)

    async def aclose(self) -> None:
        await self._connections.aclose()

    async def ask(self, sending: Sending, hop: Hop, addresses: Sequence[Address], redirects: int) -> Response | Hop:
        """Returns the answer, or the hop it redirects to. Tries the addresses until one accepts the connection."""
        tried = addresses[:_ADDRESSES_TRIED]
        for address in tried[:-1]:
            try:
                return await self._talk(sending, hop, address, redirects, share=len(tried))
            except Unreached:
                continue
        try:
            return await self._talk(sending, hop, tried[-1], redirects, share=len(tried))
        except Unreached as unreached:
            raise unreached.error from None

    async def _talk(
        self, sending: Sending, hop: Hop, address: Address, redirects: int, *, share: int
    ) -> Response | Hop:
        timeouts = self._settings.connect_timeout / share, self._settings.first_byte_timeout
        async with (
            self._connections.use(hop.target, address) as connection,
            exchange(connection, hop, *timeouts) as answer,
        ):
            sending.meter.sent += len(hop.body)
            headers = self._headers(hop.target, answer)
            following = next_hop(hop, answer.status, headers) if sending.follow else None
            if following is not None:
                return following
            bodiless = hop.method == "HEAD" or answer.status in (204, 304)
            body = await read_body(
                answer.aiter_stream(), NO_HEADERS if bodiless else headers, limit=sending.max_bytes, meter=sending.meter
            )
        return Response(
            status=answer.status,
            headers=headers,
            body=body,
            url=hop.target.url,
            address=str(address),
            redirects=redirects,
            bytes_sent=sending.meter.sent,
            bytes_received=sending.meter.received,
            ms=(time.monotonic() - sending.began) * 1000,
        )

    def _headers(self, target: Target, answer: httpcore.Response) -> Headers:
        if answer.status < 200:
            raise ProtocolError(f"{target.origin} wants to speak another protocol", why=f"status {answer.status}")
        if sum(len(name) + len(value) + 4 for name, value in answer.headers) > self._settings.max_header_bytes:
            raise AnswerTooLarge(
                f"{target.origin} answers with headers that are too large",
                why=f"more than {self._settings.max_header_bytes:,} bytes",
            )
        return Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers)
