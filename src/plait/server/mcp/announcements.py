"""Who hears that there are other tools now, and when: a workflow was saved or deleted, by whomever and in whichever
process, or another server, whose tools a recording shows, has changed its own.

Older clients are told in their session, newer ones on a stream that they have asked for.
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
"""Seconds between two looks, while somebody listens."""
_PATIENCE: Final = 5.0
"""Seconds for a client to take the news; one that is gone never does."""
_TRIES: Final = 5
_KEPT: Final = 10_000
"""Sessions; the one that was used last is kept longest."""

Revision = Callable[[str], Awaitable[int]]
"""A number that grows with each change of a namespace's definitions."""


@dataclass(slots=True)
class _Peer:
    """A client with a session."""

    session: McpSession
    channel: Any
    """Of its last request: the way to it."""
    namespace: str
    owed: bool = False
    """There is news that it could not be told yet."""
    failures: int = 0

    @property
    def shows_others(self) -> bool:
        """Tools of other servers: in a mode of its own, or since some tool has begun to keep something of it."""
        return bool(self.session.mode or self.session.memory)


@dataclass(slots=True)
class _Streams:
    """The clients of a namespace that listen."""

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
        """A client asks for something: it can be told, if its requests belong together."""
        if not session.id:
            return
        await self._begin(namespace)
        before = self._peers.pop(session.id, None)
        self._peers[session.id] = _Peer(session, channel, namespace, before is not None and before.owed)
        if len(self._peers) > _KEPT:
            self._peers.popitem(last=False)
        self._somebody.set()

    async def listen(self, namespace: str, context: Any, params: Any) -> Any:
        """Until the client ends its stream."""
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
        """The tools of this session are others, and nobody else's."""
        await channel.send_tool_list_changed()
        if not session.id and (streams := self._streams.get(namespace)) is not None:
            await streams.bus.publish(ToolsListChanged())

    async def watch(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._somebody.wait()
            try:
                await self._look()
            except Exception as error:  # the store may be away for a while: the next look finds what was missed
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
        """Before the client reads its list: what changes afterwards is news to it."""
        if namespace not in self._revisions:
            now = await self._revision(namespace)
            self._revisions.setdefault(namespace, now)

    async def _publish(self, namespace: str | None) -> None:
        """To all of a namespace; without one, to all that see tools of other servers."""
        for peer in self._peers.values():
            peer.owed = peer.owed or (peer.shows_others if namespace is None else peer.namespace == namespace)
        for each, streams in [*self._streams.items()]:
            if namespace in (None, each):
                await streams.bus.publish(ToolsListChanged())

    async def _settle(self) -> None:
        """Tells who is owed news. One that can't be told several times in a row is gone."""
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
    with suppress(Exception):  # whatever a connection raises that is gone
        async with asyncio.timeout(_PATIENCE):
            await channel.send_tool_list_changed()
        return True
    return False
