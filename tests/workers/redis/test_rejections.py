"""Envelopes and results that are forged, damaged or another's: nothing is done with them, and the log says so."""

import json
from typing import Any

import pytest

from plait import Engine
from plait.engine.handle import Handle
from plait.errors import RunFailed
from plait.kernel import json_text
from plait.workers.redis.signing_keys import SigningKeys

from .queued import crowd, doubled, shouting
from .stream_worker import Delivered, working

MATH, VOICE = "wf.tasks.math", "wf.tasks.voice"


async def rejections(run: Handle[Any]) -> list[dict[str, Any]]:
    return [event.data for event in await run.events() if event.type == "token.rejected"]


async def signed(engine: Engine, result: dict[str, Any], key: int = 0) -> dict[str, Any]:
    ring = await SigningKeys(engine.records, engine.kernel.clock).ring("default")
    return result | {"signature": ring.keys[key].sign(result), "signed_by": ring.keys[key].id}


async def test_the_envelope_is_signed_with_the_key_of_its_namespace(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        await engine.start(doubled, 21)
        envelope = (await worker.one()).envelope
        keys = SigningKeys(engine.records, engine.kernel.clock)
        ring, other = await keys.ring("default"), await keys.ring("acme")
        assert ring.verifies(envelope["token"], envelope["signature"], envelope["signed_by"])
        assert not other.verifies(envelope["token"], envelope["signature"], envelope["signed_by"])
        changed = envelope["token"] | {"payload": [22]}
        assert not ring.verifies(changed, envelope["signature"], envelope["signed_by"])


async def test_a_forged_result_is_rejected_and_the_true_one_counts(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(doubled, 21)
        task = await worker.one()
        await worker.signal(task.result(666) | {"signature": "00" * 32, "signed_by": task.envelope["signed_by"]})
        await worker.signal(await signed(engine, task.result(42)))
        assert await run.result() == 42
        [rejected] = await rejections(run)
        assert rejected["token"] == task.token["token_id"]
        assert rejected["reason"] == "the signature of the result is missing or wrong"


@pytest.mark.parametrize("definition", [doubled, shouting()], ids=["code", "graph"])
async def test_the_third_forged_result_makes_a_dead_letter(redis_url: str, definition: Any):
    stream = MATH if definition is doubled else VOICE
    async with (
        Engine("memory:", definitions=[doubled], redis=redis_url) as engine,
        working(redis_url, stream) as worker,
    ):
        run = await engine.start(definition, 21)
        task = await worker.one()
        for _ in range(3):
            await worker.signal(task.result(666) | {"signature": "00" * 32, "signed_by": "nobody"})
        with pytest.raises(RunFailed, match="was rejected 3 times"):
            await run.result()
        assert [each["times"] for each in await rejections(run)] == [1, 2, 3]
        [letter] = await engine.dlq.list()
        assert letter.error.code == "token.rejected"


async def test_unsigned_results_are_rejected_where_signatures_are_required(redis_url: str):
    url = f"{redis_url}?require_signed_results=true"
    async with Engine("memory:", definitions=[doubled], redis=url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(doubled, 21)
        task = await worker.one()
        await worker.signal(task.result(666))
        await worker.signal(await signed(engine, task.result(42)))
        assert await run.result() == 42
        assert len(await rejections(run)) == 1


async def test_the_key_before_the_newest_is_valid_until_the_next_rotation(redis_url: str):
    url = f"{redis_url}?require_signed_results=true"
    async with Engine("memory:", definitions=[crowd], redis=url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(crowd, 2)
        first, second = await worker.one(), await worker.one()
        keys = SigningKeys(engine.records, engine.kernel.clock)
        old = (await keys.rotate("default")).keys[1]
        await worker.signal(await signed(engine, first.result(1), key=1))
        await worker.heard()
        await keys.rotate("default")
        result = second.result(666)
        await worker.signal(result | {"signature": old.sign(result), "signed_by": old.id})
        await worker.signal(await signed(engine, second.result(2)))
        assert await run.result() == 3
        assert len(await rejections(run)) == 1


async def test_a_refused_envelope_is_offered_again_and_the_third_time_a_dead_letter(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(doubled, 21)
        for _ in range(3):
            await (await worker.one()).complete(status="failed", error={"type": "token.rejected", "message": "forged"})
        with pytest.raises(RunFailed, match="a worker refused the envelope: forged"):
            await run.result()


async def test_a_result_without_token_counts_if_one_token_of_its_node_is_leased(redis_url: str):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(), {"text": "tea"}, id="r1")
        await worker.one()
        await worker.signal({"run_id": "r1", "node_id": "B", "status": "completed", "result_data": 666})
        await worker.signal({"run_id": "r1", "node_id": "A", "status": "completed", "result_data": "TEA"})
        assert await run.result() == {"A": "TEA"}
        [rejected] = await rejections(run)
        assert rejected["reason"] == "a result without token_id, and 0 tokens of `B` are leased"


async def test_strays_are_noted_three_times_and_no_more(redis_url: str):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(), {}, id="r1")
        task = await worker.one()
        for _ in range(9):
            await worker.signal({"run_id": "r1", "node_id": "B", "status": "completed"})
        await task.complete("TEA")
        assert await run.result() == {"A": "TEA"}
        assert len(await rejections(run)) == 3


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\x00",
        b"{",
        b"[]",
        b'{"run_id": "r1"}',
        b'{"run_id": "r1", "status": "done"}',
        b'{"run_id": "a/b", "status": "completed"}',
        b'{"run_id": "nobody", "node_id": "A", "status": "completed"}',
        json.dumps({"run_id": "r1", "status": "completed", "token_id": "t", "job_id": "nonsense"}).encode(),
        b'{"run_id": "r1", "status": "completed", "token_id": 7}',
        b'{"run_id": "r1", "status": "failed", "error": "text"}',
        b"[" * 10_000,
    ],
)
async def test_what_is_no_result_is_thrown_away(redis_url: str, raw: bytes):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(), {}, id="r1")
        task = await worker.one()
        await worker.signal(raw)
        await task.complete("TEA")
        assert await run.result() == {"A": "TEA"}


