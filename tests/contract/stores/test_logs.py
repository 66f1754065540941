"""Logs, snapshots and blobs: one order of events a run, and big and strange values come back as they went."""

import pytest

from plait.kernel import values
from plait.kernel.errors import NotFound
from plait.kernel.ids import RunId, Seq
from plait.kernel.store import LogRow, Snapshot
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import NOW, create, log_row, must, outside, own_all, run_row

RUN = RunId("run")


async def test_a_log_reads_back_in_order(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run", "other")
        rows = [log_row(1), log_row(2, 3), log_row(5)]
        for row in rows:
            await must(store, owner.write("run", log=row))
        await must(store, owner.write("other", log=log_row(1)))
        assert await store.log(RUN) == rows


async def test_the_log_of_an_unknown_run_is_empty(backend: Backend):
    async with opened(backend) as store:
        assert await store.log(RUN) == []


@pytest.mark.parametrize(
    ("after", "upto", "found"),
    [
        (0, None, [1, 2, 5]),
        (1, None, [2, 5]),
        (2, None, [2, 5]),  # inside a row of three
        (3, None, [2, 5]),
        (4, None, [5]),
        (5, None, []),
        (9, None, []),
        (0, 1, [1]),
        (0, 2, [1, 2]),  # inside it again
        (0, 3, [1, 2]),
        (0, 4, [1, 2]),
        (0, 5, [1, 2, 5]),
        (0, 0, []),
        (2, 3, [2]),
        (1, 4, [2]),
        (4, 4, []),
    ],
)
async def test_a_part_of_a_log_has_every_row_that_holds_an_event_of_it(
    backend: Backend, after: int, upto: int | None, found: list[int]
):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run")
        for row in (log_row(1), log_row(2, 3), log_row(5)):
            await must(store, owner.write("run", log=row))
        part = await store.log(RUN, Seq(after), None if upto is None else Seq(upto))
        assert [row.seq for row in part] == found


async def test_a_place_in_a_log_is_given_once_and_neighbours_are_not_harmed(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "before", "run", "after")
        await must(store, owner.write("run", log=log_row(1)))
        group = [
            owner.write("before", log=log_row(1)),
            owner.write("run", log=log_row(1, note="too late")),
            owner.write("after", log=log_row(1)),
        ]
        assert await store.commit(group) == ["ok", "conflict", "ok"]
        assert await store.log(RUN) == [log_row(1)]
        assert await store.log(RunId("before")) == await store.log(RunId("after")) == [log_row(1)]


async def test_of_two_writes_for_one_place_in_one_group_the_first_counts(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run")
        group = [owner.write("run", log=log_row(1)), owner.write("run", log=log_row(1, note="too late"))]
        assert await store.commit(group) == ["ok", "conflict"]
        assert await store.log(RUN) == [log_row(1)]


async def test_a_run_may_write_twice_in_one_group(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        group = [owner.write("run", create=run_row(), log=log_row(1)), owner.write("run", log=log_row(2))]
        assert await store.commit(group) == ["ok", "ok"]
        assert await store.log(RUN) == [log_row(1), log_row(2)]


async def test_a_fork_brings_the_log_rows_of_another_run_along(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        copies = [log_row(1), log_row(2, 2)]
        await must(store, owner.write("fork", create=run_row("fork"), copies=copies, log=log_row(4)))
        assert await store.log(RunId("fork")) == [*copies, log_row(4)]


async def test_a_log_row_names_its_blobs(backend: Backend):
    row = LogRow(Seq(1), 1, NOW, b'[{"kind":"k","v":null}]', '{"0.v":"cas://sha256:00"}')
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", log=row))
        assert await store.log(RUN) == [row]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "naïve café",
        "日本語 العربية",
        "👩‍👩‍👧 🏳️‍🌈 \U0010ffff",
        "line\nbreak\ttab \x7f \x85 \u2028",
        "a \\ and a ' and a \" and a NUL \\u0000",
        "\ufeff\ufffe",
        "🐘" * 25_000,
    ],
    ids=["empty", "latin", "scripts", "emoji", "controls", "quotes", "marks", "100,000 bytes"],
)
async def test_text_comes_back_as_it_went(backend: Backend, text: str):
    run_id = RunId("ключ-👍")
    async with opened(backend) as store:
        owner = await own_all(store)
        row = run_row(run_id, output=values.encode(text), labels={"text": text})
        body = values.plain({"text": text})
        log = LogRow(Seq(1), 1, NOW, values.plain([{"text": text}]))
        snapshot = Snapshot(Seq(1), NOW, body)
        write = owner.write(run_id, create=row, log=log, snapshot=snapshot, blobs=[("cas://text", body)])
        await must(store, write)
        assert await store.run(run_id) == row
        assert await store.log(run_id) == [log]
        assert await store.snapshot(run_id) == snapshot
        assert await store.blob("cas://text") == body


async def test_a_snapshot_takes_the_place_of_the_last_one(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run")
        assert await store.snapshot(RUN) is None
        for seq in (1, 2):
            await must(store, owner.write("run", log=log_row(seq), snapshot=Snapshot(Seq(seq), NOW, b'{"n":%d}' % seq)))
        assert await store.snapshot(RUN) == Snapshot(Seq(2), NOW, b'{"n":2}')


async def test_a_blob_is_kept_once_and_is_any_bytes(backend: Backend):
    body = bytes(range(256)) * 400
    async with opened(backend) as store:
        owner = await own_all(store)
        group = [
            owner.write("a", blobs=[("cas://1", body), ("cas://1", body)]),
            owner.write("b", blobs=[("cas://1", body), ("cas://2", b"")]),
        ]
        await must(store, *group)
        await must(store, owner.write("c", blobs=[("cas://1", body)]))
        assert await store.blob("cas://1") == body
        assert await store.blob("cas://2") == b""


async def test_a_blob_that_is_not_there_is_said_to_be_missing(backend: Backend):
    async with opened(backend) as store:
        with pytest.raises(NotFound, match="cas://nowhere") as caught:
            await store.blob("cas://nowhere")
        assert caught.value.code == "store.no_blob"


async def test_what_was_committed_is_there_for_the_next_who_opens(backend: Backend):
    async with opened(backend) as store:
        await create(store, "run")
        await must(store, outside("run", inbox=[]))
    async with opened(backend) as store:
        assert await store.run(RUN) == run_row()
