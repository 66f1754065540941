"""`collect` and `match`: which values an input is made of, and when it is resolved."""

from typing import Any

import pytest

from plait import goals
from plait.dialects.goals.steps.attribute import Collect
from plait.dialects.goals.steps.builder import StepBuilder
from plait.kernel.errors import PlaitError
from tests.dialects.goals.running.bench import BenchRun, bench, boom, work

P, Q = work("p", "", "x"), work("q", "", "x")


def use(collect: Collect, *, optional: bool = False, deadline: float = -1, **more: Any) -> StepBuilder:
    found = work("use", "", "y")
    if optional:
        return found.optional("x", collect=collect, default="default", deadline=deadline)
    return found.required("x", collect=collect, **more)


@pytest.mark.parametrize(("collect", "value"), [("first", 1), ("last", 2), ("some", [1, 2]), ("all", [1, 2])])
@pytest.mark.parametrize("optional", [False, True], ids=["required", "optional"])
async def test_all_providers_have_given_their_value(collect: Collect, value: Any, optional: bool):
    async with bench(P, Q, use(collect, optional=optional)) as b:
        await b.start("use")
        await b.finish("p", x=1)
        assert bool(b.waiting("use")) == (collect == "first")
        await b.finish("q", x=2)
        assert b.inputs("use") == [{"x": value}]


@pytest.mark.parametrize(
    ("collect", "required", "optional"),
    [
        ("first", 1, 1),
        ("last", 1, 1),
        ("some", [1], [1]),
        ("all", "required input no longer available", "default"),
        ("none", "input 'x' has a value, and none is wanted", None),
    ],
)
async def test_one_of_two_providers_fails(collect: Collect, required: Any, optional: Any):
    async with bench(P, Q, use(collect)) as b:
        run = await b.start("use")
        await b.finish("p", x=1)
        await b.fail("q", final=True)
        step = (await run.state()).steps["use"]
        if isinstance(required, str):
            assert (step.error or step.reason) == required
            assert b.inputs("use") == []
        else:
            assert b.inputs("use") == [{"x": required}]
    async with bench(P, Q, use(collect, optional=True)) as b:
        await b.start("use")
        await b.finish("p", x=1)
        await b.fail("q", final=True)
        assert b.inputs("use") == [{} if optional is None else {"x": optional}]


@pytest.mark.parametrize("collect", ["first", "last", "some", "all"])
async def test_no_provider_gives_a_value(collect: Collect):
    async with bench(P, Q, use(collect)) as b:
        run = await b.start("use")
        await b.fail("p", final=True)
        await b.finish("q")
        assert (await run.state()).steps["use"].error == "required input no longer available"
    async with bench(P, Q, use(collect, optional=True)) as b:
        await b.start("use")
        await b.fail("p", final=True)
        await b.finish("q")
        assert b.inputs("use") == [{"x": "default"}]


async def test_none_is_resolved_when_all_have_ended_without_a_value():
    async with bench(P, Q, use("none")) as b:
        await b.start("use")
        await b.fail("p", final=True)
        assert not b.waiting("use")
        await b.finish("q")
        assert b.inputs("use") == [{}]


async def test_an_optional_none_takes_its_default_when_there_is_no_value():
    async with bench(P, use("none", optional=True)) as b:
        await b.start("use")
        await b.fail("p", final=True)
        assert b.inputs("use") == [{"x": "default"}]


@pytest.mark.parametrize(
    ("collect", "so_far"),
    [("last", 1), ("some", [1]), ("all", "default"), ("none", None)],
)
async def test_an_optional_input_at_its_deadline_takes_what_there_is(collect: Collect, so_far: Any):
    async with bench(P, Q, use(collect, optional=True, deadline=5)) as b:
        await b.start("use")
        await b.finish("p", x=1)
        await b.wait(5)
        assert b.inputs("use") == [{} if so_far is None else {"x": so_far}]


@pytest.mark.parametrize(("collect", "value"), [("last", 2), ("some", [0, 2]), ("all", [0, 2])])
async def test_values_of_init_are_candidates_but_do_not_replace_providers(collect: Collect, value: Any):
    async with bench(P, use(collect)) as b:
        b.plays("p", {"x": 2})
        await b.start("use", {"x": 0})
        assert b.inputs("use") == [{"x": value}]


# -- match -------------------------------------------------------------------------------------------------------------

IS_TWO = ("ale", "(= value 2)")


async def test_the_first_value_that_matches_is_taken():
    async with bench(P, Q, use("first", match=IS_TWO)) as b:
        run = await b.start("use")
        await b.finish("p", x=1)
        assert not b.waiting("use")
        await b.finish("q", x=2)
        assert b.inputs("use") == [{"x": 2}]
        found = [event.data for event in await (await run.handle()).events() if event.type == "input_matched"]
        assert [(each["name"], each["index"], each["matched"]) for each in found] == [("x", 0, False), ("x", 1, True)]


