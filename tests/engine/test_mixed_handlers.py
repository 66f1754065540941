"""Engines with different functions on one PostgreSQL: a run of `refs` or `afl` is done by one that has all it calls."""

import asyncio
from typing import Any

import pytest

from plait import Engine, Handle, afl, refs, step
from plait.kernel.ids import SHARDS, RunId, shard_of
from plait.testing import history
from tests.engine.fleets import engine, share, until

MANY = 16


@step
async def pack(item: str) -> dict[str, str]:
    return {"parcel": f"a parcel of {item}"}


@step
async def send(parcel: str) -> dict[str, str]:
    return {"tracking": f"sent {parcel}"}


SHIP = refs(
    {
        "steps": [
            {"name": "pack", "action": {"function": "pack"}, "input": {"item": "@input.item"}},
            {
                "name": "send",
                "action": {"function": "send"},
                "input": {"parcel": "@pack.parcel"},
                "config": {"onInterrupt": "fail"},
            },
        ]
    }
)

PROGRAM = """
namespace shop {
    event facet Pack(item: String) => (parcel: String)
    event facet Send(parcel: String) => (tracking: String)
    workflow Ship(item: String) => (tracking: String) andThen {
        packed = Pack(item = $.item)
        sent = Send(parcel = packed.parcel)
        yield Ship(tracking = sent.tracking)
    }
}
"""


def packed(payload: dict[str, Any]) -> dict[str, Any]:
    return {"parcel": f"a parcel of {payload['item']}"}


def sent(payload: dict[str, Any]) -> dict[str, Any]:
    return {"tracking": f"sent {payload['parcel']}"}


HANDLERS = {"shop.Pack": packed, "shop.Send": sent}


class Refs:
    """The functions of an engine are its `@step`s."""

    last = "python:send"

    def engine(self, url: str, *, has: int, **options: Any) -> Engine:
        return engine(url, *(pack, send)[:has], **options)

    async def start(self, engine: Engine, number: int) -> Handle[Any]:
        return await engine.start(SHIP, {"item": f"tea {number}"}, id=f"ship-{number}")


class Afl:
    """The functions of an engine are its handlers. Who does what is settled where a run starts."""

    last = "afl:shop.Send"

    def engine(self, url: str, *, has: int, **options: Any) -> Engine:
        made = engine(url, **options)
        for name in list(HANDLERS)[:has]:
            made.afl.handler(name, HANDLERS[name])
        return made

    async def start(self, engine: Engine, number: int) -> Handle[Any]:
        return await engine.start(afl(PROGRAM, "shop.Ship"), {"item": f"tea {number}"}, id=f"ship-{number}")


@pytest.fixture(params=[Refs(), Afl()], ids=["refs", "afl"])
def dialect(request: pytest.FixtureRequest) -> Refs | Afl:
    return request.param


@pytest.mark.parametrize("has", [0, 1])
async def test_runs_go_to_the_engine_that_has_their_functions(postgres_url: str, dialect: Refs | Afl, has: int):
    async with dialect.engine(postgres_url, has=2) as having, dialect.engine(postgres_url, has=has) as other:
        await share(having, other)
        handles = [await dialect.start(having, number) for number in range(MANY)]
        strays = [handle for handle in handles if shard_of(RunId(handle.id)) in other.kernel.leases]
        assert strays
        outputs = await asyncio.gather(*(handle.result() for handle in handles))
        assert outputs == [{"tracking": f"sent a parcel of tea {n}"} for n in range(MANY)]
        for handle in handles:
            (await history(handle)).assert_recorded_once()
            assert await handle.timeline()
        assert all([(await handle.row()).shard >= SHARDS for handle in strays])
        moved = [handle for handle in handles if (await handle.row()).shard >= SHARDS]
        assert len(moved) == len(strays)  # what its owner can do stays


async def test_a_run_whose_functions_no_engine_has_waits_for_one_that_has_all(postgres_url: str, dialect: Refs | Afl):
    async with dialect.engine(postgres_url, has=0) as other:
        async with dialect.engine(postgres_url, has=2, work=False) as client:
            await dialect.start(client, 1)
        handle = await other.get("ship-1")

        async def says() -> list[str]:
            return [reason.text for reason in await handle.waiting()]

        async def waits() -> bool:
            return "no engine here has" in "".join(await says())

        await until(waits)
        [reason] = await says()
        assert f"`{dialect.last}`" in reason
        async with dialect.engine(postgres_url, has=1):  # half of it is not enough
            assert await says() == [reason]
        assert (await handle.row()).status == "running"
        async with dialect.engine(postgres_url, has=2):
            assert await handle.result() == {"tracking": "sent a parcel of tea 1"}
