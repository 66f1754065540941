"""What a call finds ready, and what it leaves behind."""

import asyncio
import gc
import weakref
from typing import Any

import pytest
from msgspec import Raw

from plait.scripts.javascript import JavaScriptPool
from plait.scripts.javascript.sandbox.context import Contexts
from plait.scripts.javascript.sandbox.heap import Heap
from plait.scripts.processes.worker import Worker

_SAME = "export default input => input"


async def test_a_call_takes_the_worker_that_had_most_time_to_prepare(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = Worker.ask

    async def noting(worker: Worker, *arguments: Any) -> Any:
        asked.append(worker.pid)
        return await ask(worker, *arguments)

    monkeypatch.setattr(Worker, "ask", noting)
    async with JavaScriptPool(2) as pool:
        await asyncio.gather(pool.run(_SAME, Raw(b"1")), pool.run(_SAME, Raw(b"2")))
        asked.clear()
        for _ in range(4):
            await pool.run(_SAME, Raw(b"3"))
        assert set(asked) == pool.pids
        assert asked[:2] == asked[2:]


def test_a_context_is_freed_as_soon_as_nobody_has_it() -> None:
    context = Contexts(Heap()).new()
    context.begin(1 << 26, 1 << 20, print)
    left = weakref.ref(context)
    gc.disable()
    try:
        del context
        assert left() is None
    finally:
        gc.enable()
