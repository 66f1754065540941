"""The five dialects together: each starts each as a child, passes values, hears of its failure, and cancels it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait.errors import RunFailed
from tests.matrix.families import DIALECTS, engine, parent

PAIRS = [(one, other) for one in DIALECTS for other in DIALECTS]


def numbers(found: Any) -> set[int]:
    if isinstance(found, dict):
        return {each for value in found.values() for each in numbers(value)}
    if isinstance(found, list):
        return {each for value in found for each in numbers(value)}
    return {found} if isinstance(found, int) else set()


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_a_child_of_any_dialect_gets_and_gives_values(one: str, other: str):
    async with engine() as found:
        handle = await found.start(parent(one, other), {"do": "double", "n": 21})
        assert 42 in numbers(await handle.result())
        assert len(await found.runs()) == 2


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_the_failure_of_a_child_of_any_dialect_is_its_parents(one: str, other: str):
    async with engine() as found:
        handle = await found.start(parent(one, other), {"do": "fail", "n": 1})
        with pytest.raises(RunFailed, match="told to fail"):
            await handle.result()
        assert {run.status for run in await found.runs()} == {"failed"}


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_a_cancel_reaches_a_child_of_any_dialect(one: str, other: str):
    async with engine() as found:
        handle = await found.start(parent(one, other), {"do": "wait", "n": 1})
        async with asyncio.timeout(20):
            while len(await found.runs()) < 2:  # noqa: ASYNC110 -- there is nothing to wait for but the other run
                await asyncio.sleep(0.005)
            await handle.cancel()
            while {run.status for run in await found.runs()} != {"cancelled"}:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
