"""The Python functions that nodes call by name, with their arguments and results."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

import msgspec
from msgspec import Raw

from plait.clusters.names import ClusterName, check_function
from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.task_inputs import ROUTE

P = ParamSpec("P")
R = TypeVar("R")


class NodeContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler may know beside its payload."""

    config: Mapping[str, Any]
    context: Mapping[str, Any]
    """The latest outputs of other nodes, by node id."""
    run_id: str
    node_id: str
    token_id: str
    attempt: int
    idempotency_key: str
    """Equal on all attempts."""


class NodeCall(msgspec.Struct, frozen=True):
    """A call of a handler, on its way to another process."""

    payload: Any
    context: NodeContext | None


class Route(msgspec.Struct, frozen=True):
    """Returned by a handler that chooses where to go on, from the `available_next_nodes` of its node."""

    output: Any = None
    next_nodes: Sequence[str] | None = None
    reasoning: str = ""


class Handler(Generic[P, R]):
    """A function that nodes call by name; calling it calls the function."""

    def __init__(self, name: str, fn: Callable[P, R], on: ClusterName | None = None) -> None:
        self.name = name
        self.fn = fn
        self.takes_context = _takes_two(fn)
        self.threaded = not _is_async(fn)
        """Whether it is a plain function, which may block."""
        self.cluster = None if on is None else (on, check_function(on, f"{fn.__module__}:{fn.__qualname__}"))
        """The cluster it runs on, and its name there."""
        functools.update_wrapper(self, fn)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.fn(*args, **kwargs)

    def call(self, call: NodeCall) -> Any:
        fn: Callable[..., Any] = self.fn
        return fn(call.payload, call.context) if self.takes_context else fn(call.payload)

    def output(self, result: Any) -> Any:
        """The return value as JSON."""
        return {ROUTE: result} if isinstance(result, Route) else result

    def call_remote(self, arguments: Raw) -> Any:
        """Calls the function in another process."""
        return self.call(values.decode(arguments, NodeCall))

    def remote_output(self, result: Any) -> Any:
        return self.output(result)


@overload
def handler(name: Callable[P, R]) -> Handler[P, R]: ...
@overload
def handler(name: str | None = None, *, on: ClusterName | None = None) -> Callable[[Callable[P, R]], Handler[P, R]]: ...
def handler(name: Any = None, *, on: ClusterName | None = None) -> Any:
    """Declares a function `fn(payload)` or `fn(payload, ctx)`, sync or async, as a handler that nodes call by name.

    The name defaults to that of the function. `on` is a cluster that runs it.
    """
    if callable(name):
        return Handler(_name_of(name), name)

    def named(fn: Callable[..., Any]) -> Handler[..., Any]:
        return Handler(name or _name_of(fn), fn, on)

    return named


class Handlers:
    """The handlers that this process can call, by name. A name that is registered again refers to the new one."""

    def __init__(self) -> None:
        self._known: dict[str, Handler[..., Any]] = {}

    def add(self, found: Handler[..., Any]) -> None:
        self._known[found.name] = found

    def get(self, name: str) -> Handler[..., Any] | None:
        return self._known.get(name)

    def known(self, name: str) -> bool:
        return name in self._known

    def takes_context(self, name: str) -> bool:
        return self._known[name].takes_context

    @property
    def names(self) -> list[str]:
        return sorted(self._known)


def _name_of(fn: Callable[..., Any]) -> str:
    name = getattr(fn, "__name__", "")
    if not name:
        raise InvalidInput("graph.bad_handler", "a handler needs a name", fix='use @handler("name")')
    return name


def _takes_two(fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # a built-in function
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in kinds for each in parameters) > 1


def _is_async(fn: Callable[..., Any]) -> bool:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(type(fn).__call__)
