"""Python functions as tools: `@tool` reads their annotations, so that arguments from a model are checked and converted.

    @tool
    async def lookup_rate(currency: str, key: str) -> float:
        '''Today's rate of a currency against the euro.'''

A parameter named `key` gets the idempotency key of the call, which the model never sees.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast, get_type_hints, overload

import msgspec

from plait.kernel import values
from plait.kernel.errors import InvalidInput, PlaitError

from .names import check_name
from .tool import ToolFault, ToolUse

P = ParamSpec("P")
R = TypeVar("R")

_KEY: Final = "key"
_SHOWN: Final = 1_000
"""Characters of an error shown to a model."""


class FunctionTool(Generic[P, R]):
    """A function that a model may call; programs call it as before."""

    def __init__(self, fn: Callable[P, R], name: str, description: str, *, needs_approval: bool) -> None:
        self.fn = fn
        self.name = check_name(name)
        self.description = description
        self.needs_approval = needs_approval
        """Whether a person has to approve each call."""
        self._takes_key = _KEY in inspect.signature(fn).parameters
        self._arguments = _arguments_of(fn, self.name)
        self.parameters: Mapping[str, Any] = _schema(self._arguments, self.name)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name}>"

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        given = self._read(arguments)
        if self._takes_key:
            given[_KEY] = use.key
        function = cast("Callable[..., Any]", self.fn)
        try:
            if inspect.iscoroutinefunction(function):
                result = await function(**given)
            else:
                result = await asyncio.to_thread(function, **given)
        except ToolFault:
            raise
        except Exception as error:  # whatever went wrong, the model may try something else
            raise ToolFault(f"{self.name} failed: {type(error).__name__}: {error}"[:_SHOWN]) from error
        try:
            return values.decode(values.encode(result))
        except PlaitError as error:
            raise ToolFault(f"{self.name} returned what is not JSON: {error.why or error.what}") from None

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            read = msgspec.convert(dict(arguments), self._arguments)
        except msgspec.ValidationError as error:
            raise ToolFault(f"{self.name} can't take these arguments: {error}") from None
        return {name: getattr(read, name) for name in self._arguments.__struct_fields__}


@overload
def tool(fn: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, needs_approval: bool = False
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    needs_approval: bool = False,
) -> Any:
    """Makes a function a tool for agents, under its own name and with its docstring unless others are given. With
    `needs_approval` each call waits until a person approves it."""

    def made(fn: Callable[..., Any]) -> FunctionTool[..., Any]:
        text = inspect.getdoc(fn) or "" if description is None else description
        return FunctionTool(fn, name or fn.__name__, text, needs_approval=needs_approval)

    return made if fn is None else made(fn)


def _arguments_of(fn: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    """A struct with a field for each parameter; its decoder checks and converts the model's arguments."""
    try:
        types = get_type_hints(fn, include_extras=True)
    except NameError as error:
        raise _unusable(name, f"an annotation can't be read: {error}") from None
    fields: list[Any] = []
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise _unusable(name, f"its parameter `{parameter.name}` can't be given by name")
        if parameter.name == _KEY:
            continue
        kind = types.get(parameter.name, Any)
        field = (parameter.name, kind)
        fields.append(field if parameter.default is parameter.empty else (*field, _default(parameter.default)))
    try:
        return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
    except TypeError as error:
        raise _unusable(name, str(error)) from None


def _default(value: Any) -> Any:
    """Each call gets its own copy of a mutable default."""
    changeable = isinstance(value, list | dict | set)
    return msgspec.field(default_factory=partial(deepcopy, cast("Any", value))) if changeable else value


def _schema(arguments: type[msgspec.Struct], name: str) -> dict[str, Any]:
    """With the types of the parameters in `$defs`, and the object itself at the top, as providers want it."""
    try:
        document = msgspec.json.schema(arguments)
    except (TypeError, RuntimeError) as error:
        raise _unusable(name, str(error)) from None
    parts: dict[str, Any] = document["$defs"]
    top = {key: value for key, value in parts.pop(document["$ref"].rpartition("/")[2]).items() if key != "title"}
    return {**top, "$defs": parts} if parts else top


def _unusable(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        "agent.bad_tool",
        f"`{name}` can't be a tool",
        why=why,
        fix="give it named parameters with annotations that JSON has values for",
    )
