"""A flow is undone while engines die: each compensator is called at least once, under its item's key, recorded once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import Engine, Handle, goals
from plait.catalog import catalog_step
from plait.errors import RunFailed
from plait.testing import history

from .ledger import by_token, tokens
from .servers import opened
from .service import REFUSED
from .services import StepService
from .shop import charge

PARTS = [1, 2, 3]
ORDERS = 40
KILLS = 2


async def register(client: Engine, service: StepService, undo: str, last: str = "422") -> None:
    """`ship` fails for good, when the parts are reserved and the order is charged for."""
    reserve = catalog_step("reserve").required("parts", list, for_each=True).output("reserved")
    ship = catalog_step("ship").required("reserved").required("receipt", int).output("shipped", int)
    async with client.catalog.transaction() as changes:
        changes.register(
            reserve.sync(service.work(gives="reserved"), compensate=service.undo(undo), timeout=20)
            .retries(10, first=0.05, cap=0.1)
            .parallel(3)
        )
        changes.register(charge)
        changes.register(ship.sync(service.work(last), timeout=20))


async def start(client: Engine, order: int = 1) -> Handle[Any]:
    return await client.start(goals("ship"), {"parts": PARTS, "order": order}, id=f"order-{order}")


async def assert_undone(run: Handle[Any]) -> None:
    """Failed, and each of its succeeded items with a compensator was undone and recorded once, the last one first."""
    with pytest.raises(RunFailed, match=f"status 422: {REFUSED}"):
        await run.result()
    log = await history(run)
    assert [each.seq for each in log] == list(range(1, len(log) + 1))
    done = [each["token"] for each in log.of("work_succeeded")]
    assert len(done) == len(PARTS) + 1
    steps = log.of("rollback.step")
    assert [each["at"] for each in steps] == [f"undo:{token}" for token in reversed(done)], str(log)
    assert {each["status"] for each in steps} == {"completed"}
    assert [log.types().count(type) for type in ("rollback.started", "rollback.ended", "run.failed")] == [1, 1, 1]


def assert_called_under_one_key(service: StepService, orders: int) -> None:
    undone = by_token(service.ledger.undone())
    items = {each.token for each in service.ledger.calls() if each.step in ("reserve", "charge")}
    assert set(undone) == items
    assert len(items) == orders * (len(PARTS) + 1)
    for token, calls in undone.items():
        assert {each.key for each in calls} == {token}
        assert len({repr(each.body) for each in calls}) == 1


async def test_killed_while_a_compensator_is_called_it_is_called_again_and_the_others_once(service: StepService):
    async with opened(service.database, service) as shop:
        await register(shop.client, service, undo="gate:held,answer answer")
        run = await start(shop.client)
        async with shop.server() as server:
            [held] = await service.has(1, lambda ledger: ledger.undone("reserve"))
            await server.kill()
            service.open("held")
            await server.start()
            await assert_undone(run)
    assert_called_under_one_key(service, 1)
    assert tokens(service.ledger.undone())[held.token] == 2
    [done] = [each for each in service.ledger.calls("reserve") if each.token == held.token]
    assert held.body == {"input": done.body, "output": {"reserved": done.body["parts"] + 1}}
    assert sorted(tokens(service.ledger.undone()).values()) == [1, 1, 1, 2]
    assert set(tokens(service.ledger.calls()).values()) == {1}


@pytest.mark.chance(again=True)
async def test_killed_again_and_again_while_many_flows_are_undone(service: StepService):
    async with opened(service.database, service) as shop:
        await register(shop.client, service, undo="500 answer")
        runs = [await start(shop.client, order) for order in range(ORDERS)]
        async with shop.server() as server:
            for kill in range(KILLS):
                await service.has((kill + 1) * ORDERS, lambda ledger: ledger.undone())
                await server.kill()
                await server.start()
            await asyncio.gather(*(assert_undone(run) for run in runs))
    assert_called_under_one_key(service, ORDERS)
    assert max(tokens(service.ledger.undone("reserve")).values()) > 2  # a kill cost someone a call


async def test_a_service_that_is_away_while_a_flow_is_undone_is_called_until_it_is_back(service: StepService):
    async with opened(service.database, service) as shop:
        await register(shop.client, service, undo="hang answer")
        run = await start(shop.client)
        async with shop.server():
            for number, _ in enumerate(PARTS, start=1):  # the first call of each is lost with the service
                await service.has(number, lambda ledger: tokens(ledger.undone("reserve")))
                service.kill()
                service.start()
            await assert_undone(run)
    assert_called_under_one_key(service, 1)


async def test_what_a_failed_step_did_is_undone_while_its_flow_goes_on(service: StepService):
    """`pack` fails at its third item; `spare` provides what the goal needs."""
    pack = catalog_step("pack").required("acts", list, for_each=True).output("packed")
    async with opened(service.database, service) as shop:
        async with shop.client.catalog.transaction() as changes:
            undo = service.undo("gate:held,answer answer")
            changes.register(pack.sync(service.work("{acts}", gives="packed"), compensate=undo).retries(3, first=0.01))
            spare = catalog_step("spare").required("order", int).output("packed")
            changes.register(spare.sync(service.work("gate:spare,answer", gives="packed")))
            changes.register(catalog_step("send").required("packed").output("sent").sync(service.work(gives="sent")))
        run = await shop.client.start(goals("send"), {"acts": ["answer", "answer", "422"], "order": 5})
        async with shop.server() as server:
            await service.has(1, lambda ledger: ledger.undone("pack"))
            await server.kill()
            service.open("held")
            await server.start()
            await service.has(2, lambda ledger: tokens(ledger.undone("pack")))
            service.open("spare")
            assert await run.result() == {"sent": 7}
            log = await history(run)
    done = [each["token"] for each in log.of("work_succeeded") if each["step_id"] == "pack"]
    assert len(done) == 2
    assert [each["token"] for each in log.of("comp_started")] == done[::-1]
    assert [each["token"] for each in log.of("comp_succeeded")] == done[::-1]
    assert [tokens(service.ledger.undone())[token] for token in done] == [1, 2]
