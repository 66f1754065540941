"""Connections are kept, bounded, and given back whatever happens."""

import asyncio

import pytest

from plait.egress import Egress, EgressSettings, Request
from plait.egress.errors import AnswerTooLarge, TimedOut
from tests.egress.names import Names
from tests.egress.site import Asked, Caller, http, site


class Gate:
    """Holds answers back until it is opened, and counts who waits."""

    def __init__(self) -> None:
        self.waiting = 0
        self.most = 0
        self.arrived = asyncio.Condition()
        self.opened = asyncio.Event()

    async def answer(self, asked: Asked, caller: Caller) -> bytes:
        async with self.arrived:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            self.arrived.notify_all()
        await self.opened.wait()
        self.waiting -= 1
        return http()

    async def until(self, count: int) -> None:
        async with self.arrived:
            await self.arrived.wait_for(lambda: self.waiting == count)


async def test_a_connection_is_used_again():
    async with site() as shop, Egress(EgressSettings(private=True)) as egress:
        for _ in range(5):
            await egress.send(Request(url=shop.url()))
    assert shop.connections == 1


async def test_a_connection_that_the_server_closed_is_not_used_again():
    async def once(asked: Asked, caller: Caller) -> None:
        await caller.write(http(body=b"bye", Connection="close"))

    async with site(once) as shop, Egress(EgressSettings(private=True)) as egress:
        for _ in range(3):
            assert (await egress.send(Request(url=shop.url()))).body == b"bye"
    assert shop.connections == 3


async def test_connections_to_one_address_are_bounded():
    gate = Gate()
    settings = EgressSettings(private=True, max_connections_per_address=2)
    async with site(gate.answer) as shop, Egress(settings) as egress:
        sends = [asyncio.create_task(egress.send(Request(url=shop.url()))) for _ in range(6)]
        await gate.until(2)
        gate.opened.set()
        await asyncio.gather(*sends)
    assert gate.most == 2
    assert shop.connections == 2


async def test_connections_are_bounded_in_all_but_a_slow_address_holds_up_no_other():
    gate = Gate()
    settings = EgressSettings(private=True, max_connections=2, max_connections_per_address=1)
    async with site(gate.answer) as slow, site() as quick, Egress(settings) as egress:
        sends = [asyncio.create_task(egress.send(Request(url=slow.url()))) for _ in range(5)]
        await gate.until(1)
        assert (await egress.send(Request(url=quick.url()))).status == 200
        gate.opened.set()
        await asyncio.gather(*sends)
    assert slow.connections == 1


async def test_waiting_for_a_connection_counts_to_the_timeout():
    gate = Gate()
    settings = EgressSettings(private=True, max_connections=1)
    async with site(gate.answer) as shop, Egress(settings) as egress:
        first = asyncio.create_task(egress.send(Request(url=shop.url())))
        await gate.until(1)
        with pytest.raises(TimedOut):
            await egress.send(Request(url=shop.url(), timeout=0.1))
        gate.opened.set()
        assert (await first).status == 200
    assert len(shop.asked) == 1


@pytest.mark.parametrize("when", ["before the answer", "in the body"])
async def test_a_cancelled_request_hangs_up_and_gives_its_place_back(when: str):
    arrived, gone = asyncio.Event(), asyncio.Event()

    async def answer(asked: Asked, caller: Caller) -> bytes | None:
        if asked.path == "/quick":
            return http(body=b"quick")
        if when == "in the body":
            await caller.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        arrived.set()
        await caller.gone()
        gone.set()
        return None

    async with site(answer) as shop, Egress(EgressSettings(private=True, max_connections=1)) as egress:
        send = asyncio.create_task(egress.send(Request(url=shop.url())))
        await arrived.wait()
        send.cancel()
        with pytest.raises(asyncio.CancelledError):
            await send
        await gone.wait()
        assert (await egress.send(Request(url=shop.url("/quick")))).body == b"quick"


async def test_a_cancelled_wait_takes_no_place_with_it():
    gate = Gate()
    async with site(gate.answer) as shop, Egress(EgressSettings(private=True, max_connections=1)) as egress:
        first, second, third = (asyncio.create_task(egress.send(Request(url=shop.url()))) for _ in range(3))
        await gate.until(1)
        second.cancel()
        gate.opened.set()
        assert [(await task).status for task in (first, third)] == [200, 200]
        with pytest.raises(asyncio.CancelledError):
            await second


async def test_a_refused_body_gives_its_place_back():
    async def large(asked: Asked, caller: Caller) -> bytes:
        return http(body=b"a" * (11 if asked.path == "/" else 1))

    settings = EgressSettings(private=True, max_connections=1, max_response_bytes=10)
    async with site(large) as shop, Egress(settings) as egress:
        for _ in range(3):
            with pytest.raises(AnswerTooLarge):
                await egress.send(Request(url=shop.url()))
        assert (await egress.send(Request(url=shop.url("/small")))).status == 200


async def test_idle_connections_are_bounded_and_the_oldest_go_first():
    closed: asyncio.Queue[str] = asyncio.Queue()

    async def remember(asked: Asked, caller: Caller) -> None:
        await caller.write(http())
        await caller.gone()
        closed.put_nowait(asked.headers["host"].split(":")[0])

    names = Names(**{f"n{n}_test": [["127.0.0.1"]] for n in range(4)})
    settings = EgressSettings(private=True, max_idle_connections=2)
    async with site(remember) as shop:
        async with Egress(settings, resolver=names) as egress:
            for n in range(4):
                await egress.send(Request(url=shop.url(host=f"n{n}.test")))
            assert [await closed.get() for _ in range(2)] == ["n0.test", "n1.test"]
            assert closed.empty()
        assert {await closed.get() for _ in range(2)} == {"n2.test", "n3.test"}


async def test_an_idle_connection_is_closed_after_a_while_though_nobody_asks_again():
    gone = asyncio.Event()

    async def wait(asked: Asked, caller: Caller) -> None:
        await caller.write(http())
        await caller.gone()
        gone.set()

    async with site(wait) as shop, Egress(EgressSettings(private=True, keep_alive=0.05)) as egress:
        await egress.send(Request(url=shop.url()))
        await gone.wait()
