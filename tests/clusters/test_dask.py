"""Steps on a real local Dask cluster: a scheduler and two worker processes."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from plait import Engine, goals, graph
from plait.clusters.clusters import Clusters
from plait.clusters.dask import DaskCluster
from plait.clusters.settings import cluster_settings
from plait.kernel.clock import SystemClock
from plait.workers.queue_worker import QueueWorker, WorkerSettings
from tests.dialects.graph.drawing import drawn, task
from tests.engine.places import OnDisk
from tests.support.ports import free_port

from . import work
from .starts import eventually, started


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    found: Any = LocalCluster(
        n_workers=2,
        threads_per_worker=2,
        processes=True,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        silence_logs=50,
    )
    with found as cluster:
        yield cluster.scheduler_address


async def test_a_step_on_dask_is_like_any_other_step(address: str) -> None:
    async with Engine("memory:", definitions=[work.tour], clusters={"dask": address}) as engine:
        run = await engine.start(work.tour, "dask", id="t")
        result = await run.result()
        assert [line.text for line in await run.logs("who")] == ["I say so"]
    pid = result["who"].pop("pid")
    assert pid != os.getpid()
    assert result == {
        "who": {"run": "t", "key": "t:who:0", "attempt": 1},
        "large": 3_000_000,
        "progress": {"half": True},
        "missing": 7,
    }


async def test_goals_and_graphs_run_their_functions_on_dask(address: str) -> None:
    diagram = graph(drawn("", task("t", config={"handler": "cluster.triple"})))
    async with Engine("memory:", definitions=[work.double, work.triple], clusters={"dask": address}) as engine:
        found = await (await engine.start(goals("double"), {"amount": 4})).result()
        assert found["doubled"] == 8
        assert found["pid"] != os.getpid()
        tripled = (await (await engine.start(diagram, {"amount": 4}, id="g")).result())["t"]
        assert tripled["tripled"] == 12
        assert tripled["key"].startswith("g:")


async def test_a_step_of_a_queue_goes_on_to_dask_from_its_worker(address: str) -> None:
    async with Engine("memory:", definitions=[work.by_queue, work.queued]) as engine:
        run = await engine.start(work.by_queue)
        clusters = Clusters(cluster_settings({"dask": address}))
        settings = WorkerSettings(name="w", queues=["heavy"], namespace="default")
        executors = [*engine.executors.all, *engine.code.executors]
        worker = QueueWorker(engine.queues, executors, SystemClock(), settings, clusters)
        working = asyncio.ensure_future(worker.run())
        assert await run.result() != os.getpid()
        worker.stop()
        await working
        await clusters.close()


async def test_the_loss_of_a_worker_of_the_cluster_is_not_the_loss_of_the_step(address: str, tmp_path: Path) -> None:
    async with Engine("memory:", definitions=[work.through_the_gate], clusters={"dask": address}) as engine:
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "dask"}, id="r")
        [[pid, key]] = await started(tmp_path)
        os.kill(int(pid), signal.SIGKILL)
        both = await started(tmp_path, 2)
        assert both[1][0] != pid
        assert both[1][1] == key == "r:gated:0"
        (tmp_path / "gate").touch()
        assert await run.result() == "through"
        assert [node.attempts for node in (await run.view()).nodes] == [1]


_PROGRAM = """
import asyncio, sys
from plait import Engine
from tests.clusters import work

async def main(url, address, folder):
    async with Engine(url, definitions=[work.through_the_gate], clusters={"dask": address}) as engine:
        run = await engine.start(work.through_the_gate, {"folder": folder, "on": "dask"}, id="r")
        await run.result()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_an_engine_that_takes_over_finds_the_job_of_one_that_was_killed(address: str, tmp_path: Path) -> None:
    place = OnDisk(tmp_path / "runs.db")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    arguments = [sys.executable, "-c", _PROGRAM, place.url, address, str(tmp_path)]
    program = subprocess.Popen(arguments, env=environment)
    try:
        await started(tmp_path)
    finally:
        program.kill()
        program.wait()
    async with place.engine(work.through_the_gate, clusters={"dask": address}) as second:
        (tmp_path / "gate").touch()
        assert await (await second.get("r")).result() == "through"
    assert len(await started(tmp_path)) == 1


