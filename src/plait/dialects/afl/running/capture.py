"""Yields reach their target step once all its blocks are complete: section 3.5 of the spec.

Later wins: blocks by index; in a block its own yields or script result, then sub-blocks by index, then bodies and
catches of its steps in source order. Within one foreach, lists of the same field are joined in index order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from .nodes import StepNode

Values = dict[str, Any]


@dataclass(slots=True)
class Captured:
    own: Values = field(default_factory=dict[str, Any])
    flat: Values = field(default_factory=dict[str, Any])
    """Values of mixins without an alias."""
    aliased: dict[str, Values] = field(default_factory=dict[str, Values])

    def merge(self, other: Captured, *, join: bool = False) -> None:
        _merge(self.own, other.own, join=join)
        _merge(self.flat, other.flat, join=join)
        for alias, values in other.aliased.items():
            _merge(self.aliased.setdefault(alias, {}), values, join=join)


def _merge(into: Values, found: Values, *, join: bool) -> None:
    for name, value in found.items():
        before = into.get(name)
        if join and isinstance(value, list) and isinstance(before, list):
            cast("list[Any]", before).extend(cast("list[Any]", value))
        elif join and isinstance(value, list):
            into[name] = [*cast("list[Any]", value)]  # it will grow, so the original is copied
        else:
            into[name] = value


def captured(node: StepNode) -> Captured:
    """What the yields in a step's blocks give to the step."""
    found = Captured()
    for block in (*node.blocks, *node.catches):
        if block.complete:
            found.merge(_of_block(block, node))
    return found


def returns_of(node: StepNode, found: Captured) -> Values:
    """The additions to the step's returns. A mixin never replaces the facet's own values."""
    record = node.record
    new: Values = {
        name: value
        for name, value in found.flat.items()
        if name not in found.own and name not in record.params and name not in record.returns
    }
    for alias, values in found.aliased.items():
        before = record.returns.get(alias)
        new[alias] = {**(cast("Values", before) if isinstance(before, dict) else {}), **values}
    return {**new, **found.own}


def _of_block(block: StepNode, step: StepNode) -> Captured:
    found, plan = Captured(), block.plan
    assert plan is not None
    if plan.kind == "script" and block.container is step:
        found.own.update(block.record.returns)
    for each in plan.yields if plan.kind == "steps" else ():
        _take(found, block.members[each.id], step)
    join = plan.kind == "foreach"
    for sub in block.subs:
        found.merge(_of_block(sub, step), join=join)
    for statement in plan.steps if plan.kind == "steps" else ():
        member = block.members[statement.id]
        if not statement.bodies and statement.catch is None:
            continue
        for inner in (*member.blocks, *member.catches):
            if inner.complete and inner.body == "statement":
                found.merge(_of_block(inner, step))
    return found


def _take(found: Captured, node: StepNode, step: StepNode) -> None:
    """Takes a yield if this step is its target: the owner of its block, one further out, or a mixin of either."""
    target = node.yielded
    assert target is not None
    if _owner(node, target.level) is not step:
        return
    if target.alias:
        found.aliased.setdefault(target.alias, {}).update(node.record.params)
    elif target.mixin:
        found.flat.update(node.record.params)
    else:
        found.own.update(node.record.params)


def _owner(node: StepNode, level: int) -> StepNode | None:
    owner = node.container
    for _ in range(level):
        if owner is None or owner.block is None:
            return None
        owner = owner.block.container
    return owner
