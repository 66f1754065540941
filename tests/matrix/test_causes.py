"""Why a family failed, in one sentence: whatever the dialects of parent and child, it is what failed innermost."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Context, CriticalError, Engine, Retry, afl, goals, graph, refs, step, workflow
from plait.catalog import catalog_step
from plait.dialects.afl.handlers import Registration, child
from plait.dialects.graph.handlers import Handler
from plait.errors import RunFailed
from plait.kernel.bundle import Startable
from plait.kernel.cause import Cause, cause_of
from tests.matrix.families import DIALECTS, PAIRS, Family
from tests.matrix.world import World

DECLINED = "the card was declined"
PAY = {"code": "pay", "goals": "Pay", "graph": "Pay", "refs": 'Step "pay"', "afl": "pay"}
SECOND = {"code": "second", "goals": "to-second", "graph": "second", "refs": 'Step "second"', "afl": "b"}


class Declining(World):
    async def do(self, name: str, given: object) -> dict[str, int]:
        if name == "second":
            raise CriticalError(DECLINED)
        return {"n": 1, name: 1}


async def failure(engine: Engine, definition: Startable, input: object) -> Cause:
    handle = await engine.start(definition, input, id="top")
    with pytest.raises(RunFailed):
        await handle.result()
    error = (await handle.row()).error
    assert error is not None
    return cause_of(error)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{one}-{other}" for one, other in PAIRS])
async def test_a_failure_in_a_child_is_told_once_and_leads_to_its_step(one: str, other: str) -> None:
    family = Family(one, other, Declining(), undoable=False)
    async with Engine("memory:", definitions=family.definitions) as engine:
        told = await failure(engine, family.parent, {"n": 1})
        [inner] = [row for row in await engine.runs() if row.parent is not None]
        assert told.text == f"{SECOND[other]} failed: {DECLINED}"
        assert told.run == inner.id
        assert inner.error is not None
        assert told.run_node == cause_of(inner.error).node
        view = await (await engine.get("top")).view()
        assert told.node in [node.id for node in view.nodes if node.child == inner.id]


# -- without a child, and with one that has nothing that failed ------------------------------------------------------


async def closed(*_: Any, **__: Any) -> None:
    raise ConnectionError("the bank is closed")


@workflow
async def sleeper(ctx: Context, given: object = None) -> None:
    await ctx.sleep("nap", 86_400)


def paying(dialect: str, attempts: int) -> tuple[Startable, list[object]]:
    """A run whose only step fails after so many attempts."""
    doing: list[object] = [step(name="bank", max_attempts=attempts)(closed), Handler("bank", closed)]
    match dialect:
        case "code":
            policy = Retry(max_attempts=attempts, first=0.001)

            @workflow
            async def pay(ctx: Context, given: object) -> None:
                await ctx.step("pay", step(retry=policy)(closed))

            return pay, [pay]
        case "goals":
            made = catalog_step("to-pay", "Pay").output("paid").python("bank").retries(attempts - 1, first=0.001)
            return goals("to-pay"), [*doing, made]
        case "graph":
            retry = {"max_attempts": attempts, "backoff_ms": 1}
            node = {"id": "pay", "name": "Pay", "type": "task", "config": {"handler": "bank"}, "retry": retry}
            return graph({"nodes": [node]}), doing
        case "refs":
            config = {"maxAttempts": attempts, "backoffMs": 100}
            return refs({"steps": [{"name": "pay", "action": {"function": "bank"}, "config": config}]}), doing
        case _:
            source = f"""namespace m {{ event facet Pay() => (id: Long)
                workflow W() andThen {{ pay = Pay() with Retry(max_attempts = {attempts}, backoff_ms = 1) }} }}"""
            return afl(source, "m.W"), [Registration("Pay", closed)]


def calling(dialect: str, definition: str) -> tuple[Startable, list[object]]:
    """A run whose only step is a child."""
    match dialect:
        case "code":

            @workflow
            async def pay(ctx: Context, given: object) -> None:
                await ctx.child("pay", definition, None)

            return pay, [pay]
        case "goals":
            return goals("to-pay"), [catalog_step("to-pay", "Pay").output("x").run("code", definition).no_retries()]
        case "graph":
            node = {"id": "pay", "name": "Pay", "type": "run", "config": {"dialect": "code", "definition": definition}}
            return graph({"nodes": [node]}), []
        case "refs":
            action = {"workflow": {"dialect": "code", "definition": definition}}
            return refs({"steps": [{"name": "pay", "action": action}]}), []
        case _:
            source = "namespace m { event facet Pay() => (id: Long)\n workflow W() andThen { pay = Pay() } }"
            return afl(source, "m.W"), [Registration("Pay", child(definition))]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_step_that_was_tried_again_and_again_says_how_often(dialect: str) -> None:
    definition, known = paying(dialect, 3)
    async with Engine("memory:", definitions=known) as engine:
        told = await failure(engine, definition, {})
    assert told.text == f"{PAY[dialect]} failed after 3 attempts: the bank is closed"
    assert told.node is not None


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_child_that_was_cancelled_is_told_as_that_with_the_step_that_waited_for_it(dialect: str) -> None:
    definition, known = calling(dialect, "sleeper")
    async with Engine("memory:", definitions=[sleeper, *known]) as engine:
        await engine.start(definition, {}, id="top")
        while not (found := [row for row in await engine.runs() if row.parent is not None]):
            pass
        await (await engine.get(found[0].id)).cancel(reason="too late")
        with pytest.raises(RunFailed):
            await (await engine.get("top")).result()
        error = (await (await engine.get("top")).row()).error
    assert error is not None
    assert cause_of(error).text == f"{PAY[dialect]} failed: its child run was cancelled: too late"
    assert cause_of(error).run == found[0].id


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_child_that_could_not_be_started_has_no_run_to_lead_to(dialect: str) -> None:
    definition, known = calling(dialect, "nowhere")
    async with Engine("memory:", definitions=known) as engine:
        told = await failure(engine, definition, {})
    assert told.text.startswith(f"{PAY[dialect]} failed: no workflow `nowhere`")
    assert told.run is None


async def test_a_failed_assertion_and_an_item_of_afl_are_told_by_names_and_not_by_hashes() -> None:
    source = """namespace m { event facet Pay() => (id: Long)
        workflow Sure() andThen { sys.assert(1 > 2) }
        workflow Each(xs: [Long]) andThen foreach x in $.xs { pay = Pay() } }"""
    async with Engine("memory:", definitions=[Registration("Pay", closed)]) as engine:
        assert (await failure(engine, afl(source, "m.Sure"), {})).label == "andThen 1"
        handle = await engine.start(afl(source, "m.Each"), {"xs": [7]})
        with pytest.raises(RunFailed, match="item 1 / pay failed: the bank is closed"):
            await handle.result()
