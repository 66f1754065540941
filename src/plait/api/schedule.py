"""Schedules: what is started, when, and the outcome of each time. Times are milliseconds since 1970, UTC."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plait.kernel.ids import Millis

from .run import MAX_DEADLINE_MS
from .shape import Body, DialectName, Name, Scoped, Shape, Text

Overlap = Literal["skip", "queue", "allow", "cancel_previous"]
"""What happens at a time when the run before has not ended."""
BackfillOverlap = Literal["queue", "allow"]
Cause = Literal["time", "trigger", "backfill"]
FireOutcome = Literal["started", "skipped", "missed", "failed"]

SCHEDULE_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
YEAR_MS = 366 * 86_400_000
DEFAULT_CATCHUP = 60_000
SHOWN = 10
"""The default number of next times to show."""

_Cron = Annotated[str, Meta(max_length=200)]
_Every = Annotated[int, Meta(ge=1000, le=YEAR_MS)]
_Zone = Annotated[str, Meta(min_length=1, max_length=100)]
_Moment = Annotated[Millis, Meta(ge=0, le=2**53)]


class ScheduleSettings(Shape, frozen=True, kw_only=True):
    """What people say about a schedule: what to start, and when."""

    definition: Name | dict[str, Any]
    """`name`, `name@version` or `name@tag`; or the definition itself, if its dialect has a JSON form."""
    dialect: DialectName | None = None
    """The definition's dialect; needed if the definition is not a name."""
    input: Any = None
    cron: _Cron | None = None
    """A cron expression with five fields, in the schedule's time zone."""
    every_ms: _Every | None = None
    """The interval in milliseconds, instead of `cron`; counted from 1970-01-01T00:00Z."""
    tz: _Zone = "UTC"
    overlap: Overlap = "skip"
    catchup_ms: Annotated[int, Meta(ge=0, le=YEAR_MS)] = DEFAULT_CATCHUP
    """Milliseconds after which a missed time no longer starts a run."""
    labels: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Text], Meta(max_length=60)] = (
        msgspec.field(default_factory=dict[str, str])
    )
    """Labels of its runs, which also get the labels `schedule` and `scheduled_at`."""
    deadline_ms: Annotated[int, Meta(ge=1, le=MAX_DEADLINE_MS)] | None = None
    """Milliseconds from each run's start to its deadline."""
    queue: Annotated[str, Meta(max_length=200)] | None = None
    """The queue on which its runs wait for a slot."""
    priority: int = 0
    """The priority of its runs and of their tasks on queues; lower first."""
    partition: Annotated[str, Meta(max_length=400)] | None = None
    """The key that partitioned queues count by."""


class SetSchedule(ScheduleSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of it: what is left out has its default."""

    check: bool = True
    """Whether to check that the definition is known here and accepts the input."""


class Fire(Shape, frozen=True, kw_only=True):
    """What became of one time of a schedule, or of several that were missed."""

    number: int
    at: Millis
    """When the outcome was decided."""
    scheduled_at: Millis
    cause: Cause = "time"
    outcome: FireOutcome
    run_id: str | None = None
    why: str = ""
    """Why no run was started, if none was."""
    until: Millis | None = None
    """The last of several missed times."""
    count: int = 1
    """The number of times, if several were missed; 101 stands for more than 100."""


class Backfill(Shape, frozen=True, kw_only=True):
    """Times of the past that are still to be started."""

    after: Millis
    """The time up to which it is done."""
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
    """Runs that had not ended at the last check."""
    waiting: list[Millis] = []
    """Times that wait until the run before ends."""
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
    """The time to start after; now if left out."""
    count: Annotated[int, Meta(ge=1, le=100)] = SHOWN


class NextTimes(Shape, frozen=True, kw_only=True):
    times: list[Millis]


class TriggerSchedule(Body, frozen=True, kw_only=True):
    overlap: Overlap | None = None
    """An overlap rule in place of the schedule's."""


class Triggered(Shape, frozen=True, kw_only=True):
    """A run that was asked for by hand."""

    run_id: str
    outcome: Literal["starting", "waiting"]
    """`waiting`: until the run before ends."""


class BackfillSchedule(Body, frozen=True, kw_only=True):
    since: _Moment
    until: _Moment
    """The last time; `since` and `until` are both included."""
    overlap: BackfillOverlap = "queue"
    """The overlap rule; `queue`: one run after the other."""


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
    """Whether to refuse the request if a schedule of that name exists."""


class ListFires(Scoped, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
