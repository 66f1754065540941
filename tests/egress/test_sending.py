"""What is sent, and what comes back."""

import gzip
import zlib

import pytest

from plait.egress import Egress, EgressSettings, Request
from plait.egress.errors import AnswerTooLarge, BadRequest, ConnectFailed, DnsFailed, EgressError, ProtocolError
from tests.egress.names import Names
from tests.egress.site import Asked, Caller, http, site

LOCAL = EgressSettings(private=True)


async def test_a_request_arrives_as_it_was_meant():
    async with site() as shop, Egress(LOCAL, resolver=Names(shop_test=[["127.0.0.1"]])) as egress:
        answer = await egress.send(
            Request(
                method="post",
                url=shop.url("/orders?dry=1#top", host="Shop.TEST."),
                headers={"X-Tenant": "a"},
                json={"tea": ["sencha", 2]},
                idempotency_key="run-1/charge",
            )
        )
    assert answer.status == 200
    assert answer.body == b"hello"
    assert answer.url == shop.url("/orders?dry=1", host="shop.test")
    assert answer.address == "127.0.0.1"
    assert (answer.redirects, answer.bytes_sent, answer.bytes_received) == (0, 20, 5)
    assert answer.ms > 0
    [asked] = shop.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/orders?dry=1", b'{"tea":["sencha",2]}')
    assert asked.headers == {
        "host": f"shop.test:{shop.port}",
        "user-agent": LOCAL.user_agent,
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
        "content-length": "20",
        "x-tenant": "a",
        "idempotency-key": "run-1/charge",
    }


async def test_bytes_are_sent_as_they_are():
    async with site() as shop, Egress(LOCAL) as egress:
        await egress.send(Request(method="PUT", url=shop.url(), body=b"\x00\xff", headers={"Content-Type": "a/b"}))
    assert shop.asked[0].body == b"\x00\xff"
    assert shop.asked[0].headers["content-type"] == "a/b"


async def test_null_is_a_json_body_and_nothing_is_none():
    async with site() as shop, Egress(LOCAL) as egress:
        await egress.send(Request(method="POST", url=shop.url(), json=None))
        await egress.send(Request(method="POST", url=shop.url()))
        await egress.send(Request(url=shop.url()))
    assert [asked.body for asked in shop.asked] == [b"null", b"", b""]
    assert [asked.headers.get("content-length") for asked in shop.asked] == ["4", "0", None]


async def test_an_answer_of_any_status_is_an_answer():
    async def fail(asked: Asked, _: Caller) -> bytes:
        return http(503, b'{"why": "tired"}', Retry_After="3", Set_Cookie="a=1")

    async with site(fail) as shop, Egress(LOCAL) as egress:
        answer = await egress.send(Request(url=shop.url()))
        await egress.send(Request(url=shop.url()))
    assert answer.status == 503
    assert answer.json() == {"why": "tired"}
    assert answer.headers["RETRY-after"] == "3"
    assert "cookie" not in shop.asked[1].headers


async def test_headers_of_one_name_are_kept_apart():
    async def twice(asked: Asked, caller: Caller) -> bytes:
        return b"HTTP/1.1 200 OK\r\nVia: a\r\nvia: b\r\nContent-Length: 0\r\n\r\n"

    async with site(twice) as shop, Egress(LOCAL) as egress:
        headers = (await egress.send(Request(url=shop.url()))).headers
    assert headers.all("VIA") == ("a", "b")
    assert headers["via"] == "a, b"
    assert headers.all("none") == ()
    assert "a, b" not in repr(headers)


@pytest.mark.parametrize("body", [b"", b"{", b"<html>", b'{"a": 1, "a": 2}', b"NaN", b'"\\u0000"', b"\xff"])
async def test_a_body_that_is_no_json_we_could_keep_is_named(body: bytes):
    async def say(asked: Asked, _: Caller) -> bytes:
        return http(body=body)

    async with site(say) as shop, Egress(LOCAL) as egress:
        answer = await egress.send(Request(url=shop.url()))
    with pytest.raises(ProtocolError):
        answer.json()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate", "two members", "identity"])
async def test_compressed_bodies_are_unpacked(encoding: str):
    text = b"tea " * 50_000
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = {
        "gzip": ("gzip", gzip.compress(text)),
        "deflate": ("deflate", zlib.compress(text)),
        "raw deflate": ("deflate", raw.compress(text) + raw.flush()),
        "two members": ("GZip", gzip.compress(text[:100]) + gzip.compress(text[100:])),
        "identity": ("identity", text),
    }

    async def pack(asked: Asked, _: Caller) -> bytes:
        name, body = packed[encoding]
        return http(body=body, Content_Encoding=name)

    async with site(pack) as shop, Egress(LOCAL) as egress:
        answer = await egress.send(Request(url=shop.url()))
    assert answer.body == text
    assert answer.bytes_received == len(packed[encoding][1])


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip"])
async def test_a_body_that_is_not_packed_as_it_says_is_an_error(encoding: str):
    async def lie(asked: Asked, _: Caller) -> bytes:
        return http(body=b"\x01\x02\x03 not packed", Content_Encoding=encoding)

    async with site(lie) as shop, Egress(LOCAL) as egress:
        with pytest.raises(ProtocolError):
            await egress.send(Request(url=shop.url()))


