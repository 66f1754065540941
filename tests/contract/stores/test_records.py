"""Small documents that belong to no run, and what tasks say."""

from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.ids import Millis, RunId, Seq
from plait.kernel.store import Line, Record, RecordChange, Store
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import NOW, create, log_row, must, outside, own_all


def record(id: str, body: object = None, *, kind: str = "key", namespace: str = "default") -> Record:
    return Record(kind, namespace, id, values.encode(body), NOW)


async def change(store: Store, *changes: RecordChange) -> list[str]:
    return [
        *await store.commit(
            [outside(f"~{c.record.kind}/{c.record.id}/{n}", records=[c]) for n, c in enumerate(changes)]
        )
    ]


async def put(store: Store, *records: Record) -> None:
    assert await change(store, *map(RecordChange, records)) == ["ok"] * len(records)


async def test_a_record_is_found_by_kind_namespace_and_id(backend: Backend):
    async with opened(backend) as store:
        await put(store, record("a", {"x": "é😀"}), record("a", 2, namespace="acme"), record("a", 3, kind="tag"))
        assert await store.record("key", "default", "a") == record("a", {"x": "é😀"})
        assert await store.record("key", "acme", "a") == record("a", 2, namespace="acme")
        assert await store.record("tag", "default", "a") == record("a", 3, kind="tag")
        assert await store.record("tag", "acme", "a") is None


async def test_a_record_put_again_has_its_new_body(backend: Backend):
    async with opened(backend) as store:
        await put(store, record("a", 1), record("b", 1))
        await put(store, replace(record("a", 2), at=Millis(NOW + 1)))
        assert await store.record("key", "default", "a") == replace(record("a", 2), at=Millis(NOW + 1))


async def test_of_two_new_records_with_one_id_the_first_counts_and_neighbours_are_not_harmed(backend: Backend):
    async with opened(backend) as store:
        new = [RecordChange(record("a", n), "new") for n in (1, 2)]
        assert await change(store, new[0], new[1], RecordChange(record("b", 3), "new")) == ["ok", "conflict", "ok"]
        assert await change(store, RecordChange(record("a", 4), "new")) == ["conflict"]
        assert await store.records("key", "default", None, 10) == [record("a", 1), record("b", 3)]


async def test_a_removed_record_is_gone(backend: Backend):
    async with opened(backend) as store:
        await put(store, record("a"), record("b"))
        assert (
            await change(store, RecordChange(record("a"), "remove"), RecordChange(record("c"), "remove")) == ["ok"] * 2
        )
        assert await store.records("key", None, None, 10) == [record("b")]


async def test_a_record_that_has_changed_since_it_was_read_is_not_changed_and_neither_is_what_came_with_it(
    backend: Backend,
):
    first, second = record("a", 1), replace(record("a", 2), at=Millis(NOW + 1))
    async with opened(backend) as store:
        await put(store, first)
        beside = RecordChange(record("b", 1), "new")
        swap = RecordChange(second, expected=NOW)
        assert await store.commit([outside("~w", records=[swap, beside])]) == ["ok"]
        late = RecordChange(replace(record("a", 3), at=Millis(NOW + 2)), expected=NOW)
        another = RecordChange(record("c", 1), "new")
        gone = RecordChange(record("b"), "remove")
        assert await store.commit([outside("~w", records=[another, gone, late]), outside("~x", records=[])]) == [
            "conflict",
            "ok",
        ]
        assert await store.records("key", None, None, 10) == [second, record("b", 1)]


async def test_of_two_changes_of_one_version_in_a_commit_the_first_counts(backend: Backend):
    async with opened(backend) as store:
        await put(store, record("a", 1))
        both = [RecordChange(replace(record("a", n), at=Millis(NOW + n)), expected=NOW) for n in (1, 2)]
        assert await store.commit([outside("~w", records=[each]) for each in both]) == ["ok", "conflict"]
        assert await store.record("key", "default", "a") == both[0].record


