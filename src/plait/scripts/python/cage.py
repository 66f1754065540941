"""Operating-system limits on a worker, set from outside: they hold even with a vulnerable interpreter.

No new files or sockets, no writes to files, no core dumps, and a memory limit somewhat above that of the code: the
interpreter should report it first. Only Linux lets one process limit another.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from typing import Final

_HEADROOM: Final = 256 * 1024 * 1024
_FIXED: Final = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: 3,
}


class Cage:
    """Remembers the workers that it has limited."""

    def __init__(self) -> None:
        self._base: dict[int, int] = {}
        """Address space of each worker before its first run."""

    @property
    def pids(self) -> frozenset[int]:
        """The workers that ran something, including dead ones."""
        return frozenset(self._base)

    def limit(self, pid: int | None, memory: int) -> None:
        """Called before a run."""
        if pid is None or sys.platform != "linux":
            return
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if pid not in self._base:
                self._fix(pid)
            limit = self._base[pid] + memory + _HEADROOM
            resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

    def _fix(self, pid: int) -> None:
        if len(self._base) > 64:  # most belong to workers that are long gone
            self._base.clear()
        with open(f"/proc/{pid}/statm", "rb") as file:
            self._base[pid] = int(file.read().split()[0]) * resource.getpagesize()
        for limit, value in _FIXED.items():
            resource.prlimit(pid, limit, (value, value))
