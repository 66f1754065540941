"""What is known in a run towards goals: each value, and who gave it; and what the plan left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.cli import words
from plait.cli.output import say, table

_GIVEN = "input"


def say_attributes(details: Mapping[str, Any], limit: int | None) -> None:
    rows = [
        (name, given.get("step", _GIVEN) + (" (late)" if place else ""), words.value(given["value"], limit))
        for name, values in details["attributes"].items()
        for place, given in enumerate(values)
    ]
    if rows:
        say()
        table(("VALUE OF", "FROM", ""), rows, fold=("VALUE OF",), cut=() if limit is None else ("",))
    excluded = details["plan"]["excluded"]
    left_out = sorted({step_id for reasons in excluded.values() for step_id in reasons})
    if left_out:
        say(f"\nleft out by the plan: {', '.join(left_out)}", "bright_black")
