"""Steps that are runs themselves: flows, and runs of any dialect; and goals as the child of a workflow."""

from typing import Any

from plait import Context, goals, workflow
from plait.dialects.goals.steps.builder import catalog_step
from tests.dialects.goals.running.bench import BenchRun, bench, boom, work
from tests.dialects.goals.running.test_undoing import undoable

INNER = [work("load", "order", "lines"), work("sum", "lines", "total")]


def pay():
    return catalog_step("pay").required("id", inner="order").output("price", inner="total").flow("sum")


async def child_of(run: BenchRun, step_id: str, place: int = 0) -> BenchRun:
    return BenchRun(run.bench, f"{run.id}:{step_id}:{await run.token(step_id, place)}")


async def test_a_flow_step_runs_its_goals_as_a_child_with_inputs_by_inner_name():
    async with bench(*INNER, pay(), work("bill", "price", "billed")) as b:
        run = await b.start("bill", {"id": 7})
        assert b.inputs("load") == [{"order": 7}]
        child = await child_of(run, "pay")
        assert await run.reasons() == ["`bill` waits for `price` from `pay`", f"child run `{child.id}`"]
        await b.finish("load", lines=[1])
        await b.finish("sum", total=5)
        assert await child.output() == {"total": 5}
        assert b.inputs("bill") == [{"price": 5}]
        await b.finish("bill", billed=True)
        assert await run.output() == {"billed": True}


async def test_a_flow_step_fans_out_with_a_child_for_each_item():
    each = catalog_step("pay").required("ids", for_each=True, inner="order").output("total").flow("sum").parallel(2)
    async with bench(*INNER, each) as b:
        b.plays("load", lambda inputs: {"lines": inputs["order"]})
        b.plays("sum", lambda inputs: {"total": inputs["lines"] * 10})
        run = await b.start("pay", {"ids": [1, 2, 3]})
        assert await run.output() == {"total": [{"ids": n, "total": n * 10} for n in (1, 2, 3)]}


async def test_outputs_come_from_the_attributes_of_the_child_not_only_from_its_goals():
    flow = (
        catalog_step("pay").required("order").output("rows", inner="lines").output("price", inner="total").flow("sum")
    )
    async with bench(*INNER, flow) as b:
        b.plays("load", {"lines": [1, 2]})
        b.plays("sum", {"total": 3})
        run = await b.start("pay", {"order": 7})
        assert await run.output() == {"rows": [1, 2], "price": 3}


async def test_a_mapped_output_that_the_child_does_not_have_fails_the_item():
    async with bench(*INNER, pay()) as b:
        b.plays("load", {"lines": [1, 2]})
        b.plays("sum", {})
        run = await b.start("pay", {"id": 7})
        assert (await run.error()).message == "goal step 'pay' failed: flow output missing: total"


async def test_the_failure_of_a_child_is_permanent():
    async with bench(INNER[0], INNER[1].no_retries(), pay()) as b:
        b.plays("load", {"lines": []})
        b.plays("sum", boom("nothing to add"))
        run = await b.start("pay", {"id": 7})
        assert (await run.error()).message == "goal step 'pay' failed: goal step 'sum' failed: nothing to add"
        assert b.ran().count("sum") == 1


async def test_a_resumed_run_makes_a_new_child():
    async with bench(INNER[0], INNER[1].no_retries(), pay()) as b:
        b.plays("load", {"lines": []})
        b.plays("sum", boom("nothing to add"), {"total": 1})
        run = await b.start("pay", {"id": 7})
        assert await run.status() == "failed"
        await (await run.handle()).retry()
        await b.settle()
        assert await run.output() == {"price": 1}


async def test_a_cancelled_run_cancels_its_children():
    async with bench(*INNER, pay()) as b:
        run = await b.start("pay", {"id": 7})
        child = await child_of(run, "pay")
        await (await run.handle()).cancel("enough")
        await b.settle()
        assert await child.status() == "cancelled"
        assert (await run.tale())[-2:] == ["flow_cancelled", "late_result pay"]


async def test_a_child_that_outlives_its_run_is_heard_and_the_run_deactivated():
    for cache in (1000, 0):
        async with bench(*INNER, pay(), work("bad", "", "x").no_retries(), cache=cache) as b:
            run = await b.start(("pay", "bad"), {"id": 7})
            await b.fail("bad")
            assert await run.status() == "failed"
            await b.wait(600)
            assert "flow_deactivated" not in await run.tale()
            await b.finish("load", lines=1)
            await b.finish("sum", total=1)
            assert (await run.tale())[-4:] == [
                "work_succeeded pay",
                "attribute_set price=1 by pay",
                "step_completed pay",
                "flow_deactivated",
            ]


