"""What names mean inside a declaration: scopes from the innermost outward.

workflow W(p) andThen {          DeclarationScope: $.p
    a = F(x = $.p) andThen {     BlockScope: a, b
        c = G(y = a.x)           BlockScope: c; its owner is a
    }
    b = F(x = a.r)
}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .links import Binding, StepInfo
from .static_types import STRING, StaticType
from .symbols import Symbol
from .tree import Block, Mixin, Name, Step


@dataclass(frozen=True)
class Inputs:
    """What `$` holds here, by name; `open` if a script may add more."""

    types: Mapping[str, StaticType]
    open: bool = False


@dataclass(frozen=True, eq=False)
class Owner:
    """The owner of a body, and so the target of yields: a declaration, or a step in one."""

    symbol: Symbol | None
    mixins: Sequence[tuple[Mixin, Symbol | None]]
    """Mixins of its signature and of its call."""
    step: StepInfo | None


@dataclass(frozen=True, eq=False)
class Scope:
    """A body. `block` is None where it has no steps of its own, as around the conditions of a `when`."""

    owner: Owner
    parent: Scope | None
    """The scope of the block that contains its owner; None in a declaration."""
    inputs: Inputs
    """All that `$` holds, including outer scopes."""
    steps: Mapping[str, StepInfo] = field(default_factory=dict[str, StepInfo])
    variable: Name | None = None
    variable_type: StaticType = None
    siblings: Sequence[Mapping[str, StepInfo]] = ()
    """Steps of earlier blocks of the same owner, nearest first; visible from a `when`."""
    hidden: Sequence[Mapping[str, StepInfo]] = ()
    """Steps of the other blocks, which are not visible."""

    def owners(self) -> Iterator[Owner]:
        """Owners, innermost first."""
        scope: Scope | None = self
        last: Owner | None = None
        while scope is not None:
            if scope.owner is not last:
                yield scope.owner
            last = scope.owner
            scope = scope.parent

    def chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def bind(self, name: str) -> tuple[Binding, StaticType] | None:
        """Resolves a name; the type is that of a foreach variable."""
        for at, scope in enumerate(self.chain()):
            if scope.variable is not None and scope.variable.text == name:
                return Binding("foreach"), scope.variable_type
            info = scope.steps.get(name)
            if info is not None:
                return Binding("step" if at == 0 else "outer", info, info), None
            owner = scope.owner.step
            if owner is not None and owner.step.name.text == name:
                return Binding("owner", owner), None
        return self._bind_aside(name)

    def _bind_aside(self, name: str) -> tuple[Binding, StaticType] | None:
        for scope in self.chain():
            for steps in scope.siblings:
                info = steps.get(name)
                if info is not None:
                    return Binding("sibling", info, info), None
        for info in self.steps.values():
            nested = nested_step(info, name)
            if nested is not None:
                return Binding("nested", nested, info), None
        return None

    def is_hidden(self, name: str) -> bool:
        return any(name in steps for scope in self.chain() for steps in scope.hidden)

    def known_steps(self) -> list[str]:
        found = dict.fromkeys(name for scope in self.chain() for name in scope.steps)
        return list(found)


def nested_step(info: StepInfo, name: str) -> StepInfo | None:
    """A step in a plain body of another one."""
    for at, body in enumerate(info.step.bodies):
        if body.foreach is None and isinstance(body.body, Block):
            for statement in body.body.statements:
                if isinstance(statement, Step) and statement.name.text == name:
                    return StepInfo(statement, f"{info.path}/body/{at}/{name}", None)
    return None


def with_error(inputs: Inputs) -> Inputs:
    """The scope inside a catch."""
    return Inputs({**inputs.types, "error": None, "error_type": STRING}, inputs.open)
