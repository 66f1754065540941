"""Asking a run something: `handle.ask`, whoever owns the run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import Engine
from plait.errors import Conflict, InvalidInput
from plait.kernel.bundle import Reference
from plait.kernel.errors import Unavailable
from tests.engine.flows import echo, listener
from tests.engine.places import OnDisk, Place, soon
from tests.kernel.toy import ToyBundle, answer, count

PROGRAM = [count(1), answer({"why": "because"}), count(2)]


async def wondering(engine: Engine, id: str) -> Any:
    return "wondered" in [event.type for event in await (await engine.get(id)).events()]


async def test_an_answer_comes_when_the_run_has_one(place: Place):
    async with place.engine(ToyBundle()) as engine:
        run = await engine.start(PROGRAM, id="t")  # type: ignore[arg-type]
        assert await run.ask("add", 0, "zero") == 0
        asking = asyncio.ensure_future(run.ask("wonder", id="q"))
        await soon(lambda: wondering(engine, "t"))
        assert not asking.done()
        await run.message("add", 1)
        assert await asking == {"why": "because"}
        assert await run.ask("add", 0, "zero") == 0


async def test_an_answer_waits_for_who_stopped_waiting_and_asks_another_engine(place: Place):
    async with place.engine(ToyBundle()) as engine:
        run = await engine.start(PROGRAM, id="t")  # type: ignore[arg-type]
        asking = asyncio.ensure_future(run.ask("wonder", id="q"))
        await soon(lambda: wondering(engine, "t"))
        asking.cancel()
        await run.message("add", 1)
    with pytest.raises(asyncio.CancelledError):
        await asking
    async with place.engine(ToyBundle()) as engine:
        run = await engine.get("t")
        assert await run.ask("wonder", id="q") == {"why": "because"}
        await run.message("add", 1)
        await run.result()
        assert await run.ask("wonder", id="q") == {"why": "because"}
        with pytest.raises(Conflict, match="has completed without an answer"):
            await run.ask("wonder", id="too late")


async def test_who_gives_up_at_once_has_still_sent_the_message(place: Place):
    async with place.engine(ToyBundle()) as engine:
        run = await engine.start(PROGRAM, id="t")  # type: ignore[arg-type]
        with pytest.raises(TimeoutError):
            await run.ask("wonder", id="q", wait=0)
        await soon(lambda: wondering(engine, "t"))
        await run.message("add", 1)
        assert await run.ask("wonder", id="q") == {"why": "because"}


async def test_an_engine_that_closes_lets_nobody_wait(place: Place):
    async with place.engine(ToyBundle()) as engine:
        run = await engine.start(PROGRAM, id="t")  # type: ignore[arg-type]
        asking = asyncio.ensure_future(run.ask("wonder"))
        await soon(lambda: wondering(engine, "t"))
    with pytest.raises(Unavailable):
        await asking


async def test_an_engine_that_owns_nothing_gets_the_answer(disk: OnDisk):
    async with disk.engine(ToyBundle()) as owner, disk.engine(ToyBundle(), work=False) as client:
        await owner.start(PROGRAM, id="t")  # type: ignore[arg-type]
        asking = asyncio.ensure_future((await client.get("t")).ask("wonder"))
        await soon(lambda: wondering(owner, "t"))
        await (await owner.get("t")).message("add", 1)
        assert await asking == {"why": "because"}


async def test_a_dialect_that_answers_nobody_gives_none(place: Place):
    async with place.engine(listener, echo) as engine:
        run = await engine.start(listener)
        assert await run.ask("go", 5) is None
        assert await run.result() == 5


@pytest.mark.parametrize(("name", "id"), [("", None), ("go", "~own"), ("go", "x" * 201)])
async def test_a_question_that_can_not_be_sent_is_refused(place: Place, name: str, id: str | None):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        with pytest.raises(InvalidInput):
            await run.ask(name, 1, id)


async def test_each_namespace_has_questions_of_its_own(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await engine.definitions.save("toy", "t", {"program": [{"kind": "count", "amount": 9}]}, namespace="acme")
        one = await engine.start(PROGRAM, id="t")  # type: ignore[arg-type]
        other = await engine.start(Reference("toy", "t", "t"), id="t", namespace="acme")
        assert await one.ask("add", 0, "same") == 0
        assert await other.ask("add", 5, "same") == 5
