"""Saving steps through `POST /definitions`: one step, or a list of which all or none are saved."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import msgspec

from plait.api.definition import NewDefinition, SaveMode
from plait.api.route import Answer, Fault
from plait.api.shape import Scoped
from plait.api.surface import Save
from plait.dialects.goals.catalogs.step_catalog import StepCatalog
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import PlaitError

from .catalog_routes import Call
from .shapes import SavedSteps

_POINTER = "/definition"


async def save_steps(call: Call[Scoped, NewDefinition]) -> Answer:
    given: Any = call.body.definition
    catalog = call.host.catalog.of(call.namespace)
    if not isinstance(given, list):
        with _flaws_at(_POINTER):
            step = read_step(given)
            new = await _put(catalog, [step], call.body.mode)
        return Answer(SavedSteps(step=step), 201 if new else 200)
    steps = [_read(index, each) for index, each in enumerate(cast("list[Any]", given))]
    with _flaws_at(_POINTER, exact=False):
        new = await _put(catalog, steps, call.body.mode)
    return Answer(SavedSteps(steps=steps), 201 if new else 200)


def _read(index: int, given: Any) -> Step:
    with _flaws_at(f"{_POINTER}/{index}"):
        return read_step(given)


async def _put(catalog: StepCatalog, steps: Sequence[Step], mode: SaveMode) -> bool:
    """Saves the steps; returns whether one of them is new."""
    known = {step.id for step in await catalog.list()}
    async with catalog.transaction() as changes:
        put = {"register": changes.register, "update": changes.update, "upsert": changes.upsert}[mode]
        for step in steps:
            put(step)
    return any(step.id not in known for step in steps)


@contextmanager
def _flaws_at(place: str, *, exact: bool = True) -> Generator[None]:
    """Makes the pointers of flaws start at the top of the request's body. Not `exact`: several steps are at that
    place, and the error does not say which of them it is about."""
    try:
        yield
    except PlaitError as error:
        error.flaws = [
            msgspec.structs.replace(flaw, pointer=place + flaw.pointer if exact else place) for flaw in error.flaws
        ]
        raise


SAVE = Save(
    handler=save_steps,
    shape=SavedSteps,
    faults=(
        Fault(404, "goals.step_not_found", "There is no step to update."),
        Fault(409, "goals.step_exists", "Another step has this id."),
        Fault(413, "goals.too_large", "The step is over a limit."),
        Fault(422, "goals.step_invalid", "The step is invalid; `errors` says where."),
    ),
    example={
        "dialect": "goals",
        "definition": {
            "id": "greet",
            "name": "Greet",
            "type": "script",
            "attributes": {"name": {"role": "required", "type": "string"}, "greeting": {"role": "output"}},
            "script": {"language": "lua", "script": "return {greeting = 'Hello, ' .. name}"},
        },
        "mode": "upsert",
    },
)
