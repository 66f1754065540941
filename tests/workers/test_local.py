"""The local worker: whatever a step does, it is told how it ended, once."""

import asyncio
import contextvars
import gc
import sys
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Raw

from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import Suspend, TaskResult
from plait.kernel.retry import Retry
from plait.kernel.task import CALL, Attempt, Policy, Task, current_attempt
from plait.testing import VirtualClock
from plait.workers.local import LocalWorker
from tests.kernel.rig import until

RUN = RunId("run")


class Bound:
    """A function that gets its attempt."""

    def __init__(self, function: Callable[[Attempt], Any], threaded: bool) -> None:
        self._function = function
        self.threaded = threaded

    def call(self) -> Any:
        attempt = current_attempt.get()
        assert attempt is not None
        return self._function(attempt)

    def check(self, output: object, raw: Raw) -> None:
        """Anything goes."""


class Bench:
    def __init__(self, **options: Any) -> None:
        self.clock = VirtualClock()
        self.worker = LocalWorker(self.clock, **options)
        self.results: list[TaskResult] = []
        self.came = asyncio.Event()

    def start(self, call: Callable[[Attempt], Any], *, token: str = "t", attempt: int = 1, **options: Any) -> None:
        bound = Bound(call, options.pop("threaded", False))
        task = Task(TaskToken(token), f"step `{token}`", CALL, bound, Policy(**options), token)
        self.worker.start(Attempt(RUN, task, attempt, values.encode("last time"), self._report, lambda *_: None))

    def _report(self, run_id: RunId, result: TaskResult | Suspend) -> None:
        assert run_id == RUN
        assert isinstance(result, TaskResult)
        self.results.append(result)
        self.came.set()

    async def result(self, call: Callable[[Attempt], Any], **options: Any) -> TaskResult:
        self.start(call, **options)
        await self.came.wait()
        [result] = self.results
        return result


@asynccontextmanager
async def bench(**options: Any) -> AsyncIterator[Bench]:
    found = Bench(**options)
    yield found
    await found.worker.close()


def output(result: TaskResult) -> Any:
    assert result.error is None
    return values.decode(result.output)


# -- what steps are --------------------------------------------------------------------------------------------------


async def test_an_async_step_runs_on_the_event_loop():
    async def step(attempt: Attempt) -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    async with bench() as on:
        assert output(await on.result(step)) == threading.current_thread().name


async def test_a_plain_step_runs_in_a_thread():
    async with bench() as on:
        name = output(await on.result(lambda attempt: threading.current_thread().name, threaded=True))
        assert name.startswith("plait-step")


async def test_a_plain_step_that_gives_something_to_await_is_awaited():
    async def later() -> int:
        return 7

    async with bench() as on:
        assert output(await on.result(lambda attempt: later(), threaded=True)) == 7


async def test_a_step_in_a_thread_sees_the_context_of_its_run():
    place: contextvars.ContextVar[str] = contextvars.ContextVar("place", default="nowhere")
    place.set("here")
    async with bench() as on:
        assert output(await on.result(lambda attempt: place.get(), threaded=True)) == "here"


async def test_a_step_knows_its_attempt_and_what_the_last_one_left():
    async with bench() as on:
        result = await on.result(lambda attempt: [attempt.number, values.decode(attempt.progress)], attempt=3)
        assert (result.attempt, output(result)) == (3, [3, "last time"])


# -- how steps end ---------------------------------------------------------------------------------------------------


