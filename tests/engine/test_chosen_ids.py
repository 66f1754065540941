"""Ids that callers choose: a repeated start is the same run, whether the store was looked at first or not."""

import asyncio

import pytest

from plait import Context, Engine, workflow
from plait.engine.chosen_ids import MANY
from plait.errors import Conflict
from plait.kernel.ids import RunId
from plait.kernel.store import RunRow
from plait.stores.memory import MemoryStore
from tests.engine.flows import echo


class LookedAt(MemoryStore):
    """Remembers which runs were read."""

    looks = 0

    async def run(self, run_id: RunId) -> RunRow | None:
        self.looks += 1
        return await super().run(run_id)


async def start_many(engine: Engine) -> None:
    """So many that the next start does not look first."""
    await asyncio.gather(*(engine.start(echo, 1, id=f"new-{number}") for number in range(MANY)))


@pytest.fixture
def store() -> LookedAt:
    return LookedAt()


async def test_after_many_new_ids_a_start_does_not_look_first(store: LookedAt):
    async with Engine(store=store, definitions=[echo]) as engine:
        await start_many(engine)
        store.looks = 0
        handle = await engine.start(echo, 1, id="another")
        assert handle.created
        assert store.looks == 0


async def test_a_repeated_start_is_the_same_run_and_the_next_one_looks_first(store: LookedAt):
    async with Engine(store=store, definitions=[echo]) as engine:
        await start_many(engine)
        await (await engine.get("new-0")).result()
        again = await engine.start(echo, 1, id="new-0")
        assert not again.created
        assert await again.result() == 1
        assert [event.type for event in await again.events()].count("run.started") == 1
        store.looks = 0
        await engine.start(echo, 1, id="another")
        assert store.looks == 1


async def test_a_start_with_another_input_is_a_conflict_without_a_look(store: LookedAt):
    async with Engine(store=store, definitions=[echo]) as engine:
        await start_many(engine)
        await (await engine.get("new-0")).result()
        with pytest.raises(Conflict) as caught:
            await engine.start(echo, 2, id="new-0")
        assert caught.value.code == "kernel.run_exists"


@workflow(version="1")
async def versioned(ctx: Context) -> int:
    return 1


async def test_a_start_that_could_be_refused_looks_first_whatever_came_before(store: LookedAt):
    """A version may be draining: that refuses new runs, and not those that are there."""
    async with Engine(store=store, definitions=[echo, versioned]) as engine:
        await (await engine.start(versioned, id="old")).result()
        await start_many(engine)
        store.looks = 0
        assert not (await engine.start(versioned, id="old")).created
        assert store.looks == 1
