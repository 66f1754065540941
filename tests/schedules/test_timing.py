"""Times of schedules across the days on which clocks change, also against a reference that looks at every minute."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.schedules.cron import Cron, parse
from plait.schedules.timing import timing_of
from tests.support.effort import examples

MINUTE = timedelta(minutes=1)
HOUR_MS = 3_600_000


def at(text: str) -> Millis:
    return Millis(round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000))


def utc(moment: Millis) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def times(cron: str, tz: str, after: str, count: int) -> list[str]:
    return [utc(each) for each in timing_of(cron, None, tz).times(at(after), count)]


def by_looking_at_every_minute(cron: Cron, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """The reference: a minute of UTC is due if its local time matches and comes for the first time, or if it is the
    first after a gap in which one matched."""
    found: list[datetime] = []
    now = start
    before = (now - MINUTE).astimezone(zone).replace(tzinfo=None)
    while now < end:
        aware = now.astimezone(zone)
        local = aware.replace(tzinfo=None, fold=0)
        skipped = before + MINUTE
        in_gap = False
        while skipped < local:
            in_gap = in_gap or cron.matches(skipped)
            skipped += MINUTE
        if in_gap or (cron.matches(local) and aware.fold == 0):
            found.append(now)
        before, now = max(before, local), now + MINUTE
    return found


def test_a_local_time_that_is_skipped_is_due_at_the_next_minute_there_is():
    expected = ["2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"]
    assert times("30 2 * * *", "Europe/Berlin", "2026-03-28 00:00", 3) == expected


def test_several_skipped_times_are_due_once_together_with_the_next():
    expected = ["2026-03-29 00:40", "2026-03-29 01:00", "2026-03-29 01:20"]
    assert times("*/20 * * * *", "Europe/Berlin", "2026-03-29 00:20", 3) == expected


def test_a_local_time_that_comes_twice_is_due_the_first_time():
    expected = ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]
    assert times("30 2 * * *", "Europe/Berlin", "2026-10-24 00:00", 3) == expected


def test_the_next_time_after_the_second_coming_is_not_one_of_the_first():
    assert times("*/30 * * * *", "Europe/Berlin", "2026-10-25 01:10", 2) == ["2026-10-25 02:00", "2026-10-25 02:30"]


def test_a_day_that_a_zone_left_out_is_made_up_for_at_the_next_midnight():
    assert times("0 12 30 12 *", "Pacific/Apia", "2011-12-29 00:00", 1) == ["2011-12-30 10:00"]


def test_an_interval_is_counted_from_1970_whatever_the_zone():
    found = timing_of(None, 15 * 60_000, "Europe/Berlin").times(at("2026-03-29 00:50"), 3)
    assert [utc(each) for each in found] == ["2026-03-29 01:00", "2026-03-29 01:15", "2026-03-29 01:30"]


def test_a_moment_that_is_due_is_not_after_itself():
    for timing in (timing_of("0 * * * *", None, "UTC"), timing_of(None, HOUR_MS, "UTC")):
        assert timing.next(at("2026-01-01 05:00")) == at("2026-01-01 06:00")
        assert timing.next(Millis(at("2026-01-01 05:00") - 1)) == at("2026-01-01 05:00")


def test_there_is_a_last_time():
    end = Millis(at("8999-01-01 00:00"))
    assert timing_of("* * * * *", None, "UTC").next(end) is None
    assert timing_of(None, 1000, "UTC").next(end) is None


FIELD = st.sampled_from(["*", "0", "30", "*/7", "*/20", "5-50/15", "1,59"])
HOUR = st.sampled_from(["*", "0", "1", "2", "3", "*/2", "1-3", "23"])
DAY = st.sampled_from(["*", "*/2", "1-31/3", "25", "29"])
WEEKDAY = st.sampled_from(["*", "SUN", "MON-FRI", "*/2"])
CHANGES = st.sampled_from(
    [
        ("Europe/Berlin", "2026-03-29 01:00"),
        ("Europe/Berlin", "2026-10-25 01:00"),
        ("America/New_York", "2026-03-08 07:00"),
        ("America/New_York", "2026-11-01 06:00"),
        ("Australia/Lord_Howe", "2026-04-04 15:00"),
        ("Australia/Lord_Howe", "2026-10-03 15:30"),
        ("America/St_Johns", "2026-03-08 05:30"),
        ("Asia/Kathmandu", "2026-06-01 00:00"),
        ("America/Havana", "2026-03-08 05:00"),
        ("UTC", "2026-01-01 00:00"),
    ]
)


@given(minute=FIELD, hour=HOUR, day=DAY, weekday=WEEKDAY, change=CHANGES, shift=st.integers(-90, 90))
@settings(max_examples=examples(60), deadline=None)
def test_times_are_those_that_a_look_at_every_minute_finds(
    minute: str, hour: str, day: str, weekday: str, change: tuple[str, str], shift: int
):
    zone, around = change
    start = datetime.fromisoformat(around).replace(tzinfo=UTC) - timedelta(minutes=300 + shift)
    end = start + timedelta(hours=12)
    text = f"{minute} {hour} {day} * {weekday}"
    expected = by_looking_at_every_minute(parse(text), ZoneInfo(zone), start, end)
    found: list[datetime] = []
    for each in timing_of(text, None, zone).after(Millis(round(start.timestamp() * 1000) - 1)):
        moment = datetime.fromtimestamp(each / 1000, UTC)
        if moment >= end:
            break
        found.append(moment)
    assert found == expected


@given(st.integers(0, 10**13), st.integers(1000, 10**10))
def test_an_interval_is_never_early_and_never_leaves_one_out(moment: int, every: int):
    first, second = timing_of(None, every, "UTC").times(Millis(moment), 2)
    assert moment < first <= moment + every
    assert second - first == every


@pytest.mark.parametrize(
    ("cron", "every", "tz", "code"),
    [
        (None, None, "UTC", "schedule.bad_timing"),
        ("* * * * *", 1000, "UTC", "schedule.bad_timing"),
        (None, 999, "UTC", "schedule.bad_timing"),
        ("* * * * *", None, "Europe/Atlantis", "schedule.unknown_time_zone"),
        ("* * * * *", None, "Europe", "schedule.unknown_time_zone"),
        ("* * * * *", None, "../../etc/passwd", "schedule.unknown_time_zone"),
        ("* * * * *", None, "", "schedule.unknown_time_zone"),
    ],
)
def test_what_has_no_times_is_refused(cron: str | None, every: int | None, tz: str, code: str):
    with pytest.raises(InvalidInput) as caught:
        timing_of(cron, every, tz)
    assert caught.value.code == code
    assert caught.value.fix
