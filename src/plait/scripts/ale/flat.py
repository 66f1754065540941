"""Recursion without Python's stack: generators that yield the generators whose result they need.

Texts and their expansions can nest deeper than Python's call stack allows; this lets the compiler still read like
plain recursion.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Task: TypeAlias = Generator[Any, Any, T]
"""Yields other tasks; each `yield` returns the result of that task."""


def finish(task: Task[T]) -> T:
    """Runs a task, and all tasks that it waits for, to completion."""
    stack: list[Task[Any]] = [task]
    value: Any = None
    while True:
        try:
            waits_for = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
            if not stack:
                return value
        else:
            stack.append(waits_for)
            value = None
