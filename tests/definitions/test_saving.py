"""Definitions that are saved: versions by content, found by label, hash or tag, safe against other writers."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from plait.definitions.hashing import content_hash
from plait.definitions.saved import Saved
from plait.kernel.errors import Conflict, InvalidInput, NotFound, PlaitError
from tests.contract.stores.backends import Sqlite
from tests.definitions.shelf import CountedRecords, Place, code, place
from tests.kernel.filing import records_of

ONE, TWO, THREE = ({"nodes": [number]} for number in (1, 2, 3))


def label(saved: Saved) -> tuple[str, bool]:
    return saved.version.version, saved.new


async def test_versions_are_numbered_and_the_same_content_is_the_same_version() -> None:
    async with place() as here:
        definitions = here.process()
        assert label(await definitions.save("graph", "orders", ONE)) == ("1", True)
        assert label(await definitions.save("graph", "orders", {"nodes": [1.0]})) == ("1", False)
        assert label(await definitions.save("graph", "orders", TWO)) == ("2", True)
        found = await definitions.get("orders")
        assert [(each.version, each.hash) for each in found.versions] == [
            ("2", content_hash(TWO)),
            ("1", content_hash(ONE)),
        ]
        assert (found.dialect, found.version, found.loaded) == ("graph", "2", True)


async def test_to_save_what_an_older_version_said_makes_it_the_newest() -> None:
    async with place() as here:
        definitions = here.process()
        for body in (ONE, TWO, ONE):
            await definitions.save("graph", "orders", body)
        newest = await definitions.find("orders")
        assert newest is not None
        assert (newest.version, newest.body) == ("3", ONE)


async def test_an_author_may_choose_the_label_and_never_change_what_it_stands_for() -> None:
    async with place() as here:
        definitions = here.process()
        assert label(await definitions.save("graph", "orders", ONE, label="v1.0")) == ("v1.0", True)
        assert label(await definitions.save("graph", "orders", ONE, label="v1.0")) == ("v1.0", False)
        assert label(await definitions.save("graph", "orders", ONE, label="v1.1")) == ("v1.1", True)
        assert label(await definitions.save("graph", "orders", TWO, label="3")) == ("3", True)
        assert label(await definitions.save("graph", "orders", THREE)) == ("4", True)
        with pytest.raises(Conflict) as caught:
            await definitions.save("graph", "orders", TWO, label="v1.0")
        assert caught.value.code == "definitions.version_exists"


@pytest.mark.parametrize("reference", ["orders", "orders@v2", "orders@prod", f"orders@{content_hash(TWO)[:8]}"])
async def test_a_version_is_found_by_name_label_tag_and_hash(reference: str) -> None:
    async with place() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE, label="v1")
        await definitions.save("graph", "orders", TWO, label="v2", doc="Sells.", input_schema={"type": "object"})
        await definitions.tag("orders", "prod", "v2")
        found = await here.process().find(reference)
        assert found is not None
        assert (found.dialect, found.name, found.version, found.body) == ("graph", "orders", "v2", TWO)
        assert (found.doc, found.input_schema) == ("Sells.", {"type": "object"})


async def test_source_text_is_kept_as_it_was_written() -> None:
    async with place() as here:
        text = "namespace shop {\n}\n"
        await here.process().save("afl", "shop", source=text, label="1.0")
        found = await here.process().find("shop@1.0")
        assert found is not None
        assert (found.source, found.body, found.hash) == (text, None, content_hash(None, text))


async def test_namespaces_keep_their_definitions_apart() -> None:
    async with place() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE, namespace="acme")
        assert await definitions.find("orders") is None
        assert await definitions.find("orders", "acme") is not None
        assert await definitions.list() == []
        assert [each.name for each in await definitions.list(namespace="acme")] == ["orders"]


async def test_a_list_shows_what_newest_versions_say_and_comes_in_pages() -> None:
    async with place() as here:
        definitions = here.process(code("b"))
        for name in "dca":
            await definitions.save("graph", name, ONE, doc=f"The {name}.", output_schema={"type": name})
        everything = await here.process(code("b")).list()
        assert [(each.name, each.dialect, each.doc) for each in everything] == [
            ("a", "graph", "The a."),
            ("b", "code", ""),
            ("c", "graph", "The c."),
            ("d", "graph", "The d."),
        ]
        assert everything[0].output_schema == {"type": "a"}
        assert [each.name for each in await definitions.list("graph", after="a", limit=1)] == ["c"]
        assert [each.name for each in await definitions.list("code")] == ["b"]
        assert await definitions.list(limit=0) == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": "a b"}, "definitions.bad_name"),
        ({"name": "a@b"}, "definitions.bad_name"),
        ({"label": "a@b"}, "definitions.bad_version"),
        ({"label": ""}, "definitions.bad_version"),
        ({"dialect": "grpah"}, "kernel.no_dialect"),
        ({"body": None}, "definitions.bad_content"),
        ({"source": "text"}, "definitions.bad_content"),
        ({"body": math.nan}, "value.not_encodable"),
        ({"body": {"a": b"\0".decode()}}, "value.not_encodable"),
        ({"body": {"a": object()}}, "value.not_encodable"),
        ({"body": None, "source": "\ud800"}, "value.bad_text"),
        ({"namespace": ""}, "kernel.bad_namespace"),
        ({"name": "pack"}, "definitions.other_dialect"),
        ({"name": "shop"}, "definitions.other_dialect"),
    ],
)
async def test_what_can_not_be_saved_is_refused_and_leaves_nothing(given: dict[str, Any], code: str) -> None:
    async with place() as here:
        definitions = here.process(_code_pack())
        await definitions.save("afl", "shop", source="namespace shop {}")
        with pytest.raises(PlaitError) as caught:
            await definitions.save(**{"dialect": "graph", "name": "orders", "body": ONE, **given})
        assert caught.value.code == code
        assert [each.name for each in await definitions.list()] == ["pack", "shop"]


def _code_pack() -> Any:
    return code("pack")


async def test_what_is_not_there_is_said_with_what_was_probably_meant() -> None:
    async with place() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE, label="v1.0")
        await definitions.tag("orders", "prod", "v1.0")
        for asked, fix in (("v1.1", "v1.0"), ("prd", "prod")):
            with pytest.raises(NotFound) as caught:
                await definitions.find(f"orders@{asked}")
            assert (caught.value.code, caught.value.fix) == ("definitions.no_version", f"did you mean `{fix}`?")
        with pytest.raises(NotFound) as caught:
            await definitions.get("ordrs")
        assert (caught.value.code, caught.value.fix) == ("definitions.unknown", "did you mean `orders`?")
        assert await definitions.find("ordrs") is None


async def test_the_beginning_of_a_hash_must_belong_to_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = iter(["abcdef01", "abcdef02"])
    monkeypatch.setattr("plait.definitions.definitions.content_hash", lambda *_: next(hashes))
    async with place() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", ONE)
        await definitions.save("graph", "orders", TWO)
        with pytest.raises(InvalidInput) as caught:
            await definitions.find("orders@abcdef")
        assert caught.value.code == "definitions.ambiguous_hash"
        found = await definitions.find("orders@abcdef02")
        assert found is not None
        assert found.version == "2"
        with pytest.raises(NotFound):
            await definitions.find("orders@abc")


async def test_processes_that_save_one_name_at_once_get_versions_of_their_own(tmp_path: Path) -> None:
    database = Sqlite(tmp_path / "plait.db")
    async with records_of(database) as first, records_of(database) as second:
        processes = [Place(first).process(), Place(second).process()]
        saved = await asyncio.gather(
            *(processes[number % 2].save("graph", "orders", {"nodes": [number]}) for number in range(12))
        )
        assert sorted(int(each.version.version) for each in saved) == list(range(1, 13))
        for process in processes:
            assert len((await process.get("orders")).versions) == 12


async def test_processes_that_save_the_same_at_once_share_one_version(tmp_path: Path) -> None:
    database = Sqlite(tmp_path / "plait.db")
    async with records_of(database) as first, records_of(database) as second:
        processes = [Place(first).process(), Place(second).process()]
        saved = await asyncio.gather(*(process.save("graph", "orders", ONE) for process in processes))
        assert sorted(label(each) for each in saved) == [("1", False), ("1", True)]


async def test_of_two_processes_that_give_one_label_to_different_content_one_is_refused(tmp_path: Path) -> None:
    database = Sqlite(tmp_path / "plait.db")
    async with records_of(database) as first, records_of(database) as second:
        saving = [
            Place(records).process().save("graph", "orders", body, label="v1")
            for records, body in ((first, ONE), (second, TWO))
        ]
        ended = await asyncio.gather(*saving, return_exceptions=True)
        (refused,) = (each for each in ended if isinstance(each, PlaitError))
        assert refused.code == "definitions.version_exists"


async def test_one_name_among_thousands_costs_two_reads_and_its_text() -> None:
    async with place() as here:
        definitions = here.process()
        for start in range(0, 2000, 500):
            await asyncio.gather(
                *(definitions.save("graph", f"orders_{number}", ONE) for number in range(start, start + 500))
            )
        await definitions.tag("orders_7", "prod", "1")
        counted = CountedRecords(here.records)
        other = here.process(records=counted)
        assert await other.resolve("orders_7@prod") == "orders_7@1"
        assert counted.reads == 2  # a snapshot, and what came after it
        assert await other.find("orders_7@prod") is not None
        assert counted.reads == 4
        assert len(await other.list()) == 2000
        assert counted.reads == 8  # one, and three for the code that is remembered: there is none, and no snapshot
        await other.list()
        assert counted.reads == 10


async def test_a_name_without_a_version_is_resolved_without_reading() -> None:
    async with place() as here:
        counted = CountedRecords(here.records)
        assert await here.process(records=counted).resolve("order") == "order"
        assert counted.reads == 0


async def test_two_names_may_have_the_same_content() -> None:
    async with place() as here:
        definitions = here.process()
        one, other = [await definitions.save("graph", name, ONE) for name in ("a", "b")]
        assert one.version.hash == other.version.hash
        assert other.new
