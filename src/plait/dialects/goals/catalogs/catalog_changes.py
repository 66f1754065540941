"""Changes to the step catalog that are made together: `engine.catalog.transaction()` collects them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never, cast

from plait.dialects.goals.catalogs.registering import Draft, Removal
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step, emitted
from plait.kernel.errors import InvalidInput

Declared = Step | StepBuilder | PythonStep[..., Any] | Mapping[str, Any]
"""A step in any of the forms in which it can be written."""
Handler = Callable[..., Any]
_AT_A_TIME = 50
"""Steps checked before the event loop gets a turn."""
_Way = Literal["register", "update", "upsert"]


@dataclass(frozen=True, slots=True)
class _Put:
    way: _Way
    step: Step
    handler: Handler | None


class CatalogChanges:
    """Changes in the order of the calls: each is checked against those before it."""

    def __init__(self) -> None:
        self._changes: list[_Put | str] = []
        self.removals: dict[str, Removal] = {}
        """The effects of unregistering on other steps; known once the changes are made."""

    def register(self, step: Declared, handler: Handler | None = None) -> Step:
        return self._put("register", step, handler)

    def update(self, step: Declared, handler: Handler | None = None) -> Step:
        return self._put("update", step, handler)

    def upsert(self, step: Declared, handler: Handler | None = None) -> Step:
        return self._put("upsert", step, handler)

    def unregister(self, step_id: str) -> None:
        self._changes.append(step_id)

    @property
    def steps(self) -> list[Step]:
        """The steps that are added or changed."""
        return [each.step for each in self._changes if isinstance(each, _Put)]

    @property
    def handlers(self) -> list[tuple[Step, Handler]]:
        return [(each.step, each.handler) for each in self._changes if isinstance(each, _Put) and each.handler]

    async def make(self, draft: Draft) -> None:
        """Makes all changes, or raises; may be called again with another draft."""
        for number, change in enumerate(self._changes, 1):
            if number % _AT_A_TIME == 0:
                await asyncio.sleep(0)
            if isinstance(change, str):
                self.removals[change] = draft.unregister(change)
                continue
            match change.way:
                case "register":
                    draft.register(change.step)
                case "update":
                    draft.update(change.step)
                case "upsert":
                    draft.upsert(change.step)
                case _:
                    assert_never(change.way)

    def _put(self, way: _Way, declared: Declared, handler: Handler | None) -> Step:
        step = _read(declared)
        if handler is None and isinstance(declared, PythonStep):
            handler = declared
        if handler is not None and step.python is None:
            raise InvalidInput(
                "goals.handler_unused",
                f"step '{step.id}' has a handler",
                why=f"it is of type '{step.type}', which calls no function",
                fix="leave the handler out, or use type 'python'",
            )
        self._changes.append(_Put(way, step, handler))
        return step


def _read(declared: object) -> Step:
    """Reads every form through `read_step`; callers may be programs without type checking."""
    match declared:
        case Step():
            return read_step(emitted(declared))
        case StepBuilder():
            return declared.build()
        case PythonStep():
            return declared.definition
        case Mapping():
            return read_step(dict(cast("Mapping[str, Any]", declared)))
        case _:
            return read_step(declared)
