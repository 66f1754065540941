"""What engines leave behind that stopped in the middle of a commit."""

import asyncio
import gc

import pytest

from plait.kernel.kernel import Kernel
from plait.testing.sim.flows.seeds import simulate_flows

THE_LAST = 2
"""Frames of the last simulation may still hold these."""


@pytest.mark.costly
def test_engines_that_crashed_with_a_commit_under_way_are_collected():
    simulate_some()  # some storms leave a few engines, for a reason not found yet: the same storms must not leave more
    before = kernels()
    simulate_some()
    assert kernels() <= before + THE_LAST


def simulate_some() -> None:
    for seed in range(4):
        asyncio.run(simulate_flows(seed))


def kernels() -> int:
    """Other tests of this process may have left some, too."""
    gc.collect()
    return sum(isinstance(found, Kernel) for found in gc.get_objects())
