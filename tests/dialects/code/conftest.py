"""Every test of this folder that asks for `simulate` runs twice: with parked runs kept in memory, and without.

Nothing a user can notice may differ between the two.
"""

import functools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from plait.testing import Sim, sim

Simulate = Callable[..., AbstractAsyncContextManager[Sim]]


@pytest.fixture(params=[1000, 0], ids=["cached", "uncached"])
def simulate(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`async with simulate() as s:` is an engine on virtual time; see `plait.testing`."""
    return functools.partial(sim, code_cache=request.param)
