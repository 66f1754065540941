"""The reader's output and the compiler's input: the text as a tree, each part with its place."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import Place
from .kinds import Value


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """Any part of the text."""

    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Form):
    """A number, string, keyword or boolean."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Name(Form):
    """A symbol."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Group(Form):
    """Any bracketed form, and its items."""

    items: tuple[Form, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ListForm(Group):
    """`(a b)`, and with a tail `(a . b)`."""

    tail: Form | None = None


@dataclass(frozen=True, slots=True, eq=False)
class VectorForm(Group):
    """`[a b]`."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectForm(Group):
    """`{k v ..}`: keys and values in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class SetForm(Group):
    """`#{a b}`."""
