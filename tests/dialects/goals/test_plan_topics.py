"""Plans with competing providers, optional inputs, `collect`, flow steps and limits, one at a time."""

from __future__ import annotations

import pytest

from plait.dialects.goals import limits
from plait.dialects.goals.catalogs.catalog import Catalog, StepRegistered
from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.planning.planner import plan
from plait.dialects.goals.planning.request import check_start
from plait.dialects.goals.steps.builder import catalog_step
from tests.dialects.goals.declaring import catalog_of, made


def refusal(catalog: Catalog, goal: str, init: list[str]) -> str:
    with pytest.raises(GoalsError) as caught:
        check_start(plan(catalog, [goal], init))
    return caught.value.message


def test_all_providers_that_could_run_are_planned_and_the_others_say_what_they_lack() -> None:
    catalog = catalog_of(made("p", gives="x"), made("q", gives="x"), made("r", "y z", "x"), made("goal", "x"))
    found = plan(catalog, ["goal"], ["z"])
    assert list(found.steps) == ["goal", "p", "q"]
    assert found.attributes["x"].providers == ["p", "q"]
    assert found.excluded.missing == {"r": ["y"]}


def test_if_no_provider_could_run_all_of_them_are_planned_and_the_deepest_gaps_are_listed() -> None:
    catalog = catalog_of(made("deep", "d", "y"), made("p", "y", "x"), made("q", "z", "x"), made("goal", "x"))
    found = plan(catalog, ["goal"], [])
    assert list(found.steps) == ["deep", "goal", "p", "q"]
    assert found.required == ["d", "z"]
    assert found.excluded.missing == {}


def test_an_optional_input_brings_its_providers_and_never_a_gap() -> None:
    catalog = catalog_of(made("p", gives="x"), made("q", "lost", "y"), made("goal").optional("x").optional("y"))
    found = plan(catalog, ["goal"], [])
    assert list(found.steps) == ["goal", "p"]
    assert found.excluded.missing == {"q": ["lost"]}
    assert found.required == []


def test_a_provider_is_left_out_only_if_all_it_gives_is_given() -> None:
    catalog = catalog_of(made("p", gives="x y"), made("goal", "x y"))
    assert list(plan(catalog, ["goal"], ["x"]).steps) == ["goal", "p"]
    found = plan(catalog, ["goal"], ["x", "y"])
    assert (list(found.steps), found.excluded.satisfied) == (["goal"], {"p": ["x", "y"]})


def test_a_goal_whose_outputs_are_given_gives_an_empty_plan() -> None:
    found = plan(catalog_of(made("goal", "x", "y")), ["goal"], ["y"])
    assert (found.steps, found.required, found.excluded.satisfied) == ({}, [], {"goal": ["y"]})
    check_start(found)


def test_a_goal_without_outputs_is_never_left_out() -> None:
    assert list(plan(catalog_of(made("goal")), ["goal"], ["x"]).steps) == ["goal"]


def test_steps_that_are_not_met_appear_nowhere() -> None:
    found = plan(catalog_of(made("goal", gives="x"), made("after", "x"), made("other", "lost")), ["goal"], [])
    assert list(found.steps) == ["goal"]
    assert list(found.attributes) == ["x"]
    assert found.excluded.missing == {}


@pytest.mark.parametrize(
    ("collect", "planned"),
    [("first", ["goal"]), ("last", ["goal", "p"]), ("some", ["goal", "p"]), ("all", ["goal", "p"])],
)
def test_only_first_lets_init_replace_the_providers(collect: str, planned: list[str]) -> None:
    catalog = catalog_of(made("p", gives="x"), made("goal").required("x", collect=collect))  # pyright: ignore
    found = plan(catalog, ["goal"], ["x"])
    assert list(found.steps) == planned
    assert found.excluded.satisfied == ({"p": ["x"]} if collect == "first" else {})


def test_all_with_a_provider_that_can_not_run_is_a_gap() -> None:
    catalog = catalog_of(made("p", gives="x"), made("q", "lost", "x"), made("goal").required("x", collect="all"))
    found = plan(catalog, ["goal"], ["x"])
    assert list(found.steps) == ["goal", "p", "q"]
    assert found.required == ["lost"]
    assert plan(catalog, ["goal"], ["lost"]).required == []


