"""`plait worker`, and the worker in JavaScript, as processes that people start and stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plait import Context, Engine, graph, step, workflow
from plait.errors import RunFailed
from plait.server.site import Settings
from tests.agents.providers.wire_server import Said
from tests.agents.providers.wire_server import serving as wires
from tests.server.serving import serving
from tests.support.processes import start
from tests.workers.queued_flows import calls, insist

ROOT = Path(__file__).parents[2]
PLAIT = str(Path(sys.executable).with_name("plait"))
STEPS = "tests.workers.queued_flows"
PATIENCE = 40


@step(queue="gpu", max_attempts=1)
async def odd(what: str) -> Any:
    raise AssertionError("the server must not do this")


@workflow
async def odd_one(ctx: Context, what: str) -> Any:
    return await ctx.step("odd", odd, what)


@asynccontextmanager
async def process(*command: str, **environment: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    started = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.wait()


async def first_line(started: asyncio.subprocess.Process) -> str:
    assert started.stdout is not None
    return (await asyncio.wait_for(started.stdout.readline(), PATIENCE)).decode()


async def output(*arguments: str) -> tuple[int, str]:
    started = start("plait.cli.main", "worker", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, said = await asyncio.to_thread(started.communicate, PATIENCE)
    return started.wait(), said


async def test_a_worker_on_the_database_does_a_step_and_ends_when_it_is_told(tmp_path: Path):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with Engine(db, definitions=[calls]) as engine:
        flags = ("--queue", "gpu", "--db", db, "--json", "--name", "w1")
        async with process(PLAIT, "worker", STEPS, *flags) as worker:
            ready = json.loads(await first_line(worker))
            assert (ready["worker"], ready["queues"]) == ("w1", ["gpu"])
            assert "double" in ready["handlers"]
            async with asyncio.timeout(PATIENCE):
                assert await (await engine.start(calls, "double")).result() == 42
            worker.send_signal(signal.SIGTERM)
            _, said = await asyncio.wait_for(worker.communicate(), PATIENCE)
            assert worker.returncode == 0
            assert said.decode().endswith("stopped\n")


async def test_a_worker_does_not_wait_for_a_plain_step_that_it_has_given_back(tmp_path: Path):
    db, begun = f"sqlite:///{tmp_path}/plait.db", tmp_path / "begun"
    async with Engine(db, definitions=[insist]) as engine:
        run = await engine.start(insist, str(begun))
        flags = ("--queue", "gpu", "--db", db, "--drain", "0")
        async with process(PLAIT, "worker", STEPS, *flags) as worker:
            async with asyncio.timeout(PATIENCE):
                while not begun.exists():  # noqa: ASYNC110 -- another process writes it
                    await asyncio.sleep(0.01)
            worker.send_signal(signal.SIGTERM)
            _, said = await asyncio.wait_for(worker.communicate(), PATIENCE)
            assert worker.returncode == 0
            assert said.decode().endswith("stopped\n")
        [task] = await engine.queues.claim("other", ["gpu"])
        assert (task.run_id, task.attempt) == (run.id, 1)


@pytest.mark.parametrize("language", ["python", "javascript"])
async def test_a_worker_of_a_server_does_a_step_with_a_key_of_its_queue(language: str):
    async with serving("memory:", settings=Settings(open=False)) as served:
        served.engine.code.registry.add(calls)
        _, key = await served.site.auth.keys.create("w", "worker", queues=["gpu"])
        command = (PLAIT, "worker", STEPS, "--queue", "gpu", "--db", served.url, "--json")
        if language == "javascript":
            command = ("node", "examples/worker.js", "gpu", "w")
        environment: dict[str, Any] = {"PLAIT_KEY": key, "PLAIT_URL": served.url}
        async with process(*command, **environment) as worker:
            await first_line(worker)
            async with asyncio.timeout(PATIENCE):
                assert await (await served.engine.start(calls, "double")).result() == 42
            worker.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(worker.wait(), PATIENCE) == 0


async def test_a_worker_in_javascript_that_is_to_stop_while_its_server_is_away_does_not_wait_for_it():
    async with process("node", "examples/worker.js", "gpu", "w", PLAIT_URL="http://127.0.0.1:1") as worker:
        assert worker.stderr is not None
        async with asyncio.timeout(PATIENCE):
            assert (await worker.stderr.readline()).startswith(b"claim: ")
            worker.send_signal(signal.SIGTERM)
            assert await worker.wait() == 0


HANDLERS = """
export default {
  odd: async (task, what) => {
    if (what === "large") return "x".repeat(5_000_000);
    if (what === "unserializable") return 1n;
    if (what === "nothing") throw undefined;
    if (what === "silent") throw new Error("");
    if (what === "not found") throw Object.assign(new Error("no such page"), { status: 404 });
    if (what === "long") throw new Error("x".repeat(50_000));
    return what;
  },
};
"""


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("large", "the body is larger"),
        ("unserializable", "BigInt"),
        ("nothing", "undefined"),
        ("silent", "failed"),
        ("not found", "no such page"),
        ("long", "xxxx"),
    ],
)
async def test_whatever_a_handler_in_javascript_gives_or_throws_is_reported_once(tmp_path: Path, what: str, said: str):
    handlers = tmp_path / "handlers.mjs"
    handlers.write_text(HANDLERS)
    async with serving("memory:") as served:
        served.engine.code.registry.add(odd_one)
        run, fine = [await served.engine.start(odd_one, each) for each in (what, "fine")]
        command = ("node", "examples/worker.js", "gpu", "w")
        async with process(*command, PLAIT_URL=served.url, PLAIT_HANDLERS=str(handlers)), asyncio.timeout(PATIENCE):
            with pytest.raises(RunFailed, match=said):
                await run.result()
            assert await fine.result() == "fine"
        assert [event.type for event in await run.events()].count("task.queued") == 1


async def test_a_worker_of_a_server_carries_agents_with_the_models_of_its_environment(tmp_path: Path):
    with wires("openai") as wire:
        wire.answers = [Said("fine")]
        file = tmp_path / "models.json"
        file.write_text(json.dumps({"models": {"fast": {"provider": "openai", "model": "m", "url": wire.base}}}))
        async with serving("memory:", settings=Settings(open=False)) as served:
            _, key = await served.site.auth.keys.create("w", "worker", queues=["gpu"])
            command = (PLAIT, "worker", "--queue", "gpu", "--db", served.url, "--json")
            async with process(*command, PLAIT_KEY=key, PLAIT_MODELS=str(file)) as worker:
                assert json.loads(await first_line(worker))["handlers"] == ["model:", "model:fast"]
                node = {"id": "a", "type": "agent", "queue": "gpu", "agent_config": {"model": "fast"}}
                async with asyncio.timeout(PATIENCE):
                    assert await (await served.engine.start(graph({"nodes": [node]}))).result() == {
                        "a": {"text": "fine"}
                    }


async def test_a_key_for_another_queue_ends_the_worker_with_the_reason():
    async with serving("memory:", settings=Settings(open=False)) as served:
        _, key = await served.site.auth.keys.create("w", "worker", queues=["cpu"])
        code, said = await output(STEPS, "--queue", "gpu", "--db", served.url, "--key", key)
        assert code == 2
        assert said.splitlines()[-1].startswith("error: no access to queue 'gpu': the key is for cpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((STEPS,), "error: missing option '--queue'"),
        (("json", "--queue", "gpu"), "error: there is nothing that this worker could do"),
        (("no.such.module", "--queue", "gpu"), "error: there is no module `no.such.module`"),
        ((STEPS, "--queue", "a b"), "error: queue 'a b'"),
        ((STEPS, "--queue", "gpu", "--db", "sqlite:///nowhere.db"), "error: there is no database at nowhere.db"),
    ],
)
async def test_what_is_wrong_is_said_in_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with Engine(db, work=False):
        pass
    given = arguments if "--db" in arguments else (*arguments, "--db", db)
    code, said = await output(*given)
    assert code == 2
    [line] = [each for each in said.splitlines() if each.startswith("error")]
    assert line.startswith(message)
