"""LangGraph on its SQLite checkpointer: a graph whose node visits are the durable steps.

With ``durability="sync"`` a node's result is on disk before the next node starts. One node that sends itself on, with
all its state in one channel, measured fastest. Recovery is the application's business: after a crash it invokes each
unfinished thread again, so ``resume`` is told which. There is no durable sleep.
"""

# Peers live in environments of their own, where this file runs; the project's type checker cannot see them.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import asyncio
from importlib import metadata
from operator import add
from typing import Annotated, Any, Literal, TypedDict

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send

from bench.subjects.engine import GATE
from bench.subjects.script import run_engine

MOST_STEPS = 1_000_000


class Walk(TypedDict):
    """Where a run of sequential steps is; the gate, if any, stands before one of them."""

    run: str
    steps: int
    gate: int | None
    done: int
    total: int


class Walking(TypedDict):
    walk: Walk


class Fan(TypedDict):
    width: int
    numbers: Annotated[list[int], add]
    total: int


async def number(state: Walking) -> Command[Literal["number", "__end__"]]:
    walk = state["walk"]
    done = walk["done"]
    if done == walk["gate"]:
        await GATE.passing(walk["run"])
    after = Walk({**walk, "done": done + 1, "total": walk["total"] + done})
    return Command(update={"walk": after}, goto="number" if after["done"] < after["steps"] else END)


async def one_of_many(i: int) -> dict[str, list[int]]:
    return {"numbers": [i]}


def fan_out(fan: Fan) -> list[Send]:
    return [Send("one_of_many", i) for i in range(fan["width"])]


async def join(fan: Fan) -> dict[str, int]:
    return {"total": sum(fan["numbers"])}


def sequential_graph(saver: AsyncSqliteSaver) -> Any:
    graph = StateGraph(Walking)
    graph.add_node("number", number)
    graph.add_edge(START, "number")
    return graph.compile(checkpointer=saver)


def parallel_graph(saver: AsyncSqliteSaver) -> Any:
    graph = StateGraph(Fan)
    graph.add_node("one_of_many", one_of_many)
    graph.add_node("join", join)
    graph.add_conditional_edges(START, fan_out, ["one_of_many"])
    graph.add_edge("one_of_many", "join")
    graph.add_edge("join", END)
    return graph.compile(checkpointer=saver)


class LangGraphSubject:
    def __init__(self, target: str) -> None:
        self._path = target.removeprefix("sqlite:///")
        self._background: set[asyncio.Task[int]] = set()

    async def open(self) -> None:
        saver = AsyncSqliteSaver(await aiosqlite.connect(self._path))
        self._sequential = sequential_graph(saver)
        self._parallel = parallel_graph(saver)

    async def sequential(self, run: str, steps: int) -> int:
        return await self._walk(Walk(run=run, steps=steps, gate=None, done=0, total=0))

    async def parallel(self, run: str, width: int) -> int:
        state = await _invoke(self._parallel, run, Fan(width=width, numbers=[], total=0))
        return state["total"]

    async def hold(self, run: str, before: int, after: int) -> None:
        walk = Walk(run=run, steps=before + 1 + after, gate=before, done=0, total=0)
        self._background.add(asyncio.create_task(self._walk(walk)))
        await GATE.arrival(run)

    async def resume(self, runs: list[str]) -> None:
        await asyncio.gather(*(_invoke(self._sequential, run, None) for run in runs))

    async def sleep(self, run: str) -> None:
        raise NotImplementedError("LangGraph has no durable sleep")

    def helpers(self) -> list[int]:
        return []

    async def _walk(self, walk: Walk) -> int:
        state = await _invoke(self._sequential, walk["run"], Walking(walk=walk))
        return state["walk"]["total"]


async def _invoke(graph: Any, run: str, given: Walking | Fan | None) -> Any:
    config = {"configurable": {"thread_id": run}, "recursion_limit": MOST_STEPS}
    return await graph.ainvoke(given, config, durability="sync")


if __name__ == "__main__":
    run_engine(metadata.version("langgraph"), LangGraphSubject)
