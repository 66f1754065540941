"""Approvals, messages and dead letters: what people and programs tell a run, through the engine."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from plait import Context, CriticalError, Engine, Limits, Retry, workflow
from plait.errors import Busy, Conflict, InvalidInput, NotFound, PlaitError, RunFailed, TooLarge
from plait.kernel.approval import Approval
from tests.engine.flows import ONE_TRY, approval, collector, echo, listener, mother
from tests.engine.places import OnDisk, Place, soon


async def asked(engine: Engine) -> Approval:
    return (await soon(engine.approvals.list))[0]


# -- approvals -------------------------------------------------------------------------------------------------------


async def test_an_approval_is_listed_until_it_is_decided(place: Place):
    async with place.engine(approval) as engine:
        run = await engine.start(approval, "boss", id="a-1")
        found = await asked(engine)
        assert (found.run_id, found.by, found.title) == ("a-1", "boss", "manager")
        await engine.approvals.decide(found.id, "reject", by="ann", comment="no", data={"limit": 5})
        assert await run.result() == {"decision": "reject", "by": "ann", "comment": "no", "data": {"limit": 5}}
        assert await engine.approvals.list() == []


async def test_an_approval_that_was_decided_can_not_be_decided_again(place: Place):
    async with place.engine(approval) as engine:
        run = await engine.start(approval, "boss")
        found = await asked(engine)
        await engine.approvals.decide(found.id, "approve", by="ann")
        await run.result()
        with pytest.raises(Conflict) as caught:
            await engine.approvals.decide(found.id, "reject", by="bob")
        assert caught.value.code == "kernel.approval_decided"
        assert "was approved by ann at " in str(caught.value)
        assert (await engine.approvals.get(found.id)).decided_by == "ann"


async def test_of_two_people_who_answer_at_once_one_is_told_that_he_was_second(place: Place):
    async with place.engine(approval) as engine:
        run = await engine.start(approval, "boss")
        found = await asked(engine)
        answers = await asyncio.gather(
            engine.approvals.decide(found.id, "approve", by="ann"),
            engine.approvals.decide(found.id, "reject", by="bob"),
            return_exceptions=True,
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["Approval", "Conflict"]
        winner = "bob" if isinstance(answers[0], Conflict) else "ann"
        assert (await run.result())["by"] == winner


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "maybe"},
        {"decision": "approve", "by": "\ud800"},
        {"decision": "approve", "comment": "x\0"},
        {"decision": "approve", "data": object()},
        {"decision": "approve", "data": float("nan")},
    ],
)
async def test_an_answer_that_can_not_be_used_is_refused_and_the_approval_stays(place: Place, answer: dict[str, Any]):
    async with place.engine(approval) as engine:
        await engine.start(approval, "boss")
        found = await asked(engine)
        with pytest.raises(InvalidInput):
            await engine.approvals.decide(found.id, **answer)
        assert await engine.approvals.list() == [found]


async def test_an_approval_nobody_asked_is_not_found(place: Place):
    async with place.engine() as engine:
        with pytest.raises(NotFound):
            await engine.approvals.decide("nobody:asked", "approve")


async def test_a_run_that_is_cancelled_asks_no_more(place: Place):
    async with place.engine(approval) as engine:
        run = await engine.start(approval, "boss")
        await asked(engine)
        await run.cancel()
        assert await engine.approvals.list() == []


# -- messages --------------------------------------------------------------------------------------------------------


async def test_messages_are_taken_in_the_order_they_were_sent(place: Place):
    async with place.engine(collector) as engine:
        run = await engine.start(collector, 20)
        for number in range(20):
            await run.message("item", number)
        assert await run.result() == list(range(20))


async def test_the_same_message_id_twice_is_one_message(place: Place):
    async with place.engine(collector) as engine:
        run = await engine.start(collector, 2)
        for _ in range(3):
            assert await run.message("item", "first", id="m-1") == "m-1"
        await run.message("item", "second", id="m-2")
        assert await run.result() == ["first", "second"]


@pytest.mark.parametrize("id", ["start", "fork", "cancel:mum", "child:kid:3", "mum:kid"])
async def test_no_message_id_is_taken_for_something_of_the_engines_own(place: Place, id: str):
    """The run was started through its inbox, as a child is."""
    async with place.engine(mother, listener) as engine:
        await engine.start(mother, id="mum")
        kid = await soon(lambda: engine.get("kid"))
        await kid.message("go", "heard", id=id)
        async with asyncio.timeout(5):
            assert await kid.result() == "heard"


@pytest.mark.parametrize(
    "message",
    [
        {"name": "go", "body": object()},
        {"name": "go", "body": "\ud800"},
        {"name": "\ud800"},
        {"name": "x\0"},
        {"name": 7},
        {"name": ""},
        {"name": "go", "id": "\ud800"},
        {"name": "go", "id": "x\0"},
        {"name": "go", "id": 7},
        {"name": "go", "id": "~start"},
        {"name": "go", "id": "x" * 10_000},
    ],
)
async def test_a_message_that_can_not_be_stored_is_refused_and_harms_nobody(place: Place, message: dict[str, Any]):
    async with place.engine(listener) as engine:
        run, other = await engine.start(listener), await engine.start(listener)
        with pytest.raises(InvalidInput):
            await run.message(**message)
        for target in (run, other):
            await target.message("go", "fine")
            assert await target.result() == "fine"


async def test_a_message_over_the_limit_is_too_large(place: Place):
    async with place.engine(listener, limits=Limits(max_payload=1_000)) as engine:
        run = await engine.start(listener)
        with pytest.raises(TooLarge):
            await run.message("go", "x" * 1_000)


async def test_an_ended_run_takes_no_message(place: Place):
    async with place.engine() as engine:
        run = await engine.start(echo, 1)
        await run.result()
        with pytest.raises(Conflict) as caught:
            await run.message("go")
        assert caught.value.code == "RUN_FINISHED"


async def test_a_run_that_does_not_listen_is_full_one_day(place: Place):
    async with place.engine(listener, limits=Limits(max_queued_messages=5)) as engine:
        run = await engine.start(listener)
        for _ in range(5):
            await run.message("other")

        async def full() -> bool:
            return (await run.row()).full

        await soon(full)
        with pytest.raises(Busy) as caught:
            await run.message("other")
        assert caught.value.code == "kernel.queue_full"
        assert caught.value.status == 429


# -- cancelling ------------------------------------------------------------------------------------------------------


async def test_a_run_that_is_cancelled_at_once_never_runs_another_step(place: Place):
    ran: list[str] = []

    async def step() -> None:
        ran.append("step")
        await asyncio.Event().wait()

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("first", step)
        await ctx.step("second", step)

    async with place.engine(work) as engine:
        run = await engine.start(work)
        await run.cancel("enough")
        with pytest.raises(RunFailed) as caught:
            await run.result()
        assert caught.value.run_status == "cancelled"
        assert "enough" in str(caught.value)
        assert len(ran) <= 1


@pytest.mark.parametrize("reason", ["\ud800", "x\0", 7])
async def test_a_reason_that_can_not_be_stored_is_refused(place: Place, reason: Any):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        with pytest.raises(InvalidInput):
            await run.cancel(reason)
        assert await run.status() == "running"


async def test_a_parent_that_is_cancelled_takes_its_children_with_it(place: Place):
    async with place.engine(mother, listener) as engine:
        run = await engine.start(mother, id="mum")
        kid = await soon(lambda: engine.get("kid"))
        await run.cancel()
        with pytest.raises(RunFailed) as caught:
            await kid.result()
        assert caught.value.run_status == "cancelled"


# -- deadlines -------------------------------------------------------------------------------------------------------


async def test_a_run_past_its_deadline_fails(place: Place):
    async with place.engine(listener) as engine:
        run = await engine.start(listener, deadline=0.01)
        with pytest.raises(RunFailed) as caught:
            await run.result()
        assert caught.value.error.code == "DEADLINE_EXCEEDED"
        row = await run.row()
        assert row.deadline is not None
        assert row.ended_at is not None
        assert row.ended_at >= row.deadline


# -- dead letters ----------------------------------------------------------------------------------------------------


class Shop:
    """A step that fails until it is mended."""

    def __init__(self) -> None:
        self.open = False
        self.calls = 0

    async def buy(self) -> str:
        self.calls += 1
        if not self.open:
            raise ConnectionError("the shop is closed")
        return "bought"


def buying(shop: Shop, retry: Retry = ONE_TRY) -> Any:
    @workflow
    async def buy(ctx: Context) -> str:
        return await ctx.step("buy", shop.buy, retry=retry)

    return buy


async def test_a_task_that_used_up_its_attempts_is_listed_and_can_be_tried_again(place: Place):
    shop = Shop()
    flow = buying(shop, Retry(max_attempts=2, first=0))
    async with place.engine(flow) as engine:
        run = await engine.start(flow, id="b-1")
        with pytest.raises(RunFailed):
            await run.result()
        [letter] = await engine.dlq.list()
        assert (letter.run_id, letter.attempts, letter.status) == ("b-1", 2, "pending")
        assert "closed" in letter.error.message
        shop.open = True
        await engine.dlq.retry(letter.id)
        assert await run.result() == "bought"
        assert await engine.dlq.list() == []
        assert [letter.status for letter in await engine.dlq.list(all=True)] == ["retried"]


async def test_a_dead_letter_is_settled_once(place: Place):
    shop = Shop()
    flow = buying(shop)
    async with place.engine(flow) as engine:
        with pytest.raises(RunFailed):
            await (await engine.start(flow)).result()
        [letter] = await engine.dlq.list()
        await engine.dlq.discard(letter.id)
        for settle in (engine.dlq.retry, engine.dlq.discard):
            with pytest.raises(Conflict) as caught:
                await settle(letter.id)
            assert caught.value.code == "kernel.dead_letter_settled"


async def test_a_retry_that_fails_again_is_a_dead_letter_again(place: Place):
    shop = Shop()
    flow = buying(shop)
    async with place.engine(flow) as engine:
        run = await engine.start(flow)
        with pytest.raises(RunFailed):
            await run.result()
        [letter] = await engine.dlq.list()
        await engine.dlq.retry(letter.id)
        with pytest.raises(RunFailed):
            await run.result()
        assert [letter.status for letter in await engine.dlq.list()] == ["pending"]
        assert shop.calls == 2


async def test_a_dead_letter_nobody_wrote_is_not_found(place: Place):
    async with place.engine() as engine:
        for settle in (engine.dlq.retry, engine.dlq.discard):
            with pytest.raises(NotFound):
                await settle("nobody:wrote")


async def test_a_dead_letter_of_another_namespace_is_not_found(place: Place):
    flow = buying(Shop())
    async with place.engine(flow) as engine:
        with pytest.raises(RunFailed):
            await (await engine.start(flow, namespace="acme")).result()
        [letter] = await engine.dlq.list("acme")
        assert await engine.dlq.list() == []
        with pytest.raises(NotFound):
            await engine.dlq.retry(letter.id)


async def test_an_error_that_says_it_is_critical_is_no_dead_letter(place: Place):
    async def step() -> None:
        raise CriticalError("sold out")

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("buy", step)

    async with place.engine(work) as engine:
        with pytest.raises(RunFailed):
            await (await engine.start(work)).result()
        assert await engine.dlq.list(all=True) == []


async def test_a_message_to_nobody_is_a_dead_letter_and_the_sender_goes_on(place: Place):
    @workflow
    async def teller(ctx: Context) -> str:
        await ctx.send("tell", "nobody", "go", 1)
        return "told"

    async with place.engine(teller) as engine:
        assert await (await engine.start(teller)).result() == "told"
        [letter] = await engine.dlq.list()
        assert letter.error.code == "kernel.undeliverable"
        await engine.dlq.discard(letter.id)
        assert await engine.dlq.list() == []


async def test_a_retry_of_a_run_gives_its_steps_all_their_attempts_again(place: Place):
    """Also when the run is read from the log, which knows of the attempts before."""
    calls: list[int] = []

    class Fatal(PlaitError):
        retryable = False

    async def step() -> str:
        calls.append(1)
        if len(calls) == 2:
            raise Fatal("x", "not now")
        if len(calls) < 5:
            raise ConnectionError("again")
        return "ok"

    @workflow
    async def work(ctx: Context) -> str:
        return await ctx.step("s", step, retry=Retry(max_attempts=3, first=0))

    async with place.engine(work, code_cache=0) as engine:
        run = await engine.start(work)
        with pytest.raises(RunFailed):
            await run.result()
        await run.retry()
        assert await run.result() == "ok"
        assert len(calls) == 5


@pytest.mark.parametrize("operations", [[{"op": object()}], [{"op": float("nan")}], [{"op": "\ud800"}]])
async def test_a_patch_that_can_not_be_stored_is_refused(place: Place, operations: Any):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        with pytest.raises(InvalidInput):
            await run.patch(operations)


async def test_a_patch_the_dialect_has_no_use_for_is_a_conflict(place: Place):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        with pytest.raises(Conflict) as caught:
            await run.patch([{"op": "add"}])
        assert caught.value.code == "CODE_PATCH_UNSUPPORTED"


# -- forms -----------------------------------------------------------------------------------------------------------


@dataclass
class Terms:
    limit: int
    note: str = ""


@workflow
async def with_a_form(ctx: Context, form: str) -> Any:
    verdict = await ctx.approve(
        "terms", title="Set the terms", form=Terms if form == "type" else {"type": "integer"}, evidence={"total": 12}
    )
    return verdict.data.limit if isinstance(verdict.data, Terms) else verdict.data


async def test_a_found_brings_a_title_a_form_and_evidence(place: Place):
    async with place.engine(with_a_form) as engine:
        run = await engine.start(with_a_form, "type")
        found = await asked(engine)
        assert (found.title, bytes(found.evidence)) == ("Set the terms", b'{"total":12}')
        assert b'"limit"' in bytes(found.form)
        [node] = (await run.view()).nodes
        assert node.input == {"total": 12}
        await engine.approvals.decide(found.id, "approve", data={"limit": 5})
        assert await run.result() == 5


async def test_an_answer_that_does_not_fit_its_form_is_refused_with_the_places(place: Place):
    async with place.engine(with_a_form) as engine:
        run = await engine.start(with_a_form, "type")
        found = await asked(engine)
        with pytest.raises(InvalidInput) as caught:
            await engine.approvals.decide(found.id, "approve", data={"limit": "much"})
        assert caught.value.code == "kernel.bad_form"
        assert [flaw.pointer for flaw in caught.value.flaws] == ["/limit"]
        assert await run.status() == "running"
        await engine.approvals.decide(found.id, "reject")
        assert await run.result() is None


async def test_a_form_survives_a_restart(disk: OnDisk):
    async with disk.engine(with_a_form) as engine:
        await engine.start(with_a_form, "schema")
        await asked(engine)
    async with disk.engine(with_a_form) as engine:
        [found] = await engine.approvals.list()
        assert bytes(found.form) == b'{"type":"integer"}'
        await engine.approvals.decide(found.id, "approve", data=3)


async def test_a_form_that_is_no_schema_fails_the_run(place: Place):
    @workflow
    async def bad(ctx: Context) -> None:
        await ctx.approve("x", form={"type": "nonsense"})

    async with place.engine(bad) as engine:
        with pytest.raises(RunFailed, match="form of approve"):
            await (await engine.start(bad)).result()
