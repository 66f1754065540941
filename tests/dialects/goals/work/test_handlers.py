"""Steps that a Python function does."""

import asyncio
import functools
import threading
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict

import pytest

from plait.dialects.goals.running.tasks import missing_handler
from plait.dialects.goals.steps.builder import Input, StepBuilder, catalog_step, python_step
from plait.dialects.goals.steps.handlers import Handlers
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import InvalidInput
from plait.workers.python import Functions

from .rig import TOKEN, rig


class Receipt(TypedDict):
    receipt: str
    total: float


@dataclass
class Line:
    name: str
    price: float


class Pair(NamedTuple):
    a: int
    b: int


def pay() -> StepBuilder:
    return catalog_step("pay").required("amount").python("pay")


async def test_an_async_function_runs_on_the_event_loop() -> None:
    async def handler(amount: int) -> Any:
        await asyncio.sleep(0)
        return {"paid": amount, "main": threading.current_thread() is threading.main_thread()}

    async with rig({"pay": handler}) as here:
        assert (await here.work(pay(), amount=5)).outputs == {"paid": 5, "main": True}


async def test_a_plain_function_runs_in_a_thread() -> None:
    def handler(amount: int) -> Any:
        return {"paid": amount, "main": threading.current_thread() is threading.main_thread()}

    async with rig({"pay": handler}) as here:
        assert (await here.work(pay(), amount=5)).outputs == {"paid": 5, "main": False}


@pytest.mark.parametrize(
    ("result", "outputs"),
    [
        ({"a": 1}, {"a": 1}),
        (5, {"result": 5}),
        ([1, 2], {"result": [1, 2]}),
        (None, {}),
        (Line("tea", 2.5), {"name": "tea", "price": 2.5}),
        (Pair(1, 2), {"a": 1, "b": 2}),
    ],
)
async def test_what_a_function_returns_as_outputs(result: Any, outputs: Any) -> None:
    async def later() -> Any:
        return result

    async with rig({"now": lambda: result, "later": later}) as here:
        assert (await here.work(catalog_step("x").python("now"))).outputs == outputs
        assert (await here.work(catalog_step("x").python("later"))).outputs == outputs


async def test_functions_of_all_kinds() -> None:
    class Callable:
        async def __call__(self, amount: int) -> Any:
            return {"thread": threading.current_thread() is not threading.main_thread()}

        def coroutine(self, amount: int) -> Any:
            return self(amount)

    async def two(amount: int, more: int) -> Any:
        return {"sum": amount + more}

    known = {"object": Callable(), "partial": functools.partial(two, more=1), "late": Callable().coroutine}
    async with rig(known) as here:
        assert (await here.work(catalog_step("x").python("object"), amount=1)).outputs == {"thread": False}
        assert (await here.work(catalog_step("x").python("partial"), amount=1)).outputs == {"sum": 2}
        assert (await here.work(catalog_step("x").python("late"), amount=1)).outputs == {"thread": False}


async def test_a_typed_step_gets_its_arguments_by_type_and_inner_name() -> None:
    @python_step
    async def charge(lines: list[Line], customer: Annotated[str, Input(name="buyer")], rate: float = 0.5) -> Receipt:
        return {"receipt": f"{customer}: {lines[0].name}", "total": lines[0].price * rate}

    async with rig({"charge": charge}) as here:
        done = await here.work(charge.definition, lines=[{"name": "tea", "price": 4}], customer="ann")
        assert done.outputs == {"receipt": "ann: tea", "total": 2}


async def test_a_typed_step_with_one_value_gives_its_result() -> None:
    @python_step
    def double(n: int) -> dict[str, int]:
        return {"twice": n * 2}

    async with rig({"double": double}) as here:
        assert (await here.work(double.definition, n=4)).outputs == {"result": {"twice": 8}}


async def test_an_argument_of_the_wrong_type_is_wrong_on_every_attempt() -> None:
    @python_step
    async def charge(amount: int) -> None:
        raise AssertionError("must not be called")

    async with rig({"charge": charge}) as here:
        done = await here.work(charge.definition, amount="five")
        assert done.permanent
        assert done.error == "input 'amount' has the wrong type: Expected `int`, got `str`"


async def test_inputs_that_the_function_does_not_take_are_wrong_on_every_attempt() -> None:
    async def handler(amount: int) -> None: ...

    async with rig({"pay": handler, "plain": lambda amount: None}) as here:
        for name in ("pay", "plain"):
            done = await here.work(catalog_step("x").python(name), amount=5, other=1)
            assert done.permanent
            assert done.error.startswith(f"handler `{name}` can't take these inputs: ")
            assert "unexpected keyword argument 'other'" in done.error
            assert "missing 1 required" in (await here.work(catalog_step("x").python(name))).error


