"""Compensation: of a step that failed, of a run that failed, of one that is cancelled, or on request."""

import pytest

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.kernel.store import DeadLetter
from tests.dialects.goals.running.bench import Bench, BenchRun, bench, boom, work


def undoable(id: str, needs: str = "", gives: str = "") -> StepBuilder:
    return work(id, needs, gives).python(id, compensate=f"undo-{id}")


def undone(b: Bench) -> list[str]:
    return [call.step for call in b.calls if call.step.startswith("undo-")]


ORDER = [undoable("reserve", "", "r"), undoable("charge", "r", "c"), work("ship", "c", "s").no_retries()]


def all_well(b: Bench) -> None:
    for id, name in (("reserve", "r"), ("charge", "c")):
        b.plays(id, {name: id})
        b.plays(f"undo-{id}", None)


async def test_a_run_that_fails_undoes_all_that_succeeded_newest_first():
    async with bench(*ORDER) as b:
        all_well(b)
        b.plays("ship", boom("no truck"))
        run = await b.start("ship")
        assert await run.status() == "failed"
        assert (await run.error()).message == "goal step 'ship' failed: no truck"
        assert undone(b) == ["undo-charge", "undo-reserve"]
        assert b.inputs("undo-charge") == [{"input": {"r": "reserve"}, "output": {"c": "charge"}}]
        items = [item for id in ("reserve", "charge") for item in await run.items(id)]
        assert [item.status for item in items] == ["compensated", "compensated"]


async def test_a_compensator_has_the_retries_of_its_step():
    async with bench(undoable("a", "", "x").retries(2, first=3), work("bad", "x", "y").no_retries()) as b:
        b.plays("a", {"x": 1})
        b.plays("undo-a", boom("not yet"), boom("not yet"), None)
        b.plays("bad", boom())
        run = await b.start("bad")
        assert await run.status() == "running"
        await b.wait(100)
        assert await run.status() == "failed"
        assert len(undone(b)) == 3


async def test_the_picture_of_a_failed_flow_shows_what_was_undone():
    async with bench(*ORDER) as b:
        all_well(b)
        b.plays("ship", boom("no truck"))
        run = await b.start("ship")
        view = await (await run.handle()).view()
        shown = {node.label: node.status for node in view.nodes if node.label.startswith("compensation")}
        assert shown == {"compensation of charge": "completed", "compensation of reserve": "completed"}


async def test_every_item_is_undone_once_newest_first():
    many = undoable("m", "", "x").required("q", for_each=True).parallel(2)
    async with bench(many, work("bad", "x", "y").no_retries()) as b:
        b.plays("undo-m", None)
        b.plays("bad", boom())
        run = await b.start("bad", {"q": [1, 2]})
        await b.finish("m", 1, x="b")
        await b.finish("m", 0, x="a")
        assert await run.status() == "failed"
        assert [call["input"]["q"] for call in b.inputs("undo-m")] == [1, 2]


async def test_a_failed_step_undoes_its_succeeded_items_at_once_while_the_run_goes_on():
    partly = undoable("m", "", "x").required("q", for_each=True).parallel(3).no_retries()
    use = work("use", "", "y").optional("x", default=0, deadline=-1)
    async with bench(partly, use) as b:
        b.plays("undo-m", None)
        run = await b.start("use", {"q": [1, 2, 3]})
        await b.finish("m", 0, x="a")
        await b.finish("m", 0, x="b")
        assert undone(b) == []
        await b.fail("m", "broken")
        assert [call["input"]["q"] for call in b.inputs("undo-m")] == [2, 1]
        assert b.inputs("use") == [{"x": 0}]
        assert (await run.tale()).of("comp_") == ["comp_started m", "comp_succeeded m"] * 2
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}


async def test_items_that_succeed_after_their_step_failed_are_undone_too_and_the_run_waits_for_that():
    partly = undoable("m", "", "x").required("q", for_each=True).parallel(2).no_retries()
    use = work("use", "", "y").optional("x", default=0, deadline=-1)
    async with bench(partly, use) as b:
        run = await b.start("use", {"q": [1, 2]})
        await b.fail("m", "broken")
        await b.finish("use", y=1)
        assert await run.status() == "running"
        assert await run.reasons() == ["`m` is running"]
        await b.finish("m", x="late")
        assert await run.reasons() == ["compensating `m`"]
        b.waiting("undo-m")[0].answer.set_result(None)
        await b.settle()
        assert await run.output() == {"y": 1}
        assert [item.status for item in await run.items("m")] == ["failed", "compensated"]


async def test_a_compensator_of_a_step_that_is_exhausted_is_a_dead_letter_and_can_be_tried_again():
    partly = undoable("m", "", "x").required("q", for_each=True).parallel(2).no_retries()
    use = work("use", "", "y").optional("x", default=0, deadline=-1)
    async with bench(partly, use) as b:
        b.plays("undo-m", boom("stuck"), None)
        run = await b.start("use", {"q": [1, 2]})
        await b.finish("m", x=1)
        await b.fail("m", "broken")
        assert [item.status for item in await run.items("m")] == ["compensation_failed", "failed"]
        [letter] = [each for each in await b.engine.dlq.list() if each.token.startswith("undo:")]
        await b.engine.dlq.retry(letter.id)
        await b.settle()
        assert [item.status for item in await run.items("m")] == ["compensated", "failed"]


