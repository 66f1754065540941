"""Patches: each makes a new revision, says who made it, and is refused if it was made for another one."""

from __future__ import annotations

from typing import Any

import pytest

from plait.engine.ask import ask
from plait.kernel import values
from plait.kernel.errors import Conflict, PlaitError
from plait.kernel.ids import RunId
from plait.kernel.inputs import Patch
from plait.kernel.loader import recorded
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.kernel.builders import add
from tests.kernel.rig import Rig, rig
from tests.kernel.toy import count


def moves(*amounts: int) -> list[dict[str, Any]]:
    return [{"kind": "count", "amount": amount} for amount in amounts]


async def patch(on: Rig, run: RunId, patch: Patch) -> int:
    """The new revision."""
    return values.decode(await ask(on.kernel, run, patch) or values.NULL, int)


async def patches(on: Rig, run: RunId) -> list[tuple[int, str]]:
    events = await recorded(on.store, run)
    return [(event.data["revision"], event.data.get("by", "")) for event in events if event.type == "run.patched"]


async def test_each_patch_is_a_new_revision_with_its_author():
    async with rig() as on:
        run = await on.start(count(1))
        assert await patch(on, run, Patch(moves(2), "ann")) == 2
        assert await patch(on, run, Patch(moves(3), "bob", base=2)) == 3
        assert await patch(on, run, Patch(moves(4))) == 4
        assert await patches(on, run) == [(2, "ann"), (3, "bob"), (4, "")]


@pytest.mark.parametrize("base", [1, 3, 0, -1])
async def test_a_patch_for_another_revision_changes_nothing_and_names_the_one_there_is(base: int):
    async with rig() as on:
        run = await on.start(count(1))
        await patch(on, run, Patch(moves(2)))
        before = await recorded(on.store, run)
        with pytest.raises(Conflict) as caught:
            await patch(on, run, Patch(moves(9), base=base))
        assert (caught.value.code, caught.value.status) == ("kernel.revision_stale", 412)
        assert "revision 2" in caught.value.what
        assert f"revision {base}" in caught.value.why
        assert await recorded(on.store, run) == before
        assert await patch(on, run, Patch(moves(2), base=2)) == 3


async def test_of_two_patches_for_one_revision_the_second_is_refused():
    async with rig() as on:
        run = await on.start(count(1))
        for key, text in (("a", b"2"), ("b", b'{"error":')):
            await on.kernel.send(run, Patch(moves(2), key, base=1), key)
            await on.settle()
            taken = await on.store.reply(run, key)
            assert taken is not None
            assert (taken.reply or b"").startswith(text)
        assert await patches(on, run) == [(2, "a")]


async def test_a_patch_that_comes_twice_is_one():
    async with rig() as on:
        run = await on.start(count(1))
        for _ in range(2):
            assert await on.ask(run, Patch(moves(2), base=1), "same") == b"2"


@pytest.mark.parametrize("cache_size", [0, 1000])
async def test_a_run_that_was_read_again_knows_its_revision(cache_size: int):
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with rig(store, clock=clock, cache_size=cache_size) as on:
        run = await on.start(count(9_999))
        for number in range(120):
            await patch(on, run, Patch([], base=number + 1))
        for number in range(1_000):  # far enough for a snapshot
            await on.kernel.send(run, add(1, f"m{number}"), f"m{number}")
        await on.settle()
        assert await store.snapshot(run) is not None
    async with rig(store, clock=clock, owner="next") as after:
        assert b"is at revision 121" in (await after.ask(run, Patch([], base=1), "again") or b"")
    await store.dispose()


async def test_a_patch_that_the_dialect_refuses_is_no_revision():
    async with rig() as on:
        run = await on.start(count(1))
        with pytest.raises(PlaitError):
            await patch(on, run, Patch([{"kind": "fly"}]))
        assert await patch(on, run, Patch(moves(2), base=1)) == 2


async def test_an_ended_run_is_not_patched():
    async with rig() as on:
        run = await on.start()
        await on.end(run)
        with pytest.raises(Conflict) as caught:
            await patch(on, run, Patch(moves(1), base=7))
        assert caught.value.code == "RUN_FINISHED"
