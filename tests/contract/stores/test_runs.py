"""Runs: what is created reads back equal, an id is given once, and lists find what they are asked for."""

import pytest
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId, Shard, TaskToken
from plait.kernel.store import SUSPECT_AFTER, RunFilter, RunPatch
from plait.kernel.view import Reason
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import NOW, create, ended, ids, log_row, must, outside, own_all, run_row

ERROR = ErrorInfo(
    "task.failed", "no \0 money €", type="CardError", args=[1, "two"], attrs={"retry": False}, cause=ErrorInfo("x", "y")
)


async def test_a_run_reads_back_as_it_was_created(backend: Backend):
    row = run_row(
        "acme/order-7",
        namespace="acme",
        version="3",
        status="failed",
        awake=False,
        parent=RunId("acme/parent"),
        parent_token=TaskToken("step:2"),
        depth=4,
        labels={"team": "payments", "größe": "5 €", 'a"quote': "👍"},
        start_hash="abc",
        ended_at=Millis(NOW + 1),
        deadline=Millis(2**52),
        output=values.encode({"n": [1, 2.5, None, "ü"]}),
        error=ERROR,
        blocked=ERROR,
        recoveries=2,
        full=True,
    )
    async with opened(backend) as store:
        await must(store, outside(row.id, create=row))
        assert await store.run(row.id) == row


async def test_an_unknown_run_is_none(backend: Backend):
    async with opened(backend) as store:
        assert await store.run(RunId("nobody")) is None


async def test_an_id_is_given_once(backend: Backend):
    async with opened(backend) as store:
        await create(store, "order")
        again = outside("order", create=run_row("order", definition="other"))
        assert await store.commit([again]) == ["exists"]
        assert (await store.run(RunId("order"))) == run_row("order")


async def test_of_two_creations_in_one_group_the_first_counts(backend: Backend):
    async with opened(backend) as store:
        first = outside("order", create=run_row("order"))
        second = outside("order", create=run_row("order", definition="other"))
        assert await store.commit([first, second]) == ["ok", "exists"]
        assert (await store.run(RunId("order"))) == run_row("order")


async def test_a_patch_writes_all_its_parts(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "order")
        patch = RunPatch(
            status="failed",
            awake=False,
            ended_at=NOW,
            output=values.encode(1),
            error=ERROR,
            blocked=ERROR,
            recoveries=3,
            full=True,
        )
        await must(store, owner.write("order", patch=patch))
        expected = run_row(
            "order",
            status="failed",
            awake=False,
            ended_at=NOW,
            output=values.encode(1),
            error=ERROR,
            blocked=ERROR,
            recoveries=3,
            full=True,
        )
        assert await store.run(RunId("order")) == expected
        await must(store, owner.write("order", patch=RunPatch(status="running", awake=True)))
        assert await store.run(RunId("order")) == run_row("order")


async def test_a_run_may_be_created_and_ended_by_one_write(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("order", create=run_row("order"), log=log_row(1, 3), patch=ended()))
        row = await store.run(RunId("order"))
        assert row is not None
        assert (row.status, row.awake, row.output) == ("completed", False, values.encode("shipped"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (RunFilter(), ["d", "c", "b", "a"]),
        (RunFilter(namespace="acme"), ["b"]),
        (RunFilter(status="completed"), ["c"]),
        (RunFilter(dialect="graph"), ["d", "b"]),
        (RunFilter(definition="refund"), ["d", "a"]),
        (RunFilter(parent=RunId("a")), ["c"]),
        (RunFilter(status=["completed", "blocked"]), ["d", "c"]),
        (RunFilter(status="running"), ["d", "b", "a"]),
        (RunFilter(status=[]), []),
        (RunFilter(labels={"team": "red"}), ["b", "a"]),
        (RunFilter(labels={"team": "red", "size": "1"}), ["a"]),
        (RunFilter(labels={"team": "green"}), []),
        (RunFilter(labels={"tea": "red"}), []),
        (RunFilter(labels={'odd."key': "1"}), ["d"]),
        (RunFilter(text="REFUND"), ["d", "a"]),
        (RunFilter(text="red"), ["b", "a"]),
        (RunFilter(text="%"), []),
        (RunFilter(since=Millis(NOW + 2)), ["d", "c"]),
        (RunFilter(until=Millis(NOW + 2)), ["b", "a"]),
        (RunFilter(id_prefix="a"), ["a"]),
        (RunFilter(id_prefix="A"), []),
        (RunFilter(id_prefix="%"), []),
        (RunFilter(status="blocked"), ["d"]),
        (RunFilter(limit=2), ["d", "c"]),
        (RunFilter(dialect="graph", definition="refund", status="blocked", id_prefix="d"), ["d"]),
        (RunFilter(dialect="graph", definition="refund", labels={"team": "red"}), []),
        (RunFilter(definition="refund", after=(Millis(NOW + 3), RunId("d"))), ["a"]),
    ],
    ids=repr,
)
async def test_a_list_holds_what_its_filter_asks_for_newest_first(backend: Backend, query: RunFilter, found: list[str]):
    rows = [
        run_row("a", definition="refund", labels={"team": "red", "size": "1"}),
        run_row("b", namespace="acme", dialect="graph", labels={"team": "red"}),
        run_row("c", status="completed", parent=RunId("a")),
        run_row("d", dialect="graph", definition="refund", blocked=ERROR, labels={'odd."key': "1"}),
    ]
    async with opened(backend) as store:
        for age, row in enumerate(rows):
            row.created_at = Millis(NOW + age)
        await must(store, *(outside(row.id, create=row) for row in rows))
        assert ids(await store.runs(query)) == found


