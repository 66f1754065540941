"""Flows that failed and are tried again: the same answer may come a second time, and counts then."""

from __future__ import annotations

import pytest

from plait import goals
from plait.errors import RunFailed
from plait.testing import history

from .ledger import tokens
from .servers import engine_at
from .service import REFUSED
from .services import StepService
from .test_async import render


async def test_an_answer_that_came_too_late_and_comes_again_after_a_retry_counts(service: StepService):
    acts = "accept,gate:late,callback accept,callback"
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work(acts, gives="image"), 2.0).no_retries())
        run = await engine.start(goals("render"), {"page": 3})
        with pytest.raises(RunFailed, match="no callback within"):
            await run.result()
        service.open("late")
        await service.has(1, lambda ledger: ledger.entries("reported"))
        await run.retry()
        assert await run.result() == {"image": 4}
        assert list(tokens(service.ledger.calls()).values()) == [2]
        assert len((await history(run)).of("late_result")) == 1


async def test_the_same_problem_after_a_retry_fails_the_flow_again(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("accept,complain"), 0))
        run = await engine.start(goals("render"), {"page": 3})
        for times in (1, 2):
            with pytest.raises(RunFailed, match=REFUSED):
                await run.result()
            assert len(service.ledger.calls()) == times
            await run.retry()
