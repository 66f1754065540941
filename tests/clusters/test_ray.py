"""Steps on a real local Ray cluster: `make test-clusters`, in an environment of its own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait import Engine
from tests.engine.places import OnDisk

from . import work
from .starts import eventually, started

ray: Any = pytest.importorskip("ray", reason="Ray is in the environment of `make test-clusters` only")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of one node, in a session of processes of its own that can import what the tests have."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # the names of its sockets may not be long
    options = ["--head", "--block", "--port=0", "--num-cpus=4", "--include-dashboard=false", f"--temp-dir={folder}"]
    node = subprocess.Popen(
        [str(Path(sys.executable).with_name("ray")), "start", *options, "--node-ip-address=127.0.0.1"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield _written(folder / "ray_current_cluster", node)
    finally:
        os.killpg(node.pid, signal.SIGTERM)
        node.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _written(file: Path, node: "subprocess.Popen[bytes]") -> str:
    while not (file.exists() and (found := file.read_text().strip())):
        assert node.poll() is None, "the cluster did not start"
        time.sleep(0.05)
    return found


async def test_a_step_on_ray_is_like_any_other_step(address: str) -> None:
    async with Engine("memory:", definitions=[work.tour], clusters={"ray": address}) as engine:
        run = await engine.start(work.tour, "ray", id="t")
        result = await run.result()
        assert [line.text for line in await run.logs("who")] == ["I say so"]
    assert result["who"].pop("pid") != os.getpid()
    assert result == {
        "who": {"run": "t", "key": "t:who:0", "attempt": 1},
        "large": 3_000_000,
        "progress": {"half": True},
        "missing": 7,
    }


async def test_the_loss_of_a_process_of_the_cluster_is_not_the_loss_of_the_step(address: str, tmp_path: Path) -> None:
    async with Engine("memory:", definitions=[work.through_the_gate], clusters={"ray": address}) as engine:
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "ray"}, id="r")
        [[pid, key]] = await started(tmp_path)
        os.kill(int(pid), signal.SIGKILL)
        both = await started(tmp_path, 2)
        assert both[1][0] != pid
        assert both[1][1] == key == "r:gated:0"
        (tmp_path / "gate").touch()
        assert await run.result() == "through"


async def test_a_stopped_engine_leaves_its_jobs_to_the_next(address: str, tmp_path: Path) -> None:
    place = OnDisk(tmp_path / "runs.db")
    async with place.engine(work.through_the_gate, clusters={"ray": address}) as first:
        await first.start(work.through_the_gate, {"folder": str(tmp_path), "on": "ray"}, id="r")
        await started(tmp_path)
    async with place.engine(work.through_the_gate, clusters={"ray": address}) as second:
        (tmp_path / "gate").touch()
        assert await (await second.get("r")).result() == "through"
    assert len(await started(tmp_path)) == 1


async def test_a_cancelled_step_is_killed(address: str, tmp_path: Path) -> None:
    async with Engine("memory:", definitions=[work.through_the_gate], clusters={"ray": address}) as engine:
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "ray"})
        [[pid, _]] = await started(tmp_path)
        await run.cancel()
        await eventually(lambda: not Path(f"/proc/{pid}").exists())