async def test_a_step_whose_match_can_not_hold_any_more_is_skipped():
    async with bench(P, Q, use("first", match=IS_TWO), work("after", "y", "z")) as b:
        run = await b.start("after")
        await b.finish("p", x=1)
        await b.finish("q", x=3)
        assert (await run.tale()).of("step_skipped", "step_failed") == [
            "step_skipped use: required match did not match",
            "step_failed after: required input no longer available",
        ]


async def test_undecided_a_step_demands_only_its_match_inputs():
    async with bench(P, work("other", "", "o"), use("first", match=IS_TWO).required("o")) as b:
        run = await b.start("use")
        assert b.ran() == ["p"], "who gives the rest waits"
        await b.finish("p", x=2)
        assert b.ran() == ["p", "other"]
        await b.finish("other", o=1)
        assert b.inputs("use") == [{"x": 2, "o": 1}]
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}


async def test_what_only_an_unmatched_step_wanted_is_never_started():
    async with bench(P, work("other", "", "o"), use("first", match=IS_TWO).required("o")) as b:
        run = await b.start("use")
        await b.finish("p", x=1)
        assert b.ran() == ["p"]
        assert await run.status() == "failed"
        assert (await run.error()).message == "goal step 'use' cannot complete: required match did not match"


async def test_a_run_with_another_goal_completes_though_one_is_pruned():
    async with bench(P, use("first", match=IS_TWO), work("else", "", "e")) as b:
        run = await b.start(("use", "else"))
        await b.finish("p", x=1)
        await b.finish("else", e=1)
        assert await run.output() == {"e": 1}


@pytest.mark.parametrize("first", ["the match says no", "the other is lost"])
async def test_a_goal_that_a_match_rules_out_is_skipped_whenever_another_input_is_lost(first: str):
    """Two gates, of which one is lost and one says no: how the run ends is not a matter of which came first."""
    gated = use("first", match=IS_TWO).required("o", match=IS_TWO)
    async with bench(P, work("other", "", "o"), gated, work("else", "", "e")) as b:
        run = await b.start(("use", "else"))
        if first == "the match says no":
            await b.finish("p", x=1)
            await b.fail("other", final=True)
        else:
            await b.fail("other", final=True)
            assert (await run.state()).steps["use"].status == "pending"
            await b.finish("p", x=1)
        assert (await run.state()).steps["use"].reason == "required match did not match"
        await b.finish("else", e=1)
        assert await run.output() == {"e": 1}


async def test_a_goal_whose_other_match_holds_fails_for_the_input_that_is_lost():
    gated = use("first", match=IS_TWO).required("o", match=IS_TWO)
    async with bench(P, work("other", "", "o"), gated) as b:
        run = await b.start("use")
        await b.fail("other", final=True)
        await b.finish("p", x=2)
        assert (await run.error()).message == "goal step 'use' cannot complete: required input 'o' unavailable"


@pytest.mark.parametrize(
    ("collect", "given", "value"),
    [
        ("some", [1, 2], [2]),
        ("last", [2, 1], 2),
        ("all", [2, 2], [2, 2]),
        ("all", [2, 1], None),
        ("none", [1, 3], {}),
        ("none", [1, 2], None),
    ],
)
async def test_collect_sees_matches_only(collect: Collect, given: list[int], value: Any):
    async with bench(P, Q, use(collect, match=IS_TWO)) as b:
        run = await b.start("use")
        await b.finish("p", x=given[0])
        await b.finish("q", x=given[1])
        if value is None:
            assert (await run.state()).steps["use"].reason == "required match did not match"
        else:
            assert b.inputs("use") == [value if value == {} else {"x": value}]


async def test_a_match_that_fails_fails_the_step():
    async with bench(P, use("first", match=IS_TWO)) as b:
        run = await b.start("use")
        await b.finish("p", x="text")
        error = (await run.error()).message
        assert error.startswith("goal step 'use' failed: match of 'x' failed"), error


async def test_a_value_of_init_may_match_too():
    async with bench(P, use("first", match=IS_TWO)) as b:
        run = await b.start("use", {"x": 2})
        assert b.inputs("use") == [{"x": 2}]
        await b.finish("use", y=1)
        assert await run.output() == {"y": 1}


async def test_matches_survive_a_restart():
    async with bench(P, Q, use("first", match=IS_TWO), cache=0) as b:
        run = await b.start("use")
        await b.finish("p", x=1)
        await b.crash()
        await b.finish("q", x=2)
        assert b.inputs("use") == [{"x": 2}]
        assert (await run.tale()).of("input_matched") == ["input_matched use"] * 2


