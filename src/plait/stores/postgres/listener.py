"""The listening connection: it receives notifications, and holds the locks that show which owners live.

An owner's lock lasts as long as this connection. When the process dies, however it dies, its connection closes and the
lock is gone, so that another engine need not wait for the leases to expire. A connection that is lost while the process
lives is reopened; one call makes up for missed notifications.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Literal

from .database import SQL, Address, Connection
from .link import Link

log = logging.getLogger("plait.store")

CHANNEL = "plait"
_SHARDS = " shards"
"""Suffix of a notification, after its origin, that engines came or released shards."""
_SHOWN = " shown"
"""Suffix of a notification that runs of the sender only started, ended or wait: nothing to do, only to show."""
FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0


News = Literal["due", "shown"]
"""Whether other processes may have something to do, or only something to show."""


class Listener:
    def __init__(self, address: Address, origin: str) -> None:
        self._link = Link(address, {"application_name": "plait listener"}, self._prepare)
        self._origin = origin
        """The origin of our own notifications: they tell us nothing new."""
        self._callback: Callable[[], None] | None = None
        self._shown_callback: Callable[[], None] | None = None
        self._shards_callback: Callable[[], None] | None = None
        self._owners: dict[str, bool] = {}
        """Owners whose locks are wanted, and whether this connection holds them. Changed only by the link's user."""
        self._listening = False
        self._calling = False
        self._shards_changed = False
        self._news = False
        """There was more than something to show."""
        self._lost = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """Calls back on each notification, and when listening starts: earlier changes are found by reading."""
        self._callback, self._shown_callback = callback, shown or callback
        self._start()
        if self._listening:
            self._news = True
            self._call_soon()

    def watch_shards(self, callback: Callable[[], None]) -> None:
        """Calls back when another engine came, or released shards."""
        self._shards_callback = callback
        self._start()

    async def guard(self, owner: str) -> bool:
        """Whether the owner's lock is held: False while another of that name, or our own previous connection, has
        it."""
        self._start()
        async with self._link.use() as connection:
            if self._owners.get(owner):
                await connection.fetchval("select 1")  # the lock is as alive as the connection
                return True
            held = self._owners[owner] = bool(await connection.fetchval(SQL["guard"], owner))
            return held

    async def unguard(self, owner: str) -> None:
        if owner in self._owners:
            async with self._link.use() as connection:
                if self._owners.pop(owner, False):
                    await connection.fetchval(SQL["unguard"], owner)

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        self._callback = self._shown_callback = self._shards_callback = None
        self._owners.clear()
        await self._link.close()

    def _start(self) -> None:
        if self._keeper is None:
            self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="plait.postgres.listen")

    async def _keep(self) -> None:
        """Connects, and reconnects whenever the connection was lost."""
        wait = FIRST_WAIT
        while True:
            self._lost.clear()
            try:
                async with self._link.use():
                    pass  # connected now
                wait = FIRST_WAIT
                await self._lost.wait()
            except Exception as error:
                log.warning("no notices for now, will try again in %.1f s: %s", wait, error)
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    async def _prepare(self, connection: Connection) -> None:
        self._listening = False
        connection.add_termination_listener(lambda _: self._lost.set())
        await connection.add_listener(CHANNEL, self._hear)
        for owner in self._owners:
            self._owners[owner] = await connection.fetchval(SQL["guard"], owner)
        self._listening = True
        self._shards_changed = self._news = True  # or may have: nobody listened
        self._call_soon()

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: Any) -> None:
        text = str(payload)
        if not text.startswith(self._origin):
            self._shards_changed |= text.endswith(_SHARDS)
            self._news |= not text.endswith(_SHOWN)
            self._call_soon()

    def _call_soon(self) -> None:
        """Calls back once for all notifications received together."""
        if not self._calling:
            self._calling = True
            asyncio.get_running_loop().call_soon(self._call)

    def _call(self) -> None:
        self._calling = False
        callback = self._callback if self._news else self._shown_callback
        self._news = False
        if callback is not None:
            callback()
        if self._shards_changed and self._shards_callback is not None:
            self._shards_callback()
        self._shards_changed = False


def shard_notice(origin: str) -> str:
    """The notification that shards were released."""
    return origin + _SHARDS


def notice(origin: str, news: News | None) -> str | None:
    """The payload of a notification; None: nobody needs one."""
    match news:
        case None:
            return None
        case "shown":
            return origin + _SHOWN
        case "due":
            return origin
