"""Seconds of the processor's time that the parts of a fleet take: on a busy machine the clock says more about the
neighbours."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

_PARENT, _ENDED_USER, _ENDED_SYSTEM = 1, 13, 14
"""Places in `/proc/<pid>/stat`, after the name of the program."""


@dataclass(frozen=True)
class Spent:
    """Seconds."""

    engines: float
    server: float

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.engines - other.engines, self.server - other.server)


class Meter:
    """Of the processes of the engines, and of a server on this machine."""

    def __init__(self, server: int | None) -> None:
        self._server = server

    def spent(self, engines: Iterable[int]) -> Spent:
        return Spent(sum(map(_seconds, engines)), 0.0 if self._server is None else _family_seconds(self._server))


async def meter(url: str) -> Meter:
    """Nothing is known of a server on another machine."""
    if urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1"):
        return Meter(None)
    connection = await asyncpg.connect(url)
    try:
        backend = await connection.fetchval("select pg_backend_pid()")
        found = _fields(backend)
    finally:
        await connection.close()
    return Meter(int(found[_PARENT]) if found else None)


def _family_seconds(parent: int) -> float:
    """Of a process and its children, those that have ended too."""
    found = _fields(parent)
    ended = (int(found[_ENDED_USER]) + int(found[_ENDED_SYSTEM])) / os.sysconf("SC_CLK_TCK") if found else 0.0
    children = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    living = [pid for pid in children if (fields := _fields(pid)) and int(fields[_PARENT]) == parent]
    return ended + sum(map(_seconds, [parent, *living]))


def _seconds(pid: int) -> float:
    """By the scheduler's own count, which is finer than ticks of the clock."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return 0.0


def _fields(pid: int) -> list[str]:
    """None of a process that is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []
