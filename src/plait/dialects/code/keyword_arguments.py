"""Keywords of `ctx.step` that are not options: they are arguments of the step's function.

Arguments that can all be given by position are recorded as a list. Others (a parameter is left out before one that is
given, or takes keywords only) are recorded by name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

from .definition import is_step
from .options import StepOptions, bad_option

Arguments = tuple[Any, ...] | dict[str, Any]

_OPTIONS = StepOptions.__optional_keys__


def take_keywords(
    fn: Callable[..., Any], name: str, args: tuple[Any, ...], given: dict[str, Any]
) -> tuple[Callable[..., Any], Arguments, StepOptions]:
    """Splits what was given into function, arguments and options. A keyword that could be both is an option."""
    options = cast("StepOptions", {key: value for key, value in given.items() if key in _OPTIONS})
    keywords = {key: value for key, value in given.items() if key not in _OPTIONS}
    if not keywords:
        return fn, args, options
    signature = _signature(fn)
    for key in keywords:
        if not _takes(signature, key):
            fix = f"give a parameter of its function, or one of {', '.join(sorted(_OPTIONS))}"
            raise bad_option(f"step `{name}`: unknown option `{key}`", fix)
    if not is_step(fn):
        return functools.partial(fn, **keywords), args, options
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise bad_option(f"step `{name}`: {error}", f"call it as `{fn.name}{signature}`") from None
    return fn, bound.args if not bound.kwargs else _by_name(name, bound), options


def _by_name(name: str, bound: inspect.BoundArguments) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in bound.arguments.items():
        match bound.signature.parameters[key].kind:
            case inspect.Parameter.POSITIONAL_ONLY | inspect.Parameter.VAR_POSITIONAL:
                raise bad_option(
                    f"step `{name}`: `{key}` can't be recorded beside keywords", "give all arguments by position"
                )
            case inspect.Parameter.VAR_KEYWORD:
                found |= value
            case _:
                found[key] = value
    return found


def _signature(fn: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):  # some C functions have no signature
        return inspect.Signature()


def _takes(signature: inspect.Signature, key: str) -> bool:
    found = signature.parameters.get(key)
    if found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY):
        return True
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values())
