"""Checks the arguments of a call against the document and builds the request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

from plait.agents.tools.tool import ToolFault
from plait.conditions.budget import Budget, OutOfSteps
from plait.conditions.json_schema import Cost, OutsideReference
from plait.conditions.regex import BadPattern
from plait.conditions.schema import MAX_BYTES, validator
from plait.kernel import values

from .document import Document, at, mapping, pointer
from .operation import Operation, Place

BODY: Final = "body"
_MOST_FLAWS: Final = 5
_SHOWN: Final = 300


def flaws(document: Document, operation: Operation, params: Mapping[str, Any]) -> list[str]:
    """What is wrong with the arguments of a call, in words for the model; empty if they are valid."""
    return [each[:_SHOWN] for each in _flaws(document, operation, params)][:_MOST_FLAWS]


def _flaws(document: Document, operation: Operation, params: Mapping[str, Any]) -> Iterator[str]:
    taken = {*operation.parameters, *([BODY] if operation.body is not None else [])}
    for name in params:
        if name not in taken:
            yield f"unknown parameter `{name}`; it takes {', '.join(sorted(taken)) or 'none'}"
    for name, parameter in operation.parameters.items():
        if name in params:
            yield from (f"`{name}`: {flaw}" for flaw in _misfits(document, parameter.schema, params[name]))
        elif parameter.required:
            yield f"`{name}` is required"
    if operation.body is not None and BODY not in operation.parameters:
        if BODY in params:
            yield from (f"`{BODY}`: {flaw}" for flaw in _misfits(document, operation.body, params[BODY]))
        elif operation.body_required:
            yield f"`{BODY}` is required"


def address(operation: Operation, params: Mapping[str, Any]) -> str:
    """Raises `ToolFault` for a value that would lead to another path."""
    path = operation.path
    for name, value in _of(operation, "path", params):
        text = _text(value)
        if text in ("", ".", ".."):
            raise ToolFault(f"`{name}` can't be {text!r}: it is a part of the address")
        path = path.replace(f"{{{name}}}", quote(text, safe=""))
    if "{" in path:
        raise ToolFault("the address has a part that no parameter is described for")
    query = {name: _texts(value) for name, value in _of(operation, "query", params)}
    return f"{operation.server}/{path.lstrip('/')}{'?' + urlencode(query, doseq=True) if query else ''}"


def headers(operation: Operation, params: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in _of(operation, "header", params)}


def _of(operation: Operation, place: Place, params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, parameter in operation.parameters.items():
        if parameter.place == place and name in params:
            yield name, params[name]


def _texts(value: Any) -> str | list[str]:
    """A list repeats the parameter."""
    return [_text(each) for each in cast("list[Any]", value)] if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else values.plain(value).decode()


def _misfits(document: Document, schema: Any, value: Any) -> Iterator[str]:
    """The document may be hostile: patterns run in linear time, and the work is estimated before it is done."""
    whole = _with_components(document, {"not": {}} if schema is False else mapping(schema))
    try:
        Cost(whole).take(Budget(), value)
        yield from (error.message for error in validator(whole, linear=True).iter_errors(value))
    except (OutOfSteps, OutsideReference, BadPattern, RecursionError, ValueError):
        yield "its schema can't be used"


def _with_components(document: Document, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with everything that it refers to, and nothing else of the document."""
    whole: dict[str, Any] = dict(schema)
    seen: set[str] = set()
    waiting = [*_references(schema)]
    size = len(values.plain(schema))
    while waiting:
        reference = waiting.pop()
        if reference in seen:
            continue
        seen.add(reference)
        found = at(document, reference)
        size += len(values.plain(found))
        if size > MAX_BYTES:
            raise ToolFault("the schema of this operation is too large")
        _put(whole, reference, found)
        waiting += _references(found)
    return whole


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if isinstance(fields.get("$ref"), str):
            yield fields["$ref"]
        for each in fields.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _references(each)


def _put(whole: dict[str, Any], reference: str, found: Any) -> None:
    *parents, last = pointer(reference)
    place = whole
    for part in parents:
        place = cast("dict[str, Any]", place.setdefault(part, {}))
    place[last] = found
