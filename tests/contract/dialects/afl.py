"""The `afl` dialect under contract: its events are Python functions, child runs and `StepContinue`."""

from __future__ import annotations

import asyncio
from typing import Any

from plait import CriticalError, Retry, afl
from plait.dialects.afl.bundle import AflBundle
from plait.dialects.afl.handlers import Registration, child
from plait.dialects.afl.running.nodes import step_id
from plait.kernel import values
from plait.kernel.bundle import Bundle
from plait.kernel.inputs import Message
from tests.contract.dialects.kit import RUN, Act, Scenario, Subject, after_the_end, cancel, retry, wait
from tests.kernel.rig import Rig

SOURCE = """
namespace shop {
    event facet Do(x: Json) => (n: Long, list: [Long])
    event facet Flaky(x: Json) => (n: Long)
    event facet Once(x: Json) => (n: Long)
    event facet Never(x: Json) => (n: Long)
    event facet Undo(x: Json, result: Json)
    event facet Ask(x: Json) => (answer: String)
    event facet Kid(x: Json) => (out: Long)
    event facet BadKid(x: Json) => (out: Long)
    facet Value(input: Long)
    facet Audited(by: String) => (seen: Long) andThen { d = Do(x = $.by) yield Audited(seen = d.n) }
    facet Two(x: Json) => (n: Long) andThen {
        one = Do(x = $.x)
        two = Do(x = one.n)
        yield Two(n = two.n)
    }

    workflow Chain(x: Json) => (n: Long) andThen {
        a = Do(x = $.x)
        b = Do(x = a.n)
        c = Value(input = b.n + 1)
        yield Chain(n = c.input)
    }
    workflow Nothing() => (n: Long = 3)
    workflow Diamond() => (n: Long) andThen {
        d = Do(x = b.n + c.n)
        a = Do(x = 1)
        b = Do(x = a.n)
        c = Do(x = a.n)
        yield Diamond(n = d.n)
    }
    workflow Nested() => (n: Long) andThen {
        a = Two(x = 1) andThen { i = Do(x = a.x) yield Nested(n = i.n) }
        b = Two(x = a.x)
    } andThen { c = Two(x = 2) with Audited(by = "me") as audit }
    workflow Each(items: [Json]) => (all: [Long], last: Long) andThen foreach i in $.items {
        d = Flaky(x = i)
        yield Each(all = [d.n], last = d.n)
    }
    workflow Choose(go: Boolean) => (n: Long) andThen {
        a = Do(x = 1)
        yield Choose(n = a.n)
    } andThen when {
        case a.n > 0 && $.go => { b = Do(x = "yes") yield Choose(n = b.n) }
        case _ => { b = Do(x = "no") }
    }
    workflow Tries() => (n: Long) andThen { a = Flaky(x = 1) yield Tries(n = a.n) }
    workflow Fails() => (n: Long) andThen {
        a = Do(x = 1)
        b = Never(x = a.n)
        c = Do(x = b.n)
        yield Fails(n = c.n)
    }
    workflow Catches() => (n: Long, why: String) andThen {
        a = Never(x = 1) catch { r = Do(x = a.error) yield Catches(n = r.n, why = $.error) }
        yield Catches(n = 0)
    }
    workflow Asks() => (answer: String) andThen { q = Ask(x = 1) d = Do(x = q.answer) yield Asks(answer = q.answer) }
    workflow Retried() => (n: Long) andThen {
        a = Once(x = 1)
        b = Do(x = a.n)
        yield Retried(n = b.n)
    }
    workflow Buys() => (n: Long) andThen {
        a = Do(x = 1)
        q = Ask(x = a.n)
        yield Buys(n = a.n)
    }
    workflow Parent() => (n: Long) andThen { k = Kid(x = 1) yield Parent(n = k.out) }
    workflow BadParent() => (n: Long) andThen { k = BadKid(x = 1) yield BadParent(n = k.out) }
    workflow Inner(x: Json) => (out: Long) andThen { d = Do(x = $.x) yield Inner(out = d.n) }
    workflow Broken(x: Json) => (out: Long) andThen { d = Never(x = $.x) yield Broken(out = d.n) }
}
"""


