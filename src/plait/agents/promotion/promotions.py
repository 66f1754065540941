"""Counts the uses of pipelines, and promotes each once, whichever process saw the deciding use.

A use is a record of its own, keyed by the pipeline and the call: a call that is repeated after a crash is the same
record. The promotion is an event of the namespace's stream; if two processes want to write it, the second reads the
stream again and finds it there. Then the uses are deleted: a pipeline that was ever promoted is not counted again.
Uses that never led to a promotion are trimmed by retention (`engine.record_trims`).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import dataclass
from typing import Final

import msgspec

from plait.agents.record_kinds import USE
from plait.definitions.hashing import canonical
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.events import Recorded
from plait.kernel.records import Record, Records
from plait.kernel.streams import Follower, Stream

from .promotable import Steps, is_promotable, name_of
from .setting import MOST_USES, USES
from .tool_log import PromotedTool, ToolEvent, ToolLog, ToolPromoted, ToolRemoved

_KIND: Final = "agent_tools"
_decoder: msgspec.json.Decoder[ToolEvent] = msgspec.json.Decoder(ToolEvent)
_log = logging.getLogger("plait.agents")


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is known about one namespace."""

    log: ToolLog
    stream: Stream
    follower: Follower[ToolEvent]
    writing: asyncio.Lock
    """Writers of this process queue here; otherwise their appends would conflict with each other."""


class Promotions:
    """Promotions of all namespaces, as known to this process."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    async def used(self, namespace: str, steps: Steps, key: str, enough: int = USES) -> PromotedTool | None:
        """Records that the call `key` executed a pipeline successfully. Returns the tool that it was promoted to, if
        this use was enough; reporting the same call again changes nothing."""
        if enough <= 0 or not is_promotable(steps):
            return None
        digest = hashlib.sha256(canonical(list(steps))).hexdigest()
        if digest in (await self._refreshed(namespace)).log.hashes:
            return None
        call = hashlib.sha256(key.encode()).hexdigest()[:32]
        await self._records.add(Record(USE, namespace, f"{digest}/{call}", values.NULL, self._clock.now()))
        counted = await self._counted(namespace, digest)
        if len(counted) < enough:
            return None
        made = await self._promote(namespace, steps, digest, len(counted))
        for id in counted:
            await self._records.remove(USE, namespace, id)
        return made

    async def list(self, namespace: str) -> list[PromotedTool]:
        """Oldest first."""
        return [*(await self._refreshed(namespace)).log.tools.values()]

    async def remove(self, namespace: str, name: str) -> bool:
        """Removes a tool for good: its pipeline is never promoted again. False if there is none."""
        entry = self._entry(namespace)
        async with entry.writing:
            while True:
                await entry.follower.refresh()
                found = entry.log.tools.get(name)
                if found is None:
                    return False
                if await entry.follower.append([ToolRemoved(found.name, found.hash, found.uses)]):
                    return True

    async def events(self, namespace: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """`tool.promoted` and `tool.removed`, after event `after`."""
        return [entry.recorded for entry in await self._entry(namespace).stream.read(after, limit)]

    async def _promote(self, namespace: str, steps: Steps, digest: str, uses: int) -> PromotedTool | None:
        entry = self._entry(namespace)
        async with entry.writing:
            while True:
                await entry.follower.refresh()
                if digest in entry.log.hashes:
                    return None
                name = name_of(steps, digest, entry.log.names)
                event = ToolPromoted(name, digest, uses, [dict(step) for step in steps])
                if await entry.follower.append([event]):
                    _log.info("a pipeline was promoted to the tool %s in the namespace %s", name, namespace)
                    return entry.log.tools.get(name)

    async def _counted(self, namespace: str, digest: str) -> list[str]:
        page = await self._records.list(USE, namespace, after=f"{digest}/", limit=MOST_USES)
        return [record.id for record in page if record.id.startswith(f"{digest}/")]

    async def _refreshed(self, namespace: str) -> _Entry:
        entry = self._entry(namespace)
        await entry.follower.refresh()
        return entry

    def _entry(self, namespace: str) -> _Entry:
        found = self._entries.get(namespace)
        if found is None:
            log = ToolLog()
            stream = Stream(self._records, _KIND, namespace, self._clock)
            found = _Entry(log, stream, Follower(stream, _decoder, log.apply), asyncio.Lock())
            self._entries[namespace] = found
        return found