async def test_a_stopped_engine_leaves_its_jobs_to_the_next(address: str, tmp_path: Path) -> None:
    place = OnDisk(tmp_path / "runs.db")
    async with place.engine(work.through_the_gate, clusters={"dask": address}) as first:
        await first.start(work.through_the_gate, {"folder": str(tmp_path), "on": "dask"}, id="r")
        await started(tmp_path)
    async with place.engine(work.through_the_gate, clusters={"dask": address}) as second:
        (tmp_path / "gate").touch()
        assert await (await second.get("r")).result() == "through"
    assert len(await started(tmp_path)) == 1


async def test_a_cancelled_step_learns_of_it_at_its_next_heartbeat(address: str, tmp_path: Path) -> None:
    async with Engine("memory:", definitions=[work.through_the_gate], clusters={"dask": address}) as engine:
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "dask"})
        await started(tmp_path)
        await run.cancel()
        await eventually(lambda: (tmp_path / "stopped").exists())


@contextmanager
def own_cluster(port: int) -> Iterator[None]:
    """A scheduler and a worker that end at once, without a word to anybody."""
    address = f"127.0.0.1:{port}"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    processes = [subprocess.Popen([sys.executable, "-m", *each], **quiet) for each in (scheduler, worker)]
    try:
        yield
    finally:
        for each in processes:
            each.kill()
            each.wait()


async def is_up(port: int) -> None:
    client: Any = await Client(f"127.0.0.1:{port}", asynchronous=True, timeout=90)
    await client.wait_for_workers(1, timeout=90)
    await client.close()


async def test_steps_go_to_dask_again_when_a_scheduler_that_was_long_away_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plait.clusters.dask._CONNECT", 2.0)
    port = free_port()
    cluster = DaskCluster(f"tcp://127.0.0.1:{port}")
    async with Engine("memory:", definitions=[work.tour]) as engine:
        engine.executors.clusters._open["dask"] = cluster  # pyright: ignore[reportPrivateUsage]
        with own_cluster(port):
            await is_up(port)
            await (await engine.start(work.tour, "dask")).result()
        client = cluster._client  # pyright: ignore[reportPrivateUsage]
        await eventually(lambda: client.status == "closed")  # it has given up
        with own_cluster(port):
            await is_up(port)
            run = await engine.start(work.tour, "dask")
            assert (await run.result())["large"] == 3_000_000
            assert [line.text for line in await run.logs("who")] == ["I say so"]


async def test_a_step_goes_on_when_the_connection_to_the_scheduler_was_lost(address: str, tmp_path: Path) -> None:
    """It is the same job: the scheduler had it all the time."""
    cluster = DaskCluster(address)
    async with Engine("memory:", definitions=[work.through_the_gate]) as engine:
        engine.executors.clusters._open["dask"] = cluster  # pyright: ignore[reportPrivateUsage]
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "dask"})
        await started(tmp_path)
        before = cluster._client  # pyright: ignore[reportPrivateUsage]
        before.scheduler_comm.comm.abort()
        await eventually(lambda: cluster._client not in (before, None))  # pyright: ignore[reportPrivateUsage]
        (tmp_path / "gate").touch()
        assert await run.result() == "through"
        assert [node.attempts for node in (await run.view()).nodes] == [1]
    assert len(await started(tmp_path)) == 1


async def test_a_client_that_fails_to_connect_again_is_replaced(address: str, tmp_path: Path) -> None:
    """Dask asserts that the scheduler's first answer has one message, and it may have two."""
    cluster = DaskCluster(address)
    async with Engine("memory:", definitions=[work.through_the_gate]) as engine:
        engine.executors.clusters._open["dask"] = cluster  # pyright: ignore[reportPrivateUsage]
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "dask"})
        await started(tmp_path)
        before = cluster._client  # pyright: ignore[reportPrivateUsage]
        closed = before._close

        async def close_and_fail(*args: object) -> None:
            await closed(*args)
            raise AssertionError

        before._close = close_and_fail
        before.scheduler_comm.comm.abort()
        await eventually(lambda: cluster._client not in (before, None))  # pyright: ignore[reportPrivateUsage]
        (tmp_path / "gate").touch()
        assert await run.result() == "through"
