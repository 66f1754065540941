"""Rebuilds the mirror of a run on Redis from its log: it may have been flushed, or written in part."""

from __future__ import annotations

from plait.kernel.kernel import Kernel
from plait.kernel.store import RunRow
from plait.workers.redis.link import Link
from plait.workers.redis.mirror import Command
from plait.workers.redis.names import prefix
from plait.workers.redis.settings import settings_of

from .redis_path import Mirrored


async def rebuild_mirror(kernel: Kernel, row: RunRow, url: str) -> int:
    """Replaces the run's keys and returns their number. Nothing is read from Redis."""
    commands = await _commands(kernel, row)
    keys = list(dict.fromkeys(command[1] for command in commands))
    link = Link(settings_of(url))
    try:
        await link.ping()
        await link.do([*(("DEL", key) for key in keys), *commands])
    finally:
        await link.close()
    return len(keys)


async def _commands(kernel: Kernel, row: RunRow) -> list[Command]:
    before, found = prefix(row.namespace), list[Command]()
    async for run, events, at in kernel.loader.replay(row):
        if not isinstance(run.machine, Mirrored):
            return []
        found += [(name, before + key, *rest) for name, key, *rest in run.machine.mirror(events, at)]
    return found
