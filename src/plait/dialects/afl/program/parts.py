"""The parts of a program that the machine visits. Expressions stay in their compiled form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Expr = Mapping[str, Any]
Path = tuple[str, ...]
Refs = tuple[Path, ...]
"""Step references of expressions, each as its path."""

Place = Mapping[str, Any]
"""The place of a part in its source, as in the compiled form: `line`, `column`, `endLine`, `endColumn`, and `sourceId`
if there are several files. Empty if it was compiled without places."""
NOWHERE: Place = MappingProxyType({})

DeclKind = Literal["facet", "event", "workflow", "schema"]
BlockKind = Literal["steps", "foreach", "when", "script"]


@dataclass(frozen=True, slots=True)
class Script:
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    type: Any
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Arg:
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Mixin:
    target: str
    """A qualified name."""
    args: tuple[Arg, ...]
    alias: str
    implicits: tuple[Arg, ...]
    refs: Refs


@dataclass(frozen=True, slots=True)
class Call:
    target: str
    """A qualified name."""
    args: tuple[Arg, ...]
    mixins: tuple[Mixin, ...]
    implicits: tuple[Arg, ...]
    """Arguments from implicits, only the strongest of each name."""
    refs: Refs
    """References in its arguments and those of its mixins."""
    place: Place = field(default_factory=lambda: NOWHERE)


@dataclass(frozen=True, slots=True)
class Statement:
    """`s = F(…)`."""

    id: str
    name: str
    call: Call
    bodies: tuple[Block, ...]
    catch: Catch | None
    place: Place = field(default_factory=lambda: NOWHERE)


@dataclass(frozen=True, slots=True)
class Yield:
    id: str
    call: Call
    level: int
    """The target: 0 is the owner of its block, 1 the owner of the block around that, and so on."""
    mixin: str
    alias: str
    """The mixin of the target and its alias, if the yield is for one."""
    place: Place = field(default_factory=lambda: NOWHERE)


@dataclass(frozen=True, slots=True)
class Sys:
    """`sys.log(…)` or `sys.assert(…)`."""

    id: str
    kind: Literal["log", "assert"]
    args: tuple[Arg, ...]
    condition: Expr | None
    refs: Refs


@dataclass(frozen=True, slots=True)
class Case:
    condition: Expr | None
    """None: `case _`."""
    refs: Refs
    block: Block
    text: str = ""
    """The text of its condition, for people."""


@dataclass(frozen=True, slots=True)
class Block:
    kind: BlockKind
    steps: tuple[Statement, ...] = ()
    sys: tuple[Sys, ...] = ()
    yields: tuple[Yield, ...] = ()
    named: Mapping[str, Statement] | None = None
    """Its steps by name."""
    entries: Mapping[str, tuple[int, Statement | Sys | Yield]] = field(
        default_factory=dict[str, "tuple[int, Statement | Sys | Yield]"]
    )
    """All its entries by id, each with its position."""
    variable: str = ""
    iterable: Expr | None = None
    refs: Refs = ()
    """References in the iterable, or in all conditions."""
    cases: tuple[Case, ...] = ()
    script: Script | None = None
    place: Place = field(default_factory=lambda: NOWHERE)


@dataclass(frozen=True, slots=True)
class Catch:
    block: Block
    """A block of kind `steps` or `when`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    template: str
    system: str
    model: str


@dataclass(frozen=True, slots=True)
class Declaration:
    name: str
    """A qualified name."""
    kind: DeclKind
    namespace: str
    params: tuple[Param, ...]
    """Parameters; for a schema, its fields."""
    returns: tuple[Param, ...]
    mixins: tuple[Mixin, ...]
    script: Script | None
    bodies: tuple[Block, ...]
    catch: Catch | None
    prompt: Prompt | None
    place: Place = field(default_factory=lambda: NOWHERE)
    doc: str = ""

    @property
    def runs(self) -> bool:
        """Whether it does work: as a mixin it is then a step of its own."""
        return self.kind == "event" or bool(self.bodies) or self.script is not None

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]
