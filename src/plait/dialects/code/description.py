"""What is known of a workflow function without running it: its source, its doc, the schemas of its input and output."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from plait.kernel import values
from plait.kernel.definitions import Description
from plait.kernel.errors import PlaitError

from .definition import Workflow

_NO_INPUT: dict[str, Any] = {"type": "null"}


def describe(definition: Workflow[..., Any]) -> Description:
    return Description(
        dialect="code",
        name=definition.name,
        version=definition.version or definition.hash,
        hash=definition.hash,
        doc=inspect.getdoc(definition.fn) or "",
        file=definition.where,
        source=_source(definition),
        input_schema=_input_schema(definition) if definition.takes_input else _NO_INPUT,
        output_schema=_schema(definition.returns),
    )


def _source(definition: Workflow[..., Any]) -> str:
    try:
        return inspect.getsource(definition.fn)
    except (OSError, TypeError):  # typed at a prompt, or only compiled code is available
        return ""


def _input_schema(definition: Workflow[..., Any]) -> Any:
    """The JSON Schema of the input, with its default if the input is optional."""
    found = _schema(definition.input_type)
    if found is None or definition.needs_input:
        return found
    default = list(inspect.signature(definition.fn).parameters.values())[1].default
    try:
        return {**found, "default": values.decode(values.encode(default))}
    except PlaitError:
        return found


def _schema(type: Any) -> Any:
    """None for types that JSON Schema can't express: then any value that the type accepts will do."""
    if type is Any:
        return None
    try:
        return msgspec.json.schema(type)
    except (TypeError, RuntimeError):
        return None
