"""Admits queued runs when a run joins a queue, a slot frees up or a delay ends.

Any engine may admit from any queue: the store decides in a transaction, so two engines at once admit no run twice and
exceed no limit. Changes made by other processes arrive as notifications, checked at most once a second. Queues take
turns, and so do namespaces: none waits for the backlog of another, not even for one that grows while it is being
admitted, because the order is rebuilt every few turns.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby, zip_longest
from types import MappingProxyType

from . import values
from .background import Background
from .clock import Alarm, Clock
from .errors import Damaged, ErrorInfo, Unavailable
from .ids import Millis, RunId, shard_of
from .inbox import Inbox
from .inputs import Cancel
from .ready_queue import ReadyQueue
from .store import InboxRow, Store, Write

log = logging.getLogger("plait.kernel")

_AT_ONCE = 50
"""Runs admitted from one queue in one turn."""
_EVERY = Millis(1_000)
"""Milliseconds between two checks while runs wait (another process may not announce a free slot), and between two
checks caused by notifications."""
_TURNS = 8
"""Turns before newly requested namespaces join the order."""


class Admitter:
    def __init__(
        self, store: Store, clock: Clock, queue: ReadyQueue, inbox: Inbox, background: Background, *, enabled: bool
    ) -> None:
        self._store = store
        self._clock = clock
        self._queue = queue
        self._inbox = inbox
        self._background = background
        self._enabled = enabled
        """False: other engines admit runs, and learn of changes by notification."""
        self._asked: set[str | None] = set()
        """Namespaces to check; None stands for all."""
        self._looking = False
        self._alarm: Alarm | None = None
        self._due = 0.0
        self._waits: list[float] = []
        """When to check again, kept from checks that were interrupted."""
        self._turns = 0
        self._served: dict[tuple[str, str], int] = {}
        """When queues that have runs had their last turn: who waited longest is next."""
        self._damaged: set[tuple[str, str]] = set()
        """Queues that the log has named."""
        self._looked = float("-inf")

    def ring(self, namespace: str | None = None) -> None:
        """Checks a namespace, or all, after a run joined a queue, a slot freed up or limits changed."""
        if self._enabled:
            self._asked.add(namespace)
            self._background.keep_trying(self.look)

    def news(self) -> None:
        """Another process wrote something, usually unrelated to queues."""
        if self._alarm is None and self._enabled:
            since = (self._clock.monotonic() - self._looked) * 1000
            self._look_in([Millis(round(max(0.0, _EVERY - since)))], every=True)

    async def look(self) -> None:
        """Checks all requested namespaces; calls during a check cause one more round."""
        if self._looking:
            return
        self._looking = True
        try:
            while self._asked:
                asked, self._asked = self._asked, set()
                try:
                    await self._look(None if None in asked else asked)
                except BaseException:
                    self._asked |= asked  # kept for the next try
                    raise
        finally:
            self._looking = False

    async def _look(self, namespaces: Collection[str | None] | None) -> None:
        """Checks these namespaces; None: all."""
        self._looked = self._clock.monotonic()
        known = await self._store.run_queues.queues()
        self._served = {queue: self._served.get(queue, 0) for queue in known}
        queues = in_turn([queue for queue in known if namespaces is None or queue[0] in namespaces], self._served)
        if len(queues) < len(known):
            self._note_wait(_EVERY)
        turns = 0
        while queues:
            full: list[tuple[str, str]] = []
            for place, (namespace, queue) in enumerate(queues):
                if turns >= _TURNS and self._asked:
                    self._asked |= {name for name, _ in [*queues[place:], *full]}
                    return
                turns += 1
                if await self._admit(namespace, queue):
                    full.append((namespace, queue))
            queues = full
        now, waits, self._waits = self._clock.monotonic(), self._waits, []
        self._look_in([Millis(max(0, round((due - now) * 1000))) for due in waits], every=namespaces is None)

    async def _admit(self, namespace: str, queue: str) -> bool:
        """One turn of a queue; returns whether it needs another at once."""
        self._turns += 1
        self._served[namespace, queue] = self._turns
        try:
            found = await self._store.run_queues.admit(namespace, queue, _AT_ONCE)
        except Unavailable:
            self._inbox.look_soon()  # the commit may have succeeded, and nothing else would deliver the admitted runs
            raise
        except Damaged as error:
            if (namespace, queue) not in self._damaged:
                self._damaged.add((namespace, queue))
                log.error("a queue is left alone: %s", error)
            return False
        if found.left:
            self._note_wait(_EVERY)
        if found.wait is not None:
            self._note_wait(found.wait)
        if found.admitted:
            self._inbox.look_soon()
        for run_id in found.overdue:
            await self._expire(run_id)
        return len(found.admitted) == _AT_ONCE

    def _note_wait(self, wait: Millis) -> None:
        self._waits.append(self._clock.monotonic() + wait / 1000)

    def _look_in(self, waits: Sequence[Millis], *, every: bool) -> None:
        """Sets the next check. A check of some namespaces keeps the time already set for the others, unless the new one
        is earlier."""
        due = self._clock.monotonic() + min(waits, default=Millis(0)) / 1000
        if every or not waits:
            self._disarm()
        if waits and (self._alarm is None or due < self._due):
            self._disarm()
            self._alarm, self._due = self._clock.call_later(min(waits) / 1000, self._look_now), due

    async def _expire(self, run_id: RunId) -> None:
        """The deadline passed while the run waited: start it only so that it fails."""
        error = ErrorInfo("DEADLINE_EXCEEDED", "the run's deadline passed", kind="deadline")
        await self._queue.append(
            withdrawal(run_id, Cancel(cause="deadline", error=error), "~overdue", self._clock.now())
        )

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self.ring()

    async def stop(self) -> None:
        self._disarm()

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _look_now(self) -> None:
        self._alarm = None
        self.ring()


def withdrawal(run_id: RunId, cancel: Cancel, key: str, now: Millis) -> Write:
    """The write that cancels a run which may still wait on a queue, without taking a slot."""
    row = InboxRow(run_id, shard_of(run_id), key, values.plain(cancel), now)
    return Write(run_id, row.shard, None, inbox=[row], leaves_queue=True)


def in_turn(
    queues: Sequence[tuple[str, str]], served: Mapping[tuple[str, str], int] = MappingProxyType({})
) -> list[tuple[str, str]]:
    """One queue of each namespace, then a second of each, and so on. Within and among namespaces, the one served
    longest ago is first."""
    by_namespace = [
        sorted(group, key=lambda queue: served.get(queue, 0))
        for _, group in groupby(sorted(queues), key=lambda queue: queue[0])
    ]
    by_namespace.sort(key=lambda group: max(served.get(queue, 0) for queue in group))
    return [queue for turn in zip_longest(*by_namespace) for queue in turn if queue is not None]
