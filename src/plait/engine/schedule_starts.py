"""Starts the runs of schedules like any other run: a schedule's definition is resolved each time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, Unpack

from plait.api.schedule import ScheduleSettings
from plait.kernel.bundle import Bundle, Reference
from plait.kernel.errors import Conflict, InvalidInput
from plait.kernel.ids import run_key
from plait.kernel.queue_options import check_key, place_of
from plait.kernel.run_queues import Queueing
from plait.kernel.store import Store
from plait.schedules.settings import queueing_of
from plait.schedules.state import Slot, moment, run_id

from .schedule_book import Entry

SCHEDULE = "schedule"
"""The label that names a run's schedule."""


class StartRun(Protocol):
    """The signature of `Engine.start`."""

    def __call__(
        self,
        definition: Any,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = ...,
        deadline: float | None = None,
        labels: dict[str, str] | None = None,
        subject: str | None = None,
        pii_fields: Iterable[str] = (),
        by: str = "",
        **queueing: Unpack[Queueing],
    ) -> Awaitable[object]: ...


def _is_queued(settings: ScheduleSettings) -> bool:
    return settings.queue is not None or settings.priority != 0 or settings.partition is not None


Plan = Callable[[Any, Any, str], Awaitable[object]]
"""Raises for what could not be started."""


class ScheduleStarts:
    def __init__(self, store: Store, start: StartRun, plan: Plan, bundle: Callable[[str], Bundle]) -> None:
        self._store = store
        self._start = start
        self._plan = plan
        self._bundle = bundle

    async def check(self, settings: ScheduleSettings, namespace: str) -> None:
        await self._plan(self._definition(settings), settings.input, namespace)
        place = place_of(namespace, queueing_of(settings), None)
        if place is not None:
            await check_key(self._store.run_queues, place)

    async def start(self, entry: Entry, slot: Slot) -> None:
        settings, id = entry.settings, run_id(entry.name, slot.at)
        try:
            await self._start(
                self._definition(settings),
                settings.input,
                id=id,
                namespace=entry.namespace,
                deadline=None if settings.deadline_ms is None else settings.deadline_ms / 1000,
                labels={**settings.labels, SCHEDULE: entry.name, "scheduled_at": moment(slot.at)},
                by=f"schedule {entry.name}",
                **(queueing_of(settings) if _is_queued(settings) else {}),
            )
        except Conflict:
            known = await self._store.run(run_key(entry.namespace, id))
            if known is None or known.labels.get(SCHEDULE) != entry.name:
                raise
            # Started before, with other code or settings, by an engine that died before recording it

    def _definition(self, settings: ScheduleSettings) -> Any:
        given, dialect = settings.definition, settings.dialect
        if isinstance(given, str):
            return given if dialect is None else Reference(dialect, given, given)
        if dialect is None:
            raise InvalidInput(
                "schedule.bad_settings",
                "the dialect of the definition is missing",
                why="a definition that is not a name can be of any",
                fix="give the dialect, or the name of a saved definition",
            )
        return self._bundle(dialect).read(given)
