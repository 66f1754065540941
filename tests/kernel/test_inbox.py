"""The inbox: every input once, in order, whatever else goes on meanwhile."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.background import Background
from plait.kernel.ids import RunId, Shard, shard_of
from plait.kernel.inbox import Inbox
from plait.kernel.inputs import AnyInput, Message
from plait.kernel.observer import Observers
from plait.kernel.store import InboxRow
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.contract.stores.builders import must, outside
from tests.kernel.builders import NOW, add, all_shards
from tests.kernel.rig import CountingStore, rig
from tests.kernel.toy import count, tell


class Box:
    """A mail on a real inbox, that only notes what it is asked to deliver."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.delivered: list[str] = []
        leases = all_shards()
        self.mail = Inbox(self.store, leases, self, Background(VirtualClock(), Observers()))

    def deliver(self, run_id: RunId, input: AnyInput, key: str | None) -> None:
        assert key is not None
        self.delivered.append(key)

    async def put(self, *keys: str, body: bytes | None = None) -> None:
        rows = [row(key, body) for key in keys]
        await must(self.store, outside("run", inbox=rows))


def row(key: str, body: bytes | None = None) -> InboxRow:
    run = RunId("run")
    return InboxRow(run, shard_of(run), key, values.plain(add(1, key)) if body is None else body, NOW)


async def box() -> Box:
    found = Box()
    await found.store.open()
    return found


async def test_everything_that_waits_is_delivered_in_order():
    found = await box()
    await found.put("a", "b", "c")
    await found.mail.look()
    assert found.delivered == ["a", "b", "c"]


async def test_what_is_under_way_is_not_delivered_again():
    found = await box()
    await found.put("a")
    await found.mail.look()
    await found.put("b")
    await found.mail.look()
    assert found.delivered == ["a", "b"]


async def test_what_was_taken_is_forgotten_and_what_was_dropped_is_delivered_again():
    found = await box()
    await found.put("a", "b")
    await found.mail.look()
    found.mail.forget(RunId("run"))
    await found.mail.look()
    assert found.delivered == ["a", "b", "a", "b"]


async def test_thousands_of_inputs_are_all_delivered_once():
    found = await box()
    keys = [f"k-{number:05}" for number in range(3_000)]
    await found.put(*keys)
    await found.mail.look()
    assert found.delivered == keys


async def test_a_look_that_is_asked_for_while_one_is_under_way_is_not_lost():
    found = await box()
    await found.put("a")
    first = asyncio.ensure_future(found.mail.look())
    await asyncio.sleep(0)
    await found.put("b")
    await found.mail.look()
    await first
    assert found.delivered == ["a", "b"]


async def test_an_input_this_engine_can_not_read_stays_and_holds_nobody_up(caplog: pytest.LogCaptureFixture):
    found = await box()
    await found.put("strange", body=b'{"kind": "telepathy"}')
    await found.put("a", "b")
    await found.mail.look()
    assert found.delivered == ["a", "b"]
    assert "telepathy" in caplog.text
    assert [waiting.key for waiting in await found.store.inbox(all_shards().shards, 10)] == ["strange", "a", "b"]


# -- in a kernel -----------------------------------------------------------------------------------------------------


class SlowReader(CountingStore):
    """A store whose inbox takes its time to be read, as one over a network does."""

    reading: asyncio.Event | None = None

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        found = await super().inbox(shards, limit)
        if self.reading is not None:
            await self.reading.wait()
        return found


async def order(on: Any, run: RunId) -> list[str]:
    rows = [event for log in await on.store.log(run) for event in values.decode(log.events)]
    return [event["id"] for event in rows if event["type"] == "counted"]


async def test_a_message_from_another_run_does_not_overtake_one_that_was_acknowledged_before_it():
    store = SlowReader()
    async with rig(store) as on:
        run = await on.start(count(99), id="target")
        store.reading = asyncio.Event()
        await on.kernel.send(run, add(1, "first"), "first")  # acknowledged: it is in the inbox
        await on.settle()
        await on.start(tell("target", 1), id="teller")
        await on.settle()
        store.reading.set()
        await on.settle()
        assert await order(on, run) == ["first", "teller:tell:0"]
    await store.dispose()


async def test_the_same_key_twice_is_one_input():
    async with rig() as on:
        run = await on.start(count(99))
        for _ in range(3):
            await on.send(run, add(1, "m"), "same")
        assert await order(on, run) == ["m"]


async def test_a_thousand_messages_sent_at_once_are_taken_in_the_order_they_were_stored():
    async with rig() as on:
        run = await on.start(count(5_000))
        await asyncio.gather(*(on.kernel.send(run, add(1, f"{n:04}"), f"{n:04}") for n in range(1_000)))
        await on.settle()
        assert await order(on, run) == [f"{n:04}" for n in range(1_000)]


async def test_messages_for_a_run_that_is_not_in_memory_wait_until_it_is():
    async with rig(cache_size=0) as on:
        run = await on.start(count(5_000))
        for number in range(10):
            await on.kernel.send(run, add(1, f"{number}"), f"{number}")
        await on.settle()
        assert await order(on, run) == [f"{number}" for number in range(10)]


async def test_an_input_for_a_run_nobody_knows_harms_nobody():
    async with rig() as on:
        await on.send(RunId("nobody"), add(1), "k")
        run = await on.start(count(1))
        await on.send(run, Message("m", "add", values.encode(1)), "k")
        assert (await on.output(run))["counter"] == 1
