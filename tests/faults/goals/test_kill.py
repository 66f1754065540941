"""Servers are killed with flows under way: every flow ends right, under one key each, and what is done stays done."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Callable

import msgspec
import pytest

from plait.testing import history

from .checks import assert_all_is_right, interrupted
from .clients import client_of
from .ledger import Entry, Ledger
from .servers import Shop, ShopServer, opened
from .services import StepService
from .shop import GOAL, ITEMS, called

ORDERS = 150
KILLS = 3


@pytest.mark.chance(again=True)
async def test_server_and_service_are_killed_in_turn_at_random_moments_under_load(service: StepService):
    moments = random.Random()
    async with opened(service.database, service) as shop, shop.server() as server, client_of(server) as client:
        await client.register(*(msgspec.to_builtins(step.build()) for step in called(service)))
        starting = [asyncio.ensure_future(client.start(f"order-{n}", GOAL, order=n)) for n in range(ORDERS)]
        for _ in range(KILLS):
            await _work_goes_on(service, moments)
            await _freeze_at_work(server, shop, service.ledger)
            await server.kill()
            await server.start()
            await _work_goes_on(service, moments)
            service.kill()
            service.start()
        await asyncio.gather(*starting)
        runs = [await shop.client.get(f"order-{number}") for number in range(ORDERS)]
        await assert_all_is_right(runs, service.ledger)
    assert interrupted(service.ledger) >= KILLS
    assert {each.status for each in service.ledger.entries("reported")} == {200}


async def _work_goes_on(service: StepService, moments: random.Random) -> None:
    """Until as much more has happened as the moment wants; there is work for all of them."""
    goal = service.ledger.count() + moments.randint(1, ORDERS * ITEMS // (2 * KILLS))
    await service.has(goal, lambda ledger: range(ledger.count()))


async def test_of_two_servers_on_postgres_one_is_killed_and_the_other_takes_over(
    postgres_url: str, service: StepService
):
    async with opened(postgres_url, service) as shop, shop.server() as first, shop.server() as second:
        while len(await shop.client.kernel.store.owners()) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # the first gives some of its shards up
        async with client_of(second) as client:
            await client.register(*(msgspec.to_builtins(step.build()) for step in called(service)))
            await asyncio.gather(*(client.start(f"order-{n}", GOAL, order=n) for n in range(ORDERS)))
        await service.has(1, lambda ledger: [each for each in ledger.calls("parts") if each.pid == first.pid])
        await service.has(2 * ORDERS, lambda ledger: range(ledger.count()))
        its = _flows_of(first, service.ledger)
        await _freeze_at_work(first, shop, service.ledger, lambda call: call.flow in its)
        await first.kill()
        runs = [await shop.client.get(f"order-{number}") for number in range(ORDERS)]
        await assert_all_is_right(runs, service.ledger)
        assert {each.pid for each in service.ledger.calls("parts")} == {first.pid, second.pid}
    assert interrupted(service.ledger) >= 1


async def _freeze_at_work(
    server: ShopServer, shop: Shop, ledger: Ledger, is_its: Callable[[Entry], bool] = lambda call: True
) -> None:
    """Stops it while something that it called for has no result yet, so that its kill interrupts something."""
    os.kill(server.pid, signal.SIGSTOP)
    while not await _is_at_work(shop, [call for call in reversed(ledger.calls()) if is_its(call)]):
        os.kill(server.pid, signal.SIGCONT)
        await asyncio.sleep(0.001)
        os.kill(server.pid, signal.SIGSTOP)


async def _is_at_work(shop: Shop, calls: list[Entry]) -> bool:
    for call in calls[:50]:  # the newest are under way, if any
        if call.step not in ("price", "stock"):  # these may wait, with nobody at work
            log = await history(await shop.client.get(call.flow))
            if call.token not in {data["token"] for data in log.of("work_succeeded")}:
                return True
    return False


def _flows_of(server: ShopServer, ledger: Ledger) -> set[str]:
    return {each.flow for each in ledger.calls("parts") if each.pid == server.pid}
