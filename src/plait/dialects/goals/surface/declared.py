"""Steps that a module declares."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeGuard

from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.step import Step

DeclaredStep = Step | StepBuilder | PythonStep[..., Any]


def is_step(found: object) -> TypeGuard[DeclaredStep]:
    return isinstance(found, Step | StepBuilder | PythonStep)


def steps_of(module: ModuleType) -> dict[str, DeclaredStep]:
    """The steps of a module, by their names in it; one with two names counts once. `_name` is left out: a builder that
    others are derived from need not be a step yet."""
    found: dict[int, tuple[str, DeclaredStep]] = {}
    for name, each in vars(module).items():
        if is_step(each) and not name.startswith("_"):
            found.setdefault(id(each), (name, each))
    return dict(found.values())


def id_of(step: DeclaredStep) -> str:
    match step:
        case Step():
            return step.id
        case StepBuilder():
            return step.build().id
        case PythonStep():
            return step.definition.id
