"""Work of a resumed run that is new work: under a new token, which is its idempotency key."""

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from tests.dialects.goals.running.bench import Bench, BenchRun, bench, boom, work
from tests.dialects.goals.running.test_resuming import resume
from tests.dialects.goals.running.test_undoing import undoable


def reserve() -> StepBuilder:
    return catalog_step("reserve").output("r").sync("http://steps.test/reserve", compensate="http://steps.test/undo")


async def reserved_and_undone(b: Bench, *goals: str) -> BenchRun:
    """A run that failed after `reserve`, which was undone."""
    b.wire.plays("/reserve", (200, {"r": 1}), (200, {"r": 2}))
    b.wire.plays("/undo", (200, None))
    run = await b.start(goals)
    assert await run.status() == "failed"
    return run


async def test_work_that_was_undone_is_done_again_under_a_new_key():
    async with bench(reserve(), work("charge", "r", "c").no_retries()) as b:
        b.plays("charge", boom("no funds"), lambda inputs: {"c": inputs["r"]})
        run = await reserved_and_undone(b, "charge")
        await resume(run)
        assert await run.output() == {"c": 2}
        first, second = [call.token for call in b.wire.to("/reserve")]
        assert first != second, "a service that knows the key would give back what was undone"
        assert [call.token for call in b.wire.to("/undo")] == [first]


async def test_the_new_work_is_undone_under_its_own_key():
    async with bench(reserve(), work("charge", "r", "c").no_retries()) as b:
        b.plays("charge", boom("no funds"))
        run = await reserved_and_undone(b, "charge")
        await resume(run)
        assert await run.status() == "failed"
        done = [call.token for call in b.wire.to("/reserve")]
        assert [call.token for call in b.wire.to("/undo")] == done
        await resume(run)
        assert len({call.token for call in b.wire.to("/reserve")}) == 3


async def test_only_the_items_that_were_undone_get_new_keys():
    many = undoable("m", "", "x").required("q", for_each=True).parallel(2).no_retries()
    async with bench(many) as b:
        b.plays("undo-m", None)
        run = await b.start("m", {"q": [1, 2]})
        undone, failed = await run.token("m", 0), await run.token("m", 1)
        await b.finish("m", x=1)
        await b.fail("m")
        await resume(run)
        assert (await run.token("m", 0), await run.token("m", 1)) != (undone, failed)
        assert await run.token("m", 1) == failed
        await b.finish("m", x=1)
        await b.finish("m", x=2)
        assert await run.output() == {"x": [{"q": 1, "x": 1}, {"q": 2, "x": 2}]}


async def test_children_of_a_flow_step_that_begins_anew_are_new_runs():
    """The old ones have ended: under their ids nobody would ever report."""
    inner = work("inner", "r", "i").no_retries()
    outer = catalog_step("outer").required("r").output("i2", inner="i").flow("inner")
    async with bench(undoable("reserve", "", "r"), inner, outer) as b:
        b.plays("reserve", {"r": 1}, {"r": 2})
        b.plays("undo-reserve", None)
        b.plays("inner", boom(), lambda inputs: {"i": inputs["r"]})
        run = await b.start("outer")
        assert await run.status() == "failed"
        await resume(run)
        assert await run.output() == {"i2": 2}


async def test_a_step_begins_anew_if_the_value_it_was_given_is_withdrawn_though_another_is_left():
    steps = [undoable("one", "", "r"), work("two", "", "r"), work("charge", "r", "c").no_retries()]
    async with bench(*steps) as b:
        b.plays("undo-one", None)
        b.plays("charge", boom(), lambda inputs: {"c": inputs["r"]})
        run = await b.start("charge")
        await b.finish("one", r="undone")
        await b.finish("two", r="kept")
        await resume(run)
        await b.finish("one", r="done again")
        assert await run.output() == {"c": "kept"}


async def test_a_step_stays_with_its_value_if_another_one_is_withdrawn():
    steps = [undoable("one", "", "r"), work("two", "", "r"), work("charge", "r", "c").no_retries(), work("x", "", "y")]
    async with bench(*steps) as b:
        b.plays("undo-one", None)
        run = await b.start(("charge", "x"))
        await b.finish("two", r="kept")
        token = await run.token("charge")
        await b.finish("one", r="undone")
        await b.fail("charge")
        await resume(run)
        assert await run.token("charge") == token
        await b.finish("one", r="done again")
        await b.finish("charge", c=1)
        await b.finish("x", y=1)
        assert await run.output() == {"c": 1, "y": 1}


