"""What applies to every request: request ids, security headers, the Host and Origin checks of an open server.

An open server trusts whoever can reach it, and so can a web page in a browser on the same machine. So it answers
only to its own host names (against DNS rebinding) and accepts changes only from its own pages.
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

from plait.api.problem import MEDIA_TYPE
from plait.observe import context

from . import problem
from .argyll.paths import is_mounted
from .auth.loopback import is_loopback
from .auth.origins import SAFE_METHODS, cross_origin, origin_of
from .errors import BadRequest, Forbidden, HttpError
from .headers import NO_STORE, SECURITY
from .site import Site

_PORT = re.compile(r":[0-9]*\Z")


class Middleware:
    def __init__(self, site: Site, app: ASGIApp) -> None:
        self._site = site
        self._app = app
        self._hosts = _Hosts(site.settings.public_url)
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
            self._check_host_and_origin(scope, Headers(scope=scope))
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
            self._check_host_and_origin(scope, headers)
        except HttpError as error:
            await _refuse(error, request_id, sending)
            return
        bind_contextvars(request_id=request_id)  # for the logs; each request is a task with a context of its own
        await self._app(scope, receive, sending)

    def _check_host_and_origin(self, scope: Scope, headers: Headers) -> None:
        """Argyll's clients may be pages of any site; they still have to use one of this machine's host names."""
        _check_single_host(headers)
        settings = self._site.settings
        mounted = is_mounted(scope["path"])
        if settings.open or (mounted and settings.argyll == "local"):
            self._hosts.check_host(headers)
        if settings.open and not mounted:
            self._hosts.check_origin(scope.get("method", "GET"), headers)


def _check_single_host(headers: Headers) -> None:
    """With two, a proxy in front of us may have used the other one."""
    if len(headers.getlist("host")) > 1:
        raise BadRequest("http.two_hosts", "the request has two Host headers", fix="send one Host header")


def _with_headers(send: Send, request_id: str) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] += [*SECURITY, (b"x-request-id", request_id.encode())]
        await send(message)

    return sending


async def _refuse(error: HttpError, request_id: str, send: Send) -> None:
    body = msgspec.json.encode(problem.problem_of(error, request_id))
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body)), NO_STORE]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Hosts:
    """The host names an open server answers to: those of this machine, and its public one."""

    def __init__(self, public_url: str) -> None:
        self._public = urlsplit(public_url).netloc.lower()
        self._origins = (origin_of(public_url),) if public_url else ()
        self._ours = lru_cache(256)(self._is_ours)

    def check_host(self, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        if not self._ours(host):
            raise Forbidden(
                "http.foreign_host",
                f"host {host[:80]!r} is not allowed",
                why="this server has no access control and answers only to local names",
                fix="use http://127.0.0.1, or set the address with --public-url",
            )

    def check_origin(self, method: str, headers: Headers) -> None:
        if method not in SAFE_METHODS and (why := cross_origin(headers, self._origins)):
            raise Forbidden(
                "http.foreign_origin",
                "changes from pages of other sites are not allowed",
                why=why,
                fix="use this server's own pages",
            )

    def _is_ours(self, host: str) -> bool:
        name = _PORT.sub("", host)
        return is_loopback(name) or name.endswith(".localhost") or (bool(self._public) and host == self._public)
