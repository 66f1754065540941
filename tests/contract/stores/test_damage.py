"""Rows that were changed behind a store's back: refused by name, and found by a deep look."""

from pathlib import Path

import apsw
import pytest

from plait.engine.deep_check import DeepCheck
from plait.kernel import values
from plait.kernel.blobs import digest_of
from plait.kernel.errors import Damaged
from plait.kernel.ids import RunId, Seq
from plait.kernel.loader import recorded
from plait.kernel.store import LogRow, RunFilter, Snapshot
from tests.contract.stores.backends import Backend, PostgreSQL, Sqlite, opened
from tests.contract.stores.builders import (
    ALL,
    NOW,
    approval,
    dead_letter,
    ended,
    message,
    must,
    open_approvals,
    outside,
    own_all,
    run_row,
)
from tests.contract.stores.conftest import shared
from tests.stores.looking_in import looking_in

RUN = RunId("run")


def row(seq: int, *types: str) -> LogRow:
    return LogRow(Seq(seq), len(types), NOW, values.plain([{"type": kind} for kind in types]))


@pytest.fixture(params=["sqlite", "postgres"])
def shared_backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Plain ones: what is changed by hand in these tests is JSON. For ciphertext see `tests/codec`."""
    return shared(request, tmp_path)


async def change(backend: Backend, statement: str) -> None:
    """By hand, in the real database."""
    if isinstance(backend, PostgreSQL):
        async with looking_in(backend.url) as db:
            await db.execute(statement.replace(" log", " plait.log").replace("TABLE ", "plait."))
        return
    assert isinstance(backend, Sqlite)
    db = apsw.Connection(str(Path(backend.path)))
    db.execute(statement.replace("TABLE ", ""))
    db.close()


async def fill(backend: Backend) -> None:
    async with opened(backend) as store:
        owner = await own_all(store)
        rows = [row(1, "run.started"), row(2, "a", "b"), row(4, "run.completed")]
        first = owner.write(
            "run",
            create=run_row(),
            copies=rows,
            patch=None,
            approvals=[approval("run")],
            dead_letters=[dead_letter("run")],
        )
        await must(store, first)
        await must(
            store, owner.write("run", patch=ended(), snapshot=Snapshot(Seq(2), NOW, b'{"kernel":{},"machine":1}'))
        )
        await must(store, owner.write("well", create=run_row("well"), log=row(1, "run.started")))


async def found(backend: Backend) -> list[str]:
    async with opened(backend) as store:
        return [str(error) async for error in DeepCheck(store).findings()]


async def test_a_deep_look_finds_nothing_wrong_with_what_is_well(shared_backend: Backend):
    await fill(shared_backend)
    assert await found(shared_backend) == []


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("update log set events = replace(events, '\"a\"', '\"c\"')", "the row of event 2 does not fit its checksum"),
        ("update log set at = at + 1 where seq = 2", "the row of event 2 does not fit its checksum"),
        ("delete from log where seq = 2", "event 2 is missing: what follows is number 4"),
        ("delete from log where seq = 4", "its last events are missing: it ends at 3"),
        ("update log set count = 1, checksum = null where seq = 2", "event 3 is missing: what follows is number 4"),
        ("update log set count = 2, checksum = null where seq = 4", "should hold 2 events, but holds 1"),
        ("update log set events = '[{', checksum = null where seq = 2", "the row of event 2 is not JSON"),
        ("update log set events = '{}', checksum = null where seq = 2", "the row of event 2 holds no events"),
        ("update log set events = '[{},{}]', checksum = null where seq = 2", "has no type"),
        ('update log set blobs = \'{"0.x":"gone"}\', checksum = null where seq = 2', "a large value of event 2"),
        ("update log set blobs = 'x', checksum = null where seq = 2", "a large value of event 2"),
    ],
)
async def test_a_damaged_log_is_found_and_named(shared_backend: Backend, statement: str, why: str):
    await fill(shared_backend)
    await change(shared_backend, statement)
    [finding] = await found(shared_backend)
    assert finding.startswith("the log of run run is damaged: ")
    assert why in finding
    assert "[store.damaged]" in finding
    async with opened(shared_backend) as store:
        assert [event.type for event in await recorded(store, RunId("well"))] == ["run.started"]
        if "last events" not in why:
            with pytest.raises(Damaged, match="run run"):
                await recorded(store, RUN)


async def test_a_snapshot_that_was_cut_is_found(shared_backend: Backend):
    await fill(shared_backend)
    await change(shared_backend, "update TABLE snapshots set body = substr(body, 1, 5)")
    [finding] = await found(shared_backend)
    assert finding.startswith("the snapshot of run run is damaged")


MALFORMED = ["error = '{'", "blocked = '{'", "waiting = '[1]'", "past = '7'"]
UNTYPED = ["labels = '{'", "labels = x'00'", "ended_at = 'abc'", "output = x'00'"]


@pytest.mark.parametrize("damage", MALFORMED)
async def test_a_run_whose_row_is_malformed_is_named(shared_backend: Backend, damage: str):
    await fill(shared_backend)
    await change(shared_backend, "update TABLE runs set status = 'running', awake = true where id = 'run'")
    await change(shared_backend, f"update TABLE runs set {damage} where id = 'run'")
    await must_name_the_row(shared_backend)


@pytest.mark.parametrize("damage", UNTYPED)
async def test_a_column_of_another_type_is_named(tmp_path: Path, damage: str):
    """PostgreSQL keeps none."""
    backend = Sqlite(tmp_path / "plait.db")
    await fill(backend)
    await change(backend, "update runs set status = 'running' where id = 'run'")
    await change(
        backend, f"pragma ignore_check_constraints = on; update runs set awake = true, {damage} where id = 'run'"
    )
    await must_name_the_row(backend)


@pytest.mark.parametrize(
    ("damage", "why"),
    [("created_at = 'abc'", "its column created_at holds str"), ("status = 'odd'", "its status is 'odd'")],
)
async def test_a_run_that_no_list_can_have_is_found(tmp_path: Path, damage: str, why: str):
    backend = Sqlite(tmp_path / "plait.db")
    await fill(backend)
    await change(backend, f"pragma ignore_check_constraints = on; update runs set {damage} where id = 'run'")
    async with opened(backend) as store:
        assert [each.id for each in await store.runs(RunFilter())] == ["well"]
        with pytest.raises(Damaged, match=why):
            await store.run(RUN)
    [line] = await found(backend)
    assert line.startswith("the database is damaged: run run has no status or no time of creation")


async def must_name_the_row(backend: Backend) -> None:
    """It is refused, lists and deep looks say so and go on, and the others can be taken up."""
    async with opened(backend) as store:
        with pytest.raises(Damaged, match="the row of run run is damaged"):
            await store.run(RUN)
        assert await store.runs(RunFilter(labels={"team": "a"})) == []
        listed = {str(each.id): each.blocked for each in await store.runs(RunFilter())}
        assert listed["well"] is None
        assert (blocked := listed["run"]) is not None
        assert (blocked.code, "run run" in blocked.message) == ("store.damaged", True)
        assert [each.id for each in await store.recovering(ALL)] == ["well"]
    [finding] = await found(backend)
    assert finding.startswith("the row of run run is damaged")


async def test_an_output_that_is_not_json_is_found(shared_backend: Backend):
    await fill(shared_backend)
    await change(shared_backend, "update TABLE runs set output = '{' where id = 'run'")
    [finding] = await found(shared_backend)
    assert finding.startswith("the row of run run is damaged")


async def test_a_large_value_that_was_changed_is_found(shared_backend: Backend):
    async with opened(shared_backend) as store:
        owner = await own_all(store)
        kept = digest_of(b'"large"')
        event = LogRow(Seq(1), 1, NOW, values.plain([{"type": "run.started", "x": None}]), f'{{"0.x":"{kept}"}}')
        await must(store, owner.write("run", create=run_row(), log=event, blobs=[(kept, b'"large"')]))
    assert await found(shared_backend) == []
    other = "decode('2222', 'hex')" if isinstance(shared_backend, PostgreSQL) else "x'2222'"
    await change(shared_backend, f"update TABLE blobs set body = {other}")
    [finding] = await found(shared_backend)
    assert finding.startswith("the log of run run is damaged: a large value of event 1 can't be read")


async def test_an_input_that_is_no_text_stops_none_behind_it(tmp_path: Path):
    backend = Sqlite(tmp_path / "plait.db")
    await fill(backend)
    async with opened(backend) as store:
        await must(
            store, outside("run", inbox=[message("run", "first")]), outside("well", inbox=[message("well", "second")])
        )
    await change(backend, "update inbox set body = x'00' where key = 'first'")
    async with opened(backend) as store:
        assert [(each.key, bool(each.body)) for each in await store.inbox(ALL, 10)] == [
            ("first", False),
            ("second", True),
        ]


@pytest.mark.parametrize("column", ["approvers", "escalations", "votes"])
async def test_a_malformed_approval_is_named_and_the_others_are_listed(shared_backend: Backend, column: str):
    await fill(shared_backend)
    async with opened(shared_backend) as store:
        await must(store, outside("well", approvals=[approval("well")]))
    await change(shared_backend, f"update TABLE approvals set {column} = '[' where run_id = 'run'")
    async with opened(shared_backend) as store:
        damaged, well = sorted(await open_approvals(store), key=lambda each: each.id)
        assert (damaged.id, damaged.status, damaged.approvers) == ("run:approve", "open", ())
        assert damaged.title.startswith("the row of approval run:approve is damaged")
        assert well == approval("well")
        with pytest.raises(Damaged, match="the row of approval run:approve is damaged"):
            await store.approval("run:approve")


async def test_a_malformed_dead_letter_is_named_and_the_others_are_listed(shared_backend: Backend):
    await fill(shared_backend)
    async with opened(shared_backend) as store:
        await must(store, outside("well", dead_letters=[dead_letter("well")]))
    await change(shared_backend, "update TABLE dead_letters set error = '{' where run_id = 'run'")
    async with opened(shared_backend) as store:
        damaged, well = sorted(await store.dead_letters(None), key=lambda each: each.id)
        assert (damaged.id, damaged.error.code, damaged.status) == ("run:charge", "store.damaged", "pending")
        assert "the row of dead letter run:charge is damaged" in damaged.error.message
        assert well == dead_letter("well")
        with pytest.raises(Damaged, match="the row of dead letter run:charge is damaged"):
            await store.dead_letter("run:charge")


async def test_logs_of_no_run_are_found(shared_backend: Backend):
    await fill(shared_backend)
    await change(shared_backend, "insert into log (run, seq, count, at, events) values (999, 1, 1, 1, '[]')")
    [finding] = await found(shared_backend)
    assert finding.startswith("the database is damaged: 1 row of logs without a run")
