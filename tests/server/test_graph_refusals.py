"""What a server answers where the tables of the spec name a code and a status."""

from __future__ import annotations

from typing import Any

import pytest

from plait import CriticalError, handler
from tests.server.serving import Served, problem, serving


@handler
async def fine(payload: Any) -> Any:
    return {"n": 1}


@handler
async def broken(payload: Any) -> Any:
    raise CriticalError("card declined")


DEFINITIONS = (fine, broken)
ASKING: dict[str, Any] = {
    "nodes": [{"id": "ask", "type": "human"}, {"id": "A", "type": "task", "config": {"handler": "fine"}}],
    "edges": [{"from": "ask", "to": "A"}],
}
FAILING: dict[str, Any] = {"nodes": [{"id": "pay", "type": "task", "config": {"handler": "broken"}}]}


async def start(served: Served, definition: dict[str, Any], **more: Any) -> Any:
    return await served.post("/runs", {"dialect": "graph", "definition": definition, "id": "run", **more})


async def approval(served: Served) -> str:
    await start(served, ASKING)
    await served.waits("run", "approval")
    [found] = (await served.get("/approvals")).json()["approvals"]
    return found["id"]


# -- starting ----------------------------------------------------------------------------------------------------------


async def test_a_definition_with_flaws_lists_them_all_and_starts_nothing() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        flawed = {"nodes": [{"id": "A", "type": "tsk", "depends_on": []}, {"id": "A", "type": "http"}]}
        found = problem(await start(served, flawed), 422, "graph.invalid")
        codes = [each["code"] for each in found["errors"]]
        assert codes == ["graph.bad_shape", "graph.duplicate_id", "graph.unknown_type", "graph.bad_config"]
        assert found["errors"][0]["message"] in found["detail"] or found["detail"] in found["errors"][0]["message"]
        assert (await served.get("/runs/run")).status_code == 404


async def test_a_handler_that_nobody_registered_is_named() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        node = {"id": "A", "type": "task", "config": {"handler": "fien"}}
        found = problem(await start(served, {"nodes": [node]}), 422, "graph.invalid")
        assert found["errors"][0]["code"] == "graph.unknown_handler"
        assert "fine" in found["errors"][0]["message"]


async def test_without_any_handlers_the_plan_warns_that_workers_must_have_them() -> None:
    async with serving(definitions=()) as served:
        body = {"dialect": "graph", "definition": FAILING}
        notes = (await served.post("/plan", body)).json()["notes"]
        assert notes == ["no handler `broken` here: node `pay` waits for a worker on queue `wf.tasks.task` that has it"]


# -- approvals ---------------------------------------------------------------------------------------------------------


async def test_an_approval_is_decided_once() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        id = await approval(served)
        problem(await served.post(f"/approvals/{id}/decide", {"decision": "perhaps"}), 422, "http.bad_body")
        problem(await served.post("/approvals/nobody/decide", {"decision": "approve"}), 404, "kernel.no_approval")
        foreign = await served.post(f"/approvals/{id}/decide", {"decision": "approve"}, params={"namespace": "other"})
        assert foreign.status_code == 404
        answer = await served.post(f"/approvals/{id}/decide", {"decision": "approve"})
        assert answer.status_code == 200, answer.text
        problem(await served.post(f"/approvals/{id}/decide", {"decision": "reject"}), 409, "kernel.approval_decided")


async def test_an_approval_of_a_cancelled_run_is_not_decided_any_more() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        id = await approval(served)
        await served.post("/runs/run/cancel", {})
        await served.ended("run", "cancelled")
        answer = await served.post(f"/approvals/{id}/decide", {"decision": "approve"})
        assert answer.status_code == 409, answer.text


# -- patches -----------------------------------------------------------------------------------------------------------

ADD = {"op": "add", "path": "/nodes/-", "value": {"id": "X", "type": "transform", "config": {"output": 1}}}


def edge(source: str, target: str) -> dict[str, Any]:
    return {"op": "add", "path": "/edges/-", "value": {"from": source, "to": target}}


@pytest.mark.parametrize(
    ("operations", "status", "code"),
    [
        ([{"op": "add", "path": "/nodes/-", "value": {"id": "X", "type": "tsk"}}], 422, "graph.invalid"),
        ([{"op": "replace", "path": "/nodes/ask/type", "value": "task"}], 409, "graph.node_in_use"),
        ([ADD, edge("B", "X")], 409, "graph.source_finished"),
        ([ADD], 422, "graph.orphan_node"),
        ([{"op": "add", "path": "/limits", "value": {"max_hops": 999}}], 403, "graph.widens_guardrail"),
    ],
)
async def test_a_run_patch_is_refused_with_its_status(operations: Any, status: int, code: str) -> None:
    async with serving(definitions=DEFINITIONS) as served:
        before = {"id": "B", "type": "transform", "config": {"output": 1}}
        definition = {"nodes": [before, *ASKING["nodes"]], "edges": [*ASKING["edges"], {"from": "B", "to": "ask"}]}
        await start(served, definition)
        await served.waits("run", "approval")
        problem(await served.post("/runs/run/patch", {"operations": operations}), status, code)
        events = (await served.get("/runs/run/events")).json()["events"]
        assert "patch.rejected" in [each["type"] for each in events]


async def test_a_patch_of_another_revision_or_of_an_ended_run_is_refused() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        await approval(served)
        patch = {"operations": [ADD, edge("A", "X")], "base_revision": 7}
        problem(await served.post("/runs/run/patch", patch), 412, "kernel.revision_stale")
        await served.post("/runs/run/cancel", {})
        await served.ended("run", "cancelled")
        problem(await served.post("/runs/run/patch", {"operations": [ADD]}), 409, "RUN_FINISHED")


# -- dead letters and messages -----------------------------------------------------------------------------------------


async def test_a_dead_letter_is_settled_once() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        await start(served, FAILING)
        await served.ended("run", "failed")
        [letter] = (await served.get("/dlq")).json()["dead_letters"]
        assert (await served.post(f"/dlq/{letter['id']}/discard")).status_code == 200
        await served.ended("run", "completed")
        assert (await served.post(f"/dlq/{letter['id']}/retry")).status_code == 409
        problem(await served.post("/runs/run/retry", {}), 409, "graph.nothing_to_retry")


async def test_a_message_that_no_node_waits_for_is_refused() -> None:
    async with serving(definitions=DEFINITIONS) as served:
        await approval(served)
        answer = await served.post("/runs/run/messages", {"name": "paid", "body": 1, "wait_ms": 5000})
        problem(answer, 409, "graph.unknown_message")
        events = (await served.get("/runs/run/events")).json()["events"]
        assert "message.queued" not in [each["type"] for each in events]
