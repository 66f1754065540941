"""The graph is kept up to date change by change, and is always the one that its steps alone would give."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.goals.catalogs.catalog import Catalog, CatalogEvent, StepRegistered, StepUnregistered, StepUpdated
from plait.dialects.goals.catalogs.registering import Draft, register, unregister, update
from plait.dialects.goals.errors import Cycle, GoalsError, StepExists, StepNotFound, TypeConflict
from plait.dialects.goals.steps.step import Step
from tests.dialects.goals.catalogs import FEW_IDS, SIMPLE, Change, changes, long, many, refusal, steps
from tests.dialects.goals.reference import comes_back, depends_on, outputs, providers, wanted

pytestmark = long


@many
@given(changes)
def test_a_graph_kept_by_changes_is_the_one_rebuilt_from_its_steps(sent: list[Change]) -> None:
    catalog = Catalog()
    for change in sent:
        refusal(catalog, change)
        assert catalog.graph == Catalog(StepRegistered(each) for each in catalog.steps.values()).graph
        names = {name for step in catalog.steps.values() for name in (*outputs(step), *wanted(step))}
        assert catalog.graph.names.keys() == names
        for name in names:
            ties = catalog.graph.ties(name)
            assert ties.providers == tuple(providers(catalog.steps, name))
            assert ties.consumers == tuple(id for id in sorted(catalog.steps) if name in wanted(catalog.steps[id]))
            assert {ties.type or "any"} >= types_of(catalog, name) - {"any"}


def types_of(catalog: Catalog, name: str) -> set[str]:
    return {step.attributes[name].type for step in catalog.steps.values() if name in step.attributes}


@many
@given(changes)
def test_a_log_of_events_folds_to_the_same_catalog(sent: list[Change]) -> None:
    draft = Draft(Catalog())
    for way, step in sent:
        try:
            draft.unregister(step.id) if way == "unregister" else getattr(draft, way)(step)
        except GoalsError:
            continue
    stored = [msgspec.json.decode(msgspec.json.encode(each), type=CatalogEvent) for each in draft.events]
    folded = Catalog(stored)
    assert folded.steps == draft.catalog.steps
    assert folded.graph == draft.catalog.graph


@many
@given(changes)
def test_a_change_that_is_refused_and_a_copy_that_goes_on_leave_the_catalog_alone(sent: list[Change]) -> None:
    catalog = Catalog()
    for change in sent:
        before, steps_before = catalog.copy(), dict(catalog.steps)
        draft = catalog.copy()
        refused = refusal(draft, change)
        assert catalog.graph == before.graph
        assert catalog.steps == steps_before
        if refused is None:
            catalog = draft


@many
@given(changes)
def test_a_change_is_let_in_just_when_it_makes_no_circle_and_no_conflict(sent: list[Change]) -> None:
    catalog = Catalog()
    for change in sent:
        way, step = change
        known = step.id in catalog.steps
        others = {id: each for id, each in catalog.steps.items() if id != step.id}
        same = catalog.steps.get(step.id) == step
        refused = refusal(catalog, change)
        if way in ("update", "unregister") and not known:
            assert isinstance(refused, StepNotFound)
        elif way == "unregister" or (known and same):
            assert refused is None
        elif way == "register" and known:
            assert isinstance(refused, StepExists)
        elif conflicts(others, step):
            assert isinstance(refused, TypeConflict)
        elif comes_back({**others, step.id: step}, step.id):
            assert isinstance(refused, Cycle)
            assert_is_a_circle({**others, step.id: step}, refused.path, step.id)
        else:
            assert refused is None


def conflicts(others: dict[str, Step], step: Step) -> bool:
    theirs = {(name, each.type) for other in others.values() for name, each in other.attributes.items()}
    ours = {(name, each.type) for name, each in step.attributes.items()}
    return any(a == b and x != y and "any" not in (x, y) for a, x in theirs for b, y in ours)


def assert_is_a_circle(all: dict[str, Step], path: tuple[str, ...], start: str) -> None:
    assert path[0] == path[-1] == start
    assert len(set(path)) == len(path) - 1
    for here, there in itertools.pairwise(path):
        assert there in depends_on(all, all[here])


@many
@given(st.lists(steps(SIMPLE, FEW_IDS, FEW_IDS), max_size=6), st.sampled_from(FEW_IDS))
def test_unregistering_lists_the_consumers_left_without_a_provider(sent: list[Step], gone: str) -> None:
    catalog = Catalog()
    for step in sent:
        refusal(catalog, ("upsert", step))
    if gone not in catalog.steps:
        with pytest.raises(StepNotFound):
            unregister(catalog, gone)
        return
    left = {id: step for id, step in catalog.steps.items() if id != gone}
    expected = {
        name: consumers
        for name in outputs(catalog.steps[gone])
        if not providers(left, name)
        if (consumers := [id for id in sorted(left) if name in wanted(left[id])])
    }
    removal = unregister(catalog, gone)
    assert removal.events == [StepUnregistered(gone)]
    assert removal.orphans == expected
    assert removal.flows == [id for id in sorted(left) if (flow := left[id].flow) is not None and gone in flow.goals]


@many
@given(steps(SIMPLE, ["s0"], []), steps(SIMPLE, ["s0"], []))
def test_an_update_gives_one_event_and_the_same_again_gives_none(old: Step, new: Step) -> None:
    catalog = Catalog([StepRegistered(old)])
    assert update(catalog, new) == ([] if old == new else [StepUpdated(new)])
    assert register(catalog, old) == []
