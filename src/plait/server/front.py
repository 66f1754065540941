"""What every answer has, and what no request gets past: request ids, security headers, the checks of an open server.

An open server trusts whoever reaches it, and a web page in a browser on the same machine reaches it, too. So it
only answers to its own names (a page whose name was pointed at 127.0.0.1 is refused) and takes changes only from
its own pages.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from urllib.parse import urlsplit

import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from plait.observe import context

from . import problem
from .argyll.paths import is_mounted
from .auth.opening import is_loopback
from .auth.origins import SAFE, foreign, origin_of
from .errors import BadRequest, Forbidden, HttpError
from .routes import NO_STORE
from .site import Site

HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; "
        b"base-uri 'none'; form-action 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_PORT = re.compile(r":[0-9]*\Z")


class Front:
    def __init__(self, site: Site, app: ASGIApp) -> None:
        self._site = site
        self._app = app
        self._names = _Names(site.settings.public_url)
        self._tls = site.settings.public_url.startswith("https://")
        """A proxy ends TLS in front of us: cookies must still be for TLS only."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http":  # lifespan is not ours
            await self._request(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Only the mount has sockets."""
        try:
            self._must_be_for_us(scope, Headers(scope=scope))
        except HttpError:
            await send({"type": "websocket.close"})  # the client sees 403
            return
        await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        request_id = context.request_id(headers.get("x-request-id"))
        if self._tls:
            scope["scheme"] = "https"
        scope["state"] = {"request_id": request_id}
        sending = _with_headers(send, request_id)
        try:
            self._must_be_for_us(scope, headers)
        except HttpError as error:
            await _refuse(error, request_id, sending)
            return
        bind_contextvars(request_id=request_id)  # for the logs; each request is a task with a context of its own
        await self._app(scope, receive, sending)

    def _must_be_for_us(self, scope: Scope, headers: Headers) -> None:
        """Argyll's clients may be pages of any site; they must still call this machine by a name of its own."""
        _must_have_one_name(headers)
        settings = self._site.settings
        mounted = is_mounted(scope["path"])
        if settings.open or (mounted and settings.argyll == "local"):
            self._names.check_host(headers)
        if settings.open and not mounted:
            self._names.check_origin(scope.get("method", "GET"), headers)


def _must_have_one_name(headers: Headers) -> None:
    """Of two, whoever stands before us may have believed the other one."""
    if len(headers.getlist("host")) > 1:
        raise BadRequest("http.two_hosts", "the request names two hosts", fix="send one Host header")


def _with_headers(send: Send, request_id: str) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] += [*HEADERS, (b"x-request-id", request_id.encode())]
        await send(message)

    return sending


async def _refuse(error: HttpError, request_id: str, send: Send) -> None:
    body = msgspec.json.encode(problem.problem_of(error, request_id))
    headers = [(b"content-type", problem.MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body)), NO_STORE]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Names:
    """The names an open server answers to: those of this machine, and the one it was told."""

    def __init__(self, public_url: str) -> None:
        self._public = urlsplit(public_url).netloc.lower()
        self._origins = (origin_of(public_url),) if public_url else ()
        self._ours = lru_cache(256)(self._is_ours)

    def check_host(self, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        if not self._ours(host):
            raise Forbidden(
                "http.foreign_host",
                f"this server does not answer to {host[:80]!r}",
                why="it is open to everybody on this machine, and to nobody else",
                fix="use http://127.0.0.1, or name the address with --public-url",
            )

    def check_origin(self, method: str, headers: Headers) -> None:
        if method not in SAFE and (why := foreign(headers, self._origins)):
            raise Forbidden(
                "http.foreign_origin",
                "a page of another site may not change anything here",
                why=why,
                fix="use the page this server gives",
            )

    def _is_ours(self, host: str) -> bool:
        name = _PORT.sub("", host)
        return is_loopback(name) or name.endswith(".localhost") or (bool(self._public) and host == self._public)
