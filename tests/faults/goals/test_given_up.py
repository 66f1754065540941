"""Calls that are given up at any moment, as when a webhook is faster than the call, leave nothing behind."""

from __future__ import annotations

import asyncio

import pytest

from plait import goals
from plait.egress import Egress, EgressSettings, Request

from .servers import engine_at
from .services import StepService
from .test_async import render

TURNS = 60
"""Of the event loop: more than a call has awaits in it."""


@pytest.mark.parametrize("others", [0, 1])
async def test_a_call_that_is_cancelled_at_any_await_gives_its_connection_back(service: StepService, others: int):
    headers = {"Argyll-Step-ID": "s", "Argyll-Flow-ID": "f", "Argyll-Receipt-Token": "t"}
    asked = Request(method="POST", url=service.work(), headers=headers, body=b"{}", idempotency_key="t", timeout=5)
    async with Egress(EgressSettings(private=True, max_connections_per_address=1)) as egress:
        for turns in range(TURNS):
            waiting = [asyncio.ensure_future(egress.send(asked)) for _ in range(others)]
            given_up = asyncio.ensure_future(egress.send(asked))
            for _ in range(turns):
                await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.gather(*waiting)
            assert (await egress.send(asked)).status == 200, f"after {turns} turns"


async def test_any_number_of_calls_may_be_overtaken_by_their_webhooks(service: StepService):
    async with engine_at(service.database) as engine:
        await engine.catalog.register(render(service.work("callback,accept", gives="image")))
        runs = [await engine.start(goals("render"), {"page": page}) for page in range(200)]
        assert await asyncio.gather(*(run.result() for run in runs)) == [{"image": page + 1} for page in range(200)]
