"""The engine as a whole, plans, and what holds for every answer of the mount."""

from __future__ import annotations

import re

from plait.server.site import Settings
from tests.server.argyll.stage import GREET, MOMENT, MOUNTED, UNSET, http, mounted, refused, register, script
from tests.server.serving import API, Served, problem, soon

CHAIN = [
    script("a", [], ["customer_id"]),
    script("b", ["customer_id"], ["order_list"]),
    script("c", ["order_list"], ["total_value"]),
    script("d", ["total_value"], ["recommendation"]),
]


async def healthy(served: Served, step: str) -> None:
    async def ask() -> bool:
        return (await served.client.get(f"/engine/health/{step}")).json()["status"] == "healthy"

    await soon(ask)


async def test_health_is_what_a_client_looks_for():
    async with mounted() as served:
        answer = await served.client.get("/health")
        assert answer.status_code == 200
        assert answer.headers["x-argyll-raft-state"] == "leader"
        found = answer.json()
        assert (found["service"], found["status"]) == ("plait", "healthy")
        assert isinstance(found["details"], dict)


async def test_the_engine_shows_its_catalog_and_its_health():
    async with mounted() as served:
        empty = (await served.client.get("/engine")).json()
        assert empty == {"last_updated": UNSET, "steps": {}, "attributes": {}, "health": {}}
        await register(served, GREET)
        await healthy(served, "greet")
        found = (await served.client.get("/engine")).json()
        assert re.fullmatch(MOMENT, found["last_updated"])
        assert found["steps"]["greet"]["name"] == "Greet"
        assert found["attributes"]["name"] == {"providers": [], "consumers": ["greet"]}
        [node] = found["health"].values()
        assert node == {"health": {"greet": {"status": "healthy"}}}
        assert (await served.client.get("/engine/")).json() == found
        catalog = (await served.client.get("/engine/catalog")).json()
        assert {name: catalog[name] for name in ("steps", "attributes")} == {
            name: found[name] for name in ("steps", "attributes")
        }
        assert catalog["last_updated"] <= found["last_updated"]
        [told] = (await served.client.get("/engine/catalog/events")).json()["events"]
        assert (told["sequence"], told["type"], told["aggregate_id"]) == (0, "step_registered", ["catalog"])
        assert told["data"]["step"] == found["steps"]["greet"]
        assert re.fullmatch(MOMENT, told["timestamp"])


async def test_health_of_steps_is_told_by_node():
    async with mounted() as served:
        await register(served, GREET)
        await healthy(served, "greet")
        found = (await served.client.get("/engine/health")).json()
        assert found["health"] == {"greet": {"status": "healthy"}}
        [node] = found["nodes"].values()
        assert node == {"health": {"greet": {"status": "healthy"}}}
        assert re.fullmatch(MOMENT, found["last_updated"])
        refused(await served.client.get("/engine/health/nope"), 404, "goals.step_not_found")
        cluster = (await served.client.get("/engine/cluster")).json()
        assert cluster == {"last_updated": found["last_updated"], "nodes": found["nodes"]}
        [told] = (await served.client.get("/engine/cluster/events")).json()["events"]
        assert (told["sequence"], told["type"], told["aggregate_id"]) == (0, "step_health_changed", ["cluster"])
        assert (told["data"]["step_id"], told["data"]["status"]) == ("greet", "healthy")


async def test_a_node_that_knows_nothing_of_a_step_says_so():
    async with mounted() as served:
        await register(served, GREET, http("silent", "http://127.0.0.1:9/", ["a"]))
        await healthy(served, "greet")
        for found in (
            (await served.client.get("/engine")).json()["health"],
            (await served.client.get("/engine/health")).json()["nodes"],
        ):
            [node] = found.values()
            assert node["health"] == {"greet": {"status": "healthy"}, "silent": {"status": "unknown"}}


