"""The code dialect's scenarios once more, with the tool that users have for it."""

from typing import Any

import pytest

from plait.testing import Sim, SimRun, survives_every_crash
from tests.contract.dialects.subjects import (
    failing,
    having_children,
    listening,
    looping,
    side_by_side,
    sleepy,
    steps,
)


@pytest.mark.parametrize(
    ("flow", "input"),
    [(steps, 3), (sleepy, None), (having_children, None), (side_by_side, None), (looping, None), (failing, None)],
    ids=lambda part: getattr(part, "name", ""),
)
async def test_it_survives_every_crash(flow: Any, input: Any):
    report = await survives_every_crash(flow, input, definitions=[steps, sleepy])
    assert report.crashes >= 3 * report.commits


async def test_messages_survive_every_crash():
    async def script(sim: Sim, run: SimRun) -> None:
        await run.message("add", 1, "m-1")
        await run.message("add", 2, "m-2")

    report = await survives_every_crash(listening, None, script)
    assert report.output == [1, 2, None]
