"""Sync steps against a service that fails, hangs, hangs up, refuses, dies and comes back."""

from __future__ import annotations

import asyncio

import pytest

from plait import goals
from plait.catalog import catalog_step
from plait.errors import RunFailed
from plait.testing import history

from .ledger import tokens
from .looking import recorded
from .servers import engine_at
from .service import REFUSED
from .services import StepService


def price(endpoint: str, timeout: float = 5):
    made = catalog_step("price").required("order", int).output("price", int).sync(endpoint, timeout=timeout)
    return made.retries(4, first=0.01)


async def test_an_answer_is_the_outputs_and_one_call_is_made(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(price(service.work(gives="price")))
        run = await engine.start(goals("price"), {"order": 7}, id="order-7")
        assert await run.result() == {"price": 8}
        [call] = service.ledger.calls()
        assert (call.flow, call.step, call.body) == ("order-7", "price", {"order": 7})
        [started] = (await history(run)).of("step_started")
        assert [call.token] == list(started["work_items"]) == [call.key]


@pytest.mark.parametrize("fault", ["500", "503", "drop", "hang"])
async def test_what_may_pass_is_tried_again_under_the_same_key(service: StepService, fault: str):
    async with engine_at(service.database) as engine:
        endpoint = service.work(f"{fault} {fault} answer", gives="price")
        await engine.catalog.register(price(endpoint, timeout=1 if fault == "hang" else 10))
        run = await engine.start(goals("price"), {"order": 7})
        assert await run.result() == {"price": 8}
        assert list(tokens(service.ledger.calls()).values()) == [3]
        assert len({call.key for call in service.ledger.calls()}) == 1
        log = await history(run)
        assert [each["attempt"] for each in log.of("task.retry_scheduled")] == [1, 2]
        assert [each["attempts"] for each in log.of("work_succeeded")] == [3]


async def test_what_never_passes_is_given_up_after_its_attempts_and_is_a_dead_letter(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(price(service.work("500")).retries(2, first=0.01))
        run = await engine.start(goals("price"), {"order": 7})
        with pytest.raises(RunFailed, match="price failed after 3 attempts: step returned HTTP error: status 500"):
            await run.result()
        assert len(service.ledger.calls()) == 3
        [letter] = await engine.dlq.list()
        assert letter.token == service.ledger.calls()[0].token


async def test_a_refusal_is_not_tried_again_and_its_detail_is_shown(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(price(service.work("422 answer", gives="price")))
        run = await engine.start(goals("price"), {"order": 7})
        with pytest.raises(RunFailed, match=f"step returned HTTP error: status 422: {REFUSED}"):
            await run.result()
        assert len(service.ledger.calls()) == 1


async def test_a_failed_run_that_is_retried_calls_again_under_the_same_key(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(price(service.work("422 answer", gives="price")))
        run = await engine.start(goals("price"), {"order": 7})
        with pytest.raises(RunFailed):
            await run.result()
        await run.retry()
        assert await run.result() == {"price": 8}
        assert list(tokens(service.ledger.calls()).values()) == [2]


async def test_a_service_that_is_away_is_called_until_it_is_back(service: StepService):
    async with engine_at(service.database) as engine:
        slow = price(service.work("gate:never answer", gives="price")).retries(-1, first=0.02, cap=0.05)
        await engine.catalog.register(slow)
        runs = [await engine.start(goals("price"), {"order": number}) for number in range(20)]
        await service.has(20, lambda ledger: ledger.calls())
        service.kill()
        for run in runs:
            await recorded(run, "task.retry_scheduled")
        service.start()
        assert await asyncio.gather(*(run.result() for run in runs)) == [{"price": number + 1} for number in range(20)]
        calls = tokens(service.ledger.calls())
        assert len(calls) == 20
        assert set(calls.values()) == {2}


async def test_a_service_that_was_restarted_between_two_calls_costs_no_attempt(service: StepService):
    """Connections that were kept open went with it."""
    async with engine_at(service.database) as engine:
        await engine.catalog.register(price(service.work(gives="price")).no_retries())
        for order in range(5):
            run = await engine.start(goals("price"), {"order": order})
            assert await run.result() == {"price": order + 1}
            service.kill()
            service.start()
