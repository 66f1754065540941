"""Names and values on their way in and out of a step. Pure: scripts that map values run elsewhere.

A step returns its outputs by inner name; they are kept by outer name. Other keys it returned stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from .attribute import Attribute, Script
from .step import Step

T = TypeVar("T")

_VALUE = "value"


def script_of(attribute: Attribute) -> Script | None:
    """The script that maps the value of an attribute."""
    mapping = attribute.detail.mapping
    return mapping.script if mapping is not None else None


def renamed(step: Step, outputs: Mapping[str, T]) -> dict[str, T]:
    """What a step returned: the declared outputs without a script, by outer name, then everything else.

    A key that is the outer name of an output but not its inner one was never meant as that output: it is left out.
    """
    names = {name: each.inner(name) for name, each in step.outputs() if script_of(each) is None}
    found = {name: outputs[inner] for name, inner in names.items() if inner in outputs}
    taken = {*names.values(), *(name for name, _ in step.outputs())}
    return found | {key: value for key, value in outputs.items() if key not in taken}


def as_returned(step: Step, outputs: Mapping[str, T]) -> dict[str, T]:
    """The reverse: outputs by the step's own names."""
    names = {name: each.inner(name) for name, each in step.outputs()}
    return {names.get(name, name): value for name, value in outputs.items()}


def single(result: Any) -> Any:
    """The result of a script that maps one value: the key `value`, else the only key, else all of it."""
    if not isinstance(result, dict):
        return result
    found = cast("dict[str, Any]", result)
    if _VALUE in found:
        return found[_VALUE]
    return next(iter(found.values())) if len(found) == 1 else found
