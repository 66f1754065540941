"""Converts JSON values to types that `lupa` turns into plain Lua values.

Only bytes, numbers, booleans, None, lists and dicts may reach `lupa`: it would wrap anything else, even a `str`, as a
Python object, which is a way out of the sandbox.
"""

from __future__ import annotations

from typing import Any, cast

_SMALLEST = -(2**63)
_LARGEST = 2**63 - 1


def plain(value: Any) -> Any:
    """A value for Lua: strings as bytes; integers beyond Lua's range as floats."""
    match value:
        case None | bool() | float():
            return value
        case str():
            return value.encode()
        case int():
            return value if _SMALLEST <= value <= _LARGEST else float(value)
        case list():
            return [plain(item) for item in cast("list[Any]", value)]
        case dict():
            return {key.encode(): plain(item) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            raise TypeError(f"a {type(value).__name__} is not JSON")
