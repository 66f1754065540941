"""Cron expressions: what they mean, and what is said about those that mean nothing."""

from datetime import datetime
from itertools import islice

import pytest

from plait.kernel.errors import InvalidInput
from plait.schedules.cron import parse


def upcoming(text: str, after: str, count: int = 3) -> list[str]:
    found = islice(parse(text).after(datetime.fromisoformat(after)), count)
    return [each.isoformat(sep=" ", timespec="minutes") for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * * * *", ["2026-01-01 00:01", "2026-01-01 00:02", "2026-01-01 00:03"]),
        ("30 9 * * MON-FRI", ["2026-01-01 09:30", "2026-01-02 09:30", "2026-01-05 09:30"]),
        ("*/20 8-9 * * *", ["2026-01-01 08:00", "2026-01-01 08:20", "2026-01-01 08:40"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00"]),
        ("0 0 31 * *", ["2026-01-31 00:00", "2026-03-31 00:00", "2026-05-31 00:00"]),
        ("0 12 1,15 JAN,jul *", ["2026-01-01 12:00", "2026-01-15 12:00", "2026-07-01 12:00"]),
        ("5/25 0 * * *", ["2026-01-01 00:05", "2026-01-01 00:30", "2026-01-01 00:55"]),
        ("@daily", ["2026-01-02 00:00", "2026-01-03 00:00", "2026-01-04 00:00"]),
        ("@Monthly", ["2026-02-01 00:00", "2026-03-01 00:00", "2026-04-01 00:00"]),
        ("59 23 31 12 *", ["2026-12-31 23:59", "2027-12-31 23:59", "2028-12-31 23:59"]),
    ],
)
def test_an_expression_has_these_times(text: str, expected: list[str]):
    assert upcoming(text, "2026-01-01 00:00:30") == expected


def test_a_day_fits_one_of_two_restricted_fields():
    assert upcoming("0 0 13 * FRI", "2026-02-01 00:00") == ["2026-02-06 00:00", "2026-02-13 00:00", "2026-02-20 00:00"]


def test_a_day_fits_both_fields_if_one_begins_with_a_star():
    assert upcoming("0 0 */2 * MON", "2026-02-01 00:00") == ["2026-02-09 00:00", "2026-02-23 00:00", "2026-03-09 00:00"]


def test_sunday_is_0_and_7():
    assert parse("0 0 * * 0") == parse("0 0 * * 7") == parse("0 0 * * SUN")
    assert parse("0 0 * * 5-7").weekdays == {5, 6, 0}
    assert parse("0 0 * * */2").weekdays == {0, 2, 4, 6}


def test_an_iterator_ends_where_calendars_do():
    assert upcoming("@yearly", "8998-06-01 00:00") == ["8999-01-01 00:00"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has 0 fields, not 5"),
        ("@reboot", "it has 1 field, not 5"),
        ("* * * *", "it has 4 fields, not 5"),
        ("0 0 * * * *", "it has 6 fields, not 5"),
        ("61 * * * *", "minute `61`: 61 is out of range"),
        ("0 24 * * *", "hour `24`: 24 is out of range"),
        ("0 0 0 * *", "day of month `0`: 0 is out of range"),
        ("0 0 1 FOO *", "month `FOO`: `FOO` is not a value"),
        ("0 0 L * *", "day of month `L`: `L` is not a value; L, W, # and ? are not understood"),
        ("0 0 * * FRI-MON", "day of week `FRI-MON`: `FRI-MON` ends before it begins"),
        ("*/0 * * * *", "minute `*/0`: the step `0` is not a number from 1 to 59"),
        ("1,,2 * * * *", "minute: a value is missing"),
        ("1- * * * *", "minute `1-`: a value is missing"),
        ("-5 * * * *", "minute `-5`: a value is missing"),
        ("٣ * * * *", "minute `٣`: `٣` is not a value"),
        ("0 0 30 2 *", "no month of `2` has a day 30"),
        ("0 0 31 2,4 *", "no month of `2,4` has a day 31"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(text: str, why: str):
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert caught.value.code == "schedule.bad_cron"
    assert caught.value.why == why
    assert caught.value.fix
