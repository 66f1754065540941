"""The engine is killed at a chosen moment of a step's work, and started again."""

from __future__ import annotations

from typing import Any

import pytest

from plait import goals
from plait.catalog import catalog_step
from plait.errors import RunFailed

from .ledger import tokens
from .looking import recorded
from .servers import opened
from .services import StepService

SLOWLY = 1.5
HELD = "gate:held"


def price(endpoint: str):
    return (
        catalog_step("price")
        .required("order", int)
        .output("price", int)
        .sync(endpoint, timeout=20)
        .retries(3, first=0.01)
    )


def stock(endpoint: str, timeout: float = 20, **options: Any):
    made = catalog_step("stock").required("price", int).output("stock", int)
    return made.webhook(endpoint, timeout=timeout, **options).retries(3, first=0.01)


async def test_a_call_under_way_is_made_again_under_the_same_key(service: StepService):
    async with opened(service.database, service) as shop:
        await shop.client.catalog.register(price(service.work("hang answer", gives="price")))
        run = await shop.client.start(goals("price"), {"order": 1})
        async with shop.server() as server:
            await service.has(1, lambda ledger: ledger.calls("price"))
            await server.kill()
            await server.start()
            assert await run.result() == {"price": 2}
    first, second = service.ledger.calls("price")
    assert first.key == second.key == first.token == second.token
    assert first.body == second.body


async def test_a_recorded_result_is_never_called_for_again(service: StepService):
    async with opened(service.database, service) as shop:
        await shop.client.catalog.register(price(service.work(gives="price")))
        await shop.client.catalog.register(stock(service.work(f"{HELD} accept,callback", gives="stock")))
        run = await shop.client.start(goals("stock"), {"order": 1})
        async with shop.server() as server:
            await service.has(1, lambda ledger: ledger.calls("stock"))
            await server.kill()
            await server.start()
            assert await run.result() == {"stock": 3}
    assert len(service.ledger.calls("price")) == 1
    assert len(service.ledger.calls("stock")) == 2


@pytest.mark.parametrize("politely", [False, True])
async def test_work_that_a_service_took_on_is_called_for_again_by_the_next_process(
    service: StepService, politely: bool
):
    async with opened(service.database, service) as shop:
        await shop.client.catalog.register(stock(service.work("accept accept,callback", gives="stock")))
        run = await shop.client.start(goals("stock"), {"price": 2})
        async with shop.server() as server:
            await recorded(run, "work_accepted")
            await (server.stop() if politely else server.kill())
            await server.start()
            assert await run.result() == {"stock": 3}
    first, second = service.ledger.calls("stock")
    assert first.key == second.key
    assert first.pid == second.pid


async def test_work_that_both_the_engine_and_the_service_lost_is_done_in_the_end(service: StepService):
    async with opened(service.database, service) as shop:
        await shop.client.catalog.register(
            stock(service.work(f"accept,{HELD},callback accept,callback", gives="stock"))
        )
        run = await shop.client.start(goals("stock"), {"price": 2})
        async with shop.server() as server:
            await recorded(run, "work_accepted")
            service.kill()
            await server.kill()
            service.start()
            await server.start()
            assert await run.result() == {"stock": 3}
    first, second = service.ledger.calls("stock")
    assert first.key == second.key
    assert first.pid != second.pid


async def test_a_service_may_forbid_to_be_called_again_and_its_answer_is_waited_for(service: StepService):
    async with opened(service.database, service) as shop:
        held = service.work(f"accept,{HELD},callback", gives="stock")
        await shop.client.catalog.register(stock(held, recall=False))
        run = await shop.client.start(goals("stock"), {"price": 2})
        async with shop.server() as server:
            await recorded(run, "work_accepted")
            await server.kill()
            await server.start()
            service.open("held")
            assert await run.result() == {"stock": 3}
    assert len(service.ledger.calls("stock")) == 1


async def test_an_answer_that_comes_while_nobody_listens_is_brought_again(service: StepService):
    async with opened(service.database, service) as shop:
        held = service.work(f"accept,{HELD},callback", gives="stock")
        await shop.client.catalog.register(stock(held, recall=False))
        run = await shop.client.start(goals("stock"), {"price": 2})
        async with shop.server() as server:
            await recorded(run, "work_accepted")
            await server.kill()
            service.open("held")
            await server.start()
            assert await run.result() == {"stock": 3}
    assert len(service.ledger.calls("stock")) == 1


async def test_the_limit_of_a_callback_outlives_the_process_that_set_it(service: StepService):
    async with opened(service.database, service) as shop:
        silent = stock(service.work("accept"), callback_timeout=SLOWLY, recall=False).no_retries()
        await shop.client.catalog.register(silent)
        run = await shop.client.start(goals("stock"), {"price": 2})
        async with shop.server() as server:
            await recorded(run, "work_accepted")
            await server.kill()
            await server.start()
            with pytest.raises(RunFailed, match="no callback within 1500 ms"):
                await run.result()
    assert len(service.ledger.calls("stock")) == 1


async def test_a_retry_keeps_its_time_over_a_restart(service: StepService):
    async with opened(service.database, service) as shop:
        slow = price(service.work("500 answer", gives="price")).retries(3, first=SLOWLY)
        await shop.client.catalog.register(slow)
        run = await shop.client.start(goals("price"), {"order": 1})
        async with shop.server() as server:
            [scheduled] = await recorded(run, "task.retry_scheduled")
            await server.kill()
            await server.start()
            assert await run.result() == {"price": 2}
    first, second = service.ledger.calls("price")
    assert first.key == second.key
    assert second.at >= scheduled["due"] >= first.at + SLOWLY * 1000


async def test_a_call_that_was_made_again_and_hangs_is_ended_and_made_once_more(service: StepService):
    """By its own limit or by that of the callback, whichever is first."""
    async with opened(service.database, service) as shop:
        endpoint = service.work("accept hang accept,callback", gives="stock")
        await shop.client.catalog.register(stock(endpoint, timeout=1.0, callback_timeout=SLOWLY))
        run = await shop.client.start(goals("stock"), {"price": 2})
        async with shop.server() as server:
            await recorded(run, "work_accepted")
            await server.kill()
            await server.start()
            assert await run.result() == {"stock": 3}
    assert list(tokens(service.ledger.calls("stock")).values()) == [3]
