"""Random workflows of refs in random weather: every seed a calm and a stormy simulation. A failure shows its replay."""

import asyncio

import pytest

from plait.testing.sim.refs.seeds import simulate_refs
from tests.support.effort import examples

SEEDS = examples(50)
AT_ONCE = 10


@pytest.mark.chance
@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_every_promise_is_kept_whatever_happens(first: int):
    for seed in range(first, first + AT_ONCE):
        report = asyncio.run(simulate_refs(seed))
        assert report.failure is None, str(report)


def test_a_fork_before_its_child_in_calm_and_after_it_in_a_storm_ends_alike():
    report = asyncio.run(simulate_refs(14668))
    assert report.failure is None, str(report)


def test_a_retry_that_comes_while_its_run_is_being_taken_over_does_not_keep_the_engine_from_opening():
    report = asyncio.run(simulate_refs(17173))
    assert report.failure is None, str(report)