async def test_a_packed_body_that_ends_too_early_is_an_error():
    async def cut(asked: Asked, _: Caller) -> bytes:
        return http(body=gzip.compress(b"tea" * 1000)[:-12], Content_Encoding="gzip")

    async with site(cut) as shop, Egress(LOCAL) as egress:
        with pytest.raises(ProtocolError, match="too early"):
            await egress.send(Request(url=shop.url()))


async def test_head_has_headers_of_a_body_that_does_not_come():
    async def head(asked: Asked, _: Caller) -> bytes:
        return b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\nContent-Encoding: br\r\n\r\n"

    async with site(head) as shop, Egress(LOCAL) as egress:
        answers = [await egress.send(Request(method="HEAD", url=shop.url())) for _ in range(2)]
    assert [answer.body for answer in answers] == [b"", b""]
    assert answers[0].headers["content-length"] == "99999999999"
    assert shop.connections == 1


# -- requests that can't be sent -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "a\r\nX-B: b"},
        {"X-A": "a\x00"},
        {"X-A": "ü"},
        {"X-A": " a"},
        {"X A": "a"},
        {"X-A\r\nX-B": "a"},
        {"": "a"},
        {"Ü": "a"},
        {"Host": "other"},
        {"Content-Length": "3"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "upgrade"},
        {"Upgrade": "websocket"},
        {"Expect": "100-continue"},
        {"Proxy-Authorization": "a"},
        {"X-A": "1", "x-a": "2"},
        {"X-A": "a" * 70_000},
    ],
    ids=str,
)
async def test_a_header_that_could_change_the_message_is_refused(headers: dict[str, str]):
    async with site() as shop, Egress(LOCAL) as egress:
        with pytest.raises(BadRequest) as caught:
            await egress.send(Request(url=shop.url(), headers=headers))
    assert caught.value.code == "egress.bad_request"
    assert caught.value.retryable is False
    assert shop.connections == 0


@pytest.mark.parametrize(
    "request_",
    [
        Request(url="http://shop.test/", method="CONNECT"),
        Request(url="http://shop.test/", method="TRACE"),
        Request(url="http://shop.test/", method="GET / HTTP/1.1\r\nX: y\r\n\r\nGET"),
        Request(url="http://shop.test/", json=1, body=b"1"),
        Request(url="http://shop.test/", json={"a": float("nan")}),
        Request(url="http://shop.test/", json=object()),
        Request(url="http://shop.test/", json="a" * 200),
        Request(url="http://shop.test/", body=b"a" * 101),
        Request(url="http://shop.test/", timeout=0),
        Request(url="http://shop.test/", timeout=float("nan")),
        Request(url="http://shop.test/", idempotency_key="a\nb"),
    ],
    ids=lambda request: repr(request)[:80],
)
async def test_a_request_that_makes_no_sense_is_refused_before_anything_is_looked_up(request_: Request):
    names = Names()
    async with Egress(EgressSettings(max_request_bytes=100), resolver=names) as egress:
        with pytest.raises(BadRequest):
            await egress.send(request_)
    assert names.asked == []


# -- answers that make no sense --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\n",
    ],
)
async def test_an_answer_that_is_not_http_is_an_error_worth_another_try(said: bytes):
    async def speak(asked: Asked, caller: Caller) -> None:
        await caller.write(said)

    async with site(speak) as shop, Egress(LOCAL) as egress:
        with pytest.raises(ProtocolError) as caught:
            await egress.send(Request(url=shop.url("/secret?token=hunter2")))
    assert caught.value.code == "egress.protocol_error"
    assert caught.value.retryable is True
    assert "hunter2" not in str(caught.value)


async def test_a_port_where_nobody_listens_is_worth_another_try():
    async with site() as shop:
        pass
    async with Egress(LOCAL) as egress:
        with pytest.raises(ConnectFailed) as caught:
            await egress.send(Request(url=shop.url()))
    assert caught.value.code == "egress.connect_failed"
    assert caught.value.retryable is True


@pytest.mark.parametrize("answers", [None, [[]], [["not an address"]]])
async def test_a_name_without_an_address_is_worth_another_try(answers: list[list[str]] | None):
    names = Names() if answers is None else Names(shop_test=answers)
    async with Egress(resolver=names) as egress:
        with pytest.raises(DnsFailed) as caught:
            await egress.send(Request(url="http://shop.test/"))
    assert caught.value.code == "egress.dns_failed"
    assert caught.value.retryable is True


