"""What the checker has found out about a tree, for the compiler, the language server and others.

Nodes are frozen and may be equal, so tables are by identity: a `Links` keeps its trees alive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from .symbols import Symbol
from .tree import Call, Implicit, Mixin, Node, Reference, Step, StepRef

BindingKind = Literal["foreach", "step", "owner", "outer", "sibling", "nested"]


@dataclass(frozen=True, eq=False)
class StepInfo:
    """A step statement: `path` is its location in its declaration, from which its id is derived."""

    step: Step
    path: str
    symbol: Symbol | None


@dataclass(frozen=True)
class Binding:
    """What the first name of a reference means. `waits_for` is the step that must be complete before it is read: none
    for variables and owners; for a step nested in another's body, that other one."""

    kind: BindingKind
    target: StepInfo | None = None
    waits_for: StepInfo | None = None


@dataclass(frozen=True)
class Capture:
    """The target of a yield: the step `level` steps above its block (0 is the owner of the block), or a mixin of that
    step."""

    level: int
    mixin: str | None = None
    alias: str | None = None


@dataclass(eq=False)
class Links:
    symbols: dict[int, Symbol] = field(default_factory=dict[int, Symbol])
    """Symbols of calls, mixins and type names."""
    builtins: set[int] = field(default_factory=set[int])
    """Mixins without a facet."""
    bindings: dict[int, Binding] = field(default_factory=dict[int, Binding])
    """Bindings of step references."""
    steps: dict[int, StepInfo] = field(default_factory=dict[int, StepInfo])
    captures: dict[int, Capture] = field(default_factory=dict[int, Capture])
    """Targets of yields."""
    waits: dict[int, list[StepInfo]] = field(default_factory=dict[int, list[StepInfo]])
    """Dependencies by what waits: a step, yield or sys statement, a foreach, a when."""
    implicits: dict[int, list[Implicit]] = field(default_factory=dict[int, list[Implicit]])
    """Implicits of calls and mixins, the strongest first."""

    def symbol(self, node: Call | Mixin | Node) -> Symbol | None:
        return self.symbols.get(id(node))

    def binding(self, node: StepRef | Reference) -> Binding | None:
        return self.bindings.get(id(node))

    def waiting(self, node: Node) -> Iterator[StepInfo]:
        """Each dependency once."""
        return iter({id(each): each for each in self.waits.get(id(node), ())}.values())
