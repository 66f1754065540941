"""Async steps: the service answers by webhook, before it returns, after, twice, too late, with a problem, never."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import goals
from plait.catalog import catalog_step
from plait.errors import RunFailed
from plait.testing import history

from .ledger import tokens
from .looking import recorded
from .servers import engine_at
from .service import REFUSED
from .services import StepService

LONG = 3600.0


def render(endpoint: str, callback_timeout: float = 0, timeout: float = 5, **options: Any):
    made = catalog_step("render").required("page", int).output("image", int)
    return made.webhook(endpoint, timeout=timeout, callback_timeout=callback_timeout, **options).retries(3, first=0.01)


@pytest.mark.parametrize(
    "acts", ["accept,callback", "callback,accept", "callback,500", "callback,drop", "callback,hang"]
)
async def test_a_webhook_is_the_answer_whatever_its_call_came_to(service: StepService, acts: str):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work(acts, gives="image")))
        run = await engine.start(goals("render"), {"page": 3})
        assert await run.result() == {"image": 4}
        [reported] = await service.has(1, lambda ledger: ledger.entries("reported"))
        assert reported.status == 200
        assert len(service.ledger.calls()) == 1
        assert len((await history(run)).of("work_succeeded")) == 1


async def test_what_the_call_itself_returns_is_not_the_answer(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("answer,gate:later,callback", gives="image")))
        run = await engine.start(goals("render"), {"page": 3})
        await recorded(run, "work_accepted")
        [reason] = await run.waiting()
        assert "callback for `render`" in reason.text
        service.open("later")
        assert await run.result() == {"image": 4}


async def test_an_answer_that_comes_twice_counts_once(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("accept,callback,callback,callback", gives="image")))
        run = await engine.start(goals("render"), {"page": 3})
        assert await run.result() == {"image": 4}
        reported = await service.has(3, lambda ledger: ledger.entries("reported"))
        assert [each.status for each in reported] == [200, 200, 200]
        assert (await history(run)).types().count("work_succeeded") == 1


@pytest.mark.parametrize("second", ["recount", "complain"])
async def test_of_two_different_answers_the_first_wins_and_the_other_is_kept_as_late(service: StepService, second: str):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work(f"accept,callback,{second}", gives="image")))
        run = await engine.start(goals("render"), {"page": 3})
        assert await run.result() == {"image": 4}
        reported = await service.has(2, lambda ledger: ledger.entries("reported"))
        assert [each.status for each in reported] == [200, 200]
        [late] = await recorded(run, "late_result")
        assert late.get("outputs") == {"image": -1} or late.get("error") == REFUSED
        assert await run.result() == {"image": 4}


async def test_a_webhook_with_a_problem_fails_the_work_for_good(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("accept,complain", gives="image")))
        run = await engine.start(goals("render"), {"page": 3})
        with pytest.raises(RunFailed, match=f"render failed: {REFUSED}"):
            await run.result()
        assert len(service.ledger.calls()) == 1


async def test_an_answer_during_the_wait_for_a_retry_wins_and_nothing_is_called_again(service: StepService):
    slow = render(service.work("500,gate:now,callback", gives="image")).retries(3, first=LONG, cap=LONG)
    async with engine_at(service.database) as engine:
        await engine.catalog.register(slow)
        run = await engine.start(goals("render"), {"page": 3})
        await recorded(run, "task.retry_scheduled")
        service.open("now")
        assert await run.result() == {"image": 4}
        assert await run.waiting() == []
        assert len(service.ledger.calls()) == 1


async def test_no_answer_in_time_calls_again_under_the_same_key(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("accept accept,callback", gives="image"), 0.8))
        run = await engine.start(goals("render"), {"page": 3})
        assert await run.result() == {"image": 4}
        first, second = service.ledger.calls()
        assert first.key == second.key == first.token == second.token
        assert second.at - first.at >= 800
        [again] = (await history(run)).of("task.retry_scheduled")
        assert again["error"]["code"] == "goals.callback_timeout"


async def test_the_late_answer_to_an_earlier_call_is_as_good_as_the_one_awaited(service: StepService):
    """The token says which work it is, not which call."""
    acts = "accept,gate:late,callback accept"
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work(acts, gives="image"), 1.0))
        run = await engine.start(goals("render"), {"page": 3})
        await recorded(run, "work_accepted", 2)
        service.open("late")
        assert await run.result() == {"image": 4}


async def test_an_answer_after_the_run_has_given_up_is_kept_and_acknowledged(service: StepService):
    acts = "accept,gate:late,callback"
    hasty = render(service.work(acts, gives="image"), 0.05).no_retries()
    async with engine_at(service.database) as engine:
        await engine.catalog.register(hasty)
        run = await engine.start(goals("render"), {"page": 3})
        with pytest.raises(RunFailed, match="no callback within 50 ms"):
            await run.result()
        service.open("late")
        [reported] = await service.has(1, lambda ledger: ledger.entries("reported"))
        assert reported.status == 200
        [late] = await recorded(run, "late_result")
        assert late["outputs"] == {"image": 4}
        assert await run.status() == "failed"


async def test_a_service_that_never_answers_is_given_up_after_its_attempts(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("accept"), 0.05).retries(2, first=0.01))
        run = await engine.start(goals("render"), {"page": 3})
        with pytest.raises(RunFailed, match="no callback within 50 ms"):
            await run.result()
        assert list(tokens(service.ledger.calls()).values()) == [3]


async def test_every_item_of_a_fan_out_is_answered_on_its_own(service: StepService):
    fanned = (
        catalog_step("render").required("pages", list, for_each=True).output("image", int)
        .webhook(service.work("500,callback accept,callback callback,accept", gives="image"), timeout=5)
        .retries(3, first=0.01).parallel(4)
    )  # fmt: skip
    async with engine_at(service.database) as engine:
        await engine.catalog.register(fanned)
        run = await engine.start(goals("render"), {"pages": list(range(20))})
        assert await run.result() == {"image": [{"pages": page, "image": page + 1} for page in range(20)]}
        assert len(tokens(service.ledger.calls())) == 20


async def test_a_flow_that_was_parked_meanwhile_is_woken_by_its_answer_and_calls_nothing_again(service: StepService):
    async with engine_at(service.database, code_cache=0) as engine:
        await engine.catalog.register(render(service.work("accept,gate:now,callback", gives="image")))
        runs = [await engine.start(goals("render"), {"page": page}) for page in range(20)]
        for run in runs:
            await recorded(run, "work_accepted")
        service.open("now")
        assert await asyncio.gather(*(run.result() for run in runs)) == [{"image": page + 1} for page in range(20)]
        assert set(tokens(service.ledger.calls()).values()) == {1}
