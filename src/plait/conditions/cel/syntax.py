"""The tree of an expression. `at` is the position in its text, from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Macro = Literal["all", "exists", "exists_one", "map"]


@dataclass(frozen=True, slots=True)
class Literally:
    at: int
    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Name:
    at: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `has(operand.field)`."""

    at: int
    operand: Node
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function call. Names of methods start with a dot, and the receiver is the first argument."""

    at: int
    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class List:
    at: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Map:
    at: int
    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """A macro over the items of a list or the keys of a map.

    `map` has a `body`, the others a `test`; `map` with both takes the items that pass the test, and so does `filter`,
    whose body is the variable itself.
    """

    at: int
    macro: Macro
    variable: str
    over: Node
    test: Node | None
    body: Node | None


Node = Literally | Name | Select | Call | List | Map | Fold


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Literally() | Name():
            return ()
        case Select():
            return (node.operand,)
        case Call():
            return node.arguments
        case List():
            return node.items
        case Map():
            return tuple(part for entry in node.entries for part in entry)
        case Fold():
            return tuple(part for part in (node.over, node.test, node.body) if part is not None)
