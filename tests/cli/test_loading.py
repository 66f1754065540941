"""What commands load of a module."""

from pathlib import Path
from types import ModuleType

import pytest

from plait import step, workflow
from plait.agents import tool
from plait.cli.loading import definitions_of, load_module
from plait.kernel.errors import InvalidInput


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


@pytest.mark.parametrize(
    ("name", "why", "fix"),
    [
        ("my-app.py", "`my-app` can't be one", "rename it: letters, digits and _, with no digit at the start"),
        ("2026/app.py", "`2026` can't be one", "rename it: letters, digits and _, with no digit at the start"),
        ("../app.py", "must be below this folder", "change to its folder: cd {above}"),
    ],
)
def test_what_can_not_be_a_module_is_refused_with_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str, fix: str
) -> None:
    here = tmp_path / "here"
    (here / "2026").mkdir(parents=True)
    (here / name).write_text("")
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(here)
    with pytest.raises(InvalidInput, match="can't be imported") as refused:
        load_module(name)
    assert why in str(refused.value.why)
    assert refused.value.fix == fix.format(above=tmp_path)
