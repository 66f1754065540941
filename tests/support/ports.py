"""Ports for servers that are told where to listen, and that a test may stop and start again.

They are below those that systems give to outgoing connections. Each test process has a part of them to itself and hands
out none twice, so that nobody takes the port of a server that is down for a moment.
"""

from __future__ import annotations

import os
import random
import socket
from contextlib import suppress

PORTS = range(20_000, 32_700)
PARTS = 8
"""Test processes at one time."""

_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_mine = PORTS[_worker % PARTS :: PARTS]
_left = iter(random.sample(_mine, len(_mine)))  # in no order, for there may be other test runs on this machine


def free_port() -> int:
    for port in _left:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"no free port from {PORTS.start} to {PORTS.stop}")
