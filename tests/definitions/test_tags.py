"""Tags: put, moved, taken away, each in its namespace."""

from __future__ import annotations

import asyncio

import pytest

from plait.definitions.definitions import Definitions
from plait.kernel.errors import PlaitError
from tests.definitions.shelf import code, place


async def orders(definitions: Definitions) -> Definitions:
    for number in (1, 2):
        await definitions.save("graph", "orders", {"nodes": [number]}, label=f"v{number}")
    return definitions


async def test_a_tag_is_moved_and_other_processes_see_it() -> None:
    async with place() as here:
        definitions, other = await orders(here.process()), here.process()
        assert (await definitions.tag("orders", "prod", "v1")).tags == {"prod": "v1"}
        assert await other.resolve("orders@prod") == "orders@v1"
        assert (await definitions.tag("orders", "prod", "v2")).tags == {"prod": "v2"}
        assert await other.resolve("orders@prod") == "orders@v2"
        assert (await other.untag("orders", "prod")).tags == {}
        assert await definitions.resolve("orders@prod") == "orders@prod"


async def test_a_tag_may_be_put_where_another_is() -> None:
    async with place() as here:
        definitions = await orders(here.process())
        await definitions.tag("orders", "staging", "v1")
        assert (await definitions.tag("orders", "prod", "staging")).tags == {"staging": "v1", "prod": "v1"}


async def test_a_tag_is_moved_from_the_version_that_the_caller_saw_or_not_at_all() -> None:
    async with place() as here:
        definitions = await orders(here.process())
        await definitions.tag("orders", "prod", "v1")
        await definitions.tag("orders", "prod", "v2", expected="v1")
        with pytest.raises(PlaitError) as caught:
            await definitions.tag("orders", "prod", "v1", expected="v1")
        assert (caught.value.code, caught.value.status, caught.value.why) == (
            "definitions.tag_moved",
            412,
            "it is at v2",
        )


async def test_of_two_processes_that_move_a_tag_from_one_version_one_is_refused() -> None:
    async with place() as here:
        definitions, other = await orders(here.process()), here.process()
        await definitions.save("graph", "orders", {"nodes": [3]}, label="v3")
        await definitions.tag("orders", "prod", "v1")
        moving = [
            definitions.tag("orders", "prod", "v2", expected="v1"),
            other.tag("orders", "prod", "v3", expected="v1"),
        ]
        ended = await asyncio.gather(*moving, return_exceptions=True)
        assert [each.code for each in ended if isinstance(each, PlaitError)] == ["definitions.tag_moved"]


async def test_a_tag_leads_to_code_that_is_loaded() -> None:
    async with place() as here:
        definitions = here.process(code("pack", "v1"), code("wrap", "abc123", "abc123"))
        await definitions.tag("pack", "prod", "v1")
        await definitions.tag("wrap", "prod", "abc123")
        assert await definitions.resolve("pack@prod") == "pack@v1"
        assert await definitions.resolve("wrap@prod") == "wrap"  # it has no label to be asked for by
        assert (await definitions.get("pack", "acme")).tags == {}


@pytest.mark.parametrize(
    ("tag", "version", "code"),
    [
        ("a@b", "v1", "definitions.bad_tag"),
        ("", "v1", "definitions.bad_tag"),
        ("x", "v9", "definitions.no_version"),
    ],
)
async def test_a_tag_that_can_not_be_put_is_refused(tag: str, version: str, code: str) -> None:
    async with place() as here:
        definitions = await orders(here.process())
        with pytest.raises(PlaitError) as caught:
            await definitions.tag("orders", tag, version)
        assert caught.value.code == code
        assert (await definitions.get("orders")).tags == {}


async def test_what_has_no_such_tag_or_is_not_there_is_said() -> None:
    async with place() as here:
        definitions = await orders(here.process())
        await definitions.tag("orders", "prod", "v1")
        for name, tag, code, fix in (
            ("orders", "prd", "definitions.no_tag", "did you mean `prod`?"),
            ("ordrs", "prod", "definitions.unknown", "did you mean `orders`?"),
        ):
            with pytest.raises(PlaitError) as caught:
                await definitions.untag(name, tag)
            assert (caught.value.code, caught.value.fix) == (code, fix)
