"""The Python functions that a run calls in its engine's own process: an engine that has them all can own the run."""

from __future__ import annotations

from .compiled_plan import CompiledPlan


def code_name(handler: str) -> str:
    """The name under which engines announce a function."""
    return f"python:{handler}"


def code_of(compiled: CompiledPlan) -> list[str]:
    """The functions that a plan calls, except those on queues: workers have these."""
    steps = [plan.step for plan in compiled.steps.values()]
    called = [(step.python.handler, step.compensate) for step in steps if step.python and not step.python.queue]
    return [code_name(handler) for handlers in called for handler in handlers if handler]