async def test_a_plan_has_steps_gaps_and_what_was_left_out():
    async with mounted() as served:
        await register(served, *CHAIN)
        whole = await served.client.post("/engine/plan", json={"goals": ["D"], "init": None})
        assert whole.status_code == 200
        assert (whole.json()["goals"], sorted(whole.json()["steps"]), whole.json()["required"]) == (
            ["d"],
            ["a", "b", "c", "d"],
            [],
        )
        some = (await served.client.post("/engine/plan", json={"goals": ["d"], "init": {"customer_id": [123]}})).json()
        assert sorted(some["steps"]) == ["b", "c", "d"]
        assert some["excluded"]["satisfied"] == {"a": ["customer_id"]}
        missing = {"goals": ["d"], "init": {"customer_id": []}}  # an empty list is no value
        assert sorted((await served.client.post("/engine/plan", json=missing)).json()["steps"]) == ["a", "b", "c", "d"]
        await served.client.delete("/engine/step/a")
        gap = (await served.client.post("/engine/plan", json={"goals": ["d"]})).json()
        assert gap["required"] == ["customer_id"]


async def test_a_plan_that_can_not_be_made_is_refused():
    async with mounted() as served:
        await register(served, *CHAIN)
        refused(await served.client.post("/engine/plan", json={"goals": ["e"]}), 404, "goals.step_not_found")
        for goals in (None, []):
            words = refused(await served.client.post("/engine/plan", json={"goals": goals}), 400, "goals.no_goals")
            assert words == "name at least one goal step"
        refused(await served.client.post("/engine/plan", json={"goals": "d"}), 400, "goals.bad_request")
        refused(await served.client.post("/engine/plan", json={"goals": [5]}), 400, "mount.bad_id")
        refused(await served.client.post("/engine/plan", json={"goals": ["d"], "init": [1]}), 400, "goals.bad_request")


async def test_there_are_no_redirects_and_no_other_routes():
    async with mounted() as served:
        for path in ("/engine/step/", "/engine/nope", "/engine/flow/a/b", "/webhook/a"):
            refused(await served.client.get(path), 404, "http.no_route")
        answer = await served.client.put("/engine/step", json=GREET)
        refused(answer, 405, "http.method_not_allowed")
        assert "POST" in answer.headers["allow"]
        head = await served.client.head("/engine/step")
        assert (head.status_code, head.content) == (200, b"")


async def test_the_mount_is_off_unless_it_is_asked_for():
    async with mounted(settings=Settings()) as served:
        words = refused(await served.client.get("/engine/step"), 404, "mount.off")
        assert "--argyll" in words
        refused(await served.client.post("/webhook/a/b/c", json={}), 400, "goals.unknown_work")


async def test_only_this_machines_names_are_answered_to():
    foreign = {"host": "evil.example"}
    for settings in (MOUNTED, Settings(argyll="local", open=False)):
        async with mounted(settings=settings) as served:
            problem(await served.client.get("/engine/step", headers=foreign), 403, "http.foreign_host")
            assert (await served.client.get("/engine/step", headers={"host": "localhost"})).status_code == 200
    async with mounted(settings=Settings(argyll="open", open=False)) as served:
        assert (await served.client.get("/engine/step", headers=foreign)).status_code == 200
    async with mounted(settings=Settings(argyll="local", open=False, public_url="https://tea.example")) as served:
        assert (await served.client.get("/engine/step", headers={"host": "tea.example"})).status_code == 200


async def test_a_locked_server_asks_argylls_clients_for_nothing():
    async with mounted(settings=Settings(argyll="local", open=False)) as served:
        await register(served, GREET)
        problem(await served.get("/catalog"), 401, "auth.no_key")


async def test_changes_are_in_the_audit_trail():
    async with mounted() as served:
        await register(served, GREET)
        await served.client.post("/engine/step", json=GREET | {"name": "Other"})
        await served.client.delete("/engine/step/nope")
        entries = (await served.client.get(f"{API}/audit")).json()["entries"]
        kept = [(each["action"], each.get("target"), each["outcome"], each.get("code")) for each in entries]
        assert kept == [
            ("mount.unregister", "nope", "refused", "goals.step_not_found"),
            ("mount.register", None, "refused", "goals.step_exists"),
            ("mount.register", "greet", "ok", None),
        ]
        assert {each["who"] for each in entries} == {"argyll client"}


async def test_requests_are_counted_by_route():
    async with mounted() as served:
        await served.client.get("/engine/step/nope")
        metrics = (await served.client.get("/metrics")).text
        assert 'route="GET /engine/step/{id}"' in metrics
