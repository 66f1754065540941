"""What commands load of a module."""

from types import ModuleType

from plait import step, workflow
from plait.agents import tool
from plait.cli.loading import definitions_of


@step
async def price(item: str) -> int:
    return len(item)


@workflow
async def order(ctx, item):
    return await ctx.step("price", price, item)


def test_steps_are_loaded_with_workflows_so_that_other_dialects_may_call_them():
    module = ModuleType("shop")
    module.__dict__.update(price=price, order=order, other=7)
    assert set(map(id, definitions_of(module))) == {id(price), id(order)}


def test_tools_are_loaded_with_the_workflows_whose_agents_call_them():
    @tool
    def lookup(name: str) -> str:
        """Looks up."""
        return name

    module = ModuleType("shop")
    module.__dict__.update(lookup=lookup, tool=tool)
    assert definitions_of(module) == [lookup]