async def test_exceptions_are_tried_again_unless_they_say_otherwise() -> None:
    class Final(Exception):
        retryable: ClassVar[bool] = False

    async def raising(error: str) -> None:
        raise Final("no") if error == "final" else TypeError(error)

    async with rig({"x": raising}) as here:
        done = await here.work(catalog_step("x").python("x"), error="oops")
        assert (done.error, done.retryable) == ("oops", True)
        done = await here.work(catalog_step("x").python("x"), error="final")
        assert (done.error, done.retryable) == ("no", False)


async def test_a_type_error_inside_the_function_is_its_own() -> None:
    def inner(amount: int) -> Any:
        return amount + "x"  # type: ignore[operator]

    async with rig({"pay": inner}) as here:
        done = await here.work(pay(), amount=1)
        assert "unsupported operand" in done.error
        assert done.retryable


async def test_outputs_are_renamed_and_mapped_in_threads_too() -> None:
    outputs = (
        catalog_step("x").output("receipt", inner="id").output("n", script=("ale", "(length (:rows n))")).python("x")
    )

    async def later() -> Any:
        return {"id": 1, "rows": [1, 2]}

    for handler in (later, lambda: {"id": 1, "rows": [1, 2]}):
        async with rig({"x": handler}) as here:
            assert (await here.work(outputs)).outputs == {"receipt": 1, "n": 2, "rows": [1, 2]}


async def test_meta_inputs_of_the_call() -> None:
    async def handler(key: str) -> Any:
        return {"key": key}

    async with rig({"pay": handler}) as here:
        assert (await here.work(catalog_step("pay").meta("key", "receipt_token").python("pay"))).outputs == {
            "key": TOKEN
        }


async def test_a_compensator_gets_input_and_output() -> None:
    undone: list[Any] = []

    async def later(input: Any, output: Any) -> Any:
        undone.append((input, output))
        return object()  # nobody wants it

    def now(input: Any, output: Any) -> None:
        undone.append((input, output))

    async with rig({"later": later, "now": now}) as here:
        for name in ("later", "now"):
            wanted = catalog_step("pay").required("amount").output("receipt", inner="id").python("pay", compensate=name)
            done = await here.undo(wanted, {"amount": 5}, {"receipt": "r-1"})
            assert (done.output, done.error) == (None, "")
    assert undone == [({"amount": 5}, {"id": "r-1"})] * 2


async def test_a_typed_compensator() -> None:
    class Paid(TypedDict):
        amount: int

    seen: list[Any] = []

    @python_step
    def undo(input: Paid, output: Line) -> None:
        seen.append(output.name)

    async with rig({"undo": undo}) as here:
        wanted = catalog_step("pay").python("pay", compensate="undo")
        assert not (await here.undo(wanted, {"amount": 5}, {"name": "tea", "price": 1})).error
    assert seen == ["tea"]


async def test_what_is_lacking_is_said() -> None:
    async with rig({"here": lambda: None}) as here:

        def lacks(step: Step) -> str | None:
            return missing_handler(here.context(), step)

        def lacks_undo(step: Step) -> str | None:
            unbound = here.compensation(step, {}, {}).unbound
            return None if unbound is None else unbound.message

        assert lacks(catalog_step("x").python("here").build()) is None
        assert lacks(catalog_step("x").python("gone").build()) == "no handler `gone`"
        assert lacks(catalog_step("x").python("gone", queue="gpu").build()) is None, "workers have it"
        assert lacks(catalog_step("x").sync("http://a/b").build()) is None
        assert lacks_undo(catalog_step("x").python("here", compensate="gone").build()) == "step 'x': no handler `gone`"
        assert lacks_undo(catalog_step("x").python("here", compensate="here").build()) is None
        assert lacks_undo(catalog_step("x").sync("http://a/b", compensate="http://a/c").build()) is None


async def test_work_without_its_handler_waits_for_one() -> None:
    async with rig() as here:
        assert (await here.work(pay(), amount=1)).error == "no handler `pay`"
        done = await here.undo(catalog_step("x").python("x", compensate="gone"), {}, {})
        assert (done.error, done.retryable) == ("no handler `gone`", True)
        here.handlers.add("pay", lambda amount: {"paid": amount})
        assert (await here.work(pay(), amount=1)).outputs == {"paid": 1}


def test_only_what_can_be_called_is_a_handler() -> None:
    with pytest.raises(InvalidInput, match="handler `x` is a int"):
        Handlers(Functions()).add("x", 5)  # type: ignore[arg-type]
