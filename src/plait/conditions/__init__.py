"""Conditions that users write: bounded, without I/O, the same in every dialect.

    condition = conditions.compile("output.score >= 80 && ctx.enrich.output.revenue > 100000", nodes=ids)
    condition.reads                         # frozenset({"enrich"})
    condition.evaluate(output, ctx, input)  # Verdict(value=True, error=None)

`compile` parses any type of condition and raises an `InvalidCondition` that lists all of its flaws; the texts that a
condition refers to (`references`) are loaded first and passed to it. Evaluation is pure, except for conditions that
need a task (`needs_task`): those run in a sandbox, with `judge_in`.
"""

from __future__ import annotations

from .compiler import compile
from .condition import Condition, Sandbox
from .facts import MAX_LEAVES, Facts, Place, SandboxCall, at_a_node
from .findings import InvalidCondition
from .references import references
from .verdict import Problem, Verdict

__all__ = [
    "MAX_LEAVES",
    "Condition",
    "Facts",
    "InvalidCondition",
    "Place",
    "Problem",
    "Sandbox",
    "SandboxCall",
    "Verdict",
    "at_a_node",
    "compile",
    "references",
]
