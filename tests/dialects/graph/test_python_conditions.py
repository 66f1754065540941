"""A branch that Python decides: a task, once, and other runs go on whatever it does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import Engine
from plait.dialects.graph.graph import graph

pytestmark = pytest.mark.costly  # it starts processes

SEED = """
def evaluate(output, context):
    revenue = output.get('revenue', 0)
    previous_revenue = context.get('start', {}).get('output', {}).get('revenue', 0)
    return revenue > previous_revenue
"""
BOMB = "def evaluate(output, context):\n    while True: pass"


def branching(condition: Any) -> Any:
    """`start` doubles what it gets, `check` changes that again and asks, `yes` or `no` ends."""
    rules = [{"condition": condition, "next_nodes": ["yes"]}]
    return graph(
        {
            "nodes": [
                {"id": "start", "type": "transform", "config": {"cel": "{'revenue': input.revenue * 2}"}},
                {
                    "id": "check",
                    "type": "transform",
                    "config": {"cel": "{'revenue': payload.revenue * input.factor}"},
                    "branch": {"type": "conditional", "rules": rules, "default": ["no"]},
                },
                {"id": "yes", "type": "transform", "config": {"cel": "'yes'"}},
                {"id": "no", "type": "transform", "config": {"cel": "'no'"}},
            ],
            "edges": [{"from": "start", "to": "check"}],
        }
    )


def python(code: str, **limits: int) -> dict[str, Any]:
    return {"type": "python_sandbox", "code": code} | limits


async def events(handle: Any, kind: str) -> list[dict[str, Any]]:
    return [event.data for event in await handle.events() if event.type == kind]


async def test_python_decides_a_branch_with_what_nodes_gave():
    async with Engine("memory:") as engine:
        more = await engine.start(branching(python(SEED)), {"revenue": 50, "factor": 2})
        less = await engine.start(branching(python(SEED)), {"revenue": 50, "factor": 0.5})
        assert await more.result() == {"yes": "yes"}
        assert await less.result() == {"no": "no"}
        (judged,) = await events(more, "condition.judged")
        assert judged["value"] is True


async def test_a_bomb_is_false_with_an_event_and_other_runs_go_on_meanwhile():
    async with Engine("memory:") as engine:
        bomb = await engine.start(branching(python(BOMB, timeout_ms=500)), {"revenue": 1, "factor": 1})
        ended = asyncio.create_task(bomb.result())
        others = 0
        while not ended.done():
            other = await engine.start(branching("output.revenue > 1"), {"revenue": 1, "factor": 1})
            assert await other.result() == {"yes": "yes"}
            others += 1
        assert await ended == {"no": "no"}
        assert others > 5
        (error,) = await events(bomb, "condition.error")
        assert error["code"] == "condition.sandbox_timeout"
