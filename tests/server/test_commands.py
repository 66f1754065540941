"""`plait serve` and `plait dev` as processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from plait import Engine
from tests.server.serving import API
from tests.support.processes import Process, start

FLOWS = """
from plait import Context, step, workflow

@step
async def double(x: int) -> int:
    return 2 * x

@workflow
async def twice(ctx: Context, x: int) -> int:
    return await ctx.step("double", double, x)

@workflow
async def waits(ctx: Context) -> str:
    return await ctx.listen("go")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(FLOWS)
    return tmp_path


def command(folder: Path, *args: str, **environment: str) -> Process:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return start("plait.cli.main", *args, cwd=folder, env={**os.environ, **environment}, **pipes)


async def output(process: Process) -> tuple[str, str]:
    return await asyncio.to_thread(process.communicate, 30)


async def refused(folder: Path, *args: str) -> str:
    """What a command that does not start says."""
    process = command(folder, *args)
    out, err = await output(process)
    assert process.returncode == 2, err
    assert out == ""
    assert "Traceback" not in err
    return err


@contextlib.asynccontextmanager
async def running(folder: Path, *args: str, **environment: str) -> AsyncGenerator[tuple[Process, str]]:
    process = command(folder, *args, "--port", "0", "--json", **environment)
    try:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        assert line, (await output(process))[1]
        yield process, json.loads(line)["url"]
    finally:
        if process.returncode is None:
            process.kill()
            await output(process)


async def test_dev_serves_a_module_and_stops_when_asked(folder: Path):
    async with running(folder, "dev", "shop.py") as (process, url), httpx.AsyncClient(base_url=url) as client:
        assert url.startswith("http://127.0.0.1:")
        answer = await client.post(f"{API}/runs", json={"definition": "twice", "input": 21, "id": "t-1"})
        assert answer.status_code == 201
        names = [each["name"] for each in (await client.get(f"{API}/definitions")).json()["definitions"]]
        assert names == ["twice", "waits"]
        process.send_signal(signal.SIGTERM)
        _, err = await output(process)
        assert process.returncode == 0, err
        assert "stopped" in err
        assert (folder / "plait.db").exists()  # where `python app.py` and `plait runs` look, too


async def test_dev_without_a_module_has_something_to_look_at(folder: Path):
    async with running(folder, "dev") as (_, url), httpx.AsyncClient(base_url=url) as client:
        assert len((await client.get(f"{API}/runs")).json()["runs"]) > 3
        assert not (folder / "plait.db").exists()  # the tea shop stays out of your own database


async def test_serve_asks_for_a_key_that_the_command_line_makes(folder: Path):
    made, _ = await output(command(folder, "keys", "create", "ann", "--role", "operator", "--json"))
    key = json.loads(made)["key"]
    async with running(folder, "serve", "shop.py") as (_, url), httpx.AsyncClient(base_url=url) as client:
        body = {"definition": "twice", "input": 1}
        assert (await client.post(f"{API}/runs", json=body)).status_code == 401
        headers = {"authorization": f"Bearer {key}"}
        assert (await client.post(f"{API}/runs", json=body, headers=headers)).status_code == 201


async def test_serve_until_idle_does_what_is_left_and_ends_by_itself(folder: Path):
    names: dict[str, Any] = {"__name__": "shop"}
    exec(FLOWS, names)
    async with Engine(f"sqlite:///{folder}/plait.db", work=False) as engine:
        await engine.start(names["twice"], 21, id="t-1")
    process = command(folder, "serve", "shop.py", "--until-idle", "--port", "0")
    _, err = await output(process)
    assert process.returncode == 0, err
    assert "stopped" in err
    async with Engine(f"sqlite:///{folder}/plait.db", work=False) as engine:
        assert await (await engine.get("t-1")).status() == "completed"


async def test_a_second_signal_stops_it_at_once(folder: Path):
    async with running(folder, "dev", "shop.py") as (process, url):
        host, port = url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n")
        writer.write(b"content-length: 10\r\n\r\n{")  # a request that would be waited for
        await writer.drain()
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while True:
                _, other = await asyncio.open_connection(host, int(port))
                other.close()
                await asyncio.sleep(0.01)
        process.send_signal(signal.SIGINT)
        await output(process)
        assert process.returncode == 130
        assert await reader.read() == b""
        writer.close()


async def test_a_kill_under_load_loses_nothing_acknowledged(folder: Path):
    acknowledged: list[str] = []

    async def start(client: httpx.AsyncClient) -> None:
        with contextlib.suppress(httpx.TransportError):
            while True:
                answer = await client.post(f"{API}/runs", json={"definition": "waits"})
                acknowledged.append(answer.json()["id"])

    async with running(folder, "dev", "shop.py") as (process, url), httpx.AsyncClient(base_url=url) as client:
        clients = [asyncio.ensure_future(start(client)) for _ in range(8)]
        while len(acknowledged) < 200:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        process.kill()
        await asyncio.gather(*clients)
    async with Engine(f"sqlite:///{folder}/plait.db", work=False) as engine:
        for id in acknowledged:
            await engine.get(id)


async def test_serve_does_not_start_open_for_everybody(folder: Path):
    said = await refused(folder, "serve", "--open", "--host", "0.0.0.0")
    assert "[auth.open_server]" in said
    assert "plait keys create" in said


async def test_a_port_that_is_taken_is_said(folder: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = await refused(folder, "dev", "--port", str(taken.getsockname()[1]))
    assert "[server.port_in_use]" in said
    assert "--port" in said


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("dev", "nope"), "cli.no_module"),
        (("dev", "broken.py"), "cli.import_failed"),
        (("dev", "--db", "oracle://x"), "store.bad_url"),
        (("dev", "--db", "sqlite:////nowhere/at/all.db"), "store."),
        (("dev", "--port", "70000"), "cli.usage"),
        (("serve", "--public-url", "plait.example"), "cli.bad_url"),
        (("dev", "--argyll-origins", "https://tea.example,tea"), "cli.bad_url"),
        (("serve", "--host", "not a host"), "server.bad_host"),
        (("serve", "--db", "http://x"), "cli.needs_database"),
        (("serve", "--until-idle", "--no-work"), "cli.usage"),
        (("serve", "--processes", "2"), "cli.one_process"),
        (("serve", "--processes", "0", "--db", "postgresql://x/y"), "cli.usage"),
    ],
)
async def test_what_can_not_be_served_is_said_plainly(folder: Path, args: tuple[str, ...], code: str):
    (folder / "broken.py").write_text("1 / 0")
    assert f"[{code}" in await refused(folder, *args)
