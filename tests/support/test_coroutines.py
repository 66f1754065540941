import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.coroutines import on_a_loop


async def test_an_async_test_runs_on_a_loop():
    assert await asyncio.sleep(0, "awaited") == "awaited"


@given(number=st.integers())
async def test_a_property_may_be_async(number: int):
    assert await asyncio.sleep(0, number) == number


def test_an_async_test_that_hangs_is_stopped():
    async def hang() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        on_a_loop(hang, seconds=0.01)()
