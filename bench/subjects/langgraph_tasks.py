"""LangGraph's other style: an entrypoint function that calls tasks.

Faster than nodes, but the results of tasks are written behind the function's back, whatever the durability mode: of
200 runs killed after their fifth task, nothing at all was found on disk. That is a weaker promise than the other
subjects make; it is shown, for the works that do not crash, because it is the fastest LangGraph there is.
"""

# Peers live in environments of their own, where this file runs; the project's type checker cannot see them.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

import asyncio
from importlib import metadata
from typing import Any

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.func import entrypoint, task

from bench.subjects.script import run_engine


@task
async def number(i: int) -> int:
    return i


async def sequential(steps: int) -> int:
    total = 0
    for i in range(steps):
        total += await number(i)
    return total


async def parallel(width: int) -> int:
    return sum(await asyncio.gather(*(number(i) for i in range(width))))


class LangGraphTasksSubject:
    def __init__(self, target: str) -> None:
        self._path = target.removeprefix("sqlite:///")

    async def open(self) -> None:
        saver = AsyncSqliteSaver(await aiosqlite.connect(self._path))
        self._sequential = entrypoint(checkpointer=saver)(sequential)
        self._parallel = entrypoint(checkpointer=saver)(parallel)

    async def sequential(self, run: str, steps: int) -> int:
        return await _invoke(self._sequential, run, steps)

    async def parallel(self, run: str, width: int) -> int:
        return await _invoke(self._parallel, run, width)

    async def hold(self, run: str, before: int, after: int) -> None:
        raise NotImplementedError("tasks are not on disk when the process is killed")

    async def resume(self, runs: list[str]) -> None:
        raise NotImplementedError("tasks are not on disk when the process is killed")

    async def sleep(self, run: str) -> None:
        raise NotImplementedError("LangGraph has no durable sleep")

    def helpers(self) -> list[int]:
        return []


async def _invoke(graph: Any, run: str, given: int) -> int:
    return await graph.ainvoke(given, {"configurable": {"thread_id": run}}, durability="sync")


if __name__ == "__main__":
    run_engine(metadata.version("langgraph"), LangGraphTasksSubject)
