"""What every answer has, and what no request gets past."""

from __future__ import annotations

import asyncio
import logging

import pytest

from plait.kernel.errors import Unavailable
from plait.server.site import Settings
from tests.server.serving import API, problem, serving


async def test_every_answer_has_the_security_headers_and_an_id():
    async with serving() as served:
        for path in ("/", f"{API}/runs", f"{API}/nope", "/health", "/assets/nope.js"):
            headers = (await served.client.get(path)).headers
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-request-id"]
            assert headers.get_list("cache-control")
        assert (await served.get("/runs")).headers["cache-control"] == "no-store"


async def test_a_request_keeps_the_id_it_came_with_if_it_is_harmless():
    async with serving() as served:
        answer = await served.get("/nope", headers={"x-request-id": "mine-123"})
        assert answer.headers["x-request-id"] == answer.json()["request_id"] == "mine-123"
        for bad in ("x" * 500, "a b", "<script>"):
            answer = await served.get("/nope", headers={"x-request-id": bad})
            assert answer.headers["x-request-id"] != bad


async def test_unknown_paths_and_methods_are_told_apart():
    async with serving() as served:
        problem(await served.get("/nope"), 404, "http.no_route")
        problem(await served.get(""), 404, "http.no_route")
        answer = await served.client.put(f"{API}/runs", json={})
        problem(answer, 405, "http.method_not_allowed")
        assert answer.headers["allow"] == "POST, GET, HEAD, OPTIONS"
        problem(await served.client.request("PATCH", f"{API}/runs"), 405, "http.method_not_allowed")


async def test_head_is_get_without_a_body():
    async with serving() as served:
        answer = await served.client.head(f"{API}/runs")
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-length"] == str(len((await served.get("/runs")).content))
        assert (await served.client.head(f"{API}/runs/x")).status_code == 404


async def test_options_lists_the_methods():
    async with serving() as served:
        answer = await served.client.options(f"{API}/runs/x/cancel")
        assert (answer.status_code, answer.headers["allow"]) == (204, "POST, OPTIONS")
        assert "access-control-allow-origin" not in answer.headers


async def test_only_json_is_to_be_had():
    async with serving() as served:
        problem(await served.get("/runs", headers={"accept": "text/csv"}), 406, "http.not_acceptable")
        for fine in ("application/json", "*/*", "text/html, application/*;q=0.8"):
            assert (await served.get("/runs", headers={"accept": fine})).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", ""])
async def test_an_open_server_answers_to_its_own_names_only(host: str):
    async with serving() as served:
        for path in ("/", f"{API}/runs"):
            problem(await served.client.get(path, headers={"host": host}), 403, "http.foreign_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:99", "127.9.9.9", "[::1]:8080", "a.localhost"])
async def test_the_names_of_this_machine_are_its_own(host: str):
    async with serving() as served:
        assert (await served.get("/runs", headers={"host": host})).status_code == 200


async def test_a_name_it_was_told_is_its_own():
    async with serving(settings=Settings(public_url="https://plait.example.org")) as served:
        assert (await served.get("/runs", headers={"host": "plait.example.org"})).status_code == 200
        headers = {"host": "plait.example.org", "origin": "https://plait.example.org"}
        answer = await served.post("/runs", {"definition": "echo", "input": 1}, headers=headers)
        assert answer.status_code == 201


async def test_pages_of_others_can_change_nothing_in_an_open_server():
    async with serving() as served:
        body = {"definition": "echo", "input": 1}
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            answer = await served.post("/runs", body, headers={"origin": origin})
            problem(answer, 403, "http.foreign_origin")
        assert (await served.post("/runs", body, headers={"origin": served.url})).status_code == 201


async def test_pages_of_others_can_read_nothing_and_watch_nothing_in_an_open_server():
    async with serving() as served:
        for headers in (
            {"origin": "https://evil.example"},
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        ):
            for path in (f"{API}/runs", "/metrics", "/health", "/ready", "/", f"{API}/openapi.json"):
                problem(await served.client.get(path, headers=headers), 403, "http.foreign_origin")
            live = headers | {"accept": "text/event-stream"}
            problem(await served.get("/runs", headers=live), 403, "http.foreign_origin")
            problem(await served.client.options(f"{API}/runs", headers=headers), 403, "http.foreign_origin")


