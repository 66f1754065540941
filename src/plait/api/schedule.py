"""Schedules: what is started, when, and what became of each time. Times are milliseconds since 1970, UTC."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plait.kernel.ids import Millis

from .run import MAX_DEADLINE_MS
from .shape import Body, DialectName, Name, Scoped, Shape, Text

Overlap = Literal["skip", "queue", "allow", "cancel_previous"]
"""What becomes of a time at which the run before has not ended."""
BackfillOverlap = Literal["queue", "allow"]
Cause = Literal["time", "trigger", "backfill"]
FireOutcome = Literal["started", "skipped", "missed", "failed"]

SCHEDULE_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
YEAR_MS = 366 * 86_400_000
DEFAULT_CATCHUP = 60_000
SHOWN = 10
"""Next times that are shown, unless another number is asked for."""

_Cron = Annotated[str, Meta(max_length=200)]
_Every = Annotated[int, Meta(ge=1000, le=YEAR_MS)]
_Zone = Annotated[str, Meta(min_length=1, max_length=100)]
_Moment = Annotated[Millis, Meta(ge=0, le=2**53)]


class ScheduleSettings(Shape, frozen=True, kw_only=True):
    """What people say about a schedule: what to start, and when."""

    definition: Name | dict[str, Any]
    """`name`, `name@version` or `name@tag`; or the definition itself, where its dialect can be written as JSON."""
    dialect: DialectName | None = None
    """Of the definition; needed if it is not a name."""
    input: Any = None
    cron: _Cron | None = None
    """Five fields, read in the time zone."""
    every_ms: _Every | None = None
    """The interval, instead of `cron`; counted from 1970-01-01T00:00Z."""
    tz: _Zone = "UTC"
    overlap: Overlap = "skip"
    catchup_ms: Annotated[int, Meta(ge=0, le=YEAR_MS)] = DEFAULT_CATCHUP
    """How late a time that was missed still starts a run."""
    labels: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Text], Meta(max_length=60)] = (
        msgspec.field(default_factory=dict[str, str])
    )
    """Of its runs, which also have the labels `schedule` and `scheduled_at`."""
    deadline_ms: Annotated[int, Meta(ge=1, le=MAX_DEADLINE_MS)] | None = None
    """Of each run, from its start."""
    queue: Annotated[str, Meta(max_length=200)] | None = None
    """Its runs wait there for a slot."""
    priority: int = 0
    """On the queue, and of the runs' tasks on queues; lower first."""
    partition: Annotated[str, Meta(max_length=400)] | None = None
    """The key that partitioned queues count by."""


class SetSchedule(ScheduleSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of it: what is left out has its default."""

    check: bool = True
    """False: saved although the definition is not known here, or does not take the input."""


class Fire(Shape, frozen=True, kw_only=True):
    """What became of one time of a schedule, or of several that were missed."""

    number: int
    at: Millis
    """When it was decided."""
    scheduled_at: Millis
    cause: Cause = "time"
    outcome: FireOutcome
    run_id: str | None = None
    why: str = ""
    """Why no run was started."""
    until: Millis | None = None
    """Of several that were missed: the last one."""
    count: int = 1
    """How many were missed; more than 100 are not counted, and are 101."""


class Backfill(Shape, frozen=True, kw_only=True):
    """Times of the past that are still to be started."""

    after: Millis
    """Times up to this one are done."""
    until: Millis
    overlap: BackfillOverlap = "queue"


class Schedule(ScheduleSettings, frozen=True, kw_only=True):
    name: str
    namespace: str
    created_at: Millis
    updated_at: Millis
    paused: bool = False
    next: list[Millis] = []
    """The next times; none while it is paused."""
    last: Fire | None = None
    running: list[str] = []
    """Runs that had not ended when it was last looked at."""
    waiting: list[Millis] = []
    """Times that wait for the end of the run before."""
    backfills: list[Backfill] = []


class SchedulePage(Shape, frozen=True, kw_only=True):
    """By name."""

    schedules: list[Schedule]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class FirePage(Shape, frozen=True, kw_only=True):
    """Newest first. The newest 200 are kept."""

    fires: list[Fire]


class PreviewSchedule(Body, frozen=True, kw_only=True):
    cron: _Cron | None = None
    every_ms: _Every | None = None
    tz: _Zone = "UTC"
    after: _Moment | None = None
    """Times after this one; now if left out."""
    count: Annotated[int, Meta(ge=1, le=100)] = SHOWN


class NextTimes(Shape, frozen=True, kw_only=True):
    times: list[Millis]


class TriggerSchedule(Body, frozen=True, kw_only=True):
    overlap: Overlap | None = None
    """Instead of the schedule's."""


class Triggered(Shape, frozen=True, kw_only=True):
    """A run that was asked for by hand."""

    run_id: str
    outcome: Literal["starting", "waiting"]
    """waiting: for the end of the run before."""


class BackfillSchedule(Body, frozen=True, kw_only=True):
    since: _Moment
    until: _Moment
    """Both are included."""
    overlap: BackfillOverlap = "queue"
    """queue: one run after the other."""


class BackfillStarted(Shape, frozen=True, kw_only=True):
    """Times that have a run of this schedule already don't get another."""

    count: int
    first: Millis
    last: Millis


class ListSchedules(Scoped, frozen=True, kw_only=True):
    cursor: Text | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class SaveSchedule(Scoped, frozen=True, kw_only=True):
    new: bool = False
    """Refused if there is one of that name."""


class ListFires(Scoped, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
