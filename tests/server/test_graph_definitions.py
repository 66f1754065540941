"""Graphs as definitions over HTTP: saved, patched, tagged, undone, planned; node types and the schema."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema_rs

from plait.dialects.graph.definition.schema import graph_schema
from tests.server.serving import Served, problem, serving

ORDERS: dict[str, Any] = {
    "nodes": [
        {"id": "total", "type": "transform", "config": {"output": "$input.amount"}},
        {"id": "reply", "type": "transform", "config": {"output": {"total": "$nodes.total"}}},
    ],
    "edges": [{"from": "total", "to": "reply"}],
}
RENAMED = [{"op": "replace", "path": "/nodes/reply/config/output", "value": {"sum": "$nodes.total"}}]


async def save(served: Served, name: str = "orders") -> dict[str, Any]:
    answer = await served.post("/definitions", {"dialect": "graph", "name": name, "definition": ORDERS})
    assert answer.status_code == 201
    return answer.json()


async def output(served: Served, reference: str) -> Any:
    return (await served.ended(await served.start(reference, {"amount": 5})))["output"]


async def test_a_graph_is_saved_patched_undone_and_redone(db: str) -> None:
    async with serving(db) as served:
        assert (await save(served))["version"] == "v1.0"
        patched = await served.post("/definitions/orders/patch", {"operations": RENAMED, "description": "Rename"})
        assert (patched.status_code, patched.json()["version"]) == (201, "v1.1")
        assert await output(served, "orders") == {"reply": {"sum": 5}}
        assert await output(served, "orders@v1.0") == {"reply": {"total": 5}}
        undone = await served.post("/definitions/orders/tags/main/undo", {})
        assert (undone.json()["tags"], undone.json()["version"]) == ({"main": "v1.0"}, "v1.0")
        assert await output(served, "orders") == {"reply": {"total": 5}}
        redone = await served.post("/definitions/orders/tags/main/redo", {"expected": "v1.0"})
        assert redone.json()["tags"] == {"main": "v1.1"}
        problem(await served.post("/definitions/orders/tags/main/redo"), 409, "definitions.nothing_to_redo")


async def test_a_version_is_shown_with_its_patch_and_whole_if_asked() -> None:
    async with serving() as served:
        await save(served)
        await served.post("/definitions/orders/patch", {"operations": RENAMED, "description": "Rename"})
        found = (await served.get("/definitions/orders/versions/v1.1")).json()
        assert (found["base"], found["operations"], found["description"]) == ("v1.0", RENAMED, "Rename")
        assert "definition" not in found
        whole = (await served.get("/definitions/orders/versions/v1.1", params={"materialize": "true"})).json()
        assert whole["definition"]["nodes"][1]["config"]["output"] == {"sum": "$nodes.total"}
        problem(await served.get("/definitions/orders/versions/v1.1?materialize=yes"), 400, "http.bad_query")
        compared = await served.get("/definitions/orders/diff", params={"from": "v1.0", "to": "main"})
        assert compared.json() == {
            "name": "orders",
            "from": "v1.0",
            "to": "main",
            "operations": [
                {"op": "remove", "path": "/nodes/reply/config/output/total"},
                {"op": "add", "path": "/nodes/reply/config/output/sum", "value": "$nodes.total"},
            ],
        }


async def test_a_tag_moves_from_the_version_that_its_mover_saw() -> None:
    async with serving() as served:
        await save(served)
        await served.post("/definitions/orders/patch", {"operations": RENAMED})
        path = "/definitions/orders/tags/prod"
        assert (await served.post(path, {"version": "v1.0"})).json()["tags"]["prod"] == "v1.0"
        answer = await served.post(path, {"version": "v1.1"})
        problem(answer, 412, "definitions.tag_moved")
        assert answer.json()["title"] == "`orders@prod` is at v1.0, and no expected version was given"
        problem(await served.post(path, {"version": "v1.1", "expected": "v1.1"}), 412, "definitions.tag_moved")
        assert (await served.post(path, {"version": "v1.1", "expected": "v1.0"})).json()["tags"]["prod"] == "v1.1"
        stale = {"operations": RENAMED, "expected": "v1.0"}
        problem(await served.post("/definitions/orders/patch", stale), 412, "definitions.tag_moved")


async def test_every_flaw_is_in_the_answer_and_nothing_is_saved() -> None:
    broken = {"nodes": [{"id": "A", "type": "tsk"}, {"id": "A", "type": "http"}]}
    async with serving() as served:
        for answer in (
            await served.post("/definitions", {"dialect": "graph", "name": "orders", "definition": broken}),
            await served.post("/plan", {"dialect": "graph", "definition": broken}),
            await served.post("/runs", {"dialect": "graph", "definition": broken}),
        ):
            problem(answer, 422, "graph.invalid")
            assert [(flaw["code"], flaw["pointer"]) for flaw in answer.json()["errors"]] == [
                ("graph.duplicate_id", "/nodes/1/id"),
                ("graph.unknown_type", "/nodes/0/type"),
                ("graph.bad_config", "/nodes/1/config"),
            ]
        problem(await served.get("/definitions/orders"), 404, "definitions.unknown")
        assert (await served.get("/runs")).json() == {"runs": []}
        await save(served)
        answer = await served.post(
            "/definitions/orders/patch", {"operations": [{"op": "remove", "path": "/nodes/total"}]}
        )
        problem(answer, 422, "graph.invalid")
        answer = await served.post("/definitions/orders/patch", {"operations": [{"op": "remove", "path": "/nodes/x"}]})
        problem(answer, 422, "definitions.bad_patch")
        assert (await served.get("/definitions/orders")).json()["tags"] == {"main": "v1.0"}


async def test_a_plan_shows_the_compiled_graph() -> None:
    async with serving() as served:
        await save(served)
        for asked in ({"dialect": "graph", "definition": ORDERS}, {"definition": "orders@main"}):
            plan = (await served.post("/plan", asked)).json()["plan"]
            assert (plan["version"], plan["revision"], plan["entry_nodes"]) == ("1.0", 1, ["total"])
            assert plan["metadata"] == {}
            node = plan["nodes"]["reply"]
            assert (node["dependencies"], node["dependents"], node["wait_for_all"], node["is_terminal"]) == (
                ["total"],
                [],
                False,
                True,
            )


async def test_node_types_are_registered_shown_and_used() -> None:
    mailer = {"type_name": "mailer", "config_schema": {"type": "object", "required": ["to"]}, "worker_queue": "mail"}
    async with serving() as served:
        assert (await served.post("/node-types", mailer)).json()["type_name"] == "mailer"
        listed = (await served.get("/node-types")).json()["node_types"]
        assert [each["type_name"] for each in listed][-3:] == ["tool", "transform", "wait"]
        assert (await served.get("/node-types/mailer@v1")).json()["worker_queue"] == "mail"
        problem(await served.get("/node-types/mailr"), 404, "graph.type_not_found")
        narrower = {**mailer, "config_schema": {"type": "object", "required": ["to", "cc"]}}
        problem(await served.post("/node-types", narrower), 409, "graph.type_breaking")
        problem(await served.post("/node-types", {"type_name": "task"}), 409, "graph.type_exists")
        answer = await served.post(
            "/plan", {"dialect": "graph", "definition": {"nodes": [{"id": "M", "type": "mailer"}]}}
        )
        assert answer.json()["errors"][0]["message"] == "`M`: config.to is required by type `mailer`"


async def test_a_stored_text_is_used_by_its_hash() -> None:
    text = json.dumps({"output": "$input.amount"})
    hash = hashlib.sha256(text.encode()).hexdigest()
    definition = {"nodes": [{"id": "A", "type": "transform", "config_ref": f"cas://sha256:{hash}"}]}
    async with serving() as served:
        problem(await served.post("/runs", {"dialect": "graph", "definition": definition}), 422, "graph.invalid")
        answer = await served.client.put(f"/api/v1/blobs/{hash}", json={"text": text})
        assert answer.json() == {"ref": f"cas://sha256:{hash}"}
        problem(await served.client.put(f"/api/v1/blobs/{hash}", json={"text": "x"}), 422, "definitions.bad_hash")
        started = await served.post("/runs", {"dialect": "graph", "definition": definition, "input": {"amount": 3}})
        assert (await served.ended(started.json()["id"]))["output"] == {"A": 3}


async def test_the_schema_is_published_and_fits_what_is_accepted() -> None:
    async with serving() as served:
        published = (await served.get("/graph-schema")).json()
    assert published == json.loads((Path(__file__).parents[2] / "docs/graph.schema.json").read_text())
    assert published == json.loads(json.dumps(graph_schema()))
    validator = jsonschema_rs.Draft202012Validator(published)
    assert validator.is_valid(ORDERS)
    assert not validator.is_valid({"nodes": [{"id": "A", "type": "task", "depends_on": []}]})
