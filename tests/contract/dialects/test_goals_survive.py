"""Runs towards goals with the tool that users have for crashes."""

from typing import TypedDict

from plait import goals
from plait.dialects.goals.steps.builder import catalog_step, python_step
from plait.testing import Sim, SimRun, sim, survives_every_crash


class Order(TypedDict):
    lines: list[int]


class Paid(TypedDict):
    paid: int


class Slept(TypedDict):
    slept: int


@python_step
async def fetch_order(order_id: int) -> Order:
    return {"lines": [1, 2, 3]}


@python_step
async def charge(lines: list[int]) -> Paid:
    return {"paid": sum(lines)}


@python_step(configure=lambda step: step.retries(2, first=1))
async def ship(paid: int) -> Slept:
    raise ValueError("no stock")


price = catalog_step("price").required("lines", for_each=True).output("prices").ale("{:prices (* 2 lines)}").parallel(2)
mail = (
    catalog_step("mail")
    .required("prices")
    .optional("paid", deadline=5)
    .output("mailed")
    .ale("{:mailed (length prices)}")
)
STEPS = [fetch_order, charge, price, mail, ship]


async def test_an_order_survives_every_crash():
    report = await survives_every_crash(goals("mail", "charge"), {"order_id": 1}, definitions=STEPS)
    assert report.output == {"mailed": 3, "paid": 6}
    assert report.definition == "mail, charge"
    assert report.crashes >= 3 * report.commits


async def test_a_failure_survives_every_crash():
    report = await survives_every_crash(goals("ship"), {"order_id": 1}, definitions=STEPS)
    assert report.status == "failed"


async def test_a_cancel_survives_every_crash():
    async def script(s: Sim, run: SimRun) -> None:
        await s.clock.advance(0.5)
        await run.cancel("enough")

    report = await survives_every_crash(goals("ship"), {"order_id": 1}, script, definitions=STEPS)
    assert report.status == "cancelled"


async def test_steps_may_take_virtual_time():
    @python_step
    async def nap(seconds: int) -> Slept:
        await s.clock.sleep(seconds)
        return {"slept": seconds}

    async with sim([nap]) as s:
        assert await s.run(goals("nap"), {"seconds": 86_400}) == {"slept": 86_400}
