"""One damaged row hides no other: approvals, dead letters, inputs, timers, tasks, lines and records."""

from pathlib import Path
from typing import Any

import pytest

from plait.engine.deep_check import DeepCheck
from plait.kernel.errors import Damaged
from plait.kernel.ids import Millis, RunId
from plait.kernel.record import Record, read_body
from plait.kernel.records import RecordChange
from plait.kernel.store import Line, RunFilter
from plait.kernel.values import encode
from tests.contract.stores.backends import Backend, Sqlite, opened
from tests.contract.stores.builders import (
    ALL,
    NOW,
    approval,
    claim_request,
    dead_letter,
    message,
    must,
    open_approvals,
    outside,
    own_all,
    queued_task,
    run_row,
    timer,
)
from tests.contract.stores.conftest import shared
from tests.contract.stores.test_damage import change, row

TEXT = "cast(x'ff41' as text)"
"""What no UTF-8 text has in it."""
BAD, WELL = RunId("bad"), RunId("well")


@pytest.fixture(params=["sqlite", "postgres"])
def shared_backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    return shared(request, tmp_path)


@pytest.fixture
def sqlite(tmp_path: Path) -> Backend:
    """Which keeps anything in any column; PostgreSQL keeps what fits its type."""
    return Sqlite(tmp_path / "plait.db")


async def fill(backend: Backend) -> None:
    """Two runs with one of everything; "bad" comes first, everywhere."""
    async with opened(backend) as store:
        owner = await own_all(store)
        for name in ("bad", "well"):
            await must(
                store,
                owner.write(
                    name,
                    create=run_row(name),
                    log=row(1, "run.started"),
                    approvals=[approval(name, evidence=encode({"cups": 2}))],
                    dead_letters=[dead_letter(name)],
                    timers=[timer(name)],
                    queued=[queued_task(name)],
                    lines=[Line(RunId("bad"), "n", 1, NOW, "info", f"a line of {name}")],
                ),
            )
            await must(store, outside(name, inbox=[message(name, name)]))
            kept = Record("shop", "", name, encode({"n": 1}), NOW)
            await must(store, outside(f"~{name}", records=[RecordChange(kept)]))


async def found(backend: Backend) -> list[str]:
    async with opened(backend) as store:
        return [str(error) async for error in DeepCheck(store).findings()]


async def seen(backend: Backend) -> dict[str, Any]:
    """What others still get of each kind."""
    async with opened(backend) as store:
        return {
            "runs": [each.id for each in await store.runs(RunFilter()) if each.blocked is None],
            "awake": [each.id for each in await store.recovering(ALL)],
            "approvals": [each.id for each in await open_approvals(store) if each.title == "May we?"],
            "letters": [each.id for each in await store.dead_letters("default") if each.error.code != "store.damaged"],
            "timers": [each.run_id for each in await store.due(ALL, Millis(NOW * 2), 10)],
            "inputs": [each.run_id for each in await store.inbox(ALL, 10) if each.body],
            "tasks": [each.task.run_id for each in await store.queues.claim(claim_request())],
            "records": [each.id for each in await store.records("shop", None, None, 10) if bytes(each.body)],
            "lines": [each.text for each in await store.lines(BAD, None, 0, 10)],
        }


async def test_nothing_is_found_where_all_is_well(shared_backend: Backend):
    await fill(shared_backend)
    assert await found(shared_backend) == []
    both = {kind: sorted(names) for kind, names in (await seen(shared_backend)).items()}
    assert {kind: names for kind, names in both.items() if len(names) != 2} == {}


UNTYPED = [
    *(("approvals", f"approvals set {column} = x'ff'") for column in ("run_id", "token", "title", "asked", "form")),
    *(("approvals", f"approvals set {column} = {TEXT}") for column in ("title", "evidence", "votes")),
    *(("approvals", f"approvals set {column} = 'abc'") for column in ("required", "level", "deadline")),
    *(("letters", f"dead_letters set {column} = x'ff'") for column in ("run_id", "token", "label", "error")),
    ("letters", f"dead_letters set label = {TEXT}"),
    ("letters", "dead_letters set attempts = 'abc'"),
    ("timers", "timers set due = 'abc'"),
    ("timers", f"timers set token = {TEXT}"),
    ("timers", "timers set shard = 'abc'"),
    ("inputs", f"inbox set body = {TEXT}"),
    ("inputs", "inbox set shard = 'abc'"),
    ("inputs", f"inbox set key = {TEXT}"),
    ("tasks", f"queued_tasks set label = {TEXT}"),
    ("tasks", "queued_tasks set input = x'ff'"),
    ("tasks", "queued_tasks set attempt = 'abc'"),
    ("records", f"records set body = {TEXT}"),
]


