"""Redis on the command line, and the example of a worker, run as its first lines say."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from plait import Engine
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


async def test_the_example_serves_a_step_and_a_node(desk: Desk, keys: str, redis_url: str):
    async with Engine(desk.db, definitions=[doubled], redis=redis_url) as engine:
        with example(redis_url, "wf.tasks.math", keys), example(redis_url, "wf.tasks.voice", keys):
            step, node = await engine.start(doubled, 21), await engine.start(shouting(), {"text": "tea"})
            assert await step.result() == 42
            assert await node.result() == {"A": {"text": "TEA"}}


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
        assert rejected["reason"] == "a worker refused the envelope: ValueError('forged or expired')"


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
