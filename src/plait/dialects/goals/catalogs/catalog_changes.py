"""Changes to the step catalog that are made together: `engine.catalog.transaction()` gathers them."""

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
"""A step in any of the ways to write one."""
Handler = Callable[..., Any]
_AT_A_TIME = 50
"""Steps that are checked before others get their turn on the event loop."""
_Way = Literal["register", "update", "upsert"]


@dataclass(frozen=True, slots=True)
class _Put:
    way: _Way
    step: Step
    handler: Handler | None


class CatalogChanges:
    """In the order in which they were asked for: each is checked against those before it."""

    def __init__(self) -> None:
        self._changes: list[_Put | str] = []
        self.removals: dict[str, Removal] = {}
        """What unregistering did to other steps; known when the changes are made."""

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
        """Those that are put in."""
        return [each.step for each in self._changes if isinstance(each, _Put)]

    @property
    def handlers(self) -> list[tuple[Step, Handler]]:
        return [(each.step, each.handler) for each in self._changes if isinstance(each, _Put) and each.handler]

    async def make(self, draft: Draft) -> None:
        """All of them, or an error; may be asked again with another draft."""
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
    """Whatever way it was written, it goes through the one door; callers may be programs that nobody type-checked."""
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
