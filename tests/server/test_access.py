"""Keys, sessions, roles, the audit trail and health, as a caller meets them."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from plait.server import access, readiness
from plait.server.auth import ttl_cache
from plait.server.site import Settings
from plait.stores.sqlite import SqliteStore
from plait.testing import VirtualClock
from tests.server.serving import API, Served, problem, serving, soon, watching

LOCKED = Settings(open=False)
TEA = {"customer": "Ann"}


async def key_of(served: Served, role: str, namespace: str = "*", name: str = "ann") -> dict[str, str]:
    """The header of a new key."""
    _, text = await served.site.auth.keys.create(name, role, namespace)
    return {"authorization": f"Bearer {text}"}


async def test_an_open_server_knows_nobody_and_allows_everything():
    async with serving() as served:
        me = (await served.get("/me")).json()
        assert (me["name"], me["role"], me["namespace"], me["mode"]) == ("anonymous", "admin", "*", "open")
        assert me["version"]


async def test_a_locked_server_asks_for_a_key():
    async with serving(settings=LOCKED) as served:
        answer = await served.get("/runs")
        problem(answer, 401, "auth.no_key")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        problem(await served.get("/runs", headers={"authorization": "Bearer plait_x"}), 401, "auth.bad_key")
        viewer = await key_of(served, "viewer")
        assert (await served.get("/runs", headers=viewer)).status_code == 200
        assert (await served.get("/me", headers=viewer)).json()["role"] == "viewer"


@pytest.mark.parametrize("path", ["/health", "/ready", f"{API}/openapi.json", "/"])
async def test_some_doors_have_no_lock(path: str):
    async with serving(settings=LOCKED) as served:
        assert (await served.client.get(path)).status_code in (200, 503)


async def test_a_role_that_is_not_enough_is_told_so():
    async with serving(settings=LOCKED) as served:
        viewer, operator = await key_of(served, "viewer"), await key_of(served, "operator")
        body = {"definition": "order", "input": TEA, "id": "o-1"}
        problem(await served.post("/runs", body, headers=viewer), 403, "auth.forbidden")
        assert (await served.post("/runs", body, headers=operator)).status_code == 201
        patch = {"operations": [{}]}
        problem(await served.post("/runs/o-1/patch", patch, headers=operator), 403, "auth.forbidden")
        assert (await served.get("/runs/o-1", headers=viewer)).json()["actions"] == []
        assert (await served.get("/runs/o-1", headers=operator)).json()["actions"] != []


async def test_what_belongs_to_others_looks_as_if_it_were_not_there():
    async with serving(settings=LOCKED) as served:
        north, south = await key_of(served, "admin", "north"), await key_of(served, "admin", "south")
        body = {"definition": "order", "input": TEA, "id": "o-1"}
        assert (await served.post("/runs", body, headers=north)).json()["namespace"] == "north"

        missing = problem(await served.get("/runs/o-2", headers=south), 404, "kernel.no_run")
        for params in ({}, {"namespace": "north"}):
            foreign = problem(await served.get("/runs/o-1", headers=south, params=params), 404, "kernel.no_run")
            assert {**foreign, "request_id": ""} == {
                **missing,
                "title": missing["title"].replace("o-2", "o-1"),
                "detail": missing["detail"].replace("o-2", "o-1"),
                "request_id": "",
            }
        assert (await served.get("/runs", headers=south)).json() == {"runs": []}
        problem(await served.get("/runs", headers=south, params={"namespace": "north"}), 403, "auth.wrong_namespace")
        foreign_start = await served.post("/runs", body | {"namespace": "north"}, headers=south)
        problem(foreign_start, 403, "auth.wrong_namespace")
        problem(await served.client.get("/metrics", headers=south), 403, "auth.wrong_namespace")


async def test_keys_are_made_listed_and_revoked():
    async with serving(settings=LOCKED) as served:
        admin = await key_of(served, "admin", name="root")
        body = {"name": "ci", "role": "operator", "namespace": "north", "expires_in": 60}
        made = await served.post("/keys", body, headers=admin)
        assert made.status_code == 201
        key = made.json()
        assert key["expires_at"] > key["created_at"]
        headers = {"authorization": f"Bearer {key['key']}"}
        assert (await served.get("/me", headers=headers)).json()["namespaces"] == ["north"]

        listed = (await served.get("/keys", headers=admin)).json()["keys"]
        assert {each["name"] for each in listed} == {"root", "ci"}
        assert key["key"] not in str(listed)

        revoked = await served.client.delete(f"{API}/keys/{key['id']}", headers=admin)
        assert revoked.json()["revoked_at"]
        problem(await served.get("/me", headers=headers), 401, "auth.bad_key")
        problem(await served.client.delete(f"{API}/keys/nope", headers=admin), 404, "auth.no_such_key")


async def test_an_administrator_of_one_namespace_stays_in_it():
    async with serving(settings=LOCKED) as served:
        north = await key_of(served, "admin", "north")
        problem(
            await served.post("/keys", {"name": "x", "role": "admin", "namespace": "*"}, headers=north),
            403,
            "auth.wrong_namespace",
        )
        made = (await served.post("/keys", {"name": "x", "role": "viewer"}, headers=north)).json()
        assert made["namespace"] == "north"
        south = await key_of(served, "admin", "south")
        problem(await served.client.delete(f"{API}/keys/{made['id']}", headers=south), 404, "auth.no_such_key")
        assert {key["namespace"] for key in (await served.get("/keys", headers=south)).json()["keys"]} == {"south"}


async def test_a_browser_signs_in_and_out():
    async with serving(settings=LOCKED) as served:
        _, text = await served.site.auth.keys.create("ann", "operator", "*")
        problem(await served.post("/session", {"key": "plait_wrong"}), 401, "auth.bad_key")
        answer = await served.post("/session", {"key": text})
        assert answer.json()["mode"] == "session"
        cookies = answer.headers.get_list("set-cookie")
        assert any("HttpOnly" in each and "SameSite=Strict" in each for each in cookies)

        assert (await served.get("/me")).json()["mode"] == "session"  # by the cookie
        body = {"definition": "order", "input": TEA}
        problem(await served.post("/runs", body), 403, "auth.cross_site")
        csrf = {"x-plait-csrf": served.client.cookies["plait_csrf"]}
        assert (await served.post("/runs", body, headers=csrf)).status_code == 201

        out = await served.client.delete(f"{API}/session", headers=csrf)
        assert (out.status_code, out.content) == (204, b"")
        problem(await served.get("/me"), 401, "auth.no_key")


async def test_who_did_what_is_kept():
    async with serving(settings=LOCKED) as served:
        viewer, operator = await key_of(served, "viewer", name="vera"), await key_of(served, "operator", name="otto")
        admin = await key_of(served, "admin", name="root")
        id = (await served.post("/runs", {"definition": "order", "input": TEA}, headers=operator)).json()["id"]
        await served.post(f"/runs/{id}/cancel", headers=viewer)
        await served.post("/runs/nope/cancel", headers=operator)
        page = (await served.get("/audit", headers=admin, params={"limit": 2})).json()
        rest = (await served.get("/audit", headers=admin, params={"cursor": page["next"]})).json()
        found = [
            (entry["who"], entry["action"], entry.get("target"), entry["outcome"], entry.get("code"))
            for entry in page["entries"] + rest["entries"]
        ]
        assert found == [
            ("otto", "runs.cancel", "nope", "refused", "kernel.no_run"),
            ("vera", "runs.cancel", id, "refused", "auth.forbidden"),
            ("otto", "runs.start", id, "ok", None),
        ]
        problem(await served.get("/audit", headers=operator), 403, "auth.forbidden")


async def test_health_and_readiness():
    async with serving() as served:
        assert (await served.client.get("/health")).json()["status"] == "healthy"
        assert (await served.client.get("/ready")).json() == {"status": "ready"}
        served.site.stopping.set()
        answer = await served.client.get("/ready")
        problem(answer, 503, "http.stopping")
        assert (await served.client.get("/health")).status_code == 200


async def test_it_is_not_ready_while_the_store_is_away(monkeypatch: pytest.MonkeyPatch):
    from plait.kernel.errors import Unavailable

    async def away(*_: Any) -> None:
        raise Unavailable("store.unavailable", "no connection")

    async with serving() as served:
        monkeypatch.setattr(served.engine.kernel.store, "commit", away)
        problem(await served.client.get("/ready"), 503, "server.not_ready")


async def test_it_is_not_ready_while_the_database_can_only_be_read(db: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(readiness, "_EVERY", 0.0)
    async with serving(db) as served:
        assert (await served.client.get("/ready")).status_code == 200
        store = cast("SqliteStore", served.engine.kernel.store)
        await store._write(lambda database: database.execute("pragma query_only = on"))
        found = problem(await served.client.get("/ready"), 503, "server.not_ready")
        assert "can't be written" in found["why"]
        assert (await served.get("/runs")).status_code == 200
        await store._write(lambda database: database.execute("pragma query_only = off"))
        assert (await served.client.get("/ready")).status_code == 200


async def test_however_many_ask_whether_it_is_ready_there_is_one_write_a_second():
    clock = VirtualClock()
    async with serving(clock=clock) as served:

        async def written() -> float:
            await asyncio.gather(*(served.site.readiness.check() for _ in range(20)))
            found = await served.engine.records.get("server.ready", "", "write")
            assert found is not None
            return found.at

        first = await written()
        await clock.advance(0.9)
        assert await written() == first
        await clock.advance(0.1)
        assert await written() == first + 1000


async def test_metrics_count_requests_by_route():
    async with serving() as served:
        await served.get("/runs/x")
        answer = await served.client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        assert "GET /api/v1/runs/{id}" in answer.text


async def test_a_caller_sees_the_namespaces_there_are(db: str):
    async with serving(db) as served:
        await served.start("order", TEA, namespace="north")

        async def namespaces() -> Any:
            found = (await served.get("/me")).json()["namespaces"]
            return found if "north" in found else None

        assert set(await soon(namespaces)) == {"default", "north"}


async def test_a_stream_that_is_never_silent_ends_when_its_key_is_revoked(db: str):
    async with serving(db, settings=Settings(open=False, heartbeat=0.05)) as served:
        key, text = await served.site.auth.keys.create("ann", "operator", "*")
        headers = {"authorization": f"Bearer {text}"}
        body = {"definition": "chatty", "input": 100_000}
        id = (await served.post("/runs", body, headers=headers)).json()["id"]
        async with watching(served, f"/runs/{id}/events", headers) as stream:
            await anext(stream)
            await served.site.auth.keys.revoke(key.id)
            assert [frame.event async for frame in stream if frame.event == "end"] == []


async def test_a_stream_ends_when_its_key_is_revoked(db: str):
    async with serving(db, settings=Settings(open=False, heartbeat=0.05)) as served:
        key, text = await served.site.auth.keys.create("ann", "operator", "*")
        headers = {"authorization": f"Bearer {text}"}
        id = (await served.post("/runs", {"definition": "order", "input": TEA}, headers=headers)).json()["id"]
        async with watching(served, f"/runs/{id}/events", headers) as stream:
            await anext(stream)
            await served.site.auth.keys.revoke(key.id)
            assert [frame.event async for frame in stream if frame.event == "end"] == []


def test_what_a_revoked_key_has_open_ends_within_a_second():
    assert ttl_cache.SECONDS + access.EVERY < 1


async def test_a_quiet_stream_ends_soon_after_its_key_was_revoked_in_another_process(db: str):
    async with serving(db, settings=LOCKED) as served, serving(db, settings=LOCKED) as other:
        key, text = await served.site.auth.keys.create("ann", "operator", "*")
        headers = {"authorization": f"Bearer {text}"}
        body = {"definition": "order", "input": TEA}
        id = (await served.post("/runs", body, headers=headers)).json()["id"]
        for path in (f"/runs/{id}/events", "/runs"):
            async with asyncio.timeout(10):  # its heart beats every fifteen seconds
                async with watching(served, path, headers) as stream:
                    await anext(stream)
                    await other.site.auth.keys.revoke(key.id)
                    assert [frame.event async for frame in stream if frame.event == "end"] == []
            key, text = await served.site.auth.keys.create("ann", "operator", "*")
            headers = {"authorization": f"Bearer {text}"}


async def test_the_stream_of_a_browser_ends_when_it_is_signed_out(db: str):
    async with serving(db, settings=LOCKED) as served:
        _, text = await served.site.auth.keys.create("ann", "operator", "*")
        assert (await served.post("/session", {"key": text})).status_code == 200
        csrf = {"x-plait-csrf": served.client.cookies["plait_csrf"]}
        async with asyncio.timeout(10), watching(served, "/runs") as stream:
            await anext(stream)
            assert (await served.client.delete(f"{API}/session", headers=csrf)).status_code < 300
            assert [frame async for frame in stream] == []


async def test_a_worker_whose_key_is_revoked_while_it_waits_gets_no_task():
    async with serving(settings=LOCKED) as served:
        key, text = await served.site.auth.keys.create("w", "worker", "*")
        headers = {"authorization": f"Bearer {text}"}
        body = {"worker": "w", "queues": ["gpu"], "wait_ms": 20_000}
        waiting = asyncio.ensure_future(served.post("/tasks/claim", body, headers=headers))
        await soon(lambda: _under_way(served))
        await served.site.auth.keys.revoke(key.id)
        async with asyncio.timeout(10):
            problem(await waiting, 401, "auth.bad_key")


async def _under_way(served: Served) -> bool:
    return served.site.in_flight > 0