async def test_a_run_that_fails_again_before_a_step_begins_anew_is_undone_all_the_same():
    steps = [
        undoable("reserve", "", "r"),
        undoable("charge", "r", "c"),
        work("ship", "c", "s").no_retries(),
        work("other", "", "o").no_retries(),
    ]
    async with bench(*steps) as b:
        b.plays("reserve", {"r": 1})
        b.plays("charge", {"c": 1})
        b.plays("undo-reserve", None)
        b.plays("undo-charge", None)
        b.plays("ship", boom())
        run = await b.start(("ship", "other"))
        assert await run.status() == "failed"
        await b.finish("other", o=1)
        b.plays("reserve", boom(final=True))
        await resume(run)
        assert (await run.error()).message == "goal step 'ship' cannot complete: required input 'c' unavailable"
        assert [call.step for call in b.calls if call.step.startswith("undo")] == ["undo-charge", "undo-reserve"]


async def test_a_value_that_comes_in_place_of_a_withdrawn_one_is_matched_anew():
    charge = work("charge", "", "c").required("r", match=("ale", "(= value 1)")).no_retries()
    async with bench(undoable("reserve", "", "r"), charge) as b:
        b.plays("reserve", {"r": 1}, {"r": 2})
        b.plays("undo-reserve", None)
        b.plays("charge", boom())
        run = await b.start("charge")
        assert await run.status() == "failed"
        await resume(run)
        assert (await run.error()).message == "goal step 'charge' cannot complete: required match did not match"
        assert len(b.inputs("charge")) == 1


async def test_work_on_withdrawn_values_is_stopped():
    steps = [undoable("reserve", "", "r"), work("slow", "r", "s"), work("bad", "r", "b").no_retries()]
    async with bench(*steps) as b:
        b.plays("reserve", {"r": 1}, {"r": 2})
        b.plays("undo-reserve", None)
        b.plays("bad", boom(), {"b": 1})
        run = await b.start(("slow", "bad"))
        await resume(run)
        assert [call.inputs for call in b.waiting("slow")] == [{"r": 2}]
        await b.finish("slow", s=1)
        assert await run.output() == {"s": 1, "b": 1}


async def test_an_answer_to_work_that_was_begun_anew_is_late():
    render = catalog_step("render").required("r").output("i").webhook("http://steps.test/render")
    async with bench(undoable("reserve", "", "r"), render, work("bad", "r", "b").no_retries()) as b:
        b.wire.plays("/render", (202, None))
        b.plays("reserve", {"r": 1}, {"r": 2})
        b.plays("undo-reserve", None)
        b.plays("bad", boom(), {"b": 1})
        run = await b.start(("render", "bad"))
        await resume(run)
        first, second = [call.token for call in b.wire.to("/render")]
        await run.webhook(first, {"i": "old"})
        assert (await run.tale())[-1] == "late_result render"
        await b.crash()
        await run.webhook(first, {"detail": "old"}, failed=True)
        await run.webhook(second, {"i": "new"})
        assert await run.output() == {"i": "new", "b": 1}


async def test_a_compensator_that_failed_can_be_tried_again_after_its_step_began_anew():
    pay = undoable("pay", "r", "c").required("q", for_each=True).parallel(2).no_retries()
    async with bench(undoable("reserve", "", "r"), pay) as b:
        b.plays("reserve", {"r": 1}, {"r": 2})
        b.plays("undo-reserve", None)
        b.plays("undo-pay", boom("no bank"), None)
        run = await b.start("pay", {"q": [1, 2]})
        await b.finish("pay", c="paid")
        await b.fail("pay")
        assert await run.status() == "failed"
        await resume(run)
        await b.finish("pay", c=1)
        await b.finish("pay", c=2)
        before = await run.output()
        [letter] = [each for each in await b.engine.dlq.list() if each.token.startswith("undo:")]
        await b.crash()
        await b.engine.dlq.retry(letter.id)
        await b.settle()
        assert b.inputs("undo-pay") == [{"input": {"r": 1, "q": 1}, "output": {"c": "paid"}}] * 2
        assert len(b.inputs("undo-reserve")) == 1, "what the run has done since stands"
        assert await run.output() == before
        assert [each for each in await b.engine.dlq.list() if each.token.startswith("undo:")] == []
