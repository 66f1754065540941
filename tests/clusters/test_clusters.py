"""What holds for every cluster: names of jobs, losses, refusals."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from plait import Engine, handler, step, workflow
from plait.catalog import python_step
from plait.clusters.call import Done, Failed, call_of, output_of
from plait.clusters.cluster import Lost
from plait.clusters.clusters import Clusters, job_name
from plait.clusters.remote import perform
from plait.clusters.settings import cluster_settings
from plait.errors import PlaitError, RunFailed
from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.task import Attempt, Policy, Task, TaskError
from tests.dialects.code.support import refused

from . import work


def attempt(number: int = 1, token: str = "t") -> Attempt:
    task = Task(TaskToken(token), "step `t`", "call", None, Policy(), f"r:{token}:0", token)
    return Attempt(RunId("r"), task, number, values.NULL, lambda *_: None, lambda *_: None)


class Losing:
    """A cluster that loses a job some times."""

    def __init__(self, losses: int) -> None:
        self.losses = losses
        self.asked: list[str] = []

    async def run(self, name: str, call: bytes, hear: Callable[[bytes], None]) -> bytes:
        self.asked.append(name)
        if len(self.asked) <= self.losses:
            raise Lost("the node is gone")
        return values.plain(Done(Raw(b"7")))

    async def forget(self, name: str) -> None: ...

    async def close(self) -> None: ...


def clusters(losing: Losing) -> Clusters:
    return Clusters(cluster_settings({}, {}), {"dask": losing})


def test_every_attempt_has_a_job_of_its_own_and_asks_for_the_same_one_twice() -> None:
    assert job_name(attempt(1)) == job_name(attempt(1))
    assert len({job_name(attempt(1)), job_name(attempt(2)), job_name(attempt(1, "u"))}) == 3


async def test_a_lost_job_is_asked_for_again_under_its_name() -> None:
    losing = Losing(3)
    found = await clusters(losing).call(attempt(), "dask", "m:f", Raw(b"[]"))
    assert bytes(found) == b"7"
    assert set(losing.asked) == {job_name(attempt())}


async def test_a_job_that_kills_its_workers_fails_its_attempt() -> None:
    with pytest.raises(TaskError, match=r"lost by 4 workers of its cluster: the node is gone"):
        await clusters(Losing(4)).call(attempt(), "dask", "m:f", Raw(b"[]"))


async def test_a_function_of_the_program_itself_is_refused() -> None:
    with pytest.raises(TaskError, match="move it to a module"):
        await clusters(Losing(0)).call(attempt(), "dask", "__main__:f", Raw(b"[]"))


async def test_a_cluster_that_is_not_configured_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAIT_RAY", raising=False)

    @workflow
    async def w(ctx: Any) -> None:
        await ctx.step("s", work.who, on="ray", max_attempts=1)

    async with Engine("memory:") as engine:
        with pytest.raises(RunFailed, match=r"set PLAIT_RAY=ray://head:10001"):
            await (await engine.start(w)).result()


def test_where_a_step_can_not_run_is_said_where_it_is_written() -> None:
    with refused("CODE_BAD_OPTION", "on='spark'", "dask, kubernetes, ray"):
        step(on="spark")(work.wait_for)  # pyright: ignore[reportArgumentType, reportCallIssue]
    with refused("CODE_BAD_OPTION", "isolate=True with on='dask'"):
        step(on="dask", isolate=True)(work.wait_for)
    with refused("CODE_BAD_OPTION", "can't run on dask", "it is defined inside another function"):

        @step(on="dask")
        def inner() -> None: ...

    def local(payload: Any) -> None: ...

    for mark in (python_step(on="dask"), handler(on="dask")):
        with pytest.raises(PlaitError, match="at the top level of a module") as caught:
            mark(local)
        assert caught.value.code == "clusters.not_importable"


async def test_a_call_of_a_queue_that_only_the_call_puts_on_a_cluster_is_refused() -> None:
    @workflow
    async def w(ctx: Any) -> str:
        with refused("CODE_BAD_OPTION", 'mark the step itself: @step(on="dask")'):
            await ctx.step("s", work.who, queue="heavy", on="dask")
        return "ok"

    async with Engine("memory:") as engine:
        assert await (await engine.start(w)).result() == "ok"


def test_what_the_far_side_can_not_find_is_no_reason_to_try_again() -> None:
    end = perform(call_of(attempt(), "tests.clusters.work:nothing", Raw(b"[]"), 1_000), lambda said: None)
    assert isinstance(end, Failed)
    assert not end.retryable
    with pytest.raises(TaskError, match="is no step in a process of its own"):
        output_of(end)
