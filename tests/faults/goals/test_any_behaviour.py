"""Each item of many fan-outs meets a service that behaves in another way, call by call; all of them end right."""

from __future__ import annotations

import asyncio
import random

from plait import Handle, goals
from plait.catalog import StepBuilder, catalog_step
from plait.testing import history

from .ledger import by_token
from .servers import opened
from .services import StepService

FLOWS = 40
ITEMS = 5
FAILING = ["500", "503", "drop"]
ANSWERING = ["accept,callback", "callback,accept", "callback,500", "callback,drop", "500,callback", "drop,callback"]
REPEATING = ["accept,callback,callback", "callback,accept,callback", "accept,callback,recount", "callback,complain,500"]
SILENT = ["accept"]


def patient(step: StepBuilder) -> StepBuilder:
    return step.retries(-1, first=0.02, cap=0.1).parallel(3)


def acts(dice: random.Random, ways: list[str], last: str) -> list[str]:
    """For each item what its calls come to; the last way is one that brings an answer."""
    return [" ".join([*dice.choices(ways, k=dice.randint(0, 3)), last]) for _ in range(ITEMS)]


async def test_whatever_a_call_comes_to_every_item_ends_right_and_once(service: StepService):
    seed = random.randrange(2**32)
    dice = random.Random(seed)
    later = catalog_step("later").required("ways", list, for_each=True).output("x")
    now = catalog_step("now").required("manners", list, for_each=True).output("y")
    both = catalog_step("both").required("x").required("y").output("z").ale("{:z (+ (length x) (length y))}")
    async with opened(service.database, service) as shop, shop.server() as server:
        async with shop.client.catalog.transaction() as changes:
            endpoint = service.work("{ways}", gives="x")
            changes.register(patient(later.webhook(endpoint, timeout=5, callback_timeout=0.5)))
            changes.register(patient(now.sync(service.work("{manners}", gives="y"), timeout=5)))
            changes.register(both)
        runs: list[Handle[dict[str, int]]] = []
        for _ in range(FLOWS):
            ways = acts(dice, [*FAILING, *ANSWERING, *REPEATING, *SILENT], "accept,callback")
            given = {"ways": ways, "manners": acts(dice, FAILING, "answer")}
            runs.append(await shop.client.start(goals("both"), given))
        await service.has(FLOWS, lambda ledger: ledger.calls())
        await server.kill()
        await server.start()
        outputs = await asyncio.gather(*(run.result() for run in runs))
        assert outputs == [{"z": 2 * ITEMS}] * FLOWS, f"seed {seed}"
        for run in runs:
            done = [each["token"] for each in (await history(run)).of("work_succeeded")]
            assert len(done) == len(set(done)) == 2 * ITEMS + 1
    assert all({each.key for each in calls} == {token} for token, calls in by_token(service.ledger.calls()).items())
    assert {each.status for each in service.ledger.entries("reported")} == {200}
