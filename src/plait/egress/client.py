"""The guarded client: parse the URL, check the rules, resolve once, check again, connect to exactly that address.

    URL ── parse ──> Target ── rules ──> resolve ── rules ──> pinned address ── exchange ──> Response
                        ^                                                          │
                        └────────────────────── redirect: everything again ────────┘

One client serves one event loop. It takes nothing from the environment: no proxies, no `.netrc`, no cookies.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from functools import cached_property
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec import UNSET

from plait.extras import extra
from plait.kernel import values
from plait.kernel.errors import InvalidInput, TooLarge

from .body import Meter
from .errors import BadRequest, TimedOut, TooManyRedirects
from .headers import checked
from .messages import Request, Response
from .redirects import Hop
from .resolver import Resolver, SystemResolver, resolve
from .rules import Rules
from .sending import Sending
from .settings import EgressSettings
from .trust import Trust
from .url import Address, Target, parse_url

if TYPE_CHECKING:
    from .transport import Transport

Propagate = Callable[[dict[str, str]], object]
"""Adds headers to a request, such as `traceparent`: OpenTelemetry's `inject` is one."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_log = logging.getLogger("plait.egress")


class Egress:
    """Sends requests for workflows, under the operator's rules."""

    def __init__(
        self,
        settings: EgressSettings | None = None,
        *,
        resolver: Resolver | None = None,
        propagate: Propagate | None = None,
    ) -> None:
        self._settings = settings or EgressSettings()
        self._rules = Rules(self._settings)
        self._system = SystemResolver()
        self._resolver = resolver or self._system
        self._propagate = propagate
        self._trust = Trust(self._settings.ca_file)

    async def __aenter__(self) -> Egress:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes all connections."""
        if "_transport" in vars(self):
            await self._transport.aclose()
        self._system.close()

    @cached_property
    def _transport(self) -> Transport:
        """Created with the first request: without requests, no HTTP client needs to be installed."""
        with extra("http", "HTTP"):
            from .transport import Transport
        return Transport(self._settings, self._trust)

    def check(self, url: str) -> None:
        """Raises what `send` would raise for a URL before any lookup; used when a definition is registered."""
        self._rules.admit(parse_url(url))

    async def admitted(self, host: str, port: int) -> list[Address]:
        """Returns the checked addresses of a host, for callers that must connect with another client."""
        return await self._admitted(
            parse_url(f"https://[{host}]:{port}/" if ":" in host else f"https://{host}:{port}/")
        )

    @property
    def tls_context(self) -> SSLContext:
        """Returns the TLS context with the trusted certificate authorities."""
        return self._trust.context

    async def send(self, request: Request) -> Response:
        """Returns the answer, whatever its status; raises an error that tells whether to retry."""
        sending = self._prepare(request)
        try:
            async with asyncio.timeout(sending.seconds):
                return await self._follow(sending)
        except TimeoutError:
            raise TimedOut(
                f"{sending.first.target.origin} did not answer in time", why=f"not done after {sending.seconds:g} s"
            ) from None

    def _prepare(self, request: Request) -> Sending:
        method = request.method.upper()
        if method not in _METHODS:
            raise BadRequest(
                f"the method {request.method[:40]!r} can't be used", fix=f"use {', '.join(sorted(_METHODS))}"
            )
        target = parse_url(request.url)
        headers, body = self._compose(request)
        most = self._settings.max_response_bytes
        return Sending(
            first=Hop(target, method, headers, body),
            follow=request.follow_redirects,
            seconds=self._seconds(request),
            max_bytes=most if request.max_bytes is None else min(most, request.max_bytes),
            began=time.monotonic(),
            meter=Meter(),
        )

    async def _follow(self, sending: Sending) -> Response:
        hop = sending.first
        for redirects in range(self._settings.max_redirects + 1):
            answer = await self._ask(sending, hop, redirects)
            if isinstance(answer, Response):
                return answer
            hop = answer
        raise TooManyRedirects(
            f"{sending.first.target.origin} redirects too often", why=f"more than {self._settings.max_redirects} times"
        )

    async def _ask(self, sending: Sending, hop: Hop, redirects: int) -> Response | Hop:
        """Sends one hop: its addresses are resolved once and checked, and only those are connected to."""
        addresses = await self._admitted(hop.target)
        return await self._transport.ask(sending, hop, addresses, redirects)

    async def _admitted(self, target: Target) -> list[Address]:
        self._rules.admit(target)
        addresses = await self._addresses(target)
        self._rules.admit_addresses(target, addresses)
        return addresses

    async def _addresses(self, target: Target) -> list[Address]:
        seconds = self._settings.connect_timeout
        try:
            async with asyncio.timeout(seconds):
                return await resolve(self._resolver, target)
        except TimeoutError:
            raise TimedOut(
                f"{target.host} could not be resolved in time", why=f"no answer within {seconds:g} s"
            ) from None

    def _compose(self, request: Request) -> tuple[dict[str, str], bytes]:
        most = self._settings.max_header_bytes
        own = checked(request.headers, max_bytes=most)
        if request.idempotency_key is not None:
            own |= checked({"idempotency-key": request.idempotency_key}, max_bytes=most)
        headers = {"user-agent": self._settings.user_agent, "accept": "*/*", **self._propagated(), **own}
        body = _body(request, self._settings.max_request_bytes)
        if request.json is not UNSET:
            headers.setdefault("content-type", "application/json")
        return headers, body

    def _propagated(self) -> dict[str, str]:
        """Returns headers that propagate the trace. If that fails, the request is sent without them."""
        carrier: dict[str, str] = {}
        if self._propagate is not None:
            try:
                self._propagate(carrier)
                return checked(carrier, max_bytes=self._settings.max_header_bytes)
            except Exception as error:
                _log.warning("the headers of a trace could not be added to a request: %s", error)
        return {}

    def _seconds(self, request: Request) -> float:
        if request.timeout is None:
            return self._settings.timeout
        if not request.timeout > 0:
            raise BadRequest("the timeout of the request can't be used", fix="give seconds, more than 0")
        return min(request.timeout, self._settings.max_timeout)


def _body(request: Request, most: int) -> bytes:
    if request.json is UNSET:
        body = request.body or b""
    elif request.body is not None:
        raise BadRequest("the request has two bodies", fix="give json or body, not both")
    else:
        try:
            body = bytes(values.encode(request.json, max_bytes=most))
        except (InvalidInput, TooLarge) as error:
            raise BadRequest("the body of the request can't be sent as JSON", why=error.what, fix=error.fix) from None
    if len(body) > most:
        raise BadRequest("the body of the request is too large", why=f"it has {len(body):,} bytes of {most:,} allowed")
    return body
