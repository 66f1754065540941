"""Steps whose results are remembered."""

from collections.abc import Callable
from typing import Any

import pytest

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.kernel import values
from plait.kernel.memo import Memo, canonical

from .rig import rig
from .service import Said, said, service


class Counting:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def plain(self, n: Any) -> Any:
        self.calls += 1
        return {"call": self.calls}

    async def later(self, n: Any) -> Any:
        return self.plain(n)


def counted() -> StepBuilder:
    return catalog_step("x").required("n").output("call").python("x").memoizable()


@pytest.mark.parametrize("kind", ["plain", "later"])
async def test_equal_inputs_are_worked_on_once(kind: str) -> None:
    handler: Callable[..., Any] = getattr(Counting(), kind)
    async with rig({"x": handler}) as here:
        assert (await here.work(counted(), n={"a": 1, "b": 2})).output == {"outputs": {"call": 1}}
        assert (await here.work(counted(), n={"b": 2, "a": 1})).output == {"outputs": {"call": 1}, "memo": True}
        assert (await here.work(counted(), n={"a": 1, "b": 3})).output == {"outputs": {"call": 2}}


async def test_only_what_decides_the_result_counts() -> None:
    async with rig({"x": Counting().plain}) as here:
        await here.work(counted(), n=1)
        renamed = catalog_step("y", "Another name").required("n").output("call").python("x").memoizable().labels(a="b")
        assert (await here.work(renamed, n=1)).output["memo"]
        other = counted().output("more")
        assert "memo" not in (await here.work(other, n=1)).output


async def test_a_step_that_does_not_say_so_is_not_remembered() -> None:
    async with rig({"x": Counting().plain}) as here:
        wanted = catalog_step("x").required("n").python("x")
        assert [(await here.work(wanted, n=1)).outputs["call"] for _ in range(2)] == [1, 2]


async def test_another_function_under_the_same_name_is_another_step() -> None:
    async with rig({"x": Counting().plain}) as here:
        await here.work(counted(), n=1)
        here.handlers.add("x", lambda n: {"call": "new"})
        assert (await here.work(counted(), n=1)).output == {"outputs": {"call": "new"}}


async def test_the_token_is_an_input_like_others_where_a_step_asks_for_it() -> None:
    async with rig({"x": lambda n, token: {"call": token}}) as here:
        wanted = counted().meta("token", "receipt_token")
        assert (await here.work(wanted, token="a", n=1)).outputs == {"call": "a"}
        assert (await here.work(wanted, token="b", n=1)).outputs == {"call": "b"}


async def test_failures_are_not_remembered() -> None:
    answers = [Said(500), said({"call": 1})]
    with service(lambda _: answers.pop(0)) as served:
        wanted = catalog_step("x").required("n").sync(served.url).memoizable()
        async with rig() as here:
            assert (await here.work(wanted, n=1)).error
            assert (await here.work(wanted, n=1)).outputs == {"call": 1}
            assert (await here.work(wanted, n=1)).output["memo"]
        assert len(served.asked) == 2


async def test_async_steps_are_called_each_time() -> None:
    with service(lambda _: Said(202)) as served:
        wanted = catalog_step("x").webhook(served.url).memoizable()
        async with rig() as here:
            for _ in range(2):
                assert (await here.work(wanted)).output is None
        assert len(served.asked) == 2


async def test_scripts_and_mapped_outputs_are_remembered() -> None:
    wanted = (
        catalog_step("x").required("n").output("m", script=("lua", "return m.m + 1")).lua("return {m = n}").memoizable()
    )
    async with rig() as here:
        assert (await here.work(wanted, n=1)).output == {"outputs": {"m": 2}}
        assert (await here.work(wanted, n=1)).output == {"outputs": {"m": 2}, "memo": True}


def test_the_results_used_last_stay() -> None:
    memo = Memo(max_entries=2)
    for key in ("a", "b"):
        memo.keep((key,), values.encode({"key": key}))
    assert memo.get(("a",)) == values.encode({"key": "a"})
    memo.keep(("c",), values.encode({}))
    assert memo.get(("b",)) is None
    assert memo.get(("a",)) is not None
    assert len(memo) == 2


def test_all_results_together_have_a_limit() -> None:
    memo = Memo(max_bytes=1000)
    for key in range(100):
        memo.keep((key,), values.encode({"text": "x" * 90}))
        memo.keep((key,), values.encode({"text": "x" * 90}))
    assert len(memo) == 9
    memo.keep(("large",), values.encode({"text": "x" * 2_000_000}))
    assert memo.get(("large",)) is None
    assert len(memo) == 9


def test_inputs_are_compared_by_what_they_are() -> None:
    assert canonical(values.Raw(b'{"a": [1, {"c": 1, "b": 2}]}')) == canonical(values.Raw(b'{"a":[1,{"b":2,"c":1}]}'))
    assert canonical(values.Raw(b'{"a":1}')) != canonical(values.Raw(b'{"a":"1"}'))
