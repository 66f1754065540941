"""When a step starts, and when it is left out: needs, races, optional inputs."""

from plait.dialects.goals.steps.builder import catalog_step
from tests.dialects.goals.running.bench import bench, boom, work

SKIPPED = "outputs not needed"


async def test_a_step_starts_when_all_its_required_inputs_are_there():
    async with bench(work("a", "", "x"), work("b", "", "y"), work("c", "x y", "z")) as b:
        run = await b.start("c")
        assert await run.statuses() == {"a": "active", "b": "active", "c": "pending"}
        await b.finish("a", x=1)
        assert not b.waiting("c")
        await b.finish("b", y=2)
        assert b.inputs("c") == [{"x": 1, "y": 2}]
        await b.finish("c", z=3)
        assert await run.output() == {"z": 3}


async def test_null_is_a_value():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": None})
        b.plays("b", {"y": None})
        run = await b.start("b")
        assert b.inputs("b") == [{"x": None}]
        assert await run.output() == {"y": None}


async def test_providers_compete_the_first_value_wins_and_late_ones_are_kept():
    async with bench(work("slow", "", "x"), work("fast", "", "x"), work("use", "x", "y")) as b:
        run = await b.start("use")
        await b.finish("fast", x="fast")
        assert b.inputs("use") == [{"x": "fast"}]
        await b.finish("use", y=1)
        assert await run.status() == "running", "a step of the plan is still at work"
        await b.finish("slow", x="slow")
        assert await run.output() == {"y": 1}
        assert await run.values("x") == [("fast", "fast"), ("slow", "slow")]
        details = (await (await run.handle()).view()).details
        assert details is not None
        assert details["plan_diff"]["winners"] == {"x": "fast", "y": "use"}
        assert details["plan_diff"]["late"] == {"x": ["slow"]}


async def test_a_provider_that_has_not_begun_when_the_value_comes_is_skipped():
    async with bench(work("first", "", "q"), work("slow", "q", "x"), work("fast", "", "x"), work("use", "x", "y")) as b:
        run = await b.start("use")
        await b.finish("fast", x=1)
        assert (await run.tale()).of("step_skipped") == [f"step_skipped slow: {SKIPPED}"]
        await b.finish("use", y=1)
        await b.finish("first", q=1)
        assert await run.output() == {"y": 1}
        assert "slow" not in b.ran()


async def test_what_nobody_needs_any_more_is_skipped_up_to_its_sources():
    """`first` gives `q` to `second` only, which gives `x`, which `use` has by then."""
    chain = [work("zero", "", "p"), work("first", "p", "q"), work("second", "q", "x")]
    async with bench(*chain, work("fast", "", "x"), work("use", "x", "y")) as b:
        run = await b.start("use")
        await b.finish("fast", x=1)
        assert (await run.tale()).of("step_skipped") == [
            f"step_skipped second: {SKIPPED}",
            f"step_skipped first: {SKIPPED}",
        ]
        await b.finish("zero", p=1)
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}
        assert b.ran() == ["fast", "zero", "use"]


async def test_a_failed_provider_does_not_matter_while_another_gives_the_value():
    async with bench(work("bad", "", "x"), work("good", "", "x"), work("use", "x", "y")) as b:
        b.plays("bad", boom(final=True))
        run = await b.start("use")
        await b.finish("good", x=1)
        await b.finish("use", y=2)
        assert await run.output() == {"y": 2}
        assert await run.statuses() == {"bad": "failed", "good": "completed", "use": "completed"}


async def test_lost_inputs_fail_steps_to_a_fixed_point():
    chain = [work("a", "", "x"), work("b", "x", "y"), work("c", "y", "z"), work("d", "z", "end")]
    async with bench(*chain) as b:
        b.plays("a", boom("gone", final=True))
        run = await b.start("d")
        assert (await run.tale()).of("step_failed") == [
            "step_failed a: gone",
            "step_failed b: required input no longer available",
            "step_failed c: required input no longer available",
            "step_failed d: required input no longer available",
        ]
        assert (await run.state()).steps["c"].unsatisfied == ["y"]
        assert (await run.error()).message == "goal step 'd' cannot complete: required input 'z' unavailable"


