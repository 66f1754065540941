"""Lists of runs: whatever is asked, a store answers as someone would who looks at each run."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Ids, Millis, RunId
from plait.kernel.run_matching import matches
from plait.kernel.store import RunFilter, RunPatch, RunRow, ShownStatus, Store
from plait.kernel.view import Reason
from tests.contract.stores.backends import Backend, Memory, opened
from tests.contract.stores.builders import (
    NOW,
    child,
    claim_request,
    create,
    enqueue,
    ids,
    must,
    outside,
    own_all,
    queued_task,
    run_row,
)
from tests.contract.stores.conftest import shared
from tests.support.effort import examples

SPACES = ["default", "acme", "acme-2"]
DIALECTS = ["code", "goals"]
DEFINITIONS = ["order", "Refund_Large", "straße", "or"]
STATUSES = ["running", "completed", "failed", "cancelled"]
LABELS = {"team": ["red", "blue", "Grün"], "env": ["prod"], 'a"b': ["x' or 1=1 --", "%_\\"]}
ERRORS = [
    None,
    ErrorInfo("task.failed", "The card was DECLINED", type="CardError", cause=ErrorInfo("net.reset", "Verbindung weg")),
    ErrorInfo("code.diverged", 'said "no" AND (left) NEAR *'),
]
TEXTS = [
    *("order", "RED", "ed", "o", "prod", "declined", "carderror", "verbindung", "STRASSE", "grün", "a\0b", "\0"),
    *('"', '""', "AND", '" AND "', "(left) NEAR *", "text:red", "rowid:1", "x' or 1=1 --", "%", "_\\", "red*", "^red"),
    *(
        "run-1",
        "RUN-1",
        "RUN",
        "n-1",
        "0",
        "01",
        "👍",
        "👩‍👩‍👧",
        "\ud800",
        "z" * 5_000,
        "no\nsuch",
        "d\nr",
        "refund_large",
    ),
]


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Plain ones: of an encrypted store no text search finds an error's message; see `tests/codec`."""
    return Memory() if request.param == "memory" else shared(request, tmp_path)


def made_up(number: int, chance: random.Random) -> RunRow:
    space = chance.choice(SPACES)
    generated = chance.random() < 0.3
    name = Ids(number).run_id(NOW) if generated else str(number)
    if not generated or number % 4 == 0:
        name = ("run-", "Run-", "👍-")[number % 3] + name
    labels = {key: chance.choice(values) for key, values in LABELS.items() if chance.random() < 0.4}
    status = chance.choice(STATUSES)
    return run_row(
        name if space == "default" else f"{space}/{name}",
        namespace=space,
        dialect=chance.choice(DIALECTS),
        definition=chance.choice(DEFINITIONS),
        status=status,
        labels=labels,
        parent=RunId("run-3") if chance.random() < 0.1 else None,
        error=chance.choice(ERRORS) if status == "failed" else None,
        blocked=chance.choice(ERRORS) if status == "running" else None,
        awake=chance.random() < 0.5,
        created_at=Millis(NOW + chance.randrange(20)),
    )


def asked(chance: random.Random, rows: Sequence[RunRow]) -> RunFilter:
    def sometimes(share: float, value: object) -> object:
        return value if chance.random() < share else None

    known = chance.choice(rows)
    parts = {
        "namespace": sometimes(0.7, chance.choice(SPACES)),
        "status": sometimes(0.4, chance.sample([*STATUSES, "blocked", "waiting", "working"], chance.randrange(3))),
        "dialect": sometimes(0.2, chance.choice([*DIALECTS, "afl"])),
        "definition": sometimes(0.2, chance.choice([*DEFINITIONS, "none"])),
        "parent": sometimes(0.1, RunId("run-3")),
        "labels": sometimes(0.2, {key: chance.choice(LABELS[key]) for key in chance.sample([*LABELS], 1)}),
        "id_prefix": sometimes(0.1, known.id[: chance.randrange(1, 8)]),
        "text": sometimes(
            0.5, chance.choice([*TEXTS, known.id[:3], known.id[1:5], known.id, known.id[: chance.randrange(4, 30)]])
        ),
        "since": sometimes(0.2, NOW + chance.randrange(20)),
        "until": sometimes(0.2, NOW + chance.randrange(20)),
        "after": sometimes(0.2, (known.created_at, known.id)),
    }
    return RunFilter(**parts, limit=chance.choice([1, 3, 100]))  # type: ignore[arg-type]


