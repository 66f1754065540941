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
    """The type of a loop's state: that of the parameter of its body that comes after `ctx`."""
    found = _annotated(body)
    if found is None:
        return Any
    names = found.__code__.co_varnames[: found.__code__.co_argcount]
    is_method = not isinstance(body, FunctionType)
    return hint(found, names[1 + is_method]) if len(names) > 1 + is_method else Any


_read: dict[tuple[str, CodeType, Any], Any] = {}
"""Annotations that had to be read. By the function's text: functions inside others are made anew at every call."""


def hint(fn: Callable[..., Any], name: str) -> Any:
    """The type that an annotation of a function stands for, or Any. Each is read by itself, so that one
    that is there for type checkers only costs no other."""
    found = _annotated(fn)
    note = found.__annotations__.get(name, Any) if found is not None else Any
    if note is Any or found is None:
        return Any
    if type(note) is type:
        return None if note is type(None) else note
    code = found.__code__
    if isinstance(note, str) and any(free in note for free in code.co_freevars):
        return _resolve(found, name, note)  # it may mean something else in the next function made here
    key = (found.__module__, code, note)
    try:
        return _read[key]
    except KeyError:
        return _read.setdefault(key, _resolve(found, name, note))
    except TypeError:  # an annotation that can't be hashed
        return _resolve(found, name, note)


def unreadable(fn: Callable[..., Any], names: Iterable[str]) -> str | None:
    """Why values of one of these annotations could not be read back. What can't be resolved yet is not judged."""
    found = _annotated(fn)
    notes = found.__annotations__ if found is not None else {}
    for name in names:
        if found is None or name not in notes:
            continue
        try:
            kind = _evaluate(found, name, notes[name])
        except Exception:  # perhaps it names what comes later in the module
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
    """The function that holds the annotations of a step, a method, a partial or an object that can be called."""
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
