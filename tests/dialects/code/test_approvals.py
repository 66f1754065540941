"""`ctx.approve`: people decide, alone or together, in time or not."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from plait import Context, CriticalError, workflow
from plait.errors import Conflict, Forbidden, InvalidInput, NotFound
from plait.kernel.approval import Approval
from plait.testing import Sim, SimRun, survives_every_crash

from .conftest import Simulate
from .support import failure

HOUR = 3600


@workflow
async def asks(ctx: Context) -> list[Any]:
    verdict = await ctx.approve("ok", by="sales-manager", timeout=3600)
    return [verdict.approved, verdict.decision, verdict.by, verdict.comment, verdict.data]


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_person_decides(decision: str, simulate: Simulate) -> None:
    async with simulate([asks]) as s:
        run = await s.start(asks)
        await s.settle()
        (approval,) = await s.engine.approvals.list()
        assert (approval.title, approval.by, approval.run_id) == ("ok", "sales-manager", run.id)
        await s.crash()
        await s.engine.approvals.decide(approval.id, decision, by="ann", comment="fine", data={"limit": 5})
        assert await s.result(run) == [decision == "approve", decision, "ann", "fine", {"limit": 5}]
        assert await s.engine.approvals.list() == []


async def test_nobody_decided_in_time(simulate: Simulate) -> None:
    async with simulate([asks]) as s:
        run = await s.start(asks)
        await s.clock.advance(1800)
        await s.crash()
        assert await s.result(run) == [False, "timeout", "", "", None]
        assert s.clock.elapsed == 3_600_000
        assert await s.engine.approvals.list() == []


async def test_an_approval_is_decided_once(simulate: Simulate) -> None:
    async with simulate([asks]) as s:
        run = await s.start(asks)
        await s.settle()
        (approval,) = await s.engine.approvals.list()
        await s.engine.approvals.decide(approval.id, "approve", by="ann")
        await s.settle()
        with pytest.raises((NotFound, Conflict)):
            await s.engine.approvals.decide(approval.id, "reject", by="bob")
        assert (await s.result(run))[2] == "ann"


async def test_a_decision_is_approve_or_reject(simulate: Simulate) -> None:
    async with simulate([asks]) as s:
        await s.start(asks)
        await s.settle()
        (approval,) = await s.engine.approvals.list()
        with pytest.raises(InvalidInput):
            await s.engine.approvals.decide(approval.id, "maybe")


async def test_an_approval_can_lose_a_race(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        won = await ctx.race("r", person=lambda c: c.approve("ok"), time=lambda c: c.sleep("s", 5))
        return won.winner

    async with simulate([w]) as s:
        assert await s.run(w) == "time"
        assert await s.engine.approvals.list() == []


async def test_an_approval_in_a_race_has_its_type(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> bool:
        won = await ctx.race("r", person=lambda c: c.approve("ok"), time=lambda c: c.sleep("s", 500))
        return won.value is not None and won.value.approved

    async with simulate([w]) as s:
        run = await s.start(w)
        await s.settle()
        (approval,) = await s.engine.approvals.list()
        await s.engine.approvals.decide(approval.id, "approve")
        await s.settle()
        await s.crash()
        assert await s.result(run) is True


# -- several people --------------------------------------------------------------------------------------------------


@workflow
async def board(ctx: Context) -> list[Any]:
    verdict = await ctx.approve(
        "budget",
        required=2,
        approvers=["ada", "bob"],
        timeout=10 * HOUR,
        escalate_after=HOUR,
        escalate_to=["cleo"],
    )
    return [verdict.decision, verdict.by, verdict.comment]


async def record(s: Sim, status: Any = "all") -> Approval:
    [found] = await s.engine.approvals.list(status=status)
    return found


async def test_two_of_the_board_must_approve(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board)
        await s.settle()
        asked = await record(s, "open")
        assert (asked.required, asked.approvers, asked.status) == (2, ("ada", "bob"), "open")
        first = await s.engine.approvals.decide(asked.id, "approve", by="ada", comment="ok")
        assert (first.status, [vote.by for vote in first.votes]) == ("open", ["ada"])
        [reason] = await run.waiting()
        assert reason.text.startswith("approval `budget` by ada or bob (1 of 2 votes) until ")
        await s.crash()
        last = await s.engine.approvals.decide(asked.id, "approve", by="bob", comment="fine")
        assert (last.status, last.decided_by) == ("approved", "ada, bob")
        assert await s.result(run) == ["approve", "ada, bob", "fine"]
        assert await record(s) == last


async def test_one_who_rejects_is_enough(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board)
        await s.settle()
        await s.engine.approvals.decide(f"{run.id}:budget", "approve", by="ada")
        await s.engine.approvals.decide(f"{run.id}:budget", "reject", by="bob", comment="too dear")
        assert await s.result(run) == ["reject", "bob", "too dear"]
        assert (await record(s, "rejected")).decided_by == "bob"


async def test_who_decided_what_and_when_is_said_to_whom_comes_late(simulate: Simulate) -> None:
    async with simulate([asks]) as s:
        run = await s.start(asks)
        await s.settle()
        await s.engine.approvals.decide(f"{run.id}:ok", "reject", by="ann")
        await s.result(run)
        with pytest.raises(Conflict) as caught:
            await s.engine.approvals.decide(f"{run.id}:ok", "approve", by="bob")
        assert caught.value.code == "kernel.approval_decided"
        assert caught.value.what == f"approval {run.id}:ok was rejected by ann at 2030-01-01 00:00:00 UTC"


async def test_a_stranger_may_not_decide(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board)
        await s.settle()
        with pytest.raises(Forbidden) as caught:
            await s.engine.approvals.decide(f"{run.id}:budget", "approve", by="mallory")
        assert caught.value.code == "kernel.not_an_approver"
        assert (await record(s, "open")).votes == ()


async def test_nobody_decided_so_others_may_too(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board)
        await s.settle()
        id = f"{run.id}:budget"
        with pytest.raises(Forbidden):
            await s.engine.approvals.decide(id, "approve", by="cleo")
        await s.clock.advance(HOUR / 2)
        await s.crash()
        await s.clock.advance(HOUR / 2)
        asked = await record(s, "open")
        assert (asked.level, asked.approvers) == (1, ("ada", "bob", "cleo"))
        await s.engine.approvals.decide(id, "approve", by="cleo")
        await s.engine.approvals.decide(id, "approve", by="ada")
        assert (await s.result(run))[1] == "cleo, ada"
        assert await s.store.due(range(64), s.clock.now() * 2, 10) == []  # type: ignore[arg-type]


async def test_an_approval_that_nobody_decided_expires(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board)
        assert (await s.result(run))[0] == "timeout"
        expired = await record(s, "expired")
        assert (expired.level, expired.decided_at) == (1, s.clock.now())
        with pytest.raises(Conflict, match="expired at 2030-01-01 10:00:00 UTC"):
            await s.engine.approvals.decide(expired.id, "approve", by="ada")


async def test_what_a_cancelled_run_asked_is_withdrawn(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board)
        await s.settle()
        await s.engine.approvals.decide(f"{run.id}:budget", "approve", by="ada")
        await run.cancel()
        withdrawn = await record(s, "withdrawn")
        assert [vote.by for vote in withdrawn.votes] == ["ada"]
        with pytest.raises(Conflict, match="was withdrawn at"):
            await s.engine.approvals.decide(withdrawn.id, "approve", by="bob")


async def test_a_race_that_is_lost_withdraws(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        won = await ctx.race("r", two=lambda c: c.approve("ok", required=2), time=lambda c: c.sleep("s", 5))
        return won.winner

    async with simulate([w]) as s:
        assert await s.run(w) == "time"
        assert (await record(s)).status == "withdrawn"


# -- the second time -------------------------------------------------------------------------------------------------


def failing_beside_an_approval(mended: list[bool]) -> Any:
    def fragile() -> None:
        if not mended:
            raise CriticalError("broken")

    @workflow
    async def beside(ctx: Context) -> list[Any]:
        async def work() -> None:
            await ctx.sleep("first", HOUR)
            await ctx.step("work", fragile)

        verdict, _ = await asyncio.gather(ctx.approve("ok", required=2), work())
        return [verdict.by]

    return beside


async def test_a_retry_opens_a_new_record_in_which_old_votes_do_not_count(simulate: Simulate) -> None:
    mended: list[bool] = []
    beside = failing_beside_an_approval(mended)
    async with simulate([beside]) as s:
        run = await s.start(beside, id="r")
        await s.settle()
        await s.engine.approvals.decide("r:ok", "approve", by="ada")
        await s.skip_until(run.ended)
        mended.append(True)
        await run.retry()
        await s.settle()
        found = await s.engine.approvals.list(run_id="r", status="all")
        assert [(each.id, each.status) for each in found] == [
            ("r:ok", "withdrawn"),
            ("r:ok~2", "open"),
        ]
        with pytest.raises(Conflict):
            await s.engine.approvals.decide(found[0].id, "approve", by="ada")
        for name in ("ada", "bob"):
            await s.engine.approvals.decide(found[1].id, "approve", by=name)
        assert await s.result(run) == ["ada, bob"]


async def test_a_fork_asks_for_itself(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board, id="first")
        await s.settle()
        await s.engine.approvals.decide("first:budget", "approve", by="ada")
        fork = await run.fork()
        await s.settle()
        [asked] = await s.engine.approvals.list(run_id=fork.id)
        assert asked.votes == ()
        for name in ("bob", "ada"):
            await s.engine.approvals.decide(asked.id, "approve", by=name)
        assert (await s.result(fork))[1] == "bob, ada"
        assert (await s.engine.approvals.get("first:budget")).status == "open"


async def test_a_rewind_asks_anew(simulate: Simulate) -> None:
    async with simulate([board]) as s:
        run = await s.start(board, id="r")
        await s.settle()
        await s.engine.approvals.decide("r:budget", "approve", by="ada")
        await s.engine.approvals.decide("r:budget", "approve", by="bob")
        await s.skip_until(run.ended)
        await run.rewind("budget")
        await s.settle()
        first, second = await s.engine.approvals.list(run_id="r", status="all")
        assert (first.status, second.status, second.votes) == ("approved", "open", ())
        await s.engine.approvals.decide(second.id, "reject", by="bob")
        assert (await s.result(run))[0] == "reject"


# -- crashes ---------------------------------------------------------------------------------------------------------


async def cast(s: Sim, id: str, by: str, decision: str = "approve") -> None:
    """As a client does that tries again: its vote may have been counted before it was told."""
    with suppress(Conflict):
        await s.durably(lambda engine: engine.approvals.decide(id, decision, by=by))


async def vote_late(s: Sim, run: SimRun) -> None:
    await s.clock.advance(1)
    await cast(s, f"{run.id}:budget", "ada")
    await s.clock.advance(2 * HOUR)
    await cast(s, f"{run.id}:budget", "cleo")


async def reject(s: Sim, run: SimRun) -> None:
    await s.clock.advance(1)
    await cast(s, f"{run.id}:budget", "ada")
    await cast(s, f"{run.id}:budget", "bob", "reject")


async def test_votes_and_escalations_survive_every_crash() -> None:
    report = await survives_every_crash(board, None, vote_late)
    assert report.output == ["approve", "ada, cleo", ""]
    assert report.crashes > 20


async def test_a_rejection_survives_every_crash() -> None:
    assert (await survives_every_crash(board, None, reject)).output == ["reject", "bob", ""]


async def test_an_approval_that_expires_survives_every_crash() -> None:
    assert (await survives_every_crash(board)).output == ["timeout", "", ""]


# -- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"required": 0},
        {"required": 101},
        {"required": True},
        {"required": 3, "approvers": ["ada", "bob"]},
        {"required": 2, "approvers": ["ada", "ada"]},
        {"approvers": "ada"},
        {"approvers": [""]},
        {"approvers": [7]},
        {"escalate_after": 60},
        {"escalate_to": ["cleo"]},
        {"escalate_after": 60, "escalate_to": "cleo"},
    ],
)
async def test_votes_that_could_never_be_enough_are_refused(simulate: Simulate, options: dict[str, Any]) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.approve("ok", **options)

    async with simulate([w]) as s:
        run = await s.start(w)
        error = await failure(s, run)
        assert error.code == "CODE_BAD_OPTION"
