"""Items: products, shapes of outputs, predicates, slots."""

from typing import Any

import pytest

from plait.dialects.goals.running import work as running_work
from tests.dialects.goals.running.bench import Bench, bench, boom, work


def each(*names: str, id: str = "m", gives: str = "y"):
    building = work(id, "", gives)
    for name in names:
        building = building.required(name, for_each=True)
    return building


def echo(b: Bench) -> None:
    b.plays("m", lambda inputs: {"y": "".join(str(inputs[name]) for name in sorted(inputs))})


async def test_items_are_the_product_of_the_arrays_names_sorted_and_the_last_varies_fastest():
    async with bench(each("q", "p")) as b:
        echo(b)
        run = await b.start("m", {"q": [1, 2], "p": ["a", "b"]})
        assert b.inputs("m") == [{"p": x, "q": n} for x in "ab" for n in (1, 2)]
        assert await run.output() == {"y": [{"p": x, "q": n, "y": f"{x}{n}"} for x in "ab" for n in (1, 2)]}


async def test_outputs_are_in_item_order_whatever_ends_first():
    async with bench(each("q").parallel(3)) as b:
        run = await b.start("m", {"q": [1, 2, 3]})
        await b.finish("m", 2, y="c")
        await b.finish("m", 1, y="b")
        await b.finish("m", 0, y="a")
        assert await run.output() == {"y": [{"q": 1, "y": "a"}, {"q": 2, "y": "b"}, {"q": 3, "y": "c"}]}


@pytest.mark.parametrize(
    ("q", "output"),
    [
        ([7], {"y": "7"}),
        (7, {"y": "7"}),
        ([], {"y": []}),
        ([1, 2], {"y": [{"q": 1, "y": "1"}, {"q": 2, "y": "2"}]}),
        ([[1], [2]], {"y": [{"q": [1], "y": "[1]"}, {"q": [2], "y": "[2]"}]}),
    ],
    ids=["an array of one", "no array", "an empty array", "two", "arrays of arrays"],
)
async def test_the_shape_of_the_outputs_follows_the_number_of_items(q: Any, output: Any):
    async with bench(each("q")) as b:
        echo(b)
        run = await b.start("m", {"q": q})
        assert await run.output() == output


async def test_an_empty_array_completes_at_once_with_every_declared_output():
    async with bench(each("q", gives="y z")) as b:
        run = await b.start("m", {"q": []})
        assert await run.tale() == [
            "flow_started",
            "step_started m",
            "attribute_set y=[] by m",
            "attribute_set z=[] by m",
            "step_completed m",
            "flow_completed",
        ]


async def test_one_array_and_one_plain_value_make_as_many_items_as_the_array():
    async with bench(each("p", "q")) as b:
        echo(b)
        run = await b.start("m", {"p": "x", "q": [1, 2]})
        assert await run.output() == {"y": [{"q": 1, "y": "x1"}, {"q": 2, "y": "x2"}]}


async def test_an_item_that_lacks_an_output_adds_no_entry():
    async with bench(each("q", gives="y z")) as b:
        b.plays("m", {"y": 1}, {"y": 2, "z": 3})
        run = await b.start("m", {"q": [1, 2]})
        assert await run.output() == {"y": [{"q": 1, "y": 1}, {"q": 2, "y": 2}], "z": [{"q": 2, "z": 3}]}


async def test_too_many_items_fail_the_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running_work.limits, "ITEMS", 3)
    async with bench(each("p", "q")) as b:
        run = await b.start("m", {"p": [1, 2], "q": [1, 2]})
        assert (await run.error()).message == "goal step 'm' failed: too many work items"
        assert b.ran() == []


async def test_each_item_has_a_uuid_of_its_own_that_stays_on_all_attempts():
    async with bench(each("q").retries(2, first=1).meta("key", "receipt_token")) as b:
        b.plays("m", boom(), boom(), {"y": 1})
        run = await b.start("m", {"q": [1, 2]})
        await b.wait(10)
        keys = [call["key"] for call in b.inputs("m")]
        tokens = list((await run.state()).steps["m"].items)
        assert sorted(set(keys)) == sorted(tokens)
        assert all(len(token) == 36 for token in tokens)


# -- predicates --------------------------------------------------------------------------------------------------------


async def test_a_predicate_sees_the_whole_values_first():
    async with bench(each("q").when("ale", "(> (length q) 1)", scope="step")) as b:
        echo(b)
        assert await (await b.start("m", {"q": [1]}, id="no")).output() == {}
        assert (await (await b.start("m", {"q": [1, 2]}, id="yes")).output())["y"][0] == {"q": 1, "y": "1"}


