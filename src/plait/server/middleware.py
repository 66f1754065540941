"""What applies to every request: request ids, security headers, the Host and Origin checks of an open server.

An open server trusts whoever can reach it, and so can a web page in a browser on the same machine. So it answers
only to its own host names (against DNS rebinding) and accepts changes only from its own pages.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable
from functools import lru_cache, partial
from urllib.parse import urlsplit

import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from plait.api.problem import MEDIA_TYPE
from plait.api.route import API

from . import problem
from .argyll.app import Mount
from .argyll.paths import is_mounted
from .auth.loopback import is_loopback
from .auth.origins import SAFE_METHODS, cross_origin, origin_of
from .dispatch import Dispatcher
from .errors import BadRequest, Forbidden, HttpError
from .headers import NO_STORE, SECURITY
from .site import Site

_API = f"{API}/"
_PORT = re.compile(r":[0-9]*\Z")
_USABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class Middleware:
    """In front of the API, the mount and the UI. It returns what they return, and is in the way of none of their
    awaits."""

    def __init__(self, site: Site, api: Dispatcher, mount: Mount, pages: ASGIApp) -> None:
        self._api, self._mount, self._pages = api, mount, pages
        self._settings = site.settings
        self._hosts = _Hosts(site.settings.public_url)
        self._tls = site.settings.public_url.startswith("https://")
        """A proxy ends TLS in front of us: cookies must still be for TLS only."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        headers = Headers(scope=scope)
        if scope["type"] == "websocket":
            return self._socket(scope, headers, receive, send)
        id = request_id(headers.get("x-request-id"))
        if self._tls:
            scope["scheme"] = "https"
        scope["state"] = {"request_id": id}
        sending = partial(_send_with_headers, send, id)
        app = self._api if scope["path"].startswith(_API) else self._app_of(scope)
        try:
            self._check(scope, headers, mounted=app is self._mount)
        except HttpError as error:
            return _refuse(error, id, sending)
        bind_contextvars(request_id=id)  # for the logs; each request is a task with a context of its own
        return app(scope, receive, sending)

    def _app_of(self, scope: Scope) -> ASGIApp:
        path: str = scope["path"]
        if is_mounted(path):
            return self._mount
        return self._api if path == API or self._api.knows(scope) else self._pages

    async def _socket(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Only the mount has sockets."""
        try:
            self._check(scope, headers, mounted=is_mounted(scope["path"]))
        except HttpError:
            await send({"type": "websocket.close"})  # the client sees 403
            return
        await self._mount(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers, *, mounted: bool) -> None:
        """Argyll's clients may be pages of any site; they still have to use one of this machine's host names."""
        hosts = headers.getlist("host")
        if len(hosts) > 1:  # a proxy in front of us may have used the other one
            raise BadRequest("http.two_hosts", "the request has two Host headers", fix="send one Host header")
        is_open = self._settings.open
        if is_open or (mounted and self._settings.argyll == "local"):
            host = hosts[0].lower() if hosts else ""
            if not self._hosts.ours(host):
                raise _foreign_host(host)
        changes = scope.get("method", "GET") not in SAFE_METHODS
        by_browser = "origin" in headers or "sec-fetch-site" in headers
        if is_open and not mounted and changes and by_browser and (why := cross_origin(headers, self._hosts.origins)):
            raise _foreign_origin(why)


def request_id(given: str | None = None) -> str:
    """The id that came with a request, if it can be used in a log; else a new one."""
    return given if given is not None and _USABLE_ID.fullmatch(given) else secrets.token_hex(8)


def _send_with_headers(send: Send, request_id: str, message: Message) -> Awaitable[None]:
    if message["type"] == "http.response.start":
        message["headers"] += [*SECURITY, (b"x-request-id", request_id.encode())]
    return send(message)


async def _refuse(error: HttpError, request_id: str, send: Send) -> None:
    body = msgspec.json.encode(problem.problem_of(error, request_id))
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body)), NO_STORE]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Hosts:
    """The host names an open server answers to: those of this machine, and its public one."""

    def __init__(self, public_url: str) -> None:
        self._public = urlsplit(public_url).netloc.lower()
        self.origins = (origin_of(public_url),) if public_url else ()
        self.ours = lru_cache(256)(self._is_ours)

    def _is_ours(self, host: str) -> bool:
        name = _PORT.sub("", host)
        return is_loopback(name) or name.endswith(".localhost") or (bool(self._public) and host == self._public)


def _foreign_host(host: str) -> Forbidden:
    return Forbidden(
        "http.foreign_host",
        f"host {host[:80]!r} is not allowed",
        why="this server has no access control and answers only to local names",
        fix="use http://127.0.0.1, or set the address with --public-url",
    )


def _foreign_origin(why: str) -> Forbidden:
    return Forbidden(
        "http.foreign_origin",
        "changes from pages of other sites are not allowed",
        why=why,
        fix="use this server's own pages",
    )
