"""JSON Schemas of a definition: of its input, and of what steps return.

Patterns are ignored: a hostile one could block a decision. A schema that refers to parts of itself may take a very
long time on a short value, so its validation steps are counted first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import msgspec

from plait.conditions.budget import Budget, OutOfSteps
from plait.conditions.json_schema import Cost, OutsideReference
from plait.conditions.regex import BadPattern
from plait.conditions.schema import validator

from .limits import MAX_SCHEMA, MAX_SCHEMA_DEPTH

_IGNORED: Final = ("pattern", "patternProperties")
_COUNTED: Final = frozenset(
    ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "contains", "uniqueItems", "dependentSchemas")
)
"""Keywords by which validation may take longer than parsing the value."""
_STEPS: Final = 200_000
_TOO_SLOW: Final = "the schema takes too many steps on this value; check less of it"


class BadSchema(Exception):
    """The schema is invalid; the text says why."""


class LargeSchema(BadSchema):
    """The schema exceeds a limit."""


@dataclass(frozen=True)
class Schema:
    """A valid schema."""

    written: Any

    @cached_property
    def used(self) -> Any:
        return _without_patterns(self.written)

    @cached_property
    def _validator(self) -> Any:
        return validator(self.used)

    @cached_property
    def _cost(self) -> Cost | None:
        return Cost(self.used) if any(key in _COUNTED for key in _keywords(self.used)) else None

    def misfit(self, value: Any) -> str:
        """The first flaw of a value, with its place; empty if the value fits."""
        if self._cost is not None:
            try:
                self._cost.take(Budget(_STEPS), value)
            except OutOfSteps:
                return _TOO_SLOW
        error = next(iter(self._validator.iter_errors(value)), None)
        if error is None:
            return ""
        place = ".".join(map(str, error.instance_path))
        return f"{place}: {error.message}" if place else _plain(error.message)

    def cut(self, value: Any) -> Any:
        """An object without undeclared properties, unless the schema is explicitly open."""
        written: Any = self.written
        if not isinstance(value, dict) or not isinstance(written, dict):
            return cast("Any", value)
        schema = cast("dict[str, Any]", written)
        declared = schema.get("properties")
        if not isinstance(declared, dict) or schema.get("additionalProperties") is True:
            return cast("dict[str, Any]", value)
        return {key: each for key, each in cast("dict[str, Any]", value).items() if key in declared}

    @property
    def has_patterns(self) -> bool:
        return any(key in _IGNORED for key in _keywords(self.written))


def read_schema(written: Any) -> Schema:
    """Parses a schema; raises `BadSchema`."""
    if len(msgspec.json.encode(written)) > MAX_SCHEMA:
        raise LargeSchema(f"has more than {MAX_SCHEMA:,} characters")
    if _depth(written) > MAX_SCHEMA_DEPTH:
        raise LargeSchema(f"is deeper than {MAX_SCHEMA_DEPTH}")
    schema = Schema(written)
    try:
        validator(schema.used)
        Cost(schema.used)
    except OutsideReference as error:
        raise BadSchema(f"refers to {str(error)!r}, which is outside; put it into `$defs`") from None
    except (BadPattern, ValueError) as error:
        raise BadSchema(f"is no JSON Schema: {str(error).partition(chr(10))[0]}") from None
    return schema


def fields_at(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects along a path, as far as the schema describes them, each with the field that is taken."""
    for part in path:
        if not isinstance(schema, dict):
            return
        found = cast("dict[str, Any]", schema)
        properties: Any = found.get("properties")
        if isinstance(properties, dict):
            yield found, part
            schema = cast("dict[str, Any]", properties).get(part)
        else:
            schema = found.get("items") if part.isdigit() else None


def _without_patterns(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_patterns(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for key, each in cast("dict[str, Any]", schema).items():
        if key in ("properties", "$defs", "definitions", "dependentSchemas") and isinstance(each, dict):
            found[key] = {name: _without_patterns(inner) for name, inner in cast("dict[str, Any]", each).items()}
        elif key in ("enum", "const", "default", "examples"):
            found[key] = each
        elif key not in _IGNORED:
            found[key] = _without_patterns(each)
    return found


def _keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in cast("list[Any]", schema):
            yield from _keywords(each)
    elif isinstance(schema, dict):
        for key, each in cast("dict[str, Any]", schema).items():
            if key in ("properties", "$defs", "definitions", "dependentSchemas") and isinstance(each, dict):
                yield key
                for inner in cast("dict[str, Any]", each).values():
                    yield from _keywords(inner)
            elif key not in ("enum", "const", "default", "examples"):
                yield key
                yield from _keywords(each)


def _depth(schema: Any) -> int:
    """The nesting depth of objects; lists and property names don't count."""
    if isinstance(schema, list):
        return max((_depth(each) for each in cast("list[Any]", schema)), default=0)
    if not isinstance(schema, dict):
        return 0
    below = 0
    for key, each in cast("dict[str, Any]", schema).items():
        if key in ("properties", "$defs", "definitions") and isinstance(each, dict):
            below = max(below, *(_depth(inner) for inner in cast("dict[str, Any]", each).values()), 0)
        else:
            below = max(below, _depth(each))
    return below + 1


def _plain(message: str) -> str:
    """`"email" is a required property` in plainer words."""
    return message.replace('"', "", 2).replace("is a required property", "is required", 1)
