"""The group commit: each write all or nothing, with a verdict of its own, whatever its neighbours are."""

from plait.kernel.approval import ApprovalChange
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Epoch, Millis, RunId, Seq, TaskToken
from plait.kernel.store import Compaction, InboxRow, Settled, Snapshot, Store, Taken, Write
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    NOW,
    Owner,
    approval,
    child,
    create,
    dead_letter,
    ended,
    keys,
    log_row,
    message,
    must,
    open_approvals,
    outside,
    own_all,
    run_row,
    timer,
)

RUN = RunId("run")


def everything(owner: Owner) -> Write:
    """A write with rows of every kind."""
    return owner.write(
        "run",
        create=run_row(),
        log=log_row(3),
        patch=ended(),
        blobs=[("cas://blob", b"body")],
        copies=[log_row(1, 2)],
        taken=[Taken("start", b'"welcome"')],
        inbox=[message("friend", "from run")],
        children=[child("child", parent="run")],
        timers=[timer("run", "deadline", 2_000)],
        cleared=[TaskToken("sleep")],
        approvals=[
            ApprovalChange("approved", NOW, TaskToken("approve")),
            approval("run", "sign"),
        ],
        dead_letters=[dead_letter("run", "ship")],
        settled=[Settled("run:charge", "retried")],
        snapshot=Snapshot(Seq(3), NOW, b"{}"),
    )


async def leave_something_to_change(store: Store, owner: Owner) -> None:
    before = owner.write(
        "run",
        timers=[timer("run", "sleep")],
        approvals=[approval("run", "approve")],
        dead_letters=[dead_letter("run", "charge")],
    )
    await must(store, outside("run", inbox=[message("run", "start")]), before)


async def test_a_write_may_hold_rows_of_every_kind(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await leave_something_to_change(store, owner)
        await must(store, everything(owner))

        run = await store.run(RUN)
        assert run is not None
        assert run.status == "completed"
        assert await store.log(RUN) == [log_row(1, 2), log_row(3)]
        assert await store.blob("cas://blob") == b"body"
        assert await store.reply(RUN, "start") == Taken("start", b'"welcome"')
        assert sorted(keys(await store.inbox(ALL, 10))) == ["from run", "start"]
        assert await store.run(RunId("child")) == child("child", parent="run").row
        assert await store.due(ALL, NOW, 10) == [timer("run", "deadline", 2_000)]
        assert await open_approvals(store) == [approval("run", "sign")]
        letters = [(letter.id, letter.status) for letter in await store.dead_letters(None)]
        assert letters == [("run:charge", "retried"), ("run:ship", "pending")]
        assert await store.snapshot(RUN) == Snapshot(Seq(3), NOW, b"{}")


async def test_a_refused_write_leaves_nothing_behind(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await leave_something_to_change(store, owner)
        await create(store, "run", definition="was here first")
        before = await picture(store)
        neighbour = owner.write("neighbour", create=run_row("neighbour"), log=log_row(1))
        assert await store.commit([everything(owner), neighbour]) == ["exists", "ok"]
        assert await picture(store) == before
        assert await store.log(RunId("neighbour")) == [log_row(1)]


async def test_a_group_gives_a_verdict_for_each_of_its_writes(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "known")
        await must(store, owner.write("known", log=log_row(1)))
        stale = owner.write("stale", log=log_row(1))
        assert stale.epoch is not None
        stale.epoch = Epoch(stale.epoch - 1)
        group = [
            owner.write("a", create=run_row("a"), log=log_row(1)),
            stale,
            outside("known", create=run_row("known")),
            owner.write("known", log=log_row(1)),
            owner.write("known", log=log_row(2), timers=[timer("known")]),
            outside("z", create=run_row("z"), inbox=[message("z", "start")]),
        ]
        assert await store.commit(group) == ["ok", "fenced", "exists", "conflict", "ok", "ok"]
        assert await store.log(RunId("stale")) == []
        assert await store.log(RunId("known")) == [log_row(1), log_row(2)]
        assert await store.due(ALL, NOW, 10) == [timer("known")]
        assert keys(await store.inbox(ALL, 10)) == ["start"]


async def test_hundreds_of_runs_are_one_group(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        names = [f"run-{number}" for number in range(600)]
        await must(store, *(owner.write(name, create=run_row(name), log=log_row(1)) for name in names))
        await must(store, *(owner.write(name, log=log_row(2, 2), patch=ended()) for name in names))
        for name in (names[0], names[299], names[-1]):
            assert await store.log(RunId(name)) == [log_row(1), log_row(2, 2)]
            row = await store.run(RunId(name))
            assert row is not None
            assert row.status == "completed"


async def test_an_empty_group_is_no_work(backend: Backend):
    async with opened(backend) as store:
        assert await store.commit([]) == []


async def test_an_error_of_any_shape_is_kept(backend: Backend):
    error = ErrorInfo("e", 'NUL \0, quote ", emoji 👍', args=[{"deep": [1, None]}], trace="line 1\nline 2")
    async with opened(backend) as store:
        owner = await own_all(store)
        letter = dead_letter("run", error=error)
        await must(store, owner.write("run", create=run_row(error=error, blocked=error), dead_letters=[letter]))
        run = await store.run(RUN)
        assert run is not None
        assert (run.error, run.blocked) == (error, error)
        assert await store.dead_letters(None) == [letter]


async def picture(store: Store) -> tuple[object, ...]:
    """All that `everything` would change."""
    inbox: list[InboxRow] = await store.inbox(ALL, 100)
    return (
        await store.run(RUN),
        await store.run(RunId("child")),
        await store.log(RUN),
        await store.reply(RUN, "start"),
        inbox,
        await store.due(ALL, Millis(NOW * 2), 100),
        await open_approvals(store),
        await store.dead_letters(None),
        await store.snapshot(RUN),
    )


async def test_compacted_events_give_way_to_one_row(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", create=run_row(), log=log_row(1, 3)))
        for seq in range(4, 40, 2):
            await must(store, owner.write("run", log=log_row(seq, 2)))
        for upto in (21, 33):
            await must(store, owner.write("run", compaction=Compaction(Seq(upto), Millis(NOW + upto))))
            rows = await store.log(RUN)
            assert [row.is_compacted for row in rows[:3]] == [False, True, False]
            assert (rows[1].seq, rows[1].count, rows[1].at) == (4, upto - 3, NOW + upto)
            assert rows[2].seq == upto + 1
        assert await store.heads([RUN]) == {RUN: 39}
        assert [row.seq for row in await store.log(RUN, Seq(10), limit=1)] == [4]
