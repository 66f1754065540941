"""Steps of a catalog that are pipelines: which input they work on, what their joins name, what becomes the output."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Engine, goals
from plait.catalog import catalog_step
from plait.kernel.errors import PlaitError, RunFailed

ORDERS = [{"sku": "tea", "amount": 12}, {"sku": "mug", "amount": 9}, {"sku": "tea", "amount": 4}]
PRICES = [{"sku": "tea", "price": 3}]
SUMS: list[dict[str, Any]] = [{"step": "groupby", "by": "sku", "agg": "sum", "field": "amount"}]


async def reached(step: Any, **init: Any) -> Any:
    async with Engine("memory:") as engine:
        await engine.catalog.register(step)
        return await (await engine.start(goals(step.build().id), init)).result()


async def test_the_only_input_goes_in_and_the_only_output_is_the_whole_result():
    step = catalog_step("sums").required("orders").output("sums").pipeline(SUMS)
    found = await reached(step, orders=ORDERS)
    assert found["sums"] == [{"sku": "tea", "sum_amount": 16}, {"sku": "mug", "sum_amount": 9}]


async def test_of_several_inputs_one_is_worked_on_and_joins_name_the_others():
    steps = [{"step": "join", "right": "prices", "on": "sku"}]
    step = catalog_step("priced").required("orders").required("list", inner="prices").output("priced")
    found = await reached(step.pipeline(steps, data="orders"), orders=ORDERS, list=PRICES)
    assert [row["price"] for row in found["priced"]] == [3, 3]


async def test_several_inputs_are_an_object_and_several_outputs_are_its_fields():
    steps = [{"step": "jq_transform", "query": "{total: (.a + .b), less: (.a - .b)}"}]
    step = catalog_step("both").required("a").required("b").output("total").output("less")
    found = await reached(step.pipeline(steps), a=5, b=3)
    assert (found["total"], found["less"]) == (8, 2)


async def test_each_item_of_a_fan_out_has_a_pipeline_of_its_own():
    step = catalog_step("best").required("tables", for_each=True).output("best").pipeline([{"step": "top_k", "k": 1}])
    found = await reached(step, tables=[[1, 2], [3, 4]])
    assert sorted(each["best"][0] for each in found["best"]) == [1, 3]


async def test_a_pipeline_that_fails_says_at_which_of_its_steps():
    step = catalog_step("sums").required("orders").output("sums").pipeline(SUMS).no_retries()
    with pytest.raises(RunFailed, match=r"pipeline failed at step 1 \(groupby\): sum of `amount`: row 0 has a text"):
        await reached(step, orders=[{"sku": "tea", "amount": "many"}])


@pytest.mark.parametrize(
    ("steps", "data", "pointer"),
    [
        ([], "", "/pipeline/steps"),
        ([{"step": "top_k"}], "", "/pipeline/steps/0"),
        ([{"step": "topk", "k": 1}], "", "/pipeline/steps/0/step"),
        ([{"step": "top_k", "k": 1}], "rows", "/pipeline/data"),
        ([{"step": "join", "right": "prices", "on": "sku"}], "", "/pipeline/steps"),
    ],
)
def test_a_pipeline_that_can_not_run_is_refused_when_it_is_registered(steps: Any, data: str, pointer: str):
    step = catalog_step("sums").required("orders").output("sums").pipeline(steps, data=data)
    with pytest.raises(PlaitError) as refused:
        step.build()
    assert pointer in [flaw.pointer for flaw in refused.value.flaws]
