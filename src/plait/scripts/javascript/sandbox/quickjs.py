"""The parts of the package `quickjs-ng` that we use, with types: its extension module has none."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol

_module: Any = importlib.import_module("_quickjs")

JSException: type[Exception] = _module.JSException
StackOverflow: type[Exception] = _module.StackOverflow


class Context(Protocol):
    def eval(self, code: str) -> Any: ...

    def module(self, code: str) -> Any: ...

    def execute_pending_job(self) -> bool: ...

    def add_callable(self, name: str, function: Callable[[str], None]) -> None: ...

    def get(self, name: str) -> Any: ...

    def set_memory_limit(self, limit: int) -> None: ...

    def set_max_stack_size(self, size: int) -> None: ...


def new_context() -> Context:
    return _module.Context()