async def test_an_output_that_was_not_returned_is_a_lost_input():
    async with bench(work("a", "", "x z"), work("b", "x", "y")) as b:
        b.plays("a", {"z": 1, "other": 2})
        run = await b.start("b")
        assert (await run.error()).message == "goal step 'b' cannot complete: required input 'x' unavailable"
        [item] = await run.items("a")
        assert bytes(item.outputs) == b'{"z":1,"other":2}'
        assert await run.values("other") == []


async def test_a_failed_step_that_no_goal_needs_does_not_matter():
    use = work("use", "", "y").optional("x", default=7, deadline=-1)
    async with bench(work("bad", "", "x"), use) as b:
        b.plays("bad", boom(final=True))
        b.plays("use", lambda inputs: {"y": inputs["x"]})
        run = await b.start("use")
        assert await run.output() == {"y": 7}


# -- optional inputs ---------------------------------------------------------------------------------------------------


async def test_an_optional_input_with_deadline_0_is_not_waited_for():
    async with bench(work("slow", "", "x"), work("use", "", "y").optional("x", default=1)) as b:
        run = await b.start("use")
        assert b.inputs("use") == [{"x": 1}]
        await b.finish("slow", x=2)
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}
        assert len(b.inputs("use")) == 1, "a late value does not restart the step"


async def test_a_provider_of_an_optional_input_that_is_too_late_to_begin_is_skipped():
    steps = [work("first", "", "q"), work("slow", "q", "x"), work("use", "", "y").optional("x", default=1)]
    async with bench(*steps) as b:
        run = await b.start("use")
        await b.finish("first", q=1)
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}
        assert b.ran() == ["first", "use"]
        assert (await run.statuses())["slow"] == "skipped"


async def test_an_optional_input_without_value_and_default_is_omitted():
    async with bench(work("use", "", "y").optional("x")) as b:
        await b.start("use")
        assert b.inputs("use") == [{}]


async def test_an_optional_input_is_waited_for_at_most_as_long_as_its_deadline_says():
    use = work("use", "r", "y").optional("x", default=0, deadline=2)
    async with bench(work("slow", "", "x"), work("req", "", "r"), use) as b:
        run = await b.start("use")
        await b.wait(10)
        await b.finish("req", r=1)
        assert not b.waiting("use"), "the time counts from when the required inputs are there"
        until = "2030-01-01 00:00:12 UTC"
        assert await run.reasons() == ["`slow` is running", f"`use` waits for optional `x` until {until}"]
        await b.wait(1.999)
        assert not b.waiting("use")
        await b.wait(0.001)
        assert b.inputs("use") == [{"r": 1, "x": 0}]
        assert (await run.tale()).of("input_closed") == ["input_closed use"]


async def test_an_optional_input_that_comes_in_time_is_used_at_once():
    async with bench(work("slow", "", "x"), work("use", "", "y").optional("x", default=0, deadline=2)) as b:
        run = await b.start("use")
        await b.wait(1)
        await b.finish("slow", x=5)
        assert b.inputs("use") == [{"x": 5}]
        await b.wait(5)
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}
        assert (await run.tale()).of("input_closed") == []


async def test_an_optional_input_that_nobody_can_give_any_more_is_resolved_at_once():
    async with bench(work("slow", "", "x"), work("use", "", "y").optional("x", default=0, deadline=3600)) as b:
        await b.start("use")
        await b.fail("slow", final=True)
        assert b.inputs("use") == [{"x": 0}]


async def test_minus_one_waits_while_a_provider_can_deliver():
    async with bench(work("slow", "", "x"), work("use", "", "y").optional("x", default=0, deadline=-1)) as b:
        run = await b.start("use")
        await b.wait(86_400)
        assert await run.reasons() == ["`slow` is running", "`use` waits for optional `x` from `slow`"]
        await b.finish("slow", x=3)
        assert b.inputs("use") == [{"x": 3}]


