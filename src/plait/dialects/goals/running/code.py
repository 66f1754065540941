"""The Python functions that a run calls in its engine's own process: engines that have them all can take it."""

from __future__ import annotations

from .compiled_plan import CompiledPlan


def code_name(handler: str) -> str:
    """As engines tell each other what they have."""
    return f"python:{handler}"


def code_of(compiled: CompiledPlan) -> list[str]:
    """Those of steps on queues are not among them: workers have these."""
    steps = [plan.step for plan in compiled.steps.values()]
    called = [(step.python.handler, step.compensate) for step in steps if step.python and not step.python.queue]
    return [code_name(handler) for handlers in called for handler in handlers if handler]
