"""Circles that the two walks of the check meet late, from one side only, or over the goals of flows."""

from __future__ import annotations

import pytest

from plait.dialects.goals.catalogs.registering import register
from plait.dialects.goals.errors import Cycle
from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from tests.dialects.goals.declaring import catalog_of, made

CROWD = 40


def circle(there: list[StepBuilder], new: StepBuilder) -> tuple[str, ...]:
    with pytest.raises(Cycle) as caught:
        register(catalog_of(*there), new.build())
    return caught.value.path


def chain(first: str, last: str, length: int) -> list[StepBuilder]:
    """Steps `c0`, `c1`, …: the first takes a name, the last gives one."""
    names = [first, *(f"between{at}" for at in range(1, length)), last]
    return [made(f"c{at}", names[at], names[at + 1]) for at in range(length)]


def test_a_circle_is_found_though_many_others_hang_on_what_the_step_gives() -> None:
    crowd = [made(f"a{at}", "given", f"side{at}") for at in range(CROWD)]
    assert circle([*crowd, *chain("given", "wanted", 3)], made("new", "wanted", "given")) == (
        *("new", "c2", "c1", "c0", "new"),
    )


def test_a_circle_is_found_though_many_others_give_what_the_step_wants() -> None:
    crowd = [made(f"a{at}", f"side{at}", "wanted") for at in range(CROWD)]
    assert circle([*crowd, *chain("given", "wanted", 3)], made("new", "wanted", "given")) == (
        *("new", "c2", "c1", "c0", "new"),
    )


def test_a_circle_is_found_with_a_crowd_on_both_sides() -> None:
    above = [made(f"a{at}", f"side{at}", "wanted") for at in range(CROWD)]
    below = [made(f"b{at}", "given", f"rim{at}") for at in range(CROWD)]
    found = circle([*above, *below, *chain("given", "wanted", 9)], made("new", "wanted", "given"))
    assert found == ("new", *(f"c{at}" for at in reversed(range(9))), "new")


def test_a_goal_that_comes_later_closes_the_circle_of_a_flow_that_waited_for_it() -> None:
    flow = catalog_step("flow").output("done").flow("goal")
    assert circle([flow], made("goal", "done")) == ("goal", "flow", "goal")


def test_flows_in_flows_close_circles() -> None:
    assert circle([catalog_step("a").flow("b"), catalog_step("b").flow("c")], catalog_step("c").flow("a")) == (
        "c",
        "a",
        "b",
        "c",
    )


def test_the_shortest_circle_is_shown() -> None:
    short = made("z", "given", "wanted")
    assert circle([*chain("given", "wanted", 4), short], made("new", "wanted", "given")) == ("new", "z", "new")


def test_competitors_in_line_are_no_circle() -> None:
    there = catalog_of(*chain("given", "wanted", 3), made("other", "source", "given"))
    assert register(there, made("new", "source", "given").build())
