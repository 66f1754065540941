"""`engine.schedules`: runs started repeatedly, by a cron expression or an interval.

Changing a schedule, in any process, changes records; engines on the same database are notified.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Any, Unpack

import msgspec

from plait.api.schedule import (
    DEFAULT_CATCHUP,
    SHOWN,
    Backfill,
    BackfillOverlap,
    BackfillStarted,
    Fire,
    Overlap,
    Schedule,
    ScheduleSettings,
    Triggered,
)
from plait.kernel.bundle import Reference, Startable
from plait.kernel.errors import Conflict, InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, check_namespace
from plait.kernel.kernel import Kernel
from plait.kernel.records import Records
from plait.kernel.run_queues import QueueChoice
from plait.schedules import decide
from plait.schedules.decide import Round
from plait.schedules.settings import checked, moment_of, settings_of, span_of
from plait.schedules.state import Slot, State, run_id
from plait.schedules.timing import Timing, timing_of

from .schedule_book import Entry, Saved, ScheduleBook
from .schedule_counts import ScheduleCounts
from .schedule_starts import ScheduleStarts
from .scheduler import Scheduler

MOST_BACKFILLED = 10_000
"""Most times in one backfill."""
_FIELDS = ScheduleSettings.__struct_fields__

Change = Callable[[Entry, Millis], Round]


class Schedules:
    def __init__(self, kernel: Kernel, records: Records, starts: ScheduleStarts) -> None:
        self._kernel = kernel
        self._clock = kernel.clock
        self._book = ScheduleBook(records, kernel.clock)
        self._starts = starts
        self.scheduler = Scheduler(kernel, self._book, starts.start)

    # -- settings ------------------------------------------------------------------------------------------------

    async def create(
        self,
        name: str,
        definition: str | Startable | Reference,
        input: Any = None,
        *,
        cron: str | None = None,
        every: float | timedelta | None = None,
        tz: str = "UTC",
        overlap: Overlap = "skip",
        catchup: float | timedelta = DEFAULT_CATCHUP / 1000,
        labels: dict[str, str] | None = None,
        deadline: float | timedelta | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        replace: bool = False,
        check: bool = True,
        **queueing: Unpack[QueueChoice],
    ) -> Schedule:
        """Creates a schedule; durable when this returns. `cron` has five fields and is read in the time zone `tz`;
        `every` is an interval in seconds. `catchup` is how late a missed time still starts a run. With `replace`, an
        existing schedule of that name gets these settings: it stays paused if it was, and if its times change, they
        count from now. A definition that is unknown here, or does not accept the input, is refused, unless `check` is
        False. Its runs wait on a `queue`, if one is named."""
        settings = settings_of(
            definition,
            input,
            cron=cron,
            every=every,
            tz=tz,
            overlap=overlap,
            catchup=catchup,
            labels=labels,
            deadline=deadline,
            **queueing,
        )
        return await self.save(name, settings, namespace, new=not replace, check=check)

    async def save(
        self,
        name: str,
        settings: ScheduleSettings,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        new: bool = False,
        check: bool = True,
    ) -> Schedule:
        self._kernel.must_live()
        check_namespace(namespace)
        settings = checked(name, settings)
        timing = timing_of(settings.cron, settings.every_ms, settings.tz)
        now = self._clock.now()
        if timing.next(now) is None:
            raise InvalidInput("schedule.bad_timing", "the schedule has no next time", fix="use other times")
        if check:
            await self._starts.check(settings, namespace)
        while True:
            known = await self._book.get(namespace, name)
            if known is not None and new:
                if _saved(settings, known.settings.created_at, known.settings.updated_at) != known.settings:
                    raise _exists(name)
                return shown(known, now)  # sent again because the answer was lost
            if known is None:
                saved = _saved(settings, now, now)
                state = decide.resumed(State(cursor=now), timing, now)
                done = await self._book.add(namespace, name, saved, state)
            else:
                saved = _saved(settings, known.settings.created_at, now)
                state = known.state
                if known.timing != timing and not state.paused:
                    state = decide.resumed(state, timing, now)
                done = await self._book.change(known, state, settings=saved) is not None
            if done:
                self.scheduler.note(state.due)
                return shown(Entry(namespace, name, saved, state, now), now)

    @property
    def counts(self) -> ScheduleCounts:
        """Outcomes of the times that this process handled."""
        return self._book.counts

    async def delete(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Deletes a schedule; its runs stay, and continue."""
        while not await self._book.remove(await self._found(name, namespace)):
            pass  # it fired meanwhile

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE, *, times: int = SHOWN) -> Schedule:
        """A schedule with its next times."""
        return shown(await self._found(name, namespace), self._clock.now(), times)

    async def list(
        self, namespace: str = DEFAULT_NAMESPACE, *, after: str | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Schedules by name, after the name `after`, each with its next time."""
        self._kernel.must_live()
        now = self._clock.now()
        return [shown(entry, now, 1) for entry in await self._book.page(check_namespace(namespace), after, limit)]

    async def fires(self, name: str, namespace: str = DEFAULT_NAMESPACE, *, limit: int = 50) -> list[Fire]:
        """The outcomes of its times, newest first. The newest 200 are kept."""
        await self._found(name, namespace)
        return await self._book.fires(namespace, name, limit)

    async def preview(
        self,
        cron: str | None = None,
        every: float | timedelta | None = None,
        tz: str = "UTC",
        *,
        after: datetime | None = None,
        count: int = SHOWN,
    ) -> list[Millis]:
        """The next times of a schedule with these settings."""
        start = self._clock.now() if after is None else moment_of("after", after)
        return timing_of(cron, None if every is None else span_of("every", every), tz).times(start, count)

    # -- control -------------------------------------------------------------------------------------------------

    async def pause(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Schedule:
        """Pauses a schedule: times that come while it is paused are skipped for good. Runs continue, backfills wait."""

        def pause(entry: Entry, now: Millis) -> Round:
            return Round(decide.settled(msgspec.structs.replace(entry.state, paused=True), entry.timing, now))

        return await self._changed(name, namespace, pause)

    async def resume(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Schedule:
        """Resumes a schedule from now on."""

        def resume(entry: Entry, now: Millis) -> Round:
            return Round(decide.resumed(entry.state, entry.timing, now) if entry.state.paused else entry.state)

        return await self._changed(name, namespace, resume)

    async def trigger(
        self, name: str, namespace: str = DEFAULT_NAMESPACE, *, overlap: Overlap | None = None
    ) -> Triggered:
        """Starts a run now, even while paused; durable when this returns. `overlap` overrides the schedule's own
        setting for a run that has not ended."""
        while True:
            entry = await self._found(name, namespace)
            now, running = self._clock.now(), await self.scheduler.running(entry)
            slot = Slot(now, overlap or entry.settings.overlap)
            found, slot = decide.trigger(name, entry.state, slot, now, running)
            if skipped := [fire for fire in found.fires if fire.scheduled_at == slot.at]:
                raise Conflict(
                    "schedule.overlap",
                    f"schedule {name} can't start a run now",
                    why=skipped[0].why,
                    fix="wait for its end, or trigger with another overlap: queue, allow or cancel_previous",
                )
            if await self._book.change(entry, found.state, found.fires) is not None:
                self.scheduler.note(found.state.due)
                waits = any(each.at == slot.at for each in found.state.waiting)
                return Triggered(run_id=run_id(name, slot.at), outcome="waiting" if waits else "starting")

    async def backfill(
        self,
        name: str,
        since: datetime,
        until: datetime,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        overlap: BackfillOverlap = "queue",
    ) -> BackfillStarted:
        """Starts runs for past times, from `since` to `until`, both included: one after the other, or concurrently with
        `allow`. Times that have a run get no other."""
        first, last = moment_of("since", since), moment_of("until", until)
        found: list[Millis] = []

        def fill(entry: Entry, now: Millis) -> Round:
            found[:] = _past(entry.timing, first, last, now)
            added = Backfill(after=Millis(first - 1), until=found[-1], overlap=overlap)
            state = msgspec.structs.replace(entry.state, backfills=(*entry.state.backfills, added))
            return Round(decide.settled(state, entry.timing, now))

        await self._changed(name, namespace, fill)
        return BackfillStarted(count=len(found), first=found[0], last=found[-1])

    async def _changed(self, name: str, namespace: str, change: Change) -> Schedule:
        while True:
            entry = await self._found(name, namespace)
            now = self._clock.now()
            found = change(entry, now)
            same = found.state == entry.state
            changed = entry if same else await self._book.change(entry, found.state, found.fires)
            if changed is not None:
                self.scheduler.note(changed.state.due)
                return shown(changed, now)

    async def _found(self, name: str, namespace: str) -> Entry:
        self._kernel.must_live()
        found = await self._book.get(check_namespace(namespace), name)
        if found is None:
            raise NotFound("schedule.unknown", f"there is no schedule {name}", fix="`plait schedules` lists them")
        return found


def shown(entry: Entry, now: Millis, times: int = SHOWN) -> Schedule:
    state = entry.state
    fields = {name: getattr(entry.settings, name) for name in _FIELDS}
    return Schedule(
        **fields,
        name=entry.name,
        namespace=entry.namespace,
        created_at=entry.settings.created_at,
        updated_at=entry.settings.updated_at,
        paused=state.paused,
        next=[] if state.paused else entry.timing.times(Millis(max(now, state.cursor)), times),
        last=state.last,
        running=[*state.active, *(run_id(entry.name, slot.at) for slot in state.starting)],
        waiting=[slot.at for slot in state.waiting],
        backfills=list(state.backfills),
    )


def _saved(settings: ScheduleSettings, created_at: Millis, updated_at: Millis) -> Saved:
    fields = {name: getattr(settings, name) for name in _FIELDS}
    return Saved(**fields, created_at=created_at, updated_at=updated_at)


def _past(timing: Timing, first: Millis, last: Millis, now: Millis) -> list[Millis]:
    """The past times of a range; raises if there are none, or too many."""
    until = min(last, now)
    found = list(islice(takewhile(lambda at: at <= until, timing.after(Millis(first - 1))), MOST_BACKFILLED + 1))
    if not found:
        raise InvalidInput(
            "schedule.nothing_to_backfill",
            "the schedule has no time in that range that has passed",
            fix="use an earlier or a longer range; `plait schedules preview` shows its times",
        )
    if len(found) > MOST_BACKFILLED:
        raise InvalidInput(
            "schedule.backfill_too_long",
            f"the range has more than {MOST_BACKFILLED:,} times",
            fix="backfill it in parts",
        )
    return found


def _exists(name: str) -> Conflict:
    return Conflict("schedule.exists", f"there is a schedule {name} already", fix="use another name, or replace it")
