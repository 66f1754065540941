"""JSON values as what `lupa` can turn into plain Lua values.

Only bytes, numbers, booleans, None, lists and dicts may reach `lupa`: anything else, a `str` too, it would wrap as a
Python object, and that is a way out.
"""

from __future__ import annotations

from typing import Any, cast

_SMALLEST = -(2**63)
_LARGEST = 2**63 - 1


def plain(value: Any) -> Any:
    """A value for Lua: strings as bytes; integers that Lua has no room for as floats."""
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
