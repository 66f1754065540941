"""`/mcp`: streamable HTTP. Access is checked here, and again by the API for each request that a tool makes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Final

import msgspec
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.api.caller import ANONYMOUS, EVERYWHERE, Caller
from plait.api.mcp_tool import McpSession
from plait.api.problem import MEDIA_TYPE
from plait.kernel import json_text
from plait.kernel.errors import NotFound, PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.server import problem
from plait.server.access import Access
from plait.server.auth.errors import bad_key
from plait.server.auth.sessions import CSRF_HEADER
from plait.server.body import Disconnected, parse, read_bytes, send_body
from plait.server.errors import BodyTooLarge
from plait.server.site import Site

from .sdk import load_sdk

PATH: Final = "/mcp"
SUBJECT_HEADER: Final = "plait-recording"
"""The header with a session's subject, for clients that can't choose the address."""
_SESSION: Final = b"mcp-session-id"
_PLACE: Final = "plait.mcp.namespace"
"""The scope's key for the namespace whose changes a request subscribes to."""
_SESSIONS_KNOWN: Final = 20_000
"""Maximum number of session owners kept, more than there can be sessions at once; a dropped session must be opened
again."""
_FORWARDED: Final = ("authorization", "cookie", "host", "origin", "sec-fetch-site", "sec-fetch-mode", CSRF_HEADER)
"""Request headers that identify the caller and its origin."""


_KEPT: Final = 10_000
"""Maximum number of sessions with stored data."""


def is_mcp(path: str) -> bool:
    return path == PATH or path.startswith(f"{PATH}/")


def place_of(path: str) -> tuple[str, str]:
    """Returns the mode and the subject of a session: `/mcp/mode/subject`."""
    mode, _, subject = path.removeprefix(PATH).strip("/").partition("/")
    return mode, subject


class McpMount:
    """The mount at `/mcp`. Its sessions run in a task of their own, which starts with the first request and ends with
    the server."""

    def __init__(self, site: Site, app: ASGIApp) -> None:
        self._site = site
        self._app = app
        self._sessions: dict[str, _Sessions] = {}
        """The sessions by mode."""
        self._owners: dict[bytes, str] = {}
        """The owner of each session; the most recently used is last."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            caller = await self._caller(scope, receive)
            self._refuse_foreign_session(scope, caller)
            mode = self._mode(scope["path"])
            if mode not in self._sessions:
                self._sessions[mode] = _Sessions(self._site, self._app, mode)
            handle = await self._sessions[mode].ready()
            if scope["method"] == "POST":
                receive = await self._read(scope, receive)
        except PlaitError as error:
            await _refuse(error, send, scope, receive if isinstance(error, BodyTooLarge) else None)
            return
        except Disconnected:
            return
        scope[_PLACE] = caller.namespace if caller.namespace != EVERYWHERE else _stated(scope)
        await self._while_allowed(caller, scope, receive, self._noting_owner(caller, send), handle)

    async def _while_allowed(self, caller: Caller, scope: Scope, receive: Receive, send: Send, handle: ASGIApp) -> None:
        """Handles a request, and ends it when its key is revoked: a stream may be open for days."""
        if self._site.settings.open:
            await handle(scope, receive, send)
            return
        answer = _Ending(send)
        answering = asyncio.ensure_future(handle(scope, receive, answer.send))
        lost = asyncio.ensure_future(Access(self._site, Request(scope), caller, "any").lost())
        try:
            await asyncio.wait((answering, lost), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
                await asyncio.wait((answering,))
                await answer.end(scope)
                return
            await answering
        finally:
            for each in (answering, lost):
                each.cancel()
            await asyncio.gather(answering, lost, return_exceptions=True)

    async def _caller(self, scope: Scope, receive: Receive) -> Caller:
        if self._site.settings.open:
            return ANONYMOUS
        return await self._site.auth.check(Request(scope, receive), "any")

    async def _read(self, scope: Scope, receive: Receive) -> Receive:
        """Reads the body with our limits: the SDK would parse a body of any size on the event loop. It checks the JSON
        of short bodies itself."""
        body = await read_bytes(dict(scope["headers"]), receive, self._site.settings, self._site.settings.max_body)
        if len(body) > json_text.LONG:
            await parse(body)
        return _Read(body, receive).receive

    def _mode(self, path: str) -> str:
        from .registry import ToolRegistry

        mode, _ = place_of(path)
        if mode and mode not in ToolRegistry.of(self._site.engine).modes:
            raise NotFound("mcp.unknown_mode", f"there is nothing at {path[:200]}", fix=f"use {PATH}")
        return mode

    def _refuse_foreign_session(self, scope: Scope, caller: Caller) -> None:
        """Answers the id of another caller's session like one that does not exist."""
        given = next((value for name, value in scope["headers"] if name == _SESSION), None)
        if given is None:
            return
        if self._owners.get(given) != _who(caller):
            raise NotFound("mcp.unknown_session", "there is no such session", fix="initialize a new one")
        self._owners[given] = self._owners.pop(given)

    def _noting_owner(self, caller: Caller, send: Send) -> Send:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, value in message["headers"]:
                    if name.lower() == _SESSION:
                        self._owners.setdefault(value, _who(caller))
                        if len(self._owners) > _SESSIONS_KNOWN:
                            del self._owners[next(iter(self._owners))]
            await send(message)

        return noting


