"""Schedules as people read them: tables, and the next times in the zone of the schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from plait.api.schedule import Fire, FireOutcome, Schedule
from plait.kernel.ids import Millis
from plait.schedules.decide import COUNTED
from plait.schedules.timing import zone

from . import words
from .output import facts, say, table

_STYLES: dict[FireOutcome, str] = {"started": "green", "skipped": "yellow", "missed": "red", "failed": "red"}


def list_lines(found: Sequence[Schedule]) -> None:
    now = words.now()
    rows = [
        (each.name, _what(each), timing(each), _next(each, now), Text("") if each.last is None else _outcome(each.last))
        for each in found
    ]
    table(("NAME", "STARTS", "WHEN", "NEXT", "LAST"), rows, fold=("NAME",), cut=("STARTS",))


def show_lines(schedule: Schedule, fires: Sequence[Fire]) -> None:
    facts(
        [
            ("schedule", schedule.name),
            ("starts", _what(schedule)),
            ("input", words.value(schedule.input, 200)),
            ("when", timing(schedule)),
            ("overlap", schedule.overlap),
            ("catch-up", words.duration(schedule.catchup_ms)),
            ("queue", _queue(schedule)),
            ("labels", ", ".join(f"{key}={value}" for key, value in schedule.labels.items()) or None),
            ("paused", Text("yes", "yellow") if schedule.paused else None),
            ("running", ", ".join(schedule.running) or None),
            ("waiting", words.counted(len(schedule.waiting), "time") if schedule.waiting else None),
            ("backfills", words.counted(len(schedule.backfills), "range") if schedule.backfills else None),
        ]
    )
    if schedule.next:
        say()
        time_lines(schedule.next, schedule.tz)
    if fires:
        say()
        fire_lines(fires)


def time_lines(times: Sequence[Millis], tz: str) -> None:
    """Prints times in the zone and in UTC."""
    now, place = words.now(), zone(tz)
    rows = [
        (datetime.fromtimestamp(at / 1000, place).strftime("%a %Y-%m-%d %H:%M:%S %Z"), words.clock(at), _until(at, now))
        for at in times
    ]
    table(("NEXT", "UTC", "IN"), rows)


def fire_lines(fires: Sequence[Fire]) -> None:
    rows = [
        (words.clock(fire.scheduled_at), _outcome(fire), fire.cause, fire.run_id or words.one_line(fire.why))
        for fire in fires
    ]
    table(("TIME", "OUTCOME", "BY", "RUN"), rows, fold=("RUN",))


def timing(schedule: Schedule) -> str:
    if schedule.every_ms is not None:
        return f"every {words.duration(schedule.every_ms)}"
    return f"{schedule.cron} {schedule.tz}"


def _what(schedule: Schedule) -> str:
    given = schedule.definition
    name = given if isinstance(given, str) else words.value(given, 60)
    return name if schedule.dialect is None else f"{schedule.dialect}:{name}"


def _queue(schedule: Schedule) -> str | None:
    """Returns the queue of its runs, with their priority and partition."""
    more = [f"priority {schedule.priority}"] if schedule.priority else []
    more += [f"partition {schedule.partition}"] if schedule.partition else []
    return ", ".join([*([schedule.queue] if schedule.queue else []), *more]) or None


def _next(schedule: Schedule, now: Millis) -> Text:
    if schedule.paused:
        return Text("paused", "yellow")
    return Text(f"in {_until(schedule.next[0], now)}" if schedule.next else "never")


def _until(at: Millis, now: Millis) -> str:
    return words.duration(max(0, at - now))


def _outcome(fire: Fire) -> Text:
    several = f" {fire.count}×" if fire.count <= COUNTED else f" more than {COUNTED}×"
    count = several if fire.count > 1 else ""
    return Text(f"{fire.outcome}{count}", _STYLES[fire.outcome])
