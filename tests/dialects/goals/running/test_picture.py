"""What people see: the view, the reasons why a run waits, the plan beside what ran; and memo."""

from plait import goals
from plait.dialects.goals.steps.builder import catalog_step
from plait.kernel.view import Edge
from tests.dialects.goals.running.bench import bench, boom, work


async def test_the_view_has_init_every_planned_step_and_edges_by_attribute():
    scripted = catalog_step("script").required("x").output("y").ale("{:y x}")
    async with bench(work("a", "n", "x"), work("b", "n", "x"), scripted, work("c", "y", "z")) as b:
        run = await b.start("c", {"n": 1, "unused": 2})
        await b.finish("b", x=5)
        view = await (await run.handle()).view()
        assert [(node.id, node.kind, node.status) for node in view.nodes] == [
            ("init", "init", "completed"),
            ("a", "python", "running"),
            ("b", "python", "completed"),
            ("c", "python", "running"),
            ("script", "script", "completed"),
        ]
        assert view.nodes[0].output == {"n": 1, "unused": 2}
        assert sorted(view.edges, key=str) == sorted(
            [
                Edge("init", "a", "n"),
                Edge("init", "b", "n"),
                Edge("a", "script", "x"),
                Edge("b", "script", "x", chosen=True),
                Edge("script", "c", "y"),
            ],
            key=str,
        )


async def test_the_plan_beside_what_really_ran():
    steps = [work("bad", "", "x").no_retries(), work("good", "", "x"), work("use", "x", "y"), work("no", "y", "z")]
    async with bench(*steps[:3], steps[3].when("ale", "false")) as b:
        run = await b.start(("use", "no"))
        await b.fail("bad")
        await b.finish("good", x=1)
        await b.finish("use", y=1)
        details = (await (await run.handle()).view()).details
        assert details is not None
        assert details["plan_diff"] == {
            "planned": ["bad", "good", "no", "use"],
            "completed": ["good", "use"],
            "failed": ["bad"],
            "skipped": {"no": "predicate returned false"},
            "not_started": [],
            "winners": {"x": "good", "y": "use"},
            "late": {},
        }
        assert details["plan"]["goals"] == ["use", "no"]
        assert [(each["value"], each["step"]) for each in details["attributes"]["x"]] == [(1, "good")]


async def test_items_are_counted():
    many = work("m", "", "y").required("q", for_each=True).parallel(2).no_retries()
    async with bench(many) as b:
        run = await b.start("m", {"q": [1, 2, 3, 4]})
        await b.finish("m", y=1)
        await b.fail("m")
        view = await (await run.handle()).view()
        [node] = [node for node in view.nodes if node.id == "m"]
        assert node.detail == "1 of 4 items, 1 failed"


async def test_a_step_waits_for_its_inputs_by_name_and_provider():
    async with bench(work("fetch", "", "email"), work("look", "", "email"), work("send", "email", "sent")) as b:
        run = await b.start("send")
        assert await run.reasons() == [
            "`fetch` is running",
            "`look` is running",
            "`send` waits for `email` from `fetch` or `look`",
        ]


async def test_a_handler_that_nobody_has_blocks_the_run_until_there_is_one():
    async with bench() as b:
        await b.engine.catalog.register(catalog_step("a").python("unknown").output("x"))
        run = await b.start("a")
        assert await run.reasons() == ["blocked: step 'a': no handler `unknown`"]
        b.knows("unknown")
        await (await run.handle()).retry()
        await b.settle()
        await b.finish("unknown", x=1)
        assert await run.output() == {"x": 1}


async def test_work_whose_handler_is_gone_after_a_restart_blocks_the_run_until_there_is_one():
    async with bench() as b:
        await b.engine.catalog.register(
            catalog_step("a").python("h").output("x"), lambda **inputs: b._handler("h")(**inputs)
        )
        run = await b.start("a")
        await b.crash()
        assert await run.reasons() == ["blocked: step 'a': no handler `h`"]
        b.knows("h")
        await (await run.handle()).retry()
        await b.settle()
        await b.finish("h", x=1)
        assert await run.output() == {"x": 1}


