"""`plait schedules`: saved, listed, shown, previewed, triggered, paused, deleted."""

import asyncio

import pytest

from plait import Engine
from plait.server.auth import Audit
from tests.cli.support import Desk, both_ways, run_plait

YEARLY = ("--cron", "30 2 1 1 *", "--tz", "Europe/Berlin", "--input", '"Ada"')


def save(desk: Desk, *args: str) -> None:
    target = "hello" if desk.db.startswith("http") else f"{desk.module}:hello"
    ran = desk.plait("schedules", "set", "yearly", target, *(args or YEARLY))
    assert ran.code == 0, ran.err
    assert ran.err == ""


@both_ways
def test_a_schedule_is_saved_with_its_next_times_and_listed(desk: Desk):
    desk.run("nothing")
    assert desk.plait("schedules").out == "no schedules\n"
    save(desk)
    [found] = desk.plait("schedules", "list", "--json").json
    assert (found["name"], found["definition"], found["input"]) == ("yearly", "hello", "Ada")
    assert "30 2 1 1 * Europe/Berlin" in desk.plait("schedules").out
    shown = desk.plait("schedules", "show", "yearly").out
    assert shown.count("02:30:00 CET") == 10
    assert "overlap   skip" in shown


@both_ways
def test_a_trigger_starts_a_run_that_is_told(desk: Desk):
    desk.run("nothing")
    save(desk)
    with desk.engine():
        triggered = desk.plait("schedules", "trigger", "yearly", "--json").json
        while not desk.plait("schedules", "show", "yearly", "--json").json["fires"]:
            pass
        assert desk.end(triggered["run_id"])["output"] == "hello Ada"
    assert triggered["run_id"] in desk.plait("schedules", "show", "yearly").out


@both_ways
def test_it_is_paused_resumed_backfilled_and_deleted(desk: Desk):
    desk.run("nothing")
    save(desk)
    assert desk.plait("schedules", "pause", "yearly").out == "schedule yearly is paused\n"
    assert "paused" in desk.plait("schedules").out
    assert desk.plait("schedules", "resume", "yearly").out.startswith("schedule yearly goes on: ")
    told = desk.plait("schedules", "backfill", "yearly", "--since", "2019-01-01", "--until", "2021-01-01T12:00Z").out
    assert told == "3 times from 2019-01-01 01:30:00 UTC to 2021-01-01 01:30:00 UTC\n"
    assert desk.plait("schedules", "delete", "yearly").out == "schedule yearly is deleted\n"
    assert desk.plait("schedules", "delete", "yearly", "--json").problem["code"] == "schedule.unknown"


def test_what_is_done_on_a_database_is_in_the_audit_log(desk: Desk):
    desk.run("nothing")
    save(desk)
    desk.plait("schedules", "pause", "yearly")

    async def read() -> list[str]:
        async with Engine(desk.db, work=False) as engine:
            page = await Audit(engine.records, engine.kernel.clock).page("default", None, 10)
            return [entry.action for entry in page.entries]

    assert asyncio.run(read()) == ["schedules.pause", "schedules.save"]


def test_code_that_is_not_loaded_here_is_saved_and_said_to_be_unchecked(desk: Desk):
    desk.run("nothing")
    ran = desk.plait("schedules", "set", "hourly", "hello", "--every", "1h")
    assert ran.code == 0
    assert "not checked: hello is not loaded here" in ran.err


def test_an_input_that_the_code_does_not_take_is_refused(desk: Desk):
    ran = desk.plait("schedules", "set", "hourly", f"{desk.module}:hello", "--every", "1h", "--input", "1", "--json")
    assert ran.code != 0
    assert desk.plait("schedules").out == "no schedules\n"


def test_the_next_times_need_no_database():
    ran = run_plait("schedules", "preview", "30 2 * * *", "--tz", "Europe/Berlin", "--count", "3")
    assert ran.code == 0
    assert ran.out.count("02:30:00 CE") == 3
    assert len(run_plait("schedules", "preview", "--every", "15m", "--json").json) == 10


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("preview", "61 * * * *"), "schedule.bad_cron"),
        (("preview",), "schedule.bad_timing"),
        (("preview", "@daily", "--tz", "Mars/Olympus"), "schedule.unknown_time_zone"),
        (("preview", "--every", "a while"), "cli.bad_age"),
        (("set", "x", "hello", "--every", "1h", "--overlap", "maybe"), "cli.bad_rule"),
        (("backfill", "x", "--since", "then", "--until", "now"), "cli.bad_time"),
    ],
)
def test_what_can_not_be_read_is_one_clear_line(args: tuple[str, ...], code: str):
    ran = run_plait("schedules", *args, "--json")
    assert ran.problem["code"] == code
    assert ran.out == ""


@both_ways
def test_the_queue_of_its_runs_is_saved_and_shown(desk: Desk):
    desk.run("nothing")
    save(desk, *YEARLY, "--queue", "reports", "--priority", "2", "--partition", "ann")
    assert "reports, priority 2, partition ann" in desk.plait("schedules", "show", "yearly").out
