"""The times of a schedule in UTC: from a cron expression in a time zone, or from an interval.

Clocks change twice a year in many zones. A skipped local time is due at the next minute that exists, once, however
many were skipped; a local time that comes twice is due the first time. Intervals are counted from
1970-01-01T00:00Z, so that every 15 minutes means :00, :15, :30 and :45, no matter when the schedule was saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis

from . import cron
from .cron import Cron

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

SHORTEST = 1000
"""The shortest interval in milliseconds."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH = _EPOCH.replace(tzinfo=None)
_MILLISECOND = timedelta(milliseconds=1)
_END = Millis(round(datetime(8999, 1, 1, tzinfo=UTC).timestamp() * 1000))
"""The end of the search for times: computers' calendars end soon after."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Either `cron` in `zone`, or `every`."""

    cron: Cron | None
    every: Millis | None
    zone: ZoneInfo

    def after(self, moment: Millis) -> Iterator[Millis]:
        """Yields the times after a moment, in order, each once."""
        return self._counted(moment) if self.cron is None else self._on_calendar(self.cron, moment)

    def next(self, moment: Millis) -> Millis | None:
        """Returns the next time; None if there are no more."""
        return next(self.after(moment), None)

    def times(self, moment: Millis, count: int) -> list[Millis]:
        return list(islice(self.after(moment), count))

    def _counted(self, moment: Millis) -> Iterator[Millis]:
        every = self.every or Millis(SHORTEST)
        at = (moment // every + 1) * every
        while at < _END:
            yield Millis(at)
            at += every

    def _on_calendar(self, cron: Cron, moment: Millis) -> Iterator[Millis]:
        if moment >= _END:
            return
        last = moment
        local = (_EPOCH + moment * _MILLISECOND).astimezone(self.zone).replace(tzinfo=None)
        for wanted in cron.after(local):
            at = self._moment(wanted)
            if at > last:  # otherwise it was skipped with others, or comes a second time
                yield at
                last = at

    def _moment(self, local: datetime) -> Millis:
        """Converts a local time; a skipped one to the moment at which the clock continues. Around a change, `fold`
        selects the offset before it, 0, or after it, 1: the second is larger where time was skipped."""
        before, after = self._offset(local), self._offset(local.replace(fold=1))
        while before < after:
            local += timedelta(minutes=1)
            before, after = self._offset(local), self._offset(local.replace(fold=1))
        return Millis((local - _LOCAL_EPOCH - before) // _MILLISECOND)

    def _offset(self, local: datetime) -> timedelta:
        return self.zone.utcoffset(local) or timedelta()


@lru_cache(1000)
def timing_of(cron_text: str | None, every: int | None, tz: str) -> Timing:
    """Makes a timing; refuses neither or both, and invalid values."""
    if (cron_text is None) == (every is None):
        raise InvalidInput(
            "schedule.bad_timing",
            "a schedule has neither cron nor interval" if every is None else "a schedule has both cron and interval",
            fix="give one of them: cron `0 9 * * *`, or every 900 seconds",
        )
    if every is not None and every < SHORTEST:
        raise InvalidInput("schedule.bad_timing", f"an interval of {every} ms is too short", fix="use 1 second or more")
    if every is not None and every >= _END:
        raise InvalidInput("schedule.bad_timing", f"an interval of {every} ms is too long", fix="use at most a year")
    return Timing(
        None if cron_text is None else cron.parse(cron_text), None if every is None else Millis(every), zone(tz)
    )


def zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo  # imported with the first schedule: it searches the machine's time zones

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # an unknown zone; an invalid name; a folder of the database
        raise InvalidInput(
            "schedule.unknown_time_zone",
            f"there is no time zone `{name[:80]}`",
            fix="use a name such as Europe/Berlin or UTC; if there are none at all, install the package `tzdata`",
        ) from None