def test_none_needs_no_provider_but_waits_for_those_there_are() -> None:
    alone = catalog_of(made("goal").required("x", collect="none"))
    assert plan(alone, ["goal"], []).required == []
    beside = catalog_of(made("p", gives="x"), made("goal").required("x", collect="none"))
    assert list(plan(beside, ["goal"], []).steps) == ["goal", "p"]


def test_none_with_a_value_in_init_blocks_the_step() -> None:
    catalog = catalog_of(made("p", gives="y").required("x", collect="none"), made("goal", "y"))
    found = plan(catalog, ["goal"], ["x"])
    assert (list(found.steps), found.required, found.excluded.blocked) == (["goal"], ["y"], {"p": ["x"]})
    goal = plan(catalog, ["p"], ["x"])
    assert (goal.steps, goal.excluded.blocked) == ({}, {"p": ["x"]})
    assert goal.warnings == ["goal 'p' is blocked: init has x, of which it wants none"]


def test_an_optional_input_that_is_not_waited_for_is_warned_of() -> None:
    warning = "step 'goal': optional input 'x' is not waited for, though 'p' provides it; set its deadline to wait"
    hasty = catalog_of(made("p", gives="x"), made("goal").optional("x"))
    assert plan(hasty, ["goal"], []).warnings == [warning]
    assert plan(hasty, ["goal"], ["x"]).warnings == []
    assert plan(catalog_of(made("p", gives="x"), made("goal").optional("x", deadline=1)), ["goal"], []).warnings == []
    assert plan(catalog_of(made("goal").optional("x")), ["goal"], []).warnings == []


def test_the_child_of_a_flow_step_gets_what_is_sure_by_its_inner_name() -> None:
    child = made("child", "number limit flow note bare")
    pay = (
        catalog_step("pay")
        .required("card", inner="number")
        .const("limit", 5)
        .meta("flow", "flow_id")
        .optional("note", default="")
        .optional("bare")
        .flow("child")
    )
    found = plan(catalog_of(child, pay), ["pay"], ["card"])
    assert found.children["pay"].required == ["bare"]
    assert list(found.children["pay"].steps) == ["child"]


def test_a_child_that_can_not_be_fed_is_refused_however_deep() -> None:
    catalog = catalog_of(made("charge", "cvv zip"), catalog_step("pay").flow("charge"), catalog_step("buy").flow("pay"))
    assert refusal(catalog, "pay", []) == "flow step 'pay': child needs 'cvv', 'zip'; add them as inputs"
    assert refusal(catalog, "buy", ["cvv", "zip"]) == "flow step 'pay': child needs 'cvv', 'zip'; add them as inputs"


def nested_flows(levels: int) -> Catalog:
    catalog = catalog_of(made("f0"))
    for level in range(1, levels + 1):
        catalog.apply(StepRegistered(catalog_step(f"f{level}").flow(f"f{level - 1}").build()))
    return catalog


def test_flows_in_flows_are_planned_as_deep_as_runs_may_have_children() -> None:
    found = plan(nested_flows(limits.CHILD_LEVELS), [f"f{limits.CHILD_LEVELS}"], [])
    for level in range(limits.CHILD_LEVELS, 0, -1):
        found = found.children[f"f{level}"]
    assert list(found.steps) == ["f0"]


@pytest.mark.parametrize("levels", [33, 1000])
def test_deeper_flows_are_refused(levels: int) -> None:
    text = "the plan has 33 levels of flow steps, the limit is 32; nest fewer"
    assert refusal(nested_flows(levels), f"f{levels}", []) == text


def test_flows_that_multiply_are_refused_before_they_are_written_out() -> None:
    catalog = catalog_of(made("f0-0"), made("f0-1"))
    for level in range(1, 20):
        for side in (0, 1):
            flow = catalog_step(f"f{level}-{side}").flow(f"f{level - 1}-0", f"f{level - 1}-1")
            catalog.apply(StepRegistered(flow.build()))
    assert refusal(catalog, "f19-0", []).endswith("child plans, the limit is 10,000; nest fewer flow steps")


def test_a_long_chain_is_planned_without_recursion() -> None:
    catalog = Catalog(StepRegistered(made(f"s{at}", f"n{at}", f"n{at + 1}").build()) for at in range(3000))
    found = plan(catalog, ["s2999"], [])
    assert (len(found.steps), found.required) == (3000, ["n0"])
