"""The engines that work on a database: those that hold its shards."""

from __future__ import annotations

import os
import socket

from plait.kernel.census import Owner
from plait.kernel.clock import SystemClock
from plait.kernel.ids import Millis

from . import words


async def owners(db: str) -> list[Owner]:
    from plait.engine.urls import store_of

    store = store_of(db, SystemClock())
    await store.open()
    try:
        return await store.owners()
    finally:
        await store.close()


async def somebody_works(db: str) -> bool:
    return any(alive(owner, words.now()) for owner in await owners(db))


def alive(owner: Owner, now: Millis) -> bool:
    """Whether the owner is alive. A killed process holds its lease until it expires; on this machine, we can see that
    the process is gone."""
    pid = pid_of(owner)
    return owner.expires > now and (pid is None or _runs(pid))


def pid_of(owner: Owner) -> int | None:
    """Returns the process id of an owner on this machine; owners are named `host-pid-key`, see `Engine`."""
    host, _, rest = owner.name.rpartition("-")[0].rpartition("-")
    return int(rest) if host == socket.gethostname() and rest.isdigit() else None


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
