"""`plait serve --processes`: several engines behind one port, none of which is missed for long."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path

from plait import Engine
from tests.server.contract.processes import client_of, finished, serving, start_surely
from tests.support.processes import start

from .work import entries

RUNS = 40


async def owners(engine: Engine) -> set[int]:
    """The processes that hold shards: an owner's name has it."""
    return {int(owner.name.split("-")[-2]) for owner in await engine.kernel.store.owners()}


async def until_owned_by(engine: Engine, count: int, *, without: int = 0) -> set[int]:
    while len(found := await owners(engine)) != count or without in found:  # noqa: ASYNC110 -- other processes do it
        await asyncio.sleep(0.02)
    return found


async def test_processes_share_the_port_and_the_runs_and_one_that_is_killed_is_replaced(
    postgres_url: str, ledger: Path
):
    async with (
        serving(postgres_url, ledger, "--processes", "2") as server,
        Engine(postgres_url, work=False) as looking,
        client_of(server) as client,
    ):
        assert len(server.processes) == 2
        assert await until_owned_by(looking, 2) == set(server.processes)
        for number in range(RUNS):
            await start_surely(client, number)
        victim = server.processes[0]
        os.kill(victim, signal.SIGKILL)
        survivors = await until_owned_by(looking, 2, without=victim)
        assert server.processes[1] in survivors
        assert [await finished(client, number) for number in range(RUNS)] == [number + 5 for number in range(RUNS)]
        assert {entry.pid for entry in entries(ledger)} <= {*server.processes, *survivors}
        server.signal()
        assert await server.ended() == 0
        assert await owners(looking) == set()  # each gave its shards up


async def test_processes_whose_supervisor_is_killed_stop_too(postgres_url: str, ledger: Path):
    async with serving(postgres_url, ledger, "--processes", "2") as server, Engine(postgres_url, work=False) as looking:
        await until_owned_by(looking, 2)
        await server.kill()
        await until_owned_by(looking, 0)
        lines = [json.loads(line) for line in server.errors.read_text().splitlines()]
        told = [line["pid"] for line in lines if "supervises this one is gone" in line["event"]]
        assert sorted(told) == sorted(server.processes)  # each of them, once


async def test_code_that_can_not_be_loaded_is_said_once(postgres_url: str, tmp_path: Path):
    (tmp_path / "broken.py").write_text("1 / 0")
    command = ("serve", "broken.py", "--processes", "3", "--port", "0", "--db", postgres_url)
    with start("plait.cli.main", *command, cwd=tmp_path, env=os.environ, stderr=subprocess.PIPE) as process:
        _, said = await asyncio.to_thread(process.communicate, 30)
    assert process.returncode == 2
    assert said.count("[cli.import_failed]") == 1
    assert "stopped" not in said  # it never served
