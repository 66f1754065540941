"""Converts settings of a schedule from callers' seconds and Python objects to what is stored and sent."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Unpack

import msgspec

from plait.api.schedule import SCHEDULE_NAME, Overlap, ScheduleSettings
from plait.kernel import values
from plait.kernel.bundle import Reference, Startable
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.kernel.queue_options import checked as check_options
from plait.kernel.run_queues import QueueChoice, Queueing

_NAME = re.compile(SCHEDULE_NAME)
_LABELS = ("schedule", "scheduled_at")
"""Labels that Plait sets on a schedule's runs."""


def settings_of(
    definition: str | Startable | Reference,
    input: Any,
    *,
    cron: str | None,
    every: float | timedelta | None,
    tz: str,
    overlap: Overlap,
    catchup: float | timedelta,
    labels: dict[str, str] | None,
    deadline: float | timedelta | None,
    **queueing: Unpack[QueueChoice],
) -> ScheduleSettings:
    if isinstance(definition, str):
        named = Reference("", definition, definition)
    else:
        named = definition if isinstance(definition, Reference) else definition.reference()
    return ScheduleSettings(
        definition=named.definition,
        dialect=named.dialect or None,
        input=input,
        cron=cron,
        every_ms=None if every is None else span_of("every", every),
        tz=tz,
        overlap=overlap,
        catchup_ms=span_of("catchup", catchup),
        labels=labels or {},
        deadline_ms=None if deadline is None else span_of("deadline", deadline),
        queue=queueing.get("queue"),
        priority=queueing.get("priority", 0),
        partition=queueing.get("partition"),
    )


def checked(name: str, settings: ScheduleSettings) -> ScheduleSettings:
    """Refuses settings that could not be stored, or names that could be confused."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "schedule.bad_name",
            f"schedule name {name[:80]!r} is not usable",
            fix="use up to 100 letters, digits, `-`, `_` and `.`, beginning with a letter or digit",
        )
    body = msgspec.to_builtins(settings) | {"input": values.decode(values.encode(settings.input))}
    try:
        found = msgspec.convert(body, ScheduleSettings)
    except msgspec.ValidationError as error:
        raise InvalidInput("schedule.bad_settings", f"schedule {name} can't be saved", why=str(error)) from None
    check_options(queueing_of(found))
    for key, value in found.labels.items():
        values.text(f"label {key!r}", value)
        if key in _LABELS:
            raise InvalidInput(
                "schedule.bad_settings",
                f"the label `{key}` can't be set",
                why="runs of schedules get it from their schedule",
                fix="use another name for the label",
            )
    return found


def queueing_of(settings: ScheduleSettings) -> Queueing:
    """Returns the queueing options of its runs."""
    return {"queue": settings.queue, "priority": settings.priority, "partition": settings.partition}


def span_of(what: str, given: float | timedelta) -> Millis:
    """Converts seconds to milliseconds."""
    try:
        seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
        return Millis(round(seconds * 1000))
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("schedule.bad_settings", f"{what}={given!r}", fix="use seconds or a timedelta") from None


def moment_of(what: str, given: datetime) -> Millis:
    if given.tzinfo is None:
        raise InvalidInput(
            "schedule.bad_settings",
            f"{what}={given.isoformat()} has no time zone",
            fix="use datetime(..., tzinfo=UTC)",
        )
    return Millis(round(given.timestamp() * 1000))
