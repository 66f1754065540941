"""What engines leave behind that stopped in the middle of a commit."""

import asyncio
import gc

import pytest

from plait.kernel.kernel import Kernel
from plait.testing.sim.search import SIMULATIONS, Dialect
from plait.testing.sim.world import World

STORMY = (1, 2, 9, 17, 18, 21)
"""Seeds with engines that crash while a commit is under way, and with scripts that fail."""


@pytest.mark.costly
@pytest.mark.parametrize("dialect", SIMULATIONS)
def test_engines_that_crashed_with_a_commit_under_way_are_collected(dialect: Dialect):
    before = kernels()
    for seed in STORMY:
        asyncio.run(SIMULATIONS[dialect](seed))
    assert kernels() <= before


def kernels() -> int:
    """Other tests of this process may have left some, too."""
    if hasattr(World, "current"):
        del World.current  # of the last simulation: its timers hold all its engines
    gc.collect()
    return sum(isinstance(found, Kernel) for found in gc.get_objects())
