"""Runs of definitions that are saved: by name, version, tag and hash, in their namespace, the same after a crash."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Context, Engine, workflow
from plait.catalog import python_step
from plait.errors import Conflict, InvalidInput, NotFound, PlaitError, RunFailed
from plait.kernel.bundle import Reference
from plait.kernel.ids import run_key
from plait.kernel.store import RunFilter
from tests.engine.flows import echo
from tests.engine.places import Place, soon
from tests.kernel.toy import ToyBundle


def toy(*names: str) -> dict[str, Any]:
    return {"program": [{"kind": "task", "name": name} for name in names]}


WAITING = {"program": [{"kind": "count", "amount": 1}]}


async def saved(engine: Engine, namespace: str = "default") -> None:
    """`tea` in versions 1 (tagged prod) and 2."""
    await engine.definitions.save("toy", "tea", toy("boil"), namespace=namespace)
    await engine.definitions.save("toy", "tea", toy("boil", "pour"), namespace=namespace)
    await engine.definitions.tag("tea", "prod", "1", namespace)


async def outputs(engine: Engine, name: str, **options: Any) -> list[str]:
    return (await (await engine.start(name, **options)).result())["outputs"]


async def test_a_name_is_the_newest_version_and_a_tag_a_version_or_a_hash_the_one_it_names(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine)
        hashes = {each.version: each.hash for each in (await engine.definitions.get("tea")).versions}
        assert await outputs(engine, "tea") == ["boil", "pour"]
        assert await outputs(engine, "tea@prod") == ["boil"]
        assert await outputs(engine, "tea@2") == ["boil", "pour"]
        assert await outputs(engine, f"tea@{hashes['1'][:8]}") == ["boil"]


async def test_a_run_records_what_it_was_started_from(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine)
        row = await (await engine.start("tea@prod", id="t")).row()
        assert (row.dialect, row.definition, row.version) == ("toy", "tea", "1")
        started = (await (await engine.get("t")).events())[0]
        assert (started.data["definition"], started.data["version"]) == ("tea", "1")


async def test_another_process_goes_on_with_the_version_it_was_started_from(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await engine.definitions.save("toy", "tea", WAITING)
        await engine.definitions.tag("tea", "prod", "1")
        await engine.start("tea@prod", id="t")
        await engine.definitions.save("toy", "tea", toy("other"))
        await engine.definitions.tag("tea", "prod", "2")
    async with place.engine(ToyBundle()) as engine:
        run = await engine.get("t")
        await run.message("add", 1)
        assert (await run.result())["counter"] == 1
        assert await outputs(engine, "tea@prod") == ["other"]


async def test_one_id_is_one_run_until_its_tag_moves(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine)
        assert (await engine.start("tea@prod", id="t")).created
        assert not (await engine.start("tea@1", id="t")).created
        await engine.definitions.tag("tea", "prod", "2")
        with pytest.raises(Conflict) as caught:
            await engine.start("tea@prod", id="t")
        assert caught.value.code == "kernel.run_exists"


async def test_source_text_is_read_by_its_dialect(place: Place):
    class Spelled(ToyBundle):
        def read(self, definition: str | dict[str, Any]) -> object:
            if isinstance(definition, dict) and "source" in definition:
                return toy(*definition["source"].split())["program"]
            return super().read(definition)

    async with place.engine(Spelled()) as engine:
        await engine.definitions.save("toy", "tea", source="boil pour")
        assert await outputs(engine, "tea") == ["boil", "pour"]


# -- beside loaded code ----------------------------------------------------------------------------------------------


@workflow(name="tea")
async def tea(ctx: Context) -> dict[str, Any]:
    return {"outputs": ["loaded"]}


@workflow(name="tea", version="9")
async def tea_9(ctx: Context) -> dict[str, Any]:
    return {"outputs": ["loaded 9"]}


async def test_loaded_code_has_a_plain_name_and_a_saved_version_what_stands_behind_the_sign(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine)
    async with place.engine(ToyBundle(), tea, tea_9) as engine:
        assert await outputs(engine, "tea") == ["loaded"]
        assert await outputs(engine, "tea@prod") == ["boil"]
        assert await outputs(engine, "tea@2") == ["boil", "pour"]
        assert await outputs(engine, "tea@9") == ["loaded 9"]
        assert (await (await engine.start(tea)).result()) == {"outputs": ["loaded"]}
        with pytest.raises(NotFound) as caught:
            await engine.start("tea@3")
        assert caught.value.code == "definitions.no_version"
        assert "9" in caught.value.why
        assert "2" in caught.value.why


async def test_code_can_not_be_saved(place: Place):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput) as caught:
            await engine.definitions.save("code", "tea", {"steps": []})
        assert caught.value.code == "CODE_NOT_LOADED"


async def test_a_name_that_is_loaded_reads_nothing_of_what_is_saved(place: Place):
    async with place.engine(echo) as engine:

        async def never(*args: Any) -> Any:
            raise AssertionError("looked")

        engine.records.list = engine.records.get = never  # type: ignore[method-assign]
        assert await (await engine.start("echo", 1)).result() == 1


async def test_what_its_dialect_finds_wrong_is_not_saved(place: Place):
    async with place.engine(ToyBundle()) as engine:
        with pytest.raises(InvalidInput) as caught:
            await engine.definitions.save("toy", "tea", {"steps": []})
        assert caught.value.code == "toy.no_program"
        assert await engine.definitions.find("tea") is None


# -- what is not there -----------------------------------------------------------------------------------------------


async def test_an_unknown_name_version_or_tag_is_refused_with_what_was_probably_meant(place: Place):
    async with place.engine(ToyBundle(), echo) as engine:
        await saved(engine)
        for asked, code, fix in (
            ("tee", "CODE_NOT_LOADED", "did you mean `tea`?"),
            ("ecko", "CODE_NOT_LOADED", "did you mean `echo`?"),
            ("tea@prood", "definitions.no_version", "did you mean `prod`?"),
        ):
            with pytest.raises(PlaitError) as caught:
                await engine.start(asked)
            assert (caught.value.code, caught.value.status, caught.value.fix) == (code, 404, fix)
            with pytest.raises(PlaitError) as planned:
                await engine.plan(asked)
            assert str(planned.value) == str(caught.value)


async def test_another_namespace_neither_sees_it_nor_is_told_its_name(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine, "acme")
        assert await outputs(engine, "tea@prod", namespace="acme") == ["boil"]
        for asked in ("tea", "tea@prod", "tee"):
            with pytest.raises(NotFound) as caught:
                await engine.start(asked)
            assert "tea`?" not in str(caught.value)
            assert "saved" not in str(caught.value)


async def test_a_dialect_that_is_named_must_be_that_of_the_definition(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine)
        assert await outputs(engine, Reference("toy", "tea@prod", "tea")) == ["boil"]  # type: ignore[arg-type]
        with pytest.raises(PlaitError) as caught:
            await engine.start(Reference("goals", "tea", "tea"))
        assert caught.value.code == "definitions.other_dialect"


async def test_a_definition_of_a_dialect_that_this_engine_has_not_is_refused(place: Place):
    async with place.engine(ToyBundle()) as engine:
        await saved(engine)
    async with place.engine() as engine:
        with pytest.raises(NotFound) as caught:
            await engine.start("tea")
        assert caught.value.code == "kernel.no_dialect"


# -- children --------------------------------------------------------------------------------------------------------


@workflow
async def host(ctx: Context, asked: str) -> Any:
    return (await ctx.child("guest", asked))["outputs"]


async def test_a_child_is_found_as_a_start_is(place: Place):
    async with place.engine(ToyBundle(), host) as engine:
        await saved(engine)
        assert await (await engine.start(host, "tea@prod")).result() == ["boil"]
        assert await (await engine.start(host, "tea", id="h")).result() == ["boil", "pour"]
        [child] = await engine.runs(RunFilter(parent=run_key("default", "h")))
        assert (child.dialect, child.definition, child.version) == ("toy", "tea", "2")
        for asked in ("tee", "tea@prood"):
            with pytest.raises(PlaitError) as started:
                await engine.start(asked)
            with pytest.raises(RunFailed) as caught:
                await (await engine.start(host, asked)).result()
            assert str(started.value) in str(caught.value)


async def test_a_child_is_not_found_in_another_namespace(place: Place):
    async with place.engine(ToyBundle(), host) as engine:
        await saved(engine)
        with pytest.raises(RunFailed):
            await (await engine.start(host, "tea", namespace="acme")).result()


async def test_a_child_keeps_its_version_when_its_tag_moves_before_another_process_goes_on(place: Place):
    async with place.engine(ToyBundle(), host) as engine:
        await engine.definitions.save("toy", "tea", WAITING)
        await engine.definitions.tag("tea", "prod", "1")
        await engine.start(host, "tea@prod", id="h")
        [child] = await soon(lambda: engine.runs(RunFilter(parent=run_key("default", "h"))))
        await engine.definitions.save("toy", "tea", toy("other"))
        await engine.definitions.tag("tea", "prod", "2")
    async with place.engine(ToyBundle(), host) as engine:
        guest = await engine.get(child.id)
        await guest.message("add", 1)
        assert await (await engine.get("h")).result() == [1]
        assert (await guest.row()).version == "1"


# -- goals -----------------------------------------------------------------------------------------------------------


@python_step
async def boil() -> str:
    return "hot"


async def test_a_request_for_goals_is_saved_and_started(place: Place):
    async with place.engine(boil) as engine:
        await engine.definitions.save("goals", "breakfast", {"goals": ["boil"]})
        await engine.definitions.tag("breakfast", "prod", "1")
        run = await engine.start("breakfast@prod", id="b")
        await run.result()
        row = await run.row()
        assert (row.dialect, row.definition, row.version) == ("goals", "breakfast", "1")
        assert (await engine.plan("breakfast")).definition == "breakfast"
        by_dialect = await engine.start(Reference("goals", "breakfast", ""))
        await by_dialect.result()
