"""What may be a workflow, what a run is started with, and what is refused before there is a run."""

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from plait import Context, Engine, workflow
from plait.errors import InvalidInput, NotFound

from .conftest import Simulate
from .decided import deciding
from .support import refused


@dataclass
class Order:
    sku: str
    amount: int = 1


@workflow
async def order(ctx: Context, input: Order) -> str:
    return f"{input.amount} x {input.sku}"


@workflow
async def no_input(ctx: Context) -> str:
    return ctx.run_id


# -- the function ----------------------------------------------------------------------------------------------------


def test_a_plain_function_is_no_workflow() -> None:
    with refused("CODE_BAD_SIGNATURE", "it is not `async def`", "use `async def charge(ctx, input)`"):

        @workflow
        def charge(ctx: Context) -> None: ...


def test_an_async_generator_is_no_workflow() -> None:
    with refused("CODE_BAD_SIGNATURE"):

        @workflow
        async def numbers(ctx: Context) -> Any:
            yield 1


@pytest.mark.parametrize("what", [print, 5, functools.partial(no_input.fn)], ids=["builtin", "number", "partial"])
def test_what_is_no_function_is_no_workflow(what: Any) -> None:
    with refused("CODE_BAD_SIGNATURE", "can't be a workflow"):
        workflow(what)


def test_a_workflow_takes_a_ctx() -> None:
    with refused("CODE_BAD_SIGNATURE", "it takes no `ctx`", "use `async def lonely(ctx, input)`"):

        @workflow
        async def lonely() -> None: ...


def test_a_method_is_no_workflow() -> None:
    with refused("CODE_BAD_SIGNATURE", "it is a method", "use `async def run(ctx, input)`"):

        class Shop:
            @workflow
            async def run(self, ctx: Context) -> None: ...


def test_the_order_of_a_set_does_not_change_the_hash_of_code() -> None:
    """It is another one in each process."""

    async def asks(ctx: Context, n: int) -> bool:
        return n in {0, 8} and (n,) not in {(0,), (8,)}

    def with_sets(*numbers: int) -> str:
        consts = (None, frozenset(numbers), (frozenset(numbers), "x"), ("one",))
        return workflow(types.FunctionType(asks.__code__.replace(co_consts=consts), {}, "asks")).hash

    assert repr(frozenset([0, 8])) != repr(frozenset([8, 0]))
    assert with_sets(0, 8) == with_sets(8, 0) != with_sets(0, 16)


def test_a_workflow_takes_one_input_at_most() -> None:
    with refused("CODE_BAD_SIGNATURE", "more than one input"):

        @workflow
        async def greedy(ctx: Context, a: int, b: int) -> None: ...


@pytest.mark.parametrize("kind", ["positional", "keywords", "keyword only"])
def test_a_workflow_takes_no_open_ended_arguments(kind: str) -> None:
    async def positional(ctx: Context, *args: int) -> None: ...
    async def keywords(ctx: Context, **kwargs: int) -> None: ...
    async def keyword_only(ctx: Context, *, a: int) -> None: ...

    found = {"positional": positional, "keywords": keywords, "keyword only": keyword_only}[kind]
    with refused("CODE_BAD_SIGNATURE", "more than `ctx` and one input"):
        workflow(found)


@pytest.mark.parametrize("name", ["9lives", "a b", "", "x" * 129, "a/b", "naïve"])
def test_a_workflow_name_is_plain(name: str) -> None:
    with refused("CODE_BAD_NAME"):

        @workflow(name=name)
        async def f(ctx: Context) -> None: ...


@pytest.mark.parametrize("name", ["a", "_", "order.v2-eu_west", "x" * 128])
def test_a_workflow_name_may_hold_letters_digits_and_a_few_marks(name: str) -> None:
    @workflow(name=name)
    async def f(ctx: Context) -> None: ...

    assert f.name == name


def test_the_name_is_that_of_the_function_unless_given() -> None:
    assert order.name == "order"