async def test_items_that_the_predicate_refuses_are_dropped_and_the_shape_stays():
    async with bench(each("q").when("ale", "(> q 2)", scope="item")) as b:
        echo(b)
        run = await b.start("m", {"q": [1, 2, 3]})
        assert await run.output() == {"y": [{"q": 3, "y": "3"}]}
        assert b.inputs("m") == [{"q": 3}]
        [started] = [event.data for event in await (await run.handle()).events() if event.type == "step_started"]
        assert started["dropped"] == [0, 1]


async def test_all_items_dropped_skips_the_step():
    async with bench(each("q").when("ale", "(> q 9)", scope="item"), work("use", "y", "z")) as b:
        run = await b.start("use", {"q": [1, 2]})
        assert (await run.tale()).of("step_skipped", "step_failed") == [
            "step_skipped m: predicate returned false",
            "step_failed use: required input no longer available",
        ]


async def test_an_array_of_one_that_is_dropped_skips_the_step():
    async with bench(each("q").when("ale", "(> q 9)", scope="item")) as b:
        run = await b.start("m", {"q": [1]})
        assert (await run.tale()).of("step_skipped") == ["step_skipped m: predicate returned false"]


async def test_by_default_a_predicate_judges_the_step_and_then_each_item():
    async with bench(each("q").when("lua", "return type(q) == 'table' or q > 1")) as b:
        echo(b)
        run = await b.start("m", {"q": [1, 2]})
        while await run.status() == "running":
            await b.settle()
        assert await run.output() == {"y": [{"q": 2, "y": "2"}]}


async def test_an_error_in_a_predicate_fails_the_step():
    async with bench(work("a", "n", "x").when("ale", "(> n 1)")) as b:
        run = await b.start("a", {"n": "text"})
        assert (await run.error()).message.startswith("goal step 'a' failed: predicate evaluation failed")
        assert (await run.tale()).of("step_prepared") == ["step_prepared a"]
        assert b.ran() == []


async def test_need_is_judged_again_when_the_scripts_before_a_step_have_run():
    slow = work("slow", "", "x").when("ale", "true")
    async with bench(slow, work("fast", "", "x"), work("use", "x", "y")) as b:
        b.plays("fast", {"x": 1})
        b.plays("use", {"y": 1})
        b.plays("slow", {"x": 2})
        run = await b.start("use")
        assert await run.output() == {"y": 1}


# -- slots -------------------------------------------------------------------------------------------------------------


async def test_by_default_items_run_one_after_the_other():
    async with bench(each("q")) as b:
        run = await b.start("m", {"q": [1, 2, 3]})
        assert len(b.waiting("m")) == 1
        assert await run.reasons() == ["`m` is running", "2 items of `m` wait for a slot"]
        await b.finish("m", y=1)
        assert await run.reasons() == ["`m` is running", "1 item of `m` waits for a slot"]


async def test_never_more_than_the_parallelism_are_active():
    async with bench(each("q").parallel(2)) as b:
        run = await b.start("m", {"q": [1, 2, 3, 4, 5]})
        for _ in range(5):
            assert len(b.waiting("m")) <= 2
            await b.finish("m", y=1)
        assert await run.status() == "completed"


async def test_an_item_that_waits_for_a_retry_holds_no_slot():
    async with bench(each("q").retries(3, first=60)) as b:
        run = await b.start("m", {"q": [1, 2]})
        await b.fail("m", "not yet")
        assert [call.inputs for call in b.waiting("m")] == [{"q": 2}]
        await b.wait(61)
        assert [call.inputs for call in b.waiting("m")] == [{"q": 2}], "its slot is taken"
        await b.finish("m", y=2)
        assert [call.inputs for call in b.waiting("m")] == [{"q": 1}]
        await b.finish("m", y=1)
        assert await run.output() == {"y": [{"q": 1, "y": 1}, {"q": 2, "y": 2}]}


async def test_the_first_failed_item_fails_the_step_and_pending_items_never_start():
    async with bench(each("q").parallel(2).no_retries()) as b:
        run = await b.start("m", {"q": [1, 2, 3]})
        await b.fail("m", "broken", which=1)
        assert (await run.error()).message == "goal step 'm' failed: broken"
        assert len(b.inputs("m")) == 2
        await b.finish("m", y=1)
        tale = await run.tale()
        assert tale[-2:] == ["work_succeeded m", "flow_deactivated"], "those that are active may report"
        assert [item.status for item in await run.items("m")] == ["succeeded", "failed", "pending"]


async def test_an_item_that_fails_after_its_step_is_not_tried_again():
    optional = work("use", "", "z").optional("y", default=0, deadline=-1)
    async with bench(each("q").parallel(2).retries(3, first=1), optional) as b:
        run = await b.start("use", {"q": [1, 2]})
        await b.fail("m", "for good", final=True)
        await b.fail("m", "for now")
        await b.wait(100)
        assert len(b.inputs("m")) == 2
        assert [(item.status, item.error) for item in await run.items("m")] == [
            ("failed", "for good"),
            ("failed", "for now"),
        ]
