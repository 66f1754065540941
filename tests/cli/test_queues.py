"""`plait queues`, and runs that `plait run` puts on one."""

import asyncio

from plait import Engine
from plait.client import Client
from tests.cli.support import Desk, both_ways


def test_limits_are_set_shown_and_taken_back(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    assert "no queues" in desk.plait("queues").out
    made = desk.plait("queues", "set", "emails", "--concurrency", "5", "--rate", "100/5m", "--json").json
    assert (made["concurrency"], made["rate"], made["period_ms"]) == (5, 100, 300_000)
    assert "paused, 5 at once, 100 in 5 min" in desk.plait("queues", "pause", "emails").out
    listed = desk.plait("queues").out
    assert "emails" in listed
    assert "nothing" in listed
    shown = desk.plait("queues", "show", "emails").out
    assert "no slot is held" in shown
    assert "emails: 5 at once, 100 in 5 min" in desk.plait("queues", "resume", "emails").out
    assert "emails: none" in desk.plait("queues", "set", "emails").out


@both_ways
def test_a_queue_is_shown_with_the_workers_that_ask_for_its_tasks(desk: Desk):
    async def ask() -> None:
        place = Client(desk.db) if desk.db.startswith("http") else Engine(desk.db, work=False)
        async with place as found:
            assert await found.queues.claim("w-1", ["gpu"]) == []

    desk.run("nothing")
    assert "none seen lately" in desk.plait("queues", "show", "gpu").out
    asyncio.run(ask())
    assert "w-1 (" in desk.plait("queues", "show", "gpu").out
    assert [each["worker"] for each in desk.plait("queues", "show", "gpu", "--json").json["workers"]] == ["w-1"]


def test_what_makes_no_sense_is_refused(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    assert desk.plait("queues", "set", "emails", "--rate", "often", "--json").problem["code"] == "cli.bad_rate"
    assert desk.plait("queues", "set", "emails", "--concurrency", "0", "--json").problem["code"] == "queue.bad_limit"
    assert desk.plait("queues", "pause", "a b", "--json").problem["code"] == "queue.bad_name"


def test_a_run_is_put_on_a_queue(desk: Desk):
    ran = desk.run(
        "hello",
        "--input",
        '"Ada"',
        "--queue",
        "emails",
        "--priority",
        "-1",
        "--dedup-id",
        "x",
        "--delay",
        "0",
        "--json",
    )
    assert ran.json["status"] == "completed"
    started = desk.plait("events", ran.json["id"], "--json").out.splitlines()[0]
    assert '"queue":"emails"' in started
    assert '"priority":-1' in started