def expected(query: RunFilter, rows: Sequence[RunRow]) -> list[str]:
    failed = {row.id for row in rows if row.status == "failed"}
    if query.status is not None and query.parent is None:
        rows = [row for row in rows if row.status != "failed" or row.parent not in failed]
    found = sorted((row for row in rows if matches(query, row)), key=lambda row: (row.created_at, row.id))
    return ids([*reversed(found)][: query.limit])


@pytest.mark.parametrize("few", [0, 2_000], ids=["when many fit", "when few fit"])
async def test_a_list_is_what_a_look_at_every_run_would_find(
    backend: Backend, few: int, monkeypatch: pytest.MonkeyPatch
):
    """With `few` at nothing, every index counts as large: the ways that only a large database takes are taken."""
    monkeypatch.setattr("plait.stores.run_lists.FEW", few)
    monkeypatch.setattr("plait.stores.run_lists._SOME", few)
    monkeypatch.setattr("plait.stores.run_lists._FIRST_LOOK", few or 2)
    monkeypatch.setattr("plait.stores.run_lists._FARTHEST_LOOK", few or 100)
    chance = random.Random(few)
    rows = [made_up(number, chance) for number in range(250)]
    async with opened(backend) as store:
        await must(store, *(outside(row.id, create=row) for row in rows))
        for _ in range(300):
            query = asked(chance, rows)
            assert ids(await store.runs(query)) == expected(query, rows), query


async def pages(store: Store, query: RunFilter) -> list[str]:
    found: list[str] = []
    while page := await store.runs(query):
        found += ids(page)
        query = replace(query, after=(page[-1].created_at, page[-1].id))
    return found


@pytest.mark.parametrize("query", [{"text": "run"}, {"status": ["running", "failed"]}, {"labels": {"env": "prod"}}, {}])
async def test_pages_leave_none_out_and_repeat_none(
    backend: Backend, query: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("plait.stores.run_lists.FEW", 0)
    monkeypatch.setattr("plait.stores.run_lists._FIRST_LOOK", 5)
    chance = random.Random(1)
    rows = [replace(made_up(number, chance), namespace="default") for number in range(120)]
    asked = RunFilter(namespace="default", limit=7, **query)  # type: ignore[arg-type]
    async with opened(backend) as store:
        await must(store, *(outside(row.id, create=row) for row in rows))
        assert await pages(store, asked) == expected(replace(asked, limit=1000), rows)


async def test_an_error_is_found_while_a_run_has_it(backend: Backend):
    declined = ErrorInfo("task.failed", "the card was declined")
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "order-1")

        async def patched(text: str, **changes: object) -> list[str]:
            patch = RunPatch(**{"status": "running", "awake": True, **changes})  # type: ignore[arg-type]
            await must(store, owner.write("order-1", patch=patch))
            return ids(await store.runs(RunFilter(namespace="default", text=text)))

        assert await patched("DECLINED", status="failed", error=declined) == ["order-1"]
        assert await patched("declined", status="failed", error=declined) == ["order-1"]
        assert await patched("declined") == []
        assert await patched("diverged", blocked=ErrorInfo("code.diverged", "the code changed")) == ["order-1"]
        assert await patched("declined", blocked=ErrorInfo("code.diverged", "the code changed")) == []


async def test_a_run_whose_task_a_worker_has_is_at_work_and_does_not_wait(backend: Backend):
    parked = RunPatch(status="running", awake=False, waiting=Reason("task", "no worker on queue gpu"))
    async with opened(backend) as store:
        owner = await own_all(store)
        for name in ("a", "b", "c"):
            await create(store, name)
            await must(store, owner.write(name, patch=parked))
        await enqueue(store, owner, queued_task("b", "one"), queued_task("b", "two"))

        async def listed(*statuses: ShownStatus) -> list[str]:
            return ids(await store.runs(RunFilter(namespace="default", status=list(statuses))))  # type: ignore[arg-type]

        assert await listed("waiting") == ["c", "b", "a"]
        assert await listed("working") == []
        await store.queues.claim(claim_request())
        assert await listed("waiting") == ["c", "a"]
        assert await listed("working") == ["b"]
        assert await listed("working", "waiting") == await listed("running") == ["c", "b", "a"]


