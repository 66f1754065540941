"""The Python functions that steps of type `python` refer to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, cast

from plait.kernel.errors import InvalidInput

from .builder import PythonStep


class Functions(Protocol):
    """The functions that this process can call for tasks, of all dialects."""

    def add(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        arguments: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        result: Callable[[Any], Any] | None = None,
        cluster: tuple[str, str] | None = None,
    ) -> None: ...

    def get(self, name: str) -> object | None: ...

    @property
    def names(self) -> Collection[str]: ...


class Handlers:
    """Registers functions so that a task calls typed ones with arguments and outputs as annotated."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def add(self, name: str, function: Callable[..., Any] | PythonStep[..., Any]) -> None:
        if not callable(function):
            raise InvalidInput(
                "goals.bad_handler", f"handler `{name}` is a {type(function).__name__}", fix="pass a function"
            )
        if not isinstance(function, PythonStep):
            self._functions.add(name, function)
            return
        typed = cast("PythonStep[..., Any]", function)
        self._functions.add(name, typed.fn, arguments=typed.arguments, result=typed.outputs, cluster=typed.cluster)
        if typed.undo is not None:
            self._functions.add(typed.definition.compensate, typed.undo)

    def get(self, name: str) -> object | None:
        """The function that a name refers to now, or None if it is not registered here."""
        return self._functions.get(name)

    @property
    def names(self) -> Collection[str]:
        return self._functions.names
