"""Workers as processes: how many, in which order, what they hold, how they end."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest

from plait.kernel.errors import Unavailable
from plait.scripts.lua import LuaCrash, LuaError, LuaLimits, LuaOutcome, LuaPool
from plait.scripts.processes import Program
from plait.scripts.processes.process import Process
from tests.scripts.lua.test_attacks import alive

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes in /proc")

_BUSY = "return (('a'):rep(40)):find(('a?'):rep(40) .. ('a'):rep(40))"
"""Runs for hours, inside one call of C."""
_HALT = LuaLimits(seconds=300, instructions=1 << 60)


async def started(pool: LuaPool, count: int) -> None:
    while len(pool.pids) < count:  # noqa: ASYNC110 - a pool tells nobody when it starts a process
        await asyncio.sleep(0)


async def gone(pid: int) -> None:
    while alive(pid):  # noqa: ASYNC110 - the end of another's child can't be awaited
        await asyncio.sleep(0.005)


def quick(pool: LuaPool, number: int = 1) -> asyncio.Task[LuaOutcome]:
    return asyncio.ensure_future(pool.run("return n", {"n": number}, ["n"], "token"))


def endless(pool: LuaPool) -> asyncio.Task[LuaOutcome]:
    return asyncio.ensure_future(pool.run(_BUSY, {}, [], "token", _HALT))


async def test_a_pool_starts_no_process_before_the_first_script_and_uses_one_again() -> None:
    async with LuaPool() as pool:
        assert pool.pids == frozenset()
        await quick(pool)
        first = pool.pids
        await quick(pool)
        assert pool.pids == first
        assert len(first) == 1


async def test_ten_scripts_run_at_once_and_the_others_wait_in_order() -> None:
    async with LuaPool() as pool:
        busy = [endless(pool) for _ in range(10)]
        await started(pool, 10)
        order: list[int] = []
        waiting = [quick(pool, number) for number in range(20)]
        for task in waiting:
            task.add_done_callback(lambda task: order.append(task.result().value))
        await asyncio.sleep(0)
        assert len(pool.pids) == 10
        assert not any(task.done() for task in waiting)
        busy[0].cancel()
        await asyncio.gather(*waiting)
        assert order == list(range(20))
        assert not any(task.done() for task in busy[1:])
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def test_the_loop_stays_free_while_scripts_run() -> None:
    async with LuaPool(2) as pool:
        busy = endless(pool)
        await started(pool, 1)
        for number in range(50):
            assert (await quick(pool, number)).value == number
        assert not busy.done()
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)


async def test_a_cancelled_script_is_killed_and_its_place_is_free() -> None:
    async with LuaPool(1) as pool:
        busy = endless(pool)
        await started(pool, 1)
        (pid,) = pool.pids
        busy.cancel()
        with pytest.raises(asyncio.CancelledError):
            await busy
        await gone(pid)
        assert (await quick(pool)).value == 1


async def test_a_cancelled_wait_for_a_place_takes_none() -> None:
    async with LuaPool(1) as pool:
        busy = endless(pool)
        await started(pool, 1)
        waiting = quick(pool)
        await asyncio.sleep(0)
        waiting.cancel()
        busy.cancel()
        await asyncio.gather(waiting, busy, return_exceptions=True)
        assert (await quick(pool)).value == 1


async def test_a_start_that_is_cancelled_leaves_no_process() -> None:
    before = children()
    async with LuaPool(1) as pool:
        task = quick(pool)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (await quick(pool)).value == 1
    assert children() == before


class SlowStart(Process):
    """A process that takes as long to start as a test wants."""

    entered: ClassVar = threading.Event()
    may_start: ClassVar = threading.Event()
    made: ClassVar[list[subprocess.Popen[bytes]]] = []

    def __init__(self, program: Program) -> None:
        self.entered.set()
        self.may_start.wait()
        super().__init__(program)
        self.made.append(self._popen)


@pytest.fixture
def slow_start(monkeypatch: pytest.MonkeyPatch) -> type[SlowStart]:
    monkeypatch.setattr("plait.scripts.processes.worker.Process", SlowStart)
    SlowStart.entered.clear()
    SlowStart.may_start.clear()
    SlowStart.made.clear()
    return SlowStart


async def test_stopping_waits_for_a_process_whose_script_was_cancelled_while_it_started(
    slow_start: type[SlowStart],
) -> None:
    pool = LuaPool(1)
    task = quick(pool)
    await asyncio.to_thread(slow_start.entered.wait)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    stopping = asyncio.ensure_future(pool.stop())
    await asyncio.sleep(0)
    slow_start.may_start.set()
    await stopping
    (process,) = slow_start.made
    assert process.returncode is not None


async def test_stopping_waits_for_a_process_that_is_being_started(slow_start: type[SlowStart]) -> None:
    pool = LuaPool(2)
    starting = [quick(pool), quick(pool)]
    await asyncio.to_thread(slow_start.entered.wait)
    stopping = asyncio.ensure_future(pool.stop())
    await asyncio.sleep(0)
    slow_start.may_start.set()
    await stopping
    assert [process.returncode is None for process in slow_start.made] == [False, False]
    results = await asyncio.gather(*starting, return_exceptions=True)
    assert [getattr(result, "code", result) for result in results] == ["lua.stopped"] * 2


async def test_a_pool_can_be_stopped_twice_and_refuses_scripts_after_that() -> None:
    pool = LuaPool(1)
    await quick(pool)
    await pool.stop()
    await pool.stop()
    with pytest.raises(Unavailable) as caught:
        await quick(pool)
    assert caught.value.code == "lua.stopped"


async def test_a_worker_killed_from_outside_fails_only_its_own_script() -> None:
    async with LuaPool(2) as pool:
        victim = endless(pool)
        await started(pool, 1)
        (pid,) = pool.pids
        other = endless(pool)
        await started(pool, 2)
        os.kill(pid, signal.SIGSEGV)
        with pytest.raises(LuaCrash) as caught:
            await victim
        assert caught.value.code == "lua.crashed"
        assert "SIGSEGV" in caught.value.what
        assert not other.done()
        assert (await quick(pool)).value == 1
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)


async def test_an_idle_worker_killed_from_outside_fails_nothing() -> None:
    async with LuaPool(1) as pool:
        for _ in range(3):
            await quick(pool)
            (pid,) = pool.pids
            os.kill(pid, signal.SIGKILL)
            while state(pid) != "Z":
                os.sched_yield()
            assert (await quick(pool)).value == 1
            assert pool.pids != {pid}


async def test_a_worker_that_the_engine_forgets_to_kill_ends_itself() -> None:
    async with LuaPool(1) as pool:
        await quick(pool)
        (pid,) = pool.pids
        task = asyncio.ensure_future(pool.run(_BUSY, {}, [], "token", LuaLimits(seconds=0.2)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        while state(pid) != "Z":  # the loop is blocked, so nobody here can kill it
            os.sched_yield()
        with pytest.raises(LuaError) as caught:
            await task
    assert caught.value.code == "lua.time_limit"


async def test_stopping_ends_running_scripts_and_leaves_no_process() -> None:
    pool = LuaPool(3)
    running = [endless(pool) for _ in range(3)]
    await started(pool, 3)
    waiting = quick(pool)
    await asyncio.sleep(0)
    pids = pool.pids
    await pool.stop()
    results = await asyncio.gather(*running, waiting, return_exceptions=True)
    assert [type(result) for result in results] == [Unavailable] * 4
    assert not any(alive(pid) for pid in pids)


async def test_a_worker_has_nothing_of_the_engines() -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        async with LuaPool(1) as pool:
            await quick(pool)
            (pid,) = pool.pids
            place = Path(f"/proc/{pid}")
            try:
                environment, files = (place / "environ").read_bytes(), sorted(os.listdir(place / "fd"))
            except PermissionError:
                pytest.skip("only root may look into a process that protects itself")
            limits = (place / "limits").read_text()
            assert environment == b""
            assert files == ["0", "1", "2"]
            assert os.readlink(place / "cwd") == "/"
            assert os.getsid(pid) == pid
            assert "\nMax open files            3                    3 " in limits
            assert "\nMax file size             0                    0 " in limits
            assert "\nMax core file size        0                    0 " in limits
            assert "NoNewPrivs:\t1" in (place / "status").read_text()
            assert "Uid:\t0" not in (place / "status").read_text()
    finally:
        os.close(read_end)
        os.close(write_end)


_ENGINE = f"""
import asyncio
from plait.scripts.lua import LuaLimits, LuaPool

async def main():
    pool = LuaPool()
    limits = LuaLimits(seconds=300, instructions=1 << 60)
    tasks = [asyncio.ensure_future(pool.run({_BUSY!r}, {{}}, [], "token", limits)) for _ in range(3)]
    while len(pool.pids) < 3:
        await asyncio.sleep(0.005)
    await pool.run("return 1", {{}}, [], "token")
    print(*pool.pids, flush=True)
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


async def test_an_engine_that_is_killed_leaves_no_worker() -> None:
    engine = subprocess.Popen([sys.executable, "-c", _ENGINE], stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    with engine.stdout:
        pids = [int(word) for word in (await asyncio.to_thread(engine.stdout.readline)).split()]
        assert len(pids) == 4
        assert all(alive(pid) for pid in pids)
        engine.kill()
        engine.wait()
    for pid in pids:
        await gone(pid)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def children() -> set[str]:
    return {
        child
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
        if state(int(child)) != "Z"
    }
