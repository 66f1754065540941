"""Schedules on an engine with virtual time: they fire once a time, whatever clocks and crashes do."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from plait import Context, Engine, workflow
from plait.api.schedule import Overlap
from plait.kernel.errors import Conflict, InvalidInput, NotFound, PlaitError, Unavailable
from plait.kernel.ids import run_key
from plait.kernel.store import RunFilter, Write
from plait.schedules.state import KEPT_FIRES
from plait.stores.memory import MemoryStore, Moment
from plait.testing import Sim, VirtualClock, sim

MINUTE = 60
HOUR = 3600
SPRING = datetime(2026, 3, 28, 12, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 24, 12, tzinfo=UTC)


@workflow
async def report(ctx: Context, about: str = "all") -> str:
    return about


@workflow
async def patient(ctx: Context) -> str:
    """Goes on until it is told to end."""
    await ctx.listen("end")
    return "ended"


async def runs(engine: Engine) -> list[str]:
    """Ids of all runs, oldest first."""
    return sorted(row.id for row in await engine.runs(RunFilter(limit=1000)))


async def fates(engine: Engine, name: str = "s") -> list[tuple[str, str]]:
    """Of the times of a schedule, oldest first."""
    found = await engine.schedules.fires(name, limit=KEPT_FIRES)
    return [
        (fire.outcome, datetime.fromtimestamp(fire.scheduled_at / 1000, UTC).strftime("%H:%M"))
        for fire in reversed(found)
    ]


async def end(s: Sim, run_id: str) -> None:
    """Its schedule hears of the end in a moment."""
    await (await s.engine.get(run_id)).message("end")
    for _ in range(20):
        await s.settle()


async def test_a_schedule_starts_a_run_at_each_of_its_times():
    async with sim([report]) as s:
        made = await s.engine.schedules.create("s", report, "tea", cron="*/30 * * * *", labels={"shop": "north"})
        assert made.next[0] == s.clock.now() + 30 * MINUTE * 1000
        await s.clock.advance(HOUR)
        assert await runs(s.engine) == ["s:2030-01-01T00:30:00Z", "s:2030-01-01T01:00:00Z"]
        run = await s.engine.get("s:2030-01-01T00:30:00Z")
        assert await run.result() == "tea"
        row = await run.row()
        assert row.labels == {"shop": "north", "schedule": "s", "scheduled_at": "2030-01-01T00:30:00Z"}
        assert row.created_at == made.next[0]
        assert await fates(s.engine) == [("started", "00:30"), ("started", "01:00")]


async def test_a_schedule_in_a_namespace_starts_runs_there():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", "report", every=MINUTE, namespace="acme")
        await s.engine.schedules.create("s", "report", every=HOUR)
        await s.clock.advance(MINUTE)
        assert await runs(s.engine) == ["acme/s:2030-01-01T00:01:00Z"]
        with pytest.raises(NotFound):
            await s.engine.schedules.get("s", "other")
        await s.engine.schedules.delete("s", "acme")
        assert [each.name for each in await s.engine.schedules.list()] == ["s"]


async def test_spring_and_autumn_have_one_run_a_day():
    for start, expected in (
        (SPRING, ["s:2026-03-29T01:00:00Z", "s:2026-03-30T00:30:00Z"]),
        (AUTUMN, ["s:2026-10-25T00:30:00Z", "s:2026-10-26T01:30:00Z"]),
    ):
        async with sim([report], start=start) as s:
            await s.engine.schedules.create("s", report, cron="30 2 * * *", tz="Europe/Berlin")
            await s.clock.advance(timedelta(days=2))
            assert await runs(s.engine) == expected


async def test_a_clock_that_jumps_forward_starts_what_is_not_too_late_and_tells_of_the_rest():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=MINUTE, overlap="allow", catchup=2 * MINUTE)
        await s.settle()
        s.clock.set(s.clock.time + timedelta(minutes=10, seconds=30))
        await s.clock.advance(0)
        assert await fates(s.engine) == [("missed", "00:01"), ("started", "00:09"), ("started", "00:10")]
        assert (await s.engine.schedules.fires("s", limit=5))[-1].count == 8


async def test_a_clock_that_is_set_back_starts_no_time_twice():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=10 * MINUTE)
        await s.clock.advance(30 * MINUTE)
        s.clock.set(s.clock.time - timedelta(minutes=25))
        await s.clock.advance(35 * MINUTE)
        assert await fates(s.engine) == [(("started"), f"00:{number}0") for number in (1, 2, 3, 4)]
        assert len(await runs(s.engine)) == 4


@pytest.mark.parametrize("restart", [False, True])
async def test_a_clock_that_was_a_year_ahead_does_not_silence_schedules(restart: bool):
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=HOUR)
        await s.settle()
        right = s.clock.time
        s.clock.set(right + timedelta(days=365))
        await s.clock.advance(1)
        s.clock.set(right)
        if restart:
            await s.crash()
        await s.clock.advance(HOUR)
        assert "s:2030-01-01T01:00:00Z" in await runs(s.engine)


async def test_what_was_missed_while_no_engine_ran_is_told_and_what_is_not_too_late_starts():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with Engine(store=store, clock=clock, definitions=[report]) as engine:
        await engine.schedules.create("s", report, every=10 * MINUTE, catchup=15 * MINUTE, overlap="allow")
    await clock.advance(HOUR)
    async with Engine(store=store, clock=clock, definitions=[report]) as engine:
        await clock.advance(0)
        assert await fates(engine) == [("missed", "00:10"), ("started", "00:50"), ("started", "01:00")]
    await store.dispose()


async def test_a_run_whose_code_is_gone_is_asked_for_every_ten_seconds_also_when_its_next_time_has_passed(caplog: Any):
    async with sim([]) as s:
        await s.engine.schedules.create("s", "gone", every=MINUTE, check=False)
        with caplog.at_level(logging.WARNING, "plait.schedules"):
            for _ in range(30):
                await s.clock.advance(10)
                assert len(caplog.records) < 100
        assert (await fates(s.engine))[0] == ("failed", "00:01")


async def test_skip_queue_and_allow_meet_a_run_that_has_not_ended():
    async with sim([patient]) as s:
        for overlap in ("skip", "queue", "allow"):
            await s.engine.schedules.create(overlap, patient, every=MINUTE, overlap=overlap)
        await s.clock.advance(3 * MINUTE)
        assert [len((await s.engine.schedules.get(each)).running) for each in ("skip", "queue", "allow")] == [1, 1, 3]
        assert await fates(s.engine, "skip") == [("started", "00:01"), ("skipped", "00:02"), ("skipped", "00:03")]
        assert len((await s.engine.schedules.get("queue")).waiting) == 2
        await end(s, "queue:2030-01-01T00:01:00Z")
        assert await fates(s.engine, "queue") == [("started", "00:01"), ("started", "00:02")]
        await s.crash()
        await s.settle()
        await end(s, "queue:2030-01-01T00:02:00Z")
        assert await fates(s.engine, "queue") == [("started", "00:01"), ("started", "00:02"), ("started", "00:03")]


async def test_cancel_previous_cancels_and_then_starts():
    async with sim([patient]) as s:
        await s.engine.schedules.create("s", patient, every=MINUTE, overlap="cancel_previous")
        await s.clock.advance(2 * MINUTE)
        for _ in range(20):
            await s.settle()
        first, second = [await s.engine.get(f"s:2030-01-01T00:0{number}:00Z") for number in (1, 2)]
        assert [await first.status(), await second.status()] == ["cancelled", "running"]


async def test_a_paused_schedule_waits_and_then_goes_on_from_then():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=MINUTE, catchup=HOUR)
        assert (await s.engine.schedules.pause("s")).next == []
        await s.clock.advance(5 * MINUTE + 30)
        assert await runs(s.engine) == []
        assert not (await s.engine.schedules.resume("s")).paused
        await s.clock.advance(MINUTE)
        assert await fates(s.engine) == [("started", "00:06")]


async def test_a_trigger_starts_a_run_now_also_while_paused():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, "tea", cron="@yearly")
        await s.engine.schedules.pause("s")
        triggered = await s.engine.schedules.trigger("s")
        await s.settle()
        assert triggered.outcome == "starting"
        assert await (await s.engine.get(triggered.run_id)).result() == "tea"
        [fire] = await s.engine.schedules.fires("s")
        assert (fire.cause, fire.outcome, fire.run_id) == ("trigger", "started", triggered.run_id)


async def test_a_trigger_is_refused_while_a_run_has_not_ended_unless_it_says_otherwise():
    async with sim([patient]) as s:
        await s.engine.schedules.create("s", patient, cron="@yearly")
        first = await s.engine.schedules.trigger("s")
        await s.settle()
        with pytest.raises(Conflict) as caught:
            await s.engine.schedules.trigger("s")
        assert caught.value.code == "schedule.overlap"
        assert first.run_id in caught.value.why
        assert (await s.engine.schedules.trigger("s", overlap="queue")).outcome == "waiting"
        assert (await s.engine.schedules.trigger("s", overlap="allow")).outcome == "starting"


async def test_a_backfill_starts_runs_of_the_past_each_once():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, cron="0 * * * *")
        await s.clock.advance(2 * HOUR)
        past = s.clock.time - timedelta(hours=4)
        started = await s.engine.schedules.backfill("s", past, s.clock.time)
        assert started.count == 5
        await s.clock.advance(MINUTE)
        expected = [f"s:{day}:00:00Z" for day in ("2029-12-31T22", "2029-12-31T23", "2030-01-01T00")]
        assert (await runs(s.engine))[:3] == expected
        assert len(await runs(s.engine)) == 5, "two of them had their runs already"
        again = await s.engine.schedules.backfill("s", past, s.clock.time, overlap="allow")
        assert again.count == 5
        await s.settle()
        assert len(await runs(s.engine)) == 5


async def test_a_backfill_without_times_or_with_too_many_is_refused():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=1)
        for since, code in ((timedelta(0), "nothing_to_backfill"), (timedelta(days=30), "backfill_too_long")):
            with pytest.raises(InvalidInput) as caught:
                await s.engine.schedules.backfill("s", s.clock.time - since + timedelta(milliseconds=1), s.clock.time)
            assert caught.value.code == f"schedule.{code}"
        with pytest.raises(InvalidInput):
            await s.engine.schedules.backfill("s", datetime(2029, 1, 1), s.clock.time)


async def test_an_edit_counts_from_now_and_keeps_what_was_told():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=MINUTE)
        await s.clock.advance(MINUTE)
        with pytest.raises(Conflict):
            await s.engine.schedules.create("s", report, every=HOUR)
        made = await s.engine.schedules.create("s", report, every=HOUR, replace=True)
        assert made.next[0] == s.clock.now() + (HOUR - MINUTE) * 1000
        await s.clock.advance(HOUR)
        assert await fates(s.engine) == [("started", "00:01"), ("started", "01:00")]


async def test_a_deleted_schedule_fires_no_more_and_leaves_nothing_but_its_runs():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=MINUTE)
        await s.clock.advance(2 * MINUTE)
        await s.engine.schedules.delete("s")
        await s.clock.advance(2 * MINUTE)
        assert len(await runs(s.engine)) == 2
        for kind in ("schedule", "schedule_state", "schedule_due", "schedule_fires/s"):
            assert await s.engine.records.list(kind) == []
        with pytest.raises(NotFound) as caught:
            await s.engine.schedules.delete("s")
        assert caught.value.code == "schedule.unknown"


async def test_of_what_became_of_times_the_newest_are_kept():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=1)
        await s.clock.advance(KEPT_FIRES + 10)
        kept = await s.engine.records.list("schedule_fires/s", limit=1000)
        assert len(kept) == KEPT_FIRES
        assert (await s.engine.schedules.get("s")).last is not None


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"cron": "* * *"}, "schedule.bad_cron"),
        ({}, "schedule.bad_timing"),
        ({"every": 0.1}, "schedule.bad_settings"),
        ({"every": 60, "tz": "Mars/Olympus"}, "schedule.unknown_time_zone"),
        ({"every": 60, "catchup": -1}, "schedule.bad_settings"),
        ({"every": 60, "overlap": "maybe"}, "schedule.bad_settings"),
        ({"every": 60, "labels": {"schedule": "x"}}, "schedule.bad_settings"),
        ({"every": 60, "name": "a/b"}, "schedule.bad_name"),
        ({"every": 60, "definition": "nothing"}, "CODE_NOT_LOADED"),
    ],
)
async def test_a_schedule_that_could_not_work_is_refused(given: dict[str, Any], code: str):
    async with sim([report]) as s:
        asked: dict[str, Any] = {"name": "s", "definition": "report"} | given
        with pytest.raises(PlaitError) as caught:
            await s.engine.schedules.create(**asked)
        assert caught.value.code == code
        assert await s.engine.schedules.list() == []


async def test_a_definition_that_is_gone_is_told_when_its_time_has_passed():
    async with sim([report]) as s:
        await s.engine.schedules.create("s", "nothing", every=HOUR, check=False)
        await s.clock.advance(HOUR)
        assert await fates(s.engine) == [], "another engine may have it"
        await s.clock.advance(3 * MINUTE)
        [fire] = await s.engine.schedules.fires("s")
        assert fire.outcome == "failed"
        assert "nothing" in fire.why


async def test_a_run_that_somebody_else_started_under_the_id_is_not_taken_for_ours():
    async with sim([report]) as s:
        await s.engine.start(report, "other", id="s:2030-01-01T00:01:00Z")
        await s.engine.schedules.create("s", report, every=MINUTE)
        await s.clock.advance(MINUTE)
        [fire] = await s.engine.schedules.fires("s")
        assert fire.outcome == "failed"
        assert "exists with another definition or input" in fire.why


async def test_a_run_of_a_time_that_was_started_with_other_settings_is_the_run_of_that_time():
    """An engine started it and died; before another looks, somebody gives the schedule another input."""
    async with sim([report]) as s:
        labels = {"schedule": "s", "scheduled_at": "2030-01-01T00:01:00Z"}
        await s.engine.start(report, "before", id="s:2030-01-01T00:01:00Z", labels=labels)
        await s.engine.schedules.create("s", report, "after", every=MINUTE)
        await s.clock.advance(MINUTE)
        assert await fates(s.engine) == [("started", "00:01")]


@pytest.mark.parametrize("overlap", ["skip", "allow"])
async def test_engines_that_race_start_one_run_a_time(overlap: Overlap):
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with Engine(store=store, clock=clock, definitions=[report]) as one:
        await one.schedules.create("s", report, every=MINUTE, overlap=overlap)
        async with Engine(store=store, clock=clock, definitions=[report], work=False) as two:
            for number in range(1, 4):
                clock.set(datetime(2030, 1, 1, 0, number, tzinfo=UTC))
                await asyncio.gather(
                    *(each.schedules.scheduler.fire("default", "s") for each in (one, two, one, two)),
                )
            assert [outcome for outcome, _ in await fates(one)] == ["started"] * 3
            assert len(await runs(one)) == 3
    await store.dispose()


async def test_an_engine_without_work_saves_what_a_working_one_fires():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with (
        Engine(store=store, clock=clock, definitions=[report], work=False) as aside,
        Engine(store=store, clock=clock, definitions=[report]) as working,
    ):
        await aside.schedules.create("s", report, every=MINUTE)
        await working.schedules.scheduler.look()
        await clock.advance(MINUTE)
        assert len(await runs(working)) == 1
    await store.dispose()


async def test_a_schedule_that_can_not_be_read_does_not_stop_the_others():
    async with sim([report]) as s:
        await s.engine.schedules.create("a", report, every=MINUTE)
        await s.engine.schedules.create("b", report, every=MINUTE)
        found = await s.engine.records.get("schedule_state", "default", "a")
        assert found is not None
        await s.engine.records.put(msgspec.structs.replace(found, body=msgspec.Raw(b'{"cursor":"?"}')))
        await s.clock.advance(MINUTE)
        assert await runs(s.engine) == ["b:2030-01-01T00:01:00Z"]


@pytest.mark.parametrize("moment", ["before", "inside", "after"])
async def test_a_time_becomes_one_run_whichever_commit_of_it_the_store_fails_at(moment: Moment):
    """After: it is committed all the same, but nobody is told."""
    async with sim([report]) as s:
        await s.engine.schedules.create("s", report, every=MINUTE)
        for failing in range(4):
            commits = 0

            def fail(now: Moment, writes: Sequence[Write], failing: int = failing) -> None:
                nonlocal commits
                if any(write.records for write in writes) and now == moment:
                    commits += 1
                    if commits == failing + 1:
                        raise Unavailable("store.away", "it is away")

            s.store.faults = fail
            await s.clock.advance(MINUTE)
        s.store.faults = None
        await s.clock.advance(MINUTE)
        assert await fates(s.engine) == [("started", f"00:0{number}") for number in range(1, 6)]
        assert len(await runs(s.engine)) == 5


async def test_a_run_ends_up_once_whichever_commit_an_engine_dies_at():
    """The engine is dropped at every commit of a fire in turn; the next one goes on."""
    deaths = 0
    while True:
        clock = VirtualClock()
        store = MemoryStore(clock=clock)
        async with Engine(store=store, clock=clock, definitions=[report]) as first:
            await first.schedules.create("s", report, every=MINUTE)
        clock.set(datetime(2030, 1, 1, 0, 1, tzinfo=UTC))
        engine = await Engine(store=store, clock=clock, definitions=[report]).__aenter__()
        died = await _dies_after(engine, deaths)
        await engine.kernel.crash()
        await store.release(engine.kernel.owner)
        async with Engine(store=store, clock=clock, definitions=[report]) as last:
            await clock.advance(10)
            assert await fates(last) == [("started", "00:01")]
            assert await runs(last) == [str(run_key("default", "s:2030-01-01T00:01:00Z"))]
        await store.dispose()
        if not died:
            break
        deaths += 1
    assert deaths >= 2, "there is a commit before the run, and one after it"


async def _dies_after(engine: Engine, commits: int) -> bool:
    """Lets it write so many changes of schedules; False if it had no more to write."""
    book = engine.schedules.scheduler._book  # pyright: ignore[reportPrivateUsage]
    change, left, died = book.change, commits, asyncio.Event()

    async def counted(*given: Any, **more: Any) -> Any:
        nonlocal left
        if left == 0:
            died.set()
            await asyncio.Event().wait()
        left -= 1
        return await change(*given, **more)

    book.change = counted  # type: ignore[method-assign]
    firing = asyncio.ensure_future(engine.schedules.scheduler.fire("default", "s"))
    dying = asyncio.ensure_future(died.wait())
    await asyncio.wait([firing, dying], return_when=asyncio.FIRST_COMPLETED)
    for each in (firing, dying):
        each.cancel()
    await asyncio.gather(firing, dying, return_exceptions=True)
    return died.is_set()


# -- queues ------------------------------------------------------------------------------------------------------------


async def test_runs_of_a_schedule_wait_on_its_queue():
    async with sim([patient]) as s:
        await s.engine.queues.set("reports", concurrency=1, partitioned=True)
        options = {"every": MINUTE, "overlap": "allow", "queue": "reports", "partition": "ann", "priority": 3}
        made = await s.engine.schedules.create("s", patient, **options)
        assert (made.queue, made.priority, made.partition) == ("reports", 3, "ann")
        await s.clock.advance(2 * MINUTE)
        first, second = [await s.engine.get(run_id) for run_id in await runs(s.engine)]
        started = (await first.events(0, 1))[0].data
        assert (started["queue"], started["priority"], started["partition"]) == ("reports", 3, "ann")
        assert (await second.waiting())[0].text == "next on `reports`, 1 of 1 slots taken for `ann`"
        await end(s, first.id)
        async for _ in second.follow():
            break


async def test_a_run_that_still_waits_on_its_queue_gives_way_to_the_next():
    async with sim([patient]) as s:
        await s.engine.queues.set("reports", concurrency=1)
        holder = await s.engine.start(patient, id="holder", queue="reports")
        await s.engine.schedules.create("s", patient, every=MINUTE, overlap="cancel_previous", queue="reports")
        await s.clock.advance(2 * MINUTE + 1)
        for _ in range(20):
            await s.settle()
        first, second = [await s.engine.get(run_id) for run_id in await runs(s.engine) if run_id != "holder"]
        assert await first.status() == "cancelled"
        assert (await second.waiting())[0].kind == "queued"
        assert await holder.status() == "running"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"queue": "no such name"}, "queue.bad_name"),
        ({"queue": "q", "partition": ""}, "queue.bad_option"),
        ({"queue": "q", "priority": 2**31}, "queue.bad_option"),
        ({"queue": "keyed"}, "queue.no_partition"),
    ],
)
async def test_a_schedule_that_could_not_queue_its_runs_is_refused(wrong: dict[str, Any], code: str):
    async with sim([report]) as s:
        await s.engine.queues.set("keyed", partitioned=True)
        with pytest.raises(InvalidInput) as refused:
            await s.engine.schedules.create("s", report, every=MINUTE, **wrong)
        assert refused.value.code == code
