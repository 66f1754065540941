"""A tool's input schema as a recording shows it: wherever a value is allowed, a reference is allowed, too.

Clients check arguments before they send them, so a schema that asks for a number would keep references out. The real
server checks the resolved values. The widened schema refuses nothing that was accepted before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from plait.conditions.paths import MISSING, follow
from plait.definitions.flaws import parts_of

REFERENCE: Final[Mapping[str, Any]] = {"type": "string", "pattern": "@"}

_ONE_BELOW: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "items",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LIST_BELOW: Final = ("items", "prefixItems")
_MAP_BELOW: Final = ("properties", "patternProperties")
_DEFINITIONS: Final = ("$defs", "definitions")
_ONE_SAME: Final = ("then", "else")
_LIST_SAME: Final = ("allOf", "anyOf", "oneOf")
_MAP_SAME: Final = ("dependentSchemas",)
"""`below`: for values inside the value. `same`: for the value itself, which is widened where it stands."""

_OF_STRINGS: Final = frozenset(("const", "enum", "format", "if", "maxLength", "minLength", "not", "pattern"))
"""Keywords that may refuse a string of the right type."""
_NOTES: Final = ("title", "description", "default", "deprecated", "examples")


def widened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The root is not widened: arguments are an object, and only what is in it can be a reference."""
    return _Widening(schema).whole()


class _Widening:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._moved: dict[str, str] = {}
        """Pointers into the schema that widening would break, and the definitions that replace them."""
        self._added: dict[str, Any] = {}

    def whole(self) -> dict[str, Any]:
        found = self._inside(self._root)
        if self._added:
            found["$defs"] = {**found.get("$defs", {}), **self._added}
        return found

    def _value(self, schema: Any) -> Any:
        """The schema of a value that may be a reference instead."""
        if not isinstance(schema, Mapping):
            return schema  # true accepts anything, false means that there must be no value
        found = cast("Mapping[str, Any]", schema)
        wide = self._inside(found)
        if _takes_references(found):
            return wide
        if "anyOf" in wide and not wide.keys() - {"anyOf", *_NOTES}:
            return {**wide, "anyOf": [*wide["anyOf"], dict(REFERENCE)]}
        notes = {key: wide.pop(key) for key in _NOTES if key in wide}
        return {**notes, "anyOf": [wide, dict(REFERENCE)]}

    def _same(self, schema: Any) -> Any:
        """Another schema of a value whose own schema is widened elsewhere."""
        return self._inside(cast("Mapping[str, Any]", schema)) if isinstance(schema, Mapping) else schema

    def _inside(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {**schema}
        for keys, widen in (((*_MAP_BELOW, *_DEFINITIONS), self._value), (_MAP_SAME, self._same)):
            for key in keys:
                if isinstance(found.get(key), Mapping):
                    found[key] = {name: widen(each) for name, each in found[key].items()}
        for keys, widen in ((_ONE_BELOW, self._value), (_ONE_SAME, self._same)):
            for key in keys:
                if isinstance(found.get(key), Mapping):
                    found[key] = widen(found[key])
        for keys, widen in ((_LIST_BELOW, self._value), (_LIST_SAME, self._same)):
            for key in keys:
                if isinstance(found.get(key), list):
                    found[key] = [widen(each) for each in found[key]]
        if "oneOf" in found:  # a reference matches several of them
            choices = {"anyOf": found.pop("oneOf")}
            found |= {"allOf": [*found.get("allOf", ()), choices]} if "anyOf" in found else choices
        if isinstance(pointer := found.get("$ref"), str):
            found["$ref"] = self._pointer(pointer)
        return found

    def _pointer(self, pointer: str) -> str:
        """The pointer to the target in the widened schema."""
        if not pointer.startswith("#/") or _is_definition(pointer):
            return pointer
        if pointer not in self._moved:
            target = follow(self._root, parts_of(pointer))
            if target is MISSING:
                return pointer
            taken = {*self._root.get("$defs", {}), *self._added}
            name = next(name for number in range(len(taken) + 1) if (name := f"ref_{number + 1}") not in taken)
            self._moved[pointer] = f"#/$defs/{name}"
            self._added[name] = {}  # registered before it is widened, since it may refer to itself
            self._added[name] = self._value(target)
        return self._moved[pointer]


def _is_definition(pointer: str) -> bool:
    return pointer.count("/") == 2 and pointer.split("/")[1] in _DEFINITIONS


def _takes_references(schema: Any) -> bool:
    """Whether a string with a reference is already accepted. The target of a `$ref` is widened itself."""
    if not isinstance(schema, Mapping):
        return schema is not False
    found = cast("Mapping[str, Any]", schema)
    if not _OF_STRINGS.isdisjoint(found) or found.get("$ref") == "#" or "$dynamicRef" in found:
        return False
    types = found.get("type", "string")
    if "string" not in (cast("list[Any]", types) if isinstance(types, list) else [types]):
        return False
    if not all(map(_takes_references, _list(found.get("allOf")))):
        return False
    return all(not each or any(map(_takes_references, each)) for each in map(_list, _choices(found)))


def _choices(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    return schema.get("anyOf"), schema.get("oneOf")


def _list(found: Any) -> list[Any]:
    return cast("list[Any]", found) if isinstance(found, list) else []