async def test_the_system_resolves_names_when_no_one_else_does():
    async with site() as shop, Egress(LOCAL) as egress:
        assert (await egress.send(Request(url=shop.url(host="localhost")))).body == b"hello"


# -- sizes -----------------------------------------------------------------------------------------------------------

SMALL = EgressSettings(private=True, max_response_bytes=100_000)


async def test_a_body_of_exactly_the_limit_is_taken():
    async def large(asked: Asked, _: Caller) -> bytes:
        return http(body=b"a" * 100_000)

    async with site(large) as shop, Egress(SMALL) as egress:
        assert len((await egress.send(Request(url=shop.url()))).body) == 100_000
        with pytest.raises(AnswerTooLarge):
            await egress.send(Request(url=shop.url(), max_bytes=99_999))


async def test_a_request_can_lower_the_limit_but_not_raise_it():
    async def large(asked: Asked, _: Caller) -> bytes:
        return http(body=b"a" * 100_001)

    async with site(large) as shop, Egress(SMALL) as egress:
        with pytest.raises(AnswerTooLarge):
            await egress.send(Request(url=shop.url(), max_bytes=10**9))


async def test_a_body_without_end_is_cut_off_at_the_limit():
    async def endless(asked: Asked, caller: Caller) -> None:
        await caller.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await caller.write(b"1000\r\n" + b"a" * 4096 + b"\r\n")

    async with site(endless) as shop, Egress(SMALL) as egress:
        with pytest.raises(AnswerTooLarge) as caught:
            await egress.send(Request(url=shop.url()))
    assert caught.value.code == "egress.too_large"
    assert caught.value.retryable is False


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_bomb_does_not_go_off(encoding: str):
    packer = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    bomb = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(50)) + packer.flush()
    assert len(bomb) < SMALL.max_response_bytes

    async def drop(asked: Asked, _: Caller) -> bytes:
        return http(body=bomb, Content_Encoding=encoding)

    async with site(drop) as shop, Egress(SMALL) as egress:
        with pytest.raises(AnswerTooLarge):
            await egress.send(Request(url=shop.url()))


@pytest.mark.parametrize("line", [b"X-A: " + b"a" * 1000, b"X-" + b"a" * 50 + b": a"])
@pytest.mark.parametrize("count", [80, 10_000])
async def test_headers_over_the_limit_are_cut_off(line: bytes, count: int):
    async def boast(asked: Asked, caller: Caller) -> None:
        await caller.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")
        for _ in range(count):
            await caller.write(line + b"\r\n")
        await caller.write(b"\r\n")

    settings = EgressSettings(private=True, max_header_bytes=4_000)
    async with site(boast) as shop, Egress(settings) as egress:
        with pytest.raises(AnswerTooLarge):
            await egress.send(Request(url=shop.url()))


# -- the environment, and traces -------------------------------------------------------------------------------------


async def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path):
    async with site(host="127.0.0.2") as proxy, site() as shop:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.url())
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password secret")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        async with Egress(LOCAL) as egress:
            await egress.send(Request(url=shop.url()))
        assert proxy.connections == 0
        assert "authorization" not in shop.asked[0].headers


async def test_a_trace_goes_along():
    def inject(carrier: dict[str, str]) -> None:
        carrier["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    async with site() as shop, Egress(LOCAL, propagate=inject) as egress:
        await egress.send(Request(url=shop.url()))
    assert shop.asked[0].headers["traceparent"].startswith("00-0af7")


@pytest.mark.parametrize("broken", ["raises", "says nonsense"])
async def test_work_goes_on_when_tracing_is_broken(broken: str, caplog: pytest.LogCaptureFixture):
    def inject(carrier: dict[str, str]) -> None:
        carrier["trace parent"] = "x"
        if broken == "raises":
            raise RuntimeError("no tracer")

    async with site() as shop, Egress(LOCAL, propagate=inject) as egress:
        assert (await egress.send(Request(url=shop.url()))).status == 200
    assert "trace parent" not in shop.asked[0].headers
    assert "trace" in caplog.text


def test_every_error_says_its_code_and_whether_to_retry():
    never = {"bad_url", "bad_request", "blocked_host", "blocked_address"}
    never |= {"bad_redirect", "too_many_redirects", "too_large"}
    again = {"dns_failed", "connect_failed", "tls_failed", "timeout", "protocol_error"}
    found = {cls.named.removeprefix("egress."): cls.retryable for cls in EgressError.__subclasses__()}
    assert found == dict.fromkeys(never, False) | dict.fromkeys(again, True)
