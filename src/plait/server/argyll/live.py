"""`/engine/ws`: one connection, with any number of subscriptions on it.

    {"type": "subscribe", "data": {"sub_id": "a", "aggregate_ids": [["flow", "x"]], "include_state": true}}
    {"type": "subscribed", "sub_id": "a", "items": [{"id": ["flow", "x"], "data": {…}, "sequence": 4}]}
    {"type": "step_completed", "data": {…}, "id": ["flow", "x"], "sub_id": "a", "timestamp": 17…, "sequence": 4}

Every subscription reads from its own position: it gets no gaps and no duplicates, and a client that reads nothing
delays nobody. Messages that can't be understood are ignored.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

import msgspec
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from plait.kernel.errors import PlaitError
from plait.server.pii import PiiFilter
from plait.server.site import Site

from .route import NAMESPACE
from .subscription import Subscribe, Subscription, Unsubscribe

log = logging.getLogger("plait.server")

_MOST = 100
"""Maximum number of subscriptions per connection."""
_RESTARTING = 1012
_TRY_LATER = 1013


class _Sent(msgspec.Struct):
    type: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


_sent = msgspec.json.Decoder(_Sent)
_subscribe = msgspec.json.Decoder(Subscribe)
_unsubscribe = msgspec.json.Decoder(Unsubscribe)


async def live(site: Site, pii: PiiFilter | None, scope: Scope, receive: Receive, send: Send, *, allowed: bool) -> None:
    """Serves one connection. `pii` hides personal values; None: everyone may see them."""
    socket = WebSocket(scope, receive, send)
    if not allowed:
        await socket.close()  # before accepting: the client sees 403
        return
    try:
        with site.watching():
            await socket.accept()
            await Connection(site, pii, socket).serve()
    except PlaitError:  # no slot is free, or the engine is closed
        if socket.application_state is not WebSocketState.DISCONNECTED:
            await socket.close(_TRY_LATER)


class Connection:
    def __init__(self, site: Site, pii: PiiFilter | None, socket: WebSocket) -> None:
        self._site = site
        self._pii = pii
        self._socket = socket
        self._running: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        self._hanging_up: asyncio.Future[None] | None = None

    async def serve(self) -> None:
        """Serves until the client disconnects or the server stops."""
        try:
            while (message := await self._socket.receive())["type"] == "websocket.receive":
                await self._take(message)
        except WebSocketDisconnect:
            pass
        finally:
            for sub_id in list(self._running):
                await self._end(sub_id)

    async def _take(self, message: Message) -> None:
        raw: str | bytes = message.get("text") or message.get("bytes") or b""
        try:
            sent = _sent.decode(raw)
            match sent.type:
                case "subscribe":
                    await self._subscribe(_subscribe.decode(sent.data))
                case "unsubscribe":
                    await self._unsubscribe(_unsubscribe.decode(sent.data))
                case _:
                    pass
        except (msgspec.DecodeError, UnicodeDecodeError):
            return

    async def _subscribe(self, asked: Subscribe) -> None:
        """Starts a subscription; it replaces an older one with the same id."""
        await self._end(asked.sub_id)
        if len(self._running) >= _MOST:
            return
        subscription = Subscription(self._site.engine, asked, self._give)
        items = await subscription.begin()
        await self._give({"type": "subscribed", "sub_id": asked.sub_id, "items": items})
        task = asyncio.get_running_loop().create_task(subscription.run(), name="plait.subscription")
        task.add_done_callback(self._over)
        self._running[asked.sub_id] = task

    async def _unsubscribe(self, asked: Unsubscribe) -> None:
        await self._end(asked.sub_id)
        await self._give({"type": "unsubscribed", "sub_id": asked.sub_id})

    async def _end(self, sub_id: str) -> None:
        task = self._running.pop(sub_id, None)
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    def _over(self, task: asyncio.Task[None]) -> None:
        """Handles the end of a subscription, which ends by itself only if its connection or the engine has ended."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, WebSocketDisconnect | PlaitError):
            log.error("a subscription failed unexpectedly", exc_info=error)
        self._hanging_up = self._hanging_up or asyncio.ensure_future(self._hang_up())

    async def _hang_up(self) -> None:
        """Closes the connection; the client reconnects and subscribes again."""
        with suppress(WebSocketDisconnect):
            async with self._turn:
                if self._socket.application_state is WebSocketState.CONNECTED:
                    await self._socket.close(_RESTARTING)

    async def _give(self, message: dict[str, Any]) -> None:
        async with self._turn:
            if self._socket.application_state is not WebSocketState.CONNECTED:
                raise WebSocketDisconnect
            shown = message if self._pii is None else await self._pii.for_strangers(message, NAMESPACE)
            await self._socket.send_text(msgspec.json.encode(shown).decode())
