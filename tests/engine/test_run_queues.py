"""Runs on queues, from the start that puts one there to the end that gives its slot back."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from plait import Engine, refs, step, workflow
from plait.engine import Handle
from plait.kernel.errors import Busy, Conflict, InvalidInput, RunFailed, Unavailable
from plait.kernel.run_queues import AdmissionRound
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock


@workflow
async def mail(ctx: Any, to: str = "ann") -> str:
    """Runs until it is told to end."""
    told = await ctx.listen("end")
    if told.body == "fail":
        raise ValueError("no such address")
    return to


@step(queue="gpu")
async def render(page: int) -> str:
    raise AssertionError("the engine's own process must not do this")


@workflow
async def book(ctx: Any, page: int = 1) -> str:
    return await ctx.step("render", render, page)


@step(name="greet")
async def greet(name: str) -> str:
    return f"hello {name}"


@workflow
async def greet_all(ctx: Any) -> str:
    return "hello"


class Office:
    """An engine on a virtual clock, with a queue `mails`."""

    def __init__(self, lease_ttl: float = 1.0) -> None:
        self.clock = VirtualClock()
        self.store = MemoryStore(clock=self.clock)
        self.lease_ttl = lease_ttl
        self.engine = self._engine()

    def _engine(self) -> Engine:
        definitions = [mail, book, greet, greet_all]
        return Engine(store=self.store, clock=self.clock, definitions=definitions, lease_ttl=self.lease_ttl)

    async def __aenter__(self) -> "Office":
        await self.engine.__aenter__()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.engine.__aexit__(None, None, None)
        await self.store.dispose()

    async def later(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def crash(self) -> None:
        await self.engine.kernel.crash()
        await self.later(2)
        self.engine = self._engine()
        await self.engine.__aenter__()

    async def send(self, to: str = "ann", **options: Any) -> Handle[Any]:
        return await self.engine.start(mail, to, queue="mails", **options)

    async def started(self, handle: Handle[Any]) -> None:
        """Waits until a run has begun."""
        async for _ in handle.follow():
            return

    async def end(self, handle: Handle[Any]) -> None:
        await handle.message("end")
        await handle.result()


async def _waits(handle: Handle[Any]) -> str:
    return "; ".join(reason.text for reason in await handle.waiting())


async def test_a_run_waits_until_a_slot_is_free_and_says_why():
    async with Office() as office:
        await office.engine.queues.set("mails", concurrency=1)
        first, second, third = [await office.send() for _ in range(3)]
        await office.started(first)
        assert await _waits(second) == "next on `mails`, 1 of 1 slots taken"
        assert await _waits(third) == "queued behind 1 on `mails`, 1 of 1 slots taken"
        assert (await third.row()).phase == "waiting"
        await office.end(first)
        await office.started(second)
        [holder] = await office.engine.queues.holders("mails")
        assert holder.run_id == second.id
        [event] = await second.events(limit=1)
        assert event.data["queue"] == "mails"


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_a_slot_comes_back_however_the_run_ends(how: str):
    async with Office() as office:
        await office.engine.queues.set("mails", concurrency=1)
        first, second = await office.send(), await office.send()
        await office.started(first)
        if how == "cancelled":
            await first.cancel()
        else:
            await first.message("end", "fail" if how == "failed" else None)
        await office.started(second)
        assert await first.status() == how


async def test_a_run_that_waits_survives_a_crash_and_a_slot_is_not_lost_by_one():
    async with Office() as office:
        await office.engine.queues.set("mails", concurrency=1)
        first, second = await office.send(), await office.send()
        await office.started(first)
        await office.crash()
        first, second = await office.engine.get(first.id), await office.engine.get(second.id)
        assert await _waits(second) == "next on `mails`, 1 of 1 slots taken"
        await office.end(first)
        await office.started(second)


async def test_a_waiting_run_can_be_cancelled_and_does_nothing():
    async with Office() as office:
        await office.engine.queues.pause("mails")
        run = await office.send()
        assert await _waits(run) == "next on `mails`, queue `mails` is paused"
        assert (await run.picture()).actions == ["cancel", "message"]
        await run.cancel("not needed")
        assert await run.status() == "cancelled"
        assert (await run.picture()).input == "ann"
        with pytest.raises(RunFailed, match="not needed"):
            await run.result()


async def test_a_queue_with_nothing_on_it_and_no_limits_is_not_listed():
    async with Office() as office:
        await (await office.engine.start(greet_all, queue="once")).result()
        assert await office.engine.queues.list() == []
        assert await office.store.run_queues.backlogs() == []


async def test_none_of_many_runs_that_are_cancelled_while_they_wait_begins():
    """More than an engine reads from its inbox at a time."""
    async with Office() as office:
        await office.engine.queues.pause("any")
        runs = await asyncio.gather(*(office.engine.start(greet_all, queue="any") for _ in range(501)))
        await asyncio.gather(*(run.cancel() for run in runs))
        await asyncio.gather(*(run.result() for run in runs), return_exceptions=True)
        assert {await run.status() for run in runs} == {"cancelled"}


async def test_a_waiting_run_can_not_be_changed():
    async with Office() as office:
        await office.engine.queues.pause("mails")
        run = await office.send()
        for change in (run.retry(), run.rewind(), run.fork(), run.compensate(), run.patch([])):
            with pytest.raises(Conflict, match="has not started"):
                await change


async def test_messages_to_a_waiting_run_are_there_when_it_starts():
    async with Office() as office:
        await office.engine.queues.pause("mails")
        run = await office.send()
        await run.message("end")
        await office.engine.queues.resume("mails")
        assert await run.result() == "ann"


async def test_a_deadline_holds_while_a_run_waits():
    async with Office() as office:
        await office.engine.queues.pause("mails")
        run = await office.send(deadline=60)
        await office.later(61)
        with pytest.raises(RunFailed, match="deadline"):
            await run.result()


async def test_a_delayed_run_starts_when_its_time_has_come():
    async with Office(lease_ttl=600.0) as office:  # else most of that hour is renewals
        run = await office.send(delay=timedelta(hours=1))
        [reason] = await run.waiting()
        assert (reason.text, reason.until) == ("delayed on queue `mails`", (await run.row()).created_at + 3_600_000)
        await office.later(3_599)
        assert await run.events() == []
        await office.later(1)
        await office.started(run)


async def test_a_duplicate_gives_the_first_run_while_that_waits_or_runs():
    async with Office() as office:
        first = await office.send("ann", dedup_id="ann")
        again = await office.send("bob", dedup_id="ann")
        assert (again.id, again.created) == (first.id, False)
        with pytest.raises(Conflict, match=r"queue\.duplicate"):
            await office.send(dedup_id="ann", reject=True)
        await office.started(first)
        await office.end(first)
        assert (await office.send(dedup_id="ann", reject=True)).created


async def test_a_debounced_run_starts_once_with_the_last_input():
    async with Office() as office:
        first = await office.send("ann", dedup_id="x", debounce=60)
        await office.later(59)
        again = await office.send("bob", dedup_id="x", debounce=60)
        assert again.id == first.id
        await office.later(59)
        assert await first.events() == []
        await first.message("end")
        await office.later(60)
        assert await first.result() == "bob"
        assert (await office.send(dedup_id="x", debounce=60)).created


async def test_a_debounced_start_gets_the_run_that_has_its_id_until_it_ends():
    """One that was started without `debounce` has it while it runs, too."""
    async with Office() as office:
        first = await office.send("ann", dedup_id="x")
        await office.started(first)
        again = await asyncio.wait_for(office.send("bob", dedup_id="x", debounce=60), 10)
        assert again.id == first.id
        await first.message("end")
        assert await first.result() == "ann"
        assert (await office.send(dedup_id="x", debounce=60)).created


async def test_a_duplicate_gets_its_run_also_where_no_more_may_wait():
    async with Office() as office:
        await office.engine.queues.set("mails", max_waiting=1)
        await office.engine.queues.pause("mails")
        first = await office.send("ann", dedup_id="x", debounce=60)
        assert (await office.send("bob", dedup_id="x")).id == first.id
        assert (await office.send("cat", dedup_id="x", debounce=60)).id == first.id
        with pytest.raises(Conflict, match=r"queue\.duplicate"):
            await office.send(dedup_id="x", reject=True)
        with pytest.raises(Busy, match=r"^1 run waits on queue `mails`.*queue\.full"):
            await office.send(dedup_id="y")


async def test_a_debounced_start_of_another_definition_does_not_give_its_input_to_a_run():
    async with Office() as office:
        first = await office.send("ann", dedup_id="x", debounce=60)
        with pytest.raises(Conflict, match=r"it is a run of mail.*queue\.duplicate"):
            await office.engine.start(book, 7, queue="mails", dedup_id="x", debounce=60)
        await first.message("end")
        await office.later(61)
        assert await first.result() == "ann"


async def test_a_rate_does_not_stop_a_queue_for_as_long_as_the_clock_was_set_back():
    async with Office() as office:
        await office.engine.queues.set("mails", rate=1, period=60)
        first, second = await office.send(), await office.send()
        await office.started(first)
        office.clock.set(office.clock.time - timedelta(days=1))
        await office.later(30)
        assert await second.events() == []
        await office.later(60)
        await office.started(second)


async def test_a_partitioned_queue_wants_a_key():
    async with Office() as office:
        await office.engine.queues.set("mails", concurrency=1, partitioned=True)
        with pytest.raises(InvalidInput, match=r"queue\.no_partition"):
            await office.send()
        one, other = await office.send(partition="a"), await office.send(partition="b")
        more = await office.send(partition="a")
        await office.started(one)
        await office.started(other)
        assert await _waits(more) == "next on `mails`, 1 of 1 slots taken for `a`"


async def test_a_full_queue_refuses_more():
    async with Office() as office:
        await office.engine.queues.set("mails", max_waiting=1)
        await office.engine.queues.pause("mails")
        await office.send()
        with pytest.raises(Busy, match="1 run waits on queue `mails`"):
            await office.send()


@pytest.mark.parametrize(
    "options",
    [
        {"queue": "no spaces"},
        {"delay": 5},
        {"queue": "q", "delay": -1},
        {"queue": "q", "debounce": 5},
        {"queue": "q", "priority": 0.5},
        {"queue": "q", "dedup_id": ""},
        {"dedup_id": "x"},
    ],
)
async def test_what_makes_no_sense_is_refused(options: dict[str, Any]):
    async with Office() as office:
        with pytest.raises(InvalidInput, match="queue"):
            await office.engine.start(mail, "ann", **options)


async def test_limits_that_make_no_sense_are_refused():
    async with Office() as office:
        for limits in ({"concurrency": 0}, {"rate": -1}, {"rate": 1, "period": 0}, {"max_waiting": True}):
            with pytest.raises(InvalidInput, match=r"queue\.bad_limit"):
                await office.engine.queues.set("mails", **limits)  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput, match=r"queue\.bad_name"):
            await office.engine.queues.set("a b")


async def test_a_rate_lets_runs_start_one_period_after_the_other():
    async with Office() as office:
        await office.engine.queues.set("mails", rate=2, period=60)
        runs = [await office.send() for _ in range(5)]
        await office.later(180)
        starts = [(await run.events(limit=1))[0].at for run in runs]
        assert all(later - earlier >= 60_000 for earlier, later in zip(starts, starts[2:], strict=False))


async def test_tasks_have_the_priority_and_the_key_of_their_run():
    async with Office() as office:
        await office.engine.queues.set("gpu", concurrency=1, partitioned=True)
        await office.engine.start(book, 1, partition="a", id="one")
        await office.engine.start(book, 2, partition="a", priority=-1, id="two")
        await office.engine.start(book, 3, partition="b", id="three")
        claimed = await office.engine.queues.claim("w", ["gpu"], limit=10)
        assert [task.run_id for task in claimed] == ["two", "three"]
        await office.engine.queues.complete(claimed[0].id, "done")
        [task] = await office.engine.queues.claim("w", ["gpu"], limit=10)
        assert task.run_id == "one"


async def test_a_worker_that_waits_for_a_slot_gets_the_next_task_when_there_is_one():
    async with Office() as office:
        await office.engine.queues.set("gpu", concurrency=1)
        await asyncio.gather(*(office.engine.start(book, n) for n in range(2)))
        [first] = await office.engine.queues.claim("w1", ["gpu"], limit=10)
        waiting = asyncio.ensure_future(office.engine.queues.claim("w2", ["gpu"], wait_ms=3_600_000))
        await office.engine.queues.complete(first.id, "done")
        assert len(await waiting) == 1


async def test_a_lost_worker_gives_its_slot_back():
    async with Office() as office:
        await office.engine.queues.set("gpu", concurrency=1)
        for n in range(2):
            await office.engine.start(book, n)
        [lost] = await office.engine.queues.claim("w1", ["gpu"], lease_ms=1_000)
        assert await office.engine.queues.claim("w2", ["gpu"]) == []
        await office.later(5)
        [task] = await office.engine.queues.claim("w2", ["gpu"])
        assert task.run_id != lost.run_id


async def test_runs_of_other_dialects_wait_too():
    async with Office() as office:
        await office.engine.queues.pause("any")
        step = {"name": "greeting", "action": {"function": "greet"}, "input": {"name": "@input.name"}}
        run = await office.engine.start(refs({"id": "hello", "steps": [step]}), {"name": "Ann"}, queue="any")
        assert await _waits(run) == "next on `any`, queue `any` is paused"
        await office.engine.queues.resume("any")
        assert await run.result() == "hello Ann"


async def test_limits_of_the_namespace_hold_over_its_queues_and_no_others():
    async with Office() as office:
        await office.engine.queues.set("*", concurrency=1)
        first = await office.send()
        second = await office.engine.start(mail, "bob", queue="other")
        elsewhere = await office.send(namespace="elsewhere")
        await office.started(first)
        await office.started(elsewhere)
        assert await _waits(second) == "next on `other`, 1 of 1 slots taken"
        await office.end(first)
        await office.started(second)


async def test_a_run_starts_whose_admission_was_written_but_not_answered(monkeypatch: pytest.MonkeyPatch):
    async with Office() as office:
        await office.engine.queues.set("mails", concurrency=1)
        first, second = await office.send(), await office.send()
        await office.started(first)
        admit, cut = office.store.run_queues.admit, list[bool]()

        async def admit_and_fall_silent(namespace: str, queue: str, limit: int) -> AdmissionRound:
            found = await admit(namespace, queue, limit)
            if found.admitted and not cut:
                cut.append(True)
                raise Unavailable("store.unreachable", "the connection was cut")
            return found

        monkeypatch.setattr(office.store.run_queues, "admit", admit_and_fall_silent)
        await office.end(first)
        await office.later(60)
        assert cut
        assert [event.type for event in await second.events(limit=1)] == ["run.started"]
