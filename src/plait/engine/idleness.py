"""Whether any work is left, for an engine that is started on demand and ends when idle.

Work is what moves by itself: inputs that nobody has taken, decisions and tasks under way here, tasks on queues of the
whole database, timers that fire soon, retries among them, and runs on queues that a rate or a delay lets start soon. A
run that waits for a person, a message or a later time is no work: whatever wakes it has to start an engine.
"""

from __future__ import annotations

import logging
from typing import Final

from plait.kernel.clock import sleep
from plait.kernel.errors import PlaitError
from plait.kernel.kernel import Kernel

log = logging.getLogger("plait.engine")

SOON: Final = 60.0
"""Seconds until a timer, or a start, that is worth waiting for."""
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
    if soon or census.inbox > 0 or await kernel.store.queues.lengths():
        return True
    return await _may_start_soon(kernel)


async def _may_start_soon(kernel: Kernel) -> bool:
    """Whether time alone lets a run on a queue start. One that waits for a slot gets it from whoever has that."""
    queues = kernel.store.run_queues
    for namespace, queue in await queues.queues():
        wait = (await queues.admit(namespace, queue, 0)).wait
        if wait is not None and wait <= SOON * 1000:
            return True
    return False
