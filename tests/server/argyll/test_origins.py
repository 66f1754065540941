"""Pages of other sites can't drive the mount: it asks nobody for a key, and a browser would lend them its place."""

from __future__ import annotations

from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from plait.server.site import Argyll, Settings
from tests.server.argyll.stage import GREET, MOUNTED, mounted, refused
from tests.server.serving import Served, problem

ELSEWHERE = "https://elsewhere.example"
PAGES: tuple[dict[str, str], ...] = (
    {"origin": ELSEWHERE},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "http://localhost"},
    {"origin": ELSEWHERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    {"origin": ELSEWHERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
)
EVERYWHERE: tuple[Settings, ...] = (
    MOUNTED,
    Settings(argyll="local", unsigned_webhooks=True),
    Settings(argyll="local", open=False),
    Settings(argyll="open", open=False),
)


async def knock(served: Served, headers: dict[str, str]) -> None:
    """What a page would try, in every way that a browser has."""
    form = headers | {"content-type": "text/plain"}  # what a page may send without asking first
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/engine/step", {"json": GREET, "headers": headers}),
        ("POST", "/engine/step", {"content": "{}", "headers": form}),
        ("GET", "/engine/step", {"headers": headers}),
        ("GET", "/engine", {"headers": headers}),
        ("DELETE", "/engine/step/greet", {"headers": headers}),
        ("OPTIONS", "/engine/step", {"headers": headers | {"access-control-request-method": "PUT"}}),
        ("POST", "/webhook/a/b/c", {"content": "{}", "headers": form}),
    ]
    for method, path, more in asked:
        answer = await served.client.request(method, path, **more)
        problem(answer, 403, "http.foreign_origin")
        assert "access-control-allow-origin" not in answer.headers
    with pytest.raises(InvalidStatus) as refusal:
        await connect(served.url.replace("http", "ws") + "/engine/ws", additional_headers=headers)
    assert refusal.value.response.status_code == 403


@pytest.mark.parametrize("settings", EVERYWHERE)
async def test_pages_of_other_sites_neither_read_nor_change_nor_listen(settings: Settings):
    async with mounted(settings=settings) as served:
        for headers in PAGES:
            await knock(served, headers)
        assert (await served.client.get("/engine/step")).json()["steps"] == []


async def test_programs_and_own_pages_may():
    async with mounted() as served:
        own = {"origin": served.url, "sec-fetch-site": "same-origin"}
        assert (await served.client.post("/engine/step", json=GREET, headers=own)).status_code == 201
        assert (await served.client.get("/engine/step", headers={"sec-fetch-site": "same-origin"})).status_code == 200
        answer = await served.client.get("/engine/step")
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers
        async with connect(served.url.replace("http", "ws") + "/engine/ws", additional_headers=own) as socket:
            await socket.send('{"type": "subscribe", "data": {"sub_id": "a"}}')
            assert "subscribed" in str(await socket.recv())


async def test_a_link_that_a_person_follows_is_no_attack():
    async with mounted() as served:
        followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        for path in ("/", "/runs/order-1", "/api/v1/runs", "/health"):
            assert (await served.client.get(path, headers=followed)).status_code in (200, 503)  # 503: no UI was built
        problem(await served.client.post("/engine/step", json=GREET, headers=followed), 403, "http.foreign_origin")


@pytest.mark.parametrize("argyll", ["local", "open"])
async def test_pages_of_listed_sites_may_call(argyll: Argyll):
    settings = Settings(argyll=argyll, argyll_origins=(ELSEWHERE,))
    listed = {"origin": ELSEWHERE, "sec-fetch-site": "cross-site"}
    async with mounted(settings=settings) as served:
        before = await served.client.options("/engine/step", headers=listed | {"access-control-request-method": "PUT"})
        assert (before.status_code, before.headers["access-control-allow-origin"]) == (204, ELSEWHERE)
        assert "PUT" in before.headers["access-control-allow-methods"]
        assert before.headers["access-control-allow-headers"] == "*"
        answer = await served.client.post("/engine/step", json=GREET, headers=listed)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (201, ELSEWHERE)
        assert answer.headers["vary"] == "origin"
        health = await served.client.get("/health", headers=listed)
        assert (health.status_code, health.headers["access-control-allow-origin"]) == (200, ELSEWHERE)
        async with connect(served.url.replace("http", "ws") + "/engine/ws", origin=ELSEWHERE):  # pyright: ignore[reportArgumentType]
            pass
        others = await served.client.get("/engine/step", headers={"origin": "https://evil.example"})
        problem(others, 403, "http.foreign_origin")
        # What is ours stays closed to them
        problem(await served.post("/runs", {"definition": "x"}, headers=listed), 403, "http.foreign_origin")
        problem(await served.get("/runs", headers=listed), 403, "http.foreign_origin")


async def test_pages_of_all_sites_may_call_if_the_operator_says_so():
    async with mounted(settings=Settings(argyll="local", argyll_origins=("*",))) as served:
        for headers in PAGES:
            assert (await served.client.get("/engine/step", headers=headers)).headers[
                "access-control-allow-origin"
            ] == "*"
        answer = await served.client.get("/engine/step/nope", headers=PAGES[0])
        refused(answer, 404, "goals.step_not_found")
        assert answer.headers["access-control-allow-origin"] == "*"


async def test_a_name_that_was_pointed_at_the_server_does_not_help_a_page():
    rebound = {"host": "evil.example", "origin": "http://evil.example"}
    async with mounted(settings=Settings(argyll="open", open=False)) as served:
        problem(await served.client.post("/engine/step", json=GREET, headers=rebound), 403, "http.foreign_origin")
        by_address = {"host": "10.0.0.7:8080", "origin": "http://10.0.0.7:8080"}
        assert (await served.client.post("/engine/step", json=GREET, headers=by_address)).status_code == 201
    known = Settings(argyll="open", open=False, public_url="https://tea.example")
    async with mounted(settings=known) as served:
        ours = {"host": "tea.example", "origin": "https://tea.example"}
        assert (await served.client.post("/engine/step", json=GREET, headers=ours)).status_code == 201