class AflPrograms(Subject):
    name = "afl"

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    def dialect(self) -> Bundle:
        thrice = Retry(max_attempts=3, first=1)
        return AflBundle(
            [
                Registration("shop.Do", _do, compensate="shop.Undo"),
                Registration("Flaky", self._flaky, retry=thrice),
                Registration("Once", self._once),
                Registration("Never", _never),
                Registration("Undo", _undo),
                Registration("Ask", _patient),
                Registration("Kid", child(of("Inner"))),
                Registration("BadKid", child(of("Broken"))),
            ]
        )

    async def _flaky(self, payload: dict[str, Any], ctx: Any) -> dict[str, Any]:
        """Fails twice for each step, over all processes."""
        self.calls[ctx.step_id] = self.calls.get(ctx.step_id, 0) + 1
        if self.calls[ctx.step_id] <= 2:
            raise ConnectionError("not yet")
        return await _do(payload)

    async def _once(self, payload: dict[str, Any]) -> dict[str, Any]:
        self.calls["once"] = self.calls.get("once", 0) + 1
        if self.calls["once"] == 1:
            raise CriticalError("not the first time")
        return await _do(payload)


async def _do(payload: dict[str, Any]) -> dict[str, Any]:
    return {"n": len(str(payload["x"])), "list": [1, 2, 3]}


async def _never(payload: dict[str, Any]) -> None:
    raise CriticalError("never")


async def _patient(payload: dict[str, Any]) -> None:
    """Leaves the answer to somebody else."""
    await asyncio.Event().wait()


async def _undo(payload: dict[str, Any]) -> None:
    assert payload["result"]


def of(workflow: str) -> Any:
    return afl(SOURCE, f"shop.{workflow}")


def answer(name: str = "q", id: str = "answer", **result: Any) -> Act:
    """`StepContinue` for the step of that name."""

    async def act(rig: Rig) -> None:
        await rig.settle()
        run = await rig.kernel.peek(await rig.row(RUN))
        steps: Any = run.machine.run.state.steps.values()  # pyright: ignore[reportAttributeAccessIssue]
        [step] = [each.id for each in steps if each.statement_name == name]
        body = {"step_id": step, "result": result}
        await rig.send(RUN, Message(id, "StepContinue", values.encode(body)), id)

    return act


def stray() -> Act:
    """For a step that is not there."""
    body = {"event_type": "StepContinue", "payload": {"step_id": step_id("run", "no", "", "")}}
    return lambda rig: rig.send(RUN, Message("stray", "StepContinue", values.encode(body)), "stray")


SCENARIOS = [
    Scenario("nothing", of("Nothing")),
    Scenario("a chain", of("Chain"), {"x": "abc"}),
    Scenario("a diamond, written in another order", of("Diamond")),
    Scenario("bodies, mixins and yields for an outer step", of("Nested")),
    Scenario("a foreach with retries", of("Each"), {"items": [1, 22, 333]}),
    Scenario("a foreach over nothing", of("Each"), {"items": []}),
    Scenario("a case that holds", of("Choose"), {"go": True}),
    Scenario("a default case", of("Choose"), {"go": False}),
    Scenario("an event that is tried again", of("Tries")),
    Scenario("a failure", of("Fails")),
    Scenario("a failure that is caught", of("Catches")),
    Scenario("an answer by message", of("Asks"), acts=[stray(), answer(answer="yes"), answer(id="again", answer="no")]),
    Scenario(
        "an answer that comes when the run has ended",
        of("Asks"),
        acts=[answer(answer="yes"), after_the_end(answer(id="late", answer="no"))],
    ),
    Scenario("a retry of what failed", of("Retried"), acts=[retry()]),
    Scenario("a cancel", of("Asks"), acts=[wait(1), cancel()]),
    Scenario("a cancel that compensates", of("Buys"), acts=[wait(1), cancel(True)]),
    Scenario("a child", of("Parent")),
    Scenario("a child that fails", of("BadParent")),
]
