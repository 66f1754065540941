"""Async steps: the answer comes by webhook, whenever that is."""

from typing import Any

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.kernel import values
from plait.kernel.inputs import Message
from tests.dialects.goals.running.bench import Bench, bench, work


def render(**options: Any) -> StepBuilder:
    return catalog_step("render").output("image").webhook("http://steps.test/render", **options)


async def accepted(b: Bench) -> None:
    b.wire.plays("/render", (202, {"image": "the body of the call is ignored"}))


def refusal(reply: bytes | None) -> str:
    return values.decode(reply or b"{}", dict)["error"]["code"]


async def test_a_call_is_accepted_and_the_webhook_brings_the_outputs():
    async with bench(render(), work("show", "image", "shown")) as b:
        await accepted(b)
        run = await b.start("show")
        assert (await run.tale())[1:] == ["step_started render", "work_started render", "work_accepted render"]
        assert (await run.reasons())[0] == "callback for `render` since 2030-01-01 00:00:00 UTC, no limit"
        await b.wait(5)
        await run.webhook(b.wire.sent[0].token, {"image": "i"})
        assert b.inputs("show") == [{"image": "i"}]
        await b.finish("show", shown=1)
        assert await run.output() == {"shown": 1}


async def test_the_webhook_may_come_before_the_first_call_returns():
    async with bench(render()) as b:
        run = await b.start("render")
        [sent] = b.wire.sent
        await run.webhook(sent.token, {"image": "early"})
        assert await run.output() == {"image": "early"}
        assert "work_accepted render" not in await run.tale()


async def test_a_webhook_during_a_retry_wait_wins_and_clears_the_timer():
    async with bench(render().retries(3, first=60)) as b:
        b.wire.plays("/render", (503, None), (202, None))
        run = await b.start("render")
        assert (await run.reasons())[0].startswith("retry 1 of 3 of `render`")
        await run.webhook(b.wire.sent[0].token, {"image": "i"})
        assert await run.output() == {"image": "i"}
        await b.wait(3600)
        assert len(b.wire.sent) == 1


async def test_a_second_answer_changes_nothing_and_is_recorded_as_late():
    async with bench(render(), work("show", "image", "shown")) as b:
        await accepted(b)
        run = await b.start("show")
        token = b.wire.sent[0].token
        await run.webhook(token, {"image": "first"})
        assert await run.webhook(token, {"image": "second"}) is None
        assert (await run.tale()).of("late_result") == ["late_result render"]
        await b.finish("show", shown=1)
        assert await run.webhook(token, {"image": "third"}) is None, "after the end too"
        assert (await run.tale()).of("late_result") == ["late_result render"] * 2
        assert await run.values("image") == [("render", "first")]


async def test_a_problem_fails_the_item_for_good():
    async with bench(render().retries(5, first=1)) as b:
        await accepted(b)
        run = await b.start("render")
        await run.webhook(b.wire.sent[0].token, {"title": "Bad", "detail": "no such scene"}, failed=True)
        assert (await run.error()).message == "goal step 'render' failed: no such scene"
        assert len(b.wire.sent) == 1


async def test_an_unknown_token_is_refused():
    async with bench(render(), work("sync", "", "y")) as b:
        await accepted(b)
        run = await b.start(("render", "sync"))
        assert refusal(await run.webhook("no-such-token", {})) == "goals.unknown_work"
        assert refusal(await run.webhook(await run.token("sync"), {})) == "goals.unknown_work"


async def test_other_messages_are_refused():
    async with bench(render()) as b:
        await accepted(b)
        run = await b.start("render")
        row = await (await run.handle()).row()
        await b.engine.kernel.send(row.id, Message("m", "hello"), "m")
        taken = await b.engine.kernel.reply(row.id, "m")
        assert refusal(taken.reply) == "goals.unknown_message"


async def test_a_callback_that_does_not_come_in_time_is_a_failure_that_is_retried():
    async with bench(render(callback_timeout=10).retries(1, first=5)) as b:
        await accepted(b)
        run = await b.start("render")
        since, until = "since 2030-01-01 00:00:00 UTC", "until 2030-01-01 00:00:10 UTC"
        assert await run.reasons() == [f"callback for `render` {since}, {until}"]
        await b.wait(9.9)
        assert len(b.wire.sent) == 1
        await b.wait(0.1)
        assert (await run.tale())[4:] == ["retry_scheduled 1 in 5000: no callback within 10000 ms"]
        await b.wait(5)
        assert len(b.wire.sent) == 2
        assert len({sent.token for sent in b.wire.sent}) == 1
        await b.wait(10)
        assert (await run.error()).message == "goal step 'render' failed: no callback within 10000 ms"
        assert [letter.attempts for letter in await b.engine.dlq.list()] == [2]


async def test_the_callback_timeout_counts_from_the_acceptance():
    async with bench(render(callback_timeout=10)) as b:
        run = await b.start("render")
        await b.wait(60)
        b.wire.sent[0].answer.set_result((202, None))
        await b.settle()
        await b.wait(9)
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert await run.output() == {"image": 1}


