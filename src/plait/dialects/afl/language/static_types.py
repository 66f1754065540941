"""Static types of values. None is a type too: it is unknown, so nothing is reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .symbols import Symbol

BUILTIN_TYPES = ("String", "Long", "Int", "Double", "Boolean", "Json")


@dataclass(frozen=True)
class Plain:
    name: str


@dataclass(frozen=True)
class ListOf:
    element: StaticType


@dataclass(frozen=True)
class Instance:
    """A value of a schema, or a step of a facet."""

    symbol: Symbol


@dataclass(frozen=True)
class MapValue:
    """A map literal: an object, whatever its fields."""


StaticType: TypeAlias = Plain | ListOf | Instance | MapValue | None

STRING, LONG, DOUBLE, BOOLEAN = Plain("String"), Plain("Long"), Plain("Double"), Plain("Boolean")
NULL = Plain("Null")
"""Fits every type."""


def is_number(type: StaticType) -> bool:
    return isinstance(type, Plain) and type.name in ("Long", "Int", "Double")


def is_object(type: StaticType) -> bool:
    return isinstance(type, Instance | MapValue)


def shown(type: StaticType) -> str:
    match type:
        case Plain():
            return type.name
        case ListOf():
            return f"[{shown(type.element)}]"
        case Instance():
            return type.symbol.qualified
        case MapValue():
            return "a map"
        case None:
            return "Json"


def fits(given: StaticType, wanted: StaticType) -> bool:
    """Whether a value may fit: an unknown type always may."""
    if given is None or wanted is None or given in (NULL, wanted):
        return True
    match wanted:
        case Plain(name="Double"):
            return is_number(given)
        case Plain(name="Long" | "Int"):
            return isinstance(given, Plain) and given.name in ("Long", "Int")
        case ListOf():
            return isinstance(given, ListOf) and fits(given.element, wanted.element)
        case Instance():
            return is_object(given)
        case _:
            return False