async def test_compensation_of_a_step_goes_on_after_a_crash():
    partly = undoable("m", "", "x").required("q", for_each=True).parallel(2).no_retries()
    use = work("use", "", "y").optional("x", default=0, deadline=-1)
    async with bench(partly, use) as b:
        run = await b.start("use", {"q": [1, 2]})
        await b.finish("m", x=1)
        await b.fail("m", "broken")
        assert len(b.waiting("undo-m")) == 1
        await b.crash()
        assert len(b.waiting("undo-m")) == 1
        b.waiting("undo-m")[0].answer.set_result(None)
        await b.settle()
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}


async def test_work_that_succeeds_after_its_run_failed_is_undone():
    async with bench(undoable("long", "", "x"), work("bad", "", "y").no_retries()) as b:
        b.plays("undo-long", None)
        run = await b.start(("long", "bad"))
        await b.fail("bad")
        assert await run.status() == "failed"
        await b.finish("long", x=1)
        assert undone(b) == ["undo-long"]
        assert await run.status() == "failed"
        assert (await run.error()).message == "goal step 'bad' failed: boom"
        state = await run.state()
        assert (state.status, state.outlived) == ("failed", False)


async def test_a_webhook_that_comes_after_its_run_failed_is_undone():
    render = catalog_step("render").output("i").webhook("http://steps.test/render", compensate="http://steps.test/undo")
    async with bench(render, work("bad", "", "y").no_retries()) as b:
        b.wire.plays("/render", (202, None))
        b.wire.plays("/undo", (200, None))
        run = await b.start(("render", "bad"))
        await b.fail("bad")
        assert await run.status() == "failed"
        await run.webhook(b.wire.sent[0].token, {"i": 1})
        [undo] = b.wire.to("/undo")
        assert undo.body == {"input": {}, "output": {"i": 1}}
        assert undo.token == b.wire.sent[0].token
        assert await run.status() == "failed"


async def test_a_run_that_was_rolled_back_takes_in_what_ends_later():
    async with bench(undoable("a", "", "x"), undoable("long", "", "z"), work("bad", "x", "y").no_retries()) as b:
        b.plays("a", {"x": 1})
        b.plays("undo-a", None)
        b.plays("undo-long", None)
        b.plays("bad", boom())
        run = await b.start(("long", "bad"))
        assert await run.status() == "failed"
        assert undone(b) == ["undo-a"]
        await b.finish("long", z=1)
        assert undone(b) == ["undo-a", "undo-long"]


