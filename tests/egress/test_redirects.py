"""Redirects are followed by the standard, and each is checked like a first request."""

import pytest

from plait.egress import Egress, EgressSettings, Request
from plait.egress.errors import BadRedirect, BadUrl, BlockedAddress, BlockedHost, TooManyRedirects
from tests.egress.authority import Authority
from tests.egress.names import Names
from tests.egress.site import Answer, Asked, Caller, http, site

LOCAL = EgressSettings(private=True)
GUARDED = EgressSettings(open_addresses=("127.0.0.1/32",))
"""127.0.0.1 stands for the public internet; 127.0.0.2 is an inner machine, and closed."""


def to(location: str, status: int = 302) -> Answer:
    """Sends callers of `/` away, and answers all else."""

    async def answer(asked: Asked, _: Caller) -> bytes:
        return http(status, Location=location) if asked.path == "/" else http(body=b"there")

    return answer


KEEP = [
    (status, method, method) for status in (307, 308) for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
]
SEE = [(303, method, "GET") for method in ("GET", "POST", "PUT", "PATCH", "DELETE")] + [(303, "HEAD", "HEAD")]
OLD = [(status, method, method) for status in (301, 302) for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE")]
POST = [(status, "POST", "GET") for status in (301, 302)]


@pytest.mark.parametrize(("status", "method", "then"), KEEP + SEE + OLD + POST)
async def test_the_method_of_the_next_request_is_what_the_standard_says(status: int, method: str, then: str):
    body = b"" if method in ("GET", "HEAD") else b"order"
    async with site(to("/there", status)) as shop, Egress(LOCAL) as egress:
        answer = await egress.send(
            Request(
                method=method, url=shop.url(), body=body, headers={"Content-Type": "text/plain"}, idempotency_key="k"
            )
        )
    first, second = shop.asked
    assert (first.method, first.body) == (method, body)
    assert (second.method, second.body) == (then, body if then == method else b"")
    assert ("content-type" in second.headers) is (then == method)
    assert second.headers["idempotency-key"] == "k"
    assert answer.redirects == 1
    assert answer.url == shop.url("/there")
    assert answer.bytes_sent == len(first.body) + len(second.body)


@pytest.mark.parametrize("status", [300, 304, 305, 306])
async def test_other_statuses_are_answers(status: int):
    async with site(to("/there", status)) as shop, Egress(LOCAL) as egress:
        assert (await egress.send(Request(url=shop.url()))).status == status


async def test_a_redirect_without_a_place_is_an_answer():
    async def nowhere(asked: Asked, _: Caller) -> bytes:
        return http(302, b"moved")

    async with site(nowhere) as shop, Egress(LOCAL) as egress:
        assert (await egress.send(Request(url=shop.url()))).body == b"moved"


async def test_a_caller_may_want_to_see_the_redirect_itself():
    async with site(to("http://10.0.0.1/")) as shop, Egress(LOCAL) as egress:
        answer = await egress.send(Request(url=shop.url(), follow_redirects=False))
    assert (answer.status, answer.headers["location"]) == (302, "http://10.0.0.1/")


@pytest.mark.parametrize(
    ("location", "path"),
    [("b?c#d", "/b?c"), ("?q", "/?q"), ("//{host}/x", "/x"), ("../y", "/y"), ("/ü z", "/%C3%BC%20z")],
)
async def test_a_place_may_be_relative(location: str, path: str):
    async def answer(asked: Asked, _: Caller) -> bytes:
        return http(302, Location=location.format(host=asked.headers["host"])) if len(shop.asked) == 1 else http()

    async with site(answer) as shop, Egress(LOCAL) as egress:
        await egress.send(Request(url=shop.url()))
    assert shop.asked[1].path == path


async def test_redirects_are_counted():
    async def on(asked: Asked, _: Caller) -> bytes:
        number = int(asked.path[1:])
        return http(302, Location=f"/{number - 1}") if number else http(body=b"end")

    async with site(on) as shop, Egress(LOCAL) as egress:
        assert (await egress.send(Request(url=shop.url("/5")))).redirects == 5
        with pytest.raises(TooManyRedirects) as caught:
            await egress.send(Request(url=shop.url("/6")))
    assert caught.value.code == "egress.too_many_redirects"
    assert caught.value.retryable is False


# -- where they may lead ---------------------------------------------------------------------------------------------

NAMES = {"public_test": [["127.0.0.1"]], "inner_test": [["127.0.0.2"]]}


@pytest.mark.parametrize(
    "host", ["127.0.0.2", "inner.test", "INNER.test.", "[::ffff:127.0.0.2]", "[::1]", "0.0.0.0", "169.254.169.254"]
)
async def test_a_redirect_to_a_closed_address_is_not_followed(host: str):
    async with site(host="127.0.0.2") as inner:
        async with site(to(inner.url("/x", host=host))) as outer, Egress(GUARDED, resolver=Names(**NAMES)) as egress:
            with pytest.raises(BlockedAddress):
                await egress.send(Request(url=outer.url(host="public.test")))
        assert inner.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        "http://2130706434:{port}/",
        "http://0x7f.2:{port}/",
        "http://127.2:{port}/",
        "http://a@127.0.0.2:{port}/",
        "http://public.test\\@127.0.0.2:{port}/",
        "\\\\127.0.0.2:{port}/",
        "ftp://127.0.0.2:{port}/",
        "file:///etc/passwd",
        "http:///127.0.0.2:{port}/",
        "http:127.0.0.2:{port}/",
        "http://[::1",
    ],
)
async def test_a_redirect_to_an_odd_place_is_not_followed(location: str):
    async with site(host="127.0.0.2") as inner:
        answer = to(location.format(port=inner.port))
        async with site(answer) as outer, Egress(GUARDED, resolver=Names(**NAMES)) as egress:
            with pytest.raises(BadUrl):
                await egress.send(Request(url=outer.url(host="public.test")))
        assert inner.connections == 0


