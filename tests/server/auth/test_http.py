"""The door seen from outside: a real server, real sockets, and every route of it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
import pytest

from plait.api.caller import Caller, Role
from plait.api.route import AnyRoute
from plait.api.shape import Scoped
from plait.errors import Unavailable
from plait.server.auth import AuthOptions
from plait.server.site import Settings
from tests.server.route_table import ROUTES
from tests.server.serving import API, Served, problem, serving, soon

from .support import HandClock, bearer

GUARDED = [route for route in ROUTES if route.role != "public"]
SCOPED = [route for route in GUARDED if issubclass(route.query, Scoped)]
ENOUGH: dict[str, Role] = {"any": "viewer"}
"""The least role for a need; others are their own."""
TOO_LITTLE: dict[str, Role] = {
    "viewer": "worker",
    "operator": "approver",
    "editor": "operator",
    "approver": "editor",
    "worker": "editor",
    "agent": "editor",
    "admin": "editor",
}


def named(route: AnyRoute) -> str:
    return f"{route.method} {route.full_path}"


@asynccontextmanager
async def guarded(**options: Any) -> AsyncGenerator[Served]:
    async with serving(settings=Settings(open=False), options=AuthOptions(wrong_keys=100_000), **options) as served:
        yield served


async def key(served: Served, role: Role = "admin", namespace: str = "*", **options: Any) -> dict[str, str]:
    """A new key, as headers."""
    return bearer((await served.site.auth.keys.create(f"a {role}", role, namespace, **options))[1])


async def call(
    served: Served, route: AnyRoute, headers: dict[str, str] | None = None, **options: Any
) -> httpx.Response:
    """Calls a route with ids that nobody has."""
    path = re.sub(r"\{[^}]+\}", "nothing", route.full_path)
    return await served.client.request(route.method, path, headers=headers, **options)


# -- every route ----------------------------------------------------------------------------------------------------


async def test_no_route_answers_without_a_good_key():
    clock = HandClock()
    async with guarded(clock=clock) as served:
        keys = served.site.auth.keys
        expired = await key(served, expires_in=1)
        revoked, text = await keys.create("gone", "admin", "*")
        await keys.revoke(revoked.id)
        clock.forward(1)
        for route in GUARDED:
            for headers, code in (
                ({}, "auth.no_key"),
                (bearer("plait_x_y"), "auth.bad_key"),
                (bearer(text[:-4] + "AAAA"), "auth.bad_key"),
                (bearer(text), "auth.bad_key"),
                (expired, "auth.expired"),
                ({"cookie": "plait_session=plait1.forged"}, "auth.bad_key"),
            ):
                answer = await call(served, route, headers)
                problem(answer, 401, code)
                assert answer.headers["www-authenticate"].startswith("Bearer"), named(route)


async def test_no_route_answers_a_role_that_is_too_low():
    async with guarded() as served:
        for route in GUARDED:
            if route.role != "any":
                answer = await call(served, route, await key(served, TOO_LITTLE[route.role]))
                problem(answer, 403, "auth.forbidden")


async def test_every_route_lets_the_role_in_that_it_asks_for():
    async with guarded() as served:
        for route in GUARDED:
            role = ENOUGH.get(route.role, route.role)
            answer = await call(served, route, await key(served, role), timeout=10)  # type: ignore[arg-type]
            assert answer.status_code not in (401, 403, 500), f"{named(route)}: {answer.text}"


async def test_a_foreign_namespace_is_a_missing_id_or_forbidden_whether_it_exists_or_not():
    async with guarded() as served:
        root = await key(served)
        started = {"definition": "echo", "input": 1, "id": "nothing", "namespace": "team-a"}
        assert (await served.post("/runs", started, headers=root)).status_code == 201
        own = {"x-request-id": "the-same-for-all"}
        for route in SCOPED:
            role = ENOUGH.get(route.role, route.role)
            headers = await key(served, role, "team-b") | own  # type: ignore[arg-type]
            body = {} if route.method == "GET" else {"json": route.example}
            foreign, nowhere = [
                await call(served, route, headers, params={"namespace": name} | _required(route), **body)
                for name in ("team-a", "no-such")
            ]
            if "{" in route.path:
                assert foreign.status_code == 404, named(route)
                assert foreign.content == nowhere.content, named(route)
                # A PUT makes what is not there, and every name is a queue of one's own
                if route.method != "PUT" and not route.path.startswith("/queues/"):
                    missing = await call(served, route, headers, params=_required(route), **body)
                    assert foreign.content == missing.content, named(route)
            else:
                problem(foreign, 403, "auth.wrong_namespace")
                assert foreign.text.replace("team-a", "no-such") == nowhere.text


def _required(route: AnyRoute) -> dict[str, str]:
    return {field.encode_name: "nothing" for field in msgspec.structs.fields(route.query) if field.required}


# -- keys, sessions, the trail --------------------------------------------------------------------------------------


async def test_a_key_made_over_http_works_until_it_is_revoked():
    async with guarded() as served:
        root = await key(served)
        made = (await served.post("/keys", {"name": "ci", "role": "viewer"}, headers=root)).json()
        me = (await served.get("/me", headers=bearer(made["key"]))).json()
        assert (me["name"], me["role"], me["mode"]) == ("ci", "viewer", "key")
        listed = await served.get("/keys", headers=root)
        assert made["id"] in listed.text
        assert made["key"] not in listed.text
        gone = await served.client.delete(f"{API}/keys/{made['id']}", headers=root)
        assert gone.json()["revoked_at"]
        problem(await served.get("/me", headers=bearer(made["key"])), 401, "auth.bad_key")


async def test_an_admin_of_one_namespace_gives_nobody_more_than_that():
    async with guarded() as served:
        admin = await key(served, "admin", "team-a")
        for namespace in ("*", "team-b"):
            body = {"name": "x", "role": "viewer", "namespace": namespace}
            problem(await served.post("/keys", body, headers=admin), 403, "auth.wrong_namespace")
        assert (await served.post("/keys", {"name": "x", "role": "admin"}, headers=admin)).json()[
            "namespace"
        ] == "team-a"
        foreign, _ = await served.site.auth.keys.create("theirs", "viewer", "team-b")
        own = admin | {"x-request-id": "the-same-for-all"}
        theirs = await served.client.delete(f"{API}/keys/{foreign.id}", headers=own)
        missing = await served.client.delete(f"{API}/keys/{'0' * 18}", headers=own)
        problem(theirs, 404, "auth.no_such_key")
        assert theirs.text.replace(foreign.id, "0" * 18) == missing.text


async def test_a_browser_signs_in_works_and_signs_out():
    async with guarded() as served:
        _, text = await served.site.auth.keys.create("ann", "operator", "default")
        async with httpx.AsyncClient(base_url=served.url, timeout=20) as browser:
            signed = await browser.post(f"{API}/session", json={"key": text})
            assert (signed.json()["name"], signed.json()["mode"]) == ("ann", "session")
            start = {"definition": "echo", "input": 1}
            problem(await browser.post(f"{API}/runs", json=start), 403, "auth.cross_site")
            csrf = {"x-plait-csrf": browser.cookies["plait_csrf"]}
            assert (await browser.post(f"{API}/runs", json=start, headers=csrf)).status_code == 201
            evil = csrf | {"origin": "https://evil.example"}
            problem(await browser.post(f"{API}/runs", json=start, headers=evil), 403, "auth.cross_site")
            kept = dict(browser.cookies)
            assert (await browser.delete(f"{API}/session", headers=csrf)).status_code == 204
            assert "plait_session" not in browser.cookies
            problem(await browser.get(f"{API}/me", headers={"cookie": _cookie(kept)}), 401, "auth.expired")


def _cookie(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


async def test_every_change_is_in_the_trail_with_who_and_what_became_of_it():
    async with guarded() as served:
        root, viewer = await key(served), await key(served, "viewer", "team-a")
        start = {"definition": "echo", "input": 1, "id": "r-1"}
        await served.post("/runs", start, headers=root)
        await served.post("/runs", start, headers=viewer)
        await served.post("/runs", start)
        await served.post("/runs", start, headers=bearer("plait_x_y"))
        await served.get("/runs", headers=root)
        entries = (await served.get("/audit", headers=root)).json()["entries"]
        told = [(entry["who"], entry["action"], entry["outcome"], entry.get("code")) for entry in entries]
        action = entries[0]["action"]
        assert told == [
            ("nobody", action, "refused", "auth.bad_key"),
            ("nobody", action, "refused", "auth.no_key"),
            ("a viewer", action, "refused", "auth.forbidden"),
            ("a admin", action, "ok", None),
        ]
        assert entries[0]["address"] == "127.0.0.1"
        assert entries[2]["credential"].startswith("key:")
        problem(await served.get("/audit", headers=viewer), 403, "auth.forbidden")


async def test_a_change_is_in_the_trail_of_the_namespace_that_its_body_names():
    async with guarded() as served:
        root = await key(served)
        await served.post("/runs", {"definition": "echo", "input": 1, "namespace": "team-a"}, headers=root)
        [entry] = (await served.get("/audit", headers=root)).json()["entries"]
        assert (entry["action"], entry["namespace"]) == ("runs.start", "team-a")


# -- links ----------------------------------------------------------------------------------------------------------


async def test_a_hook_delivers_once_and_needs_no_key():
    async with guarded() as served:
        root = await key(served)
        order = {"definition": "order", "input": {"customer": "ann"}, "id": "o-1"}
        await served.post("/runs", order, headers=root)
        made = (await served.post("/runs/o-1/hooks", {"message": "go"}, headers=root)).json()
        url = made["url"]
        assert (await served.client.post(url, json={"paid": True})).status_code == 200
        problem(await served.client.post(url, json={"paid": True}), 410, "auth.link_used")
        problem(await served.client.post(url[:-1]), 404, "auth.bad_link")
        run = await soon(lambda: _completed(served, "o-1", root))
        assert run["output"] == "1 on the way"
        token = url.rpartition("/")[2]
        trail = (await served.get("/audit", headers=root)).text
        assert token not in trail
        assert "link.hook" in trail


async def _completed(served: Served, id: str, headers: dict[str, str]) -> dict[str, Any] | None:
    found = (await served.get(f"/runs/{id}", headers=headers)).json()
    return found if found["run"]["status"] == "completed" else None


async def test_a_hook_whose_time_is_over_is_gone():
    clock = HandClock()
    async with guarded(clock=clock) as served:
        root = await key(served)
        order = {"definition": "order", "input": {"customer": "ann"}, "id": "o-1"}
        await served.post("/runs", order, headers=root)
        body = {"message": "go", "expires_in": 60}
        url = (await served.post("/runs/o-1/hooks", body, headers=root)).json()["url"]
        clock.forward(60)
        problem(await served.client.post(url), 410, "auth.link_expired")


async def test_an_approval_link_shows_the_question_and_decides_it_once():
    async with guarded() as served:
        root = await key(served)
        await served.post("/runs", {"definition": "asking", "id": "q-1"}, headers=root)
        asked = await soon(lambda: _asked(served, root))
        where = f"/approvals/{asked['id'].replace('/', '%2F')}/link"
        token = (await served.post(where, {}, headers=root)).json()["url"].rpartition("/")[2]
        for _ in range(2):
            assert (await served.get(f"/links/{token}")).json()["id"] == asked["id"]
        answer = {"decision": "approve", "by": "Ann", "comment": "fine"}
        assert (await served.post(f"/links/{token}", answer)).status_code == 200
        problem(await served.post(f"/links/{token}", answer), 410, "auth.link_used")
        problem(await served.get(f"/links/{token}"), 410, "auth.link_used")
        problem(await served.client.post(f"/hooks/{token}"), 404, "auth.bad_link")
        assert (await soon(lambda: _completed(served, "q-1", root)))["output"] == "fine"


async def _asked(served: Served, headers: dict[str, str]) -> dict[str, Any] | None:
    found = (await served.get("/approvals", headers=headers)).json()["approvals"]
    return found[0] if found else None


# -- an open server -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", ""])
async def test_an_open_server_does_not_answer_to_names_of_others(host: str):
    async with serving() as served:
        answer = await served.get("/runs", headers={"host": host})
        assert answer.status_code in (400, 403)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
async def test_an_open_server_takes_no_changes_from_pages_of_others(origin: str):
    async with serving() as served:
        body = {"definition": "echo", "input": 1}
        assert (await served.post("/runs", body, headers={"origin": origin})).status_code == 403
        assert (await served.post("/runs", body, headers={"origin": served.url})).status_code == 201


async def test_a_change_that_can_not_be_recorded_is_not_acknowledged_and_not_recorded_as_refused(
    monkeypatch: pytest.MonkeyPatch,
):
    outcomes: list[str] = []

    async def full(caller: Caller, action: str, target: str | None, outcome: str, *_: Any, **__: Any) -> None:
        outcomes.append(outcome)
        raise Unavailable("store.full", "the disk is full")

    async with serving() as served:
        monkeypatch.setattr(served.site.auth.audit, "record", full)
        problem(await served.post("/runs", {"definition": "echo", "input": 1}), 503, "store.full")
        assert outcomes == ["ok"]
        problem(await served.post("/runs", {"definition": "nobody"}), 503, "store.full")
        assert outcomes == ["ok", "refused"]
