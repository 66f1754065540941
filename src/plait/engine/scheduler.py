"""Fires schedules: reads those that are due, decides, and starts their runs.

    due ──> read ──> decide ──> commit: these times start, these don't ──> start runs ──> commit: they are started
              ▲                   │ somebody else was faster                  │ died here: whoever looks next
              └───────────────────┘                                           └ starts them, and gets the same runs

An engine handles the schedules of its own shards when they are due, and others once they are overdue by `GRACE`: so
each is one engine's business, and yet no schedule waits for an engine that is gone, stopped, or without the code.
Whichever engine fires it, a time becomes one run: the decision is one commit, and the run's id is derived from the
time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from plait.kernel.clock import Alarm
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.ids import Millis, RunId, run_key
from plait.kernel.inputs import Cancel
from plait.kernel.kernel import Kernel
from plait.schedules.decide import AHEAD, Round, decide, must_end, settled, started
from plait.schedules.state import Slot

from .schedule_book import Due, Entry, ScheduleBook

log = logging.getLogger("plait.schedules")

GRACE = 5_000
"""Milliseconds for which a due schedule is left to the engine that owns its shard."""
_RECHECK = 10_000
"""Milliseconds between two checks of a schedule that waits for something."""
_PATIENCE = 60_000
"""Milliseconds for which a failing start is retried, in addition to the schedule's own limit."""
_AFTER_BUG = 60_000
_AFTER_NEWS = 0.2
"""Seconds in which all notifications of other processes cause one check."""
_FIRST_PAGE = 20
"""Size of the first page: most checks find few due schedules, or none."""
_PAGE = 500
_AT_ONCE = 200
_LATER = (404, 429)
"""Statuses that may change in a moment, or in another engine: the code is missing here, or too many starts."""

StartRun = Callable[[Entry, Slot], Awaitable[object]]
"""Starts a run; returns the existing one if it was started before."""


