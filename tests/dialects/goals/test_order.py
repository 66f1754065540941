"""The order that a graph keeps: whatever is done to the catalog, each step comes after all that it depends on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.catalogs.graph import Order
from plait.dialects.goals.catalogs.registering import register, unregister, upsert
from plait.dialects.goals.errors import Cycle
from plait.dialects.goals.steps.builder import catalog_step
from plait.dialects.goals.steps.step import Step
from tests.dialects.goals.catalogs import Change, changes, long, many, refusal
from tests.dialects.goals.declaring import catalog_of, made
from tests.dialects.goals.reference import comes_back, depends_on

STEPS = 30
NAMES = 18


def assert_ordered(catalog: Catalog) -> None:
    places = catalog.graph.order.places
    assert places.keys() == catalog.steps.keys()
    for id, each in catalog.steps.items():
        assert all(places[other] < places[id] for other in depends_on(catalog.steps, each))


def add(catalog: Catalog, step: Step) -> None:
    for event in register(catalog, step):
        catalog.apply(event)


@long
@many
@given(changes)
def test_a_step_comes_after_all_that_it_depends_on_after_any_changes(sent: list[Change]) -> None:
    catalog = Catalog()
    for change in sent:
        before = catalog.copy()
        refusal(catalog, change)
        assert_ordered(catalog)
        assert_ordered(before)


def any_step(dice: random.Random, id: str) -> Step:
    names = dice.sample([f"n{number}" for number in range(NAMES)], k=dice.randint(1, 4))
    split = dice.randint(0, len(names))
    building = catalog_step(id).flow(f"s{dice.randrange(STEPS)}") if dice.random() < 0.1 else made(id)
    for name in names[:split]:
        building = building.required(name)
    for name in names[split:]:
        building = building.output(name)
    return building.build()


@pytest.mark.parametrize("seed", range(20))
def test_in_long_lives_of_larger_catalogs_just_the_circles_are_refused(seed: int) -> None:
    dice = random.Random(seed)
    catalog = Catalog()
    refused = 0
    for _ in range(4 * STEPS):
        id = f"s{dice.randrange(STEPS)}"
        if id in catalog.steps and dice.random() < 0.2:
            events = unregister(catalog, id).events
        else:
            sent = any_step(dice, id)
            closes = comes_back({**catalog.steps, id: sent}, id)
            try:
                events = upsert(catalog, sent)
            except Cycle:
                refused += 1
                assert closes
                continue
            assert not closes
        for event in events:
            catalog.apply(event)
        assert_ordered(catalog)
    assert refused


def test_there_is_always_room_for_one_more_between_two() -> None:
    catalog = catalog_of(made("low", gives="a"), made("high", "y0"))
    for number in range(100):
        add(catalog, made(f"s{number}", f"a y{number + 1}", f"y{number}").build())
        assert_ordered(catalog)
    with pytest.raises(Cycle):
        add(catalog, made("back", "y0", "y100").build())


def test_those_that_depend_on_a_step_in_the_wrong_place_move_up_behind_it_and_no_others() -> None:
    catalog = catalog_of(
        made("user", "x", "u"),
        made("beside"),
        catalog_step("far").flow("user"),
        made("source", gives="w"),
        made("last"),
    )
    before = dict(catalog.graph.order.places)
    add(catalog, made("new", "w", "x").build())
    places = catalog.graph.order.places
    assert {id for id, place in before.items() if places[id] != place} == {"user", "far"}
    assert_ordered(catalog)


def test_places_are_given_at_the_end_at_the_front_and_in_between() -> None:
    order = Order()
    assert order.put(["b"], None, None)
    assert order.put(["d"], order.places["b"], None)
    assert order.put(["a"], None, order.places["b"])
    assert order.put(["c1", "c2"], order.places["b"], order.places["d"])
    assert not order.put(["x"], 7, 8)
    order.spread()
    assert sorted(order.places, key=order.places.__getitem__) == ["a", "b", "c1", "c2", "d"]
    assert order.put(["e"], None, None)
    assert order.put(["0"], None, order.places["a"])
    assert sorted(order.places, key=order.places.__getitem__) == ["0", "a", "b", "c1", "c2", "d", "e"]
