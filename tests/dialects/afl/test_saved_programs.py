"""Programs that are saved: each workflow is started by its name, in versions, under tags, and from every dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plait import Context, Engine, afl, goals, graph, refs, workflow
from plait.catalog import catalog_step
from plait.dialects.afl.handlers import ChildTarget
from plait.errors import Conflict, NotFound
from plait.kernel.bundle import Reference
from plait.kernel.errors import InvalidInput

SHOP = """
namespace shop {
    schema Item { sku: String, part: Item }
    event facet Ask(x: Long) => (n: Long)
    /** Adds one. */
    workflow Add(n: Long, by: Long = 1, items: [Item] = []) => (n: Long) andThen { yield Add(n = $.n + $.by) }
    workflow Asks(x: Long) => (n: Long) andThen { q = Ask(x = $.x) yield Asks(n = q.n) }
}
workflow Top() => (n: Long) andThen { yield Top(n = 1) }
"""


@workflow
async def calls(ctx: Context, name: str) -> Any:
    return await ctx.child("run", name, {"n": 4})


async def test_each_workflow_of_a_saved_program_is_started_by_its_name_version_and_tag() -> None:
    async with Engine("memory:") as engine:
        await engine.definitions.save("afl", "orders", source=SHOP)
        await engine.definitions.save("afl", "orders", {"source": SHOP.replace("+ $.by", "- $.by")})
        await engine.definitions.tag("orders", "prod", "1")
        found: dict[str, Any] = {}
        for name in ("shop.Add", "shop.Add@1", "shop.Add@2", "shop.Add@prod"):
            handle = await engine.start(name, {"n": 4})
            row = await handle.row()
            found[name] = ((await handle.result())["n"], row.definition, row.version, row.dialect)
    assert found == {
        "shop.Add": (3, "shop.Add", "2", "afl"),
        "shop.Add@1": (5, "shop.Add", "1", "afl"),
        "shop.Add@2": (3, "shop.Add", "2", "afl"),
        "shop.Add@prod": (5, "shop.Add", "1", "afl"),
    }


async def test_it_is_a_child_of_every_dialect_by_its_name() -> None:
    wired: dict[str, Any] = {"name": "run", "action": {"workflow": {"dialect": "afl", "definition": "shop.Add@1"}}}
    node: dict[str, Any] = {"id": "run", "type": "run", "config": {"dialect": "afl", "definition": "shop.Add@1"}}
    declared = catalog_step("goal-add").required("n").output("n").run("afl", "shop.Add@1").no_retries()
    async with Engine("memory:", definitions=[calls, declared]) as engine:
        await engine.definitions.save("afl", "orders", {"source": SHOP})
        expected: list[tuple[Any, Any, Any]] = [
            (calls, "shop.Add", {"n": 5}),
            (calls, "shop.Add@1", {"n": 5}),
            (refs({"steps": [{**wired, "input": {"n": "@input.n"}}]}), {"n": 4}, {"n": 5}),
            (graph({"nodes": [node], "edges": []}), {"n": 4}, {"run": {"n": 5}}),
        ]
        for parent, given, result in expected:
            assert await (await engine.start(parent, given)).result() == result
        assert await (await engine.start(goals("goal-add"), {"n": 4})).result() is not None
        source = SHOP.replace("Ask(x: Long)", "Ask(x: Long, n: Long = 4)")
        asks = afl(source, "shop.Asks", handlers={"Ask": ChildTarget(Reference("afl", "shop.Add", "shop.Add"))})
        assert await (await engine.start(asks, {"x": 1})).result() == {"n": 5}


async def test_the_list_shows_workflows_with_doc_schemas_and_the_versions_that_have_them() -> None:
    async with Engine("memory:") as engine:
        await engine.definitions.save("afl", "orders", {"source": SHOP})
        listed = {each.name: each for each in await engine.definitions.list()}
        assert list(listed) == ["orders", "shop.Add", "shop.Asks"]  # what has no namespace has no name of its own
        assert (listed["shop.Add"].owner, listed["shop.Add"].doc) == ("orders", "Adds one.")
        assert listed["orders"].offers == ["shop.Add", "shop.Asks"]
        schema = listed["shop.Add"].input_schema
        assert schema["properties"]["by"] == {"type": "integer", "default": 1}
        assert schema["required"] == ["n"]
        item = schema["properties"]["items"]["items"]
        assert item["properties"] == {"sku": {"type": "string"}, "part": {}}
        without = SHOP.replace("workflow Asks", "workflow Asked").replace("yield Asks", "yield Asked")
        await engine.definitions.save("afl", "orders", {"source": without})
        assert [each.version for each in (await engine.definitions.get("shop.Add")).versions] == ["2", "1"]
        assert [each.version for each in (await engine.definitions.get("shop.Asks")).versions] == ["1"]
        assert [each.name for each in await engine.definitions.list()] == ["orders", "shop.Add", "shop.Asked"]
        with pytest.raises(NotFound, match=r"has no `shop\.Asks` any more"):
            await engine.start("shop.Asks", {"x": 1})
        assert (await (await engine.start("shop.Asks@1", {"x": 1})).row()).version == "1"
        operations = await engine.definitions.diff("shop.Add", "1", "2")
        assert [each["path"] for each in operations] == ["/source"]


async def test_a_live_run_goes_on_with_the_version_it_started_with() -> None:
    async with Engine("memory:") as engine:
        await engine.definitions.save("afl", "orders", {"source": SHOP})
        old = await engine.start("shop.Asks", {"x": 1})
        await engine.definitions.save("afl", "orders", {"source": SHOP.replace("n = q.n", "n = q.n * 100")})
        new = await engine.start("shop.Asks", {"x": 1})
        for handle in (old, new):
            [step] = [each async for each in _asking(engine, handle.id)]
            await handle.message("StepContinue", {"step_id": step, "result": {"n": 2}})
        assert (await old.result(), await new.result()) == ({"n": 2}, {"n": 200})
        await engine.definitions.delete("orders")
        with pytest.raises(NotFound):
            await engine.start("shop.Add", {"n": 1})
        found, _ = await engine.definitions.version("shop.Asks", "1")  # what a run started from can be read
        assert found.content()["workflow"] == "shop.Asks"


async def _asking(engine: Engine, run: str):
    for each in await engine.afl.steps(run):
        if each.statement_name == "q":
            yield each.id


async def test_a_workflow_is_changed_with_its_program_and_not_alone() -> None:
    async with Engine("memory:") as engine:
        definitions = engine.definitions
        await definitions.save("afl", "orders", {"source": SHOP})
        for change in (
            definitions.tag("shop.Add", "prod", "1"),
            definitions.untag("shop.Add", "prod"),
            definitions.undo("shop.Add", "prod"),
            definitions.patch("shop.Add", []),
            definitions.delete("shop.Add"),
        ):
            with pytest.raises(Conflict) as caught:
                await change
            assert (caught.value.code, caught.value.fix) == ("definitions.not_its_own", "change `orders`")


async def test_a_name_that_two_programs_have_is_refused_until_one_is_saved_under_it() -> None:
    async with Engine("memory:") as engine:
        await engine.definitions.save("afl", "orders", {"source": SHOP})
        await engine.definitions.save("afl", "others", {"source": SHOP.replace("+ $.by", "* 10")})
        with pytest.raises(Conflict) as caught:
            await engine.start("shop.Add", {"n": 4})
        assert (caught.value.code, caught.value.why) == ("definitions.ambiguous_name", "orders, others")
        assert [each.name for each in await engine.definitions.list()] == ["orders", "others"]
        await engine.definitions.save("afl", "shop.Add", {"source": SHOP.replace("+ $.by", "* 10")})
        assert await (await engine.start("shop.Add", {"n": 4})).result() == {"n": 40}


async def test_a_program_without_a_choice_is_not_started_and_one_with_a_wrong_one_not_saved() -> None:
    async with Engine("memory:") as engine:
        await engine.definitions.save("afl", "orders", {"source": SHOP})
        with pytest.raises(NotFound, match="several workflows"):
            await engine.start("orders", {})
        with pytest.raises(NotFound, match="AFL_UNKNOWN_WORKFLOW"):
            await engine.definitions.save("afl", "wrong", {"source": SHOP, "workflow": "Nope"})
        with pytest.raises(InvalidInput, match="AFL_COMPILE"):
            await engine.definitions.save("afl", "wrong", {"source": "namespace"})
        await engine.definitions.save("afl", "top", {"source": SHOP, "workflow": "Top"})
        assert await (await engine.start("top")).result() == {"n": 1}


async def test_the_engines_libraries_complete_a_program_once_and_for_all(tmp_path: Path) -> None:
    tax = tmp_path / "tax.afl"
    tax.write_text("namespace tax { facet Add(net: Long = 1) }")
    uses = "namespace app { use tax workflow W() => (n: Long) andThen { a = Add() yield W(n = a.net) } }"
    async with Engine("memory:") as engine:
        with pytest.raises(InvalidInput, match="AFL_COMPILE"):
            await engine.start(afl(uses))
        engine.afl.libraries = [tmp_path]
        assert engine.afl.check(uses) == []
        assert await (await engine.start(afl(uses))).result() == {"n": 1}
        await engine.definitions.save("afl", "app", {"source": uses})
        tax.write_text("namespace tax { facet Add(net: Long = 2) }")
        assert await (await engine.start("app.W")).result() == {"n": 1}
        assert await (await engine.start(afl(uses))).result() == {"n": 2}
        assert (await engine.definitions.save("afl", "app", {"source": uses})).version.version == "2"
