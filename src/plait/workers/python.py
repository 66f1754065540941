"""Tasks of the kind `python`: registered functions, async ones on the event loop, plain ones in a thread.

Most steps are of this kind, so there is little code between the worker and the function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, cast

from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import PYTHON, PythonInput

from .callbacks import CallbackUrls, filled, local_url

Function = Callable[..., Any]
Arguments = Callable[[dict[str, Any]], dict[str, Any]]
"""Converts JSON to the function's arguments; an `InvalidInput` fails on every attempt."""
Result = Callable[[Any], Any]
"""Converts the return value to JSON."""
Place = tuple[str, str]
"""A cluster, and the function's `module:name` there."""


class Functions:
    """All functions that this process can call for a task, by name. Registering a name again replaces it."""

    def __init__(self) -> None:
        self._known: dict[str, RegisteredFunction] = {}

    def add(
        self,
        name: str,
        function: Function,
        *,
        arguments: Arguments | None = None,
        result: Result | None = None,
        cluster: Place | None = None,
    ) -> None:
        self._known[name] = RegisteredFunction(name, function, arguments, result or _plain, cluster)

    def get(self, name: str) -> RegisteredFunction | None:
        return self._known.get(name)

    @property
    def names(self) -> Collection[str]:
        return self._known.keys()


class RegisteredFunction:
    """A function, with everything computed once that can be known before a call."""

    __slots__ = ("_arguments", "_fn", "cluster", "name", "result", "threaded")

    def __init__(
        self, name: str, fn: Function, arguments: Arguments | None, result: Result, cluster: Place | None = None
    ) -> None:
        self.name = name
        self._fn = fn
        self._arguments = arguments
        self.result = result
        self.threaded = not _is_async(fn)
        """A plain function, which may block."""
        self.cluster = cluster

    def call(self, given: dict[str, Any]) -> Any | Awaitable[Any]:
        """Calls it with arguments by name. Arguments that don't fit fail on every attempt."""
        try:
            arguments = given if self._arguments is None else self._arguments(given)
        except InvalidInput as error:
            raise TaskError(f"{error.what}: {error.why}", retryable=False) from None
        try:
            return self._fn(**arguments)
        except TypeError as error:
            trace = error.__traceback__
            if trace is not None and trace.tb_next is None:  # raised by the call itself, not inside
                raise TaskError(f"handler `{self.name}` can't take these inputs: {error}", retryable=False) from None
            raise


class PythonExecutor:
    kinds = (PYTHON,)

    def __init__(self, functions: Functions, callbacks: CallbackUrls = local_url) -> None:
        self._functions = functions
        self._callbacks = callbacks

    @property
    def handlers(self) -> Collection[str]:
        """The names of the callable functions."""
        return self._functions.names

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: PythonInput = task.input
        function = self._functions.get(wanted.handler)
        if function is None:  # another process may have it, or this one later
            raise TaskError(f"no handler `{wanted.handler}`", retryable=True)
        arguments = filled(wanted.arguments, wanted.callback, attempt, self._callbacks)
        if function.cluster is not None:
            output = await attempt.on_cluster(*function.cluster, arguments)
            return None if wanted.discard else values.decode(output)
        given = values.decode(arguments)
        result = await attempt.in_thread(lambda: function.call(given)) if function.threaded else function.call(given)
        if hasattr(result, "__await__"):
            result = await result
        return None if wanted.discard else function.result(result)


def _plain(result: Any) -> Any:
    """A named tuple as an object by field names; JSON would make it a list."""
    if type(result) is dict:
        return cast("dict[str, Any]", result)
    if isinstance(result, tuple) and hasattr(cast("Any", result), "_asdict"):
        return cast("Any", result)._asdict()
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    return cast("Any", result)


def _is_async(function: Function) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
