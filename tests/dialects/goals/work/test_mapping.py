"""Names and values on their way out of a step."""

from typing import Any

import pytest

from plait.dialects.goals.steps.builder import catalog_step
from plait.dialects.goals.steps.mapping import as_returned, renamed, single

from .rig import rig


def test_declared_outputs_come_first_and_the_rest_stays() -> None:
    pay = catalog_step("pay").output("receipt", inner="id").output("paid").python("pay").build()
    outputs = renamed(pay, {"extra": 1, "paid": True, "id": "r-1"})
    assert list(outputs.items()) == [("paid", True), ("receipt", "r-1"), ("extra", 1)]


def test_a_declared_output_that_was_not_returned_is_not_set() -> None:
    pay = catalog_step("pay").output("receipt", inner="id").output("paid").python("pay").build()
    assert renamed(pay, {"receipt": "not the output: the step calls that `id`"}) == {}


def test_two_outputs_may_swap_their_names() -> None:
    swap = catalog_step("swap").output("a", inner="b").output("b", inner="a").python("swap").build()
    assert renamed(swap, {"a": 1, "b": 2}) == {"a": 2, "b": 1}


def test_what_a_script_makes_is_left_to_the_script() -> None:
    pay = catalog_step("pay").output("total", script=("jpath", "$.sum")).output("paid").python("pay").build()
    assert renamed(pay, {"sum": 5, "total": "theirs", "paid": True}) == {"paid": True, "sum": 5}


def test_the_way_back_to_the_names_of_the_step() -> None:
    pay = catalog_step("pay").output("receipt", inner="id").output("paid").python("pay").build()
    assert as_returned(pay, {"receipt": "r-1", "paid": True, "extra": 1}) == {"id": "r-1", "paid": True, "extra": 1}


@pytest.mark.parametrize(
    ("result", "value"),
    [({"value": 1, "other": 2}, 1), ({"only": [1]}, [1]), ({"a": 1, "b": 2}, {"a": 1, "b": 2}), ({}, {}), (5, 5)],
)
def test_results_of_mapping_scripts_as_one_value(result: Any, value: Any) -> None:
    assert single(result) == value


@pytest.mark.parametrize(
    ("language", "script"),
    [
        ("ale", "(:total (:data total))"),
        ("ale", "{:value (:total (:data total)) :other 1}"),
        ("lua", "return total.data.total"),
        ("lua", "return {sum = total.data.total}"),
        ("jpath", "$.data.total"),
    ],
)
async def test_a_script_makes_an_output_of_all_that_was_returned(language: Any, script: str) -> None:
    returned = {"data": {"total": 5}, "more": 1}
    wanted = catalog_step("pay").output("total", script=(language, script)).python("pay")
    async with rig({"pay": lambda: returned}) as here:
        done = await here.work(wanted)
        assert done.outputs == {"total": 5, **returned}


async def test_a_jpath_value_that_is_an_object_stays_whole() -> None:
    async with rig() as here:
        wanted = catalog_step("x").output("row", script=("jpath", "$.rows[0]")).lua("return {rows = {{id = 1}}}")
        assert (await here.work(wanted)).outputs["row"] == {"id": 1}


async def test_a_mapping_script_that_fails_fails_the_work_for_good() -> None:
    async with rig({"pay": dict}) as here:
        done = await here.work(catalog_step("pay").output("total", script=("jpath", "$.data.total")).python("pay"))
        assert done.permanent
        assert done.error == "mapping of 'total' failed: nothing matches $.data.total"


async def test_no_outputs_at_all_are_mapped_as_an_empty_object() -> None:
    async with rig({"x": lambda: None}) as here:
        wanted = catalog_step("x").output("n", script=("lua", "return next(n) == nil")).python("x")
        assert (await here.work(wanted)).outputs == {"n": True}
