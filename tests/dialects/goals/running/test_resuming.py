"""Going on: resume after a failure, patches, forks."""

from typing import Any

import pytest

from plait.dialects.goals.steps.builder import catalog_step
from plait.kernel.errors import PlaitError
from tests.dialects.goals.running.bench import BenchRun, bench, boom, work
from tests.dialects.goals.running.test_undoing import undoable


async def resume(run: BenchRun) -> None:
    await (await run.handle()).retry()
    await run.bench.settle()


async def test_a_failed_run_goes_on_where_it_failed():
    async with bench(work("a", "", "x"), work("b", "x", "y").no_retries(), work("c", "y", "z")) as b:
        b.plays("a", {"x": 1})
        run = await b.start("c")
        await b.fail("b", "no")
        token = await run.token("b")
        await resume(run)
        assert (await run.tale()).of("flow_") == [
            "flow_started",
            "flow_failed: goal step 'c' cannot complete: required input 'y' unavailable",
            "flow_resumed",
        ]
        assert await run.token("b") == token
        await b.finish("b", y=2)
        await b.finish("c", z=3)
        assert await run.output() == {"z": 3}
        assert b.ran() == ["a", "b", "b", "c"]


async def test_succeeded_items_stay_and_failed_ones_are_tried_afresh():
    many = work("m", "", "y").required("q", for_each=True).parallel(3).retries(1, first=1)
    async with bench(many) as b:
        run = await b.start("m", {"q": [1, 2, 3]})
        await b.finish("m", 0, y="a")
        await b.fail("m", "no", which=0)
        await b.wait(1)
        await b.fail("m", "no", which=1)
        assert await run.status() == "failed"
        await b.finish("m", 0, y="c")
        await resume(run)
        assert [call.inputs for call in b.waiting("m")] == [{"q": 2}]
        await b.fail("m", "again")
        await b.wait(1)
        await b.finish("m", y="b")
        assert await run.output() == {"y": [{"q": 1, "y": "a"}, {"q": 2, "y": "b"}, {"q": 3, "y": "c"}]}


async def test_what_was_undone_is_done_again_and_gives_its_new_value():
    steps = [undoable("reserve", "", "r"), work("charge", "r", "c").no_retries()]
    async with bench(*steps) as b:
        b.plays("reserve", {"r": "first"}, {"r": "second"})
        b.plays("undo-reserve", None)
        b.plays("charge", boom("no funds"), lambda inputs: {"c": inputs["r"]})
        run = await b.start("charge")
        assert await run.status() == "failed"
        await resume(run)
        assert await run.output() == {"c": "second"}
        assert b.ran() == ["reserve", "charge", "undo-reserve", "reserve", "charge"]


async def test_an_item_that_was_undone_is_done_again_with_the_rest_of_its_step():
    hotel = catalog_step("hotel").required("cities", for_each=True).output("room").python("hotel", compensate="leave")
    async with bench(hotel, work("fly", "", "flight"), work("travel", "room flight", "done")) as b:
        b.plays("leave", None)
        b.plays("fly", boom("no wings", final=True), {"flight": 1})
        run = await b.start("travel", {"cities": ["a", "b"]})
        await b.finish("hotel", room=1)  # late: it is undone
        await (await run.handle()).retry()
        await b.settle()
        for room in (2, 3):
            await b.finish("hotel", room=room)
        rooms = [{"cities": city, "room": room} for city, room in (("a", 3), ("b", 2))]
        found = sorted((await run.values("room"))[0][1], key=lambda entry: entry["cities"])
        assert found in (rooms, [{"cities": "a", "room": 2}, {"cities": "b", "room": 3}])


async def test_what_was_done_again_is_undone_again_when_the_run_fails_again():
    steps = [undoable("reserve", "", "r"), work("charge", "r", "c").no_retries()]
    async with bench(*steps) as b:
        b.plays("reserve", {"r": "first"}, {"r": "second"})
        b.plays("undo-reserve", None)
        b.plays("charge", boom("no funds"))
        run = await b.start("charge")
        await resume(run)
        assert await run.status() == "failed"
        assert [call["output"]["r"] for call in b.inputs("undo-reserve")] == ["first", "second"]


async def test_an_item_that_waited_for_its_retry_when_the_run_failed_begins_afresh():
    steps = [work("bad", "", "x").no_retries(), work("slow", "", "y").retries(3, first=60)]
    async with bench(*steps) as b:
        run = await b.start(("bad", "slow"))
        await b.fail("slow", "not yet")
        await b.fail("bad")
        assert await run.status() == "failed"
        await resume(run)
        assert len(b.waiting("slow")) == 1
        await b.finish("slow", y=1)
        await b.finish("bad", x=1)
        assert await run.output() == {"x": 1, "y": 1}


