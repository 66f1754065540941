"""Starting runs: durable when it returns, once for each id, and refused with a reason or not at all."""

import asyncio
import datetime
from typing import Any

import pytest

from plait import Context, Engine, Limits, PlaitError, workflow
from plait.errors import Conflict, InvalidInput, NotFound, RunFailed, TooLarge, Unavailable
from plait.kernel.ids import RunId
from plait.kernel.store import RunFilter
from plait.stores.memory import MemoryStore
from tests.engine.flows import Order, echo, failing, listener, nothing, typed
from tests.engine.places import Place
from tests.kernel.rig import CountingStore, Outage


async def test_a_run_starts_and_gives_its_output(place: Place):
    async with place.engine() as engine:
        handle = await engine.start(echo, {"sku": "tea"})
        assert await handle.result() == {"sku": "tea"}
        assert await handle.status() == "completed"


async def test_a_result_comes_as_the_type_its_workflow_promises(place: Place):
    async with place.engine() as engine:
        assert await (await engine.start(typed, Order("tea"))).result() == Order("tea", 2)
        assert await (await engine.start(typed, {"sku": "tea"}, id="o")).result() == Order("tea", 2)
        assert await (await engine.get("o")).result() == Order("tea", 2)


async def test_the_same_id_with_the_same_input_is_the_same_run(place: Place):
    async with place.engine() as engine:
        first = await engine.start(echo, {"n": 1}, id="o-1")
        second = await engine.start(echo, {"n": 1}, id="o-1")
        assert first.id == second.id == "o-1"
        assert await second.result() == {"n": 1}
        assert len(await engine.runs()) == 1


async def test_a_run_that_has_ended_is_not_started_again(place: Place):
    async with place.engine() as engine:
        await (await engine.start(echo, 1, id="o-1")).result()
        await (await engine.start(echo, 1, id="o-1")).result()
        assert [event.type for event in await (await engine.get("o-1")).events()].count("run.started") == 1


@pytest.mark.parametrize(("definition", "input"), [(echo, {"n": 2}), (listener, None)])
async def test_the_same_id_with_something_else_is_a_conflict(place: Place, definition: Any, input: Any):
    async with place.engine() as engine:
        await engine.start(echo, {"n": 1}, id="o-1")
        with pytest.raises(Conflict) as caught:
            await engine.start(definition, input, id="o-1")
        assert caught.value.code == "kernel.run_exists"


async def test_fifty_starts_of_one_id_at_once_are_one_run(place: Place):
    async with place.engine() as engine:
        handles = await asyncio.gather(*(engine.start(echo, 1, id="o-1") for _ in range(50)))
        assert {await handle.result() for handle in handles} == {1}
        assert len(await engine.runs()) == 1


async def test_of_two_starts_at_once_that_do_not_agree_one_is_refused(place: Place):
    async with place.engine() as engine:
        results = await asyncio.gather(
            *(engine.start(echo, number, id="o-1") for number in range(2)), return_exceptions=True
        )
        assert sum(isinstance(result, Conflict) for result in results) == 1


async def test_a_start_by_a_second_engine_finds_the_run_of_the_first(place: Place):
    async with place.engine() as engine:
        await engine.start(listener, id="o-1")
    async with place.engine(listener) as engine:
        handle = await engine.start(listener, id="o-1")
        await handle.message("go", "now")
        assert await handle.result() == "now"


async def test_when_a_start_returns_the_run_is_in_the_store():
    store = CountingStore()
    async with Engine(store=store) as engine:
        store.gate = asyncio.Event()
        starting = asyncio.ensure_future(engine.start(listener, id="o-1"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not starting.done()
        assert await store.run(RunId("o-1")) is None
        store.gate.set()
        await starting
        assert await store.run(RunId("o-1")) is not None
    await store.dispose()


async def test_nobody_is_told_that_a_run_was_started_which_was_not():
    store = MemoryStore()
    async with Engine(store=store) as engine:
        store.faults = Outage("before", times=1)
        results = await asyncio.gather(*(engine.start(echo, 1, id="o-1") for _ in range(3)), return_exceptions=True)
        known = await store.runs(RunFilter())
        for result in results:
            assert isinstance(result, Unavailable) or known
        handle = await engine.start(echo, 1, id="o-1")
        assert await handle.result() == 1
    await store.dispose()


async def test_a_run_without_an_id_gets_one_that_sorts_by_time(place: Place):
    async with place.engine() as engine:
        first, second = await engine.start(nothing), await engine.start(nothing)
        assert first.id != second.id
        assert await (await engine.get(first.id)).result() is None


# -- what can not be started -----------------------------------------------------------------------------------------


async def test_a_workflow_nobody_loaded_is_named_with_those_that_are_there(place: Place):
    async with place.engine(echo) as engine:
        with pytest.raises(NotFound) as caught:
            await engine.start("ecko", 1)
        assert caught.value.code == "CODE_NOT_LOADED"
        assert "`ecko`" in caught.value.what
        assert "`echo`" in caught.value.fix


@pytest.mark.parametrize("definition", [None, 7, print, lambda ctx: None, {"nodes": []}])
async def test_what_is_no_definition_is_refused(place: Place, definition: Any):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput):
            await engine.start(definition)


@pytest.mark.parametrize(
    ("input", "part"),
    [
        (object(), "object"),
        ({"a": [float("nan")]}, "$.a[0]"),
        ({"a": float("inf")}, "$.a"),
        ({"a": "x\0"}, "$.a"),
        ({"a": {"b": "\ud800"}}, "$.a.b"),
        ({"conn": object()}, "$.conn"),
    ],
)
async def test_an_input_that_can_not_be_stored_is_refused_before_anything_is(place: Place, input: Any, part: str):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput) as caught:
            await engine.start(echo, input)
        assert caught.value.code == "value.not_encodable"
        assert part in str(caught.value)
        assert await engine.runs() == []


