"""Handlers of AFL events, by facet: functions, addresses, child runs and queues, under qualified or short names."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import msgspec

from plait.kernel.bundle import Reference, Startable
from plait.kernel.errors import InvalidInput
from plait.kernel.queue_options import as_defined
from plait.kernel.queued import QUEUE_RULE, is_queue
from plait.kernel.retry import Retry
from plait.kernel.run_queues import ChildQueueing

from .program.program import Program
from .running.state import Binding

log = logging.getLogger("plait.afl")

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """Posts the payload; a JSON object in a 2xx response is the result."""

    url: str


@dataclass(frozen=True, slots=True)
class ChildTarget:
    """A run of any dialect, with the payload as its input and its output as the result."""

    reference: Reference
    queueing: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The queue that it waits on first, in the form of a definition; empty: none."""


@dataclass(frozen=True, slots=True)
class QueueTarget:
    """Workers that claim tasks of a queue, and have a function under the facet's name."""

    queue: str


Target = Function | HttpTarget | ChildTarget | QueueTarget


def http(url: str) -> HttpTarget:
    if not url.startswith(("http://", "https://")):
        raise InvalidInput("AFL_HANDLER", f"{url[:80]!r} is no address", fix="use http://… or https://…")
    return HttpTarget(url)


def child(definition: Startable | str | Reference, **queueing: Unpack[ChildQueueing]) -> ChildTarget:
    """A run of any definition; with `queue=`, it first waits there for a slot."""
    place = as_defined(queueing)
    if isinstance(definition, str):
        return ChildTarget(Reference("", definition, definition), place)
    return ChildTarget(definition if isinstance(definition, Reference) else definition.reference(), place)


def queue(name: str) -> QueueTarget:
    if not is_queue(name):
        raise InvalidInput("AFL_HANDLER", f"{name[:80]!r} is no queue", fix=QUEUE_RULE)
    return QueueTarget(name)


@dataclass(frozen=True, slots=True)
class Registration:
    name: str
    target: Target
    timeout: float | None = None
    retry: Retry | None = None
    compensate: str = ""
    takes_context: bool = field(init=False)
    threaded: bool = field(init=False)
    """Whether it is a plain function, which may block."""

    def __post_init__(self) -> None:
        """Inspects the function once, rather than at each call."""
        fn = None if isinstance(self.target, HttpTarget | ChildTarget | QueueTarget) else self.target
        object.__setattr__(self, "takes_context", fn is not None and _takes_two(fn))
        object.__setattr__(self, "threaded", fn is not None and not _is_async(fn))


class Handlers:
    """The handlers that this process knows. A name that is registered again refers to the new one."""

    def __init__(self) -> None:
        self._known: dict[str, Registration] = {}

    def add(self, found: Registration) -> None:
        if found.name in self._known:
            log.warning("the handler of `%s` is replaced by another one", found.name)
        self._known[found.name] = found

    def remove(self, name: str) -> bool:
        return self._known.pop(name, None) is not None

    def get(self, name: str) -> Registration | None:
        return self._known.get(name)

    def find(self, facet: str) -> Registration | None:
        """An exact name takes precedence over a short one."""
        return self._known.get(facet) or self._known.get(facet.rpartition(".")[2])

    @property
    def names(self) -> list[str]:
        return sorted(self._known)

    def all(self) -> list[Registration]:
        return [self._known[name] for name in self.names]


class Lookup:
    """Handlers of a definition, before those of the process; and whether there is a model for prompts."""

    def __init__(self, *books: Handlers, stored: Mapping[str, Binding] | None = None, has_model: bool = False) -> None:
        self._books = books
        self._stored = stored or {}
        self._has_model = has_model

    def bindings(self, program: Program) -> dict[str, Binding]:
        """The bindings of every event facet, and of every facet that compensates one."""
        found: dict[str, Binding] = {}
        for facet in program.event_facets:
            found[facet.name] = self._binding(facet.name, prompt=facet.prompt is not None)
        for binding in list(found.values()):
            if binding.compensate and binding.compensate not in found:
                found[binding.compensate] = self._binding(binding.compensate, prompt=False)
        for name, binding in found.items():
            undo = found.get(binding.compensate)
            if undo is not None and undo.kind == "child":
                raise InvalidInput(
                    "AFL_HANDLER",
                    f"`{binding.compensate}` can't undo `{name}`",
                    why="a child run can't be a compensator",
                    fix="register a function, an address or a queue",
                )
        return found

    def _binding(self, facet: str, *, prompt: bool) -> Binding:
        registered = self._registered(facet)
        if registered is None:
            kept = self._stored.get(facet) or self._stored.get(facet.rpartition(".")[2])
            if kept is not None:
                return kept
            return Binding("prompt") if prompt and self._has_model else Binding()
        return binding_of(registered)

    def _registered(self, facet: str) -> Registration | None:
        for book in self._books:
            if (exact := book.get(facet)) is not None:
                return exact
        return next((found for book in self._books if (found := book.find(facet)) is not None), None)


def binding_of(found: Registration) -> Binding:
    target = found.target
    match target:
        case HttpTarget():
            own = Binding("http", url=target.url)
        case ChildTarget():
            reference, place = target.reference, dict(target.queueing)
            own = Binding("child", dialect=reference.dialect, definition=_plain(reference.definition), queueing=place)
        case QueueTarget():
            own = Binding("queue", target.queue)
        case _:
            own = Binding("python", found.name)
    retry = found.retry or Retry(max_attempts=1)
    return msgspec.structs.replace(
        own,
        timeout=None if found.timeout is None else float(found.timeout),
        max_attempts=retry.max_attempts,
        first=float(retry.first),
        factor=float(retry.factor) if retry.backoff == "exponential" else 1.0,
        compensate=found.compensate,
    )


def _plain(definition: Any) -> Any:
    return dict(definition) if isinstance(definition, Mapping) else definition  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _takes_two(fn: Function) -> bool:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # a built-in function
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in kinds for each in parameters) > 1


def _is_async(fn: Function) -> bool:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(type(fn).__call__)
