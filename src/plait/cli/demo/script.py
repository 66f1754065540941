"""The scenes of the demo, in order. They follow what the runs do, not the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from plait.demo.workflows import Order, Wait, expense, order, reminder
from plait.engine import Handle
from plait.kernel.errors import Unavailable
from plait.kernel.view import RunView
from plait.registry.engine import Engine

from .process import EngineProcess
from .stage import Scene, Stage

LOOK = 0.1
PATIENCE = 30.0
"""Maximum seconds per scene; far more than any needs."""

Views = dict[str, RunView]


class Script:
    def __init__(self, engine: Engine, process: EngineProcess, stage: Stage, pace: float) -> None:
        self._engine = engine
        self._process = process
        self._stage = stage
        self._pace = pace
        self._runs: dict[str, Handle[Any]] = {}

    async def play(self) -> None:
        await self._begin()
        await self._answer()
        await self._crash()
        await self._recover()

    async def _begin(self) -> None:
        await self._process.start()
        self._stage.tell(f"An engine runs, process {self._process.pid}. Four runs are started.")
        pace = 0.4 * self._pace
        await self._start("order-1", order, Order("Ada", pace=pace))
        await self._start("order-2", order, Order("Bob", ["unicorn"], bank="declines", pace=pace))
        await self._start("expense-1", expense)
        await self._start("reminder-1", reminder, Wait(7 * self._pace))
        await self._until(lambda views: all(_begun(views[run], "yes") for run in ("order-1", "order-2")))

    async def _answer(self) -> None:
        self._stage.tell("Both orders wait for a message; somebody says yes: plait message order-1 yes")
        for run in ("order-1", "order-2"):
            await self._runs[run].message("yes")
        await self._until(lambda views: _begun(views["order-1"], "charge"))
        self._stage.tell("order-1: the bank does not answer, so `charge` is tried again.")
        await self._until(lambda views: views["order-2"].status == "failed")
        self._stage.tell("order-2: its card is declined. What it had reserved is released; it has failed.")
        await self._until(lambda views: _begun(views["order-1"], "items/~1/ship"))

    async def _crash(self) -> None:
        self._stage.tell(f"kill -9 {self._process.pid}: the engine dies while order-1 ships its second item.")
        await self._process.kill()
        [asked] = await self._engine.approvals.list()
        await self._engine.approvals.decide(asked.id, "approve", by="boss")
        self._stage.tell("Meanwhile the boss approves expense-1. It is kept: plait approve expense-1")
        await self._pause(1.5 * self._pace)

    async def _recover(self) -> None:
        await self._process.start()
        self._stage.tell(f"A new engine, process {self._process.pid}, takes the runs up where they were.")
        await self._until(lambda views: all(view.status != "running" for view in views.values()))

    async def _start(self, id: str, definition: Any, input: Any = None) -> None:
        self._runs[id] = await self._engine.start(definition, input, id=id)

    async def _until(self, happened: Callable[[Views], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not happened(await self._look()):  # noqa: ASYNC110 -- what is looked at is in another process
                await asyncio.sleep(LOOK)

    async def _pause(self, seconds: float) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            await self._look()
            await asyncio.sleep(LOOK)

    async def _look(self) -> Views:
        seen = [(await handle.view(), await handle.waiting()) for handle in self._runs.values()]
        pid = self._process.pid
        self._stage.show(Scene(seen, f"engine: process {pid}" if pid else "engine: none; the runs are on disk only"))
        return {view.run_id: view for view, _ in seen}


def _begun(view: RunView, at: str) -> bool:
    """Whether an operation has started; on a busy machine, it may already have ended when first seen."""
    return any(node.id == at for node in view.nodes)


def too_slow() -> Unavailable:
    return Unavailable(
        "cli.demo",
        "the demo did not get on",
        why="this machine is very busy",
        fix="try again, or look with `plait runs`",
    )