async def test_a_queue_without_workers_is_named():
    async with bench() as b:
        await b.engine.catalog.register(catalog_step("a").python("h", queue="gpu").output("x"))
        run = await b.start("a")
        assert await run.reasons() == ["no worker on queue `gpu` for `a`"]


async def test_a_run_that_has_ended_waits_for_nothing():
    async with bench(work("a", "", "x")) as b:
        run = await b.start("a")
        await b.finish("a", x=1)
        assert await run.reasons() == []


async def test_an_item_that_was_under_way_when_its_run_ended_and_its_process_died_is_not_done_again():
    async with bench(work("bad", "", "x").no_retries(), work("long", "", "y")) as b:
        run = await b.start(("bad", "long"))
        await b.fail("bad")
        await b.crash()
        await b.wait(120)
        assert len(b.inputs("long")) == 1
        assert (await run.tale())[-3:] == [
            "work_failed long: its process died after the run had ended",
            "step_failed long: its process died after the run had ended",
            "flow_deactivated",
        ]


async def test_equal_inputs_of_a_memoizable_step_are_worked_out_once():
    async with bench(work("a", "n", "x").memoizable()) as b:
        b.plays("a", {"x": 1}, {"x": 2})
        first = await b.start("a", {"n": 1})
        second = await b.start("a", {"n": 1}, id="second")
        third = await b.start("a", {"n": 2}, id="third")
        assert [await run.output() for run in (first, second, third)] == [{"x": 1}, {"x": 1}, {"x": 2}]
        assert [(await run.items("a"))[0].memo for run in (first, second, third)] == [False, True, False]
        assert len(b.calls) == 2


async def test_failures_are_not_remembered():
    async with bench(work("a", "n", "x").memoizable().retries(1, first=1)) as b:
        b.plays("a", boom(), {"x": 2})
        run = await b.start("a", {"n": 1})
        await b.wait(1)
        assert await run.output() == {"x": 2}
        assert len(b.calls) == 2


async def test_the_same_start_again_is_the_same_run():
    async with bench(work("a", "n", "x")) as b:
        run = await b.start("a", {"n": 1})
        await b.start("a", {"n": 1})
        assert len(b.calls) == 1
        assert len(await run.tale()) == 3


async def test_a_run_keeps_the_steps_it_was_planned_with():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        run = await b.start("b")
        await b.engine.catalog.unregister("b")
        await b.finish("a", x=1)
        await b.finish("b", y=1)
        assert await run.output() == {"y": 1}


async def test_preview_is_the_plan_that_a_start_runs():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        preview = await b.engine.plan(goals("b"))
        run = await b.start("b")
        events = await (await run.handle()).events()
        assert events[0].data["data"]["plan"] == preview.body


async def test_a_node_says_whether_its_step_runs_waits_is_tried_again_or_was_stopped():
    render = catalog_step("render").output("i").webhook("http://steps.test/render")
    steps = [render, work("busy", "", "x"), work("unlucky", "", "y").retries(3, first=10), work("next", "x", "z")]
    async with bench(*steps) as b:
        b.wire.plays("/render", (202, None))
        b.plays("unlucky", boom())
        run = await b.start(("render", "unlucky", "next"))

        async def statuses() -> dict[str, str]:
            view = await (await run.handle()).view()
            return {node.id: node.status for node in view.nodes if node.id != "init"}

        assert await statuses() == {"busy": "running", "next": "pending", "render": "waiting", "unlucky": "retrying"}
        await (await run.handle()).cancel("enough")
        assert await statuses() == {
            "busy": "cancelled",
            "next": "skipped",
            "render": "cancelled",
            "unlucky": "cancelled",
        }


async def test_a_picture_of_the_past_shows_the_run_as_it_was():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        b.plays("a", {"x": 1})
        b.plays("b", {"y": 1})
        run = await b.start("b")
        view = await (await run.handle()).view(at=3)
        assert {node.id: node.status for node in view.nodes} == {"init": "completed", "a": "running", "b": "pending"}


async def test_a_run_of_several_init_values_shows_them_all():
    async with bench(work("a", "", "y").required("x", collect="some")) as b:
        run = await b.start("a", {"x": 1})
        assert b.inputs("a") == [{"x": [1]}]
        assert await run.values("x") == [("", 1)]
