"""Conditions that would run for hours, inside decisions: each is stopped at its limit, and other runs go on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import Engine, graph

NUMBERS = list(range(2_000))
LONG = "ab" * 100_000

BOMBS: dict[str, tuple[Any, Any]] = {
    "regex": ("output.matches('(.{0,300}b){3}c')", LONG),
    "all in all": ("output.all(a, output.all(b, output.all(c, a + b + c >= 0)))", NUMBERS),
    "filter": ({"type": "jsonpath", "query": "$[?$[?@ > 1]]"}, NUMBERS),
}


def asking(condition: Any) -> Any:
    """Says `yes` or `no` to its input."""
    rules = [{"condition": condition, "next_nodes": ["yes"]}]
    return graph(
        {
            "nodes": [
                {
                    "id": "ask",
                    "type": "transform",
                    "config": {"output": "$input"},
                    "branch": {"type": "conditional", "rules": rules, "default": ["no"]},
                },
                {"id": "yes", "type": "transform", "config": {"cel": "'yes'"}},
                {"id": "no", "type": "transform", "config": {"cel": "'no'"}},
            ],
        }
    )


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_bomb_is_false_with_an_event_and_other_runs_go_on(bomb: str) -> None:
    condition, value = BOMBS[bomb]
    async with Engine("memory:") as engine:
        bombs = [await engine.start(asking(condition), value) for _ in range(3)]
        others = [await engine.start(asking("output > 1"), number) for number in range(5)]
        answers = await asyncio.gather(*(other.result() for other in others))
        assert [next(iter(answer)) for answer in answers] == ["no", "no", "yes", "yes", "yes"]
        for run in bombs:
            assert await run.result() == {"no": "no"}
            [error] = [event.data for event in await run.events() if event.type == "condition.error"]
            assert (error["node_id"], error["code"], error.get("soft", False)) == ("ask", "condition.budget", False)
