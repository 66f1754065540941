"""Schedules on a server: the calls of `engine.schedules`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Unpack

import msgspec

from plait.api.schedule import (
    DEFAULT_CATCHUP,
    SHOWN,
    BackfillOverlap,
    BackfillStarted,
    Fire,
    FirePage,
    NextTimes,
    Overlap,
    Schedule,
    SchedulePage,
    ScheduleSettings,
    Triggered,
)
from plait.api.shape import Deleted
from plait.api.transport import Transport
from plait.kernel.bundle import Reference, Startable
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis
from plait.kernel.run_queues import QueueChoice
from plait.schedules.settings import checked, moment_of, settings_of, span_of


class RemoteSchedules:
    """Starts runs repeatedly, by a cron expression or an interval."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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
        """Creates a schedule, or with `replace` changes the settings of the one with that name."""
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
        path = self._transport.path("schedules", name)
        body = msgspec.to_builtins(checked(name, settings)) | {"check": check}
        return await self._transport.put(path, Schedule, body, {"namespace": namespace, "new": "true" if new else None})

    async def delete(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Deletes a schedule. Its runs stay and continue."""
        await self._transport.delete(self._transport.path("schedules", name), Deleted, {"namespace": namespace})

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Schedule:
        """Returns a schedule with its next ten times."""
        return await self._transport.get(self._transport.path("schedules", name), Schedule, {"namespace": namespace})

    async def list(
        self, namespace: str = DEFAULT_NAMESPACE, *, after: str | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Lists schedules by name, those after the name `after`, each with its next time."""
        query = {"namespace": namespace, "cursor": after, "limit": limit}
        return (await self._transport.get(self._transport.path("schedules"), SchedulePage, query)).schedules

    async def fires(self, name: str, namespace: str = DEFAULT_NAMESPACE, *, limit: int = 50) -> list[Fire]:
        """Lists the outcomes of its times, newest first."""
        path = self._transport.path("schedules", name, "fires")
        return (await self._transport.get(path, FirePage, {"namespace": namespace, "limit": limit})).fires

    async def preview(
        self,
        cron: str | None = None,
        every: float | timedelta | None = None,
        tz: str = "UTC",
        *,
        after: datetime | None = None,
        count: int = SHOWN,
    ) -> list[Millis]:
        """Returns the next times that a schedule with these settings would have."""
        body = {
            "cron": cron,
            "every_ms": None if every is None else span_of("every", every),
            "tz": tz,
            "after": None if after is None else moment_of("after", after),
            "count": count,
        }
        found = await self._transport.post(self._transport.path("schedule-preview"), NextTimes, body, idempotent=True)
        return found.times

    async def pause(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Schedule:
        """Pauses a schedule. Times that pass while it is paused are skipped for good."""
        return await self._act(name, "pause", Schedule, {}, namespace)

    async def resume(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Schedule:
        """Resumes a schedule from now on."""
        return await self._act(name, "resume", Schedule, {}, namespace)

    async def trigger(
        self, name: str, namespace: str = DEFAULT_NAMESPACE, *, overlap: Overlap | None = None
    ) -> Triggered:
        """Starts a run now, also while it is paused."""
        return await self._act(name, "trigger", Triggered, {"overlap": overlap}, namespace)

    async def backfill(
        self,
        name: str,
        since: datetime,
        until: datetime,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        overlap: BackfillOverlap = "queue",
    ) -> BackfillStarted:
        """Starts runs for times of the past, from `since` to `until`, both included."""
        body = {"since": moment_of("since", since), "until": moment_of("until", until), "overlap": overlap}
        return await self._act(name, "backfill", BackfillStarted, body, namespace)

    async def _act(self, name: str, verb: str, shape: Any, body: dict[str, Any], namespace: str) -> Any:
        path = self._transport.path("schedules", name, verb)
        return await self._transport.post(path, shape, body, {"namespace": namespace})
