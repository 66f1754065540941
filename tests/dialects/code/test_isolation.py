"""Steps in processes of their own: really stopped, and like other steps in all else."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plait import Context, CriticalError, Engine, heartbeat, step, step_info, step_log, workflow
from plait.errors import RunFailed, StepExhaustedError
from tests.engine.places import soon

from .support import refused


@dataclass
class Sum:
    of: list[int]
    pid: int


class Overdrawn(Exception):
    def __init__(self, cents: int) -> None:
        super().__init__(f"{cents} cents are missing")
        self.cents = cents


@step(isolate=True)
def add(numbers: list[int]) -> Sum:
    logging.getLogger("shop").warning("adding %s", numbers)
    step_log("I add")
    return Sum([sum(numbers)], os.getpid())


@step
def plain() -> None: ...


@step(isolate=True)
async def who() -> list[Any]:
    await asyncio.sleep(0)
    info = step_info()
    return [info.run_id, info.path, info.attempt, info.idempotency_key]


@step(isolate=True, max_attempts=1)
def overdraw() -> None:
    raise Overdrawn(7)


@step(isolate=True, max_attempts=3)
def give_up() -> None:
    raise CriticalError("no use")


@step(isolate=True, max_attempts=1)
def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


@step(isolate=True)
def unkept() -> Any:
    return object()


@step(isolate=True, timeout=None)
def never_ends(file: str) -> None:
    """Does not listen to signals that can be ignored, and has a child."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "1000"])
    Path(f"{file}.new").write_text(f"{os.getpid()} {child.pid}")
    Path(f"{file}.new").rename(file)
    while True:
        time.sleep(1000)


@step(isolate=True, heartbeat_timeout=30, max_attempts=2)
def halting() -> Any:
    if step_info().attempt == 1:
        heartbeat({"half": True})
        raise ValueError("again")
    return step_info().last_progress


@workflow
async def simple(ctx: Context) -> Sum:
    return await ctx.step("add", add, [1, 2])


@workflow
async def endless(ctx: Context, file: str) -> None:
    await ctx.step("never", never_ends, file)


@workflow
async def timed(ctx: Context, file: str) -> None:
    await ctx.step("never", never_ends, file, timeout=0.5)


async def processes(file: Path) -> list[int]:
    async def written() -> list[int]:
        return [int(pid) for pid in file.read_text().split()] if file.exists() else []

    return await soon(written)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def gone(pids: list[int]) -> None:
    async def all_gone() -> bool:
        return not any(map(is_alive, pids))

    await soon(all_gone)


async def test_an_isolated_step_is_a_step_in_another_process(caplog: pytest.LogCaptureFixture) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        return [await ctx.step("add", add, [1, 2]), await ctx.step("who", who), await ctx.step("half", halting)]

    async with Engine("memory:") as engine:
        run = await engine.start(w, id="w")
        total, info, progress = await run.result()
        assert total["of"] == [3]
        assert total["pid"] != os.getpid()
        assert info == ["w", "who", 1, "w:who:0"]
        assert progress == {"half": True}
        assert [line.text for line in await run.logs("add")] == ["I add"]
    assert "adding [1, 2]" in caplog.text


@pytest.mark.parametrize(
    ("function", "kind", "text"),
    [
        (overdraw, "exhausted", "7 cents are missing"),
        (give_up, "error", "no use"),
        (crash, "exhausted", "was ended by SIGSEGV without a result"),
        (unkept, "error", "can't be stored as JSON"),
    ],
)
async def test_what_an_isolated_step_raises_is_raised_in_the_workflow(function: Any, kind: str, text: str) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("s", function)

    async with Engine("memory:") as engine:
        with pytest.raises(RunFailed, match=text) as caught:
            await (await engine.start(w)).result()
        assert caught.value.error.kind == kind


async def test_an_error_keeps_its_class_and_its_attributes() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        try:
            await ctx.step("s", overdraw)
        except StepExhaustedError as error:
            return error.last_error.cents if isinstance(error.last_error, Overdrawn) else 0
        return 0

    async with Engine("memory:") as engine:
        assert await (await engine.start(w)).result() == 7


async def test_cancelling_a_run_kills_the_process_and_what_it_started(tmp_path: Path) -> None:
    async with Engine("memory:") as engine:
        run = await engine.start(endless, str(tmp_path / "pids"))
        pids = await processes(tmp_path / "pids")
        await run.cancel()
        await gone(pids)


async def test_a_timeout_kills_the_process(tmp_path: Path) -> None:
    async with Engine("memory:") as engine:
        run = await engine.start(timed, str(tmp_path / "pids"))
        with pytest.raises(RunFailed, match=r"took longer than 0\.5 s"):
            await run.result()
        if (tmp_path / "pids").exists():
            await gone(await processes(tmp_path / "pids"))


async def test_closing_the_engine_leaves_no_process(tmp_path: Path) -> None:
    async with Engine("memory:") as engine:
        await engine.start(endless, str(tmp_path / "pids"))
        pids = await processes(tmp_path / "pids")
    await gone(pids)


_PROGRAM = """
import asyncio, sys
from plait import Context, Engine, step, workflow
from tests.dialects.code.test_isolation import endless

@step(isolate=True)
def own(n: int) -> int:
    return n + 1

@workflow
async def small(ctx: Context) -> int:
    return await ctx.step("own", own, 1)

async def main():
    async with Engine("memory:") as engine:
        assert await (await engine.start(small)).result() == 2
        await (await engine.start(endless, sys.argv[1])).result()

if __name__ == "__main__":
    asyncio.run(main())
"""


async def test_a_killed_program_takes_its_steps_with_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    program = subprocess.Popen([sys.executable, str(tmp_path / "program.py"), str(tmp_path / "pids")], env=environment)
    try:
        leader, child = await processes(tmp_path / "pids")
    finally:
        program.kill()
        program.wait()
    await gone([leader])
    if is_alive(child):  # of the session of a process that was killed; nobody else may have its number
        os.kill(child, signal.SIGKILL)


def test_only_functions_that_another_process_finds_can_be_isolated() -> None:
    with refused("CODE_BAD_OPTION", "can't have isolate=True", "it is defined inside another function"):

        @step(isolate=True)
        def inner() -> None: ...


async def test_a_call_that_can_not_be_isolated_says_so() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        with refused("CODE_BAD_OPTION", "`s` can't have isolate=True", "it is not a @step"):
            await ctx.step("s", lambda: None, isolate=True)
        with refused("CODE_BAD_OPTION", "isolated by its call, and goes to the queue `gpu`"):
            await ctx.step("t", plain, queue="gpu", isolate=True)
        return "ok"

    async with Engine("memory:") as engine:
        assert await (await engine.start(w)).result() == "ok"
