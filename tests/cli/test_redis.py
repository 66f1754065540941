"""Redis on the command line, and the example of a worker, run as its first lines say."""

import ast
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import redis.asyncio

from plait import Engine, graph
from tests.cli.support import ROOT, Desk
from tests.support.valkey import ValkeyServer
from tests.workers.redis.queued import doubled, shouting
from tests.workers.redis.stream_worker import working


@contextmanager
def example(redis: str, stream: str, keys: str) -> Iterator[subprocess.Popen[bytes]]:
    given = {**os.environ, "REDIS_URL": redis, "PLAIT_SIGNING_KEYS": keys}
    with subprocess.Popen([sys.executable, ROOT / "examples/redis_worker.py", stream], env=given) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def keys(desk: Desk) -> str:
    desk.plait("keys", "create", "x")  # makes the database
    return desk.plait("keys", "signing", "--json").out


def test_the_example_has_no_more_than_twenty_lines():
    tree = ast.parse((ROOT / "examples/redis_worker.py").read_text())
    code = [each for each in tree.body[1:] if not isinstance(each, ast.Import | ast.ImportFrom)]
    parts = [part for each in code for part in ast.walk(each)]
    assert len({part.lineno for part in parts if isinstance(part, ast.stmt | ast.excepthandler)}) <= 20


async def test_the_example_outlives_a_flush_and_a_restart_of_redis(desk: Desk, keys: str, own_valkey: ValkeyServer):
    async with Engine(desk.db, definitions=[doubled], redis=own_valkey.url) as engine:
        with example(own_valkey.url, "wf.tasks.math", keys) as worker:
            assert await (await engine.start(doubled, 1)).result() == 2
            async with redis.asyncio.Redis.from_url(own_valkey.url) as db:
                await db.flushall()
            assert await (await engine.start(doubled, 2)).result() == 4
            own_valkey.restart()
            assert await (await engine.start(doubled, 3)).result() == 6
            assert worker.poll() is None


async def test_the_example_serves_a_step_and_a_node(desk: Desk, keys: str, redis_url: str):
    async with Engine(desk.db, definitions=[doubled], redis=redis_url) as engine:
        with example(redis_url, "wf.tasks.math", keys), example(redis_url, "wf.tasks.voice", keys):
            step, node = await engine.start(doubled, 21), await engine.start(shouting(), {"text": "tea"})
            assert await step.result() == 42
            assert await node.result() == {"A": {"text": "TEA"}}


async def test_the_example_knows_a_task_as_genuine_whatever_numbers_and_names_it_has(
    desk: Desk, keys: str, redis_url: str
):
    odd = {"text": "tea", "small": 0.00001, "smaller": 1e-7, "large": 1e21, "\U0001f600": 1, "\uff21": 2}
    async with Engine(desk.db, redis=redis_url) as engine:
        run = await engine.start(shouting(), odd)
        with example(redis_url, "wf.tasks.voice", keys):
            assert await run.result() == {"A": {"text": "TEA"}}


async def test_the_example_refuses_a_forged_task(desk: Desk, keys: str, redis_url: str):
    async with (
        Engine(desk.db, redis=redis_url) as engine,
        working(redis_url, "wf.tasks.voice") as worker,
    ):
        run = await engine.start(shouting(), {"text": "tea"})
        task = await worker.one()
        forged = task.envelope | {"token": task.token | {"payload": {"text": "poison"}}}
        await worker.db.xadd(worker.stream, task.fields | {"token": json.dumps(forged)})
        with example(redis_url, "wf.tasks.voice", keys):
            assert await run.result() == {"A": {"text": "TEA"}}  # it was offered again, in a new envelope
        [rejected] = [event.data for event in await run.events() if event.type == "token.rejected"]
        assert rejected["reason"] == "a worker refused the envelope: forged or expired"


async def test_the_doctor_builds_what_observers_see_anew(desk: Desk, keys: str, redis_url: str, monkeypatch):
    monkeypatch.setenv("PLAIT_REDIS", redis_url)
    definition = {
        "nodes": [
            {"id": "a", "type": "transform", "config": {"output": {"n": 1}}},
            {"id": "boss", "type": "human", "human_config": {"approvers": ["ann"]}},
        ],
        "edges": [{"from": "a", "to": "boss"}],
    }
    async with Engine(desk.db, redis=redis_url) as engine, redis.asyncio.Redis.from_url(redis_url) as db:
        await engine.start(graph(definition), {"n": 0}, id="r1")
        while not await db.smembers("pending_approvals:r1"):
            pass  # each look is a round trip
        before = {key: await dumped(db, key) for key in sorted(await db.keys("*:r1*"))}
        await db.flushall()
        await db.set("counter:r1", 99)
        ran = await asyncio.to_thread(desk.plait, "doctor", "--run", "r1", "--repair", "--json")
        assert "rebuilt" in ran.json["facts"]["mirror"]
        after = {key: await dumped(db, key) for key in sorted(await db.keys("*:r1*"))}
        assert after == before
        assert len(after) > 4


async def dumped(db: "redis.asyncio.Redis", key: bytes | str) -> object:
    match await db.type(key):
        case b"string":
            return await db.get(key)
        case b"set":
            return await db.smembers(key)
        case _:
            return await db.hgetall(key)


def test_signing_keys_are_shown_and_rotated(desk: Desk):
    desk.plait("keys", "create", "x")
    [first] = desk.plait("keys", "signing", "--json").json
    assert list(desk.plait("keys", "signing", "--json").json) == [first]
    second, before = desk.plait("keys", "signing", "--rotate", "--json").json
    assert before == first
    third, before = desk.plait("keys", "signing", "--rotate", "--json").json
    assert before == second
    assert len({first, second, third}) == 3
    assert third in desk.plait("keys", "signing").out
    assert third not in desk.plait("keys", "signing", "--namespace", "acme").out


def test_the_doctor_says_whether_redis_is_there(desk: Desk, own_valkey: ValkeyServer, monkeypatch):
    desk.plait("keys", "create", "x")
    monkeypatch.setenv("PLAIT_REDIS", own_valkey.url)
    facts = desk.plait("doctor", "--json").json["facts"]
    assert facts["redis"].startswith("valkey 9.")
    own_valkey.kill()
    ran = desk.plait("doctor", "--json")
    assert ran.code == 1
    assert [problem["code"] for problem in ran.json["problems"]] == ["redis.unreachable"]


def test_a_redis_url_that_is_none_is_said_so(desk: Desk):
    ran = desk.plait("serve", "--redis", "http://user:secret@host")
    assert ran.code == 2
    assert "redis.bad_url" in ran.err
    assert "secret" not in ran.err


async def test_a_server_offers_tasks_on_redis(desk: Desk, redis_url: str):
    asked = {"dialect": "graph", "definition": shouting().definition, "input": {"text": "tea"}}
    with desk.spawn("serve", "--open", "--port", "0", "--redis", redis_url, "--json") as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            async with httpx.AsyncClient() as http, working(redis_url, "wf.tasks.voice") as worker:
                answer = await http.post(f"{url}/api/v1/runs", json=asked)
                assert answer.status_code == 201, answer.text
                assert (await worker.one()).token["payload"] == {"text": "tea"}
        finally:
            process.terminate()
