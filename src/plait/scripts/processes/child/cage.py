"""Removes privileges from the process that a script must never have, even with a vulnerable interpreter.

No new file descriptors (so no files, sockets or pipes), no writes to files, no core dumps, no children, no privileges,
bounded memory; it dies with the engine that started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_NOBODY = 65534

_HEADROOM = 256 * 1024 * 1024
"""Address space beside the script's own: for its arguments and result in transit."""
_GRACE = 1.0
"""Seconds past the time limit after which the process ends itself, in case the engine has not killed it."""


class Cage:
    """The limits of this process. Created once, after all imports: nothing can be opened afterwards."""

    def __init__(self) -> None:
        self._base = _address_space()
        _drop_privileges()
        if sys.platform == "linux":
            _die_with_parent()
        for limit, value in _FIXED.items():
            resource.setrlimit(limit, (value, value))

    def begin(self, seconds: float, memory: int) -> None:
        """Arms the limits of one script."""
        resource.setrlimit(resource.RLIMIT_AS, (self._base + memory + _HEADROOM, resource.RLIM_INFINITY))
        cpu = math.ceil(time.process_time() + seconds + _GRACE)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
        signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)

    def end(self) -> None:
        """Disarms them: between scripts the process may wait as long as it likes."""
        signal.setitimer(signal.ITIMER_REAL, 0)


_FIXED = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: 3,
    resource.RLIMIT_NPROC: 0,
}


def _address_space() -> int:
    if sys.platform != "linux":
        return _HEADROOM
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _drop_privileges() -> None:
    """Workers of an engine that runs as root do not run as root, if the host allows it."""
    if os.geteuid() == 0:
        with contextlib.suppress(PermissionError):
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)


def _die_with_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