async def test_an_input_over_the_limit_is_too_large(place: Place):
    async with place.engine(limits=Limits(max_payload=1_000)) as engine:
        with pytest.raises(TooLarge) as caught:
            await engine.start(echo, "x" * 1_000)
        assert caught.value.code == "value.too_large"


async def test_an_input_of_the_wrong_type_is_refused_with_its_place(place: Place):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput) as caught:
            await engine.start(typed, {"sku": "tea", "count": "many"})
        assert caught.value.code == "CODE_INPUT_INVALID"
        assert "$.count" in str(caught.value)


@pytest.mark.parametrize("id", ["", "a/b", "a\0b", "a" * 201, "\ud800", 7])
async def test_an_id_that_can_not_be_used_is_refused(place: Place, id: Any):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput):
            await engine.start(echo, 1, id=id)


@pytest.mark.parametrize(
    "labels", [{"a": 1}, {1: "a"}, {"a": None}, {"a": "\ud800"}, {"\ud800": "a"}, {"a": "x\0"}, {"a": ["b"]}]
)
async def test_labels_that_are_no_texts_are_refused_and_poison_no_list(place: Place, labels: Any):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput):
            await engine.start(echo, 1, labels=labels)
        await (await engine.start(echo, 1, labels={"a": "b"})).result()
        assert [row.labels for row in await engine.runs()] == [{"a": "b"}]


@pytest.mark.parametrize("deadline", [float("nan"), float("inf"), -1, 0, "soon", 1e300, datetime.timedelta(days=-1)])
async def test_a_deadline_that_makes_no_sense_is_refused(place: Place, deadline: Any):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput) as caught:
            await engine.start(echo, 1, deadline=deadline)
        assert "deadline" in str(caught.value)


# -- what can be stored and read back --------------------------------------------------------------------------------


async def test_values_above_the_threshold_travel_all_the_way(place: Place):
    big = {"text": "x" * 200_000, "list": list(range(1_000))}

    @workflow
    async def carry(ctx: Context, input: Any) -> Any:
        got = await ctx.step("carry", _same, input)
        message = await ctx.listen("more")
        assert message is not None
        return [input, got, message.body, await ctx.child("kid", echo, got)]

    async with place.engine(carry, echo, code_cache=0) as engine:
        handle = await engine.start(carry, big, id="o-1")
        await handle.message("more", big)
        assert await handle.result() == [big, big, big, big]
        assert await (await engine.get("o-1")).result() == [big, big, big, big]
        events = await handle.events()
        assert events[0].data["input"] == big
        assert events[-1].data["output"] == [big, big, big, big]
    async with place.engine() as engine:
        assert await (await engine.get("o-1")).result() == [big, big, big, big]


async def _same(value: Any) -> Any:
    return value


async def test_an_output_that_can_not_be_stored_fails_the_run_with_its_place(place: Place):
    @workflow
    async def bad(ctx: Context) -> Any:
        return {"conn": object()}

    async with place.engine() as engine:
        handle = await engine.start(bad)
        with pytest.raises(RunFailed) as caught:
            await handle.result()
        assert caught.value.error.code == "CODE_NOT_ENCODABLE"
        assert "$.conn" in caught.value.error.message


async def test_an_output_over_the_limit_fails_the_run(place: Place):
    @workflow
    async def bad(ctx: Context) -> Any:
        return "x" * 2_000

    async with place.engine(limits=Limits(max_payload=1_000)) as engine:
        handle = await engine.start(bad)
        with pytest.raises(RunFailed, match="2,002 bytes"):
            await handle.result()


async def test_labels_and_filters_find_runs(place: Place):
    async with place.engine() as engine:
        for number in range(3):
            await (await engine.start(echo, number, id=f"e-{number}", labels={"team": "a" if number else "b"})).result()
        with pytest.raises(PlaitError):
            await (await engine.start(failing, id="f-1", labels={"team": "a"})).result()
        await engine.start(listener, id="l-1")

        async def found(**query: Any) -> set[str]:
            return {row.id for row in await engine.runs(RunFilter(**query))}

        assert await found(labels={"team": "a"}) == {"e-1", "e-2", "f-1"}
        assert await found(status="running") == {"l-1"}
        assert await found(status="failed") == {"f-1"}
        assert await found(definition="echo", labels={"team": "b"}) == {"e-0"}
        assert await found(id_prefix="e-") == {"e-0", "e-1", "e-2"}
        assert [row.id for row in await engine.runs(RunFilter(limit=2))] == ["l-1", "f-1"]
