"""Notifies clients that the list of tools has changed: a workflow was saved or deleted, by anyone and in any process,
or another server, whose tools a recording shows, has changed its own.

Older clients are notified in their session, newer ones on a stream that they have requested.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged

from plait.api.mcp_tool import McpSession

log = logging.getLogger("plait.server.mcp")

_PAUSE: Final = 0.5
"""Seconds between two polls while a client listens."""
_PATIENCE: Final = 5.0
"""Seconds that a client may take to accept a notification; one that has disconnected never does."""
_TRIES: Final = 5
_KEPT: Final = 10_000
"""Maximum number of sessions; the least recently used is dropped first."""

Revision = Callable[[str], Awaitable[int]]
"""Returns a number that grows with each change of a namespace's definitions."""


@dataclass(slots=True)
class _Peer:
    """A client with a session."""

    session: McpSession
    channel: Any
    """The channel of its last request, to send notifications on."""
    namespace: str
    owed: bool = False
    """Whether a notification has to be sent."""
    failures: int = 0

    @property
    def shows_others(self) -> bool:
        """Whether it may see tools of other servers: it uses a mode, or a tool has stored something for the session."""
        return bool(self.session.mode or self.session.memory)


@dataclass(slots=True)
class _Streams:
    """The open streams of a namespace."""

    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    open: int = 0


class Announcements:
    def __init__(self, revision: Revision, upstream: Callable[[], int]) -> None:
        """`upstream` counts how often other servers have changed their tools."""
        self._revision = revision
        self._upstream = upstream
        self._peers: OrderedDict[str, _Peer] = OrderedDict()
        self._streams: dict[str, _Streams] = {}
        self._revisions: dict[str, int] = {}
        self._upstream_seen = upstream()
        self._somebody = asyncio.Event()

    async def note(self, session: McpSession, channel: Any, namespace: str) -> None:
        """Records a client that sent a request; it can be notified if its requests belong to a session."""
        if not session.id:
            return
        await self._begin(namespace)
        before = self._peers.pop(session.id, None)
        self._peers[session.id] = _Peer(session, channel, namespace, before is not None and before.owed)
        if len(self._peers) > _KEPT:
            self._peers.popitem(last=False)
        self._somebody.set()

    async def listen(self, namespace: str, context: Any, params: Any) -> Any:
        """Serves a stream until the client ends it."""
        await self._begin(namespace)
        streams = self._streams.setdefault(namespace, _Streams())
        streams.open += 1
        self._somebody.set()
        try:
            return await ListenHandler(streams.bus)(context, params)
        finally:
            streams.open -= 1
            if not streams.open:
                self._streams.pop(namespace, None)

    async def tell(self, session: McpSession, channel: Any, namespace: str) -> None:
        """Notifies one session that its tools have changed; a client without sessions can only be reached with all
        streams of its namespace."""
        await channel.send_tool_list_changed()
        if not session.id and (streams := self._streams.get(namespace)) is not None:
            await streams.bus.publish(ToolsListChanged())

    async def watch(self) -> None:
        """Polls for changes until it is cancelled."""
        while True:
            await self._somebody.wait()
            try:
                await self._look()
            except Exception as error:  # the store may be unavailable for a while: the next poll finds what was missed
                log.warning("changes of tools can't be seen: %s", error)
            if not self._peers and not self._streams:
                self._somebody.clear()
            await asyncio.sleep(_PAUSE)

    async def _look(self) -> None:
        upstream = self._upstream()
        if upstream != self._upstream_seen:
            self._upstream_seen = upstream
            await self._publish(None)
        for namespace in {*(peer.namespace for peer in self._peers.values()), *self._streams}:
            now = await self._revision(namespace)
            if self._revisions[namespace] != now:
                self._revisions[namespace] = now
                await self._publish(namespace)
        await self._settle()

    async def _begin(self, namespace: str) -> None:
        """Notes the revision before the client reads its list, so that later changes are announced."""
        if namespace not in self._revisions:
            now = await self._revision(namespace)
            self._revisions.setdefault(namespace, now)

    async def _publish(self, namespace: str | None) -> None:
        """Announces a change to all clients of a namespace; without one, to all that see tools of other servers."""
        for peer in self._peers.values():
            peer.owed = peer.owed or (peer.shows_others if namespace is None else peer.namespace == namespace)
        for each, streams in [*self._streams.items()]:
            if namespace in (None, each):
                await streams.bus.publish(ToolsListChanged())

    async def _settle(self) -> None:
        """Sends the pending notifications; drops a client after `_TRIES` failures in a row."""
        for id, peer in [*self._peers.items()]:
            if not peer.owed:
                continue
            peer.owed = False
            if await _told(peer.channel):
                peer.failures = 0
                continue
            peer.owed, peer.failures = True, peer.failures + 1
            if peer.failures >= _TRIES and self._peers.get(id) is peer:
                del self._peers[id]


async def _told(channel: Any) -> bool:
    with suppress(Exception):  # whatever a lost connection raises
        async with asyncio.timeout(_PATIENCE):
            await channel.send_tool_list_changed()
        return True
    return False
