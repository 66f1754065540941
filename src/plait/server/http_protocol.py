"""One connection: uvicorn's HTTP protocol, with limits on the head of a request.

uvicorn waits forever for the head of a request and accepts one of any size. Here a head has a time and a size limit,
and input that is not HTTP is answered with a problem like every other error. A stopping server answers one more
request on each connection and closes it, including connections accepted while the listening socket closed, which
uvicorn's shutdown never reaches.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from plait.api.problem import MEDIA_TYPE
from plait.kernel.errors import PlaitError

from . import problem
from .connections import Connections
from .errors import BadRequest, HeadTooLarge, Stopping, TooManyConnections, TooSlow
from .headers import NO_STORE, SECURITY
from .middleware import request_id
from .site import Settings

_LATE = 0.5
"""Seconds to wait for the head of a request on a connection accepted while the server stops."""


class HttpProtocol(HttpToolsProtocol):
    def __init__(self, settings: Settings, room: Connections, stopping: asyncio.Event, **given: Any) -> None:
        super().__init__(**given)
        self._settings = settings
        self._room = room
        self._stopping = stopping
        self._in_head = False
        self._upgraded = False
        self._seen = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self._room.admits(len(self.connections)):
            self._wait_for_head()
        else:
            self._refuse(TooManyConnections())

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._upgraded:
            return  # a WebSocket now, handled by another protocol
        if self._in_head:
            self._seen += len(data)
            if self._seen > self._settings.head_bytes:
                self._refuse(HeadTooLarge(self._settings.head_bytes))
                return
        cycle: Any = self.cycle  # None before the first request
        idle = cycle is None or cycle.response_complete
        if idle and self._timer is None and self.timeout_keep_alive_task is None:
            self._wait_for_head()  # part of the next head, or line breaks before it

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._seen = True, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        size = len(self.url)
        for name, value in self.headers:
            size += len(name) + len(value)
        if size > self._settings.head_bytes:
            self._refuse(HeadTooLarge(self._settings.head_bytes))
            raise ValueError("refused")  # makes the parser stop
        super().on_headers_complete()
        cycle: Any = self.cycle  # None before an upgrade
        if cycle is not None and self._stopping.is_set():
            cycle.keep_alive = False

    def handle_websocket_upgrade(self) -> None:
        self._upgraded = True
        if self._stopping.is_set():
            self._refuse(Stopping())
            return
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        fix = "send HTTP/1.1 with one Host and one Content-Length header"
        self._refuse(BadRequest("http.bad_request", "malformed HTTP request", fix=fix))

    def _unsupported_upgrade_warning(self) -> None:
        """Logs nothing: the request is answered without the upgrade."""

    def _wait_for_head(self) -> None:
        seconds = self._settings.head_seconds
        if self._stopping.is_set():
            seconds = min(seconds, _LATE)
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if not self._in_head:  # browsers open connections in advance and may never use them
            self.transport.close()
            return
        seconds = self._settings.head_seconds
        self._refuse(
            TooSlow("http.slow_head", f"the request head did not arrive within {seconds:g} s", fix="send it faster")
        )

    def _refuse(self, error: PlaitError) -> None:
        if self.transport.is_closing():
            return
        id = request_id()
        body = msgspec.json.encode(problem.problem_of(error, id))
        headers = [
            *SECURITY,
            NO_STORE,
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            (b"x-request-id", id.encode()),
        ]
        status = HTTPStatus(error.status)
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, status.phrase.encode(), lines, body))
        self.transport.close()
