"""Registers what a program declares to its engine: workflows, steps, models, tools, and modules that contain some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType

from plait.kernel.bundle import Bundle
from plait.kernel.errors import InvalidInput

from .agents import Agents


def declare(definitions: Iterable[object], agents: Agents, bundles: Mapping[str, Bundle]) -> None:
    """Registers definitions; raises for unknown ones. Modules may also contain other things."""
    for definition in definitions:
        if isinstance(definition, ModuleType):
            for found in vars(definition).values():
                _is_taken(found, agents, bundles)
        elif not _is_taken(definition, agents, bundles):
            raise InvalidInput(
                "CODE_NOT_LOADED",
                f"{definition!r} is not a workflow",
                why="nor anything else that a dialect of this engine knows",
                fix="mark the function with @workflow, or pass the module that has them",
            )


def _is_taken(definition: object, agents: Agents, bundles: Mapping[str, Bundle]) -> bool:
    # All are asked: a declaration may be for several, as a model is
    takers = (agents, *bundles.values())
    return sum(taker.declare(definition) for taker in takers) > 0
