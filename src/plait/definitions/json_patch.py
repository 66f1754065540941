"""JSON Patch, RFC 6902: all operations apply or none does, and the original value is not modified.

The part of a pointer for a list item is its index, `-` for the end, or the item's id: so `/nodes/charge/retry` is
readable, and stays right when other nodes come and go.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from plait.kernel.errors import Flaw, InvalidInput

from .flaws import parts_of
from .hashing import canonical
from .nearest import did_you_mean

MAX_OPERATIONS: Final = 100
CODE: Final = "definitions.bad_patch"

_IDS = ("id", "node_id")
_FIELDS = frozenset({"op", "path", "from", "value"})


class BadPatch(InvalidInput):
    """An operation can't be applied, so none was."""

    def __init__(self, index: int | None, what: str, fix: str = "") -> None:
        pointer = "/operations" if index is None else f"/operations/{index}"
        whole = what if index is None else f"operation {index}: {what}"
        message = f"{whole}; {fix}" if fix else whole
        super().__init__(CODE, whole, fix=fix, flaws=[Flaw(CODE, pointer, message)])


class _Refused(Exception):
    """Raised by one operation, which does not know its number."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


def apply(value: Any, operations: object) -> Any:
    """Returns the patched value; raises `BadPatch`."""
    found = copy.deepcopy(value)
    for index, operation in enumerate(_checked(operations)):
        try:
            found = _one(found, operation)
        except _Refused as error:
            raise BadPatch(index, error.what, error.fix) from None
    return found


def _checked(operations: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(operations, list | tuple):
        raise BadPatch(None, "operations must be a list", "send [{op, path, value}]")
    items = cast("Sequence[Any]", operations)
    if len(items) > MAX_OPERATIONS:
        raise BadPatch(None, f"a patch has {len(items):,} operations, limit {MAX_OPERATIONS}", "send several patches")
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise BadPatch(index, "it is no object", "use {op, path, value}")
        _check_fields(index, cast("dict[str, Any]", item))
    return items


def _check_fields(index: int, operation: Mapping[str, Any]) -> None:
    op = operation.get("op")
    if op not in _OPERATIONS:
        fix = did_you_mean(str(op), _OPERATIONS, f"use {', '.join(_OPERATIONS)}")
        raise BadPatch(index, f"unknown op `{op}`", fix)
    for field in operation:
        if field not in _FIELDS:
            raise BadPatch(index, f"unknown field `{field}`", did_you_mean(field, _FIELDS, "remove it"))
    needed = ("path", "from") if op in ("move", "copy") else ("path",)
    for field in needed:
        pointer = operation.get(field)
        if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
            raise BadPatch(index, f"`{field}` must be a JSON pointer", "begin it with `/`")
    if op in ("add", "replace", "test") and "value" not in operation:
        raise BadPatch(index, f"`{op}` needs a value")


# -- the operations ----------------------------------------------------------------------------------------------------


def _one(whole: Any, operation: Mapping[str, Any]) -> Any:
    return _OPERATIONS[operation["op"]](whole, operation)


def _add(whole: Any, operation: Mapping[str, Any]) -> Any:
    return _put(whole, operation["path"], copy.deepcopy(operation["value"]))


def _remove(whole: Any, operation: Mapping[str, Any]) -> Any:
    return _take(whole, operation["path"])[0]


def _replace(whole: Any, operation: Mapping[str, Any]) -> Any:
    value = copy.deepcopy(operation["value"])
    if not operation["path"]:
        return value
    parent, last = _parent(whole, operation["path"])
    parent[_existing(parent, last, operation["path"])] = value
    return whole


def _move(whole: Any, operation: Mapping[str, Any]) -> Any:
    source, target = operation["from"], operation["path"]
    if target.startswith(f"{source}/"):
        raise _Refused(f"{source} can't be moved into itself")
    if source == target:
        _get(whole, source)
        return whole
    rest, value = _take(whole, source)
    return _put(rest, target, value)


def _copy(whole: Any, operation: Mapping[str, Any]) -> Any:
    return _put(whole, operation["path"], copy.deepcopy(_get(whole, operation["from"])))


def _test(whole: Any, operation: Mapping[str, Any]) -> Any:
    found = _get(whole, operation["path"])
    if canonical(found) != canonical(operation["value"]):
        raise _Refused(f"the test of {operation['path'] or 'the whole'} fails: it has another value", "look again")
    return whole


_OPERATIONS: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], Any]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


# -- places ------------------------------------------------------------------------------------------------------------


def _put(whole: Any, pointer: str, value: Any) -> Any:
    if not pointer:
        return value
    parent, last = _parent(whole, pointer)
    if isinstance(parent, dict):
        cast("dict[str, Any]", parent)[last] = value
    else:
        cast("list[Any]", parent).insert(_insertion(cast("list[Any]", parent), last, pointer), value)
    return whole


def _take(whole: Any, pointer: str) -> tuple[Any, Any]:
    """Removes a value; returns the rest, and what was removed."""
    if not pointer:
        raise _Refused("the whole can't be removed")
    parent, last = _parent(whole, pointer)
    return whole, parent.pop(_existing(parent, last, pointer))


def _get(whole: Any, pointer: str) -> Any:
    if not pointer:
        return whole
    parent, last = _parent(whole, pointer)
    return parent[_existing(parent, last, pointer)]


def _parent(whole: Any, pointer: str) -> tuple[Any, str]:
    *path, last = parts_of(pointer)
    for part in path:
        whole = whole[_existing(whole, part, pointer)]
    if not isinstance(whole, dict | list):
        raise _Refused(f"{pointer} does not exist: there is nothing below its last part but one")
    return cast("Any", whole), last


def _existing(parent: Any, part: str, pointer: str) -> Any:
    """Returns the key or index of an existing part."""
    if isinstance(parent, dict):
        known = cast("dict[str, Any]", parent)
        if part in known:
            return part
        raise _Refused(f"{pointer} does not exist", did_you_mean(part, known, ""))
    if isinstance(parent, list):
        items = cast("list[Any]", parent)
        if _is_index(part) and int(part) < len(items):
            return int(part)
        found = _by_id(items, part)
        if found is not None:
            return found
        raise _Refused(f"{pointer} does not exist", did_you_mean(part, _ids(items), ""))
    raise _Refused(f"{pointer} does not exist")


def _insertion(items: list[Any], part: str, pointer: str) -> int:
    """Returns where to insert: at an index, at the end, or at the end for the id of a new item."""
    if part == "-":
        return len(items)
    if _is_index(part):
        if int(part) <= len(items):
            return int(part)
        raise _Refused(f"{pointer} is beyond the end of the list, which has {len(items)} items", "use `-`")
    if _by_id(items, part) is not None:
        raise _Refused(f"{pointer} exists already", "use `replace`")
    return len(items)


def _is_index(part: str) -> bool:
    return part == "0" or (part.isascii() and part.isdecimal() and part[0] != "0" and len(part) < 10)


def _ids(items: Sequence[Any]) -> list[str]:
    return [id for item in items if (id := id_of(item)) is not None]


def _by_id(items: Sequence[Any], id: str) -> int | None:
    return next((index for index, item in enumerate(items) if id_of(item) == id), None)


def id_of(item: Any) -> str | None:
    """Returns the id that addresses an item of a list; None if it has none."""
    if not isinstance(item, dict):
        return None
    found = next((value for key in _IDS if (value := cast("dict[str, Any]", item).get(key)) is not None), None)
    return found if isinstance(found, str) else None
