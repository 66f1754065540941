"""Steps: how they run, how often, how they fail, and what they may know."""

import asyncio
import functools
import itertools
import threading
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from plait import Context, CriticalError, Limits, Retry, RollbackError, heartbeat, step, step_info, workflow
from plait.dialects.code.definition import is_step
from plait.errors import (
    ChildFailedError,
    PlaitError,
    RunFailed,
    StepError,
    StepExhaustedError,
    StepTimeoutError,
    WorkflowCodeError,
)

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, StagedRun, failure, refused


class Declined(Exception):
    """With an argument that its constructor needs, and an attribute."""

    def __init__(self, reason: str, code: int = 51) -> None:
        super().__init__(f"declined: {reason}")
        self.reason = reason
        self.code = code


class Closed(CriticalError):
    pass


@dataclass
class Odd(Exception):
    """Can't be built from its arguments."""

    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.first.x} {self.second}"


# -- how they run ----------------------------------------------------------------------------------------------------


async def test_a_plain_function_runs_in_a_thread_and_a_coroutine_on_the_loop() -> None:
    main = threading.get_ident()

    @workflow
    async def w(ctx: Context) -> list[bool]:
        async def coroutine() -> bool:
            return threading.get_ident() == main

        return [
            await ctx.step("plain", lambda: threading.get_ident() == main),
            await ctx.step("coroutine", coroutine),
            await ctx.step("lambda", lambda: coroutine()),
        ]

    async with deciding() as s:
        assert await s.run(w) == [False, True, True]


async def test_a_step_awaits_the_outside_loop_not_the_workflows() -> None:
    outside = asyncio.get_running_loop()

    @workflow
    async def w(ctx: Context) -> bool:
        async def real_io() -> bool:
            await asyncio.sleep(0.001)
            await asyncio.to_thread(lambda: None)
            return asyncio.get_running_loop() is outside

        return await ctx.step("io", real_io)

    async with deciding() as s:
        assert await s.run(w) is True


async def test_a_step_runs_after_its_opening_is_durable() -> None:
    seen: list[list[str]] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def look() -> None:
            history = await run.history()
            seen.append([event["at"] for event in history.of("op.opened")])

        await ctx.step("a", look)

    async with deciding() as s:
        run = await s.start(w, id="r")
        await s.result(run)
    assert seen == [["a"]]


async def test_calling_a_step_outside_a_workflow_calls_the_function() -> None:
    @step(max_attempts=5)
    async def double(n: int) -> int:
        return n * 2

    assert await double(4) == 8


# -- retries ---------------------------------------------------------------------------------------------------------


async def times_of(**options: Any) -> list[float]:
    """When a step that always fails is tried, in seconds since its start."""
    times: list[float] = []

    @workflow
    async def w(ctx: Context) -> None:
        def fails() -> None:
            times.append(s.clock.elapsed / 1000)
            raise ConnectionError("away")

        await ctx.step("a", fails, **options)

    async with deciding() as s:
        await failure(s, await s.start(w))
    return times


async def test_three_attempts_by_default_with_growing_delays() -> None:
    assert await times_of() == [0, 0.2, 0.6]


async def test_max_attempts_counts_executions() -> None:
    assert await times_of(max_attempts=1) == [0]
    assert len(await times_of(max_attempts=7)) == 7


async def test_delays_grow_by_the_factor_up_to_the_cap() -> None:
    found = await times_of(retry=Retry(max_attempts=6, first=1, factor=3, cap=20))
    assert found == [0, 1, 4, 13, 33, 53]


async def test_delays_may_be_fixed_or_linear() -> None:
    assert await times_of(retry=Retry(max_attempts=4, backoff="fixed", first=5)) == [0, 5, 10, 15]
    assert await times_of(retry=Retry(max_attempts=4, backoff="linear", first=5)) == [0, 5, 15, 30]


async def test_jitter_only_shortens_a_delay() -> None:
    found = await times_of(retry=Retry(max_attempts=20, backoff="fixed", first=10, jitter=0.5))
    delays = [after - before for before, after in itertools.pairwise(found)]
    assert all(5 <= delay <= 10 for delay in delays)
    assert len(set(delays)) > 5


