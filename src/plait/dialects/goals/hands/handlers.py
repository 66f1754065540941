"""The Python functions that steps of type `python` name, and how each wants to be called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from plait.dialects.goals.running.hands import WorkError
from plait.dialects.goals.steps.builder import PythonStep
from plait.dialects.goals.steps.signature import outputs_of
from plait.kernel.errors import InvalidInput

Function = Callable[..., Any]


class Handler:
    """A registered function. What can be known of it before it is called is found out once."""

    __slots__ = ("_fn", "_typed", "name", "threaded")

    def __init__(self, name: str, function: Function | PythonStep[..., Any]) -> None:
        self.name = name
        self._typed: PythonStep[..., Any] | None = None
        self._fn: Function = function
        if isinstance(function, PythonStep):
            self._typed = cast("PythonStep[..., Any]", function)
            self._fn = self._typed.fn
        self.threaded = not is_async(self._fn)
        """A plain function, which may block."""

    def call(self, inputs: dict[str, Any]) -> Any | Awaitable[Any]:
        """Calls it with arguments by name. Arguments that don't fit are wrong on every attempt."""
        try:
            arguments = inputs if self._typed is None else self._typed.arguments(inputs)
        except InvalidInput as error:
            raise WorkError(f"{error.what}: {error.why}", retryable=False) from None
        try:
            return self._fn(**arguments)
        except TypeError as error:
            trace = error.__traceback__
            if trace is not None and trace.tb_next is None:  # raised by the call itself, not inside
                raise WorkError(f"handler `{self.name}` can't take these inputs: {error}", retryable=False) from None
            raise

    def outputs(self, result: Any) -> dict[str, Any]:
        """What it returned, as named outputs: an object's keys, a record's fields, none for None."""
        if self._typed is not None:
            return self._typed.outputs(result)
        return cast("dict[str, Any]", result) if type(result) is dict else outputs_of(Any, result)


class Handlers:
    """All that are registered in this process, by name. A name that is given again means the new function."""

    def __init__(self, known: Mapping[str, Function | PythonStep[..., Any]] | None = None) -> None:
        self._known: dict[str, Handler] = {}
        for name, function in (known or {}).items():
            self.add(name, function)

    def add(self, name: str, function: Function | PythonStep[..., Any]) -> None:
        if not callable(function):
            raise InvalidInput(
                "goals.bad_handler", f"handler `{name}` is a {type(function).__name__}", fix="pass a function"
            )
        self._known[name] = Handler(name, function)
        if isinstance(function, PythonStep) and function.undo is not None:
            undo = function.definition.compensate
            self._known[undo] = Handler(undo, function.undo)

    def get(self, name: str) -> Handler | None:
        return self._known.get(name)


def is_async(function: Function) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