async def test_work_that_outlived_the_failure_is_not_done_twice():
    async with bench(work("bad", "", "x").no_retries(), work("long", "", "y")) as b:
        run = await b.start(("bad", "long"))
        await b.fail("bad")
        await resume(run)
        assert len(b.inputs("long")) == 1
        await b.finish("long", y=1)
        await b.finish("bad", x=1)
        assert await run.output() == {"x": 1, "y": 1}


async def test_a_run_that_passed_its_deadline_can_go_on():
    async with bench(work("long", "", "y")) as b:
        run = await b.start("long", deadline=5)
        await b.wait(5)
        assert await run.status() == "failed"
        await resume(run)
        assert len(b.waiting("long")) == 1
        await b.finish("long", y=1)
        assert await run.output() == {"y": 1}


async def test_what_was_skipped_because_its_consumer_failed_is_wanted_again():
    steps = [
        work("bad", "", "x").no_retries(),
        work("source", "", "q"),
        work("other", "q", "o"),
        work("use", "x o", "y"),
    ]
    async with bench(*steps) as b:
        run = await b.start("use")
        await b.fail("bad")
        assert await run.status() == "failed"
        await b.finish("source", q=1)
        await resume(run)
        await b.finish("bad", x=1)
        await b.finish("other", o=1)
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}


async def test_resuming_survives_a_crash():
    async with bench(work("a", "", "x").no_retries()) as b:
        run = await b.start("a")
        await b.fail("a")
        await resume(run)
        await b.crash()
        await b.finish("a", x=1)
        assert await run.output() == {"x": 1}


async def test_a_dead_letter_that_is_tried_again_resumes_the_run():
    async with bench(work("a", "", "x").retries(1, first=1)) as b:
        b.plays("a", boom(), boom(), {"x": 1})
        run = await b.start("a")
        await b.wait(1)
        [letter] = await b.engine.dlq.list()
        await b.engine.dlq.retry(letter.id)
        await b.settle()
        assert await run.output() == {"x": 1}
        assert await b.engine.dlq.list() == []


async def test_a_dead_letter_that_the_run_went_on_without_can_only_be_discarded():
    use = work("use", "", "y").optional("x", default=0, deadline=-1)
    async with bench(work("bad", "", "x").retries(1, first=1), use) as b:
        b.plays("bad", boom())
        run = await b.start("use")
        await b.wait(1)
        [letter] = await b.engine.dlq.list()
        with pytest.raises(PlaitError, match=r"kernel\.dead_letter_settled"):
            await b.engine.dlq.retry(letter.id)
        await b.engine.dlq.discard(letter.id)
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}


async def test_a_run_that_completed_has_nothing_to_resume():
    async with bench(work("a", "", "x")) as b:
        b.plays("a", {"x": 1})
        run = await b.start("a")
        before = await run.tale()
        await resume(run)
        assert await run.tale() == before


async def test_a_resumed_run_keeps_its_children_that_are_still_at_work():
    inner, outer = work("inner", "", "i"), catalog_step("outer").output("i2", inner="i").flow("inner")
    async with bench(inner, outer, work("bad", "", "x").no_retries()) as b:
        run = await b.start(("outer", "bad"))
        await b.fail("bad")
        await resume(run)
        assert len(b.inputs("inner")) == 1
        await b.finish("inner", i=1)
        await b.finish("bad", x=1)
        assert await run.output() == {"i2": 1, "x": 1}


async def test_a_run_that_passed_its_deadline_makes_new_children_when_it_goes_on():
    inner, outer = work("inner", "", "i"), catalog_step("outer").output("i2", inner="i").flow("inner")
    async with bench(inner, outer) as b:
        run = await b.start("outer", deadline=5)
        await b.wait(5)
        assert b.waiting("inner") == [], "children end with it"
        await resume(run)
        await b.finish("inner", i=1)
        assert await run.output() == {"i2": 1}


# -- patches -----------------------------------------------------------------------------------------------------------


async def patch(run: BenchRun, *operations: dict[str, Any]) -> None:
    await (await run.handle()).patch(list(operations))
    await run.bench.settle()