class Odd(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Callable[[Attempt], Any]:
    def step(attempt: Attempt) -> None:
        raise error

    return step


@pytest.mark.parametrize("threaded", [False, True], ids=["on the loop", "in a thread"])
@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        SystemExit(3),
        Odd("odd"),
        StopIteration(1),
        StopAsyncIteration(),
        GeneratorExit(),
        asyncio.CancelledError(),
        asyncio.InvalidStateError(),
        Mute(),
        RecursionError(),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_step_raises_is_a_failure_that_is_told(error: BaseException, threaded: bool):
    async with bench() as on:
        async with asyncio.timeout(5):
            result = await on.result(raising(error), threaded=threaded)
        assert result.error is not None
        assert result.retryable
        name = type(error).__name__
        assert result.error.type.endswith(name) or name == "StopIteration"


async def test_an_async_step_that_calls_sys_exit_fails_and_the_process_lives():
    async def step(attempt: Attempt) -> None:
        await asyncio.sleep(0)
        sys.exit(1)

    async with bench() as on:
        result = await on.result(step)
        assert result.error is not None
        assert result.error.type == "builtins:SystemExit"


@pytest.mark.parametrize(
    ("value", "code"),
    [(object(), "value.not_encodable"), ([float("nan")], "value.not_encodable"), ("x" * 200, "value.too_large")],
)
async def test_a_result_that_can_not_be_stored_is_final(value: object, code: str):
    async with bench(max_payload=100) as on:
        result = await on.result(lambda attempt: value, retry=Retry())
        assert result.error is not None
        assert (result.error.code, result.error.kind, result.retryable) == (code, "not_encodable", False)


async def test_an_error_the_policy_never_retries_is_final():
    async with bench() as on:
        result = await on.result(raising(KeyError("x")), retry=Retry(never=(LookupError,)))
        assert not result.retryable


async def test_an_error_that_says_it_must_not_be_retried_is_final():
    error = ValueError("x")
    error.retryable = False  # pyright: ignore[reportAttributeAccessIssue]
    async with bench() as on:
        assert not (await on.result(raising(error))).retryable


# -- time ------------------------------------------------------------------------------------------------------------


async def hang(attempt: Attempt) -> None:
    await asyncio.Event().wait()


async def test_a_step_that_takes_too_long_is_stopped_and_fails():
    stopped: list[str] = []

    async def step(attempt: Attempt) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("yes")

    async with bench() as on:
        on.start(step, timeout=5.0)
        await on.clock.advance(4.9)
        assert on.results == []
        await on.clock.advance(0.2)
        [result] = on.results
        assert result.error is not None
        assert (result.error.code, result.error.message) == ("task.timeout", "step `t` took longer than 5 s")
        assert not result.retryable
        await until(lambda: stopped == ["yes"])
        assert len(on.results) == 1


async def test_only_a_step_that_waits_for_something_is_watched():
    seen: list[Attempt] = []

    async def at_once(attempt: Attempt) -> None:
        seen.append(attempt)

    async def waiting(attempt: Attempt) -> None:
        seen.append(attempt)
        await asyncio.sleep(0)

    async with bench() as b:
        b.start(at_once, token="quick", timeout=5.0, heartbeat=1.0)
        b.start(waiting, token="slow", timeout=5.0, heartbeat=1.0)
        await until(lambda: len(b.results) == 2)
    assert [(attempt.task.token, attempt.limited) for attempt in seen] == [("quick", False), ("slow", True)]


async def test_a_timeout_may_be_retried_if_the_step_says_so():
    async with bench() as on:
        on.start(hang, timeout=5.0, retry_on_timeout=True)
        await on.clock.advance(5)
        assert on.results[0].retryable


async def test_the_result_of_a_thread_that_comes_too_late_is_dropped():
    gate = threading.Event()
    async with bench() as on:
        on.start(lambda attempt: gate.wait(5), threaded=True, timeout=1.0)
        await until_thread_runs(on)
        await on.clock.advance(2)
        [result] = on.results
        assert result.error is not None
        assert result.error.kind == "timeout"
        gate.set()
        await on.worker.close()
        assert len(on.results) == 1


async def until_thread_runs(on: Bench) -> None:
    """Threads take the time they take."""
    pool: Any = on.worker.threads
    while pool._work_queue.qsize():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def test_the_time_a_plain_step_waits_for_a_free_thread_is_not_its_own():
    gate = threading.Event()
    began = threading.Event()

    def first(attempt: Attempt) -> None:
        began.set()
        gate.wait(5)

    async with bench(threads=1) as on:
        on.start(first, token="first", threaded=True)
        on.start(lambda attempt: "second", token="second", threaded=True, timeout=10.0)
        while not began.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await on.clock.advance(60)
        gate.set()
        async with asyncio.timeout(5):
            while len(on.results) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert [result.error for result in on.results] == [None, None]


async def test_a_step_without_a_heartbeat_in_time_fails_and_may_be_tried_again():
    async with bench() as on:
        on.start(hang, heartbeat=5.0)
        await on.clock.advance(5)
        [result] = on.results
        assert result.error is not None
        assert (result.error.code, result.retryable) == ("task.heartbeat", True)


async def test_a_step_that_beats_lives_on_and_leaves_its_progress_when_it_stops():
    beats: list[Callable[[Any], None]] = []

    async def step(attempt: Attempt) -> None:
        beats.append(lambda page: attempt.beat(values.encode({"page": page})))
        await asyncio.Event().wait()

    async with bench() as on:
        on.start(step, heartbeat=5.0)
        await on.clock.advance(0)
        for page in range(10):
            await on.clock.advance(4)
            beats[0](page)
        assert on.results == []
        await on.clock.advance(4.9)
        assert on.results == []
        await on.clock.advance(5)
        [result] = on.results
        assert values.decode(result.progress) == {"page": 9}


async def test_a_heartbeat_from_a_thread_counts():
    gate = threading.Event()
    done = threading.Event()

    def step(attempt: Attempt) -> str:
        gate.wait(5)
        attempt.beat(values.encode(1))
        done.set()
        return "ok"

    async with bench() as on:
        on.start(step, threaded=True, heartbeat=5.0)
        await on.clock.advance(4)
        gate.set()
        async with asyncio.timeout(5):
            await on.came.wait()
        assert output(on.results[0]) == "ok"


# -- stopping --------------------------------------------------------------------------------------------------------


async def test_a_revoked_step_is_stopped_and_reports_nothing():
    stopped: list[str] = []

    async def step(attempt: Attempt) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("yes")

    async with bench() as on:
        on.start(step)
        await asyncio.sleep(0)
        on.worker.cancel(RUN, TaskToken("t"))
        await until(lambda: stopped == ["yes"])
        assert on.results == []


async def test_a_step_that_is_revoked_before_it_began_never_begins():
    began: list[str] = []
    async with bench() as on:
        on.start(lambda attempt: began.append("yes"))
        on.worker.cancel(RUN, TaskToken("t"))
        await asyncio.sleep(0)
        assert (began, on.results) == ([], [])


async def test_a_step_that_is_started_again_while_it_runs_is_stopped_first():
    stopped: list[int] = []

    async def step(attempt: Attempt) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(attempt.number)
        return "never"

    async with bench() as on:
        on.start(step)
        await asyncio.sleep(0)
        on.start(lambda attempt: "again", attempt=2)
        await on.came.wait()
        await until(lambda: stopped == [1])
        assert [output(result) for result in on.results] == ["again"]
        assert not on.worker.running


async def test_revoking_what_is_not_there_does_nothing():
    async with bench() as on:
        on.worker.cancel(RUN, TaskToken("nothing"))


async def test_a_step_that_will_not_be_stopped_reports_nothing_afterwards():
    async def stubborn(attempt: Attempt) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "I go on"
        return ""

    async with bench() as on:
        on.start(stubborn)
        await asyncio.sleep(0)
        on.worker.cancel(RUN, TaskToken("t"))
        await asyncio.sleep(0)
        assert on.results == []


async def test_a_thread_that_is_given_up_leaves_its_place_to_another():
    gate = threading.Event()
    async with bench(threads=1) as on:
        for number in range(3):
            on.start(lambda _: gate.wait(30), token=f"hangs-{number}", threaded=True, timeout=5.0)
            while (hanging := on.worker.running[RUN, TaskToken(f"hangs-{number}")]).thread_began is None:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await on.clock.advance(6)
            assert hanging.over
        assert [each.error is not None for each in on.results] == [True, True, True]
        on.results.clear()
        on.came.clear()
        assert output(await on.result(lambda _: "works", token="next", threaded=True)) == "works"
        gate.set()


async def test_closing_stops_every_step_and_waits_until_they_have_stopped():
    stopped: list[int] = []

    def step_of(number: int) -> Callable[[Attempt], Any]:
        async def step(attempt: Attempt) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                stopped.append(number)

        return step

    on = Bench()
    for number in range(5):
        on.start(step_of(number), token=f"t-{number}")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await on.worker.close()
    assert (sorted(stopped), on.results) == ([0, 1, 2, 3, 4], [])


async def test_a_finished_step_leaves_nothing_in_memory():
    class Payload:
        pass

    payload = Payload()
    seen = weakref.ref(payload)

    def step_of(payload: Payload) -> Callable[[Attempt], Any]:
        return lambda attempt: id(payload)

    gc.disable()
    try:
        async with bench() as on:
            await on.result(step_of(payload), timeout=5.0, heartbeat=5.0)
            del payload
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert seen() is None
    finally:
        gc.enable()


async def test_a_thousand_steps_at_once_are_all_told():
    async def step(attempt: Attempt) -> int:
        await asyncio.sleep(0)
        return 1

    async with bench() as on:
        began = time.process_time()
        for number in range(1_000):
            on.start(step, token=f"t-{number}", timeout=30.0)
        await until(lambda: len(on.results) == 1_000)
        assert time.process_time() - began < 5
