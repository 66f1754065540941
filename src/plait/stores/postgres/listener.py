"""The connection that listens: it hears notices, and holds the locks that say which owners live.

An owner's lock lasts as long as this connection. When the process dies, however it dies, its connection
closes and the lock is gone, so that another engine need not wait until the leases run out. A connection
that is lost while the process lives is made again; what was missed meanwhile is made good by one call.
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
"""What a notice carries, after its origin, when engines came or gave shards up."""
_SHOWN = " shown"
"""What it carries when only runs of the sender's own began, ended or wait: nothing to do, only to show."""
FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0


News = Literal["due", "shown"]
"""That others may have something to do, or only something to show."""


class Listener:
    def __init__(self, address: Address, origin: str) -> None:
        self._link = Link(address, {"application_name": "plait listener"}, self._prepare)
        self._origin = origin
        """What our own notices carry: they tell us nothing new."""
        self._callback: Callable[[], None] | None = None
        self._shown_callback: Callable[[], None] | None = None
        self._shards_callback: Callable[[], None] | None = None
        self._owners: dict[str, bool] = {}
        """Whose locks are wanted, and whether this connection holds them. Changed only by who uses the link."""
        self._listening = False
        self._calling = False
        self._shards_changed = False
        self._news = False
        """More than something to show."""
        self._lost = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """Calls back on each notice, and when listening begins: what came before is found by looking."""
        self._callback, self._shown_callback = callback, shown or callback
        self._start()
        if self._listening:
            self._news = True
            self._call_soon()

    def watch_shards(self, callback: Callable[[], None]) -> None:
        """Calls back when another engine came, or gave shards up."""
        self._shards_callback = callback
        self._start()

    async def guard(self, owner: str) -> bool:
        """Whether its lock is held: False while another of that name, or our own last connection, has it."""
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
        """Connects, and connects again whenever the connection was lost."""
        wait = FIRST_WAIT
        while True:
            self._lost.clear()
            try:
                async with self._link.use():
                    pass  # it is there now
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
        self._shards_changed = self._news = True  # or may have: nobody heard
        self._call_soon()

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: Any) -> None:
        text = str(payload)
        if not text.startswith(self._origin):
            self._shards_changed |= text.endswith(_SHARDS)
            self._news |= not text.endswith(_SHOWN)
            self._call_soon()

    def _call_soon(self) -> None:
        """Once for all notices that came together."""
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
    """For engines that share the shards."""
    return origin + _SHARDS


def notice(origin: str, news: News | None) -> str | None:
    """For whoever waits for it; None: nobody does."""
    match news:
        case None:
            return None
        case "shown":
            return origin + _SHOWN
        case "due":
            return origin