async def test_two_places_at_once_are_refused():
    async def both(asked: Asked, caller: Caller) -> bytes:
        return b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"

    async with site(both) as shop, Egress(LOCAL) as egress:
        with pytest.raises(BadUrl):
            await egress.send(Request(url=shop.url()))


async def test_a_redirect_to_a_host_outside_the_list_is_not_followed():
    settings = EgressSettings(private=True, allow_hosts=("public.test",))
    async with site() as other, site(to(other.url("/x", host="inner.test"))) as shop:
        async with Egress(settings, resolver=Names(**NAMES)) as egress:
            with pytest.raises(BlockedHost):
                await egress.send(Request(url=shop.url(host="public.test")))
        assert other.connections == 0


async def test_https_never_goes_on_as_http(authority: Authority):
    tls = authority.server("127.0.0.1")
    async with site() as plain, site(to(plain.url("/x")), tls=tls) as secure:
        async with Egress(EgressSettings(private=True, ca_file=authority.ca_file)) as egress:
            with pytest.raises(BadRedirect) as caught:
                await egress.send(Request(url=secure.url()))
        assert caught.value.retryable is False
        assert plain.connections == 0


async def test_http_may_go_on_as_https(authority: Authority):
    tls = authority.server("127.0.0.1")
    settings = EgressSettings(private=True, ca_file=authority.ca_file)
    async with site(tls=tls) as secure, site(to(secure.url("/x"))) as plain, Egress(settings) as egress:
        assert (await egress.send(Request(url=plain.url()))).body == b"hello"


# -- what goes along -------------------------------------------------------------------------------------------------

SECRETS = {
    "Authorization": "Bearer s",
    "Cookie": "s=1",
    "X-Api-Key": "s",
    "Accept": "text/plain",
    "Content-Type": "a/b",
}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_secrets_stay_with_the_origin_they_were_meant_for(status: int):
    async with site() as other, site(to(other.url("/x"), status)) as shop, Egress(LOCAL) as egress:
        await egress.send(Request(method="POST", url=shop.url(), headers=SECRETS, body=b"b", idempotency_key="k"))
    [there] = other.asked
    assert there.headers.keys() >= {"accept", "user-agent", "idempotency-key"}
    assert not there.headers.keys() & {"authorization", "cookie", "x-api-key"}
    assert there.headers["host"] == f"127.0.0.1:{other.port}"


async def test_another_name_of_the_same_server_is_another_origin():
    names = Names(a_test=[["127.0.0.1"]], b_test=[["127.0.0.1"]])

    async def answer(asked: Asked, _: Caller) -> bytes:
        return http(302, Location=shop.url("/x", host="b.test")) if asked.path == "/" else http()

    async with site(answer) as shop, Egress(LOCAL, resolver=names) as egress:
        await egress.send(Request(url=shop.url(host="a.test"), headers=SECRETS))
    assert "authorization" in shop.asked[0].headers
    assert "authorization" not in shop.asked[1].headers


async def test_the_same_origin_keeps_what_was_sent():
    async with site(to("/there")) as shop, Egress(LOCAL) as egress:
        await egress.send(Request(url=shop.url(), headers=SECRETS))
    assert shop.asked[1].headers.keys() >= {"authorization", "cookie", "x-api-key"}


async def test_secrets_do_not_come_back_after_a_detour():
    async def back(asked: Asked, _: Caller) -> bytes:
        return http(302, Location=shop.url("/again"))

    async def answer(asked: Asked, _: Caller) -> bytes:
        return http(302, Location=other.url()) if asked.path == "/" else http()

    async with site(back) as other, site(answer) as shop, Egress(LOCAL) as egress:
        await egress.send(Request(url=shop.url(), headers=SECRETS))
    assert shop.asked[1].path == "/again"
    assert "authorization" not in shop.asked[1].headers


async def test_the_body_of_a_redirect_is_not_read():
    async def endless(asked: Asked, caller: Caller) -> bytes | None:
        if asked.path == "/there":
            return http(body=b"there")
        await caller.write(b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 1000000000\r\n\r\n")
        await caller.gone()
        return None

    async with site(endless) as shop, Egress(LOCAL) as egress:
        assert (await egress.send(Request(url=shop.url()))).body == b"there"