TOO_MANY = [0] * (json_text.MAX_VALUES + 1)


async def test_a_result_that_is_too_large_is_rejected_and_keeps_no_other_from_being_recorded(redis_url: str):
    async with Engine("memory:", definitions=[crowd], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(crowd, 2)
        first, second = await worker.one(), await worker.one()
        await worker.signal(first.result(TOO_MANY))
        await worker.signal(second.result(2))
        await worker.signal(first.result(1))
        assert await run.result() == 3
        [rejected] = await rejections(run)
        assert rejected["token"] == first.token["token_id"]
        assert "more than 100,000 values" in rejected["reason"]


async def test_an_engine_that_finds_a_result_too_large_for_anyone_when_it_starts_takes_the_others(redis_url: str):
    async with working(redis_url, VOICE) as worker:
        left = {"run_id": "r0", "node_id": "A", "status": "completed", "result_data": TOO_MANY}
        await worker.db.rpush("completion_signals:in_flight", json.dumps(left))
        async with Engine("memory:", redis=redis_url) as engine:
            run = await engine.start(shouting(), {})
            await (await worker.one()).complete("TEA")
            assert await run.result() == {"A": "TEA"}
            await worker.heard()


@pytest.mark.parametrize("attempt", [2, 10**30])
async def test_a_result_of_an_attempt_that_has_not_begun_is_rejected(redis_url: str, attempt: int):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(), {}, id="r1")
        task: Delivered = await worker.one()
        await worker.signal(task.result("no") | {"attempt": attempt})
        await task.complete("TEA")
        assert await run.result() == {"A": "TEA"}


async def test_a_reference_to_a_value_that_is_not_there_is_rejected(redis_url: str):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(), {})
        task = await worker.one()
        await task.complete(result_ref="cas://sha256:" + "0" * 64)
        await task.complete(result_ref="file:///etc/passwd")
        await task.complete("TEA")
        assert await run.result() == {"A": "TEA"}
        assert [each["times"] for each in await rejections(run)] == [1, 2]
