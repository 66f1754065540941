"""Watches tasks on queues: wakes waiting claimers, and finds claims whose workers sent no heartbeat in time.

Only the store knows all claims, because any process may claim. So it is polled, but only while a task of our shards is
on a queue.
"""

from __future__ import annotations

import asyncio

from .background import Background
from .clock import Alarm, Clock
from .inputs import ClaimExpired
from .leases import Leases
from .sources import Recipient
from .store import Store

_EVERY = 1.0
"""Seconds between two polls for expired claims."""
_AT_ONCE = 500


class QueueWatch:
    def __init__(
        self, store: Store, clock: Clock, leases: Leases, recipient: Recipient, background: Background
    ) -> None:
        self._store = store
        self._clock = clock
        self._leases = leases
        self._recipient = recipient
        self._background = background
        self._waiting: set[asyncio.Event] = set()
        self.rings = 0
        """How often a task may have become available."""
        self._alarm: Alarm | None = None

    @property
    def alarm(self) -> Alarm | None:
        """Fires at the next poll."""
        return self._alarm

    # -- tasks that come -----------------------------------------------------------------------------------------

    def queued(self) -> None:
        """A task of our shards was put on a queue."""
        self.ring()
        if self._alarm is None:
            self._schedule()

    def ring(self) -> None:
        """A task may be available: wakes all claimers."""
        self.rings += 1
        for event in self._waiting:
            event.set()

    def bell(self) -> Bell:
        return Bell(self._waiting, self._clock)

    # -- workers that are gone -----------------------------------------------------------------------------------

    async def look(self) -> None:
        found = await self._store.queues.expired(self._leases.shards, _AT_ONCE)
        for claim in found.claims:
            expired = ClaimExpired(claim.token, claim.opening, claim.worker, claim.why, claim.progress)
            # A claim that is not handled before the next poll is delivered again: that changes nothing
            self._recipient.deliver(claim.run_id, expired, None)
        if found.any_left:
            self._schedule()

    async def start(self) -> None:
        """Nothing to do: polling starts with the first shards."""

    async def stop(self) -> None:
        self._disarm()

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _schedule(self) -> None:
        self._disarm()
        self._alarm = self._clock.call_later(_EVERY, self._look_now)

    def _look_now(self) -> None:
        self._alarm = None
        self._background.keep_trying(self.look)


class Bell:
    """Signals that a task may be available. A signal before the wait is not missed."""

    def __init__(self, waiting: set[asyncio.Event], clock: Clock) -> None:
        self._waiting = waiting
        self._clock = clock
        self._event = asyncio.Event()

    def __enter__(self) -> Bell:
        self._waiting.add(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.discard(self._event)

    async def wait(self, seconds: float) -> None:
        """Waits for a signal, or until the time has passed."""
        alarm = self._clock.call_later(seconds, self._event.set)
        try:
            await self._event.wait()
        finally:
            alarm.cancel()
        self._event.clear()
