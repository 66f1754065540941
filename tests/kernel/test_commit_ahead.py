"""Where the store commits in another process, the next round is decided while the last one is on its way."""

import asyncio

import pytest

from plait.kernel.errors import LeaseLost, Unavailable
from plait.kernel.ids import RunId
from plait.kernel.store import Write
from tests.kernel.rig import CountingStore, Rig, rig, until
from tests.kernel.toy import count, task


@pytest.fixture(autouse=True)
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountingStore, "commits_elsewhere", True)


def store_of(on: Rig) -> CountingStore:
    assert isinstance(on.store, CountingStore)
    return on.store


def is_decided(on: Rig, id: str) -> bool:
    """Its first events are there, if only in memory."""
    run = on.kernel.run_cache.get(RunId(id))
    return run is not None and run.state.seq > 0


async def begin(on: Rig, store: CountingStore, steps: list[str]) -> list[asyncio.Future[RunId]]:
    """One run whose commit is held, and two that come meanwhile."""

    async def step() -> str:
        steps.append("step")
        return "done"

    on.dialect.calls["step"] = step  # pyright: ignore[reportAttributeAccessIssue]
    store.gate = asyncio.Event()
    first = asyncio.ensure_future(on.start(count(1), id="first"))
    await until(lambda: on.kernel.loop.committing)
    others = [asyncio.ensure_future(on.start(task("step"), id=id)) for id in ("a", "b")]
    await until(lambda: is_decided(on, "a") and is_decided(on, "b"))
    return [first, *others]


async def test_runs_are_decided_during_the_commit_of_others_and_their_steps_wait_for_their_own():
    async with rig() as on:
        store, steps = store_of(on), list[str]()
        starts = await begin(on, store, steps)
        assert (store.commits, steps) == ([], [])
        assert store.gate is not None
        store.gate.set()
        await asyncio.gather(*starts)
        assert [[write.run_id for write in batch] for batch in store.commits[:2]] == [["first"], ["a", "b"]]
        for id in ("a", "b"):
            assert (await on.output(RunId(id)))["outputs"] == ["done"]
        assert steps == ["step", "step"]


async def test_what_was_decided_ahead_and_is_refused_is_dropped_and_has_no_effect():
    async with rig() as on:
        store, steps = store_of(on), list[str]()
        starts = await begin(on, store, steps)

        def refuse(write: Write) -> str | None:
            return "exists" if write.run_id == "a" else None

        store.refusing = refuse  # type: ignore[assignment]
        assert store.gate is not None
        store.gate.set()
        await asyncio.gather(*starts, return_exceptions=True)
        assert (await on.output(RunId("b")))["outputs"] == ["done"]
        assert steps == ["step"]
        assert on.kernel.run_cache.get(RunId("a")) is None


async def test_who_starts_a_run_that_was_decided_ahead_is_told_that_the_store_is_away():
    async with rig() as on:
        store, steps = store_of(on), list[str]()
        starts = await begin(on, store, steps)
        store.away = True
        assert store.gate is not None
        store.gate.set()
        found = await asyncio.gather(*starts, return_exceptions=True)
        assert [type(each) for each in found] == [Unavailable] * 3
        assert steps == []
        store.away = False


async def test_who_waits_for_what_was_decided_ahead_is_told_when_the_engine_stops():
    async with rig() as on:
        starts = await begin(on, store_of(on), [])
        await on.kernel.crash()
        found = await asyncio.gather(*starts, return_exceptions=True)
        assert [type(each) for each in found] == [LeaseLost] * 3
