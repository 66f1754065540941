"""Short ways to declare the steps that tests want."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.catalogs.registering import Draft
from plait.dialects.goals.steps.attribute import Language
from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.dialects.goals.steps.step import Step
from plait.scripts.errors import CompileError

T = TypeVar("T")


def made(id: str, needs: str = "", gives: str = "") -> StepBuilder:
    """A sync step that requires some names and gives others."""
    building = catalog_step(id).sync("http://localhost/x")
    for name in needs.split():
        building = building.required(name)
    for name in gives.split():
        building = building.output(name)
    return building


def catalog_of(*steps: Step | StepBuilder) -> Catalog:
    """A catalog to which these were registered, in this order."""
    draft = Draft(Catalog())
    for each in steps:
        draft.register(each if isinstance(each, Step) else each.build())
    return draft.catalog


class OnlyKnowsInputs:
    """A compiler of one language: a script is a list of names."""

    async def check(self, language: Language, script: str, names: Sequence[str]) -> None:
        for line, text in enumerate(script.splitlines(), 1):
            for word in text.split():
                if word not in names:
                    raise CompileError(f"unknown name '{word}'", line)


def at_once(change: Callable[[Draft], T]) -> Callable[[Draft], Awaitable[T]]:
    """A change to a catalog that takes no time."""

    async def changed(draft: Draft) -> T:
        return change(draft)

    return changed
