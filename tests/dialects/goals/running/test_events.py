"""The events of runs, exactly as section 6 of the spec has them."""

from collections.abc import Sequence

from plait.kernel.store import Write
from tests.dialects.goals.running.bench import bench, boom, work


async def test_a_plain_step_has_exactly_the_events_of_the_spec():
    async with bench(work("greet", "name", "greeting")) as b:
        b.plays("greet", {"greeting": "hello ann"})
        run = await b.start("greet", {"name": "ann"})
        assert await run.tale() == [
            "flow_started",
            "step_started greet",
            "work_started greet",
            "work_succeeded greet",
            "attribute_set greeting=hello ann by greet",
            "step_completed greet",
            "flow_completed",
        ]
        assert await run.output() == {"greeting": "hello ann"}


async def test_the_chain_of_the_seed_runs_its_four_steps_in_order():
    chain = [
        work("a", "", "customer_id"),
        work("b", "customer_id", "order_list"),
        work("c", "order_list", "total_value"),
        work("d", "total_value", "recommendation"),
    ]
    async with bench(*chain) as b:
        for id, gives in (("a", "customer_id"), ("b", "order_list"), ("c", "total_value"), ("d", "recommendation")):
            b.plays(id, {gives: f"{gives} of {id}"})
        run = await b.start("d")
        assert await run.output() == {"recommendation": "recommendation of d"}
        assert b.ran() == ["a", "b", "c", "d"]
        given = await b.start("d", {"customer_id": 123}, id="given")
        assert await given.output() == {"recommendation": "recommendation of d"}
        assert b.ran()[4:] == ["b", "c", "d"]
        assert b.inputs("b")[1] == {"customer_id": 123}


async def test_the_users_of_the_seed_are_notified_one_by_one_and_the_results_say_who_is_who():
    notify = work("notify", "action", "message_id").required("users", list, for_each=True).parallel(3)
    async with bench(notify) as b:
        b.plays("notify", lambda inputs: {"message_id": f"msg-{inputs['users']}"})
        run = await b.start("notify", {"users": ["alice", "bob", "charlie"], "action": "notify"})
        assert b.inputs("notify") == [
            {"users": "alice", "action": "notify"},
            {"users": "bob", "action": "notify"},
            {"users": "charlie", "action": "notify"},
        ]
        assert await run.output() == {
            "message_id": [
                {"users": "alice", "message_id": "msg-alice"},
                {"users": "bob", "message_id": "msg-bob"},
                {"users": "charlie", "message_id": "msg-charlie"},
            ]
        }


async def test_a_retry_is_not_completed_then_scheduled_then_started_again():
    async with bench(work("a", "", "x").retries(2, first=1)) as b:
        b.plays("a", boom("not yet"), {"x": 1})
        run = await b.start("a")
        await b.wait(1)
        assert await run.tale() == [
            "flow_started",
            "step_started a",
            "work_started a",
            "retry_scheduled 1 in 1000: not yet",
            "work_started a",
            "work_succeeded a",
            "attribute_set x=1 by a",
            "step_completed a",
            "flow_completed",
        ]


async def test_an_unreachable_goal_fails_with_the_text_of_the_seed():
    async with bench(work("fetch-user", "user_id", "email"), work("send-email", "email", "message_id")) as b:
        b.plays("fetch-user", boom("database connection timeout", final=True))
        run = await b.start("send-email", {"user_id": "12345"})
        assert await run.tale() == [
            "flow_started",
            "step_started fetch-user",
            "work_started fetch-user",
            "work_failed fetch-user: database connection timeout",
            "step_failed fetch-user: database connection timeout",
            "step_failed send-email: required input no longer available",
            "flow_failed: goal step 'send-email' cannot complete: required input 'email' unavailable",
        ]


async def test_a_failed_goal_says_its_error():
    async with bench(work("a", "", "x")) as b:
        b.plays("a", boom("no luck", final=True))
        run = await b.start("a")
        assert (await run.error()).message == "goal step 'a' failed: no luck"


async def test_step_started_has_the_inputs_and_the_items_by_token():
    async with bench(work("a", "n", "x"), work("m", "", "y").required("xs", for_each=True)) as b:
        b.plays("a", {"x": 1})
        b.plays("m", {"y": 1})
        run = await b.start(("a", "m"), {"n": 5, "xs": [1, 2]})
        [a, m] = [event.data for event in await (await run.handle()).events() if event.type == "step_started"]
        assert a["inputs"] == {"n": 5}
        assert list(a["work_items"].values()) == [{}]  # its inputs are there once
        assert list(m["work_items"].values()) == [{"xs": 1}, {"xs": 2}]


async def test_step_completed_tells_its_duration_in_whole_milliseconds():
    async with bench(work("a", "", "x")) as b:
        run = await b.start("a")
        await b.wait(1.5)
        await b.finish("a", x=1, more=2)
        [done] = [event.data for event in await (await run.handle()).events() if event.type == "step_completed"]
        assert done == {"step_id": "a", "outputs": {"x": 1}, "duration": 1500}


async def test_a_large_value_is_stored_once_in_the_start_of_a_step():
    large = "x" * 5000
    plain, fans = work("a", "n", "x"), work("m", "", "y").required("xs", for_each=True)
    async with bench(plain, fans) as b:
        b.plays("a", {"x": 1})
        b.plays("m", {"y": 1})
        run = await b.start(("a", "m"), {"n": large, "xs": [large, "small"]})
        [a, m] = [event.data for event in await (await run.handle()).events() if event.type == "step_started"]
        assert str(a).count(large) == str(m).count(large) == 1
        assert list(m["work_items"].values()) == [{}, {"xs": "small"}]
        assert b.inputs("m") == [{"xs": large}, {"xs": "small"}]
        await b.crash()
        assert await run.output() == {"x": 1, "y": [{"xs": large, "y": 1}, {"xs": "small", "y": 1}]}


async def test_a_large_value_given_to_many_steps_is_one_blob():
    takers = [work(f"take-{number}", "large", f"y{number}") for number in range(20)]
    async with bench(work("give", "n", "large"), *takers) as b:
        blobs: dict[str, int] = {}
        logs: list[int] = []

        def note(moment: str, writes: Sequence[Write]) -> None:
            if moment == "after":
                blobs.update((digest, len(body)) for each in writes for digest, body in each.blobs)
                logs.extend(len(each.log.events) for each in writes if each.log is not None)

        b.store.faults = note
        b.plays("give", {"large": "x" * 200_000})
        for number, taker in enumerate(takers):
            b.plays(taker.build().id, {f"y{number}": 1})
        run = await b.start(tuple(taker.build().id for taker in takers), {"n": 1})
        assert len(await run.output()) == 20
        assert sum(blobs.values()) + sum(logs) < 300_000