def test_a_workflow_and_a_step_can_still_be_called_as_functions() -> None:
    assert order.fn.__name__ == "order"
    with pytest.raises(StopIteration) as end:
        order(None, Order("tea", 2)).send(None)  # type: ignore[arg-type]
    assert end.value.value == "2 x tea"


# -- loading ---------------------------------------------------------------------------------------------------------


def test_two_workflows_of_one_name_are_refused() -> None:
    @workflow(name="order")
    async def another(ctx: Context) -> None: ...

    with refused("CODE_DUPLICATE_DEFINITION", "`order` is in", "test_definitions.py:", "set `name=`"):
        Engine("memory:", definitions=[order, another])


def test_versions_of_one_name_stand_side_by_side() -> None:
    @workflow(name="order", version="2024")
    async def old(ctx: Context) -> None: ...

    engine = Engine("memory:", definitions=[order, old])
    assert engine.code.registry.get("order") is order
    assert engine.code.registry.get("order@2024") is old


async def test_a_run_keeps_its_version_label() -> None:
    @workflow(name="greet", version="1")
    async def one(ctx: Context) -> str:
        await ctx.sleep("nap", 10)
        return "one"

    @workflow(name="greet", version="2")
    async def two(ctx: Context) -> str:
        return "two"

    async with deciding([one, two]) as s:
        run = await s.start("greet@1")
        await s.crash()
        assert await s.result(run) == "one"
        assert await s.run("greet@2") == "two"
        with refused("CODE_NOT_LOADED", "no workflow `greet`", "loaded: greet@1, greet@2"):
            await s.start("greet")


def test_a_module_gives_all_its_workflows() -> None:
    module = types.ModuleType("app")
    module.__dict__.update(order=order, alias=order, other=no_input, number=5)
    registry = Engine("memory:", definitions=[module]).code.registry
    assert registry.get("order") is order
    assert registry.get("no_input") is no_input


def test_something_else_can_not_be_loaded() -> None:
    with refused("CODE_NOT_LOADED", "is not a workflow", "mark the function with @workflow"):
        Engine("memory:", definitions=[lambda ctx: None])


async def test_an_unknown_workflow_is_refused_with_what_is_loaded(simulate: Simulate) -> None:
    async with simulate([order]) as s:
        with pytest.raises(NotFound) as caught:
            await s.engine.start("ordr")
        assert caught.value.code == "CODE_NOT_LOADED"
        assert "no workflow `ordr`" in str(caught.value)
        assert "loaded: order" in str(caught.value)
        assert "did you mean `order`?" in str(caught.value)


@pytest.mark.parametrize("definition", [{"steps": []}, None, 5, lambda ctx: None])
async def test_what_is_no_definition_is_refused(definition: Any, simulate: Simulate) -> None:
    async with simulate() as s:
        with refused("CODE_NOT_LOADED", "can be started", "@workflow"):
            await s.engine.start(definition)


async def test_a_workflow_that_was_not_loaded_is_loaded_by_starting_it() -> None:
    async with deciding() as s:
        assert await s.run(order, Order("tea")) == "1 x tea"


# -- the input -------------------------------------------------------------------------------------------------------


async def test_the_input_comes_as_its_type() -> None:
    async with deciding() as s:
        assert await s.run(order, Order("tea", 3)) == "3 x tea"
        assert await s.run(order, {"sku": "tea", "amount": 2}) == "2 x tea"


async def test_an_input_that_misfits_is_refused_and_there_is_no_run(simulate: Simulate) -> None:
    async with simulate() as s:
        with refused("CODE_INPUT_INVALID", "the input does not fit `order`", "$.amount", "`int`", "`str`"):
            await s.engine.start(order, {"sku": "tea", "amount": "many"}, id="o-1")
        with pytest.raises(NotFound):
            await s.engine.get("o-1")


async def test_an_input_is_refused_by_a_workflow_that_takes_none(simulate: Simulate) -> None:
    async with simulate() as s:
        with refused("CODE_INPUT_INVALID", "`no_input` takes no input"):
            await s.engine.start(no_input, {"a": 1})


