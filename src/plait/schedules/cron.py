"""Cron expressions of five fields, as people know them: minute, hour, day of month, month, day of week.

Lists, ranges, steps, English names, and shortcuts like `@daily` are supported. As in other crons, a day has to match
one of its two fields if both are restricted, and both if one of them begins with `*`. An invalid expression is refused
with the field, the mistake, and the allowed values. All times here are local, without a zone.
"""

from __future__ import annotations

import calendar
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from plait.kernel.errors import InvalidInput

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if number}
_WEEKDAYS = {name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}
_LONGEST_MONTH = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SUNDAY_AGAIN = 7
_LAST_YEAR = 9000
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    low: int
    high: int
    names: Mapping[str, int]
    example: str

    @property
    def allowed(self) -> str:
        """The allowed values in words, for error messages."""
        names = f" or {next(iter(self.names))} to {list(self.names)[-1]}" if self.names else ""
        return f"{self.low} to {self.high}{names}"


FIELDS = (
    Field("minute", 0, 59, {}, "*/15"),
    Field("hour", 0, 23, {}, "9-17"),
    Field("day of month", 1, 31, {}, "1,15"),
    Field("month", 1, 12, _MONTHS, "JAN-MAR"),
    Field("day of week", 0, 7, _WEEKDAYS, "MON-FRI"),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression, field by field. Days of the week count from Sunday, 0."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """Whether both fields for days are restricted, so that one match is enough."""

    def matches(self, local: datetime) -> bool:
        """Whether a minute matches."""
        return local.minute in self.minutes and local.hour in self.hours and self._on(local.date())

    def after(self, local: datetime) -> Iterator[datetime]:
        """Yields the matching minutes after a moment, in order; ends with the calendar's last year."""
        start = local.replace(second=0, microsecond=0) + _MINUTE
        for day in self._days(start.date()):
            first_hour = start.hour if day == start.date() else 0
            for hour in self.hours[bisect_left(self.hours, first_hour) :]:
                same = day == start.date() and hour == start.hour
                for minute in self.minutes[bisect_left(self.minutes, start.minute if same else 0) :]:
                    yield datetime(day.year, day.month, day.day, hour, minute)

    def _days(self, day: date) -> Iterator[date]:
        while day.year < _LAST_YEAR:
            if day.month not in self.months:
                day = _next_month(day)
            else:
                if self._on(day):
                    yield day
                day += timedelta(days=1)

    def _on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, (day.weekday() + 1) % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week


def parse(text: str) -> Cron:
    """Parses an expression; refuses an invalid one, and one that never matches."""
    parts = _MACROS.get(text.strip().lower(), text).split()
    if len(parts) != len(FIELDS):
        raise _bad(
            text,
            f"it has {len(parts)} field{'' if len(parts) == 1 else 's'}, not 5",
            "write minute, hour, day of month, month and day of week: `30 9 * * MON-FRI`",
        )
    minutes, hours, days, months, weekdays = (
        _values(text, field, part) for field, part in zip(FIELDS, parts, strict=True)
    )
    found = Cron(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=frozenset(days),
        months=frozenset(months),
        weekdays=frozenset(day % 7 for day in weekdays),
        either_day=not parts[2].startswith("*") and not parts[4].startswith("*"),
    )
    if not found.either_day and not any(min(days) <= _LONGEST_MONTH[month] for month in months):
        raise _bad(text, f"no month of `{parts[3]}` has a day {min(days)}", "name a day that the month has")
    return found


def _values(text: str, field: Field, part: str) -> set[int]:
    found: set[int] = set()
    for piece in part.split(","):
        found |= set(_range(text, field, piece))
    return found


def _range(text: str, field: Field, piece: str) -> range:
    span, slash, step_text = piece.partition("/")
    step = 1
    if slash:
        if not step_text.isdecimal() or not 0 < int(step_text) <= field.high:
            raise _bad_field(text, field, piece, f"the step `{step_text}` is not a number from 1 to {field.high}")
        step = int(step_text)
    if span == "*":
        last = 6 if field.high == _SUNDAY_AGAIN else field.high
        return range(field.low, last + 1, step)
    first, dash, end = span.partition("-")
    low = _value(text, field, piece, first)
    high = _value(text, field, piece, end) if dash else field.high if slash else low
    if high < low:
        raise _bad_field(text, field, piece, f"`{span}` ends before it begins")
    return range(low, high + 1, step)


def _value(text: str, field: Field, piece: str, word: str) -> int:
    if word.isascii() and word.isdecimal():
        value = int(word[:9])
    elif (named := field.names.get(word.upper())) is not None:
        value = named
    else:
        why = f"`{word}` is not a value" if word else "a value is missing"
        if set("LW#?") & set(word.upper()) and word.upper() not in field.names:
            why += "; L, W, # and ? are not understood"
        raise _bad_field(text, field, piece, why)
    if not field.low <= value <= field.high:
        raise _bad_field(text, field, piece, f"{value} is out of range")
    return value


def _bad_field(text: str, field: Field, piece: str, why: str) -> InvalidInput:
    where = f"{field.name} `{piece}`" if piece else field.name
    return _bad(text, f"{where}: {why}", f"use {field.allowed}, `*`, ranges, lists or steps, such as `{field.example}`")


def _bad(text: str, why: str, fix: str) -> InvalidInput:
    return InvalidInput("schedule.bad_cron", f"cron `{text[:80]}` can't be used", why=why, fix=fix)


def _next_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)