@pytest.mark.parametrize(("kind", "damage"), UNTYPED)
async def test_a_column_of_another_type_hides_its_row_only(sqlite: Backend, kind: str, damage: str):
    await fill(sqlite)
    column = "id" if kind == "records" else "run_id"
    await change(sqlite, f"update {damage} where {column} = 'bad'")
    assert any("is damaged" in finding for finding in await found(sqlite))
    shown = await seen(sqlite)
    assert len(shown.pop(kind)) == 1
    assert {each: len(names) for each, names in shown.items() if len(names) != 2} == {}


MALFORMED = [
    ("approvals", "approvals set evidence = '{'"),
    ("approvals", "approvals set form = '{\"a\":'"),
    ("approvals", "approvals set delegations = '{'"),
    ("letters", "dead_letters set error = '[]'"),
    ("tasks", "queued_tasks set terms = '{'"),
    ("tasks", "queued_tasks set input = '{'"),
]


@pytest.mark.parametrize(("kind", "damage"), MALFORMED)
async def test_malformed_json_hides_its_row_only(shared_backend: Backend, kind: str, damage: str):
    await fill(shared_backend)
    await change(shared_backend, f"update TABLE {damage} where run_id = 'bad'")
    [finding] = await found(shared_backend)
    assert "is damaged" in finding
    assert "bad" in finding
    shown = await seen(shared_backend)
    assert len(shown.pop(kind)) == 1
    assert {each: len(names) for each, names in shown.items() if len(names) != 2} == {}


@pytest.mark.parametrize("column", ["definition", "labels", "error", "waiting"])
async def test_a_run_with_text_that_is_none_hides_no_other(sqlite: Backend, column: str):
    await fill(sqlite)
    await change(sqlite, f"update runs set {column} = {TEXT} where id = 'bad'")
    shown = await seen(sqlite)
    assert (shown["runs"], shown["awake"]) == (["well"], ["well"])
    [finding] = await found(sqlite)
    assert finding.startswith("the row of run bad is damaged")


async def test_a_line_that_is_none_says_so_in_its_place(sqlite: Backend):
    await fill(sqlite)
    await change(sqlite, f"update lines set text = {TEXT} where text = 'a line of bad'")
    damaged, well = (await seen(sqlite))["lines"]
    assert damaged.startswith("the row of line 1 of run bad is damaged")
    assert well == "a line of well"


async def test_an_output_that_is_not_json_is_refused_when_its_run_is_read(shared_backend: Backend):
    await fill(shared_backend)
    await change(shared_backend, "update TABLE runs set output = '{' where id = 'bad'")
    async with opened(shared_backend) as store:
        with pytest.raises(Damaged, match="the row of run bad is damaged"):
            await store.run(BAD)
        assert await store.run(WELL) is not None


async def test_a_malformed_record_is_found_and_refused_by_its_reader(shared_backend: Backend):
    await fill(shared_backend)
    await change(shared_backend, "update TABLE records set body = '{' where id = 'bad'")
    [finding] = await found(shared_backend)
    assert "the row of record shop//bad is damaged" in finding
    async with opened(shared_backend) as store:
        bad, well = await store.records("shop", None, None, 10)
        assert read_body(well, dict[str, int]) == {"n": 1}
        with pytest.raises(Damaged, match="the record shop//bad is damaged"):
            read_body(bad, dict[str, int])


async def test_a_malformed_limit_of_a_queue_is_found(shared_backend: Backend):
    await fill(shared_backend)
    await change(
        shared_backend, "insert into TABLE queues (namespace, name, settings) values ('default', 'mails', '{')"
    )
    [finding] = await found(shared_backend)
    assert "the settings of queue mails" in finding
