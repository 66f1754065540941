"""The graph of one run over HTTP: before and after what changed it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import pytest

from plait.server.auth import AuthOptions
from plait.server.site import Settings
from tests.server.serving import problem, serving

ORDERS: dict[str, Any] = {
    "nodes": [
        {"id": "fetch", "type": "transform", "config": {"output": "$input"}},
        {"id": "boss", "type": "human", "human_config": {"title": "Fine?", "timeout_hours": None}},
    ],
    "edges": [{"from": "fetch", "to": "boss"}],
}
THANK: list[dict[str, Any]] = [
    {"op": "add", "path": "/nodes/-", "value": {"id": "thank", "type": "transform", "config": {"output": "thanks"}}},
    {"op": "add", "path": "/edges/-", "value": {"from": "boss", "to": "thank"}},
]
SHORTER: list[dict[str, Any]] = [{"op": "remove", "path": "/nodes/thank"}, {"op": "remove", "path": "/edges/1"}]


async def test_a_run_shows_the_graph_it_began_with_and_each_change_of_it(db: str) -> None:
    async with serving(db) as served:
        await served.post("/definitions", {"dialect": "graph", "name": "orders", "definition": ORDERS})
        run = await served.start("orders", {"amount": 5})
        await served.waits(run, "approval")
        found = (await served.get(f"/runs/{run}/graph")).json()
        assert found == {"revision": 1, "base": ORDERS, "definition": ORDERS, "changes": []}

        await served.post(f"/runs/{run}/patch", {"operations": THANK, "base_revision": 1})
        patched = (await served.get(f"/runs/{run}/graph")).json()
        assert (patched["revision"], patched["base"]) == (2, ORDERS)
        assert [node["id"] for node in patched["definition"]["nodes"]] == ["fetch", "boss", "thank"]
        assert [(change["kind"], change["operations"]) for change in patched["changes"]] == [("patch", THANK)]

        await served.post(f"/runs/{run}/patch", {"operations": SHORTER, "base_revision": 2})
        undone = (await served.get(f"/runs/{run}/graph")).json()
        assert (undone["revision"], undone["definition"]) == (3, ORDERS)


async def test_a_fork_with_another_graph_shows_that_as_a_change() -> None:
    async with serving() as served:
        await served.post("/definitions", {"dialect": "graph", "name": "orders", "definition": ORDERS})
        run = await served.start("orders", {"amount": 5})
        seq = (await served.waits(run, "approval"))["seq"]
        forked = await served.post(f"/runs/{run}/fork", {"at": seq, "edits": {"operations": THANK}})
        found = (await served.get(f"/runs/{forked.json()['id']}/graph")).json()
        assert [change["kind"] for change in found["changes"]] == ["fork"]
        assert [node["id"] for node in found["definition"]["nodes"]] == ["fetch", "boss", "thank"]


async def test_a_run_of_another_dialect_has_no_graph() -> None:
    async with serving() as served:
        run = await served.start("quick", {"customer": "Ada"})
        problem(await served.get(f"/runs/{run}/graph"), 409, "graph.no_graph")
        problem(await served.get("/runs/nobody/graph"), 404, "kernel.no_run")


async def test_a_run_has_a_record_of_where_it_came_from_and_what_became_of_it(db: str) -> None:
    async with serving(db) as served:
        saved = await served.post("/definitions", {"dialect": "graph", "name": "orders", "definition": ORDERS})
        answer = await served.post("/runs", {"tag": "orders@main", "inputs": {"amount": 5}, "labels": {"team": "tea"}})
        run = answer.json()["id"]
        await served.waits(run, "approval")
        found = (await served.get(f"/runs/{run}/record")).json()
        assert found["tag_name"] == "orders@main"
        assert found["artifact_id"].removeprefix("sha256:") == saved.json()["hash"].removeprefix("sha256:")
        assert found["ir_cas_ref"].startswith("cas://sha256:")
        assert (found["status"], found["dlq_count"], found["tags"]) == ("running", 0, {"team": "tea"})
        assert "final_counter_value" not in found

        [approval] = (await served.get("/approvals")).json()["approvals"]
        path = f"/approvals/{quote(approval['id'], safe='')}/decide"
        said = {"decision": "approve", "comments": "fine", "decided_by": "ann"}
        first = await served.post(path, said, headers={"Idempotency-Key": "k-1"})
        resumed = {"id": approval["id"], "approval_id": approval["id"], "status": "resumed", "next_nodes": []}
        assert first.json() == resumed | {"decision": "approve"}
        again = await served.post(path, said, headers={"Idempotency-Key": "k-1"})
        assert (again.status_code, again.json()) == (200, first.json())
        problem(await served.post(path, said, headers={"Idempotency-Key": "k-2"}), 409, "kernel.approval_decided")
        problem(await served.post(path, said), 409, "kernel.approval_decided")
        await served.ended(run)
        ended = (await served.get(f"/runs/{run}/record")).json()
        events = (await served.get(f"/runs/{run}/events")).json()["events"]
        assert (ended["status"], ended["final_counter_value"]) == ("completed", 0)
        assert ended["last_event_at"] == events[-1]["at"]
        assert ended["inputs_cas_ref"] == found["inputs_cas_ref"] != ended["outputs_cas_ref"]


async def test_the_record_of_a_run_counts_its_dead_letters_page_by_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.dialects.graph.surface.run_record_routes._PAGE", 2)
    path = tmp_path / "plait.db"
    async with serving(f"sqlite:///{path}") as served:
        await served.post("/definitions", {"dialect": "graph", "name": "orders", "definition": ORDERS})
        run = await served.start("orders", {"amount": 5})
        await served.waits(run, "approval")
        with closing(apsw.Connection(str(path))) as db:
            db.executemany(
                """insert into dead_letters (id, run_id, namespace, token, label, attempts, error, at, status)
                   values (?1, ?2, 'default', ?1, '', 1, '{"code":"x","message":""}', 1, ?3)""",
                [(f"{n}", run, "pending" if n < 5 else "retried") for n in range(7)],
            )
        assert (await served.get(f"/runs/{run}/record")).json()["dlq_count"] == 5


async def test_the_same_start_by_either_name_is_the_same_run() -> None:
    async with serving() as served:
        await served.post("/definitions", {"dialect": "graph", "name": "orders", "definition": ORDERS})
        first = await served.post("/runs", {"tag": "orders@main", "inputs": {"amount": 5}, "id": "r"})
        again = await served.post(
            "/runs", {"dialect": "graph", "definition": "orders@main", "input": {"amount": 5}, "id": "r"}
        )
        assert (first.status_code, again.status_code) == (201, 200)


@pytest.mark.parametrize(
    "body",
    [
        {"inputs": {"amount": 5}},
        {"tag": "orders@main", "definition": "orders"},
        {"tag": "orders@main", "input": {"amount": 5}},
        {"definition": "orders", "inputs": {"amount": 5}},
    ],
)
async def test_a_start_by_both_names_is_refused(body: dict[str, Any]) -> None:
    async with serving() as served:
        problem(await served.post("/runs", body), 422, "http.bad_body")


async def test_a_run_of_another_dialect_has_no_such_record() -> None:
    async with serving() as served:
        run = await served.start("echo", "Ada")
        problem(await served.get(f"/runs/{run}/record"), 409, "graph.no_graph")


async def test_a_record_says_who_started_the_run() -> None:
    async with serving(settings=Settings(open=False), options=AuthOptions()) as served:
        _, secret = await served.site.auth.keys.create("ada's key", "editor", "default")
        headers = {"Authorization": f"Bearer {secret}"}
        started = await served.post("/runs", {"dialect": "graph", "definition": ORDERS}, headers=headers)
        found = (await served.get(f"/runs/{started.json()['id']}/record", headers=headers)).json()
        assert found["submitted_by"] == "ada's key"