# -- gates -------------------------------------------------------------------------------------------------------------


def routed(id: str, needs: str, gives: str, ntype: str) -> StepBuilder:
    return work(id, needs, gives).required("ntype", match=("jpath", f'$ == "{ntype}"'))


EMAIL, POSTAL = routed("email", "address", "sent", "email"), routed("postal", "street", "posted", "postal")


async def test_a_goal_that_init_routes_past_is_skipped_and_its_inputs_are_not_demanded():
    async with bench(EMAIL, POSTAL) as b:
        b.plays("email", {"sent": True})
        run = await b.start(("email", "postal"), {"ntype": "email", "address": "a@b"})
        assert await run.output() == {"sent": True}
        assert (await run.tale()).of("step_skipped") == ["step_skipped postal: required match did not match"]


async def test_a_goal_that_init_routes_to_demands_its_inputs():
    async with bench(EMAIL, POSTAL) as b:
        with pytest.raises(PlaitError, match=r"required inputs not provided: \[street\]"):
            await b.start(("email", "postal"), {"ntype": "postal", "address": "a@b"})


async def test_what_only_a_skipped_goal_needed_is_not_planned():
    async with bench(EMAIL, POSTAL, work("look-up", "", "street")) as b:
        b.plays("email", {"sent": True})
        run = await b.start(("email", "postal"), {"ntype": "email", "address": "a@b"})
        assert await run.output() == {"sent": True}
        assert list((await run.state()).steps) == ["email", "postal"]


async def test_a_step_behind_an_undecided_gate_does_not_fail_for_an_input_that_nobody_gives():
    async with bench(EMAIL, POSTAL, work("ask", "", "ntype")) as b:
        b.plays("email", {"sent": True})
        run = await b.start(("email", "postal"), {"address": "a@b"})
        assert await run.statuses() == {"ask": "active", "email": "pending", "postal": "pending"}
        await b.finish("ask", ntype="email")
        assert await run.output() == {"sent": True}
        assert (await run.tale()).of("step_skipped") == ["step_skipped postal: required match did not match"]


async def test_a_step_fails_for_an_input_that_nobody_gives_once_its_gate_is_open():
    async with bench(EMAIL, POSTAL, work("ask", "", "ntype")) as b:
        run = await b.start(("email", "postal"), {"address": "a@b"})
        await b.finish("ask", ntype="postal")
        assert (await run.error()).message == "goal step 'postal' cannot complete: required input 'street' unavailable"


async def test_a_gate_that_nobody_can_open_any_more_fails_its_step():
    async with bench(EMAIL, work("ask", "", "ntype")) as b:
        run = await b.start("email", {"address": "a@b"})
        await b.fail("ask", final=True)
        assert (await run.error()).message == "goal step 'email' cannot complete: required input 'ntype' unavailable"


async def test_a_run_all_of_whose_goals_init_routes_past_fails():
    async with bench(EMAIL, POSTAL) as b:
        run = await b.start(("email", "postal"), {"ntype": "fax"})
        assert (await run.error()).message == "goal step 'email' cannot complete: required match did not match"


async def test_a_step_that_was_skipped_at_the_start_stays_so_when_the_run_is_retried():
    async with bench(EMAIL.no_retries(), POSTAL, work("other", "street", "o")) as b:
        b.plays("email", boom(), {"sent": True})
        run = await b.start(("email", "postal"), {"ntype": "email", "address": "a@b"})
        assert await run.status() == "failed"
        await (await run.handle()).retry()
        await b.settle()
        assert await run.output() == {"sent": True}


async def test_a_fork_from_the_start_has_the_same_gates():
    async with bench(EMAIL, POSTAL) as b:
        b.plays("email", {"sent": True})
        run = await b.start(("email", "postal"), {"ntype": "email", "address": "a@b"})
        assert await run.status() == "completed"
        fork = await (await run.handle()).fork(1, id="fork")
        await b.settle()
        assert await BenchRun(b, fork.id).output() == {"sent": True}


async def test_the_preview_of_a_run_judges_its_gates_too():
    async with bench(EMAIL, POSTAL) as b:
        found = await b.engine.plan(goals("email", "postal"), {"ntype": "email", "address": "a@b"})
        assert (found.startable, found.body["required"]) == (True, [])
        found = await b.engine.plan(goals("email", "postal"), {"ntype": "postal", "address": "a@b"})
        assert (found.startable, found.body["required"]) == (False, ["street"])


async def test_a_failure_of_a_script_is_told_once():
    async with bench(P, use("first", match=("ale", "(< value 800)"))) as b:
        run = await b.start("use")
        await b.finish("p", x="text")
        assert (await run.state()).steps["use"].error.count("match of 'x' failed") == 1
