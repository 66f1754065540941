"""The syntax tree of AFL: one frozen node per construct, as it was written.

Every node has `start` and `end`, offsets into the text of its file. Two trees are the same program if they differ in
these alone (`same_program`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, cast

import msgspec


class Node(msgspec.Struct, frozen=True, gc=False):
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


class Name(Node, frozen=True, gc=False):
    """A plain or a qualified name."""

    text: str


# Expressions


class Constant(Node, frozen=True, gc=False):
    """A literal."""

    value: int | float | str | bool | None


class InputRef(Node, frozen=True, gc=False):
    """`$.a.b`"""

    path: tuple[Name, ...]


class StepRef(Node, frozen=True, gc=False):
    """`a.b`, also of a foreach variable."""

    path: tuple[Name, ...]


class Binary(Node, frozen=True, gc=False):
    operator: str
    left: Expression
    right: Expression


class Unary(Node, frozen=True, gc=False):
    operator: str
    operand: Expression


class Concat(Node, frozen=True, gc=False):
    operands: tuple[Expression, ...]


class Group(Node, frozen=True, gc=False):
    """Parentheses: kept, because they are written for readers."""

    inner: Expression


class Index(Node, frozen=True, gc=False):
    target: Expression
    index: Expression


class Member(Node, frozen=True, gc=False):
    """`.name` of anything but a reference."""

    target: Expression
    name: Name


class ListLiteral(Node, frozen=True, gc=False):
    elements: tuple[Expression, ...]


class Entry(Node, frozen=True, gc=False):
    key: str
    quoted: bool
    value: Expression


class MapLiteral(Node, frozen=True, gc=False):
    entries: tuple[Entry, ...]


Reference: TypeAlias = InputRef | StepRef
Expression: TypeAlias = (
    Constant | InputRef | StepRef | Binary | Unary | Concat | Group | Index | Member | ListLiteral | MapLiteral
)

# Calls


class Argument(Node, frozen=True, gc=False):
    name: Name
    value: Expression


class Mixin(Node, frozen=True, gc=False):
    target: Name
    arguments: tuple[Argument, ...]
    alias: Name | None


class Call(Node, frozen=True, gc=False):
    target: Name
    arguments: tuple[Argument, ...]
    mixins: tuple[Mixin, ...]


# Blocks


class Script(Node, frozen=True, gc=False):
    language: Name | None
    code: str
    braces: bool
    """Between braces, or else a string."""
    code_start: int
    """The offset of the brace or the quote."""


class Yield(Node, frozen=True, gc=False):
    call: Call


class SysLog(Node, frozen=True, gc=False):
    arguments: tuple[Argument, ...]


class SysAssert(Node, frozen=True, gc=False):
    condition: Expression


class Block(Node, frozen=True, gc=False):
    """The contents of a body's braces."""

    statements: tuple[Statement, ...]
    yields: tuple[Yield, ...]


class Foreach(Node, frozen=True, gc=False):
    variable: Name
    source: Reference


class Case(Node, frozen=True, gc=False):
    condition: Expression | None
    """None is `_`, the default."""
    block: Block


class When(Node, frozen=True, gc=False):
    cases: tuple[Case, ...]


class AndThen(Node, frozen=True, gc=False):
    body: Block | When | Script
    foreach: Foreach | None


class Catch(Node, frozen=True, gc=False):
    body: Block | When


class Step(Node, frozen=True, gc=False):
    name: Name
    call: Call
    bodies: tuple[AndThen, ...]
    catch: Catch | None


Statement: TypeAlias = Step | SysLog | SysAssert

# Declarations


class TypeName(Node, frozen=True, gc=False):
    name: str


class ListType(Node, frozen=True, gc=False):
    element: Type


Type: TypeAlias = TypeName | ListType


class Parameter(Node, frozen=True, gc=False):
    name: Name
    type: Type
    default: Expression | None


class PromptEntry(Node, frozen=True, gc=False):
    key: Name
    text: Constant


class Prompt(Node, frozen=True, gc=False):
    entries: tuple[PromptEntry, ...]


class Doc(Node, frozen=True, gc=False):
    """A doc comment without its asterisks."""

    description: str
    parameters: tuple[tuple[str, str], ...]
    returns: tuple[tuple[str, str], ...]


FacetKind = Literal["facet", "event", "workflow"]


class Facet(Node, frozen=True, gc=False):
    """A facet, an event facet or a workflow."""

    kind: FacetKind
    name: Name
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    mixins: tuple[Mixin, ...]
    script: Script | None
    prompt: Prompt | None
    bodies: tuple[AndThen, ...]
    catch: Catch | None
    doc: Doc | None


class Schema(Node, frozen=True, gc=False):
    name: Name
    fields: tuple[Parameter, ...]
    doc: Doc | None


class Implicit(Node, frozen=True, gc=False):
    name: Name
    call: Call


class Use(Node, frozen=True, gc=False):
    name: Name


Declaration: TypeAlias = Facet | Schema | Implicit
NamespaceMember: TypeAlias = Facet | Schema | Implicit | Use


class Namespace(Node, frozen=True, gc=False):
    name: Name
    members: tuple[NamespaceMember, ...]
    doc: Doc | None

    @property
    def uses(self) -> Iterator[Use]:
        return (each for each in self.members if isinstance(each, Use))


class File(Node, frozen=True, gc=False):
    members: tuple[Namespace | Declaration, ...]


_PLACES = ("start", "end", "code_start")


def same_program(one: object, other: object) -> bool:
    """Whether two trees differ only in places."""
    return _content(one) == _content(other)


def _content(value: object) -> object:
    if isinstance(value, Node):
        fields = (name for name in value.__struct_fields__ if name not in _PLACES)
        return (type(value).__name__, *(_content(getattr(value, name)) for name in fields))
    if isinstance(value, tuple):
        return tuple(map(_content, cast("tuple[Any, ...]", value)))
    return value.__class__.__name__, repr(value)
