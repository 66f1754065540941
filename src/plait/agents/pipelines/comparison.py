"""How JSON values compare: equality by value, and an order of types for sorting.

1 equals 1.0; a boolean is not a number, although Python's is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, cast

from plait.definitions.hashing import canonical

NUMBER: Final = 0
TEXT: Final = 1
BOOLEAN: Final = 2
OTHER: Final = 3
Rank = Literal[0, 1, 2, 3]
_type_of: Callable[[Any], type[Any]] = type
"""Called for every value of a table, so not `isinstance`."""
NUMBERS: Final = frozenset[type[Any]]((int, float))
TEXTS: Final = frozenset[type[Any]]((str,))
_PLAIN: Final = NUMBERS | TEXTS | {type(None)}
"""Types whose values Python compares as JSON does."""


def rank(value: Any) -> Rank:
    """The rank of a value's type in sorting: numbers, strings, booleans, all others."""
    if isinstance(value, str):
        return TEXT
    if isinstance(value, bool):
        return BOOLEAN
    return NUMBER if isinstance(value, int | float) else OTHER


def order_key(value: Any) -> tuple[int, Any]:
    """Strings by code point, false before true, lists and objects by their canonical JSON."""
    found = rank(value)
    return found, canonical(value) if found == OTHER else value


def alike(values: Iterable[Any]) -> bool:
    """Whether Python compares and adds these values as JSON does: only numbers, or only strings."""
    kinds = set(map(_type_of, values))
    return kinds <= NUMBERS or kinds <= TEXTS


def sort_keys(values: list[Any]) -> list[Any]:
    """Keys to sort these values by; values of one type are their own keys, which is several times faster."""
    return values if alike(values) else list(map(order_key, values))


def identity(value: Any) -> Any:
    """Hashable, and equal for equal JSON values only."""
    kind = _type_of(value)
    if kind in _PLAIN:
        return value
    if kind is bool:
        return ("boolean", value)
    if kind is list:
        return ("list", *map(identity, cast("list[Any]", value)))
    return ("object", frozenset((key, identity(each)) for key, each in cast("dict[str, Any]", value).items()))


def identities(values: list[Any]) -> list[Any]:
    """Identities of a whole column; most columns are plain and need no conversion."""
    return values if set(map(_type_of, values)) <= _PLAIN else list(map(identity, values))


def same(one: Any, other: Any) -> bool:
    return identity(one) == identity(other)
