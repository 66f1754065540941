"""A plan for people: the steps in the order in which they can run, and the dependencies of each."""

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
            ("workflow", plan.definition),
            ("version", plan.version or "-"),
            ("output", ", ".join(body["outputs"]) or "-"),
            ("hash", str(body["hash"])[:12]),
        ]
    )
    say()
    levels = {name: number for number, level in enumerate(body["levels"], 1) for name in level}
    steps = sorted(body["steps"], key=lambda step: levels[step["name"]])
    rows = [
        (str(levels[step["name"]]), step["name"], step["kind"], ", ".join(step["needs"]), _notes(step))
        for step in steps
    ]
    table(("LEVEL", "STEP", "ACTION", "AFTER", ""), rows, fold=("STEP", "AFTER"))
    for note in plan.notes:
        say(Text.assemble("\n", ("warning ", "yellow"), note))


def _notes(step: Mapping[str, Any]) -> str:
    named = [str(step["action"])] if isinstance(step["action"], str) and step["action"] else []
    loop = [f"for each of {step['forEach']}"] if step["forEach"] else []
    return "; ".join([*named, *loop, *(["conditional"] if step["conditional"] else [])])
