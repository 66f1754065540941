"""TLS verifies the name that was asked for, though the connection goes to an address."""

import asyncio

import pytest

from plait.egress import Egress, EgressSettings, Request
from plait.egress.errors import ConnectFailed, TlsFailed
from tests.egress.authority import Authority
from tests.egress.names import Names
from tests.egress.site import site

NAMES = {"shop_test": [["127.0.0.1"]], "other_test": [["127.0.0.1"]]}


@pytest.fixture
def settings(authority: Authority) -> EgressSettings:
    return EgressSettings(private=True, ca_file=authority.ca_file)


async def failure(egress: Egress, url: str) -> TlsFailed:
    with pytest.raises(TlsFailed) as caught:
        await egress.send(Request(url=url, json={"secret": 1}))
    assert caught.value.code == "egress.tls_failed"
    assert caught.value.retryable is True
    return caught.value


async def test_the_server_is_asked_for_by_name_and_verified_by_name(authority: Authority, settings: EgressSettings):
    async with site(tls=authority.server("shop.test")) as shop, Egress(settings, resolver=Names(**NAMES)) as egress:
        answer = await egress.send(Request(url=shop.url(host="SHOP.test.")))
    assert answer.body == b"hello"
    assert shop.servers_name == ["shop.test"]
    assert shop.asked[0].headers["host"] == f"shop.test:{shop.port}"


async def test_a_certificate_for_an_address_serves_the_address(authority: Authority, settings: EgressSettings):
    async with site(tls=authority.server("127.0.0.1")) as shop, Egress(settings) as egress:
        assert (await egress.send(Request(url=shop.url()))).status == 200


async def test_a_certificate_for_another_name_is_refused(authority: Authority, settings: EgressSettings):
    async with site(tls=authority.server("other.test")) as shop, Egress(settings, resolver=Names(**NAMES)) as egress:
        error = await failure(egress, shop.url(host="shop.test"))
    assert "shop.test" in str(error)
    assert shop.asked == []


async def test_a_certificate_for_the_name_does_not_serve_the_address(authority: Authority, settings: EgressSettings):
    async with site(tls=authority.server("shop.test")) as shop, Egress(settings) as egress:
        await failure(egress, shop.url())


async def test_an_unknown_authority_is_refused(authority: Authority):
    async with site(tls=authority.server("127.0.0.1")) as shop, Egress(EgressSettings(private=True)) as egress:
        await failure(egress, shop.url())
    assert shop.asked == []


async def test_an_expired_certificate_is_refused(authority: Authority, settings: EgressSettings):
    tls = authority.server("127.0.0.1", days=-1)
    async with site(tls=tls) as shop, Egress(settings) as egress:
        error = await failure(egress, shop.url())
    assert "expired" in str(error)


async def test_a_connection_that_was_verified_for_one_name_does_not_serve_another(
    authority: Authority, settings: EgressSettings
):
    async with site(tls=authority.server("shop.test")) as shop, Egress(settings, resolver=Names(**NAMES)) as egress:
        await egress.send(Request(url=shop.url(host="shop.test")))
        await failure(egress, shop.url(host="other.test"))
        await egress.send(Request(url=shop.url(host="shop.test")))
    assert [asked.headers["host"].split(":")[0] for asked in shop.asked] == ["shop.test", "shop.test"]


async def test_plain_text_where_tls_was_expected_is_an_error(settings: EgressSettings):
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server, Egress(settings) as egress:
        await failure(egress, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def test_a_server_that_hangs_up_in_the_greeting_is_no_connection(settings: EgressSettings):
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server, Egress(settings) as egress:
        with pytest.raises(ConnectFailed):
            await egress.send(Request(url=f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
