"""Engines with different Python steps on one PostgreSQL: a run of goals is done by one that has all it calls."""

import asyncio
from collections.abc import Iterable
from typing import Any, TypedDict

from plait import Engine, Handle, goals
from plait.catalog import catalog_step, python_step
from plait.kernel.ids import SHARDS, RunId, shard_of
from plait.testing import history
from tests.engine.fleets import engine, share, until

MANY = 20


class Packed(TypedDict):
    parcel: str


class Sent(TypedDict):
    tracking: str


undone: list[str] = []


async def unpack(input: dict[str, Any], output: dict[str, Any]) -> None:
    undone.append(output["parcel"])


@python_step(compensate=unpack)
async def pack(item: str) -> Packed:
    return {"parcel": f"a parcel of {item}"}


@python_step
async def send(parcel: str) -> Sent:
    return {"tracking": f"sent {parcel}"}


label = catalog_step("label").required("parcel", str).output("label", str).ale('{:label (str "to " parcel)}')


async def start(engine: Engine, numbers: Iterable[int]) -> list[Handle[Any]]:
    return [await engine.start(goals("send"), {"item": f"tea {n}"}, id=f"order-{n}") for n in numbers]


async def test_runs_go_to_the_engine_that_has_their_functions_and_nobody_sees_them_blocked(postgres_url: str):
    async with engine(postgres_url, pack, send) as having, engine(postgres_url) as other:
        await share(having, other)
        handles = await start(having, range(MANY))
        strays = [handle for handle in handles if shard_of(RunId(handle.id)) in other.kernel.leases]
        assert strays
        assert await asyncio.gather(*(handle.result() for handle in handles)) == [
            {"tracking": f"sent a parcel of tea {n}"} for n in range(MANY)
        ]
        for handle in handles:
            (await history(handle)).assert_recorded_once()
        assert all([(await handle.row()).shard >= SHARDS for handle in strays])


async def test_a_function_that_an_engine_lacks_in_the_middle_of_a_run_moves_it_with_what_was_done(postgres_url: str):
    async with engine(postgres_url, pack, send) as having, engine(postgres_url, pack) as half:
        await share(having, half)
        handles = await start(having, range(MANY))
        await asyncio.gather(*(handle.result() for handle in handles))
        for handle in handles:
            (await history(handle)).assert_recorded_once()
        moved = [handle for handle in handles if (await handle.row()).shard >= SHARDS]
        assert {shard_of(RunId(handle.id)) in half.kernel.leases for handle in moved} == {True}


async def test_a_run_that_no_engine_has_the_functions_of_waits_for_one_that_has_all(postgres_url: str):
    async with engine(postgres_url, pack, send):
        pass  # the catalog has the steps from now on
    async with engine(postgres_url) as other:
        [handle] = await start(other, [1])

        async def says() -> list[str]:
            return [reason.text for reason in await handle.waiting()]

        async def waits() -> bool:
            return "no engine here has" in "".join(await says())

        await until(waits)
        [reason] = await says()
        assert "`python:pack`" in reason
        assert "`python:send`" in reason
        assert (await handle.row()).blocked is None
        async with engine(postgres_url, pack):  # half of it is not enough
            assert await says() == [reason]
        async with engine(postgres_url, pack, send):
            assert await handle.result() == {"tracking": "sent a parcel of tea 1"}


async def test_a_compensator_that_an_engine_lacks_is_done_by_one_that_has_it(postgres_url: str):
    undone.clear()
    async with engine(postgres_url, pack, send) as having:
        handles = await start(having, range(MANY))
        await asyncio.gather(*(handle.result() for handle in handles))
    async with engine(postgres_url, pack, send) as having, engine(postgres_url) as other:
        await share(having, other)
        ended = [await having.get(handle.id) for handle in handles]
        await asyncio.gather(*(handle.compensate() for handle in ended))

        async def all_undone() -> bool:
            return len(undone) == MANY

        await until(all_undone)
        assert sorted(undone) == sorted(f"a parcel of tea {n}" for n in range(MANY))


async def test_steps_that_need_no_function_are_done_anywhere(postgres_url: str):
    async with engine(postgres_url, label) as one, engine(postgres_url, label, pack) as two:
        await share(one, two)
        handles = [await one.start(goals("label"), {"parcel": str(n)}, id=f"label-{n}") for n in range(MANY)]
        assert await asyncio.gather(*(h.result() for h in handles)) == [{"label": f"to {n}"} for n in range(MANY)]
        assert one.kernel.store.fleet is not None
        assert await one.kernel.store.fleet.pools() == []