class Scheduler:
    def __init__(self, kernel: Kernel, book: ScheduleBook, start_run: StartRun) -> None:
        self._kernel = kernel
        self._book = book
        self._start_run = start_run
        self._at_work = False
        self._alarm: Alarm | None = None
        self._next: Millis | None = None
        self._news: Alarm | None = None
        self._later: dict[tuple[str, str], Millis] = {}
        """Due schedules, and when they become our business."""
        self._ends: dict[tuple[str, str], asyncio.Task[None]] = {}
        """Tasks that wait for the end of a run on behalf of a schedule."""
        self._looking = self._again = False
        self._seen = Millis(0)
        """Time of the latest check; 0 before the first."""

    # -- life ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._at_work = True
        self._kernel.on_news(self._hear)
        self._kernel.keep_trying(self.look)

    def stop(self) -> None:
        self._at_work = False
        for alarm in (self._alarm, self._news):
            if alarm is not None:
                alarm.cancel()
        for task in self._ends.values():
            task.cancel()

    def note(self, due: Millis | None) -> None:
        """Sets the time of the next check, unless an earlier one is set."""
        if not self._at_work or due is None:
            return
        if due <= self._kernel.clock.now():
            self._kernel.keep_trying(self.look)
        elif self._next is None or due < self._next:
            self._set_alarm(due)

    # -- looking -------------------------------------------------------------------------------------------------

    async def look(self) -> None:
        """Checks all due schedules, and sets the alarm for the rest; calls during a check cause one more."""
        self._again = True
        if self._looking:
            return
        self._looking = True
        try:
            while self._again:
                self._again = False
                self._next = None
                self.note(await self._look_once())
        finally:
            self._looking = False

    async def _look_once(self) -> Millis | None:
        """One check; returns when the next is due."""
        now = self._kernel.clock.now()
        everywhere = now < self._seen - AHEAD or not self._seen
        self._seen = now
        wake: Millis | None = None
        after: str | None = None
        while True:
            size = _FIRST_PAGE if after is None else _PAGE
            page = await self._book.due(after, size)
            ready = [due for due in page if self._ready_at(due) <= now or due.noted_at > now + AHEAD]
            later = [self._ready_at(due) for due in page if due not in ready]
            for first in range(0, len(ready), _AT_ONCE):
                later += await self._look_at_some(ready[first : first + _AT_ONCE], now)
            if later:
                wake = min(later) if wake is None else min(wake, *later)
            if len(page) < size:
                return wake
            last = page[-1].at
            if not everywhere and last > now and wake is not None and last >= wake:
                return wake
            after = page[-1].id

    async def _look_at_some(self, ready: Sequence[Due], now: Millis) -> list[Millis]:
        entries = await self._read(ready)
        found = await asyncio.gather(
            *(self._look_at(due, now, entries.get((due.namespace, due.name))) for due in ready), return_exceptions=True
        )
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return [each for each in found if isinstance(each, int)]

    async def _read(self, ready: Sequence[Due]) -> Mapping[tuple[str, str], Entry]:
        """Reads schedules in two queries, however many they are; none if that fails, so that each is read by itself."""
        try:
            return await self._book.get_many([(due.namespace, due.name) for due in ready])
        except Unavailable:
            raise
        except PlaitError:
            return {}

    def _ready_at(self, due: Due) -> Millis:
        """When this engine should handle it."""
        own = self._kernel.owns(RunId(f"{due.namespace}/{due.name}"))
        at = due.at if own else due.at + GRACE
        return Millis(max(at, self._later.get((due.namespace, due.name), 0)))

    async def _look_at(self, due: Due, looked: Millis, entry: Entry | None) -> Millis | None:
        try:
            again = await self.fire(due.namespace, due.name, looked, entry)
            if again is None and await self._book.get(due.namespace, due.name) is None:
                await self._book.forget(due)
            return again
        except Unavailable:
            raise
        except Exception as error:  # one unreadable schedule must not stop the others
            level = logging.WARNING if isinstance(error, PlaitError) else logging.ERROR
            log.log(level, "schedule %s: %s", due.name, error, exc_info=level == logging.ERROR)
            return self._put_off(due.namespace, due.name, Millis(self._kernel.clock.now() + _AFTER_BUG))

    # -- one schedule --------------------------------------------------------------------------------------------

    async def fire(
        self, namespace: str, name: str, looked: Millis | None = None, entry: Entry | None = None
    ) -> Millis | None:
        """Decides and starts whatever is possible now. Returns when to check again; None if there is nothing to wait
        for. `entry`: the schedule, if it was just read."""
        entry = entry or await self._book.get(namespace, name)
        while entry is not None:
            now = self._kernel.clock.now()
            stuck = False
            if entry.state.starting:
                found = await self._start_all(entry, now)
                stuck = bool(found.state.starting)
            else:
                running = await self.running(entry)
                found = decide(name, entry.settings, entry.timing, entry.state, now, running, looked)
            if found.state == entry.state:
                return await self._wait(entry, now)
            changed = await self._book.change(entry, found.state, found.fires)
            if changed is not None and stuck:
                return self._put_off(namespace, name, Millis(now + _RECHECK))
            if changed is not None and not changed.state.starting and _is_later(changed.state.due, now):
                return await self._wait(changed, now)  # nothing is left to decide: its run need not be read
            entry = changed or await self._book.get(namespace, name)
        return None

    async def running(self, entry: Entry) -> set[str]:
        """Its runs that have not ended."""
        keys = [run_key(entry.namespace, each) for each in entry.state.active]
        rows = await asyncio.gather(*map(self._kernel.store.run, keys))
        known = zip(entry.state.active, rows, strict=True)
        return {each for each, row in known if row is not None and row.status == "running"}

    async def _start_all(self, entry: Entry, now: Millis) -> Round:
        """Starts the chosen times. Those that can't start now stay; in the end their failure is recorded."""
        found, slots = Round(entry.state), entry.state.starting
        failures = await asyncio.gather(*(self._start(entry, slot, now) for slot in slots))
        for slot, failure in zip(slots, failures, strict=True):
            if failure is not None:
                one = started(entry.name, found.state, slot, now, failure)
                found = Round(one.state, [*found.fires, *one.fires])
        return Round(settled(found.state, entry.timing, now), found.fires) if found.fires else found

    async def _start(self, entry: Entry, slot: Slot, now: Millis) -> str | None:
        """Starts one run. Returns why it can't be started, empty if it was; None if that may change."""
        try:
            await self._start_run(entry, slot)
        except Unavailable:
            raise
        except PlaitError as error:
            if error.status in _LATER and now < slot.since + entry.settings.catchup_ms + _PATIENCE:
                log.warning("schedule %s: its run can't be started yet: %s", entry.name, error)
                return None
            return error.text
        return ""

    # -- waiting -------------------------------------------------------------------------------------------------

    async def _wait(self, entry: Entry, now: Millis) -> Millis | None:
        state, key = entry.state, (entry.namespace, entry.name)
        if state.due is None or state.due > now:
            self._later.pop(key, None)
            return state.due
        for each in must_end(state):
            cancel = Cancel(f"schedule {entry.name}: the next run takes its place")
            await self._kernel.send(run_key(entry.namespace, each), cancel, f"schedule:{each}", queued=True)
        if state.active and not state.starting:
            self._await_end(*key, state.active[-1])
        # While a run can't be started no time is decided, and the next one may have passed long ago
        following = None if state.paused or state.starting else entry.timing.next(state.cursor)
        at = min(now + _RECHECK, max(now + 1, following or now + _RECHECK))
        return self._put_off(*key, Millis(at))

    def _put_off(self, namespace: str, name: str, until: Millis) -> Millis:
        self._later[namespace, name] = until
        return until

    def _await_end(self, namespace: str, name: str, run: str) -> None:
        """Checks again when the run ends, before the next time comes. Like an alarm, only a hint."""
        known = self._ends.get((namespace, name))
        if self._at_work and (known is None or known.done()):
            ended = asyncio.get_running_loop().create_task(self._ended(namespace, name, run))
            self._ends[namespace, name] = ended
            ended.add_done_callback(lambda _: self._ends.pop((namespace, name), None))

    async def _ended(self, namespace: str, name: str, run: str) -> None:
        try:
            outcome = await self._kernel.outcome(run_key(namespace, run))
        except PlaitError:
            return  # the engine stops, or the store is unavailable: the next check finds it
        if outcome.blocked is None:
            self._kernel.keep_trying(partial(self._look_again, namespace, name))

    async def _look_again(self, namespace: str, name: str) -> None:
        self._later.pop((namespace, name), None)
        self.note(await self.fire(namespace, name))

    # -- alarms --------------------------------------------------------------------------------------------------

    def _set_alarm(self, due: Millis) -> None:
        self._next = due
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._kernel.clock.call_at(due, self._ring)

    def _ring(self) -> None:
        due, now = self._next, self._kernel.clock.now()
        if not self._at_work:
            return
        if due is not None and now < due and now >= self._seen - AHEAD:  # never early
            self._set_alarm(due)
        else:
            self._kernel.keep_trying(self.look)

    def _hear(self) -> None:
        """Another process may have saved a schedule."""
        if self._at_work and self._news is None:
            self._news = self._kernel.clock.call_later(_AFTER_NEWS, self._look_at_news)

    def _look_at_news(self) -> None:
        self._news = None
        self._kernel.keep_trying(self.look)


def _is_later(due: Millis | None, now: Millis) -> bool:
    return due is None or due > now
