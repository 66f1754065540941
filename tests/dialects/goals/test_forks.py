"""Forks of goals runs, at each event of their source."""

from typing import TypedDict

from plait import Engine, goals
from plait.catalog import catalog_step, python_step


class Price(TypedDict):
    price: int


@python_step
async def fixed() -> Price:
    return {"price": 3}


broken = catalog_step("broken").output("price", float).no_retries().ale("(nth [] 5)")
doubled = catalog_step("doubled").required("prices", list, for_each=True).output("double").ale("{:double (* prices 2)}")
unwanted = catalog_step("unwanted").output("note").when("ale", "false").ale('{:note "none"}')
receipt = (
    catalog_step("receipt")
    .required("price")
    .required("double")
    .optional("note", default="plain", deadline=-1)
    .output("receipt")
    .ale("{:receipt (str price note)}")
)


async def test_a_fork_at_any_event_ends_as_its_source_did():
    async with Engine("memory:", definitions=[fixed, broken, doubled, unwanted, receipt]) as engine:
        run = await engine.start(goals("receipt"), {"prices": [1, 2, 3]})
        output = await run.result()
        events = await run.events()
        assert {"attribute_set", "step_failed", "step_skipped"} <= {event.type for event in events}
        for event in events[:-1]:
            fork = await run.fork(event.seq, id=f"fork-{event.seq}")
            assert await fork.result() == output, event