async def test_options_are_taken_from_the_call_then_the_step_then_the_workflow() -> None:
    counts: dict[str, int] = {}

    def count(name: str) -> None:
        counts[name] = counts.get(name, 0) + 1
        raise ConnectionError(name)

    @step(max_attempts=2)
    def named(name: str) -> None:
        count(name)

    @workflow(retry=Retry(max_attempts=4, first=0))
    async def w(ctx: Context) -> None:
        for name, call in {
            "workflow": lambda: ctx.step("workflow", count, "workflow"),
            "step": lambda: ctx.step("step", named, "step"),
            "call": lambda: ctx.step("call", named, "call", max_attempts=5),
        }.items():
            with pytest.raises(StepExhaustedError):
                await call()
            assert name

    async with deciding() as s:
        await s.run(w)
    assert counts == {"workflow": 4, "step": 2, "call": 5}


async def test_a_step_that_recovers_goes_on() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def flaky() -> int:
            if step_info().attempt < 3:
                raise ConnectionError("away")
            return step_info().attempt

        return await ctx.step("flaky", flaky)

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == 3
        history = await run.history()
        assert history.of("op.closed")[0]["attempts"] == 3
        assert [event["attempt"] for event in history.of("task.retry_scheduled")] == [1, 2]


async def test_a_retry_survives_a_restart_with_its_time_and_count() -> None:
    tried: list[tuple[float, int]] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def fails() -> None:
            tried.append((s.clock.elapsed / 1000, step_info().attempt))
            raise ConnectionError("away")

        await ctx.step("a", fails, retry=Retry(max_attempts=3, backoff="fixed", first=100, cap=100))

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(30)
        await s.crash()
        await s.clock.advance(120)
        await s.crash()
        await failure(s, run)
    assert tried == [(0, 1), (100, 2), (200, 3)]


# -- failures --------------------------------------------------------------------------------------------------------


async def seen_by(fn: Any, **options: Any) -> tuple[list[BaseException], StagedRun]:
    """What a workflow catches when its step fails: on the first run, and on a replay."""
    caught: list[BaseException] = []

    @workflow
    async def w(ctx: Context) -> None:
        try:
            await ctx.step("a", fn, **options)
        except GeneratorExit:  # the run is dropped from memory
            raise
        except BaseException as error:
            caught.append(error)
        await ctx.sleep("nap", 1)

    async with deciding() as s:
        run = await s.start(w)
        await s.skip_until(lambda: _is(bool(caught)))
        await s.settle()
        del caught[1:]
        await s.crash()
        await s.result(run)
    assert len(caught) >= 2
    first, replayed = caught[0], caught[-1]
    assert type(first) is type(replayed)
    assert str(first) == str(replayed)
    assert {k: v for k, v in vars(first).items() if isinstance(v, str | int)} == {
        k: v for k, v in vars(replayed).items() if isinstance(v, str | int)
    }
    return caught, run


async def _is(value: bool) -> bool:
    return value


async def test_the_last_failure_raises_step_exhausted() -> None:
    def fails() -> None:
        raise Declined("no money", code=7)

    for error in (await seen_by(fails))[0]:
        assert isinstance(error, StepExhaustedError)
        assert isinstance(error, StepError)
        assert (error.step, error.attempts) == ("a", 3)
        assert isinstance(error.last_error, Declined)
        assert error.__cause__ is error.last_error
        assert (error.last_error.reason, error.last_error.code) == ("no money", 7)
        assert str(error) == "step `a` failed after 3 attempts: declined: no money"


async def test_a_step_that_was_tried_once_does_not_count_its_attempts() -> None:
    def fails() -> None:
        raise Declined("no money", code=7)

    for error in (await seen_by(fails, max_attempts=1))[0]:
        assert isinstance(error, StepExhaustedError)
        assert (error.attempts, str(error)) == (1, "step `a` failed: declined: no money")


async def test_a_critical_error_is_not_retried_and_keeps_its_class() -> None:
    calls = Ledger()
    for error in (await seen_by(calls.fails("x", Closed("for good"))))[0]:
        assert type(error) is Closed
        assert str(error) == "for good"
    assert calls == ["x"]


async def test_errors_named_in_never_are_not_retried() -> None:
    calls = Ledger()
    found, _ = await seen_by(calls.fails("x", Declined("no")), retry=Retry(never=(Declined, KeyError)))
    assert all(type(error) is Declined for error in found)
    assert calls == ["x"]


async def test_a_rollback_error_is_not_retried() -> None:
    calls = Ledger()
    found, _ = await seen_by(calls.fails("x", RollbackError("undo it")))
    assert all(type(error) is RollbackError and str(error) == "undo it" for error in found)
    assert calls == ["x"]


