"""An upper bound on the steps of a validation: one for each keyword of each schema that is applied to the value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from plait.conditions import regex
from plait.conditions.budget import Budget, OutOfSteps

from .resources import Resources

_ONE: Final = ("not", "if", "then", "else")
_SEVERAL: Final = ("allOf", "anyOf", "oneOf")
_BY_NAME: Final = ("dependentSchemas", "dependencies")
_OF_ITEMS: Final = ("items", "additionalItems", "contains", "unevaluatedItems")
_OF_VALUES: Final = ("additionalProperties", "unevaluatedProperties")


class Cost:
    """The cost of one schema, which must be valid. Raises `BadPattern` or `OutsideReference`."""

    def __init__(self, document: Any) -> None:
        self._resources = Resources(document)
        self._known: dict[int, _Schema] = {}
        self._root = self._schema(document)

    def take(self, budget: Budget, value: Any) -> None:
        """Takes the steps of a value from the budget. Raises `OutOfSteps`."""
        try:
            self._root.take(budget, value)
        except RecursionError:
            raise OutOfSteps from None

    def _schema(self, document: Any) -> _Schema:
        """A recursive schema is reached again while it is compiled, so it is registered first."""
        if not isinstance(document, dict):
            return _ANYTHING
        fields = cast("dict[str, Any]", document)
        found = self._known.get(id(fields))
        if found is None:
            found = self._known[id(fields)] = _Schema()
            self._fill(found, fields)
        return found

    def _fill(self, made: _Schema, fields: dict[str, Any]) -> None:
        made.steps = 1 + len(fields) + len(_list(fields.get("enum")))
        made.here = [self._schema(each) for each in self._in_place(fields)]
        made.properties = {name: self._schema(each) for name, each in _dict(fields.get("properties")).items()}
        made.patterns = [
            (regex.compiled(pattern), self._schema(each))
            for pattern, each in _dict(fields.get("patternProperties")).items()
        ]
        made.values = [self._schema(fields[each]) for each in _OF_VALUES if each in fields]
        made.names = [self._schema(fields["propertyNames"])] if "propertyNames" in fields else []
        first = [*_list(fields.get("prefixItems")), *_list(fields.get("items"))]
        made.first = [self._schema(each) for each in first]
        made.items = [self._schema(fields[each]) for each in _OF_ITEMS if isinstance(fields.get(each), dict)]
        pattern = fields.get("pattern")
        made.pattern = regex.compiled(pattern) if isinstance(pattern, str) else None
        made.unique = fields.get("uniqueItems") is True

    def _in_place(self, fields: dict[str, Any]) -> Iterable[Any]:
        """The schemas that apply to the same value."""
        yield from (fields[each] for each in _ONE if each in fields)
        for each in _SEVERAL:
            yield from _list(fields.get(each))
        for each in _BY_NAME:
            yield from _dict(fields.get(each)).values()
        if isinstance(fields.get("$ref"), str):
            yield self._resources.target(fields, fields["$ref"])
        if isinstance(fields.get("$dynamicRef"), str):
            yield from self._resources.dynamic_targets(fields, fields["$dynamicRef"])


class _Schema:
    """The schemas that a schema applies, and to which parts of a value. Filled in after creation: schemas may be
    cyclic."""

    __slots__ = ("first", "here", "items", "names", "pattern", "patterns", "properties", "steps", "unique", "values")

    def __init__(self) -> None:
        self.steps = 1
        self.here: list[_Schema] = []
        self.properties: dict[str, _Schema] = {}
        self.patterns: list[tuple[regex.Pattern, _Schema]] = []
        self.values: list[_Schema] = []
        self.names: list[_Schema] = []
        self.first: list[_Schema] = []
        self.items: list[_Schema] = []
        self.pattern: regex.Pattern | None = None
        self.unique = False

    def take(self, budget: Budget, value: Any) -> None:
        budget.take(self.steps)
        for each in self.here:
            each.take(budget, value)
        if isinstance(value, dict):
            self._take_object(budget, cast("dict[str, Any]", value))
        elif isinstance(value, list):
            self._take_array(budget, cast("list[Any]", value))
        elif isinstance(value, str) and self.pattern is not None:
            budget.take(self.pattern.steps(value))

    def _take_object(self, budget: Budget, value: dict[str, Any]) -> None:
        for name, schema in self.properties.items():
            if name in value:
                schema.take(budget, value[name])
        if self.patterns or self.values or self.names:
            for name, part in value.items():
                self._take_member(budget, name, part)

    def _take_member(self, budget: Budget, name: str, part: Any) -> None:
        for pattern, schema in self.patterns:
            budget.take(pattern.steps(name))
            schema.take(budget, part)
        for schema in self.names:
            schema.take(budget, name)
        if name not in self.properties:
            for schema in self.values:
                schema.take(budget, part)

    def _take_array(self, budget: Budget, value: list[Any]) -> None:
        for schema, item in zip(self.first, value, strict=False):
            schema.take(budget, item)
        for schema in self.items:
            for item in value:
                schema.take(budget, item)
        if self.unique:
            _take_all(budget, value)


_ANYTHING: Final = _Schema()
"""The form of `true` and `false`."""


def _take_all(budget: Budget, value: Any) -> None:
    """Charges every part of a value."""
    budget.take(1)
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            _take_all(budget, each)


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