class _Read:
    """Replays a body that has been read."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def receive(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Ending:
    """A response that can be ended from outside."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._over = False

    async def send(self, message: Message) -> None:
        self._begun = True
        self._over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self, scope: Scope) -> None:
        if not self._begun:
            await _refuse(bad_key(), self._send, scope)
        elif not self._over:
            await self._send({"type": "http.response.body", "body": b""})


class _Sessions:
    def __init__(self, site: Site, app: ASGIApp, mode: str) -> None:
        self._site = site
        self._app = app
        self._mode = mode
        self._memory: OrderedDict[str, dict[str, Any]] = OrderedDict()
        """What tools store, by session."""
        self._handle: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(), name="plait-mcp-sessions")

    async def ready(self) -> Any:
        return await asyncio.shield(self._handle)

    async def _run(self) -> None:
        try:
            sdk = await load_sdk()
            server = sdk.PlaitServer(self._site.engine, self._api_of, self._session_of, self._mode, _namespace_of)
            if self._mode:
                server.keep_sessions()
            # The middleware checks Host and Origin, for all paths
            trusting = sdk.TransportSecuritySettings(enable_dns_rebinding_protection=False)
            manager = sdk.StreamableHTTPSessionManager(server.sdk, security_settings=trusting)
            async with manager.run(), server.announcing():
                self._handle.set_result(manager.handle_request)
                await self._site.stopping.wait()
        except Exception as error:
            if self._handle.done():
                raise
            self._handle.set_exception(error)

    def _session_of(self, context: Any) -> McpSession:
        request: Request = context.request
        id = request.headers.get(_SESSION.decode(), "")
        mode, subject = place_of(request.url.path)
        return McpSession(
            id=id,
            mode=mode,
            subject=subject or request.headers.get(SUBJECT_HEADER, ""),
            options=dict(request.query_params),
            origin=str(request.base_url).rstrip("/"),
            memory=self._remembered(id),
        )

    def _remembered(self, id: str) -> dict[str, Any]:
        if not id:
            return {}
        found = self._memory.setdefault(id, {})
        self._memory.move_to_end(id)
        if len(self._memory) > _KEPT:
            self._memory.popitem(last=False)
        return found

    def _api_of(self, context: Any) -> Any:
        from .app_api import AppApi

        request: Request = context.request
        headers = {name: request.headers[name] for name in _FORWARDED if name in request.headers}
        return AppApi(self._app, headers, request.query_params.get("namespace"))


def _namespace_of(context: Any) -> str:
    return context.request.scope[_PLACE]


def _stated(scope: Scope) -> str:
    return QueryParams(scope["query_string"]).get("namespace") or DEFAULT_NAMESPACE


def _who(caller: Caller) -> str:
    return f"{caller.id}/{caller.name}/{caller.namespace}"


async def _refuse(error: PlaitError, send: Send, scope: Scope, unread: Receive | None = None) -> None:
    id = Headers(scope=scope).get("x-request-id", "")
    body = msgspec.json.encode(problem.problem_of(error, id))
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body))]
    headers += [(name.encode(), value.encode()) for name, value in problem.headers_of(error).items()]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send_body(body, unread, send)
