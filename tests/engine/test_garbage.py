from __future__ import annotations

import gc

import pytest

from plait import Engine

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


async def test_while_an_engine_works_collections_are_rare_and_afterwards_as_before():
    async with Engine("memory:"):
        assert gc.get_threshold()[0] > USUAL[0]
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == USUAL
    assert gc.get_freeze_count() == 0


async def test_the_last_of_several_engines_gives_them_back():
    async with Engine("memory:"):
        async with Engine("memory:"):
            pass
        assert gc.get_threshold()[0] > USUAL[0]
    assert gc.get_threshold() == USUAL


async def test_thresholds_of_the_program_are_left_alone():
    gc.set_threshold(1_000, 20, 20)
    async with Engine("memory:"):
        assert gc.get_threshold() == (1_000, 20, 20)
    assert gc.get_threshold() == (1_000, 20, 20)


async def test_an_engine_that_only_looks_changes_nothing():
    async with Engine("memory:", work=False):
        assert gc.get_threshold() == USUAL
