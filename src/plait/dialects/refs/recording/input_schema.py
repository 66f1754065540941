"""The input schema of a template, inferred from one example: the recorded input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import msgspec

from plait.conditions.paths import MISSING, follow

from .secret_names import holds_secret, looks_secret

_LARGEST_EXAMPLE: Final = 1_000
"""Bytes of an example."""
_DEEPEST: Final = 3
"""The most levels of names, among those that are used."""
_DEEPEST_SCHEMA: Final = 10
"""Levels of JSON; each name takes two."""
_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


class _Node:
    """A place in the input, and the places below it that are used."""

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.used = False


def infer_schema(paths: Iterable[Sequence[str]], recorded: Any) -> dict[str, Any]:
    """`paths` are those that references use below `@input`; `recorded` is the recorded input, with all its fields."""
    root = _Node()
    for path in paths:
        node = root
        for part in path[:_DEEPEST]:
            node = node.below.setdefault(part, _Node())
        node.used = node.used or len(path) <= _DEEPEST
    return _object(root, recorded, path=())


def _object(node: _Node, value: Any, path: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object"}
    if node.below:
        found["properties"] = {
            name: _schema(below, follow(value, (name,)), (*path, name)) for name, below in node.below.items()
        }
    required = [name for name in node.below if follow(value, (name,)) not in (MISSING, None)]
    return found | ({"required": required} if required else {})


def _schema(node: _Node, value: Any, path: Sequence[str]) -> dict[str, Any]:
    if isinstance(value, dict) and node.below:
        found = _object(node, value, path)
    elif isinstance(value, list):
        found = _array(node, cast("list[Any]", value), path)
    else:
        found = {} if value is MISSING or value is None else {"type": _type(value)}
    return found | _example(node, value, path)


def _array(node: _Node, items: Sequence[Any], path: Sequence[str]) -> dict[str, Any]:
    """Places that are used by index stand for all items."""
    types = {_type(item) for item in items}
    if len(types) != 1 or None in types:
        return {"type": "array"}
    if types != {"object"}:
        return {"type": "array", "items": {"type": types.pop()}}
    fields = _Node()
    for below in node.below.values():
        fields.below |= below.below
    return {"type": "array", "items": _object(fields, _common(items), (*path, "items"))}


def _common(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The fields that all items have."""
    return {key: value for key, value in items[0].items() if all(item.get(key) is not None for item in items)}


def _example(node: _Node, value: Any, path: Sequence[str]) -> dict[str, Any]:
    if not node.used or value is MISSING or value is None:
        return {}
    if any(map(looks_secret, path)) or holds_secret(value):
        return {}
    deep = 2 * len(path) + 2 + _depth(value) > _DEEPEST_SCHEMA
    if deep or len(msgspec.json.encode(value)) > _LARGEST_EXAMPLE:
        return {}
    return {"examples": [value]}


def _type(value: Any) -> str | None:
    return next((name for type, name in _TYPES if isinstance(value, type)), None)


def _depth(value: Any) -> int:
    """The nesting depth of lists and objects."""
    if isinstance(value, dict):
        return 1 + max(map(_depth, cast("dict[str, Any]", value).values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, cast("list[Any]", value)), default=0)
    return 0
