"""The `refs` dialect under contract: its steps are Python functions, children, conditions and loops."""

from __future__ import annotations

from typing import Any

from plait import CriticalError
from plait.dialects.refs.bundle import RefsBundle
from plait.dialects.refs.refs import refs
from plait.kernel.bundle import Bundle
from plait.kernel.inputs import Patch, Resume
from plait.testing import VirtualClock
from plait.workers.python import Functions, PythonExecutor
from tests.contract.dialects.kit import RUN, Act, Scenario, Subject, cancel, message, retry, wait
from tests.dialects.refs.player import call, ret, workflow
from tests.kernel.rig import Rig


class RefWorkflows(Subject):
    name = "refs"

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    def dialect(self) -> Bundle:
        functions = Functions()
        for name, function in {
            "do": self._do,
            "flaky": self._flaky,
            "never": _never,
            "once": self._once,
            "undo": _undo,
        }.items():
            functions.add(name, function)
        return RefsBundle(executors=[PythonExecutor(functions)])

    async def _do(self, **input: Any) -> dict[str, Any]:
        return {"n": sum(str(each).count("n") for each in input.values()), "list": [1, 2, 3], "given": input}

    async def _flaky(self, **input: Any) -> dict[str, Any]:
        """Fails twice for each of its inputs, over all processes."""
        key = str(sorted(input.items()))
        self.calls[key] = self.calls.get(key, 0) + 1
        if self.calls[key] <= 2:
            raise ConnectionError("not yet")
        return await self._do(**input)

    async def _once(self, **input: Any) -> dict[str, Any]:
        self.calls["once"] = self.calls.get("once", 0) + 1
        if self.calls["once"] == 1:
            raise CriticalError("not the first time")
        return await self._do(**input)


async def _undo(**input: Any) -> None: ...


async def _never(**input: Any) -> None:
    raise CriticalError("never")


def do(name: str, input: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return call(name, input, function=more.pop("function", "do"), **more)


def of(*steps: dict[str, Any], **more: Any) -> Any:
    return refs({"steps": list(steps), **more})


def downstream() -> Act:
    async def act(rig: Rig) -> None:
        await rig.end(RUN)
        await rig.send(RUN, Resume("retry", scope="downstream"), "retry")

    return act


def patch(*operations: dict[str, Any]) -> Act:
    return lambda rig: rig.send(RUN, Patch(list(operations), "ann"), "patch")


CONTINUE = {"onError": "continue"}
THREE = {"maxAttempts": 3, "backoffMs": 1_000}
LATER = VirtualClock().now() + 60_000
UNDO = {"action": {"function": "undo"}, "input": {"x": "@a.n"}}
KID = {"dialect": "refs", "definition": {"steps": [do("inner", {"x": "@input.x"})]}}
BAD_KID = {"dialect": "refs", "definition": {"steps": [do("inner", function="never")]}}

SCENARIOS = [
    Scenario("a chain", of(do("a"), do("b", {"x": "@a.n"}), do("c", {"x": "@b"})), {"n": 1}),
    Scenario("a diamond", of(do("a"), do("b", {"x": "@a"}), do("c", {"x": "@a"}), do("d", {"x": "@b", "y": "@c"}))),
    Scenario("retries", of(do("a", function="flaky", config=THREE), do("b", {"x": "@a"}))),
    Scenario("a skip", of(do("a", when={"ref": "@input.go"}), do("b", {"x": "@a.n"}))),
    Scenario("a return", of(do("a"), ret("r", {"x": "@a.n"}), do("b", {"x": "@a"}))),
    Scenario("a bail", of(do("a", bail={"ref": "@a.n", "gte": 0}), do("b", {"x": "@a"}))),
    Scenario("presets", of(do("a"), do("b", {"x": "@a"}), presets={"a": {"n": 5}})),
    Scenario("iterations", of(do("a"), do("f", {"x": "@item"}, forEach={"ref": "@a.list", "concurrency": 2}))),
    Scenario(
        "iterations that are tried again",
        of(do("f", {"x": "@item"}, function="flaky", forEach={"ref": "@input"}, config=THREE)),
        [1, 2],
    ),
    Scenario("a failure that is continued", of(do("a", function="never", config=CONTINUE), do("b", {"x": "@a"}))),
    Scenario("a failure", of(do("a"), do("b", {"x": "@a"}, function="never"), do("c", {"x": "@b"}))),
    Scenario("a failure that compensates", of(do("a", compensate=UNDO), do("b", {"x": "@a"}, function="never"))),
    Scenario("a child", of(workflow("kid", {"x": 1}, workflow=KID), do("b", {"x": "@kid"}))),
    Scenario("a child that fails", of(workflow("kid", workflow=BAD_KID))),
    Scenario("a child that nobody waits for", of(workflow("kid", workflow=KID, wait=False), do("b", {"x": "@kid.id"}))),
    Scenario("a resume", of(do("a"), do("b", {"x": "@a"}, function="once"), do("c", {"x": "@b"})), acts=[retry()]),
    Scenario(
        "a resume of what came after",
        of(do("a", function="once", config=CONTINUE), do("b", {"x": "@a"}), do("c", {"x": "@b"})),
        acts=[downstream()],
    ),
    Scenario(
        "a resume of iterations",
        of(do("f", {"x": "@item"}, function="once", forEach={"ref": "@input"}), do("c", {"x": "@f"})),
        [1, 2],
        acts=[downstream()],
    ),
    Scenario("a delayed start", of(do("a"), start_at_epoch_ms=LATER)),
    Scenario(
        "a preset by message",
        of(do("a"), do("b", {"x": "@a"}), start_at_epoch_ms=LATER),
        acts=[message("preset", {"stepName": "a", "output": {"n": 3}})],
    ),
    Scenario(
        "a patch",
        of(do("a"), start_at_epoch_ms=LATER),
        acts=[patch({"op": "add_step", "step": do("b", {"x": "@a"})})],
    ),
    Scenario("a cancel", of(do("a"), start_at_epoch_ms=LATER), acts=[wait(1), cancel()]),
    Scenario(
        "a cancel that compensates",
        of(
            do("a", compensate=UNDO),
            workflow(
                "kid",
                {"x": "@a"},
                workflow={"dialect": "refs", "definition": {"steps": [do("inner")], "start_at_epoch_ms": LATER}},
            ),
        ),
        acts=[wait(1), cancel(True)],
    ),
]
