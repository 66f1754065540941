"""What applies to every request: request ids, security headers, the check of its origin."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable
from functools import partial

import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from plait.api.problem import MEDIA_TYPE
from plait.api.route import API

from . import problem
from .argyll.app import Mount
from .argyll.paths import is_mounted
from .dispatch import Dispatcher
from .errors import HttpError
from .headers import NO_STORE, SECURITY
from .mcp.mount import McpMount, is_mcp
from .origin_check import OriginCheck
from .site import Site

_API = f"{API}/"
_USABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class Middleware:
    """Stands in front of the API, the mount and the UI. It returns their awaitable as it is, so that it adds no frame
    to their awaits."""

    def __init__(self, site: Site, api: Dispatcher, mount: Mount, pages: ASGIApp) -> None:
        self._api, self._mount, self._pages = api, mount, pages
        self._mcp = McpMount(site, self)
        self._origins = OriginCheck(site.settings)
        self._tls = site.settings.public_url.startswith("https://")
        """Whether callers use TLS. A proxy may terminate it in front of us; cookies must still be for TLS only."""

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
            self._origins.check(scope, headers)
        except HttpError as error:
            return _refuse(error, id, sending)
        bind_contextvars(request_id=id)  # for the logs; each request is a task with a context of its own
        return app(scope, receive, sending)

    def _app_of(self, scope: Scope) -> ASGIApp:
        path: str = scope["path"]
        if is_mounted(path):
            return self._mount
        if is_mcp(path):
            return self._mcp
        return self._api if path == API or self._api.knows(scope) else self._pages

    async def _socket(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Passes a WebSocket to the mount, the only part that has some."""
        try:
            self._origins.check(scope, headers)
        except HttpError:
            await send({"type": "websocket.close"})  # the client sees 403
            return
        await self._mount(scope, receive, send)


def request_id(given: str | None = None) -> str:
    """Returns the id that came with a request, if it is fit for a log; otherwise a new one."""
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
