"""What the table steps give, by the plainest code there is: nested loops and comparisons in pairs."""

from __future__ import annotations

import json
from functools import cmp_to_key
from typing import Any

ABSENT = object()


def at(row: dict[str, Any], path: str) -> Any:
    if path in row:
        return row[path]
    here: Any = row
    for part in path.split("."):
        if not isinstance(here, dict) or part not in here:
            return ABSENT
        here = here[part]
    return here


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return a == b


def _rank(value: Any) -> int:
    if isinstance(value, bool):
        return 2
    return 0 if isinstance(value, int | float) else 1 if isinstance(value, str) else 3


def _compare(a: Any, b: Any) -> int:
    if _rank(a) != _rank(b):
        return _rank(a) - _rank(b)
    if _rank(a) == 3:
        a, b = _text(a), _text(b)
    return (a > b) - (a < b)


def _text(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def sort(rows: list[Any], field: str, order: str) -> list[Any]:
    found = [row for row in rows if at(row, field) not in (ABSENT, None)]
    sign = -1 if order == "desc" else 1
    found.sort(key=cmp_to_key(lambda a, b: sign * _compare(at(a, field), at(b, field))))
    return found + [row for row in rows if at(row, field) in (ABSENT, None)]


def keeps(row: dict[str, Any], field: str, op: str, value: Any) -> bool:
    found = at(row, field)
    if found is ABSENT:
        return False
    match op:
        case "==":
            return equal(found, value)
        case "!=":
            return not equal(found, value)
        case "in":
            return isinstance(value, list) and any(equal(found, each) for each in value)
        case "contains":
            if isinstance(found, str):
                return isinstance(value, str) and value in found
            return isinstance(found, list) and any(equal(each, value) for each in found)
    numbers = all(_rank(each) == 0 for each in (found, value))
    texts = all(_rank(each) == 1 for each in (found, value))
    if not numbers and not texts:
        return False
    return {"<": found < value, ">": found > value, "<=": found <= value, ">=": found >= value}[op]


def group(rows: list[Any], by: list[str]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for row in rows:
        keys = {name: None if at(row, name) is ABSENT else at(row, name) for name in by}
        for each in groups:
            if all(equal(each[name], keys[name]) for name in by):
                each["count"] += 1
                break
        else:
            groups.append(keys | {"count": 1})
    return groups


def pairs(left: list[Any], right: list[Any], on: list[str]) -> list[tuple[int, int | None]]:
    """Which row of the left table meets which of the right one, or none."""
    found: list[tuple[int, int | None]] = []
    for i, one in enumerate(left):
        keys = [at(one, name) for name in on]
        met = [
            j
            for j, other in enumerate(right)
            if all(
                key not in (ABSENT, None) and at(other, name) is not ABSENT and equal(key, at(other, name))
                for key, name in zip(keys, on, strict=True)
            )
        ]
        found += [(i, j) for j in met] or [(i, None)]
    return found
