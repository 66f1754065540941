"""A name is resolved once, and the connection goes to that address and no other."""

import pytest

from plait.egress import Egress, EgressSettings, Request
from plait.egress.errors import BlockedAddress, ConnectFailed
from tests.egress.names import Names
from tests.egress.site import Asked, Caller, hello, http, site

GUARDED = EgressSettings(open_addresses=("127.0.0.1/32",))
"""127.0.0.1 stands for the public internet; 127.0.0.2 is an inner machine, and closed."""


async def test_a_name_that_changes_its_address_after_the_check_gains_nothing():
    names = Names(evil_test=[["127.0.0.1"], ["127.0.0.2"]])
    async with site() as outer, site(host="127.0.0.2", port=outer.port) as inner:
        async with Egress(GUARDED, resolver=names) as egress:
            answer = await egress.send(Request(url=outer.url(host="evil.test")))
            assert answer.address == "127.0.0.1"
            assert names.asked == ["evil.test"]
            with pytest.raises(BlockedAddress):
                await egress.send(Request(url=outer.url(host="evil.test")))
        assert (outer.connections, inner.connections) == (1, 0)


async def test_a_name_that_changes_its_address_between_redirects_gains_nothing():
    names = Names(evil_test=[["127.0.0.1"], ["127.0.0.2"]])

    async def again(asked: Asked, _: Caller) -> bytes:
        return http(307, Location="/again")

    async with site(again) as outer, site(host="127.0.0.2", port=outer.port) as inner:
        async with Egress(GUARDED, resolver=names) as egress:
            with pytest.raises(BlockedAddress):
                await egress.send(Request(url=outer.url(host="evil.test")))
        assert (outer.connections, inner.connections) == (1, 0)


async def test_a_kept_connection_is_not_used_for_an_address_that_the_name_no_longer_has():
    names = Names(moving_test=[["127.0.0.1"], ["127.0.0.2"]])
    async with site() as old, site(host="127.0.0.2", port=old.port) as new:
        async with Egress(EgressSettings(private=True), resolver=names) as egress:
            addresses = [(await egress.send(Request(url=old.url(host="moving.test")))).address for _ in range(2)]
        assert addresses == ["127.0.0.1", "127.0.0.2"]
        assert (old.connections, new.connections) == (1, 1)


async def test_a_name_with_one_closed_address_is_refused_as_a_whole():
    names = Names(mixed_test=[["127.0.0.1", "127.0.0.2"]])
    async with site() as outer, Egress(GUARDED, resolver=names) as egress:
        with pytest.raises(BlockedAddress):
            await egress.send(Request(url=outer.url(host="mixed.test")))
    assert outer.connections == 0


async def test_a_closed_address_is_not_a_fallback_for_one_that_is_down():
    names = Names(shop_test=[["127.0.0.1"], ["127.0.0.2"]])
    async with site(host="127.0.0.2") as inner, Egress(GUARDED, resolver=names) as egress:
        with pytest.raises(ConnectFailed):
            await egress.send(Request(url=inner.url(host="shop.test")))
    assert names.asked == ["shop.test"]
    assert inner.connections == 0


async def test_an_address_is_not_looked_up():
    names = Names()
    async with site(hello) as shop, Egress(GUARDED, resolver=names) as egress:
        await egress.send(Request(url=shop.url()))
    assert names.asked == []


async def test_ipv6_addresses_work_as_hosts():
    async with site(host="::1") as shop, Egress(EgressSettings(private=True)) as egress:
        answer = await egress.send(Request(url=shop.url(host="[::1]")))
    assert answer.address == "::1"
    assert shop.asked[0].headers["host"] == f"[::1]:{shop.port}"
