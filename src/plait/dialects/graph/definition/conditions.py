"""Every condition of a definition, compiled, by its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plait import conditions
from plait.conditions import Condition, InvalidCondition
from plait.definitions.flaws import Note
from plait.kernel.errors import Flaw

from .examined import Examined
from .namespace_policy import RULES, NamespacePolicy
from .read import Draft


@dataclass(frozen=True, slots=True)
class Written:
    """A condition at its place in the definition."""

    condition: Any
    pointer: str
    """The place named in messages: a rule, not the field in it."""
    field: str
    """The path of the condition below that place."""
    place: conditions.Place = "node"


@dataclass(frozen=True, slots=True)
class Conditions:
    compiled: Mapping[str, Condition]
    flaws: tuple[Note, ...]


def compile_all(examined: Examined, policy: NamespacePolicy) -> Conditions:
    """Compiles all conditions; those of the namespace's policy are found below `RULES`."""
    compiled: dict[str, Condition] = {}
    flaws: list[Note] = []
    for written in (*_of_live_parts(examined), *_of_namespace(policy)):
        at = f"{written.pointer}{written.field}"
        try:
            compiled[written.pointer] = conditions.compile(
                written.condition, at, nodes=examined.routings, blobs=examined.blobs, place=written.place
            )
        except InvalidCondition as error:
            flaws += [_note(written, flaw) for flaw in error.flaws]
    return Conditions(compiled, tuple(flaws))


def _note(written: Written, flaw: Flaw) -> Note:
    return Note(flaw.pointer, f"invalid condition at {written.pointer}: {flaw.message}", "", flaw.code)


def _of_live_parts(examined: Examined) -> Iterator[Written]:
    """Leaves out the conditions of loops and branches that are not enabled."""
    for routing in examined.routings.values():
        at = routing.placed.pointer
        if routing.loop is not None:
            yield Written(routing.loop.condition, f"{at}/loop", "/condition")
        if routing.branch is not None:
            for index, rule in enumerate(routing.branch.rules):
                yield Written(rule.condition, f"{at}/branch/rules/{index}", "/condition")
    for placed in examined.draft.edges:
        if placed.edge.condition is not None:
            yield Written(placed.edge.condition, placed.pointer, "/condition")
    for index, rule in enumerate(examined.draft.source.policy.rules):
        yield Written(rule.condition, f"/policy/rules/{index}", "/condition", "policy")


def _of_namespace(policy: NamespacePolicy) -> Iterator[Written]:
    for index, rule in enumerate(policy.rules):
        yield Written(rule.condition, f"{RULES}/{index}", "/condition", "policy")


def references(draft: Draft) -> frozenset[str]:
    """The stored texts that conditions of a definition refer to."""
    found: set[str] = set()
    for node in (placed.node for placed in draft.nodes):
        rules = node.branch.rules if node.branch is not None else []
        for each in (node.loop, *rules):
            if each is not None:
                found |= conditions.references(each.condition)
    for each in (*(placed.edge for placed in draft.edges), *draft.source.policy.rules):
        found |= conditions.references(each.condition)
    return frozenset(found)
