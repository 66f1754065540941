"""Durable timers: rows in the store, fired when due. None is kept in memory, however many there are."""

from __future__ import annotations

from .background import Background
from .clock import Alarm, Clock
from .ids import Millis, RunId, TaskToken
from .inputs import TimerFired
from .leases import Leases
from .sources import Recipient
from .store import Store, TimerRow

_AT_ONCE = 500
_AGAIN = 1000


class Timers:
    def __init__(
        self, store: Store, clock: Clock, leases: Leases, recipient: Recipient, background: Background
    ) -> None:
        self._store = store
        self._clock = clock
        self._leases = leases
        self._recipient = recipient
        self._background = background
        self._next: Millis | None = None
        self._alarm: Alarm | None = None
        self._firing: dict[tuple[RunId, TaskToken], Millis] = {}
        """Timers being fired, with their due times: one set again under the same name is another timer."""
        self._done: list[tuple[RunId, TaskToken]] = []
        """Timers fired during a read, which may still return them."""
        self._looking = False
        self._again = False

    def note(self, due: Millis) -> None:
        """A timer was committed."""
        if self._next is None or due < self._next:
            self._schedule(due)

    def fired(self, run_id: RunId, token: TaskToken) -> None:
        """The firing is on disk."""
        if self._looking:
            self._done.append((run_id, token))
        else:
            self._firing.pop((run_id, token), None)

    def forget(self, run_id: RunId) -> None:
        self._firing = {place: due for place, due in self._firing.items() if place[0] != run_id}

    def look_soon(self) -> None:
        self._background.keep_trying(self.look)

    async def look(self) -> None:
        """Fires due timers, and sets the alarm for the next; calls during a read cause one more round."""
        self._again = True
        if self._looking:
            return
        self._looking = True
        shards, now = self._leases.shards, self._clock.now()
        try:
            while self._again:
                self._again = False
                for place in self._done:
                    self._firing.pop(place, None)
                self._done.clear()
                shards, now = self._leases.shards, self._clock.now()
                rows = [
                    row for row in await self._store.due(shards, now, _AT_ONCE + len(self._firing)) if self._new(row)
                ]
                for row in rows:
                    self._again = True
                    self._firing[row.run_id, row.token] = row.due
                    self._leases.note(row.run_id, row.shard)
                    self._recipient.deliver(row.run_id, TimerFired(row.token, row.due), None)
        finally:
            self._looking = False
        self._next = None
        under_way = bool(self._firing)
        due = await self._store.next_due(shards, now if under_way else Millis(0))
        if due is not None:
            self.note(due)
        if under_way:
            # Overdue timers are in flight, or could not fire: check them again, but without spinning
            self.note(Millis(now + _AGAIN))

    async def start(self) -> None:
        """Nothing to do: reading starts with the first shards."""

    async def stop(self) -> None:
        self._disarm()

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def _new(self, row: TimerRow) -> bool:
        return self._firing.get((row.run_id, row.token)) != row.due

    def _schedule(self, due: Millis) -> None:
        self._next = due
        self._disarm()
        self._alarm = self._clock.call_at(due, self._ring)

    def _ring(self) -> None:
        due = self._next
        if due is not None and due > self._clock.now():  # never early
            self._schedule(due)
        else:
            self.look_soon()