async def test_waiting_for_an_optional_input_survives_a_restart_and_keeps_its_time():
    async with bench(work("slow", "", "x"), work("use", "", "y").optional("x", default=0, deadline=10)) as b:
        await b.start("use")
        await b.wait(6)
        await b.crash()
        await b.wait(3.9)
        assert not b.waiting("use")
        await b.wait(0.1)
        assert b.inputs("use") == [{"x": 0}]


# -- outcome -----------------------------------------------------------------------------------------------------------


async def test_an_empty_plan_completes_at_its_start_with_the_output_from_init():
    async with bench(work("a", "q", "x y")) as b:
        run = await b.start("a", {"x": 1, "y": 2, "other": 3})
        assert await run.tale() == ["flow_started", "flow_completed"]
        assert await run.output() == {"x": 1, "y": 2}


async def test_the_output_is_the_first_value_of_every_output_of_all_goals():
    async with bench(work("a", "", "x"), work("b", "", "y"), work("c", "", "z")) as b:
        for id, name in (("a", "x"), ("b", "y"), ("c", "z")):
            b.plays(id, {name: id})
        run = await b.start(("b", "a", "c"), {"z": "given"})
        assert await run.output() == {"x": "a", "y": "b", "z": "given"}
        assert b.ran() == ["a", "b"]


async def test_a_goal_skipped_by_its_predicate_counts_as_reached():
    async with bench(work("a", "n", "x").when("ale", "(> n 5)")) as b:
        run = await b.start("a", {"n": 1})
        assert await run.output() == {}
        assert (await run.tale()).of("step_skipped") == ["step_skipped a: predicate returned false"]


async def test_after_a_goal_has_failed_nothing_starts_and_work_under_way_ends_with_its_usual_events():
    steps = [work("bad", "", "x"), work("long", "", "y"), work("then", "y", "z")]
    async with bench(*steps) as b:
        run = await b.start(("bad", "then"))
        await b.fail("bad", "no", final=True)
        assert await run.status() == "failed"
        assert (await run.error()).message == "goal step 'bad' failed: no"
        assert (await run.state()).outlived
        await b.finish("long", y=1)
        tale = await run.tale()
        assert tale[tale.index("flow_failed: goal step 'bad' failed: no") :] == [
            "flow_failed: goal step 'bad' failed: no",
            "work_succeeded long",
            "attribute_set y=1 by long",
            "step_completed long",
            "flow_deactivated",
        ]
        assert "then" not in b.ran()


async def test_after_the_outcome_nothing_is_retried():
    steps = [work("bad", "", "x"), work("long", "", "y").retries(5, first=1)]
    async with bench(*steps) as b:
        run = await b.start(("bad", "long"))
        await b.fail("bad", "no", final=True)
        await b.fail("long", "not yet")
        assert (await run.tale())[-3:] == ["work_failed long: not yet", "step_failed long: not yet", "flow_deactivated"]
        await b.wait(100)
        assert len(b.inputs("long")) == 1


async def test_a_pending_step_of_an_ended_run_shows_as_skipped_because_the_run_ended():
    async with bench(work("bad", "", "x"), work("long", "", "y"), work("then", "y", "z")) as b:
        run = await b.start(("bad", "then"))
        await b.fail("bad", "no", final=True)
        view = await (await run.handle()).view()
        nodes = {node.id: (node.status, node.skip_reason) for node in view.nodes}
        assert nodes["then"] == ("skipped", "run ended")
        assert nodes["long"][0] == "running"


async def test_steps_that_could_be_satisfied_only_by_optional_steps_run_all_ready_ones_together():
    """All ready steps are judged on the same state: both providers start, and so does who does not wait for them."""
    async with bench(
        work("p", "", "x"), catalog_step("q").python("q").output("x"), work("use", "", "y").optional("x")
    ) as b:
        run = await b.start("use")
        assert await run.statuses() == {"p": "active", "q": "active", "use": "active"}


async def test_a_run_that_has_ended_is_not_awake_though_work_outlives_it():
    """Its row says so at once: nobody would correct it if the process died now."""
    async with bench(work("bad", "", "x").no_retries(), work("long", "", "y")) as b:
        run = await b.start(("bad", "long"))
        await b.fail("bad")
        assert len(b.waiting("long")) == 1
        assert not (await (await run.handle()).row()).awake
