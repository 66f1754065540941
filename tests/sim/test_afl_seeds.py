"""Random programs of AFL in random weather: every seed a calm and a stormy simulation. A failure shows its replay."""

import asyncio

import pytest

from plait.dialects.afl import preparation
from plait.dialects.afl.preparation import prepare
from plait.testing.sim.afl.seeds import simulate_afl
from plait.testing.sim.event_loop import run
from tests.support.effort import examples

SEEDS = examples(40)
AT_ONCE = 10


@pytest.mark.chance
@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_every_promise_is_kept_whatever_happens(first: int):
    for seed in range(first, first + AT_ONCE):
        report = asyncio.run(simulate_afl(seed))
        assert report.failure is None, str(report)


def test_a_seed_ends_alike_whatever_its_process_has_compiled_before(monkeypatch: pytest.MonkeyPatch):
    """Seed 5829: what was compiled for it was forgotten just before it was used, and compiled again in a thread."""
    before = prepare({"source": "namespace n { workflow W() }"})
    monkeypatch.setattr(preparation, "_known", {b"another": before})
    monkeypatch.setattr(preparation, "_KEPT", 3)
    report = run(simulate_afl(5829))
    assert report.failure is None, str(report)
