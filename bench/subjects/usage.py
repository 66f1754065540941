"""Memory and CPU time of this process and of the servers it depends on, read from ``/proc``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def memory_bytes(helpers: Iterable[int]) -> int:
    """Resident memory, as an operator sees it."""
    return sum(int(_read(pid, "statm").split()[1]) * _PAGE for pid in (os.getpid(), *helpers))


def cpu_seconds(helpers: Iterable[int]) -> float:
    return sum(_cpu_of(pid) for pid in (os.getpid(), *helpers))


def _cpu_of(pid: int) -> float:
    # The command name, in parentheses, may hold spaces: count the fields after it.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / _TICKS


def _read(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace")
