"""Deleting: nobody sees or starts a definition any more; its versions can be read, and to save it brings it back."""

from __future__ import annotations

import asyncio

import pytest

from plait.kernel.errors import PlaitError
from tests.definitions.shelf import code, place


async def refusal(asking: object) -> str:
    with pytest.raises(PlaitError) as refused:
        await asking  # pyright: ignore[reportGeneralTypeIssues]
    return refused.value.code


async def test_a_deleted_definition_is_not_there_for_any_process() -> None:
    async with place() as here:
        definitions, other = here.process(), here.process()
        await definitions.save("graph", "orders", {"n": 1})
        await definitions.tag("orders", "prod", "1")
        assert await other.find("orders") is not None
        await definitions.delete("orders")
        for process in (definitions, other, here.process()):
            assert [await process.find(label) for label in ("orders", "orders@1", "orders@prod")] == [None] * 3
            assert await process.list() == []
            assert await refusal(process.get("orders")) == "definitions.unknown"
            assert await refusal(process.tag("orders", "prod", "1")) == "definitions.unknown"
            assert await refusal(process.patch("orders", [])) == "definitions.unknown"
            assert await refusal(process.delete("orders")) == "definitions.unknown"
        found, _ = await other.version("orders", "1")
        assert found.body == {"n": 1}  # for the runs that started from it


async def test_a_name_saved_again_is_there_with_numbers_that_go_on_and_without_its_tags() -> None:
    async with place() as here:
        definitions = here.process()
        for number in (1, 2):
            await definitions.save("graph", "orders", {"n": number})
        await definitions.tag("orders", "prod", "1")
        await definitions.delete("orders")
        saved = await definitions.save("graph", "orders", {"n": 3})
        assert (saved.version.version, saved.new) == ("3", True)
        found = await here.process().get("orders")
        assert (found.version, found.tags, len(found.versions)) == ("3", {}, 3)


async def test_the_same_content_saved_again_is_the_version_that_it_was() -> None:
    async with place() as here:
        definitions = here.process()
        await definitions.save("graph", "orders", {"n": 1})
        await definitions.delete("orders")
        assert (await definitions.save("graph", "orders", {"n": 1})).version.version == "1"
        for process in (definitions, here.process()):
            assert (await process.get("orders")).version == "1"
        await definitions.delete("orders")
        assert await here.process().list() == []


async def test_deleting_is_refused_for_another_version_than_was_seen_and_for_code() -> None:
    async with place() as here:
        definitions = here.process(code("order"))
        await definitions.save("graph", "orders", {"n": 1})
        assert await refusal(definitions.delete("orders", expected="2")) == "definitions.tag_moved"
        assert await refusal(definitions.delete("order")) == "definitions.not_deletable"
        assert await refusal(definitions.delete("nothing")) == "definitions.unknown"
        assert await refusal(definitions.delete("orders", "elsewhere")) == "definitions.unknown"
        await definitions.delete("orders", expected="1")
        assert await refusal(definitions.save("graph", "orders", {"n": 2}, expected="1")) == "definitions.tag_moved"
        assert await refusal(definitions.save("afl", "orders", {"n": 2})) == "definitions.other_dialect"


async def test_of_two_who_delete_one_does() -> None:
    async with place() as here:
        processes = [here.process() for _ in range(4)]
        await processes[0].save("graph", "orders", {"n": 1})
        for process in processes:
            await process.list()
        ended = await asyncio.gather(*(process.delete("orders") for process in processes), return_exceptions=True)
        assert sorted(str(getattr(each, "code", "deleted")) for each in ended) == [
            "definitions.unknown",
            "definitions.unknown",
            "definitions.unknown",
            "deleted",
        ]


async def test_a_snapshot_knows_what_was_deleted() -> None:
    async with place() as here:
        definitions = here.process()
        await definitions.save("graph", "kept", {"n": 1})
        await definitions.save("graph", "orders", {"n": 1})
        await definitions.delete("orders")
        for number in range(250):  # a snapshot is taken now and then
            await definitions.tag("kept", f"t{number}", "1")
        assert [each.name for each in await here.process().list()] == ["kept"]


async def test_a_definition_says_which_version_is_saved_and_code_has_none() -> None:
    async with place() as here:
        definitions = here.process(code("order"))
        for number in (1, 2):
            await definitions.save("graph", "orders", {"n": number})
        assert ((await definitions.get("orders")).saved, (await definitions.get("order")).saved) == ("2", "")
        await definitions.tag("orders", "main", "1")
        saved = (await definitions.get("orders")).saved
        await definitions.delete("orders", expected=saved)
