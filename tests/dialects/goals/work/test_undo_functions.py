"""Compensators that are functions: declared with their step, known with its handler."""

from typing import Any, TypedDict

import pytest

from plait import Engine, goals
from plait.catalog import python_step
from plait.errors import RunFailed


class Receipt(TypedDict):
    receipt: str


async def test_a_step_is_undone_by_the_function_it_was_declared_with():
    undone: list[tuple[Any, Any]] = []

    async def refund(input: dict[str, Any], output: dict[str, Any]) -> None:
        undone.append((input, output))

    @python_step(compensate=refund)
    async def charge(amount: int) -> Receipt:
        return {"receipt": f"r-{amount}"}

    @python_step(configure=lambda step: step.no_retries())
    async def ship(receipt: str) -> None:
        raise ConnectionError("no van")

    async with Engine("memory:", definitions=[charge, ship]) as engine:
        handle = await engine.start(goals("ship"), {"amount": 5})
        with pytest.raises(RunFailed, match="ship failed: no van"):
            await handle.result()
    assert undone == [({"amount": 5}, {"receipt": "r-5"})]
