"""A compiled graph for people: its nodes in order, with their dependencies and targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from plait.cli.output import facts, say, table
from plait.kernel.definitions import Plan


def say_plan(plan: Plan) -> None:
    body: Mapping[str, Any] = plan.body
    facts(
        [
            ("graph", plan.definition),
            ("version", str(body["version"])),
            ("starts at", ", ".join(body["entry_nodes"])),
            ("hash", str(body["hash"])[:12]),
        ]
    )
    say()
    rows = [_row(body["nodes"][id]) for id in body["order"]]
    table(("NODE", "TYPE", "AFTER", "LEADS TO", ""), rows, fold=("NODE", "AFTER", "LEADS TO"))
    for note in plan.notes:
        say(Text.assemble("\n", ("warning ", "yellow"), note))


def _row(node: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    after = ", ".join(node["dependencies"])
    joins = f"all of {after}" if node["wait_for_all"] else after
    return node["id"], node["type"], joins, ", ".join(node["dependents"]), _notes(node)


def _notes(node: Mapping[str, Any]) -> str:
    loop = node.get("loop")
    found = [f"loops to {loop['loop_back_to']}, at most {loop['max_iterations']} times"] if loop is not None else []
    return "; ".join([*found, *(["ends a path"] if node["is_terminal"] else [])])