async def test_an_error_whose_class_is_not_at_hand_is_a_step_error() -> None:
    class Local(CriticalError):
        pass

    def fails() -> None:
        raise Local("inside")

    for error in (await seen_by(fails))[0]:
        assert type(error) is StepError
        assert "Local" in str(error)
        assert "inside" in str(error)


async def test_an_error_that_can_not_be_rebuilt_is_a_step_error() -> None:
    def fails() -> None:
        raise Odd(object(), object())

    for error in (await seen_by(fails, retry=Retry(never=(Odd,))))[0]:
        assert type(error) is StepError


BUILTINS: list[BaseException] = [
    ValueError("a", 1),
    KeyError("key"),
    OSError(2, "no such file", "x.txt"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    StopIteration(5),
    StopAsyncIteration(),
    AssertionError(),
    ExceptionGroup("several", [ValueError("a"), KeyError("b")]),
    asyncio.CancelledError("by itself"),
    TimeoutError("mine"),
    GeneratorExit("odd"),
    SystemExit(3),
    PlaitError("my.code", "what", why="why", fix="fix"),
]


@pytest.mark.parametrize("error", BUILTINS, ids=lambda error: type(error).__name__)
async def test_any_exception_can_be_raised_in_a_step(error: BaseException) -> None:
    async def fails() -> None:
        raise error

    for found in (await seen_by(fails, max_attempts=1))[0]:
        assert isinstance(found, StepExhaustedError)
        expected = RuntimeError if isinstance(error, StopIteration) else type(error)
        assert type(found.last_error) in (expected, StepError)


async def test_an_uncaught_step_failure_fails_the_run_with_it() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("charge", Ledger().fails("x", Declined("no")), max_attempts=2)

    async with deciding() as s:
        run = await s.start(w)
        with pytest.raises(RunFailed) as caught:
            await s.result(run)
        assert caught.value.error.kind == "exhausted"
        assert "step `charge` failed after 2 attempts: declined: no" in str(caught.value)
        cause = caught.value.__cause__
        assert isinstance(cause, StepExhaustedError)
        assert isinstance(cause.last_error, Declined)


async def test_an_exhausted_step_is_a_dead_letter(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.step("charge", Ledger().fails("x", Declined("no")))
        except StepExhaustedError:
            return "handled"
        return ""

    async with simulate() as s:
        assert await s.run(w, id="r") == "handled"
        (letter,) = await s.engine.dlq.list()
        assert (letter.run_id, letter.label, letter.attempts) == ("r", "step `charge`", 3)
        assert "declined: no" in letter.error.message


# -- timeouts and heartbeats -----------------------------------------------------------------------------------------


async def test_an_async_step_that_takes_too_long_is_cancelled_and_not_retried() -> None:
    seen = Ledger()

    @workflow
    async def w(ctx: Context) -> str:
        async def slow() -> None:
            seen.append("start")
            try:
                await s.clock.sleep(100)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        try:
            await ctx.step("slow", slow, timeout=10)
        except StepTimeoutError as error:
            return f"{error} at {ctx.now():%S}"
        return ""

    async with deciding() as s:
        assert await s.run(w) == "step `slow` took longer than 10 s at 10"
    assert seen == ["start", "cancelled"]


async def test_thirty_seconds_are_the_default_and_none_is_for_ever() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        for name, options in {"default": {}, "none": {"timeout": None}}.items():
            try:
                await ctx.step(name, lambda: s.clock.sleep(5000), **options)
                found.append("done")
            except StepTimeoutError as error:
                found.append(str(error))
        return found

    async with deciding() as s:
        assert await s.run(w) == ["step `default` took longer than 30 s", "done"]


async def test_a_timeout_may_be_retried() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def slow() -> None:
            await s.clock.sleep(100)

        try:
            await ctx.step("slow", slow, timeout=10, retry_on_timeout=True, retry=Retry(first=1, factor=1))
        except StepExhaustedError as error:
            return f"{error.attempts} {type(error.last_error).__name__} {ctx.now():%S}"
        return ""

    async with deciding() as s:
        assert await s.run(w) == "3 StepTimeoutError 32"


async def test_a_thread_that_takes_too_long_is_given_up_and_its_late_result_ignored() -> None:
    release, done = threading.Event(), threading.Event()

    @workflow
    async def w(ctx: Context) -> str:
        def blocks() -> str:
            release.wait(10)
            done.set()
            return "late"

        try:
            return await ctx.step("blocks", blocks, timeout=5)
        except StepTimeoutError:
            await ctx.sleep("nap", 1)
            return "gave up"

    async with deciding() as s:
        run = await s.start(w)
        await asyncio.sleep(0.01)
        s.clock.ring()
        await s.settle()
        release.set()
        await asyncio.to_thread(done.wait, 10)
        assert await s.result(run) == "gave up"


async def test_a_missed_heartbeat_fails_the_attempt_and_the_next_sees_the_progress() -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> Any:
        async def works() -> Any:
            info = step_info()
            seen.append((info.attempt, info.last_progress))
            for n in range(3):
                await s.clock.sleep(4)
                heartbeat({"at": n, "attempt": info.attempt})
            if info.attempt == 1:
                await s.clock.sleep(100)
            return info.last_progress

        return await ctx.step("works", works, heartbeat_timeout=5, timeout=None)

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == {"at": 2, "attempt": 1}
        (retry,) = (await run.history()).of("task.retry_scheduled")
        assert "gave no heartbeat for 5 s" in retry["error"]["message"]
    assert seen == [(1, None), (2, {"at": 2, "attempt": 1})]


async def test_progress_survives_a_restart() -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def works() -> None:
            info = step_info()
            seen.append(info.last_progress)
            heartbeat(info.attempt * 10)
            raise ConnectionError("away")

        await ctx.step("works", works, retry=Retry(backoff="fixed", first=20), heartbeat_timeout=60)

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        await failure(s, run)
    assert seen == [None, 10, 20]


# -- what a step knows -----------------------------------------------------------------------------------------------


async def test_step_info_says_where_it_is() -> None:
    async def infos() -> Any:
        info = step_info()
        return [info.run_id, info.path, info.attempt, info.idempotency_key]

    def plain() -> Any:
        info = step_info()
        return [info.run_id, info.path, info.attempt, info.idempotency_key]

    @workflow
    async def w(ctx: Context) -> list[Any]:
        async def branch(c: Context) -> Any:
            return await c.step("b", infos)

        return [
            await ctx.step("a", infos),
            await ctx.step("in a thread", plain),
            await ctx.step("from a lambda", lambda: infos()),
            (await ctx.join("j", x=branch)).x,
        ]

    async with deciding() as s:
        found = await s.run(w, id="r-1")
    assert found == [
        ["r-1", "a", 1, "r-1:a:0"],
        ["r-1", "in a thread", 1, "r-1:in a thread:0"],
        ["r-1", "from a lambda", 1, "r-1:from a lambda:0"],
        ["r-1", "j/x/b", 1, "r-1:j/x/b:0"],
    ]


async def test_the_idempotency_key_is_equal_on_all_attempts_and_after_a_crash() -> None:
    keys: list[str] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def flaky() -> None:
            keys.append(step_info().idempotency_key)
            if len(keys) == 1:
                raise ConnectionError("away")
            if len(keys) == 2:
                await s.clock.sleep(1000)

        await ctx.step("pay", flaky, timeout=None)

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(1)
        assert len(keys) == 2
        await s.crash()
        await s.result(run)
    assert len(keys) == 3
    assert len(set(keys)) == 1


async def test_the_idempotency_key_names_the_namespace(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        return [ctx.run_id, ctx.namespace, await ctx.step("a", lambda: step_info().idempotency_key)]

    async with simulate() as s:
        assert await s.run(w, id="r", namespace="eu") == ["r", "eu", "eu/r:a:0"]


async def test_a_step_without_a_result_is_run_again_after_a_crash() -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> None:
        async def works() -> None:
            ledger.append(step_info().attempt)
            await s.clock.sleep(10)

        await ctx.step("a", works)

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        await s.result(run)
    assert ledger == [1, 1]


async def test_a_step_that_kills_its_process_is_stopped_after_a_while(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> str:
        async def deadly() -> None:
            ledger.append("boom")
            await s.clock.sleep(10)

        try:
            await ctx.step("deadly", deadly)
        except StepError as error:
            return str(error)
        return ""

    async with simulate(limits=Limits(max_recoveries=3)) as s:
        run = await s.start(w)
        for _ in range(10):
            await s.settle()
            await s.crash()
        text = await s.result(run)
    assert "step `deadly`" in text
    assert "its process died" in text
    assert 3 <= len(ledger) <= 5


async def test_heartbeat_and_step_info_are_only_for_steps() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        for call in (heartbeat, step_info):
            try:
                call()
            except WorkflowCodeError as error:
                found.append(error.code)
        return found

    async with deciding() as s:
        assert await s.run(w) == ["CODE_WRONG_CTX", "CODE_WRONG_CTX"]


def test_the_tree_of_errors() -> None:
    assert issubclass(StepExhaustedError, StepError)
    assert issubclass(ChildFailedError, StepError)
    assert issubclass(StepTimeoutError, CriticalError)
    assert not issubclass(CriticalError, StepError)


# -- arguments by keyword ----------------------------------------------------------------------------------------------


@dataclass
class Item:
    name: str


@step
async def pack(item: Item, count: int = 1, *, gift: bool = False, to: Item | None = None) -> list[Any]:
    return [item.name, count, gift, to and to.name]


async def test_arguments_may_be_given_by_keyword(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        return [
            await ctx.step("in order", pack, item=Item("tea"), count=2),
            await ctx.step("with options", pack, Item("tea"), count=3, max_attempts=2),  # type: ignore[call-overload]
            await ctx.step("by name", pack, Item("tea"), gift=True, to=Item("ann")),
            await ctx.step("inline", lambda a, b=2: [a, b], 1, b=5),
        ]

    async with simulate([w]) as s:
        run = await s.start(w)
        expected = [["tea", 2, False, None], ["tea", 3, False, None], ["tea", 1, True, "ann"], [1, 5]]
        assert await s.result(run) == expected
        opened = [event.data.get("args") for event in (await run.history()).events if event.type == "op.opened"]
        assert opened[0] == [{"name": "tea"}, 2]
        assert opened[2] == {"item": {"name": "tea"}, "gift": True, "to": {"name": "ann"}}


async def test_arguments_by_name_outlive_a_crash(simulate: Simulate) -> None:
    seen: list[Any] = []

    @step
    async def slow(item: Item, *, gift: Item) -> str:
        seen.append((item, gift))
        if len(seen) == 1:
            raise ConnectionError("not yet")
        return gift.name

    @workflow
    async def w(ctx: Context) -> str:
        return await ctx.step("slow", slow, Item("a"), gift=Item("b"))

    async with simulate([w]) as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        assert await s.result(run) == "b"
    assert seen == [(Item("a"), Item("b"))] * 2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda ctx: ctx.step("s", pack, Item("x"), colour="red"), "unknown option `colour`"),
        (lambda ctx: ctx.step("s", pack, Item("x"), item=Item("y")), "multiple values for argument 'item'"),
        (lambda ctx: ctx.step("s", pack, count=2), "missing a required argument: 'item'"),
        (lambda ctx: ctx.step("s", lambda: 1, colour="red"), "unknown option `colour`"),
    ],
)
async def test_keywords_that_do_not_fit_are_refused_at_the_call(call: Any, text: str) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await call(ctx)

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_BAD_OPTION"
        assert text in info.message


def test_what_is_no_function_is_refused_where_it_is_marked() -> None:
    async def numbers() -> AsyncGenerator[int]:
        yield 1

    def lines() -> Iterator[int]:
        yield 1

    class Callable:
        def __call__(self) -> int:
            return 1

    for given, text in (
        (numbers, "numbers` can't be a @step: it is a generator"),
        (lines, "it is a generator, and a step has one result"),
        (Callable(), "it has no name to be recorded by"),
        (functools.partial(lines), "`partial` can't be a @step"),
    ):
        with refused("CODE_BAD_SIGNATURE", text):
            step(given)


def test_a_method_is_refused_where_it_is_marked() -> None:
    with refused("CODE_BAD_SIGNATURE", "charge` can't be a @step", "it is a method"):

        class Shop:
            @step
            async def charge(self, amount: int) -> int:
                return amount

    with refused("CODE_BAD_SIGNATURE", "refund` can't be a @step", "it is a method"):

        class Bank:
            @step  # type: ignore[arg-type]
            @classmethod
            def refund(cls, amount: int) -> int:
                return amount

    class Fine:
        @staticmethod
        @step
        async def charge(amount: int) -> int:
            return amount

    assert is_step(Fine.charge)

    @step
    def odd(self: int) -> int:
        return self

    assert is_step(odd)


async def test_a_method_can_be_a_step_as_it_is(simulate: Simulate) -> None:
    class Shop:
        async def charge(self, amount: int) -> int:
            return amount + 1

    @workflow
    async def w(ctx: Context) -> int:
        return await ctx.step("charge", Shop().charge, 5)

    async with simulate([w]) as s:
        assert await s.run(w) == 6