async def test_a_cancel_undoes_nothing():
    async with bench(undoable("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        run = await b.start("b")
        await (await run.handle()).cancel("enough")
        assert await run.status() == "cancelled"
        assert undone(b) == []
        assert b.waiting("b") == [], "local tasks end"


async def test_a_cancel_with_compensate_undoes_what_succeeded():
    async with bench(undoable("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        b.plays("undo-a", None)
        run = await b.start("b")
        await (await run.handle()).cancel("enough", compensate=True)
        await b.settle()
        assert await run.status() == "cancelled"
        assert undone(b) == ["undo-a"]


async def test_a_completed_run_is_undone_on_request():
    async with bench(undoable("a", "", "x"), undoable("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        b.plays("b", {"y": 2})
        b.plays("undo-a", None)
        b.plays("undo-b", None)
        run = await b.start("b")
        assert await run.output() == {"y": 2}
        await (await run.handle()).compensate()
        await b.settle()
        assert undone(b) == ["undo-b", "undo-a"]
        assert await run.output() == {"y": 2}
        await (await run.handle()).compensate()
        await b.settle()
        assert len(undone(b)) == 2, "once per item"


async def test_a_passed_deadline_fails_the_run_and_undoes_what_succeeded():
    async with bench(undoable("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        b.plays("undo-a", None)
        run = await b.start("b", deadline=10)
        await b.wait(10)
        assert await run.status() == "failed"
        assert (await run.error()).code == "DEADLINE_EXCEEDED"
        assert undone(b) == ["undo-a"]
        assert b.waiting("b") == []


async def test_a_webhook_after_the_deadline_is_late():
    render = catalog_step("render").output("i").webhook("http://steps.test/render")
    async with bench(render) as b:
        b.wire.plays("/render", (202, None))
        run = await b.start("render", deadline=10)
        await b.wait(10)
        await run.webhook(b.wire.sent[0].token, {"i": 1})
        assert (await run.tale())[-1] == "late_result render"


async def test_callback_limits_hold_after_a_rollback():
    """Work that outlives a run that was rolled back keeps its timers, and ends by them."""
    render = catalog_step("render").output("i").webhook("http://steps.test/render", callback_timeout=10)
    async with bench(render, undoable("a", "", "x"), work("bad", "x", "y").no_retries()) as b:
        b.wire.plays("/render", (202, None))
        b.plays("a", {"x": 1})
        b.plays("undo-a", None)
        b.plays("bad", boom())
        run = await b.start(("render", "bad"))
        assert await run.status() == "failed"
        await b.wait(10)
        assert (await run.tale())[-1] == "flow_deactivated"
        assert (await run.items("render"))[0].status == "failed"


async def test_undoing_what_came_late_does_not_stop_other_work():
    steps = [undoable("one", "", "x"), undoable("two", "", "z"), work("bad", "", "y").no_retries()]
    async with bench(*steps) as b:
        b.plays("undo-one", None)
        b.plays("undo-two", None)
        run = await b.start(("one", "two", "bad"))
        await b.fail("bad")
        await b.finish("one", x=1)
        assert undone(b) == ["undo-one"]
        await b.finish("two", z=1)
        assert undone(b) == ["undo-one", "undo-two"]
        assert await run.status() == "failed"


async def test_a_callback_limit_holds_after_something_else_was_undone_late():
    render = catalog_step("render").output("i").webhook("http://steps.test/render", callback_timeout=10)
    async with bench(render, undoable("one", "", "x"), work("bad", "", "y").no_retries()) as b:
        b.wire.plays("/render", (202, None))
        b.plays("undo-one", None)
        run = await b.start(("render", "one", "bad"))
        await b.fail("bad")
        await b.finish("one", x=1)
        await b.wait(10)
        assert (await run.items("render"))[0].status == "failed"


# -- compensators that fail for good -----------------------------------------------------------------------------------


PARTLY = (
    undoable("m", "", "x").required("q", for_each=True).parallel(2).no_retries(),
    work("use", "", "y").optional("x", default=0, deadline=-1),
)


async def undo_letters(b: Bench) -> list[DeadLetter]:
    return [each for each in await b.engine.dlq.list() if each.token.startswith("undo:")]


async def step_failed_and_its_compensator_too(b: Bench, error: Exception) -> BenchRun:
    b.plays("undo-m", error, None)
    run = await b.start("use", {"q": [1, 2]})
    await b.finish("m", x=1)
    await b.fail("m", "broken")
    return run


async def test_a_run_whose_compensator_fails_for_good_ends_and_the_others_still_run():
    async with bench(*ORDER) as b:
        all_well(b)
        b.plays("undo-charge", boom("no bank", final=True))
        b.plays("ship", boom("no truck"))
        run = await b.start("ship")
        assert await run.status() == "failed"
        assert undone(b) == ["undo-charge", "undo-reserve"]
        statuses = {id: (await run.items(id))[0].status for id in ("reserve", "charge")}
        assert statuses == {"reserve": "compensated", "charge": "compensation_failed"}
        assert len(await undo_letters(b)) == 1


async def test_a_compensator_of_a_step_that_refuses_for_good_is_a_dead_letter_too():
    async with bench(*PARTLY) as b:
        run = await step_failed_and_its_compensator_too(b, boom("no bank", final=True))
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}
        assert len(await undo_letters(b)) == 1


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_a_compensator_of_a_step_can_be_tried_again_after_the_run_has_ended(how: str):
    async with bench(*PARTLY, undoable("fine", "", "f")) as b:
        b.plays("undo-fine", None)
        b.plays("fine", {"f": 1})
        b.plays("undo-m", boom("no bank"), None)
        run = await b.start(("use", "fine"), {"q": [1, 2]})
        await b.finish("m", x=1)
        await b.fail("m", "broken")
        match how:
            case "completed":
                await b.finish("use", y=1)
            case "failed":
                await b.fail("use", final=True)
            case _:
                await (await run.handle()).cancel("enough")
        assert await run.status() == how
        before = undone(b)
        [letter] = await undo_letters(b)
        await b.engine.dlq.retry(letter.id)
        await b.settle()
        assert undone(b) == [*before, "undo-m"], "and nothing else is undone"
        assert await run.status() == how
        assert (await run.items("m"))[0].status == "compensated"
        assert await undo_letters(b) == []


async def test_a_compensator_that_fails_again_when_it_is_tried_again_is_a_dead_letter_again():
    async with bench(*PARTLY) as b:
        run = await step_failed_and_its_compensator_too(b, boom("no bank"))
        b.plays("undo-m", boom("still no bank"), None)
        await b.finish("use", y=1)
        for left in (1, 0):
            [letter] = await undo_letters(b)
            await b.engine.dlq.retry(letter.id)
            await b.settle()
            assert len(await undo_letters(b)) == left
        assert await run.output() == {"y": 1}


async def test_a_dead_letter_of_a_run_that_went_on_and_completed_undoes_nothing_else():
    async with bench(undoable("reserve", "", "r"), work("charge", "r", "c").no_retries()) as b:
        b.plays("reserve", {"r": 1})
        b.plays("undo-reserve", boom("no bank", final=True), None)
        b.plays("charge", boom(), {"c": 1})
        run = await b.start("charge")
        [letter] = await undo_letters(b)
        await (await run.handle()).retry()
        await b.settle()
        assert await run.output() == {"c": 1}
        await b.engine.dlq.discard(letter.id)
        await b.settle()
        assert undone(b) == ["undo-reserve"]
