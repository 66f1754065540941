"""Before a step starts: mapping scripts, then the predicate on the whole and on each item; and matches."""

from typing import Any

import pytest

from plait.dialects.goals.limits import ITEMS
from plait.dialects.goals.steps.builder import StepBuilder, catalog_step

from .rig import rig

LANGUAGES = ("ale", "lua", "jpath")


def pay() -> StepBuilder:
    return catalog_step("pay").sync("http://a/b")


@pytest.mark.parametrize(
    ("language", "script"),
    [
        ("ale", "(:id customer)"),
        ("ale", "{:value (:id customer) :more 1}"),
        ("lua", "return customer.id"),
        ("lua", "return {anything = customer.id}"),
        ("jpath", "$.id"),
    ],
)
async def test_an_input_is_mapped_and_goes_in_under_its_inner_name(language: Any, script: str) -> None:
    wanted = pay().required("buyer", inner="customer", script=(language, script)).required("amount")
    async with rig() as here:
        ready = await here.prepare(wanted, buyer={"id": 7, "name": "x"}, amount=5)
        assert ready == {"inputs": {"customer": 7, "amount": 5}, "run": True, "keep": None, "error": ""}


async def test_an_input_that_is_not_there_is_not_mapped() -> None:
    async with rig() as here:
        ready = await here.prepare(pay().optional("note", script=("lua", "return note.text")))
        assert ready["inputs"] == {}


async def test_a_mapping_that_fails_is_said_and_not_raised() -> None:
    async with rig() as here:
        ready = await here.prepare(pay().required("buyer", script=("jpath", "$.id")), buyer={})
        assert ready["error"] == "mapping of 'buyer' failed: nothing matches $.id"


@pytest.mark.parametrize(
    ("language", "script"),
    [("ale", "(> amount 100)"), ("lua", "return amount > 100"), ("jpath", "$.amount > 100")],
)
async def test_the_predicate_decides_whether_the_step_runs(language: Any, script: str) -> None:
    wanted = pay().required("amount").when(language, script)
    async with rig() as here:
        assert (await here.prepare(wanted, amount=101))["run"] is True
        assert (await here.prepare(wanted, amount=99))["run"] is False


async def test_the_predicate_sees_mapped_values_by_inner_name_and_missing_ones_as_nil() -> None:
    wanted = pay().required("buyer", inner="customer", script=("jpath", "$.id")).optional("note").const("limit", 5)
    wanted = wanted.when("lua", "return customer == 7 and note == nil and limit == 5")
    async with rig() as here:
        assert (await here.prepare(wanted, buyer={"id": 7}, limit=5))["run"] is True


@pytest.mark.parametrize(("language", "script"), [("ale", "(> amount 1)"), ("lua", "return amount > 1")])
async def test_a_predicate_that_fails_says_so(language: Any, script: str) -> None:
    async with rig() as here:
        ready = await here.prepare(pay().required("amount").when(language, script), amount="x")
        assert ready["error"].startswith("predicate evaluation failed: line 1: ")


def each(scope: Any, script: str = "return type(n) == 'table' or n > 1") -> StepBuilder:
    return pay().required("n", for_each=True).required("m", for_each=True).when("lua", script, scope=scope)


async def test_each_item_of_a_fan_out_is_judged_and_the_last_name_varies_fastest() -> None:
    async with rig() as here:
        ready = await here.prepare(each("both"), m=[10, 20], n=[1, 2, 3])
        assert (ready["run"], ready["keep"]) == (True, [1, 2, 4, 5])


async def test_the_scope_says_who_is_judged() -> None:
    async with rig() as here:
        assert (await here.prepare(each("step"), m=[1], n=[1, 2]))["keep"] is None
        assert (await here.prepare(each("item", "return n > 1"), m=[1], n=[1, 2]))["keep"] == [1]
        assert (await here.prepare(each("both", "return n[1] ~= 1"), m=[1], n=[1, 2]))["run"] is False
        assert (await here.prepare(each("both", "return type(n) == 'table'"), m=[1], n=[1, 2]))["keep"] == []


async def test_without_a_fan_out_the_one_item_is_the_step() -> None:
    async with rig() as here:
        assert (await here.prepare(each("item", "return n > 1"), m=1, n=1))["run"] is False
        ready = await here.prepare(each("item", "return n > 1"), m=1, n=2)
        assert (ready["run"], ready["keep"]) == (True, None)


async def test_an_item_whose_predicate_fails_is_named() -> None:
    async with rig() as here:
        ready = await here.prepare(each("item", "return n > 1"), m=[1], n=[5, "x"])
        assert ready["error"].startswith("predicate evaluation failed for item 2: line 1: ")


async def test_an_empty_fan_out_has_nobody_to_judge() -> None:
    async with rig() as here:
        ready = await here.prepare(each("item"), m=[1], n=[])
        assert (ready["run"], ready["keep"], ready["error"]) == (True, None, "")


async def test_more_items_than_a_step_may_have_are_not_judged() -> None:
    wanted = pay().required("n", for_each=True).when("ale", "(raise :never)", scope="item")
    async with rig() as here:
        ready = await here.prepare(wanted, n=list(range(ITEMS + 1)))
        assert (ready["keep"], ready["error"]) == (None, "")


async def test_many_items_in_every_language() -> None:
    scripts = {"ale": "(> n 500)", "lua": "return n > 500", "jpath": "$.n > 500"}
    async with rig() as here:
        for language, script in scripts.items():
            wanted = pay().required("n", for_each=True).when(language, script, scope="item")  # type: ignore[arg-type]
            ready = await here.prepare(wanted, n=list(range(1000)))
            assert ready["keep"] == list(range(501, 1000)), language


@pytest.mark.parametrize(
    ("language", "script"),
    [("ale", '(eq (:kind value) "card")'), ("lua", "return value.kind == 'card'"), ("jpath", '$.kind == "card"')],
)
async def test_a_candidate_matches_or_not(language: Any, script: str) -> None:
    wanted = pay().required("method", match=(language, script))
    async with rig() as here:
        assert (await here.match(wanted, "method", {"kind": "card"})).output is True
        assert (await here.match(wanted, "method", {"kind": "cash"})).output is False


async def test_a_match_that_fails_is_a_failure_for_good() -> None:
    async with rig() as here:
        done = await here.match(pay().required("method", match=("lua", "return value.a.b")), "method", {})
        assert done.permanent
        assert done.error.startswith("match of 'method' failed: line 1: ")