async def test_pages_of_runs_made_in_the_same_moment_leave_none_out(backend: Backend):
    names = [f"run-{number:02}" for number in range(7)] + ["Run", "_run", "é", "😀"]
    async with opened(backend) as store:
        await create(store, *names)
        seen: list[str] = []
        after: tuple[Millis, RunId] | None = None
        while page := await store.runs(RunFilter(after=after, limit=3)):
            seen += ids(page)
            after = (page[-1].created_at, page[-1].id)
        assert seen == sorted(names, reverse=True)


async def test_an_id_may_hold_any_character_that_ids_may(backend: Backend):
    names = ["o'brien; drop table runs", "100%_\\", "{a,b}", '"', "ключ", "👩‍👩‍👧", "x" * 200]
    async with opened(backend) as store:
        await create(store, *names)
        for name in names:
            row = await store.run(RunId(name))
            assert row is not None
            assert row.id == name
            assert ids(await store.runs(RunFilter(id_prefix=name))) == [name]


async def test_recovering_gives_the_awake_runs_and_counts_one_recovery_more(backend: Backend):
    async with opened(backend) as store:
        await own_all(store)
        await create(store, "awake")
        await create(store, "parked", awake=False)
        await create(store, "over", status="completed")
        shards = [run_row(name).shard for name in ("awake", "parked", "over")]
        assert await store.recovering(shards) == [run_row("awake", recoveries=1)]
        assert await store.recovering(shards) == [run_row("awake", recoveries=2)]
        assert await store.run(RunId("awake")) == run_row("awake", recoveries=2)


async def test_recoveries_are_counted_until_a_run_is_suspect(backend: Backend):
    async with opened(backend) as store:
        await create(store, "run", recoveries=SUSPECT_AFTER - 1)
        for _ in range(2):
            assert await store.recovering([run_row("run").shard]) == [run_row("run", recoveries=SUSPECT_AFTER)]


async def test_a_blocked_run_is_given_to_its_new_owner_without_counting(backend: Backend):
    async with opened(backend) as store:
        blocked = ErrorInfo("code.diverged", "the code changed")
        await create(store, "stuck", blocked=blocked)
        assert await store.recovering([run_row("stuck").shard]) == [run_row("stuck", blocked=blocked, recoveries=0)]


async def test_recovering_leaves_runs_of_other_shards_alone(backend: Backend):
    async with opened(backend) as store:
        await create(store, "one", shard=Shard(1))
        await create(store, "two", shard=Shard(2))
        await create(store, "three", shard=Shard(3))
        assert sorted(ids(await store.recovering([Shard(1), Shard(3)]))) == ["one", "three"]
        assert await store.recovering([]) == []
        two = await store.run(RunId("two"))
        assert two is not None
        assert two.recoveries == 0


async def test_runs_that_nothing_will_move_are_found_by_their_rows(backend: Backend):
    reasons = {
        "joins": Reason("join", "join `merge`"),
        "stuck": Reason("stuck", "waits for nothing"),
        "asks": Reason("approval", "approval `boss`"),
        "sleeps": Reason("sleep", "sleep", until=Millis(NOW + 9)),
    }
    async with opened(backend) as store:
        owner = await own_all(store)
        for number, name in enumerate([*reasons, "silent", "busy"]):
            row = run_row(name, created_at=Millis(NOW + number), awake=name == "busy", waiting=reasons.get(name))
            await must(store, owner.write(name, create=row, log=log_row(1)))
        await must(store, owner.write("stuck", log=replace(log_row(2), at=Millis(NOW + 500))))
        assert await store.stalled(Millis(NOW + 100), None, 10) == ["joins", "silent"]
        assert await store.stalled(Millis(NOW + 1_000), "default", 10) == ["joins", "stuck", "silent"]
        assert await store.stalled(Millis(NOW + 1_000), None, 1) == ["joins"]
        assert await store.stalled(Millis(NOW + 1_000), "acme", 10) == []
