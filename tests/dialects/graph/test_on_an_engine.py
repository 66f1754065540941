"""Graphs on a real engine and a real file: what the engine adds to the decisions."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from plait import Context, CriticalError, Engine, Route, graph, handler, workflow
from plait.dialects.graph.handlers import NodeContext
from plait.errors import Conflict, InvalidInput, PlaitError, RunFailed
from plait.kernel.clock import SystemClock
from plait.kernel.errors import ErrorInfo
from plait.testing import ScriptedModel
from plait.workers.queue_worker import QueueWorker, WorkerSettings
from tests.dialects.graph.drawing import drawn, human, task

tries: dict[str, int] = {}


@handler
async def double(payload: Any) -> Any:
    return {"n": payload["n"] * 2}


@handler("describe")
def describe(payload: Any, ctx: NodeContext) -> Any:
    """A plain function, in a thread."""
    return {"config": ctx.config, "seen": sorted(ctx.context), "attempt": ctx.attempt, "key": ctx.idempotency_key}


@handler
async def flaky(payload: Any, ctx: NodeContext) -> Any:
    tries[ctx.token_id] = tries.get(ctx.token_id, 0) + 1
    if tries[ctx.token_id] < 3:
        raise ConnectionError("not yet")
    return {"tries": tries[ctx.token_id]}


@handler
async def broken(payload: Any, ctx: NodeContext) -> Any:
    key = f"broken:{ctx.run_id}"
    tries[key] = tries.get(key, 0) + 1
    if tries[key] == 1:
        raise CriticalError("card declined")
    return {"n": 1}


@handler
async def choose(payload: Any) -> Any:
    return Route({"chosen": True}, ["gift"], "it is their birthday")


@workflow
async def shipping(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    return {"shipped": order["n"]}


@workflow
async def moody(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    if not ctx.run_id.endswith(".2"):
        raise ValueError("not in the mood")
    return {"shipped": order["n"]}


SCRIPT = {
    "agent": [
        {"output": "let me see", "next_nodes": ["nowhere"]},
        {"output": "well", "next_nodes": ["right"], "reasoning": "the second is better"},
    ]
}
DEFINITIONS = [double, describe, flaky, broken, choose, shipping, moody]
QUICK = {"max_attempts": 3, "backoff_ms": 1}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/plait.db"


def opened(url: str) -> Engine:
    return Engine(url, definitions=DEFINITIONS, models={"tiny": ScriptedModel(SCRIPT)})


def calls(id: str, handler: str = "double", **more: Any) -> dict[str, Any]:
    config = {"handler": handler, **more.pop("config", {})}
    return task(id, config=config, **more)


async def test_a_chain_runs_and_can_be_read_back(url: str) -> None:
    async with opened(url) as engine:
        run = await engine.start(graph(drawn("A > B > C", *map(calls, "ABC"))), {"n": 1})
        assert await run.result() == {"C": {"n": 8}}
        view = await run.view()
        assert [node.status for node in view.nodes] == ["completed"] * 3
        assert view.details is not None
        assert [step["node"] for step in view.details["path"]] == ["A", "B", "C"]


async def test_a_handler_sees_its_config_filled_in_and_what_others_returned(url: str) -> None:
    async with opened(url) as engine:
        told = calls("B", "describe", config={"twice": "$nodes.A.n", "text": "got ${payload.n} of $$5"})
        run = await engine.start(graph(drawn("A > B", calls("A"), told)), {"n": 2})
        found = (await run.result())["B"]
        assert found["config"] == {"handler": "describe", "twice": 4, "text": "got 4 of $5"}
        assert found["seen"] == ["A"]
        assert found["attempt"] == 1


async def test_a_flaky_node_is_tried_again(url: str) -> None:
    async with opened(url) as engine:
        run = await engine.start(graph(drawn("A", calls("A", "flaky", retry=QUICK))), None)
        assert await run.result() == {"A": {"tries": 3}}


async def test_a_failed_run_names_the_node_and_is_retried_from_its_dead_letter(url: str) -> None:
    async with opened(url) as engine:
        run = await engine.start(graph(drawn("A > B > C", calls("A"), calls("B", "broken"), calls("C"))), {"n": 1})
        with pytest.raises(RunFailed, match="card declined"):
            await run.result()
        [letter] = await engine.dlq.list()
        assert letter.label == "B"
        await engine.dlq.retry(letter.id)
        assert await run.result() == {"C": {"n": 2}}
        assert await engine.dlq.list() == []


async def test_a_person_approves(url: str) -> None:
    async with opened(url) as engine:
        run = await engine.start(
            graph(drawn("A > boss > B", calls("A"), human("boss", title="Pay?"), calls("B"))), {"n": 1}
        )
        approval = await _approval(engine)
        assert approval.title == "Pay?"
        await engine.approvals.decide(approval.id, "approve", by="ann")
        assert await run.result() == {"B": {"n": 4}}
        with pytest.raises(PlaitError):
            await engine.approvals.decide(approval.id, "reject", by="bob")


async def _approval(engine: Engine) -> Any:
    while True:
        if found := await engine.approvals.list():
            return found[0]
        await asyncio.sleep(0)


async def test_a_child_of_another_dialect_is_a_node(url: str) -> None:
    async with opened(url) as engine:
        node = {"id": "ship", "type": "run", "config": {"dialect": "code", "definition": "shipping"}}
        run = await engine.start(graph(drawn("A > ship", calls("A"), node)), {"n": 1})
        assert await run.result() == {"ship": {"shipped": 2}}


async def test_a_child_that_fails_is_started_again_under_another_id(url: str) -> None:
    async with opened(url) as engine:
        node = {"id": "ship", "type": "run", "retry": QUICK, "config": {"dialect": "code", "definition": "moody"}}
        run = await engine.start(graph(drawn("A > ship", calls("A"), node)), {"n": 1})
        assert await run.result() == {"ship": {"shipped": 2}}
        assert sorted(each.status for each in await engine.runs()) == ["completed", "completed", "failed"]


async def test_a_graph_is_a_child_of_a_graph(url: str) -> None:
    async with opened(url) as engine:
        inner = drawn("X", calls("X"))
        node = {"id": "sub", "type": "run", "config": {"dialect": "graph", "definition": inner}}
        run = await engine.start(graph(drawn("A > sub", calls("A"), node)), {"n": 1})
        assert await run.result() == {"sub": {"X": {"n": 4}}}


async def test_a_handler_chooses_the_way(url: str) -> None:
    async with opened(url) as engine:
        branch = {"type": "agent_driven", "available_next_nodes": ["gift", "sales"], "default": []}
        graph_ = drawn("gift, sales", calls("A", "choose", branch=branch), calls("gift", "describe"), calls("sales"))
        run = await engine.start(graph(graph_), None)
        assert list(await run.result()) == ["gift"]


async def test_an_agent_chooses_from_what_is_allowed_and_is_asked_again_otherwise(url: str) -> None:
    async with opened(url) as engine:
        node = {
            "id": "agent",
            "type": "agent",
            "config": {"prompt": "Where to, ${input.who}?"},
            "agent_config": {"model": "tiny"},
            "branch": {"type": "agent_driven", "available_next_nodes": ["left", "right"], "default": []},
            "retry": QUICK,
        }
        run = await engine.start(
            graph(drawn("left, right", node, calls("left", "describe"), calls("right", "describe"))), {"who": "ann"}
        )
        assert list(await run.result()) == ["right"]
        taken = [event for event in await run.events() if event.type == "branch.taken"]
        assert taken[0].data["reasoning"] == "the second is better"


async def test_a_run_is_patched_while_it_runs(url: str) -> None:
    async with opened(url) as engine:
        wait = {"id": "W", "type": "wait", "config": {"message": "go"}}
        run = await engine.start(graph(drawn("W > A", wait, calls("A"))), None)
        added = [
            {"op": "add", "path": "/nodes/-", "value": calls("B")},
            {"op": "add", "path": "/edges/-", "value": {"from": "A", "to": "B"}},
        ]
        assert await run.patch(added) == 2
        with pytest.raises(InvalidInput):
            await run.patch([{"op": "add", "path": "/nodes/-", "value": {"id": "B"}}])
        await run.message("go", {"n": 1})
        assert await run.result() == {"B": {"n": 4}}
        assert (await run.view()).revision == 2


async def test_a_fork_goes_on_with_another_output(url: str) -> None:
    async with opened(url) as engine:
        run = await engine.start(graph(drawn("A > B", calls("A"), calls("B"))), {"n": 1})
        await run.result()
        emitted = next(event for event in await run.events() if event.type == "node.emitted")
        fork = await run.fork(at=emitted.seq, edits={"outputs": {"A": {"n": 50}}})
        assert await fork.result() == {"B": {"n": 100}}


async def test_a_fork_at_any_event_goes_on_to_the_same_end(url: str) -> None:
    """Also in the middle of a decision: no message, no question and no token is lost on the way."""
    asked = human("ask", ["A"], title="anybody?", timeout_hours=0)
    chosen = {"id": "choose", "type": "decision", "branch": {"rules": [], "default": ["B"]}}
    heard = {"id": "hear", "type": "wait", "config": {"message": "go"}}
    async with opened(url) as engine:

        async def finished(run: Any) -> Any:
            with suppress(Conflict):  # it has heard that, and is done
                await run.message("go", {"n": 1})
            return await run.result()

        gated = calls("B", capabilities={"requires_approval": True})
        gated["human_config"] = {"timeout_hours": 0, "escalation_policy": "auto_approve"}
        nodes = (heard, asked, chosen, calls("A"), gated, calls("C"))
        run = await engine.start(graph(drawn("hear > ask, A > choose, B > C", *nodes)), {"n": 1})
        ending = await finished(run)
        events = await run.events()
        for event in events[:-1]:
            fork = await run.fork(at=event.seq)
            assert await finished(fork) == ending, event


async def test_a_sandboxed_condition_is_judged_by_a_task(url: str) -> None:
    async with opened(url) as engine:
        code = "def evaluate(output, context):\n    return output['n'] > 1"
        rules = [{"condition": {"type": "python_sandbox", "code": code}, "next_nodes": ["B"]}]
        branch = {"type": "conditional", "rules": rules, "default": ["C"]}
        run = await engine.start(graph(drawn("B, C", calls("A", branch=branch), calls("B"), calls("C"))), {"n": 1})
        assert await run.result() == {"B": {"n": 4}}
        types = [event.type for event in await run.events()]
        assert types[:4] == ["run.started", "node.executed", "condition.judged", "node.consumed"]


async def test_a_graph_with_a_handler_that_is_not_registered_is_refused(url: str) -> None:
    async with opened(url) as engine:
        with pytest.raises(InvalidInput, match="no handler `duoble`") as refused:
            await engine.start(graph(drawn("A", calls("A", "duoble"))), None)
        assert refused.value.flaws[0].code == "graph.unknown_handler"


async def test_a_graph_with_a_model_that_is_not_registered_is_refused(url: str) -> None:
    async with opened(url) as engine:
        node = {"id": "agent", "type": "agent", "agent_config": {"model": "huge"}}
        with pytest.raises(InvalidInput, match="no model `huge`"):
            await engine.start(graph(drawn("agent", node)), None)


async def test_a_run_moves_to_another_version_of_its_definition(url: str) -> None:
    async with opened(url) as engine:
        migrate = {
            "id": "M",
            "type": "migration",
            "config": {"from_version": "1.0", "to_version": "v1.1", "transform": "double"},
        }
        old = drawn("A > M > B", calls("A"), migrate, calls("B"))
        new = {**drawn("A > M > B > C", calls("A"), migrate, calls("B"), calls("C")), "version": "2.0"}
        await engine.definitions.save("graph", "orders", old)
        await engine.definitions.save("graph", "orders", new)
        double_payload = handler("double_payload")(lambda given: {"n": given["payload"]["n"] * 2})
        engine.bundles["graph"].declare(double_payload)
        for definition in (old, new):
            definition["nodes"][1]["config"]["transform"] = "double_payload"
        await engine.definitions.save("graph", "moves", old)
        await engine.definitions.save("graph", "moves", new)
        run = await engine.start(graph("moves@v1.0"), {"n": 1})
        assert await run.result() == {"C": {"n": 16}}
        assert "run.migrated" in [event.type for event in await run.events()]


async def test_a_run_survives_its_process(url: str) -> None:
    wait = {"id": "W", "type": "wait", "config": {"message": "go"}}
    definition = graph(drawn("A > W > B", calls("A"), wait, calls("B")))
    async with Engine(url, definitions=DEFINITIONS) as first:
        await first.start(definition, {"n": 1}, id="r")
    async with Engine(url, definitions=DEFINITIONS) as second:
        run = await second.get("r")
        await run.message("go", {"n": 5})
        assert await run.result() == {"B": {"n": 10}}


async def test_a_node_with_a_queue_is_done_by_a_worker(url: str) -> None:
    async with opened(url) as engine:
        run = await engine.start(graph(drawn("A > B", calls("A"), calls("B", "describe", queue="gpu"))), {"n": 1})
        executors = [executor for bundle in engine.bundles.values() for executor in bundle.executors]
        worker = QueueWorker(
            engine.queues, executors, SystemClock(), WorkerSettings(name="w", queues=["gpu"], namespace="default")
        )
        working = asyncio.create_task(worker.run())
        try:
            assert (await run.result())["B"]["seen"] == ["A"]
        finally:
            worker.stop()
            await working


async def test_a_task_on_a_queue_looks_the_same_in_its_next_attempt_when_the_engine_has_its_handler_by_then(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/plait.db"
    definition = graph(drawn("A > B", task("A", type="wait", config={"seconds": 0}), calls("B", "double", retry=QUICK)))
    async with Engine(url) as lacking:
        await lacking.start(definition, {"n": 1}, id="r")
        [first] = await lacking.queues.claim("w", ["wf.tasks.task"], wait_ms=60_000)
    async with Engine(url, definitions=DEFINITIONS) as having:
        await having.queues.fail(first.id, ErrorInfo("worker.failed", "no"))
        [second] = await having.queues.claim("w", ["wf.tasks.task"], wait_ms=60_000)
        assert (second.attempt, second.input) == (2, first.input)
        await having.queues.complete(second.id, {"n": 2})
        assert await (await having.get("r")).result() == {"B": {"n": 2}}


async def test_a_fork_does_a_node_again_and_takes_other_outputs_as_the_page_sends_them() -> None:
    definition = drawn("A > B > C", *(task(id, config={"handler": "double"}) for id in "ABC"))
    async with Engine("memory:", definitions=[double]) as engine:
        handle = await engine.start(graph(definition), {"n": 1})
        assert await handle.result() == {"C": {"n": 8}}
        again = await handle.fork("B", id="again")
        assert await again.result() == {"C": {"n": 8}}
        types = [(event.type, event.data.get("node_id")) for event in await again.events()]
        forked = types.index(("graph.forked", None))
        assert [node for type, node in types[:forked] if type == "node.consumed"] == ["A"]
        assert [node for type, node in types[forked:] if type == "node.consumed"] == ["B", "C"]
        done = [event.seq for event in await handle.events() if event.data.get("node_id") == "B"]
        other = await handle.fork(done[-1], {"B": {"n": 50}}, id="other")
        assert await other.result() == {"C": {"n": 100}}
        with pytest.raises(InvalidInput, match="node 'Z' has not begun"):
            await handle.fork("Z")
