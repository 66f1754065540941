"""What holds of every plan, whatever the catalog, the goals and the init."""

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.goals.catalogs.catalog import Catalog, StepRegistered
from plait.dialects.goals.errors import ChildInputsMissing, GoalsError, InputsMissing
from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.planning.planner import plan
from plait.dialects.goals.planning.request import check_start, read_request
from plait.dialects.goals.steps.step import Step
from tests.dialects.goals.catalogs import COLLECTING, GATED, SIMPLE, Case, cases, long, many, step_of, steps
from tests.dialects.goals.reference import outputs, reference_plan, wanted

pytestmark = long


def planned(case: Case) -> Plan:
    return plan(case.catalog, case.goals, case.init)


@many
@given(cases(GATED))
def test_a_plan_is_what_the_text_of_the_spec_says(case: Case) -> None:
    found = planned(case)
    expected = reference_plan(case.catalog.steps, case.goals, case.init)
    assert set(found.steps) == expected.steps
    assert found.required == sorted(expected.required)
    assert found.excluded.missing == expected.missing
    assert found.excluded.satisfied == expected.satisfied
    assert found.excluded.blocked == expected.blocked


@many
@given(cases())
def test_a_plan_has_no_circle(case: Case) -> None:
    found = planned(case)
    left = {
        id: {each for name in wanted(step) for each in found.attributes[name].providers}
        for id, step in found.steps.items()
    }
    while left:
        free = {id for id, waits in left.items() if not waits & left.keys()}
        assert free, f"these wait for each other: {sorted(left)}"
        left = {id: waits for id, waits in left.items() if id not in free}


@many
@given(cases())
def test_every_planned_step_is_a_goal_or_gives_what_a_planned_step_wants_and_init_does_not_replace(case: Case) -> None:
    found = planned(case)
    needed = set(case.goals)
    todo = [goal for goal in case.goals if goal in found.steps]
    while todo:
        for name, (_, collect) in wanted(found.steps[todo.pop()]).items():
            if collect != "first" or name not in case.init:
                new = set(found.attributes[name].providers) - needed
                needed |= new
                todo += new
    assert found.steps.keys() <= needed


@many
@given(cases())
def test_every_required_input_is_given_or_provided_or_listed(case: Case) -> None:
    found = planned(case)
    for step in found.steps.values():
        for name, (required, collect) in wanted(step).items():
            if required and collect != "none":
                assert name in case.init or found.attributes[name].providers or name in found.required


@many
@given(cases(SIMPLE))
def test_a_plan_without_gaps_runs_to_its_end(case: Case) -> None:
    found = planned(case)
    if found.required:
        return
    known, left = set(case.init), dict(found.steps)
    while left:
        ready = [id for id, step in left.items() if all(name in known for name, way in wanted(step).items() if way[0])]
        assert ready, f"never start: {sorted(left)}"
        for id in ready:
            known.update(outputs(left.pop(id)))


@many
@given(cases(SIMPLE))
def test_giving_the_names_that_a_plan_lists_closes_its_gaps(case: Case) -> None:
    gaps = planned(case).required
    assert not set(gaps) & set(case.init)
    assert plan(case.catalog, case.goals, [*case.init, *gaps]).required == []


@many
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_registration_and_of_init_changes_nothing(case: Case, chance: random.Random) -> None:
    shuffled = list(case.catalog.steps.values())
    chance.shuffle(shuffled)
    names = list(case.init)
    chance.shuffle(names)
    other = plan(Catalog(StepRegistered(each) for each in shuffled), case.goals, names)
    assert msgspec.json.encode(other) == msgspec.json.encode(planned(case))


@many
@given(cases())
def test_everything_in_a_plan_is_sorted_and_no_step_has_two_fates(case: Case) -> None:
    found = planned(case)
    excluded = (found.excluded.missing, found.excluded.satisfied, found.excluded.blocked)
    for each in (found.steps, found.attributes, found.children, *excluded):
        assert list(each) == sorted(each)
    names = [each for links in found.attributes.values() for each in (links.providers, links.consumers)]
    reasons = [each for group in excluded for each in group.values()]
    for each in (found.required, found.warnings, *names, *reasons):
        assert each == sorted(set(each))
    fates = [id for group in (found.steps, *excluded) for id in group]
    assert len(fates) == len(set(fates))
    assert found.goals == case.goals
    assert set(case.goals) <= set(fates)


@many
@given(cases())
def test_the_attributes_of_a_plan_name_its_steps_and_no_others(case: Case) -> None:
    found = planned(case)
    for name, links in found.attributes.items():
        assert links.providers == [id for id, step in found.steps.items() if name in outputs(step)]
        assert links.consumers == [id for id, step in found.steps.items() if name in wanted(step)]


@many
@given(cases())
def test_what_preview_shows_is_what_a_start_takes_or_refuses(case: Case) -> None:
    request = read_request(case.goals, dict.fromkeys(case.init, 1))
    preview = plan(case.catalog, request.goals, request.init)
    again = msgspec.json.decode(msgspec.json.encode(preview), type=Plan)
    assert again == preview == planned(case)
    refused = refusal(preview)
    assert isinstance(refused, InputsMissing) == bool(preview.required)
    assert isinstance(refused, ChildInputsMissing) == (not preview.required and has_a_child_with_gaps(preview))
    assert preview == again


def refusal(found: Plan) -> GoalsError | None:
    try:
        check_start(found)
    except GoalsError as refused:
        return refused
    return None


def has_a_child_with_gaps(found: Plan) -> bool:
    return any(child.required or has_a_child_with_gaps(child) for child in found.children.values())


@many
@given(cases())
def test_each_flow_step_has_the_plan_of_its_child(case: Case) -> None:
    found = planned(case)
    assert found.children.keys() == {id for id, step in found.steps.items() if step.flow is not None}
    for id, child in found.children.items():
        flow = found.steps[id].flow
        assert flow is not None
        surely = [
            name
            for name, each in found.steps[id].attributes.items()
            if (each.role == "required" and each.detail.collect != "none") or each.detail.default is not None
        ]
        assert child == plan(case.catalog, flow.goals, surely)


@many
@given(cases(), steps(COLLECTING, ["other"], []))
def test_a_step_that_gives_nothing_asked_for_changes_no_plan(case: Case, other: Step) -> None:
    before = planned(case)
    inputs = {name: {"role": "required"} for name in wanted(other)}
    case.catalog.apply(StepRegistered(step_of("other", inputs, [])))
    assert planned(case) == before