async def test_a_missing_input_is_refused_by_a_workflow_that_needs_one(simulate: Simulate) -> None:
    async with simulate() as s:
        with refused("CODE_INPUT_INVALID"):
            await s.engine.start(order)


async def test_an_input_with_a_default_may_be_left_out() -> None:
    @workflow
    async def greet(ctx: Context, name: str = "world") -> str:
        return f"hello {name}"

    async with deciding() as s:
        assert await s.run(greet) == "hello world"
        assert await s.run(greet, "you") == "hello you"


@pytest.mark.parametrize("bad", [object(), {"a": {1, object()}}, "\ud800", "a\0b", float("nan"), {"x": float("inf")}])
async def test_an_input_that_is_not_json_is_refused(bad: Any, simulate: Simulate) -> None:
    @workflow
    async def echo(ctx: Context, input: Any) -> Any:
        return input

    async with simulate() as s:
        with pytest.raises(InvalidInput) as caught:
            await s.engine.start(echo, bad, id="o-1")
        assert caught.value.code == "value.not_encodable"
        with pytest.raises(NotFound):
            await s.engine.get("o-1")


async def test_the_input_is_pinned_at_the_start() -> None:
    @workflow
    async def last(ctx: Context, items: list[int]) -> list[int]:
        items.append(3)
        await ctx.sleep("nap", 1)
        return items

    given = [1, 2]
    async with deciding() as s:
        run = await s.start(last, given)
        given.append(99)
        await s.crash()
        assert await s.result(run) == [1, 2, 3]
    assert given == [1, 2, 99]


async def test_an_annotation_that_only_type_checkers_can_read_costs_no_other() -> None:
    async def fn(ctx, input, flag=None):  # type: ignore[no-untyped-def]
        return input.sku

    async def typed(ctx, input):  # type: ignore[no-untyped-def]
        return input.sku

    typed.__annotations__ = {"ctx": "OnlyForTypeCheckers", "input": "Order", "return": "str"}
    async with deciding() as s:
        assert await s.run(workflow(typed), {"sku": "tea"}) == "tea"


async def test_types_made_inside_a_function_are_found() -> None:
    T = TypeVar("T")

    def make(type: type[T]) -> Callable[..., Any]:
        async def f(ctx: Context, input: type) -> Any:  # type: ignore[valid-type]
            return [input, input.__class__.__name__]

        return f

    async with deciding() as s:
        assert await s.run(workflow(name="ints")(make(int)), 5) == [5, "int"]
        assert (await s.run(workflow(name="orders")(make(Order)), {"sku": "a"}))[1] == "Order"


# -- the same id -----------------------------------------------------------------------------------------------------


async def test_the_same_start_twice_is_one_run(simulate: Simulate) -> None:
    async with simulate() as s:
        first = await s.engine.start(order, Order("tea"), id="o-1")
        second = await s.engine.start(order, Order("tea"), id="o-1")
        assert first.id == second.id == "o-1"
        await s.settle()
        assert len(await s.engine.runs()) == 1


async def test_one_id_with_another_input_is_a_conflict(simulate: Simulate) -> None:
    async with simulate() as s:
        await s.engine.start(order, Order("tea"), id="o-1")
        with refused("kernel.run_exists", "another definition or input"):
            await s.engine.start(order, Order("coffee"), id="o-1")
        with refused("kernel.run_exists"):
            await s.engine.start(no_input, id="o-1")


async def test_partials_and_callables_are_steps_too() -> None:
    class Adder:
        async def __call__(self, a: int, b: int) -> int:
            return a + b

    @workflow
    async def w(ctx: Context) -> list[int]:
        return [
            await ctx.step("callable", Adder(), 1, 2),
            await ctx.step("partial", functools.partial(Adder(), 3), 4),
            await ctx.step("builtin", max, 5, 6),
        ]

    async with deciding() as s:
        assert await s.run(w) == [3, 7, 6]