async def test_behind_tls_cookies_are_for_tls_only():
    async with serving(settings=Settings(open=False, public_url="https://plait.example.org")) as served:
        _, text = await served.site.auth.keys.create("ann", "viewer", "*")
        answer = await served.post("/session", {"key": text})
        assert all("Secure" in each for each in answer.headers.get_list("set-cookie"))


async def test_a_proxy_is_believed_only_if_it_is_trusted():
    claimed = {"x-forwarded-for": "203.0.113.9"}
    for trusted, address in (("", "127.0.0.1"), ("127.0.0.1", "203.0.113.9")):
        async with serving(settings=Settings(open=False, trusted_proxies=trusted)) as served:
            _, text = await served.site.auth.keys.create("ann", "operator", "*")
            headers = {"authorization": f"Bearer {text}", **claimed}
            await served.post("/runs", {"definition": "echo", "input": 1}, headers=headers)
            (entry,) = (await served.site.auth.audit.page()).entries
            assert entry.address == address


async def test_too_many_requests_at_once_are_told_to_come_later():
    async with serving(settings=Settings(max_in_flight=2)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        head = (
            f"POST {API}/runs HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n"
        )
        slow = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
        for _, writer in slow:
            writer.write(head.encode())
            await writer.drain()
        while served.site.in_flight < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        answer = await served.get("/runs")
        problem(answer, 429, "http.overloaded")
        assert answer.headers["retry-after"] == "1"
        for _, writer in slow:
            writer.close()
            await writer.wait_closed()
        while served.site.in_flight:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        assert (await served.get("/runs")).status_code == 200


async def test_strangers_who_send_slowly_keep_nobody_out():
    async with serving(settings=Settings(max_in_flight=8)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        head = f"POST /hooks/x HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n"
        slow = [await asyncio.open_connection(host, int(port)) for _ in range(8)]
        for _, writer in slow:
            writer.write(head.encode())
        while served.site.public_bodies < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        problem(await served.client.post("/hooks/x", json={}), 429, "http.overloaded")
        assert (await served.post("/runs", {"definition": "echo", "input": 1})).status_code == 201
        for _, writer in slow:
            writer.close()
            await writer.wait_closed()


async def test_a_head_that_does_not_come_in_time_is_given_up():
    async with serving(settings=Settings(head_seconds=0.1)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"}")
        writer.write(b"GET /health HTTP/1.1\r\nhost: loc")  # the second one stops in the middle
        assert b"http.slow_head" in await reader.read()
        writer.close()


async def test_a_connection_that_asks_nothing_is_closed_without_a_word():
    async with serving(settings=Settings(head_seconds=0.1)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        assert await reader.read() == b""
        writer.close()


async def test_a_head_has_a_bounded_size():
    async with serving(settings=Settings(head_bytes=10_000)) as served:
        problem(await served.get("/me", headers={"x": "a" * 20_000}), 431, "http.head_too_large")
        assert (await served.get("/me", headers={"x": "a" * 5_000})).status_code == 200


async def test_a_bug_is_told_by_its_number_only(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    async def broken(*_: object) -> None:
        raise ValueError("a secret of the inside")

    async with serving() as served:
        monkeypatch.setattr(served.engine, "runs", broken)
        with caplog.at_level(logging.ERROR, "plait.server"):
            answer = await served.get("/runs")
        found = problem(answer, 500, "server.bug")
        assert "secret" not in answer.text
        assert found["request_id"] in caplog.text
        assert "a secret of the inside" in caplog.text


async def test_a_store_that_is_away_is_said_with_when_to_come_again(monkeypatch: pytest.MonkeyPatch):
    async def away(*_: object) -> None:
        raise Unavailable("store.unavailable", "the database does not answer")

    async with serving() as served:
        monkeypatch.setattr(served.engine, "runs", away)
        answer = await served.get("/runs")
        problem(answer, 503, "store.unavailable")
        assert answer.headers["retry-after"] == "1"
