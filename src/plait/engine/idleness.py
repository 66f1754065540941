"""Whether any work is left, for an engine that is started on demand and ends when idle.

Work is what moves by itself: inputs not yet taken, decisions and tasks in flight here, queued tasks of the whole
database, and timers that fire soon, including retries. A run that waits for a person, a message or a later time is no
work: whatever wakes it must start an engine.
"""

from __future__ import annotations

import logging
from typing import Final

from plait.kernel.clock import sleep
from plait.kernel.errors import PlaitError
from plait.kernel.kernel import Kernel

log = logging.getLogger("plait.engine")

SOON: Final = 60.0
"""Seconds until a timer that is worth waiting for."""
QUIET: Final = 2.0
"""Seconds without work that count as idle: what just ended may cause more."""
_LOOKS: Final = 5
"""Checks within that time."""


async def until_idle(kernel: Kernel) -> None:
    """Returns once there has been no work for a while."""
    quiet = 0
    while quiet <= _LOOKS:
        await sleep(kernel.clock, QUIET / _LOOKS)
        try:
            quiet = 0 if await has_work(kernel) else quiet + 1
        except PlaitError as error:  # an unavailable database may have some
            log.warning("whether work is left is not known: %s", error)
            quiet = 0


async def has_work(kernel: Kernel) -> bool:
    if not kernel.idle:
        return True
    census = await kernel.store.census()
    soon = census.due is not None and census.due <= kernel.clock.now() + SOON * 1000
    return soon or census.inbox > 0 or bool(await kernel.store.queues.lengths())
