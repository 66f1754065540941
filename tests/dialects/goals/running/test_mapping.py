"""Names and values on their way into a step and out of it, in whole runs."""

from plait.dialects.goals.steps.builder import catalog_step
from tests.dialects.goals.running.bench import bench, work


async def test_an_input_is_mapped_by_its_script_and_sent_by_its_inner_name():
    mapped = work("use", "", "y").required("user", inner="name", script=("ale", "(:first name)"))
    async with bench(mapped) as b:
        await b.start("use", {"user": {"first": "ann"}})
        assert b.inputs("use") == [{"name": "ann"}]


async def test_fan_out_sees_mapped_values_and_entries_use_outer_names():
    mapped = work("m", "", "y").required("box", inner="it", for_each=True, script=("ale", "(:items it)"))
    async with bench(mapped) as b:
        b.plays("m", lambda inputs: {"y": inputs["it"] * 2})
        run = await b.start("m", {"box": {"items": [1, 2]}})
        assert await run.output() == {"y": [{"box": 1, "y": 2}, {"box": 2, "y": 4}]}


async def test_a_predicate_sees_inner_names_and_mapped_values():
    mapped = work("use", "", "y").required("user", inner="age", script=("jpath", "$.age")).when("ale", "(> age 17)")
    async with bench(mapped) as b:
        b.plays("use", {"y": 1})
        assert await (await b.start("use", {"user": {"age": 18}}, id="a")).output() == {"y": 1}
        assert await (await b.start("use", {"user": {"age": 17}}, id="b")).output() == {}


async def test_a_mapping_that_fails_fails_the_step():
    mapped = work("use", "", "y").required("user", script=("jpath", "$.age"))
    async with bench(mapped) as b:
        run = await b.start("use", {"user": {}})
        assert (await run.error()).message.startswith("goal step 'use' failed: mapping of 'user' failed")
        assert b.ran() == []


async def test_outputs_are_taken_by_their_inner_names_or_made_by_a_script():
    mapped = (
        catalog_step("use")
        .python("use")
        .output("total", inner="sum")
        .output("count", inner="raw", script=("ale", "(length (:items raw))"))
    )
    async with bench(mapped) as b:
        b.plays("use", {"sum": 5, "items": [1, 2, 3], "total": "never meant as that output"})
        run = await b.start("use")
        assert await run.output() == {"total": 5, "count": 3}


async def test_an_output_mapping_that_fails_fails_the_step_without_a_retry():
    mapped = catalog_step("use").python("use").output("total", script=("jpath", "$.nothing"))
    async with bench(mapped) as b:
        b.plays("use", {"sum": 5})
        run = await b.start("use")
        assert (await run.error()).message.startswith("goal step 'use' failed: mapping of 'total' failed")
        assert len(b.calls) == 1


async def test_constants_are_given_and_nothing_overrides_them():
    async with bench(work("use", "x", "y").const("limit", 10)) as b:
        await b.start("use", {"x": 1, "limit": 99})
        assert b.inputs("use") == [{"x": 1, "limit": 10}]


async def test_a_script_gets_all_its_inputs_and_missing_ones_as_null():
    script = catalog_step("s").required("a").optional("b").const("c", 3).output("all").ale("{:all [a b c]}")
    async with bench(script) as b:
        run = await b.start("s", {"a": 1})
        assert await run.output() == {"all": [1, None, 3]}


async def test_a_goal_that_init_blocks_is_left_out():
    async with bench(work("a", "", "x").required("no", collect="none"), work("b", "", "y")) as b:
        b.plays("b", {"y": 1})
        run = await b.start(("a", "b"), {"no": 1})
        assert await run.output() == {"y": 1}
        assert b.ran() == ["b"]
