"""Every row of the spec's table of refusals: its code, its status on both mounts, and its exact text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.catalogs.registering import Draft, register, unregister, update
from plait.dialects.goals.errors import GoalsError, RunExists
from plait.dialects.goals.planning.planner import plan
from plait.dialects.goals.planning.request import check_start, read_request
from plait.dialects.goals.steps.builder import catalog_step
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.scripts import check_scripts
from plait.dialects.goals.steps.step import Step
from tests.dialects.goals.declaring import OnlyKnowsInputs, catalog_of, made

HTTP = {"endpoint": "http://localhost/x"}


@dataclass(frozen=True)
class Row:
    code: str
    mount: int
    api: int
    text: str
    refused: Callable[[], object]


def with_predicate(script: str) -> Step:
    return made("x", "user amount").when("ale", script).build()


def draft_of(*steps: Step) -> Draft:
    return Draft(catalog_of(*steps))


ROWS = [
    Row(
        "goals.step_invalid",
        400,
        422,
        "step 'x': 'script' is not allowed for type 'async'; remove it or use type 'script'",
        lambda: read_step({"id": "x", "name": "x", "type": "async", "http": HTTP, "script": {"language": "ale"}}),
    ),
    Row(
        "goals.step_invalid",
        400,
        422,
        "step 'x': 'http' is missing for type 'sync'; add it",
        lambda: read_step({"id": "x", "name": "x", "type": "sync"}),
    ),
    Row(
        "goals.step_invalid",
        400,
        422,
        "step 'x': 'default' of 'a' is no number; change it or the type",
        lambda: made("x").optional("a", int, default="one").build(),
    ),
    Row(
        "goals.step_invalid",
        400,
        422,
        "step 'x': unknown {b} in http.endpoint; name a required input: a",
        lambda: made("x", "a").sync("http://localhost/{b}").build(),
    ),
    Row(
        "goals.script_invalid",
        400,
        422,
        "predicate of 'x', line 1: unknown name 'amout'; inputs: amount, user",
        lambda: check_scripts(with_predicate("amout"), OnlyKnowsInputs()),
    ),
    Row(
        "goals.step_exists",
        409,
        409,
        "step 'x' exists and differs in http.endpoint; use update",
        lambda: register(catalog_of(made("x").build()), made("x").sync("http://localhost/y").build()),
    ),
    Row(
        "goals.step_not_found",
        404,
        404,
        "step 'x' is not in the catalog; nearest: 'x2'",
        lambda: update(catalog_of(made("x2").build()), made("x").build()),
    ),
    Row(
        "goals.step_not_found",
        404,
        404,
        "step 'x' is not in the catalog; nearest: 'x2'",
        lambda: unregister(catalog_of(made("x2").build()), "x"),
    ),
    Row(
        "goals.step_not_found",
        404,
        404,
        "step 'x' is not in the catalog; register it first",
        lambda: plan(Catalog(), ["x"], {}),
    ),
    Row(
        "goals.type_conflict",
        400,
        422,
        "'user' is string in 'a', number here; rename or map it",
        lambda: register(catalog_of(made("a").output("user", str).build()), made("b").required("user", float).build()),
    ),
    Row(
        "goals.cycle",
        400,
        422,
        "circular dependency: a -> b -> c -> a; drop one input",
        lambda: register(
            catalog_of(made("c", "z", "y").build(), made("b", "y", "x").build()), made("a", "x", "z").build()
        ),
    ),
    Row("goals.no_goals", 400, 422, "name at least one goal step", lambda: read_request([], {})),
    Row(
        "goals.inputs_missing",
        400,
        422,
        "required inputs not provided: [customer_id]; add them to init",
        lambda: check_start(plan(catalog_of(made("x", "customer_id").build()), ["x"], {})),
    ),
    Row(
        "goals.child_inputs_missing",
        400,
        422,
        "flow step 'pay': child needs 'cvv'; add it as an input",
        lambda: check_start(
            plan(catalog_of(made("charge", "cvv").build(), catalog_step("pay").flow("charge").build()), ["pay"], {})
        ),
    ),
    Row(
        "goals.run_exists", 409, 409, "run 'r1' exists with other goals; use a new id", lambda: raised(RunExists("r1"))
    ),
    Row(
        "goals.too_large",
        413,
        413,
        "the run has 65 goals, the limit is 64; name fewer, or split the run",
        lambda: read_request([f"g{number}" for number in range(65)], {}),
    ),
]


def raised(error: GoalsError) -> None:
    raise error


async def answered(call: Callable[[], object]) -> object:
    answer = call()
    return await answer if inspect.isawaitable(answer) else answer


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.code}: {row.text[:50]}")
async def test_a_refusal_has_the_code_the_status_and_the_text_of_its_row(row: Row) -> None:
    with pytest.raises(GoalsError) as caught:
        await answered(row.refused)
    error = caught.value
    assert (error.code, error.mount_status, error.status) == (row.code, row.mount, row.api)
    assert error.message == row.text


def test_every_code_of_the_table_is_in_it() -> None:
    assert {row.code.removeprefix("goals.") for row in ROWS} == {
        *("step_invalid", "script_invalid", "step_exists", "step_not_found", "type_conflict", "cycle"),
        *("no_goals", "inputs_missing", "child_inputs_missing", "run_exists", "too_large"),
    }


def test_one_answer_names_every_flaw_and_where_it_is() -> None:
    sent = {"id": "-x", "name": "x", "type": "sync", "http": {}, "attributes": {"a/b": {"role": "input"}}}
    with pytest.raises(GoalsError) as caught:
        read_step(sent)
    assert [flaw.pointer for flaw in caught.value.flaws] == ["/id", "/attributes/a~1b/role", "/http/endpoint"]
    assert caught.value.message.endswith("(and 2 more)")


async def test_every_script_of_a_step_is_compiled_with_the_names_it_may_use() -> None:
    building = made("x").required("a", inner="one", script=("lua", "a")).required("b", match=("ale", "b"))
    building = building.output("c", inner="raw", script=("ale", "raw")).when("ale", "one\nb a")
    with pytest.raises(GoalsError) as caught:
        await check_scripts(building.build(), OnlyKnowsInputs())
    assert {flaw.pointer: flaw.message for flaw in caught.value.flaws} == {
        "/predicate/script": "predicate of 'x', line 2: unknown name 'a'; inputs: b, one",
        "/attributes/a/required/mapping/script/script": "mapping of 'a' of 'x', line 1: unknown name 'a'; inputs: one",
        "/attributes/b/required/match/script": "match of 'b' of 'x', line 1: unknown name 'b'; inputs: value",
    }


def test_the_same_step_again_is_a_success_without_an_event() -> None:
    there = catalog_of(made("x", "a", "b").build())
    assert register(there, made("x", "a", "b").build()) == []
    assert update(there, made("x", "a", "b").build()) == []


@pytest.mark.parametrize(
    ("other", "where"),
    [
        (catalog_step("x", "Other").sync("http://localhost/x"), "name"),
        (made("x").labels(team="pay"), "labels"),
        (made("x", "a"), "attributes.a"),
        (made("x").retries(3).parallel(2), "work_config.max_retries, work_config.parallelism"),
    ],
)
def test_name_labels_and_all_else_count_when_steps_are_compared(other: object, where: str) -> None:
    with pytest.raises(GoalsError) as caught:
        register(catalog_of(made("x").build()), other.build())  # pyright: ignore[reportAttributeAccessIssue]
    assert caught.value.message == f"step 'x' exists and differs in {where}; use update"


def test_an_update_is_checked_without_its_old_version() -> None:
    there = catalog_of(made("x", "a", "b").build())
    turned = made("x", "b", "a").build()
    assert len(update(there, turned)) == 1
    typed = catalog_of(made("y").output("n", int).build())
    assert len(update(typed, made("y").output("n", str).build())) == 1


def test_optional_inputs_and_flow_goals_close_circles_too() -> None:
    for first, second in (
        (made("a", gives="x").optional("y"), made("b", "x", "y")),
        (made("g", "x"), catalog_step("f").output("x").flow("g")),
    ):
        draft = draft_of(first.build())
        with pytest.raises(GoalsError) as caught:
            draft.register(second.build())
        assert caught.value.code == "goals.cycle"
    with pytest.raises(GoalsError) as caught:
        register(Catalog(), catalog_step("f").flow("f").build())
    assert caught.value.message == "circular dependency: f -> f; drop one input"


def test_const_and_meta_have_no_type_and_no_provider_elsewhere() -> None:
    there = catalog_of(made("a").output("user", str).build())
    assert register(there, made("b").const("user", 1, int).build())
    assert register(there, made("c").meta("user", "flow_id").build())


def test_any_fits_every_type() -> None:
    there = catalog_of(made("a").output("user", str).build(), made("b", "user").build())
    assert register(there, made("c").required("user", str).build())


def test_a_flow_goal_that_is_not_there_yet_passes_registration_and_not_planning() -> None:
    there = catalog_of(catalog_step("f").flow("later").build())
    with pytest.raises(GoalsError) as caught:
        plan(there, ["f"], {})
    assert caught.value.code == "goals.step_not_found"


def test_several_changes_in_a_draft_are_all_or_none() -> None:
    there = catalog_of(made("a").build())
    draft = Draft(there)
    draft.register(made("b", gives="y").build())
    draft.update(made("a", "y").build())
    draft.unregister("a")
    assert [type(each).__name__ for each in draft.events] == ["StepRegistered", "StepUpdated", "StepUnregistered"]
    assert list(there.steps) == ["a"]