async def test_facts_about_the_run_reach_a_step():
    inner = catalog_step("tell").python("tell").output("facts")
    for name in ("flow_id", "step_id", "parent_flow_id", "parent_step_id", "parent_work_item_token", "team", "unknown"):
        inner = inner.meta(name, name)
    outer = catalog_step("outer").output("facts").flow("tell")
    async with bench(inner, outer) as b:
        b.plays("tell", lambda inputs: {"facts": inputs})
        run = await b.start("outer")
        token = await run.token("outer")
        assert await run.output() == {
            "facts": {
                "flow_id": f"run:outer:{token}",
                "step_id": "tell",
                "parent_flow_id": "run",
                "parent_step_id": "outer",
                "parent_work_item_token": token,
            }
        }
        labelled = await b.start("tell", id="labelled", labels={"team": "pay"})
        assert await labelled.output() == {"facts": {"flow_id": "labelled", "step_id": "tell", "team": "pay"}}


async def test_a_flow_step_can_give_its_token_to_its_child():
    inner = work("use", "key", "used")
    outer = catalog_step("outer").meta("key", "receipt_token").output("used").flow("use")
    async with bench(inner, outer) as b:
        b.plays("use", lambda inputs: {"used": inputs["key"]})
        run = await b.start("outer")
        assert await run.output() == {"used": await run.token("outer")}


# -- other dialects ----------------------------------------------------------------------------------------------------


@workflow
async def doubling(ctx: Context, input: dict[str, int]) -> dict[str, int]:
    await ctx.sleep("nap", 60)
    return {"twice": 2 * input["n"]}


@workflow
async def counting(ctx: Context, input: dict[str, Any]) -> int:
    return 42


@workflow
async def asking(ctx: Context) -> Any:
    return await ctx.child("ask", goals("double"), {"n": 4})


async def test_a_run_step_starts_a_workflow_and_takes_its_output():
    double = catalog_step("double").required("n").output("twice").run("code", "doubling")
    async with bench(double, definitions=[doubling]) as b:
        run = await b.start("double", {"n": 21})
        await b.wait(60)
        assert await run.output() == {"twice": 42}


async def test_an_output_that_is_no_object_is_called_result():
    count = catalog_step("count").required("n").output("result").run("code", "counting")
    async with bench(count, definitions=[counting]) as b:
        run = await b.start("count", {"n": 1})
        assert await run.output() == {"result": 42}


async def test_a_child_that_can_not_be_started_fails_the_item():
    missing = catalog_step("missing").output("x").run("code", "no_such_workflow")
    async with bench(missing) as b:
        run = await b.start("missing")
        assert (await run.error()).message.startswith("goal step 'missing' failed: ")


async def test_goals_are_the_child_of_a_workflow():
    async with bench(work("double", "n", "twice"), definitions=[asking]) as b:
        b.plays("double", lambda inputs: {"twice": 2 * inputs["n"]})
        handle = await b.engine.start(asking, id="parent")
        await b.settle()
        assert await handle.result() == {"twice": 8}


async def test_the_failure_of_goals_is_the_failure_of_the_workflow_that_asked():
    async with bench(work("double", "n", "twice").no_retries(), definitions=[asking]) as b:
        b.plays("double", boom("overflow"))
        handle = await b.engine.start(asking, id="parent")
        await b.settle()
        row = await handle.row()
        assert row.status == "failed"
        assert row.error is not None
        assert "goal step 'double' failed: overflow" in row.error.message


async def test_a_child_whose_work_was_undone_runs_again_when_its_parent_is_retried():
    inner = undoable("load", "order", "total")
    flow = catalog_step("pay").required("id", inner="order").output("price", inner="total").flow("load")
    async with bench(inner, flow, work("bill", "price", "billed").no_retries()) as b:
        b.plays("load", {"total": 5}, {"total": 6})
        b.plays("undo-load", None)
        b.plays("bill", boom("no ink"), lambda inputs: {"billed": inputs["price"]})
        run = await b.start("bill", {"id": 7})
        assert await run.status() == "failed"
        assert b.ran() == ["load", "bill", "undo-load"]
        await (await run.handle()).retry()
        await b.settle()
        assert await run.output() == {"billed": 6}


async def test_a_child_whose_compensation_was_tried_again_is_made_anew():
    """The first try failed for good; what the second one undid must not count as done."""
    inner = undoable("load", "order", "total").no_retries()
    flow = catalog_step("pay").required("id", inner="order").output("price", inner="total").flow("load")
    async with bench(inner, flow, work("bill", "price", "billed").no_retries()) as b:
        b.plays("load", {"total": 1}, {"total": 2})
        b.plays("undo-load", boom("locked"), None)
        b.plays("bill", boom("no paper"), {"billed": True})
        run = await b.start("bill", {"id": 7})
        [whole] = [each for each in await b.engine.dlq.list() if each.error.code == "kernel.child_not_compensated"]
        assert [item.status for item in await run.items("pay")] == ["compensation_failed"]
        await b.engine.dlq.retry(whole.id)
        await b.settle()
        assert [item.status for item in await run.items("pay")] == ["compensated"]
        await (await run.handle()).retry()
        await b.settle()
        assert await run.output() == {"billed": True}
        assert [inputs["price"] for inputs in b.inputs("bill")] == [1, 2]
