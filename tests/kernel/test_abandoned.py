"""What engines leave behind that stopped in the middle of a commit."""

import asyncio
import gc

import pytest

from plait.kernel.kernel import Kernel
from plait.testing.sim.flows.seeds import simulate_flows

THE_LAST = 2
"""The world of the last simulation is still there, and holds these."""
STORMY = (1, 2, 17, 18, 22)
"""Seeds with engines that crash while a commit is under way."""


@pytest.mark.costly
def test_engines_that_crashed_with_a_commit_under_way_are_collected():
    before = kernels()
    for seed in STORMY:
        asyncio.run(simulate_flows(seed))
    assert kernels() <= before + THE_LAST


def kernels() -> int:
    """Other tests of this process may have left some, too."""
    gc.collect()
    return sum(isinstance(found, Kernel) for found in gc.get_objects())