async def test_texts_are_found_that_came_since_the_index_was_written(backend: Backend, monkeypatch: pytest.MonkeyPatch):
    """Before, at and after the run that has many texts indexed at once."""
    monkeypatch.setattr("plait.stores.sqlite.run_texts.BATCH", 4)
    monkeypatch.setattr("plait.stores.postgres.run_texts.BATCH", 4)
    async with opened(backend) as store:
        owner = await own_all(store)
        names = [f"order-{number}" for number in range(10)]
        for name in names:
            await create(store, name)
            failed = RunPatch(status="failed", awake=False, error=ErrorInfo("task.failed", f"{name} was declined"))
            await must(store, owner.write(name, patch=failed))
            assert ids(await store.runs(RunFilter(text=f"{name} was"))) == [name]
        assert sorted(ids(await store.runs(RunFilter(text="declined")))) == names
        made = [child(f"part-{number}", parent="order-1") for number in range(9)]
        await must(store, owner.write("order-1", children=made))
        assert len(await store.runs(RunFilter(text="part"))) == len(made)


async def test_two_processes_index_each_others_texts(shared_backend: Backend):
    async with opened(shared_backend) as one, opened(shared_backend) as other:
        await create(one, "order-1")
        await create(other, "order-2")
        for store in (one, other):
            assert ids(await store.runs(RunFilter(text="order"))) == ["order-2", "order-1"]


async def test_children_are_found_as_other_runs_are(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "parent")
        made = child("parent.ship", parent="parent")
        made.row.labels = {"carrier": "Sloth Express"}
        await must(store, owner.write("parent", children=[made, made]))
        for query in (
            RunFilter(text="sloth"),
            RunFilter(labels={"carrier": "Sloth Express"}),
            RunFilter(text="t.ship"),
        ):
            assert ids(await store.runs(query)) == ["parent.ship"]


async def test_another_namespaces_runs_are_found_by_nobody_else(backend: Backend):
    async with opened(backend) as store:
        theirs = run_row("acme/secret", namespace="acme", definition="secret", labels={"secret": "secret"})
        await must(store, outside(theirs.id, create=theirs))
        for text in ("secret", "acme", "s", "acme/secret"):
            assert await store.runs(RunFilter(namespace="default", text=text)) == []
        assert await store.runs(RunFilter(namespace="default", labels={"secret": "secret"})) == []
        assert ids(await store.runs(RunFilter(namespace="acme", text="secret"))) == ["acme/secret"]
        assert await store.namespaces() == ["acme"]


async def test_very_long_texts_are_kept_and_found_by_their_beginnings(backend: Backend):
    labels = {f"key {number}": "ä" * 1_000 for number in range(64)}
    error = ErrorInfo("task.failed", "declined " + "\u0130 very long " * 100_000)
    row = run_row("big", labels=labels, status="failed", error=error)
    async with opened(backend) as store:
        await must(store, outside(row.id, create=row))
        for text in ("key 0", "ä" * 900, "declined", "VERY LONG"):
            assert ids(await store.runs(RunFilter(text=text))) == ["big"], text


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    name=st.text(min_size=1, max_size=40).filter(lambda text: "/" not in text and text.isprintable()), data=st.data()
)
async def test_any_part_of_an_id_finds_it(backend: Backend, name: str, data: st.DataObject):
    start = data.draw(st.integers(0, max(0, len(name) - 3)))
    row = run_row(name)
    async with opened(backend) as store:
        if await store.run(row.id) is None:
            await must(store, outside(row.id, create=row))
        text = name[start : start + 6]
        assert (name in ids(await store.runs(RunFilter(text=text, limit=1000)))) == matches(RunFilter(text=text), row)
