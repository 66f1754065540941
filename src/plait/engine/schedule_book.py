"""Storage of schedules: as records, beside the runs.

    schedule              namespace  nightly                                    its settings
    schedule_state        namespace  nightly                                    its state; see `State`
    schedule_due          namespace  001789621200000/namespace/nightly          when it is due next
    schedule_fires/nightly namespace 0000000000000042                           the outcomes of its times

Every change is one commit that expects the state as it was read, so that one of two concurrent writers reads again. Due
schedules are found by time: no others are read.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from plait.api.schedule import Fire, ScheduleSettings
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Damaged, PlaitError
from plait.kernel.ids import Millis
from plait.kernel.records import Record, RecordChange, Records, read_body
from plait.schedules.decide import numbered
from plait.schedules.state import KEPT_FIRES, State
from plait.schedules.timing import Timing, timing_of

from .schedule_counts import ScheduleCounts

log = logging.getLogger("plait.schedules")

_SETTINGS, _STATE, _DUE = "schedule", "schedule_state", "schedule_due"


class Saved(ScheduleSettings, frozen=True, kw_only=True):
    """Settings as stored."""

    created_at: Millis
    updated_at: Millis


@dataclass(frozen=True, slots=True)
class Entry:
    """A schedule as it was read."""

    namespace: str
    name: str
    settings: Saved
    state: State
    version: Millis
    """Version of the state."""

    @property
    def timing(self) -> Timing:
        return timing_of(self.settings.cron, self.settings.every_ms, self.settings.tz)


@dataclass(frozen=True, slots=True)
class Due:
    """When a schedule is due, and since when that is known."""

    id: str
    at: Millis
    namespace: str
    name: str
    noted_at: Millis


class ScheduleBook:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self.counts = ScheduleCounts()

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, namespace: str, name: str) -> Entry | None:
        # The state first: if the settings are newer, the next change conflicts
        state = await self._records.get(_STATE, namespace, name)
        settings = None if state is None else await self._records.get(_SETTINGS, namespace, name)
        return None if state is None or settings is None else _entry(settings, state)

    async def get_many(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Entry]:
        """The readable schedules among these namespaces and names."""
        states = await self._records.named(_STATE, names)  # first, as above
        settings = await self._records.named(_SETTINGS, [*states])
        found: dict[tuple[str, str], Entry] = {}
        for name, known in settings.items():
            with suppress(PlaitError):  # reading it alone raises the error
                found[name] = _entry(known, states[name])
        return found

    async def page(self, namespace: str, after: str | None, limit: int) -> list[Entry]:
        """Schedules by name. One created or deleted during the read may be missing."""
        entries: list[Entry] = []
        while states := await self._records.list(_STATE, namespace, after=after, limit=limit - len(entries)):
            settings = await self._records.named(_SETTINGS, [(namespace, state.id) for state in states])
            for state in states:
                if (known := settings.get((namespace, state.id))) is not None:
                    try:
                        entries.append(_entry(known, state))
                    except Damaged as error:  # reading it alone raises the error, too
                        log.error("a schedule is left out of the list: %s", error)
            after = states[-1].id
            if len(entries) >= limit:
                break
        return entries

    async def due(self, after: str | None, limit: int) -> list[Due]:
        """Due times of all namespaces, the earliest first."""
        return [_due(record) for record in await self._records.list(_DUE, after=after, limit=limit)]

    async def fires(self, namespace: str, name: str, limit: int) -> list[Fire]:
        """Outcomes of its times, newest first."""
        found = await self._records.list(_fires_of(name), namespace, limit=limit, newest_first=True)
        return [read_body(record, Fire) for record in found]

    # -- writing -------------------------------------------------------------------------------------------------

    async def add(self, namespace: str, name: str, settings: Saved, state: State) -> bool:
        """Adds a schedule; False if the name is taken."""
        now = self._clock.now()
        changes = [
            RecordChange(_record(_STATE, namespace, name, state, now), "new"),
            RecordChange(_record(_SETTINGS, namespace, name, settings, now), "new"),
            *_moved(namespace, name, None, state.due, now),
        ]
        return await self._records.change_all(_writer(namespace, name), changes)

    async def change(
        self, entry: Entry, state: State, fires: Sequence[Fire] = (), settings: Saved | None = None
    ) -> Entry | None:
        """Changes a schedule and returns it. None, without writing, if it has changed since it was read."""
        now, namespace, name = self._clock.now(), entry.namespace, entry.name
        state, told = numbered(state, fires)
        kept = _record(_STATE, namespace, name, state, Millis(max(now, entry.version + 1)))
        changes = [
            RecordChange(kept, expected=entry.version),
            *_moved(namespace, name, entry.state.due, state.due, now),
        ]
        if settings is not None:
            changes.append(RecordChange(_record(_SETTINGS, namespace, name, settings, now)))
        for fire in told:
            changes.append(RecordChange(_record(_fires_of(name), namespace, _number(fire.number), fire, now)))
            if (old := fire.number - KEPT_FIRES) > 0:
                changes.append(RecordChange(_record(_fires_of(name), namespace, _number(old), None, now), "remove"))
        if not await self._records.change_all(_writer(namespace, name), changes):
            return None
        self.counts.add(told)
        return Entry(namespace, name, settings or entry.settings, state, kept.at)

    async def remove(self, entry: Entry) -> bool:
        """Deletes a schedule with all its records. False if it has changed since it was read."""
        now, namespace, name, last = self._clock.now(), entry.namespace, entry.name, entry.state.fires
        gone = [
            _record(_fires_of(name), namespace, _number(number), None, now)
            for number in range(max(1, last - KEPT_FIRES + 1), last + 1)
        ]
        changes = [
            RecordChange(_record(_STATE, namespace, name, None, now), "remove", expected=entry.version),
            RecordChange(_record(_SETTINGS, namespace, name, None, now), "remove"),
            *_moved(namespace, name, entry.state.due, None, now),
            *(RecordChange(record, "remove") for record in gone),
        ]
        return await self._records.change_all(_writer(namespace, name), changes)

    async def forget(self, due: Due) -> None:
        """Deletes the due time of a schedule that no longer exists."""
        await self._records.remove(_DUE, due.namespace, due.id)


def _entry(settings: Record, state: Record) -> Entry:
    return Entry(
        state.namespace,
        state.id,
        read_body(settings, Saved),
        read_body(state, State),
        state.at,
    )


def _record(kind: str, namespace: str, id: str, body: msgspec.Struct | None, at: Millis) -> Record:
    return Record(kind, namespace, id, values.NULL if body is None else Raw(values.plain(body)), at)


def _moved(namespace: str, name: str, old: Millis | None, new: Millis | None, now: Millis) -> list[RecordChange]:
    """The changes that move its due time."""
    changes: list[RecordChange] = []
    if old is not None and old != new:
        changes.append(RecordChange(_record(_DUE, namespace, _due_id(namespace, name, old), None, now), "remove"))
    if new is not None and old != new:
        changes.append(RecordChange(_record(_DUE, namespace, _due_id(namespace, name, new), None, now), news=True))
    return changes


def _due_id(namespace: str, name: str, at: Millis) -> str:
    return f"{at:015}/{namespace}/{name}"


def _due(record: Record) -> Due:
    at, namespace, name = record.id.split("/")
    return Due(record.id, Millis(int(at)), namespace, name, record.at)


def _fires_of(name: str) -> str:
    return f"schedule_fires/{name}"


def _number(number: int) -> str:
    return f"{number:016}"


def _writer(namespace: str, name: str) -> str:
    return f"schedule/{namespace}/{name}"
