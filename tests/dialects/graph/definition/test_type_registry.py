"""Node types of a namespace: registered, widened, never narrowed, and pinned to what uses them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait.definitions.uploads import Uploads
from plait.dialects.graph.definition.compile import check_graph, compile_graph
from plait.dialects.graph.definition.node_types import NodeType
from plait.dialects.graph.definition.pins import FIELD
from plait.dialects.graph.definition.preparation import Preparation
from plait.dialects.graph.definition.type_compatibility import narrowed
from plait.dialects.graph.definition.type_registry import TypeRegistry
from plait.kernel.errors import PlaitError
from plait.kernel.records import Records
from plait.testing import VirtualClock
from tests.contract.stores.backends import Backend, Memory, PostgreSQL, Sqlite
from tests.dialects.graph.definition.graphs import graph, task
from tests.kernel.filing import records_of

TO = {"type": "object", "properties": {"to": {"type": "string"}}}


def mailer(version: str = "v1", schema: Any = TO, **more: Any) -> dict[str, Any]:
    return {"type_name": "mailer", "version": version, "config_schema": schema, **more}


def registry(records: Records) -> TypeRegistry:
    clock = VirtualClock()
    return TypeRegistry(records, clock, Uploads(records, clock))


async def test_a_type_is_seen_by_other_processes_in_its_namespace_alone() -> None:
    async with records_of(Memory()) as records:
        here, there = registry(records), registry(records)
        await here.register(mailer(worker_queue="mail"), "acme")
        assert (await there.get("mailer", "acme")).worker_queue == "mail"
        assert "mailer" in (await there.of("acme")).names()
        with pytest.raises(PlaitError) as caught:
            await there.get("mailer")
        assert (caught.value.code, caught.value.status) == ("graph.type_not_found", 404)


async def test_a_name_means_the_newest_version() -> None:
    async with records_of(Memory()) as records:
        types = registry(records)
        for version in ("v2", "v10", "v1"):
            await types.register(mailer(version))
        assert (await types.get("mailer")).version == "v10"
        assert (await types.get("mailer@v1")).version == "v1"


async def test_a_version_may_be_widened_and_not_narrowed() -> None:
    async with records_of(Memory()) as records:
        types = registry(records)
        await types.register(mailer())
        wider = {**TO, "properties": {**TO["properties"], "cc": {"type": "string"}}}  # type: ignore[dict-item]
        assert (await types.register(mailer(schema=wider))).config_schema == wider
        with pytest.raises(PlaitError) as caught:
            await types.register(mailer(schema={**TO, "required": ["to"]}))
        assert (caught.value.code, caught.value.status) == ("graph.type_breaking", 409)
        assert caught.value.why == "config.to became required; config.cc was dropped"
        await types.register(mailer("v2", {**TO, "required": ["to"]}))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"type": "number"}, {"type": "integer"}, ["config was integer or number, and would be integer"]),
        ({"type": "integer"}, {"type": "number"}, []),
        ({"type": "string"}, {"type": ["string", "null"]}, []),
        ({}, {"type": "string"}, ["config was anything, and would be string"]),
        ({"enum": [1, 2]}, {"enum": [1]}, ["config allows fewer values"]),
        ({"enum": [1]}, {"enum": [1, 2]}, []),
        ({"items": {"type": "string"}}, {"items": {"type": "null"}}, ["config[] was string, and would be null"]),
        (None, {"type": "object"}, []),
        ({"type": "object"}, None, []),
    ],
)
def test_what_a_schema_takes_away_is_told(before: Any, after: Any, told: list[str]) -> None:
    assert [*narrowed(before, after)] == told


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"type_name": "task"}, "graph.type_exists"),
        ({"type_name": "hitl"}, "graph.type_exists"),
        ({"type_name": "a b"}, "graph.bad_type"),
        ({"type_name": "x", "version": "1"}, "graph.bad_type"),
        ({"type_name": "x", "colour": "red"}, "graph.bad_type"),
        ({"type_name": "x", "config_schema": {"type": "nope"}}, "schema.invalid"),
        ({"type_name": "x", "config_schema_ref": f"cas://sha256:{'0' * 64}"}, "graph.bad_type"),
        ({}, "graph.bad_type"),
    ],
)
async def test_what_is_no_type_is_refused(given: dict[str, Any], code: str) -> None:
    async with records_of(Memory()) as records:
        types = registry(records)
        with pytest.raises(PlaitError) as caught:
            await types.register(given)
        assert caught.value.code == code
        assert len(await types.list()) == 11


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Any) -> Backend:
    if request.param == "sqlite":
        return Sqlite(tmp_path / "plait.db")
    return PostgreSQL(request.getfixturevalue("postgres_url"))


async def test_processes_that_register_at_once_lose_nothing(backend: Backend) -> None:
    async with records_of(backend) as first, records_of(backend) as second:
        both = [registry(first), registry(second)]
        await asyncio.gather(*(both[number % 2].register({"type_name": f"t{number}"}) for number in range(8)))
        for types in both:
            names = [each.type_name for each in await types.list()]
            assert [name for name in names if name.startswith("t") and name[1:].isdecimal()] == [
                f"t{number}" for number in range(8)
            ]


async def test_what_a_run_uses_is_pinned_to_its_definition() -> None:
    async with records_of(Memory()) as records:
        types, uploads = registry(records), Uploads(records, VirtualClock())
        await types.register(mailer(worker_queue="mail"))
        ref = await uploads.put(b'{"to": "ann@x.org"}')
        definition = graph({"id": "A", "type": "mailer", "config_ref": ref}, task("B"), edges="A-B")
        prepared = await Preparation(types, uploads).prepare(definition, "default")
        again = compile_graph(prepared.definition)
        assert again.ir == prepared.compiled.ir
        assert again.ir.nodes["A"].config == {"to": "ann@x.org"}
        assert again.node_types["A"].worker_queue == "mail"
        assert [note.code for note in check_graph(definition).flaws] == ["graph.unknown_type"]


async def test_a_definition_without_types_of_its_own_is_kept_as_it_is() -> None:
    definition = graph(task("A"))
    assert (await Preparation().prepare(definition, "default")).definition == definition


async def test_nobody_can_pin_by_hand() -> None:
    definition = {**graph({"id": "A", "type": "mine"}), FIELD: {"types": [{"type_name": "mine"}]}}
    with pytest.raises(PlaitError) as caught:
        await Preparation().prepare(definition, "default")
    assert [flaw.code for flaw in caught.value.flaws] == ["graph.bad_shape", "graph.unknown_type"]


async def test_a_type_that_is_registered_later_is_used_by_the_next_start() -> None:
    async with records_of(Memory()) as records:
        types = registry(records)
        preparation, definition = Preparation(types), graph({"id": "A", "type": "mailer"})
        with pytest.raises(PlaitError):
            await preparation.prepare(definition, "default")
        await types.register(mailer())
        assert await preparation.prepare(definition, "default")
        await types.register(mailer("v2", {**TO, "required": ["to"]}))
        with pytest.raises(PlaitError) as caught:
            await preparation.prepare(definition, "default")
        assert caught.value.flaws[0].message == "`A`: config.to is required by type `mailer`"


async def test_stored_schemas_are_loaded_with_the_type() -> None:
    async with records_of(Memory()) as records:
        types, uploads = registry(records), Uploads(records, VirtualClock())
        ref = await uploads.put(b'{"type": "object", "required": ["to"]}')
        found = await types.register(NodeType(type_name="mailer", config_schema_ref=ref))
        assert found.config_schema == {"type": "object", "required": ["to"]}
