"""The resolution of names: section 1.7 of the spec.

`find` says which step a name refers to, even if that step does not exist yet: dependencies are found before
anything is evaluated. `BlockScope` and `OwnScope` provide values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plait.dialects.afl.program.parts import Refs, Statement

from .afl_run import AflRun
from .nodes import StepNode
from .state import Element


@dataclass(frozen=True, slots=True)
class StepTarget:
    """A step of some block."""

    id: str
    waits_for: str
    """The step that must be complete: for a step in another's body, that other step."""


@dataclass(frozen=True, slots=True)
class OwnerTarget:
    """The step whose body this is: nothing waits for it."""

    node: StepNode


Target = StepTarget | OwnerTarget | Element


def find(run: AflRun, block: StepNode, name: str) -> Target | None:
    """Innermost first; then earlier siblings of a `when`; then inside the bodies of this block's steps."""
    siblings: list[StepNode] = []
    at: StepNode | None = block
    while at is not None:
        element = at.record.element
        if element is not None and element.var == name:
            return element
        if (found := _member(run, at, name)) is not None:
            return found
        if at.block is not None:
            at = at.block
            continue
        if at.plan is not None and at.plan.kind == "when":
            siblings.append(at)
        owner = at.container
        if at.body == "declaration" or owner is None:
            break
        if owner.record.statement_name == name:
            return OwnerTarget(owner)
        at = owner.block
    for each in siblings:
        if (found := _in_sibling(run, each, name)) is not None:
            return found
    return _nested(run, block, name)


def _member(run: AflRun, block: StepNode, name: str) -> StepTarget | None:
    statement = None if block.plan is None or block.plan.kind != "steps" else (block.plan.named or {}).get(name)
    if statement is None:
        return None
    id = run.id_of(block.record.container_id, block.id, statement.id)
    return StepTarget(id, id)


def _in_sibling(run: AflRun, when: StepNode, name: str) -> StepTarget | None:
    owner = when.container
    assert owner is not None
    for sibling in reversed(owner.blocks):
        if sibling.place < when.place and (found := _member(run, sibling, name)) is not None:
            return found
    return None


def _nested(run: AflRun, block: StepNode, name: str) -> StepTarget | None:
    if block.plan is None:
        return None
    for statement in block.plan.steps:
        inner = _plain_body(statement, name)
        if inner is not None:
            place, found = inner
            owner = run.id_of(block.record.container_id, block.id, statement.id)
            body = run.id_of(owner, "", f"block-{place}")
            return StepTarget(run.id_of(owner, body, found.id), owner)
    return None


def _plain_body(statement: Statement, name: str) -> tuple[int, Statement] | None:
    for place, body in enumerate(statement.bodies):
        if body.kind == "steps" and (found := (body.named or {}).get(name)) is not None:
            return place, found
    return None


def dependencies(run: AflRun, block: StepNode, refs: Refs) -> Iterator[str]:
    """The steps that some references wait for."""
    for path in refs:
        target = find(run, block, path[0])
        if isinstance(target, StepTarget):
            yield target.waits_for


# -- values ------------------------------------------------------------------------------------------------------------


class BlockScope:
    """The scope inside a block. Unknown names are a `KeyError`."""

    __slots__ = ("_block", "_run")

    def __init__(self, run: AflRun, block: StepNode) -> None:
        self._run = run
        self._block = block

    def input(self, name: str) -> Any:
        for found in _inputs(self._block):
            if name in found:
                return found[name]
        raise KeyError(name)

    def step(self, reference: Mapping[str, Any]) -> Mapping[str, Any]:
        """The attributes of a step, returns over params."""
        target = find(self._run, self._block, reference["path"][0])
        if isinstance(target, OwnerTarget):
            record = target.node.record
        elif isinstance(target, StepTarget):
            record = self._run.nodes[target.id].record
        else:
            raise KeyError(reference["path"][0])
        return {**record.params, **record.returns}

    def variable(self, name: str) -> Any:
        target = find(self._run, self._block, name)
        if not isinstance(target, Element):
            raise KeyError(name)
        return target.value


def _inputs(block: StepNode) -> Iterator[Mapping[str, Any]]:
    """The value of `$`, innermost first."""
    at: StepNode = block
    while True:
        owner = at.container
        assert owner is not None
        top, elements = at, list[Element]()
        while True:
            if top.record.element is not None:
                elements.append(top.record.element)
            if top.block is None:
                break
            top = top.block
        if top.record.object_type == "AndCatch":
            yield {key: owner.record.returns[key] for key in ("error", "error_type") if key in owner.record.returns}
        for element in elements:
            yield {element.var: element.value}
        if top.body == "declaration":
            yield owner.record.params
            return
        event = owner.declaration is not None and owner.declaration.kind == "event"
        if not event:
            yield owner.record.params
        if owner.block is None:
            return
        if event:
            yield from _inputs(owner.block)
            yield owner.record.params
            yield owner.record.returns
            return
        at = owner.block


class OwnScope:
    """The scope of a declaration's head: its own parameters, nothing of its caller."""

    __slots__ = ("_params",)

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params

    def input(self, name: str) -> Any:
        return self._params[name]

    def step(self, reference: Mapping[str, Any]) -> Mapping[str, Any]:
        raise KeyError(reference["path"][0])

    def variable(self, name: str) -> Any:
        raise KeyError(name)


Scope = BlockScope | OwnScope