async def test_a_value_that_is_set_lets_others_go_on():
    async with bench(work("slow", "", "x"), work("use", "x", "y")) as b:
        run = await b.start("use")
        await patch(run, {"op": "set", "name": "x", "value": 5})
        assert b.inputs("use") == [{"x": 5}]
        await b.finish("use", y=1)
        await b.finish("slow", x=1)
        assert await run.output() == {"y": 1}
        assert await run.values("x") == [("patch", 5), ("slow", 1)]


async def test_a_pending_step_can_be_skipped():
    async with bench(work("a", "", "x"), work("b", "x", "y"), work("c", "", "z").optional("y", deadline=-1)) as b:
        run = await b.start("c")
        await patch(run, {"op": "skip", "step": "b"})
        assert b.inputs("c") == [{}]
        await b.finish("c", z=1)
        await b.finish("a", x=1)
        assert await run.output() == {"z": 1}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "skip", "step": "a"},
        {"op": "skip", "step": "nobody"},
        {"op": "set", "name": "x"},
        {"op": "drop", "step": "b"},
        {"op": "set", "name": "x", "value": 1, "more": 1},
    ],
)
async def test_other_patches_are_refused_and_change_nothing(operation: dict[str, Any]):
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        run = await b.start("b")
        before = await run.tale()
        with pytest.raises(PlaitError):
            await patch(run, {"op": "set", "name": "x", "value": 1}, operation)
        assert await run.tale() == before


# -- forks -------------------------------------------------------------------------------------------------------------


async def fork(run: BenchRun, at: Any = None, **edits: Any) -> BenchRun:
    forked = await (await run.handle()).fork(at, edits, id="fork")
    await run.bench.settle()
    return BenchRun(run.bench, forked.id)


async def test_a_fork_before_a_step_does_it_again():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        b.plays("b", {"y": 1}, {"y": 2})
        run = await b.start("b")
        assert await run.output() == {"y": 1}
        forked = await fork(run, "b")
        assert await forked.output() == {"y": 2}
        assert b.ran() == ["a", "b", "b"]


async def test_a_fork_with_other_values_and_another_step():
    async with bench(work("a", "", "x"), work("b", "x", "y"), work("other", "", "o")) as b:
        b.plays("a", {"x": 1})
        b.plays("b", lambda inputs: {"y": inputs["x"]})
        b.plays("other", {"y": "other"})
        run = await b.start("b")
        assert await (await fork(run, "b", attributes={"x": 7})).output() == {"y": 7}
        again = await (await run.handle()).fork("b", {"steps": {"b": {"python": {"handler": "other"}}}}, id="f2")
        await b.settle()
        assert await BenchRun(b, again.id).output() == {"y": "other"}


async def test_a_fork_of_a_run_at_work_does_what_was_under_way_itself():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        run = await b.start("b")
        forked = await fork(run)
        assert len(b.waiting("b")) == 2
        await b.finish("b", 1, y="forked")
        assert await forked.output() == {"y": "forked"}
        await b.finish("b", 0, y="source")
        assert await run.output() == {"y": "source"}


async def test_a_fork_asks_for_work_itself_that_was_accepted_for_its_source():
    """The step server answers to the run that asked; the fork would wait for ever."""
    render = catalog_step("render").output("i").webhook("http://steps.test/render", recall=False)
    async with bench(render) as b:
        b.wire.plays("/render", (202, None))
        run = await b.start("render")
        forked = await fork(run)
        assert len(b.wire.to("/render")) == 2
        await forked.webhook(b.wire.sent[1].token, {"i": "forked"})
        assert await forked.output() == {"i": "forked"}
        await run.webhook(b.wire.sent[0].token, {"i": "source"})
        assert await run.output() == {"i": "source"}


async def test_a_fork_after_the_failure_of_a_run_begins_before_its_end():
    async with bench(work("a", "", "x"), work("b", "x", "y").no_retries()) as b:
        b.plays("a", {"x": 1})
        b.plays("b", boom(), {"y": 2})
        run = await b.start("b")
        assert await run.status() == "failed"
        forked = await fork(run, "b")
        assert await forked.output() == {"y": 2}


@pytest.mark.parametrize(
    "edits",
    [
        {"steps": {"a": {"python": {"handler": "other"}}}},
        {"steps": {"b": {"attributes": {}}}},
        {"steps": {"nobody": {}}},
        {"values": {}},
    ],
    ids=["it has started", "another shape", "not in the plan", "no such part"],
)
async def test_edits_that_do_not_fit_are_refused(edits: dict[str, Any]):
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        b.plays("b", {"y": 1})
        run = await b.start("b")
        with pytest.raises(PlaitError, match=r"kernel\.bad_edit"):
            await fork(run, "b", **edits)
