"""Nothing takes longer than it may: names, connections, first bytes, whole answers."""

import asyncio
import socket
from collections.abc import Sequence

import pytest

from plait.egress import Egress, EgressSettings, Request
from plait.egress.errors import TimedOut
from tests.egress.names import Names
from tests.egress.site import Asked, Caller, hello, http, silence, site

LOCAL = EgressSettings(private=True)
SHORT = 0.2


async def refused(egress: Egress, request: Request) -> TimedOut:
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimedOut) as caught:
        await egress.send(request)
    assert asyncio.get_running_loop().time() - began < 20, "the limit did not hold"
    assert caught.value.code == "egress.timeout"
    assert caught.value.retryable is True
    return caught.value


async def test_a_server_that_never_answers_is_left_after_the_requests_timeout():
    async with site(silence) as shop, Egress(LOCAL) as egress:
        error = await refused(egress, Request(url=shop.url(), timeout=SHORT))
    assert "0.2 s" in str(error)


async def test_the_operators_timeout_holds_where_a_request_names_none():
    async with site(silence) as shop, Egress(EgressSettings(private=True, timeout=SHORT)) as egress:
        await refused(egress, Request(url=shop.url()))


async def test_a_request_can_not_take_longer_than_the_operator_says():
    async with site(silence) as shop, Egress(EgressSettings(private=True, max_timeout=SHORT)) as egress:
        await refused(egress, Request(url=shop.url(), timeout=10_000))


async def test_the_first_byte_has_a_limit_of_its_own():
    async with site(silence) as shop, Egress(EgressSettings(private=True, first_byte_timeout=SHORT)) as egress:
        error = await refused(egress, Request(url=shop.url()))
    assert "no answer began" in str(error)


async def test_headers_that_drip_do_not_renew_the_limit_of_the_first_byte():
    async def drip(asked: Asked, caller: Caller) -> None:
        await caller.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            await caller.write(b"X-A: a\r\n")
            await asyncio.sleep(SHORT / 10)

    async with site(drip) as shop, Egress(EgressSettings(private=True, first_byte_timeout=SHORT)) as egress:
        await refused(egress, Request(url=shop.url()))


async def test_a_body_may_take_longer_than_the_first_byte():
    async def slow(asked: Asked, caller: Caller) -> None:
        await caller.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
        for letter in (b"t", b"e", b"a"):
            await asyncio.sleep(SHORT)
            await caller.write(letter)

    async with site(slow) as shop, Egress(EgressSettings(private=True, first_byte_timeout=2 * SHORT)) as egress:
        assert (await egress.send(Request(url=shop.url()))).body == b"tea"


async def test_a_body_that_drips_is_stopped_by_the_timeout_of_the_whole():
    async def drip(asked: Asked, caller: Caller) -> None:
        await caller.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await caller.write(b"1\r\na\r\n")
            await asyncio.sleep(SHORT / 10)

    async with site(drip) as shop, Egress(LOCAL) as egress:
        await refused(egress, Request(url=shop.url(), timeout=2 * SHORT))


async def test_one_hundred_continues_without_end_are_stopped():
    async def hold(asked: Asked, caller: Caller) -> None:
        while True:
            await caller.write(b"HTTP/1.1 102 Processing\r\n\r\n")
            await asyncio.sleep(SHORT / 10)

    async with site(hold) as shop, Egress(LOCAL) as egress:
        await refused(egress, Request(url=shop.url(), timeout=2 * SHORT))


async def test_a_redirect_does_not_renew_the_timeout_of_the_whole():
    async def around(asked: Asked, caller: Caller) -> bytes:
        await asyncio.sleep(SHORT)
        return http(302, Location="/")

    settings = EgressSettings(private=True, max_redirects=100_000)
    async with site(around) as shop, Egress(settings) as egress:
        await refused(egress, Request(url=shop.url(), timeout=3 * SHORT))
    assert 1 <= len(shop.asked) <= 3


async def test_a_name_server_that_never_answers_is_left():
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with Egress(EgressSettings(connect_timeout=SHORT), resolver=never) as egress:
        error = await refused(egress, Request(url="http://shop.test/"))
    assert "resolved" in str(error)


async def test_a_machine_that_takes_no_connection_is_left():
    # A listener whose queue is full drops what comes after
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        async with Egress(EgressSettings(private=True, connect_timeout=SHORT)) as egress:
            error = await refused(egress, Request(url=f"http://127.0.0.1:{full.getsockname()[1]}/"))
        for filler in fillers:
            filler.close()
    assert "no connection" in str(error)


async def test_a_tls_greeting_that_is_never_answered_is_left_and_its_connection_closed():
    closed = asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            pass
        writer.close()
        closed.set()

    server = await asyncio.start_server(mute, "127.0.0.1", 0)
    async with server, Egress(EgressSettings(private=True, connect_timeout=SHORT)) as egress:
        await refused(egress, Request(url=f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
        await closed.wait()


async def test_the_next_address_is_tried_when_one_takes_no_connection():
    names = Names(shop_test=[["127.0.0.3", "127.0.0.2", "127.0.0.1"]])
    async with site() as shop, Egress(LOCAL, resolver=names) as egress:
        answer = await egress.send(Request(method="POST", url=shop.url(host="shop.test"), body=b"order"))
    assert answer.address == "127.0.0.1"
    assert len(shop.asked) == 1


async def test_no_other_address_is_tried_once_something_was_sent():
    async def hang_up(asked: Asked, caller: Caller) -> None:
        return None

    names = Names(shop_test=[["127.0.0.1", "127.0.0.2"]])
    async with site(hang_up) as shop, site(hello, host="127.0.0.2", port=shop.port) as other:
        async with Egress(LOCAL, resolver=names) as egress:
            with pytest.raises(Exception, match="protocol_error"):
                await egress.send(Request(method="POST", url=shop.url(host="shop.test"), body=b"order"))
        assert (shop.connections, other.connections) == (1, 0)
