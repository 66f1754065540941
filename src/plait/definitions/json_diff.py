"""Compares two values: returns the operations of a JSON Patch that turns the first into the second.

List items that have ids are compared by id, so that one more node is one operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .flaws import escape
from .hashing import canonical
from .json_patch import id_of

Operation = dict[str, Any]


def diff(before: Any, after: Any) -> list[Operation]:
    return [*_diff(before, after, "")]


def _diff(before: Any, after: Any, pointer: str) -> Iterator[Operation]:
    match before, after:
        case dict(), dict():
            yield from _objects(cast("dict[str, Any]", before), cast("dict[str, Any]", after), pointer)
        case list(), list():
            yield from _lists(cast("list[Any]", before), cast("list[Any]", after), pointer)
        case _:
            if canonical(before) != canonical(after):
                yield {"op": "replace", "path": pointer, "value": after}


def _objects(before: Mapping[str, Any], after: Mapping[str, Any], pointer: str) -> Iterator[Operation]:
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": f"{pointer}/{escape(key)}"}
    for key, value in after.items():
        if key in before:
            yield from _diff(before[key], value, f"{pointer}/{escape(key)}")
        else:
            yield {"op": "add", "path": f"{pointer}/{escape(key)}", "value": value}


def _lists(before: Sequence[Any], after: Sequence[Any], pointer: str) -> Iterator[Operation]:
    old, new = _by_id(before), _by_id(after)
    if old is None or new is None or not _same_order([*old], [*new]):
        if canonical(before) != canonical(after):
            yield {"op": "replace", "path": pointer, "value": after}
        return
    for id in old:
        if id not in new:
            yield {"op": "remove", "path": f"{pointer}/{escape(id)}"}
    for index, (id, item) in enumerate(new.items()):
        if id in old:
            yield from _diff(old[id], item, f"{pointer}/{escape(id)}")
        else:
            yield {"op": "add", "path": f"{pointer}/{index}", "value": item}


def _by_id(items: Sequence[Any]) -> dict[str, Any] | None:
    """Maps items by id; None unless every item has a unique id that can't be mistaken for an index."""
    found: dict[str, Any] = {}
    for item in items:
        id = id_of(item)
        if id is None or id in found or id.isdecimal() or id == "-":
            return None
        found[id] = item
    return found


def _same_order(old: Sequence[str], new: Sequence[str]) -> bool:
    kept, there = set(old) & set(new), set(old)
    return [id for id in old if id in kept] == [id for id in new if id in there]
