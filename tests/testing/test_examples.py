"""The example order gives the same receipt, or undoes the same work, wherever its process dies."""

import pytest

from examples.order.code import Item, Order, order, risk
from plait.kernel.view import RunStatus
from plait.testing import Sim, SimRun, survives_every_crash

TEA = Order("Ada", [Item("tea", 450), Item("pot", 2_900)], flaky_bank=1)
DEAR = Order("Ada", [Item("yacht", 90_000_000)])


async def say_yes(sim: Sim, run: SimRun) -> None:
    await run.message("yes")


async def say_no(sim: Sim, run: SimRun) -> None:
    await sim.clock.advance(3600)
    await run.message("no")


async def say_nothing(sim: Sim, run: SimRun) -> None: ...


@pytest.mark.parametrize(
    ("what", "script", "status"),
    [(TEA, say_yes, "completed"), (TEA, say_no, "failed"), (TEA, say_nothing, "failed"), (DEAR, say_yes, "failed")],
    ids=["approved", "rejected", "expired", "too risky"],
)
async def test_an_order_survives_every_crash(what: Order, script, status: RunStatus):
    report = await survives_every_crash(order, what, script, definitions=[risk])
    assert report.status == status
    assert report.crashes > 30
