"""The `graph` dialect under contract: its nodes are Python functions, people, timers, messages and child runs."""

from __future__ import annotations

from typing import Any

from plait import CriticalError
from plait.dialects.graph.bundle import GraphBundle
from plait.dialects.graph.graph import graph
from plait.dialects.graph.handlers import Handler
from plait.kernel.bundle import Bundle
from plait.kernel.inputs import Patch, Resume
from tests.contract.dialects.kit import RUN, Act, Scenario, Subject, cancel, decide, message, retry, wait
from tests.dialects.graph.drawing import branch, drawn, human, rule, task
from tests.kernel.rig import Rig


class Graphs(Subject):
    name = "graph"

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    def dialect(self) -> Bundle:
        known = {"do": self._do, "flaky": self._flaky, "never": _never, "once": self._once, "undo": self._undo}
        return GraphBundle(definitions=[Handler(name, function) for name, function in known.items()])

    async def _do(self, payload: Any, ctx: Any) -> dict[str, Any]:
        return {"by": ctx.node_id, "n": sum(each.count("n") for each in [str(payload)])}

    async def _flaky(self, payload: Any, ctx: Any) -> dict[str, Any]:
        """Fails twice for each of its tokens, over all processes."""
        self.calls[ctx.token_id] = self.calls.get(ctx.token_id, 0) + 1
        if self.calls[ctx.token_id] <= 2:
            raise ConnectionError("not yet")
        return await self._do(payload, ctx)

    async def _once(self, payload: Any, ctx: Any) -> dict[str, Any]:
        self.calls["once"] = self.calls.get("once", 0) + 1
        if self.calls["once"] == 1:
            raise CriticalError("not the first time")
        return await self._do(payload, ctx)

    async def _undo(self, payload: Any) -> None: ...


async def _never(payload: Any) -> None:
    raise CriticalError("never")


def calls(id: str, handler: str = "do", **more: Any) -> dict[str, Any]:
    return task(id, config={"handler": handler}, **more)


def of(arrows: str, *nodes: dict[str, Any], **more: Any) -> Any:
    found = drawn(arrows, *nodes, **more)
    found["nodes"] = [
        node if node["type"] != "task" or "config" in node else {**node, "config": {"handler": "do"}}
        for node in found["nodes"]
    ]
    return graph(found)


def discard() -> Act:
    async def act(rig: Rig) -> None:
        await rig.settle()
        for letter in await rig.store.dead_letters("default"):
            await rig.send(RUN, Resume("settle", token=letter.token, verdict="discard"), f"discard:{letter.token}")

    return act


def patch(*operations: dict[str, Any]) -> Act:
    return lambda rig: rig.send(RUN, Patch(list(operations), "ann"), "patch")


SCENARIOS = [
    Scenario("a chain", of("A > B > C"), {"n": 1}),
    Scenario("a fan-out and a join", of("A > B C D > E > F"), {"n": 1}),
    Scenario("retries", of("A > B > C", calls("B", "flaky", retry={"max_attempts": 3})), {"n": 1}),
    Scenario(
        "a branch before a join", of("B C > D", calls("A", branch=branch(rule("output.n > 0", "B"), default=["C"])))
    ),
    Scenario(
        "a loop around a join",
        of(
            "A > B C > J",
            calls(
                "J",
                loop={
                    "condition": "ctx.A.metadata.iteration < 9",
                    "max_iterations": 3,
                    "loop_back_to": "A",
                    "timeout_path": [],
                },
            ),
        ),
    ),
    Scenario("an approval", of("A > boss > B", human("boss")), {"n": 1}, acts=[decide()]),
    Scenario("a rejection", of("A > boss > B, C", human("boss", ["C"])), acts=[decide("reject")]),
    Scenario("an approval that times out", of("A > boss > B", human("boss", timeout_hours=1))),
    Scenario(
        "an approval before a node", of("A > B", calls("B", capabilities={"requires_approval": True})), acts=[decide()]
    ),
    Scenario("a wait", of("A > W > B", {"id": "W", "type": "wait", "config": {"seconds": 30}})),
    Scenario(
        "messages",
        of("W > V > B", *({"id": id, "type": "wait", "config": {"message": "paid"}} for id in "WV")),
        acts=[message("paid", 1, "m-1"), message("paid", 2, "m-2")],
    ),
    Scenario(
        "transforms", of("A > T > B", {"id": "T", "type": "transform", "config": {"output": {"x": "$payload.n"}}})
    ),
    Scenario("a dead letter that is retried", of("A > B > C", calls("B", "once")), acts=[retry()]),
    Scenario(
        "a dead letter that is discarded",
        of("A > B C > D", calls("B", "never"), on_failure="hold"),
        acts=[discard()],
    ),
    Scenario(
        "a failure that compensates",
        of("A > B > C", calls("A", compensator={"action": "undo"}), calls("C", "never"), on_failure="compensate"),
    ),
    Scenario("a cancel", of("A > boss", human("boss")), acts=[wait(1), cancel()]),
    Scenario(
        "a cancel that compensates",
        of("A > boss", calls("A", compensator={"action": "undo"}), human("boss")),
        acts=[wait(1), cancel(True)],
    ),
    Scenario(
        "a patch",
        of("A > W > B > C", {"id": "W", "type": "wait", "config": {"seconds": 30}}),
        acts=[patch({"op": "replace", "path": "/nodes/C/config", "value": {"handler": "flaky"}})],
    ),
    Scenario("a limit", of("A > B > C", limits={"max_hops": 2})),
]
