"""Limits the connections of a process to fewer than it has descriptors: if those ran out, it could open neither its
database nor a log. A connection over the limit is refused with a reason, which is also logged for the operator.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from time import monotonic

try:
    import resource
except ImportError:  # Windows
    resource = None

log = logging.getLogger("plait.server")

_WANTED = 65_536
"""Descriptors to ask for, if the hard limit allows them."""
_RESERVE = 200
"""Descriptors kept for everything else: database, steps that call services, scripts, files."""
_UNKNOWN = 10_000
_QUIET = 10.0
"""Seconds between two log lines about refused connections."""


def most_connections() -> int:
    """Returns how many connections this process has descriptors for, after raising its soft limit."""
    if resource is None:
        return _UNKNOWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    wanted = _WANTED if hard == endless else min(hard, _WANTED)
    if soft != endless and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    descriptors = _WANTED if soft == endless else soft
    return max(descriptors // 2, descriptors - _RESERVE)


class Connections:
    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._clock = clock
        self._refused = 0
        self._quiet_until = 0.0

    def admits(self, open: int) -> bool:
        """Whether the newest of `open` connections may stay. Logs refusals, at most once every `_QUIET` seconds."""
        if open <= self._most:
            return True
        self._refused += 1
        if self._clock() >= self._quiet_until:
            self._quiet_until = self._clock() + _QUIET
            log.error(
                "refused %d connections: %d are open, and this process has descriptors for no more; "
                "raise its limit (ulimit -n, LimitNOFILE=), or find who keeps them open",
                self._refused,
                self._most,
            )
            self._refused = 0
        return False
