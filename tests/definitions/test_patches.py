"""Versions by patch: new ones from old ones, undone and done again, compacted, from several processes at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.definitions import json_patch
from plait.definitions.definitions import Definitions
from plait.definitions.documents import KIND
from plait.definitions.json_diff import diff
from plait.definitions.json_patch import BadPatch
from plait.definitions.saving import COMPACTED_AT
from plait.kernel.errors import InvalidInput, NotFound, PlaitError, Stale
from plait.kernel.records import Record, Records
from tests.contract.stores.backends import Backend, Memory, PostgreSQL, Sqlite
from tests.definitions.shelf import Describing, Place, code
from tests.kernel.filing import records_of
from tests.support.effort import examples

ONE: dict[str, Any] = {"nodes": [{"id": "a", "n": 0}, {"id": "b", "n": 0}]}


def counting(number: int) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": "/nodes/a/n", "value": number}]


@dataclass
class Graphs(Place):
    """A database whose graphs are numbered as graphs are."""

    def process(self, *loaded: Any, records: Records | None = None) -> Definitions:
        bundles: Any = {"code": Describing("code", loaded), "graph": Describing("graph", numbering="minor")}
        return Definitions(bundles, records or self.records, self.clock)


@asynccontextmanager
async def graphs(backend: Backend | None = None) -> AsyncIterator[Graphs]:
    async with records_of(backend or Memory()) as records:
        yield Graphs(records)


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    if request.param == "sqlite":
        return Sqlite(tmp_path / "plait.db")
    return PostgreSQL(request.getfixturevalue("postgres_url"))


async def body(definitions: Definitions, reference: str = "orders") -> Any:
    found = await definitions.find(reference)
    assert found is not None
    return found.body


async def versions(definitions: Definitions) -> list[str]:
    return [each.version for each in reversed((await definitions.get("orders")).versions)]


async def test_the_first_version_is_v1_0_and_a_patch_takes_the_next_minor_or_major_number() -> None:
    async with graphs() as here:
        definitions = here.process()
        first = await definitions.save("graph", "orders", ONE)
        second = await definitions.patch("orders", counting(1), description="One more")
        third = await definitions.patch("orders", counting(2), breaking=True)
        fourth = await definitions.patch("orders", counting(3))
        assert [each.version.version for each in (first, second, third, fourth)] == ["v1.0", "v1.1", "v2.0", "v2.1"]
        assert await definitions.tags("orders") == {"main": "v2.1"}
        found, _ = await here.process().version("orders", "v1.1")
        assert found.body == {"nodes": [{"id": "a", "n": 1}, {"id": "b", "n": 0}]}
        assert found.patch is not None
        assert (found.patch.base, found.patch.description) == ("v1.0", "One more")


async def test_the_plain_name_means_what_main_is_on() -> None:
    async with graphs() as here:
        definitions, other = here.process(), here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.patch("orders", counting(1))
        assert (await other.undo("orders")).version == "v1.0"
        assert await body(definitions) == await body(definitions, "orders@main") == ONE
        assert (await definitions.redo("orders")).tags == {"main": "v1.1"}
        assert (await body(other))["nodes"][0]["n"] == 1


async def test_a_new_move_forgets_what_could_be_redone_and_labels_are_never_used_twice() -> None:
    async with graphs() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.patch("orders", counting(1))
        await definitions.undo("orders")
        assert (await definitions.patch("orders", counting(2))).version.version == "v1.2"
        with pytest.raises(PlaitError) as caught:
            await definitions.redo("orders")
        assert (caught.value.code, caught.value.status) == ("definitions.nothing_to_redo", 409)
        assert (await definitions.undo("orders")).tags == {"main": "v1.0"}
        with pytest.raises(PlaitError) as caught:
            await definitions.undo("orders")
        assert caught.value.code == "definitions.nothing_to_undo"
        assert (await body(definitions, "orders@v1.1"))["nodes"][0]["n"] == 1


async def test_a_tag_that_is_removed_forgets_where_it_was() -> None:
    async with graphs() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.tag("orders", "prod", "v1.0")
        await definitions.untag("orders", "prod")
        with pytest.raises(NotFound) as caught:
            await definitions.undo("orders", "prod")
        assert caught.value.code == "definitions.no_tag"


async def test_a_patch_that_changes_nothing_makes_no_version() -> None:
    async with graphs() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        saved = await definitions.patch("orders", counting(0))
        assert (saved.new, saved.version.version) == (False, "v1.0")


async def test_a_patch_of_a_version_that_is_not_current_is_refused() -> None:
    async with graphs() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.patch("orders", counting(1), expected="v1.0")
        for saving in (
            definitions.patch("orders", counting(2), expected="v1.0"),
            definitions.save("graph", "orders", {"nodes": []}, expected="v1.0"),
            definitions.undo("orders", expected="v1.0"),
        ):
            with pytest.raises(PlaitError) as caught:
                await saving
            assert (caught.value.code, caught.value.status) == ("definitions.tag_moved", 412)
        assert await versions(definitions) == ["v1.0", "v1.1"]


async def test_code_is_not_patched_and_source_text_is_as_the_json_that_it_stands_for() -> None:
    async with graphs() as here:
        definitions = here.process(code("pack"))
        await definitions.save("graph", "text", source="nodes …")
        with pytest.raises(InvalidInput) as caught:
            await definitions.patch("pack", [])
        assert caught.value.code == "definitions.not_patchable"
        await definitions.patch("text", [{"op": "replace", "path": "/source", "value": "edges …"}])
        found = await here.process().find("text")
        assert found is not None
        assert found.content() == {"source": "edges …"}
        with pytest.raises(NotFound):
            await definitions.patch("nope", [])


async def test_a_chain_of_patches_is_compacted_and_every_version_stays_readable(backend: Backend) -> None:
    async with graphs(backend) as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        for number in range(1, 2 * COMPACTED_AT + 4):
            await definitions.patch("orders", counting(number))
        stored = await here.records.list(KIND, "default", limit=100)
        whole = sorted(record.id.split("/")[1] for record in stored if b'"body"' in bytes(record.body))
        assert whole == ["orders@v1.0", f"orders@v1.{COMPACTED_AT}", f"orders@v1.{2 * COMPACTED_AT}"]
        other = here.process()
        for number in range(2 * COMPACTED_AT + 4):
            assert (await body(other, f"orders@v1.{number}"))["nodes"][0]["n"] == number


async def test_a_patch_whose_base_is_lost_is_told_as_damage() -> None:
    async with graphs() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.patch("orders", counting(1))
        [base] = [each for each in await here.records.list(KIND, "default") if "@v1.0" in each.id]
        await here.records.remove(KIND, "default", base.id)
        with pytest.raises(PlaitError) as caught:
            await here.process().find("orders")
        assert caught.value.code == "store.damaged"


async def test_processes_that_patch_at_once_all_succeed_one_after_the_other(backend: Backend) -> None:
    async with records_of(backend) as first, records_of(backend) as second:
        processes = [Graphs(first).process(), Graphs(second).process()]
        await processes[0].save("graph", "orders", {"nodes": []})
        await asyncio.gather(
            *(
                processes[number % 2].patch(
                    "orders", [{"op": "add", "path": "/nodes/-", "value": {"id": f"n{number}"}}]
                )
                for number in range(8)
            )
        )
        for process in processes:
            found = await body(process)
            assert sorted(node["id"] for node in found["nodes"]) == [f"n{number}" for number in range(8)]
            assert await versions(process) == [f"v1.{number}" for number in range(9)]


async def test_of_processes_that_patch_what_they_saw_one_wins(backend: Backend) -> None:
    async with records_of(backend) as first, records_of(backend) as second:
        processes = [Graphs(first).process(), Graphs(second).process()]
        await processes[0].save("graph", "orders", ONE)
        ended = await asyncio.gather(
            *(processes[number % 2].patch("orders", counting(number + 1), expected="v1.0") for number in range(6)),
            return_exceptions=True,
        )
        refused = [each.code for each in ended if isinstance(each, PlaitError)]
        assert refused == ["definitions.tag_moved"] * 5
        assert await versions(processes[1]) == ["v1.0", "v1.1"]


class InterruptedRecords(Records):
    """Lets something else happen after a text was written, once, and before its change is."""

    def __init__(self, records: Records) -> None:
        super().__init__(records._store, records._appender)  # pyright: ignore[reportPrivateUsage]
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def add(self, record: Record) -> bool:
        done = await super().add(record)
        if record.kind == KIND and self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return done


async def test_a_patch_is_refused_if_a_reader_beside_it_learns_of_a_faster_one() -> None:
    async with graphs() as here:
        slow = InterruptedRecords(here.records)
        first, second = here.process(records=slow), here.process()
        await first.save("graph", "orders", ONE)

        async def overtake() -> None:
            await second.patch("orders", counting(2), expected="v1.0")
            await first.find("orders")

        slow.meanwhile = overtake
        with pytest.raises(Stale) as caught:
            await first.patch("orders", counting(1), expected="v1.0")
        assert caught.value.code == "definitions.tag_moved"
        assert await versions(first) == ["v1.0", "v1.1"]
        assert (await body(first))["nodes"][0]["n"] == 2


async def test_versions_are_compared() -> None:
    async with graphs() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.patch("orders", [*counting(5), {"op": "remove", "path": "/nodes/b"}])
        assert await definitions.diff("orders", "v1.0", "main") == [
            {"op": "remove", "path": "/nodes/b"},
            {"op": "replace", "path": "/nodes/a/n", "value": 5},
        ]
        assert await definitions.diff("orders", "v1.0", "v1.0") == []


moves = st.lists(st.sampled_from(["patch", "undo", "redo"]), max_size=12)


@settings(max_examples=examples(25), deadline=None)
@given(moves)
def test_undo_and_redo_go_through_the_moves_of_a_tag_as_an_editor_does(steps: list[str]) -> None:
    async def play() -> None:
        async with graphs() as here:
            definitions = here.process()
            await definitions.save("graph", "orders", ONE)
            past, now, future, count = [], "v1.0", [], 0
            for step in steps:
                if step == "patch":
                    count += 1
                    past, future = [*past, now], []
                    now = (await definitions.patch("orders", counting(count))).version.version
                elif (step == "undo" and past) or (step == "redo" and future):
                    source, target = (past, future) if step == "undo" else (future, past)
                    target.append(now)
                    now = source.pop()
                    await (definitions.undo if step == "undo" else definitions.redo)("orders")
                else:
                    with pytest.raises(PlaitError):
                        await (definitions.undo if step == "undo" else definitions.redo)("orders")
                assert await here.process().tags("orders") == {"main": now}

    asyncio.run(play())


# -- JSON Patch --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operations", "after"),
    [
        ([{"op": "add", "path": "/nodes/-", "value": {"id": "c"}}], ["a", "b", "c"]),
        ([{"op": "add", "path": "/nodes/0", "value": {"id": "c"}}], ["c", "a", "b"]),
        ([{"op": "add", "path": "/nodes/c", "value": {"id": "c"}}], ["a", "b", "c"]),
        ([{"op": "remove", "path": "/nodes/a"}], ["b"]),
        ([{"op": "remove", "path": "/nodes/1"}], ["a"]),
        ([{"op": "replace", "path": "/nodes/a", "value": {"id": "z"}}], ["z", "b"]),
        ([{"op": "move", "from": "/nodes/a", "path": "/nodes/-"}], ["b", "a"]),
        ([{"op": "copy", "from": "/nodes/a", "path": "/nodes/-"}], ["a", "b", "a"]),
        ([{"op": "test", "path": "/nodes/a/n", "value": 0.0}], ["a", "b"]),
        ([{"op": "replace", "path": "", "value": {"nodes": []}}], []),
        ([], ["a", "b"]),
    ],
)
def test_operations_apply_by_index_and_by_id(operations: list[Any], after: list[str]) -> None:
    before = {"nodes": [{"id": "a", "n": 0}, {"id": "b", "n": 0}]}
    assert [node["id"] for node in json_patch.apply(before, operations)["nodes"]] == after
    assert before == ONE


@pytest.mark.parametrize(
    ("operation", "what"),
    [
        ({"op": "replace", "path": "/nodes/z/n", "value": 1}, "/nodes/z/n does not exist"),
        ({"op": "remove", "path": "/nodes/7"}, "/nodes/7 does not exist"),
        ({"op": "add", "path": "/nodes/7", "value": 1}, "/nodes/7 is beyond the end of the list, which has 2 items"),
        ({"op": "add", "path": "/nodes/a", "value": {"id": "a"}}, "/nodes/a exists already"),
        ({"op": "add", "path": "/x/y", "value": 1}, "/x/y does not exist"),
        ({"op": "add", "path": "/nodes/a/n/m", "value": 1}, "/nodes/a/n/m does not exist"),
        ({"op": "test", "path": "/nodes/a/n", "value": 1}, "the test of /nodes/a/n fails: it has another value"),
        ({"op": "test", "path": "/nodes/a/n", "value": False}, "the test of /nodes/a/n fails"),
        ({"op": "move", "from": "/nodes", "path": "/nodes/a/x"}, "/nodes can't be moved into itself"),
        ({"op": "remove", "path": ""}, "the whole can't be removed"),
        ({"op": "replce", "path": "/nodes", "value": 1}, "unknown op `replce`"),
        ({"op": "add", "path": "nodes", "value": 1}, "`path` must be a JSON pointer"),
        ({"op": "add", "path": "/nodes/-"}, "`add` needs a value"),
        ({"op": "copy", "path": "/x"}, "`from` must be a JSON pointer"),
        ({"op": "remove", "path": "/nodes/a", "nod": 1}, "unknown field `nod`"),
        (3, "it is no object"),
    ],
)
def test_an_operation_that_can_not_be_applied_is_named_and_none_is(operation: Any, what: str) -> None:
    with pytest.raises(BadPatch) as caught:
        json_patch.apply(ONE, [*counting(9), operation])
    assert caught.value.what.startswith(f"operation 1: {what}")
    assert caught.value.flaws[0].pointer == "/operations/1"
    assert ONE["nodes"][0]["n"] == 0


def test_a_patch_has_at_most_a_hundred_operations() -> None:
    json_patch.apply(ONE, counting(1) * 100)
    with pytest.raises(BadPatch) as caught:
        json_patch.apply(ONE, counting(1) * 101)
    assert caught.value.what == "a patch has 101 operations, limit 100"


_items = st.fixed_dictionaries({"id": st.sampled_from(["x", "y", "z", "1"])}, optional={"v": st.integers(0, 2)})
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "~/", "id", ""]), inner, max_size=3)
        | st.lists(_items, max_size=4)
    ),
    max_leaves=12,
)


@given(_json, _json)
def test_a_diff_is_the_patch_that_makes_one_into_the_other(before: Any, after: Any) -> None:
    operations = diff(before, after)
    assert json_patch.apply(before, operations) == after
    assert diff(before, before) == []


_operations = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"])},
        optional={
            "path": st.sampled_from(["", "/a", "/nodes", "/nodes/a", "/nodes/-", "/nodes/0", "/nodes/a/n"]) | st.text(),
            "from": st.sampled_from(["", "/nodes/a", "/nodes/b"]),
            "value": _json,
        },
    ),
    max_size=4,
)


@given(_operations | _json)
def test_any_patch_is_applied_or_refused(operations: Any) -> None:
    with contextlib.suppress(BadPatch):
        json_patch.apply(ONE, operations)
    assert ONE == {"nodes": [{"id": "a", "n": 0}, {"id": "b", "n": 0}]}
