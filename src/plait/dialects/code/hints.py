"""What the annotations of a function say about the values that go in and come out of it."""

from __future__ import annotations

import functools
import inspect
import logging
import typing
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any, cast

from plait.kernel import values

log = logging.getLogger("plait.code")


def return_type(fn: Callable[..., Any]) -> Any:
    """The return annotation, or Any."""
    return hint(fn, "return")


def state_type(body: Callable[..., Any]) -> Any:
    """The type of a loop's state: that of the body's parameter after `ctx`."""
    found = _annotated(body)
    if found is None:
        return Any
    names = found.__code__.co_varnames[: found.__code__.co_argcount]
    is_method = not isinstance(body, FunctionType)
    return hint(found, names[1 + is_method]) if len(names) > 1 + is_method else Any


_read: dict[tuple[str, CodeType, Any], Any] = {}
"""Annotations read so far. Keyed by the function's code, since inner functions are created anew at every call."""


def hint(fn: Callable[..., Any], name: str) -> Any:
    """The type of a parameter's annotation, or Any. Each annotation is evaluated by itself, so that one
    meant only for type checkers does not break the others."""
    found = _annotated(fn)
    note = found.__annotations__.get(name, Any) if found is not None else Any
    if note is Any or found is None:
        return Any
    if type(note) is type:
        return None if note is type(None) else note
    code = found.__code__
    if isinstance(note, str) and any(free in note for free in code.co_freevars):
        return _resolve(found, name, note)  # it may mean something else in the next function created here
    key = (found.__module__, code, note)
    try:
        return _read[key]
    except KeyError:
        return _read.setdefault(key, _resolve(found, name, note))
    except TypeError:  # the annotation can't be hashed
        return _resolve(found, name, note)


def unreadable(fn: Callable[..., Any], names: Iterable[str]) -> str | None:
    """Why values of one of these annotations can't be decoded. Annotations that can't be resolved yet are skipped."""
    found = _annotated(fn)
    notes = found.__annotations__ if found is not None else {}
    for name in names:
        if found is None or name not in notes:
            continue
        try:
            kind = _evaluate(found, name, notes[name])
        except Exception:  # it may name something defined later in the module
            continue
        try:
            values.decoder(kind)
        except TypeError as error:
            what = "what it returns" if name == "return" else f"`{name}`"
            return f"{what} can't be read back as {inspect.formatannotation(kind)}: {error}"
    return None


def _resolve(fn: FunctionType, name: str, note: Any) -> Any:
    try:
        found = _evaluate(fn, name, note)
    except Exception as error:
        log.warning("%r of `%s` can't be read (%s): its values stay plain JSON", note, fn.__qualname__, error)
        return Any
    return None if found is type(None) else found


def _evaluate(fn: FunctionType, name: str, note: Any) -> Any:
    carrier = SimpleNamespace(__annotations__={name: note})
    cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False)
    around = {free: cell.cell_contents for free, cell in cells}
    return typing.get_type_hints(carrier, fn.__globals__, around, include_extras=True)[name]


def _annotated(fn: Callable[..., Any]) -> FunctionType | None:
    """The function that holds the annotations of a step, a method, a partial or a callable object."""
    if type(fn) is FunctionType:
        return fn if not hasattr(fn, "__wrapped__") else cast("FunctionType", inspect.unwrap(fn))
    found: Any = inspect.unwrap(without_partials(fn))
    if not isinstance(found, FunctionType | MethodType):
        found = getattr(cast("type[Any]", type(found)), "__call__", None)  # noqa: B004
    found = getattr(found, "__func__", found)
    return found if isinstance(found, FunctionType) else None


def without_partials(fn: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(fn, functools.partial):
        fn = cast("Callable[..., Any]", fn.func)
    return fn