async def test_an_item_that_waits_for_its_callback_holds_its_slot():
    many = catalog_step("render").required("xs", for_each=True).output("image").webhook("http://steps.test/render")
    async with bench(many) as b:
        await accepted(b)
        run = await b.start("render", {"xs": [1, 2]})
        assert [sent.body for sent in b.wire.sent] == [{"xs": 1}]
        await run.webhook(b.wire.sent[0].token, {"image": "a"})
        assert [sent.body for sent in b.wire.sent] == [{"xs": 1}, {"xs": 2}]
        await run.webhook(b.wire.sent[1].token, {"image": "b"})
        assert await run.output() == {"image": [{"xs": 1, "image": "a"}, {"xs": 2, "image": "b"}]}


async def test_an_accepted_item_is_called_again_after_a_restart_with_the_same_token():
    async with bench(render(callback_timeout=100)) as b:
        await accepted(b)
        run = await b.start("render")
        await b.wait(30)
        await b.crash()
        assert [sent.token for sent in b.wire.sent] == [b.wire.sent[0].token] * 2
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert await run.output() == {"image": 1}


async def test_an_item_accepted_in_a_later_attempt_is_called_again_after_a_restart():
    async with bench(render().retries(5, first=1)) as b:
        b.wire.plays("/render", (503, None), (202, None))
        run = await b.start("render")
        await b.wait(1)
        assert len(b.wire.sent) == 2
        await b.crash()
        await b.wait(1)
        assert len(b.wire.sent) == 3
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert await run.output() == {"image": 1}
        assert (await run.items("render"))[0].attempts == 1


async def test_it_is_not_called_again_after_a_mere_park_and_wake():
    async with bench(render(), work("side", "", "s"), cache=0) as b:
        await accepted(b)
        run = await b.start(("render", "side"))
        await b.finish("side", s=1)
        assert refusal(await run.webhook("no-such-token", {})) == "goals.unknown_work"  # wakes it
        assert len(b.wire.sent) == 1
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert await run.output() == {"image": 1, "s": 1}


async def test_recall_false_forbids_the_second_call():
    async with bench(render(recall=False)) as b:
        await accepted(b)
        run = await b.start("render")
        await b.crash()
        assert len(b.wire.sent) == 1
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert await run.output() == {"image": 1}


async def test_a_callback_timeout_survives_a_restart():
    async with bench(render(callback_timeout=10, recall=False).no_retries()) as b:
        await accepted(b)
        run = await b.start("render")
        await b.wait(6)
        await b.crash()
        await b.wait(3.9)
        assert await run.status() == "running"
        await b.wait(0.1)
        assert (await run.error()).message == "goal step 'render' failed: no callback within 10000 ms"


async def test_outputs_of_a_webhook_are_mapped_by_scripts_too():
    shaped = (
        catalog_step("render")
        .output("image", script=("ale", "(:url image)"), inner="image")
        .webhook("http://steps.test/render")
    )
    async with bench(shaped) as b:
        await accepted(b)
        run = await b.start("render")
        await run.webhook(b.wire.sent[0].token, {"url": "u"})
        assert await run.output() == {"image": "u"}
        assert (await run.tale()).of("work_") == [
            "work_started render",
            "work_accepted render",
            "work_returned render",
            "work_succeeded render",
        ]


async def test_a_webhook_after_a_cancel_is_late():
    async with bench(render()) as b:
        await accepted(b)
        run = await b.start("render")
        await (await run.handle()).cancel("enough")
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert (await run.tale())[-2:] == ["flow_cancelled", "late_result render"]
        assert (await run.items("render"))[0].status == "active"


async def test_a_webhook_after_another_goal_failed_is_taken_in_and_the_run_deactivated():
    async with bench(render(), work("bad", "", "x")) as b:
        await accepted(b)
        run = await b.start(("render", "bad"))
        await b.fail("bad", final=True)
        assert await run.status() == "failed"
        await b.wait(3600)
        assert "flow_deactivated" not in await run.tale()
        await run.webhook(b.wire.sent[0].token, {"image": 1})
        assert (await run.tale())[-4:] == [
            "work_succeeded render",
            "attribute_set image=1 by render",
            "step_completed render",
            "flow_deactivated",
        ]


async def test_a_callback_timeout_after_the_outcome_ends_the_item_and_the_run_is_deactivated():
    async with bench(render(callback_timeout=10).retries(5, first=1), work("bad", "", "x")) as b:
        await accepted(b)
        run = await b.start(("render", "bad"))
        await b.fail("bad", final=True)
        await b.wait(10)
        assert (await run.tale())[-3:] == [
            "work_failed render: no callback within 10000 ms",
            "step_failed render: no callback within 10000 ms",
            "flow_deactivated",
        ]
        assert len(b.wire.sent) == 1


async def test_items_that_wait_for_a_slot_leave_a_parked_run_alone():
    """A run that is on disk only is woken by a timer, not by each of those whose time has come in turn, for ever."""
    step = catalog_step("render").required("scene", for_each=True).output("image")
    step = step.webhook("https://render.test/render").retries(3, first=60)
    async with bench(step, cache=0) as b:
        b.wire.plays("/render", (503, None), (503, None), (202, None))
        run = await b.start("render", {"scene": [1, 2, 3]})
        await b.wait(61)
        await b.wait(61)
        assert len(b.wire.sent) == 3, "the third has the only slot"
        for number in (2, 3, 4):
            await run.webhook(b.wire.sent[number].token, {"image": "i"})
        assert await run.status() == "completed"