async def test_a_record_is_removed_only_as_it_was_read_and_can_not_be_changed_after(backend: Backend):
    async with opened(backend) as store:
        await put(store, record("a", 1))
        assert await change(store, RecordChange(record("a"), "remove", expected=Millis(NOW - 1))) == ["conflict"]
        assert await change(store, RecordChange(record("a"), "remove", expected=NOW)) == ["ok"]
        assert await change(store, RecordChange(record("a", 2), expected=NOW)) == ["conflict"]
        assert await store.record("key", "default", "a") is None


async def test_a_record_that_is_only_checked_stays_as_it_is_and_refuses_what_came_with_it_when_it_is_gone(
    backend: Backend,
):
    async with opened(backend) as store:
        await put(store, record("a", 1))
        check = RecordChange(record("a"), "check", expected=NOW)
        both = [outside(f"~{id}", records=[check, RecordChange(record(id), "new")]) for id in ("b", "c")]
        assert await store.commit(both) == ["ok", "ok"]
        assert await store.record("key", "default", "a") == record("a", 1)
        await change(store, RecordChange(record("a"), "remove"))
        assert await store.commit([outside("~d", records=[check, RecordChange(record("d"), "new")])]) == ["conflict"]
        assert [found.id for found in await store.records("key", None, None, 10)] == ["b", "c"]


async def test_records_are_listed_by_id_in_pages_either_way(backend: Backend):
    names = ["A", "a", "b", "c", "é"]
    async with opened(backend) as store:
        await put(
            store, *(record(name) for name in reversed(names)), record("bb", namespace="acme"), record("x", kind="y")
        )

        async def page(after: str | None, *, newest: bool = False, namespace: str | None = "default") -> list[str]:
            return [found.id for found in await store.records("key", namespace, after, 2, newest=newest)]

        assert [await page(None), await page("a"), await page("c"), await page("é")] == [
            ["A", "a"],
            ["b", "c"],
            ["é"],
            [],
        ]
        assert [await page(None, newest=True), await page("c", newest=True)] == [["é", "c"], ["b", "a"]]
        assert await page("b", namespace=None) == ["bb", "c"]


async def test_what_tasks_say_is_kept_in_order(backend: Backend):
    run = RunId("run")
    said = [Line(run, node, n, Millis(NOW + n), "info", f"line {n} é") for n, node in enumerate(["a", "b", "a", "a"])]
    async with opened(backend) as store:
        await must(
            store, outside("run", lines=said[:3]), outside("other", lines=[replace(said[0], run_id=RunId("other"))])
        )
        await must(store, outside("run", lines=said[3:]))
        found = await store.lines(run, None, 0, 10)
        assert [replace(line, id=0) for line in found] == said
        assert [line.id for line in found] == sorted({line.id for line in found})
        assert [line.attempt for line in await store.lines(run, "a", 0, 2)] == [0, 2]
        assert [line.attempt for line in await store.lines(run, "a", found[0].id, 2)] == [2, 3]


async def test_the_heads_of_runs_are_their_last_events(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "a", "b", "silent")
        await must(store, owner.write("a", log=log_row(1, 3)), owner.write("b", log=log_row(1)))
        await must(store, owner.write("a", log=log_row(4, 2)))
        assert await store.heads([RunId("a"), RunId("b"), RunId("silent"), RunId("none")]) == {"a": Seq(5), "b": Seq(1)}
        assert await store.heads([]) == {}


async def test_a_log_is_read_in_pages(backend: Backend):
    rows = [log_row(1, 2), log_row(3), log_row(4)]
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, *(owner.write("run", log=row) for row in rows))
        assert await store.log(RunId("run"), limit=2) == rows[:2]
        assert await store.log(RunId("run"), Seq(1), limit=2) == rows[:2]
        assert await store.log(RunId("run"), Seq(3), limit=2) == rows[2:]


async def test_several_records_are_read_by_name(backend: Backend):
    async with opened(backend) as store:
        one, other = record("1", namespace="a"), record("2", namespace="b")
        await put(store, one, other, record("1", namespace="b"), record("1", namespace="a", kind="tag"))
        found = await store.records_named("key", [("a", "1"), ("b", "2"), ("b", "3")])
        assert sorted(found, key=lambda each: each.id) == [one, other]
