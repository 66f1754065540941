"""asyncio inside a workflow: tasks, groups, locks, queues and timers work, and replay exactly."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from plait import Context, Loop, workflow
from plait.errors import WorkflowCodeError

from .conftest import Simulate
from .decided import deciding
from .support import Stage, same_log


async def surviving(s: Stage, definition: Any, input: Any = None) -> Any:
    """The result of a run whose process is killed at every pause on the way."""
    run = await s.start(definition, input)
    await s.settle()
    while not await run.ended():
        await s.crash()
        await s.settle()
        if await run.ended():
            break
        s.clock.ring()
        await s.settle()
    return await s.result(run)


async def test_gather_keeps_the_order_of_its_arguments() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        async def nap(n: int) -> int:
            await ctx.sleep(f"nap:{n}", n)
            return n

        return await asyncio.gather(nap(3), nap(1), nap(2))

    async with deciding() as s:
        assert await surviving(s, w) == [3, 1, 2]


async def test_gather_takes_operations_themselves() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        return await asyncio.gather(ctx.step("a", lambda: 1), ctx.sleep("b", 1), ctx.step("c", lambda: 3))

    async with deciding() as s:
        assert await surviving(s, w) == [1, None, 3]


async def test_gather_can_return_failures() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found = await asyncio.gather(
            ctx.step("bad", lambda: 1 / 0, max_attempts=1), ctx.sleep("nap", 5), return_exceptions=True
        )
        return [type(item).__name__ for item in found]

    async with deciding() as s:
        assert await surviving(s, w) == ["StepExhaustedError", "NoneType"]


async def test_wait_gives_the_first_to_complete_in_order() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        pending = {asyncio.create_task(ctx.sleep(f"nap:{n}", n), name=str(n)) for n in (4, 2, 3, 1)}
        order: list[int] = []
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            order += [int(task.get_name()) for task in done]
        return order

    async with deciding() as s:
        assert await surviving(s, w) == [1, 2, 3, 4]


async def test_wait_with_a_timeout_is_durable() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        tasks = [asyncio.create_task(ctx.sleep(f"nap:{n}", n)) for n in (10, 30)]
        done, pending = await asyncio.wait(tasks, timeout=20)
        for task in pending:
            task.cancel()
        return [len(done), len(pending)]

    async with deciding() as s:
        assert await surviving(s, w) == [1, 1]


async def test_as_completed_gives_results_as_they_come() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        async def nap(n: int) -> int:
            await ctx.sleep(f"nap:{n}", n)
            return n

        return [await found for found in asyncio.as_completed([nap(3), nap(1), nap(2)])]

    async with deciding() as s:
        assert await surviving(s, w) == [1, 2, 3]


async def test_a_task_group_waits_for_its_tasks() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        async with asyncio.TaskGroup() as group:
            a = group.create_task(ctx.step("a", lambda: 1))
            b = group.create_task(ctx.sleep("b", 5))
        return [a.result(), b.done()]

    async with deciding() as s:
        assert await surviving(s, w) == [1, True]


async def test_a_failure_in_a_task_group_cancels_the_others(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(ctx.sleep("long", 1000))
                group.create_task(ctx.step("bad", lambda: 1 / 0, max_attempts=1))
                group.create_task(ctx.listen("never"))
        except* Exception as errors:
            found += [type(error).__name__ for error in errors.exceptions]
        await ctx.sleep("after", 1)
        return found

    async with simulate() as s:
        run = await s.start(w)
        assert await s.result(run) == ["StepExhaustedError"]
        assert (await run.row()).ended_at == s.clock.now()
        assert s.clock.elapsed == 1000
        cancelled = [
            event["at"] for event in (await run.history()).of("op.closed") if event.get("status") == "cancelled"
        ]
        assert sorted(cancelled) == ["long", "never"]


async def test_asyncio_sleep_is_a_durable_timer() -> None:
    @workflow
    async def w(ctx: Context) -> float:
        start = ctx.now()
        await asyncio.sleep(3600)
        await asyncio.sleep(60, result="x")
        return (ctx.now() - start).total_seconds()

    async with deciding() as s:
        run = await s.start(w)
        await s.crash()
        assert await s.result(run) == 3660
        opened = (await run.history()).of("op.opened")
        assert [(event["at"], event["kind"]) for event in opened] == [("~timer.0", "timer"), ("~timer.1", "timer")]


async def test_timers_are_counted_in_each_scope() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def branch(c: Context) -> None:
            await asyncio.sleep(1)
            await asyncio.sleep(1)

        async def body(c: Context, n: int) -> Any:
            await asyncio.sleep(1)
            return Loop.break_() if n else Loop.continue_(1)

        await asyncio.sleep(1)
        await ctx.join("j", x=branch, y=branch)
        await ctx.loop("l", body, state=0)

    async with deciding() as s:
        run = await s.start(w)
        await s.result(run)
        timers = [event["at"] for event in (await run.history()).of("op.opened") if event["kind"] == "timer"]
        assert timers == [
            "~timer.0",
            "j/x/~timer.0",
            "j/y/~timer.0",
            "j/x/~timer.1",
            "j/y/~timer.1",
            "l/~0/~timer.0",
            "l/~1/~timer.0",
        ]


async def test_asyncio_sleep_of_zero_records_nothing() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await asyncio.sleep(0)

    async with deciding() as s:
        run = await s.start(w)
        await s.result(run)
        assert (await run.history()).of("op.opened") == []


async def test_asyncio_timeout_is_durable() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            async with asyncio.timeout(60):
                await ctx.listen("answer")
        except TimeoutError:
            return f"too late: {ctx.now():%H:%M:%S}"
        return "answered"

    async with deciding() as s:
        assert await surviving(s, w) == "too late: 00:01:00"


async def test_wait_for_is_durable() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            await asyncio.wait_for(ctx.listen("answer"), 60)
        except TimeoutError:
            return await asyncio.wait_for(ctx.step("a", lambda: "in time"), 60)
        return "answered"

    async with deciding() as s:
        assert await surviving(s, w) == "in time"


async def test_ctx_timeout_raises_timeout_error_and_has_a_stable_name() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        try:
            async with ctx.timeout("limit", 60):
                await ctx.listen("answer")
        except TimeoutError as error:
            found.append(str(error))
        async with ctx.timeout("enough", 60):
            await ctx.sleep("short", 1)
            found.append("in time")
        return found

    async with deciding() as s:
        run = await s.start(w)
        await s.crash()
        assert await s.result(run) == ["timeout `limit` is over", "in time"]
        history = await run.history()
        timers = [(event["at"], event["kind"]) for event in history.of("op.opened")]
        assert timers == [("limit", "timer"), ("answer", "message"), ("enough", "timer"), ("short", "sleep")]
        assert [event["at"] for event in history.of("op.closed")] == ["limit", "answer", "short", "enough"]


async def test_timeouts_nest() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        try:
            async with ctx.timeout("outer", 10):
                try:
                    async with ctx.timeout("inner", 5):
                        await ctx.listen("never")
                except TimeoutError:
                    found.append("inner")
                await ctx.listen("never again")
        except TimeoutError:
            found.append("outer")
        return found

    async with deciding() as s:
        assert await surviving(s, w) == ["inner", "outer"]


async def test_a_timeout_lets_other_cancellations_pass() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def limited() -> None:
            async with ctx.timeout("limit", 100):
                await ctx.listen("never")

        task = asyncio.create_task(limited())
        await ctx.sleep("nap", 1)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"
        return ""

    async with deciding() as s:
        assert await s.run(w) == "cancelled"


async def test_a_timeout_that_is_over_cancels_a_whole_join() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            async with ctx.timeout("limit", 5):
                await ctx.join("j", x=lambda c: c.sleep("nap", 100), y=lambda c: c.listen("never"))
        except TimeoutError:
            return await ctx.step("after", lambda: "late")
        return ""

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == "late"
        closed = {event["at"]: event.get("status") for event in (await run.history()).of("op.closed")}
        assert closed == {
            "limit": None,
            "j/x/nap": "cancelled",
            "j/y/never": "cancelled",
            "j": "cancelled",
            "after": None,
        }


async def test_locks_events_queues_and_semaphores_work() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        lock, event, queue = asyncio.Lock(), asyncio.Event(), asyncio.Queue[int]()
        two, condition = asyncio.Semaphore(2), asyncio.Condition()
        order: list[Any] = []

        async def work(n: int) -> None:
            async with two:
                await ctx.sleep(f"nap:{n}", 10 - n)
            async with lock:
                await ctx.step(f"do:{n}", lambda: None)
                order.append(n)
            await queue.put(n)
            if n == 2:
                event.set()
            async with condition:
                condition.notify_all()

        tasks = [asyncio.create_task(work(n)) for n in range(4)]
        await event.wait()
        order.append("event")
        async with condition:
            await condition.wait()
        total = sum([await queue.get() for _ in range(4)])
        await asyncio.gather(*tasks)
        return [*order, total]

    async with deciding() as s:
        first = await s.run(w)
        assert sorted(map(str, first[:-1])) == ["0", "1", "2", "3", "event"]
        assert first[-1] == 6
        assert await surviving(s, w) == first


async def test_sets_of_tasks_iterate_alike_on_replay() -> None:
    """Also when a finished join is not entered again, and so makes no tasks of its own on replay."""

    @workflow
    async def w(ctx: Context, inner: int) -> list[str]:
        async def branch(c: Context) -> None:
            await asyncio.gather(*(c.sleep(f"n{n}", 1) for n in range(inner)))

        await ctx.join("j", {str(n): branch for n in range(3)})
        tasks = {asyncio.create_task(ctx.listen(f"m{n}"), name=str(n)) for n in range(12)}
        before = await ctx.step("note", lambda: [task.get_name() for task in tasks])
        await ctx.sleep("park", 10)
        after = [task.get_name() for task in tasks]
        for task in tasks:
            task.cancel()
        return [*before, "|", *after]

    async with deciding() as s:
        for inner in range(1, 5):
            found = await surviving(s, w, inner)
            assert found[:12] == found[13:]


async def test_a_task_group_cancels_in_the_same_order_on_replay() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.join("j", x=lambda c: c.sleep("a", 1), y=lambda c: c.sleep("a", 2))
        try:
            async with asyncio.TaskGroup() as group:
                for n in range(20):
                    group.create_task(ctx.listen(f"m{n}"))
                await ctx.sleep("park", 5)
                raise ValueError("enough")
        except* ValueError:
            await ctx.sleep("after", 1)

    await same_log(w)


async def test_time_in_the_loop_is_the_time_of_the_run() -> None:
    @workflow
    async def w(ctx: Context) -> bool:
        loop = asyncio.get_running_loop()
        same = [loop.time() == ctx.now().timestamp()]
        await ctx.sleep("nap", 100.5)
        same.append(loop.time() == ctx.now().timestamp())
        return all(same)

    async with deciding() as s:
        assert await s.run(w) is True


async def test_now_is_the_time_of_the_last_delivery_also_on_replay() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        start = ctx.now()
        times = [0]
        for n in range(3):
            await ctx.sleep(f"nap:{n}", 10)
            times.append(round((ctx.now() - start).total_seconds()))
        return times

    async with deciding() as s:
        run = await s.start(w)
        for _ in range(3):
            await s.clock.advance(7)
            await s.crash()
        assert await s.result(run) == [0, 10, 20, 30]


async def test_callbacks_run_first_in_first_out() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        order: list[int] = []
        loop = asyncio.get_running_loop()
        for n in range(5):
            loop.call_soon(order.append, n)
        handle = loop.call_soon(order.append, 99)
        handle.cancel()
        await asyncio.sleep(0)
        return order

    async with deciding() as s:
        assert await s.run(w) == [0, 1, 2, 3, 4]


async def test_call_later_is_a_timer_that_can_be_cancelled() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        loop = asyncio.get_running_loop()
        never = loop.call_later(5, found.append, "never")
        loop.call_at(loop.time() + 10, found.append, "at")
        loop.call_later(7, found.append, "later")
        never.cancel()
        assert never.cancelled()
        await ctx.sleep("nap", 20)
        return found

    async with deciding() as s:
        assert await surviving(s, w) == ["later", "at"]


async def test_shielded_work_goes_on() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        inner = asyncio.create_task(ctx.sleep("inner", 10))
        try:
            async with ctx.timeout("limit", 5):
                await asyncio.shield(inner)
        except TimeoutError:
            await inner
            return "finished anyway"
        return ""

    async with deciding() as s:
        assert await surviving(s, w) == "finished anyway"


async def test_cancelling_a_task_cancels_its_operation(simulate: Simulate) -> None:
    stopped: list[str] = []

    @workflow
    async def w(ctx: Context) -> list[bool]:
        async def endless() -> None:
            try:
                await s.clock.sleep(1_000_000)
            finally:
                stopped.append("step")

        tasks = [
            asyncio.create_task(ctx.step("step", endless, timeout=None)),
            asyncio.create_task(ctx.sleep("nap", 1000)),
            asyncio.create_task(ctx.listen("never", timeout=1000)),
            asyncio.create_task(ctx.approve("ok", timeout=1000)),
        ]
        await ctx.sleep("short", 1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await ctx.sleep("end", 1)
        return [task.cancelled() for task in tasks]

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(1)
        assert stopped == ["step"]
        assert await s.engine.approvals.list() == []
        await s.clock.advance(1)
        assert await s.result(run) == [True, True, True, True]
        statuses = {event["at"]: event.get("status") for event in (await run.history()).of("op.closed")}
        assert statuses == {
            "step": "cancelled",
            "nap": "cancelled",
            "never": "cancelled",
            "ok": "cancelled",
            "short": None,
            "end": None,
        }


async def test_an_operation_cancelled_before_it_opened_leaves_nothing() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        task = asyncio.create_task(ctx.step("never", lambda: 1))
        task.cancel()
        await ctx.sleep("nap", 1)
        return "done"

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == "done"
        assert [event["at"] for event in (await run.history()).of("op.opened")] == ["nap"]


async def test_async_generators_work() -> None:
    closed: list[str] = []

    @workflow
    async def w(ctx: Context) -> list[int]:
        async def numbers() -> AsyncIterator[int]:
            try:
                for n in range(10):
                    await ctx.sleep(f"nap:{n}", 1)
                    yield n
            finally:
                closed.append("closed")

        found: list[int] = []
        async for n in numbers():
            found.append(n)
            if n == 2:
                break
        return found

    async with deciding() as s:
        assert await s.run(w) == [0, 1, 2]
    assert "closed" in closed


async def test_eager_results_within_one_turn_are_seen_in_order() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        order: list[str] = []

        async def one(name: str, op: Any) -> None:
            await op
            order.append(name)

        await asyncio.gather(
            one("sleep", ctx.sleep("sleep", 0)),
            one("version", ctx.version("version", 1)),
            one("listen", ctx.listen("listen", timeout=0)),
            one("removed", ctx.removed("removed", "step")),
        )
        return order

    history = await same_log(w)
    assert history.events[-1].data["output"] == ["version", "removed", "sleep", "listen"]


async def test_a_workflow_that_cancels_itself_fails(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await ctx.sleep("nap", 1)

    async with simulate() as s:
        run = await s.start(w)
        await s.skip_until(run.ended)
        error = (await run.row()).error
        assert error is not None
        assert "cancelled itself" in error.message


@pytest.mark.parametrize("where", ["join", "loop"])
async def test_a_branch_or_body_that_cancels_itself_fails(where: str) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def suicidal(c: Context) -> None:
            raise asyncio.CancelledError

        try:
            if where == "join":
                await ctx.join("j", x=suicidal)
            else:
                await ctx.loop("l", suicidal)
        except Exception as error:
            return "cancelled by its own code" if "cancelled by its own code" in repr(error) else repr(error)
        return ""

    async with deciding() as s:
        assert await s.run(w) == "cancelled by its own code"


async def test_waiting_for_what_nobody_will_do_is_said() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", lambda: 1)
        await asyncio.Event().wait()

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        (reason,) = await run.waiting()
        assert reason.kind == "stuck"
        assert "no operation is open" in reason.text


async def test_the_event_loop_outside_is_untouched() -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> None:
        seen.append(asyncio.get_running_loop())
        await ctx.step("a", lambda: seen.append("step"))

    outside = asyncio.get_running_loop()
    async with deciding() as s:
        task = asyncio.current_task()
        await s.run(w)
        assert asyncio.get_running_loop() is outside
        assert asyncio.current_task() is task
    assert seen[0] is not outside


async def test_many_timers_at_once_fire_in_order() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        order: list[int] = []

        async def nap(n: int) -> None:
            await ctx.sleep(f"nap:{n}", 5)
            order.append(n)

        await asyncio.gather(*(nap(n) for n in range(50)))
        return order

    history = await same_log(w)
    closed = [int(event["at"].partition(":")[2]) for event in history.of("op.closed")]
    assert history.events[-1].data["output"] == closed


async def test_an_operation_may_be_awaited_twice() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        op = ctx.step("a", lambda: 5)
        return [await op, await op]

    async with deciding() as s:
        assert await s.run(w) == [5, 5]


def test_a_plain_await_outside_a_workflow_is_refused() -> None:
    """An op belongs to its run: nothing else may drive it."""

    leaked: list[Any] = []

    @workflow
    async def w(ctx: Context) -> None:
        leaked.append(ctx)

    async def main() -> None:
        from plait.testing import sim

        async with sim() as s:
            await s.run(w)
            with pytest.raises((WorkflowCodeError, BaseException)):
                leaked[0].step("a", lambda: 1)

    asyncio.run(main())
